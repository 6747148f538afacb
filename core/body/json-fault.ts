// Where bytes stop being JSON, in words. Runs only after JSON.parse has refused a body: the engine's own message quotes the text around the
// fault, which may be private, and does not always say where it is. Never quotes the text; no recursion, so that depth cannot hurt.

import { skipBlank } from './cursor.js';

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end';

const wanted: { readonly [E in Expected]: string } = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  name: 'a member name in double quotes',
  'name or }': 'a member name in double quotes or "}"',
  ':': '":"',
  ', or }': '"," or "}"',
  ', or ]': '"," or "]"',
  end: 'the end',
};

const quote = 0x22, backslash = 0x5c, brace = 0x7b, bracket = 0x5b;
const escapes = new Set(Buffer.from('"\\/bfnrt'));
/** So much of a number or word is looked at. */
const literalBytesMax = 4_096;

/** `expected a value at line 2, column 12`; both count from 1, columns in characters. */
export function explainFault(bytes: Buffer): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'it begins with a byte order mark; send it without';
  const open: (typeof brace | typeof bracket)[] = [];
  let expected: Expected = 'value';
  let at = skipBlank(bytes, 0);
  if (at === bytes.length) return 'it is empty';
  for (;;) {
    if (at === bytes.length) return expected === 'end' ? 'it cannot be read' : `it ends where ${wanted[expected]} should follow`;
    const byte = bytes[at];
    if (byte === quote && (expected.startsWith('value') || expected.startsWith('name'))) {
      const end = stringEnd(bytes, at);
      if (end < 0) return `the string that begins at ${place(bytes, at)} ${faults[-end] ?? ''}`;
      at = end;
      expected = expected.startsWith('name') ? ':' : afterValue(open);
    } else if (expected.startsWith('value') && (byte === brace || byte === bracket)) {
      open.push(byte);
      expected = byte === brace ? 'name or }' : 'value or ]';
      at += 1;
    } else if ((byte === brace + 2 || byte === bracket + 2) && expected.endsWith(String.fromCharCode(byte))) {
      open.pop();
      expected = afterValue(open);
      at += 1;
    } else if (byte === 0x2c && expected.startsWith(',')) {
      expected = expected === ', or }' ? 'name' : 'value';
      at += 1;
    } else if (byte === 0x3a && expected === ':') {
      expected = 'value';
      at += 1;
    } else {
      const length = expected.startsWith('value') ? literalLength(bytes, at) : 0;
      if (length === 0) return `expected ${wanted[expected]} at ${place(bytes, at)}`;
      expected = afterValue(open);
      at += length;
    }
    at = skipBlank(bytes, at);
  }
}

function afterValue(open: readonly number[]): Expected {
  const inside = open.at(-1);
  return inside === undefined ? 'end' : inside === brace ? ', or }' : ', or ]';
}

const faults: readonly string[] = ['', 'is not closed', 'holds a line break, tab or other control character; write it as an escape', 'holds a broken escape'];

/** Index behind the string at `at`, or the negative index of a fault. */
function stringEnd(bytes: Buffer, at: number): number {
  for (let index = at + 1; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quote) return index + 1;
    if (byte < 0x20) return -2;
    if (byte !== backslash) continue;
    index += 1;
    if (index === bytes.length) return -1;
    if (bytes[index] === 0x75) {
      if (!/^[0-9a-fA-F]{4}$/.test(bytes.toString('latin1', index + 1, index + 5))) return -3;
      index += 4;
    } else if (!escapes.has(bytes[index] ?? 0)) {
      return -3;
    }
  }
  return -1;
}

/** Length of the number, true, false or null at `at`; 0 when there is none. */
function literalLength(bytes: Buffer, at: number): number {
  let end = at;
  while (end < bytes.length && isLiteralByte(bytes[end] ?? 0)) end += 1;
  // A longer number is not worth a look: its digits are taken as they are.
  const text = bytes.toString('latin1', at, Math.min(end, at + literalBytesMax));
  return /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/.test(text) ? end - at : 0;
}

const isLiteralByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x5f;

function place(bytes: Buffer, at: number): string {
  let line = 1;
  let lineStart = 0;
  for (let found = bytes.indexOf(0x0a); found !== -1 && found < at; found = bytes.indexOf(0x0a, found + 1)) {
    line += 1;
    lineStart = found + 1;
  }
  let column = 1;
  // Continuation bytes of UTF-8 are no characters of their own.
  for (let index = lineStart; index < at; index += 1) if (((bytes[index] ?? 0) & 0xc0) !== 0x80) column += 1;
  return `line ${line}, column ${column}`;
}
