// The parsed form of a template. It is parsed once, when a version is stored, into nodes that are plain JSON, so that threads that render it parse nothing and load
// no library. Nothing is escaped for HTML, since the text goes to models.

import mustache from 'mustache';

/** Names of a path, outer first: `a.b`. Empty: the current value, written `.`. */
export type Path = readonly string[];

/** In this order: text; variable; section; inverted section; stored partial with its version and the blanks before it, if it is alone on its line; text that the call gives in place of a partial. */
export type Node =
  | string
  | readonly ['v', Path]
  | readonly ['#', Path, readonly Node[]]
  | readonly ['^', Path, readonly Node[]]
  | readonly ['>', slug: string, version: string, indentation: string]
  | readonly ['>>', string];

export interface Template {
  readonly nodes: readonly Node[];
  /** First names of the variables that it uses. */
  readonly names: readonly string[];
  /** The stored partials that it uses. */
  readonly partials: readonly PartialName[];
}

export interface PartialName {
  readonly slug: string;
  /** Empty: the published one; else `latest` or a number. */
  readonly version: string;
}

/** Characters of all texts of a version together. Parsing takes about half a microsecond for each. */
export const templateCharsMax = 128 * 1024;
/** A comment may be long. */
const tagCharsMax = 4000;
/** Limits blanks in a row: the library searches for the end of the tag again from each of them. */
const blankRun = /\s{100}/;
/** Characters of a text that changes its delimiters: with others, the library searches to the end of the text for every tag. */
const delimiterCharsMax = 8 * 1024;
/** Tags, and pieces of text between them, of a template. */
const nodesMax = 20_000;
/** Depth of sections within sections. */
const levelsMax = 32;
const namesOfPathMax = 16;
export const partialsMax = 100;

/** The template cannot be stored; the message says why, in the words of a refusal (`must ...`, `holds ...`). */
export class TemplateFault extends Error {}

const tooMany = (): TemplateFault => new TemplateFault(`holds more than ${nodesMax} tags and texts`);

interface Found {
  readonly names: Set<string>;
  readonly partials: Map<string, PartialName>;
  nodes: number;
}

/** Throws TemplateFault. */
export function parseTemplate(text: string): Template {
  const found: Found = { names: new Set(), partials: new Map(), nodes: 0 };
  const nodes = text.includes('{{') ? nodesOf(tokensOf(text), found, levelsMax) : text === '' ? [] : [text];
  return { nodes, names: [...found.names], partials: [...found.partials.values()] };
}

type Token = readonly unknown[];

/** The library without its cache, which would keep every text for ever. */
class Parser extends mustache.Writer {
  constructor() {
    super();
    Reflect.set(this, 'templateCache', undefined);
  }
}
const parser = new Parser();

function tokensOf(text: string): readonly Token[] {
  checkTags(text);
  let tokens: unknown;
  try {
    tokens = parser.parse(text, ['{{', '}}']);
  } catch (thrown) {
    throw new TemplateFault(`is not a template: ${faultOf(thrown)}`);
  }
  return tokens as readonly Token[];
}

/** The library's message in our words, without its quotes from the text. */
function faultOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : '';
  const at = / at (\d+)$/.exec(message)?.[1];
  const what = message.startsWith('Unclosed tag') ? 'a tag is not closed' : message.startsWith('Unclosed section') ? 'a section is not closed, or closed by another name'
    : message.startsWith('Unopened section') ? 'a section is closed that was not opened' : 'its delimiters are not two texts';
  return at === undefined ? what : `${what}, at character ${at}`;
}

/** Refuses texts that the library would take long to parse. Throws TemplateFault. */
function checkTags(text: string): void {
  if (text.includes('{{=') || /\{\{\s+=/.test(text)) {
    if (text.length > delimiterCharsMax) throw new TemplateFault(`changes its delimiters, which templates of more than ${delimiterCharsMax} characters may not`);
  }
  for (let start = text.indexOf('{{'); start !== -1;) {
    const end = text.indexOf('}}', start);
    if (end === -1) {
      if (!text.includes('{{=')) throw new TemplateFault(`is not a template: a tag is not closed, at character ${start}`);
      return;
    }
    if (end - start > tagCharsMax) throw new TemplateFault(`holds a tag of more than ${tagCharsMax} characters, at character ${start}`);
    if (blankRun.test(text.slice(start, end))) throw new TemplateFault(`holds a tag with 100 blanks in a row, at character ${start}`);
    start = text.indexOf('{{', end);
  }
}

function nodesOf(tokens: readonly Token[], found: Found, levels: number): readonly Node[] {
  if (levels === 0) throw new TemplateFault(`nests sections deeper than ${levelsMax} levels`);
  const nodes: Node[] = [];
  for (const token of tokens) {
    const node = nodeOf(token, found, levels, nodes.at(-1));
    if (node === undefined) continue;
    nodes.push(node);
    found.nodes += 1;
    if (found.nodes > nodesMax) throw tooMany();
  }
  return nodes;
}

function nodeOf(token: Token, found: Found, levels: number, before: Node | undefined): Node | undefined {
  const [kind, given] = token;
  const text = String(given);
  switch (kind) {
    case 'text': return text;
    case 'name': case '&': return ['v', pathOf(text, found)];
    case '#': case '^': return [kind, pathOf(text, found), nodesOf(Array.isArray(token[4]) ? token[4] : [], found, levels - 1)];
    case '>': return partialOf(text, token, found, before);
    // Comments and delimiters.
    default: return undefined;
  }
}

function pathOf(text: string, found: Found): Path {
  if (text === '.') return [];
  const names = text.split('.').map((name) => name.trim());
  if (names.length > namesOfPathMax) throw new TemplateFault(`holds a name of more than ${namesOfPathMax} parts`);
  found.names.add(names[0] ?? '');
  return names;
}

const partialShape = /^([a-zA-Z0-9_-]{1,255})(?:@(latest|\d{1,9}))?$/;

function partialOf(text: string, token: Token, found: Found, before: Node | undefined): Node {
  if (text.startsWith('>')) {
    const name = text.slice(1).trim();
    found.names.add(name);
    return ['>>', name];
  }
  const [, slug, version = ''] = partialShape.exec(text) ?? [];
  if (slug === undefined) throw new TemplateFault(`names a partial by something else than its slug, with @latest or @ and a number behind it: ${JSON.stringify(text.slice(0, 64))}`);
  found.partials.set(`${slug}@${version}`, { slug, version });
  if (found.partials.size > partialsMax) throw new TemplateFault(`names more than ${partialsMax} partials`);
  const [indentation, tagIndex] = [token[4], token[5]];
  // A partial that is alone on its line: the library has taken the blanks before it out of the text.
  const isOwnLine = tagIndex === 0 && typeof indentation === 'string' && token[6] !== true && !(typeof before === 'string' && /[ \t]$/.test(before));
  return ['>', slug, version, isOwnLine ? indentation.replace(/[^ \t]/g, '') : ''];
}
