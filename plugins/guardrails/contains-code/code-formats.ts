/** The languages that a check can look for, and the tags of fenced blocks that mean them, in lower case. */
export const codeFormats = {
  SQL: ['sql', 'mysql', 'postgresql', 'postgres', 'pgsql', 'plpgsql', 'psql', 'sqlite', 'sqlite3', 'tsql', 't-sql', 'mssql', 'plsql', 'pl/sql', 'mariadb', 'bigquery', 'snowflake', 'hql', 'hiveql', 'sparksql', 'redshift', 'duckdb'],
  Python: ['python', 'py', 'py3', 'python3', 'python2', 'ipython', 'pycon', 'python-repl', 'gyp', 'pyi', 'cython', 'pyx'],
  TypeScript: ['typescript', 'ts', 'tsx', 'mts', 'cts', 'typescriptreact'],
  JavaScript: ['javascript', 'js', 'jsx', 'mjs', 'cjs', 'node', 'nodejs', 'ecmascript', 'es6', 'javascriptreact'],
  Java: ['java', 'jsp'],
  'C#': ['c#', 'csharp', 'cs', 'csx', 'c-sharp', 'cake'],
  'C++': ['c++', 'cpp', 'cc', 'cxx', 'hpp', 'hh', 'hxx', 'h++', 'cplusplus', 'cuda', 'cu', 'ino', 'arduino'],
  C: ['c', 'h', 'ansi-c', 'c99', 'c11', 'c17'],
  Ruby: ['ruby', 'rb', 'irb', 'erb', 'rake', 'gemspec', 'jruby', 'rails', 'gemfile', 'rakefile'],
  PHP: ['php', 'php3', 'php4', 'php5', 'php7', 'php8', 'phtml', 'blade'],
  Swift: ['swift'],
  Kotlin: ['kotlin', 'kt', 'kts'],
  Go: ['go', 'golang'],
  Rust: ['rust', 'rs', 'rust-script'],
  Scala: ['scala', 'sc', 'sbt'],
  R: ['r', 'rlang', 'rscript', 'splus'],
  Perl: ['perl', 'pl', 'pm', 'perl5'],
  Shell: ['shell', 'sh', 'bash', 'zsh', 'ksh', 'dash', 'fish', 'shellscript', 'shell-script', 'shell-session', 'shellsession', 'console', 'sh-session', 'bash-session', 'terminal', 'ash', 'csh', 'tcsh'],
  HTML: ['html', 'htm', 'xhtml', 'html5'],
  CSS: ['css', 'css3', 'scss', 'sass', 'less'],
  XML: ['xml', 'xsd', 'xsl', 'xslt', 'svg', 'rss', 'atom', 'wsdl', 'plist', 'xaml', 'xmlns', 'pom'],
  JSON: ['json', 'jsonc', 'json5', 'jsonl', 'ndjson', 'json-ld', 'jsonld', 'geojson'],
  YAML: ['yaml', 'yml'],
  Markdown: ['markdown', 'md', 'mdx', 'mkd', 'mkdn', 'mdown', 'gfm', 'commonmark', 'rmd'],
  Dockerfile: ['dockerfile', 'docker', 'containerfile'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type CodeFormat = keyof typeof codeFormats;

export const formatNames = [
  'SQL', 'Python', 'TypeScript', 'JavaScript', 'Java', 'C#', 'C++', 'C', 'Ruby', 'PHP', 'Swift', 'Kotlin', 'Go', 'Rust', 'Scala', 'R', 'Perl', 'Shell', 'HTML', 'CSS', 'XML', 'JSON',
  'YAML', 'Markdown', 'Dockerfile',
] as const satisfies readonly CodeFormat[];

const formatByTag: ReadonlyMap<string, CodeFormat> = new Map(formatNames.flatMap((format) => codeFormats[format].map((tag) => [tag, format] as const)));

/** The language that the tag of a fenced block means, if it is one of ours. */
export const formatOfTag = (tag: string): CodeFormat | undefined => formatByTag.get(tag);
