// Hot: runs for each piece of a tool call's arguments that a check reads.
// Arguments that arrive as JSON text, cut anywhere. As in a plain answer each string, each number and each name of a member in them is a text
// of its own, judged without its escapes; brackets, blanks and words go on as they are. Of a value that is not edited every byte stays, an
// edit is escaped, and an edited number becomes a string, so that JSON stays JSON. Strings are read leniently: a line break or an unknown
// escape in one does not end it. Where the text is not JSON, the reader stops: what went before was judged value by value, and the gate judges
// the rest as one plain text. That is also what becomes of a text that begins with neither brace nor bracket.

import { numberText, type SpanEdit, type TextWindow } from '@gateway/plugin-sdk';
import { decoded, edited, escaped, isHighSurrogate, rawPlace, stringEnd } from './json-escapes.js';

/** Brackets inside of brackets; beyond, the rest is plain text. */
export const nestingMax = 256;
/** A number waits until it is whole; one that is longer is none. */
export const numberCharactersMax = 512;
/** Blanks before the first bracket wait, for a plain text begins with them. */
const blanksMax = 64;

export interface ValueSource {
  readonly name: string;
  readonly kind: TextWindow['kind'];
  readonly group: number;
  readonly before: string;
}

/** The gate, as the reader of one text needs it. */
export interface ValueJudge {
  readonly lookBackMax: number;
  readonly isOver: boolean;
  readonly isDenied: boolean;
  /** Of the window that was asked for last. */
  readonly edits: readonly SpanEdit[];
  ask(source: ValueSource, text: string, isLast: boolean): number;
}

const structure = 0;
const inString = 1;

const start = 0;
const value = 1;
const valueOrClose = 2;
const name = 3;
const nameOrClose = 4;
const colon = 5;
const commaOrClose = 6;
const over = 7;

export class JsonValues implements ValueSource {
  readonly #judge: ValueJudge;
  readonly #key: string;
  #place = structure;
  /** The open string is the name of a member. */
  #isName = false;
  #next = start;
  /** True for an object, false for a list. */
  readonly #open: boolean[] = [];
  /** Text that cannot be read before more of it comes: half an escape, a number, half a pair of surrogates. */
  #pending = '';
  /** Of the open string: what the check did not release, as the model wrote it. */
  #raw = '';
  /** The same without its escapes. */
  #text = '';
  #isAsked = false;
  #count = 0;
  /** The end of what came in, at least as long as the look-back. */
  #tail = '';
  /** What is to be judged as plain text: from here on the text is not JSON. */
  rest: string | null = null;
  isEdited = false;
  /** The value that is judged, for the check. */
  name = '';
  before = '';

  constructor(judge: ValueJudge, key: string, readonly kind: TextWindow['kind'], readonly group: number) {
    this.#judge = judge;
    this.#key = key;
  }

  get isWaiting(): boolean {
    return this.#raw !== '' || this.#pending !== '';
  }

  /** What went before `rest`, at most as long as the look-back. */
  get restBefore(): string {
    const { lookBackMax } = this.#judge;
    const before = this.#tail.slice(0, this.#tail.length - (this.rest?.length ?? 0));
    return lookBackMax === 0 ? '' : before.slice(-lookBackMax);
  }

  /** More of the text; gives what may go now. */
  push(given: string): string {
    const judge = this.#judge;
    if (judge.isOver) return this.#drain(given);
    this.#remember(given);
    let text = this.#pending === '' ? given : this.#pending + given;
    this.#pending = '';
    let half = '';
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      half = text.slice(-1);
      text = text.slice(0, -1);
    }
    const out = this.#read(text);
    if (half !== '') {
      if (this.rest !== null) this.rest += half;
      else this.#pending += half;
    }
    // The verdict was settled on the way.
    return judge.isOver && !judge.isDenied && this.rest === null ? out + this.#drain('') : out;
  }

  /** No more comes; gives what was still held. */
  end(): string {
    const text = this.#pending;
    if (this.#judge.isOver) return this.#drain('');
    this.#pending = '';
    if (this.#place === inString) {
      this.#place = structure;
      return this.#string(text, true);
    }
    if (text === '') return text;
    if (isNumber(text)) return this.#number(text);
    this.rest = text;
    return '';
  }

  #drain(text: string): string {
    const all = this.#raw + this.#pending + text;
    this.#raw = '';
    this.#pending = '';
    return all;
  }

  #remember(text: string): void {
    const { lookBackMax } = this.#judge;
    this.#tail += text;
    // Twice as long before it is cut, so that it is seldom cut. What waits, and what came last, is not part of what went before.
    const keeps = 2 * lookBackMax + numberCharactersMax + text.length;
    if (this.#tail.length > 2 * keeps) this.#tail = this.#tail.slice(-keeps);
  }

  #read(text: string): string {
    const { length } = text;
    let out = '';
    let run = 0;
    let at = 0;
    while (at < length) {
      if (this.#place !== structure) {
        const end = stringEnd(text, at);
        const isClosed = text.charCodeAt(end) === 0x22;
        if (!isClosed && end < length) this.#pending = text.slice(end);
        out += text.slice(run, at) + this.#string(text.slice(at, end), isClosed);
        if (this.#judge.isDenied) return '';
        run = end;
        if (this.#judge.isOver) return out + this.#leave(text, end);
        if (!isClosed) return out;
        this.#next = this.#isName ? colon : commaOrClose;
        this.#place = structure;
        at = end + 1;
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        at += 1;
        if (at === length && this.#next === start && length <= blanksMax) {
          this.#pending = text;
          return '';
        }
        continue;
      }
      const after = this.#step(at, code);
      if (after > at) {
        at = after;
        continue;
      }
      out += text.slice(run, at);
      if (after < 0) {
        // Only a text without any bracket is plain as a whole, with the blanks it begins with.
        this.rest = this.#next === start ? text : text.slice(at);
        return this.#next === start ? '' : out;
      }
      // A word or number, of which the end is not known by its first character.
      const end = tokenEnd(text, at);
      if (end === length && end - at <= numberCharactersMax && mayBecomeToken(text.slice(at))) {
        this.#pending = text.slice(at);
        return out;
      }
      const token = text.slice(at, end);
      if (isNumber(token) && token.length <= numberCharactersMax) out += this.#number(token);
      else if (token === 'true' || token === 'false' || token === 'null') out += token;
      else {
        this.rest = text.slice(at);
        return out;
      }
      this.#next = commaOrClose;
      if (this.#judge.isDenied) return '';
      if (this.#judge.isOver) return out + text.slice(end);
      at = run = end;
    }
    return run === 0 && out === '' ? text : out + text.slice(run);
  }

  /** The check is not asked any more. */
  #leave(text: string, at: number): string {
    this.#pending = '';
    const all = this.#raw + text.slice(at);
    this.#raw = '';
    return all;
  }

  /** One character of structure: the place behind it; the same place for a word or number; -1: this is not JSON. */
  #step(at: number, code: number): number {
    const next = this.#next;
    const open = this.#open;
    switch (code) {
      case 0x22:
        if (next !== name && next !== nameOrClose && next !== value && next !== valueOrClose) return -1;
        this.#isName = next === name || next === nameOrClose;
        this.#openValue();
        this.#place = inString;
        return at + 1;
      case 0x7b: case 0x5b:
        if ((next !== start && next !== value && next !== valueOrClose) || open.length === nestingMax) return -1;
        open.push(code === 0x7b);
        this.#next = code === 0x7b ? nameOrClose : valueOrClose;
        return at + 1;
      case 0x7d: case 0x5d:
        if (next !== commaOrClose && next !== (code === 0x7d ? nameOrClose : valueOrClose)) return -1;
        if (open.pop() !== (code === 0x7d)) return -1;
        this.#next = open.length === 0 ? over : commaOrClose;
        return at + 1;
      case 0x2c:
        if (next !== commaOrClose) return -1;
        this.#next = open[open.length - 1] === true ? name : value;
        return at + 1;
      case 0x3a:
        if (next !== colon) return -1;
        this.#next = value;
        return at + 1;
      default:
        return next === value || next === valueOrClose ? at : -1;
    }
  }

  #openValue(): void {
    this.name = `${this.#key}/${this.#count}`;
    this.#count += 1;
    this.before = '';
    this.#isAsked = false;
  }

  /** More of the open string, up to its end or to where the text ends; gives what may go. */
  #string(more: string, isLast: boolean): string {
    const raw = this.#raw === '' ? more : this.#raw + more;
    // An empty string is not text.
    if (raw === '' && !(isLast && this.#isAsked)) return '';
    const judge = this.#judge;
    const added = more.includes('\\') ? decoded(more) : more;
    const text = this.#text === '' ? added : this.#text + added;
    const { length } = text;
    const end = !isLast && isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length;
    if (end === 0 && !isLast) {
      this.#raw = raw;
      this.#text = text;
      return '';
    }
    this.#isAsked = true;
    let release = judge.ask(this, end === length ? text : text.slice(0, end), isLast);
    if (judge.isDenied) return '';
    const { edits } = judge;
    if (release > 0 && release < length && isHighSurrogate(text.charCodeAt(release - 1)) && (edits[edits.length - 1]?.to ?? 0) < release) release -= 1;
    const { lookBackMax } = judge;
    if (!isLast && !judge.isOver && lookBackMax > 0) this.before = lookBackOf(this.before, release === length ? text : text.slice(0, release), lookBackMax);
    if (edits.length === 0 && release === length) {
      this.#raw = '';
      this.#text = '';
      return raw;
    }
    let out = '';
    let at = 0;
    let rawAt = 0;
    for (let index = 0; index < edits.length; index += 1) {
      const edit = edits[index];
      if (edit === undefined) continue;
      const from = rawPlace(raw, rawAt, edit.from - at);
      out += raw.slice(rawAt, from) + escaped(edit.text);
      rawAt = rawPlace(raw, from, edit.to - edit.from);
      at = edit.to;
      this.isEdited = true;
    }
    const to = release === length ? raw.length : rawPlace(raw, rawAt, release - at);
    this.#raw = raw.slice(to);
    this.#text = text.slice(release);
    return out + raw.slice(rawAt, to);
  }

  /** A whole number, in the form in which it is in a plain answer. */
  #number(raw: string): string {
    const judge = this.#judge;
    const text = numberText(raw);
    this.#openValue();
    judge.ask(this, text, true);
    if (judge.isDenied) return '';
    const { edits } = judge;
    if (edits.length === 0) return raw;
    const left = edited(text, edits);
    if (left === text) return raw;
    this.isEdited = true;
    return JSON.stringify(left);
  }
}

/** The end of a text of which `released` went behind `before`. */
function lookBackOf(before: string, released: string, lookBackMax: number): string {
  return released.length >= lookBackMax ? released.slice(-lookBackMax)
    : before.length + released.length <= lookBackMax ? before + released : (before + released).slice(-lookBackMax);
}

/** Letters, digits, signs and dots are one word or number. */
function tokenEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isPart = (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x45;
    if (!isPart) break;
  }
  return at;
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const numberBeginning = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?$/;
const isNumber = (text: string): boolean => number.test(text);
const mayBecomeToken = (text: string): boolean => numberBeginning.test(text) || 'true'.startsWith(text) || 'false'.startsWith(text) || 'null'.startsWith(text);
