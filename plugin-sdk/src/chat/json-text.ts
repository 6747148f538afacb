import type { ProviderCall } from '../kinds/provider.js';
import { isObject } from '../json.js';

/** Said to models of providers that have no JSON mode: what `response_format: json_object` means. */
export const jsonInstruction = 'Answer with one JSON object and nothing else: no words before or after it, and no code fence around it.';

/** The client asked for `response_format: json_object`. */
export const wantsJsonObject = (call: ProviderCall): boolean => isObject(call.body.response_format) && call.body.response_format.type === 'json_object';

/** So much is held back while no object begins; an answer that says more than this beforehand is not JSON, and passes as it is. */
const heldCharactersMax = 64 * 1024;

/** Between a brace and the first name; behind more of them nobody looks for one. */
const blanksMax = 1024;

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const quote = 0x22, backslash = 0x5c, braceOpen = 0x7b, braceClose = 0x7d;

/**
 * Lets the first JSON object of an answer through, piece by piece, and nothing of the words and code fences around it. One for each answer.
 */
export class JsonObjectText {
  #held = '';
  /** What is held was searched up to here. */
  #from = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isOver = false;
  #isOpen = false;

  /** What of `piece` goes to the client now. */
  push(piece: string): string {
    if (this.#isOpen) return piece;
    if (this.#isOver) return '';
    if (this.#depth > 0) return piece.slice(0, this.#endOf(piece, 0));
    this.#held += piece;
    const start = this.#beginning();
    if (start === -1) return this.#hold();
    const text = this.#held.slice(start);
    this.#held = '';
    return text.slice(0, this.#endOf(text, 0));
  }

  /** What was held back, when no object came: the model said something else, which is the answer then. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  /** Where the object begins in what is held: words before it may have braces, too, but neither a name nor an end behind them. -1: not yet. */
  #beginning(): number {
    const text = this.#held;
    let start = text.indexOf('{', this.#from);
    for (; start !== -1; start = text.indexOf('{', start + 1)) {
      let at = start + 1;
      while (at < text.length && at - start <= blanksMax && isBlank(text.charCodeAt(at))) at += 1;
      if (at === text.length) break;
      const code = text.charCodeAt(at);
      if (code === quote || code === braceClose) return start;
    }
    this.#from = start === -1 ? text.length : start;
    return -1;
  }

  #hold(): string {
    if (this.#held.length <= heldCharactersMax) return '';
    this.#isOpen = true;
    return this.end();
  }

  #endOf(piece: string, start: number): number {
    for (let index = start; index < piece.length; index += 1) {
      const code = piece.charCodeAt(index);
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === backslash) this.#isEscaped = true;
        else if (code === quote) this.#isInText = false;
      } else if (code === quote) this.#isInText = true;
      else if (code === braceOpen) this.#depth += 1;
      else if (code === braceClose) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#isOver = true;
        return index + 1;
      }
    }
    return piece.length;
  }
}
