import type { Json } from '../shared.js';

// JSON numbers may have more digits than a number of JavaScript: ids in tool arguments, limits in schemas, seeds. What stands for one of them
// is a text that holds it as it was written; no caller can make such a text, for its mark is drawn anew in each process. It can be copied and
// compared like any text, also inside of JSON that is inside of JSON.

/** Private use, which no alphabet has: a search for it ends at once in texts of one byte a character. */
const edge = '\uf8ff';
const edgeCode = 0xf8ff;
const mark = `${edge}${crypto.randomUUID()}${edge}`;
const written = new RegExp(`(\\\\*)"${mark}(-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)${edge}\\1"`, 'g');

/** What may be such a number; everything else is parsed as ever. */
const suspect = /(?:^|[[,:\s])-?[1-9]\d{15}|\d[eE]\+?\d{3}/;

const quote = 0x22, backslash = 0x5c, minus = 0x2d, zero = 0x30, nine = 0x39;
let count = 0;

/** Whether `value` stands for a number that JavaScript cannot hold; `writeJson` writes it as it was read. */
export const isExactNumber = (value: unknown): value is string => typeof value === 'string' && value.charCodeAt(0) === edgeCode && value.startsWith(mark);

/** The number as it was written. */
export const exactDigits = (value: string): string => value.slice(mark.length, -edge.length);

/** The nearest number of JavaScript's, for values that are reckoned with. */
export const nearestNumber = (value: string): number => Number(exactDigits(value));

/** A number of a JSON text as `String` writes what `readJson` makes of it, with all of its digits. */
export const numberText = (literal: string): string => (isHeld(literal) ? String(Number(literal)) : literal);

/** How many such numbers were read so far in this process: the same before and after says that there were none. */
export const exactNumbersRead = (): number => count;

/** A quick look whether `readJson` could read any; a text may look as if it did. */
export const hasLongNumber = (text: string): boolean => suspect.test(text);

/** `JSON.parse` that keeps numbers which JavaScript would change. For translations, whose result is written by `writeJson`. */
export const readJson = (text: string): Json => JSON.parse(hasLongNumber(text) ? marked(text) : text) as Json;

/** `JSON.stringify` for values of `readJson`. */
export function writeJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.includes(mark) ? text.replace(written, '$2') : text;
}

/** The text with such numbers as marked texts. */
function marked(text: string): string {
  let out = '';
  let from = 0;
  for (let index = 0; index < text.length;) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      index = endOfText(text, index);
    } else if (code === minus || (code >= zero && code <= nine)) {
      const start = index;
      while (index < text.length && isNumberPart(text.charCodeAt(index))) index += 1;
      const literal = text.slice(start, index);
      if (isHeld(literal)) continue;
      count += 1;
      out += `${text.slice(from, start)}"${mark}${literal}${edge}"`;
      from = index;
    } else {
      index += 1;
    }
  }
  return out + text.slice(from);
}

/** Index behind the closing quote; of a text that is not closed, the end. */
function endOfText(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) return index + 1;
    if (code === backslash) index += 1;
  }
  return text.length;
}

/** Digits, sign, point and exponent. */
const isNumberPart = (code: number): boolean => (code >= zero && code <= nine) || code === minus || code === 0x2b || code === 0x2e || code === 0x45 || code === 0x65;

/** JavaScript gives it back: whole numbers to the letter, others as far as a double goes. */
function isHeld(literal: string): boolean {
  const value = Number(literal);
  if (/^-?\d+$/.test(literal)) return literal.length < 16 || String(value) === literal;
  // What is not a number at all is left to JSON.parse to complain about.
  return Number.isFinite(value) || Number.isNaN(value);
}
