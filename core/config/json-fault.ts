// Where JSON text stops being JSON. Runs only after JSON.parse has refused a config: the engine's own message quotes the text around the
// fault, which may be a key, and doesn't always give the position.

const token = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/y;
const blank = /[ \t\n\r]*/y;

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end';

const wanted: { readonly [E in Expected]: string } = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  name: 'a property name in double quotes',
  'name or }': 'a property name in double quotes or "}"',
  ':': '":"',
  ', or }': '"," or "}"',
  ', or ]': '"," or "]"',
  end: 'the end',
};

/** `expected a value at character 12`; characters count from 1. Never quotes the text. */
export function explainJsonFault(text: string): string {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(text);
    const next: Expected | undefined = match === null ? undefined : follow(expected, match, open);
    if (next === undefined) return describe(text, at, expected);
    expected = next;
    at = token.lastIndex;
  }
}

function describe(text: string, at: number, expected: Expected): string {
  blank.lastIndex = at;
  blank.exec(text);
  const position = blank.lastIndex;
  if (position >= text.length) return text.length === position && expected === 'value' && at === 0 ? 'it is empty' : `it ends where ${wanted[expected]} should follow`;
  const isString = text[position] === '"' && (expected.startsWith('value') || expected.startsWith('name'));
  return isString
    ? `the string that begins at character ${position + 1} is not closed or holds a character that must be escaped`
    : `expected ${wanted[expected]} at character ${position + 1}`;
}

/** What may come after this token, or undefined when the token itself may not be here. */
function follow(expected: Expected, match: RegExpExecArray, open: ('{' | '[')[]): Expected | undefined {
  const [, mark, string] = match;
  const afterValue = (): Expected => {
    const inside = open.at(-1);
    return inside === undefined ? 'end' : inside === '{' ? ', or }' : ', or ]';
  };
  if (mark === undefined) {
    if (expected.startsWith('value')) return afterValue();
    return expected.startsWith('name') && string !== undefined ? ':' : undefined;
  }
  switch (mark) {
    case '{': case '[':
      if (!expected.startsWith('value')) return undefined;
      open.push(mark);
      return mark === '{' ? 'name or }' : 'value or ]';
    case '}': case ']':
      if (!expected.endsWith(mark)) return undefined;
      open.pop();
      return afterValue();
    case ',':
      if (!expected.startsWith(',')) return undefined;
      return expected === ', or }' ? 'name' : 'value';
    default:
      return expected === ':' ? 'value' : undefined;
  }
}
