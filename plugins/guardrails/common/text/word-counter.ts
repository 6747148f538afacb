import type { Counter } from './count-check.js';

/** Runs of characters between white space. */
export class WordCounter implements Counter {
  #words = 0;
  #isInWord = false;

  push(part: string): void {
    let words = this.#words;
    // Without a branch for each character: where words end is what a processor cannot foresee.
    let isSpaceBefore = this.#isInWord ? 0 : 1;
    for (let index = 0; index < part.length; index += 1) {
      const code = part.charCodeAt(index);
      const isSpaceHere = code < 256 ? spaces[code] as number : Number(isSpace(code));
      words += isSpaceBefore & ~isSpaceHere;
      isSpaceBefore = isSpaceHere;
    }
    this.#words = words;
    this.#isInWord = isSpaceBefore === 0;
  }

  total(): number {
    return this.#words;
  }
}

/** The characters that `\s` matches in JavaScript. */
export const isSpace = (code: number): boolean =>
  code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0xa0 && (code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a)
    || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000 || code === 0xfeff));

const spaces = Uint8Array.from({ length: 256 }, (_, code) => Number(isSpace(code)));
