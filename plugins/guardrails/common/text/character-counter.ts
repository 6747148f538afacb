import type { Counter } from './count-check.js';

const surrogate = /[\ud800-\udfff]/;

/** Unicode characters (code points): a surrogate pair is one. */
export class CharacterCounter implements Counter {
  #characters = 0;
  #isAfterHigh = false;

  push(part: string): void {
    if (!surrogate.test(part)) {
      this.#characters += part.length;
      if (part !== '') this.#isAfterHigh = false;
      return;
    }
    let characters = this.#characters + part.length;
    let isAfterHigh = this.#isAfterHigh;
    for (let index = 0; index < part.length; index += 1) {
      const code = part.charCodeAt(index);
      if (isAfterHigh && code >= 0xdc00 && code <= 0xdfff) characters -= 1;
      isAfterHigh = code >= 0xd800 && code <= 0xdbff;
    }
    this.#characters = characters;
    this.#isAfterHigh = isAfterHigh;
  }

  total(): number {
    return this.#characters;
  }
}
