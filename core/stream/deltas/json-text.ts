// Hot: runs for each piece of a tool call's arguments, when a check may change them.
// Edits in JSON text that comes in pieces, so that it stays JSON: what replaces a part of a string is escaped, a number that is edited
// becomes a string, and quotes, commas and brackets stay, whatever an edit covers. Numbers and escapes wait until they are whole, for their
// beginning cannot be taken back. May not fail on what is no JSON.

import type { SpanEdit } from '@gateway/plugin-sdk';

/** A number or word that is longer goes on unfinished. */
const tokenCharactersMax = 64;

const structure = 0;
const inString = 1;
const inToken = 2;

export class JsonText {
  #place = structure;
  /** Characters of an escape so far; 0: none is open. */
  #escape = 0;
  #isLongEscape = false;
  /** An escape of which an edit took a part: the rest goes, too. */
  #isCut = false;
  /** The open escape or token. */
  #pending = '';
  #isEdited = false;
  /** The beginning of the token is out. */
  #isLong = false;
  #replacement: string | null = null;
  #out = '';

  get isWaiting(): boolean {
    return this.#pending !== '' || this.#isEdited;
  }

  /** The next piece, with its edits made, as far as it can go. Edits are in order and inside of the piece. */
  write(text: string, edits: readonly SpanEdit[], isLast: boolean): string {
    this.#out = '';
    let at = 0;
    for (let index = 0; index < edits.length; index += 1) {
      const edit = edits[index];
      if (edit === undefined) continue;
      this.#keep(text, at, edit.from);
      this.#replacement = edit.text;
      this.#cover(text, edit.from, edit.to);
      this.#placeLate();
      at = edit.to;
    }
    this.#keep(text, at, text.length);
    if (isLast) this.#close();
    return this.#out;
  }

  #keep(text: string, from: number, to: number): void {
    let run = from;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#place === inString) {
        if (this.#escape > 0) {
          if (!this.#isCut) this.#pending += text.charAt(at);
          this.#stepEscape(code);
          run = at + 1;
        } else if (code === 0x5c) {
          this.#out += text.slice(run, at);
          run = at + 1;
          this.#openEscape(false);
        } else if (code === 0x22) {
          this.#place = structure;
        }
      } else if (isStructure(code)) {
        if (this.#place === inToken) this.#endToken();
        this.#place = code === 0x22 ? inString : structure;
      } else {
        if (this.#place === structure) {
          this.#out += text.slice(run, at);
          this.#openToken();
        }
        run = at + 1;
        this.#pending += text.charAt(at);
        if (this.#pending.length > tokenCharactersMax && !this.#isEdited) {
          this.#out += this.#pending;
          this.#pending = '';
          this.#isLong = true;
        }
      }
    }
    if (run < to) this.#out += text.slice(run, to);
  }

  /** What an edit takes: structure stays, and the first place of a value gets the replacement. */
  #cover(text: string, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#place === inString) {
        if (this.#escape > 0) {
          this.#pending = '';
          this.#isCut = true;
          this.#replaceInString();
          this.#stepEscape(code);
        } else if (code === 0x5c) {
          this.#openEscape(true);
          this.#replaceInString();
        } else if (code === 0x22) {
          this.#place = structure;
          this.#out += '"';
        } else {
          this.#replaceInString();
        }
      } else if (isStructure(code)) {
        if (this.#place === inToken) this.#endToken();
        this.#place = code === 0x22 ? inString : structure;
        this.#out += text.charAt(at);
      } else {
        if (this.#place === structure) this.#openToken();
        this.#replaceInToken();
      }
    }
  }

  /** The edit covered no character of a value. */
  #placeLate(): void {
    if (this.#replacement === null) return;
    if (this.#place === inString) this.#replaceInString();
    else if (this.#place === inToken) this.#replaceInToken();
    this.#replacement = null;
  }

  #replaceInString(): void {
    if (this.#replacement === null) return;
    this.#out += escaped(this.#replacement);
    this.#replacement = null;
  }

  #replaceInToken(): void {
    this.#isEdited = true;
    if (this.#replacement === null) return;
    this.#pending += this.#replacement;
    this.#replacement = null;
  }

  #openEscape(isCut: boolean): void {
    this.#escape = 1;
    this.#isLongEscape = false;
    this.#isCut = isCut;
    this.#pending = isCut ? '' : '\\';
  }

  #stepEscape(code: number): void {
    this.#escape += 1;
    if (this.#escape === 2 && code === 0x75) this.#isLongEscape = true;
    if (this.#isLongEscape && this.#escape < 6) return;
    this.#escape = 0;
    this.#isCut = false;
    this.#out += this.#pending;
    this.#pending = '';
  }

  #openToken(): void {
    this.#place = inToken;
    this.#pending = '';
    this.#isEdited = false;
    this.#isLong = false;
  }

  #endToken(): void {
    this.#out += this.#isEdited && !this.#isLong ? JSON.stringify(this.#pending) : this.#pending;
    this.#pending = '';
    this.#isEdited = false;
    this.#place = structure;
  }

  #close(): void {
    if (this.#place === inToken) this.#endToken();
    this.#out += this.#pending;
    this.#pending = '';
    this.#escape = 0;
  }
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** What parts the values: blanks, quotes, commas, colons and brackets. */
const isStructure = (code: number): boolean =>
  code <= 0x20 || code === 0x22 || code === 0x2c || code === 0x3a || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
