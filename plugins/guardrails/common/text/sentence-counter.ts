import type { Counter } from './count-check.js';
import { isSpace } from './word-counter.js';

/** Titles and the like: a full stop behind one of them never ends a sentence. */
const titles = new Set([
  'mr', 'mrs', 'ms', 'mx', 'dr', 'prof', 'st', 'mt', 'gen', 'sen', 'rep', 'gov', 'lt', 'col', 'capt', 'sgt', 'maj', 'adm', 'hon', 'rev', 'fr', 'messrs',
  'mme', 'mlle', 'sr', 'sra', 'dra', 'dipl', 'ing', 'hr', 'vs', 'cf', 'viz', 'eg', 'ie', 'approx', 'resp', 'incl', 'fig', 'figs', 'eq', 'vol', 'pp', 'ed', 'eds', 'ca', 'al',
  'bzw', 'bspw', 'nr',
]);
/** Only with a number behind: "No. 7", but "She said no." */
const beforeNumbers = new Set(['no', 'nos', 'p', 'sec', 'ch', 'art', 'ver', 'jan', 'feb', 'mar', 'apr', 'jun', 'jul', 'aug', 'sep', 'sept', 'oct', 'nov', 'dec']);
const wordLengthMax = 12;
const listNumberLengthMax = 3;

const lowerCase = /\p{Ll}/u;
const upperCase = /\p{Lu}/u;
const content = /[\p{L}\p{N}\p{Cs}]/u;
const digit = /\p{Nd}/u;

/** What a character is to a sentence. */
type Class = number;
const other: Class = 0;
const space: Class = 1;
const newline: Class = 2;
// The strength of an end, in this order.
const stop: Class = 3;
const strong: Class = 4;
const wide: Class = 5;
const closer: Class = 6;
const lower: Class = 7;
const upper: Class = 8;
const number: Class = 9;
const letter: Class = 10;

const stops = '.\u2026\u2024\u2025\uff0e';
const strongs = '!?\u203c\u203d\u2047\u2048\u2049\u061f\u06d4\u0964\u0965\u1362\u1367\u104a\u104b\u17d4\u0589';
/** Written without a space behind them. */
const wides = '\u3002\uff01\uff1f\uff61';
const closers = '"\')]}*_\u00bb\u203a\u201d\u2019\u300d\u300f\u3011\u300b\uff09\uff3d';

const classes = new Uint8Array(0x10000);
const isKnown = new Uint8Array(0x10000);

/** Classes are settled as characters occur: the tables of Unicode are asked once for each. */
function classOf(code: number): Class {
  if (isKnown[code] === 1) return classes[code] ?? other;
  const found = findClass(code, String.fromCharCode(code));
  classes[code] = found;
  isKnown[code] = 1;
  return found;
}

function findClass(code: number, character: string): Class {
  if (code === 0x0a || code === 0x2028 || code === 0x2029) return newline;
  if (isSpace(code)) return space;
  if (stops.includes(character)) return stop;
  if (strongs.includes(character)) return strong;
  if (wides.includes(character)) return wide;
  if (closers.includes(character)) return closer;
  // Emoji say nothing about where a sentence is: the planes of symbols, and every second half of a pair.
  if ((code >= 0xd83c && code <= 0xd83e) || (code >= 0xdc00 && code <= 0xdfff)) return other;
  if (lowerCase.test(character)) return lower;
  if (upperCase.test(character)) return upper;
  if (digit.test(character)) return number;
  return content.test(character) ? letter : other;
}

/**
 * Sentences end at `.`, `!`, `?` and their kin in other scripts, at a blank line, and at the end of the text. A full stop ends none inside of a
 * number, name or address (3.14, example.com), behind an abbreviation or an initial, behind the number of a list item, or when it goes on in
 * lower case. One pass, one character at a time: a text may arrive in parts.
 */
export class SentenceCounter implements Counter {
  #ended = 0;
  /** The sentence that is open has a letter or a digit. */
  #hasContent = false;
  /** What ended the run of characters so far: `stop`, `strong`, `wide`, or `other` when nothing did. */
  #end: Class = other;
  #hasSpace = false;
  #newlines = 0;
  /** The word before the full stop, as long as it is short, and what the sentence holds besides. */
  #word = '';
  #wordAtEnd = '';
  #isOnlyNumber = true;

  push(part: string): void {
    for (let index = 0; index < part.length; index += 1) {
      const code = part.charCodeAt(index);
      this.#take(code, classOf(code));
    }
  }

  total(): number {
    return this.#ended + (this.#hasContent ? 1 : 0);
  }

  #take(code: number, kind: Class): void {
    switch (kind) {
      case newline: case space:
        if (kind === newline) {
          this.#newlines += 1;
          if (this.#newlines > 1) this.#finish();
        }
        this.#hasSpace = true;
        this.#word = '';
        return;
      case stop: case strong: case wide:
        this.#newlines = 0;
        // A run such as "?!" or "..." is one end; the strongest of it counts.
        if (this.#end === other || this.#hasSpace) this.#wordAtEnd = this.#word;
        else if (kind === stop && this.#end === stop) this.#wordAtEnd = '';
        this.#end = Math.max(this.#hasSpace ? other : this.#end, kind);
        this.#hasSpace = false;
        this.#word = '';
        return;
      case closer:
        this.#newlines = 0;
        if (this.#end === other) this.#word = '';
        return;
      case other:
        this.#newlines = 0;
        return;
      default:
    }
    if (this.#end !== other) {
      if (this.#isEnd(kind)) this.#finish();
      this.#end = other;
    }
    this.#newlines = 0;
    this.#hasSpace = false;
    this.#hasContent = true;
    if (kind !== number) this.#isOnlyNumber = false;
    if (this.#word.length <= wordLengthMax) this.#word += String.fromCharCode(code);
  }

  /** Whether the stop before this letter or digit was the end of a sentence. */
  #isEnd(next: Class): boolean {
    if (this.#end === wide) return true;
    if (!this.#hasSpace) return next === letter && this.#end === strong;
    if (this.#end === strong) return true;
    if (next === lower) return false;
    const word = this.#wordAtEnd;
    if (this.#isOnlyNumber && word !== '' && word.length <= listNumberLengthMax) return false;
    if (word.length === 1 && upperCase.test(word)) return false;
    const name = word.toLowerCase();
    return !titles.has(name) && !(next === number && beforeNumbers.has(name));
  }

  #finish(): void {
    if (this.#hasContent) this.#ended += 1;
    this.#hasContent = false;
    this.#isOnlyNumber = true;
    this.#end = other;
    this.#word = '';
  }
}
