// Runs once at the end of each answer, on kept pieces of it that may begin and end anywhere.
// Finds JSON members by name without knowing where the text around them begins. That is exact, because an unescaped quote directly before a
// name can only open a string: behind a closing quote JSON has white space or punctuation. Such a string is a name when a colon follows it.

import { skipBlank, skipString } from './cursor.js';
import { decodeString } from './parse.js';

/** A longer run of backslashes before a quote is not counted out; the quote then counts as escaped. */
const backslashesMax = 64;
/** Longest text value taken: model names and finish reasons are short. */
const textBytesMax = 512;

const quote = 0x22, backslash = 0x5c, colon = 0x3a;

/** The bytes to search for a member of this name. */
export const needleOf = (name: string): Buffer => Buffer.from(`"${name}"`, 'latin1');

/** Index of the value of the member whose name's opening quote may be at `at`; -1 when it is not a name. */
export function valueOfKey(bytes: Buffer, at: number, needle: Buffer, isStartKnown: boolean): number {
  if (isEscaped(bytes, at, isStartKnown)) return -1;
  const after = skipBlank(bytes, at + needle.length);
  if (bytes[after] !== colon) return -1;
  const value = skipBlank(bytes, after + 1);
  return value < bytes.length ? value : -1;
}

/** Is the quote at `at` part of a string's content? True when the bytes before the piece would have to be known. */
function isEscaped(bytes: Buffer, at: number, isStartKnown: boolean): boolean {
  let count = 0;
  while (count < at && bytes[at - 1 - count] === backslash) {
    count += 1;
    if (count > backslashesMax) return true;
  }
  if (count === at && !isStartKnown) return true;
  return (count & 1) === 1;
}

/** The last text that is not empty under this name. `isStartKnown`: the piece begins where the answer begins. */
export function lastText(bytes: Buffer, needle: Buffer, isStartKnown: boolean): string {
  let at = bytes.lastIndexOf(needle);
  while (at !== -1) {
    const text = textAt(bytes, valueOfKey(bytes, at, needle, isStartKnown));
    if (text !== '' || at === 0) return text;
    at = bytes.lastIndexOf(needle, at - 1);
  }
  return '';
}

/** The first text that is not empty under this name. */
export function firstText(bytes: Buffer, needle: Buffer, isStartKnown: boolean): string {
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) {
    const text = textAt(bytes, valueOfKey(bytes, at, needle, isStartKnown));
    if (text !== '') return text;
  }
  return '';
}

/** The string at `at`; empty for anything else. */
export function textAt(bytes: Buffer, at: number): string {
  if (at === -1 || bytes[at] !== quote) return '';
  const end = skipString(bytes, at);
  return end === -1 || end - at > textBytesMax ? '' : decodeString(bytes, at, end) ?? '';
}
