// Hot: runs for each value of a tool call's arguments that a check reads.
// Texts with edits made, and the inside of JSON strings: what an escape stands for, and where in the escaped text a character is.

import type { SpanEdit } from '@gateway/plugin-sdk';

export function edited(text: string, edits: readonly SpanEdit[]): string {
  let result = '';
  let at = 0;
  for (let index = 0; index < edits.length; index += 1) {
    const edit = edits[index];
    if (edit === undefined) continue;
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
}

export const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const isHex = (code: number): boolean => (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);

/** The closing quote of a string, half an escape at the end, or the end of the text. */
export function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code !== 0x5c) continue;
    const length = escapeLength(text, at);
    if (length === 0) return at;
    at += length - 1;
  }
  return text.length;
}

/** Characters of the escape that begins at a place; 0: more have to come. */
function escapeLength(text: string, at: number): number {
  if (at + 1 >= text.length) return 0;
  if (text.charCodeAt(at + 1) !== 0x75) return 2;
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    if (digit >= text.length) return 0;
    if (!isHex(text.charCodeAt(digit))) return 2;
  }
  return 6;
}

export function decoded(raw: string): string {
  let text = '';
  let run = 0;
  for (let at = raw.indexOf('\\'); at !== -1; at = raw.indexOf('\\', run)) {
    text += raw.slice(run, at);
    const length = escapeLength(raw, at);
    if (length === 6) text += String.fromCharCode(Number.parseInt(raw.slice(at + 2, at + 6), 16));
    else text += length === 0 ? '\\' : unescaped(raw.charAt(at + 1));
    run = at + (length === 0 ? 1 : length);
  }
  return text + raw.slice(run);
}

function unescaped(letter: string): string {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    default: return letter;
  }
}

/** Where so many decoded characters behind a place end. */
export function rawPlace(raw: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) at += raw.charCodeAt(at) === 0x5c ? escapeLength(raw, at) || 1 : 1;
  return at;
}
