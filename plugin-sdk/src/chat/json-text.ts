import type { ProviderCall } from '../kinds/provider.js';
import { isObject } from './read.js';

/** Said to models of providers that have no JSON mode: what `response_format: json_object` means. */
export const jsonInstruction = 'Answer with one JSON object and nothing else: no words before or after it, and no code fence around it.';

/** The client asked for `response_format: json_object`. */
export const wantsJsonObject = (call: ProviderCall): boolean => isObject(call.body.response_format) && call.body.response_format.type === 'json_object';

/** So much is held back while no object begins; an answer that says more than this beforehand is no JSON, and passes as it is. */
const heldCharactersMax = 64 * 1024;

const quote = 0x22, backslash = 0x5c, braceOpen = 0x7b, braceClose = 0x7d;

/**
 * Lets the first JSON object of an answer through, piece by piece, and nothing of the words and code fences around it. One for each answer.
 */
export class JsonObjectText {
  #held = '';
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isOver = false;
  #isOpen = false;

  /** What of `piece` goes to the client now. */
  push(piece: string): string {
    if (this.#isOpen) return piece;
    if (this.#isOver) return '';
    let start = 0;
    if (this.#depth === 0) {
      start = piece.indexOf('{');
      if (start === -1) return this.#hold(piece);
      this.#held = '';
    }
    const end = this.#endOf(piece, start);
    return piece.slice(start, end);
  }

  /** What was held back, when no object came: the model said something else, which is the answer then. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #hold(piece: string): string {
    this.#held += piece;
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
