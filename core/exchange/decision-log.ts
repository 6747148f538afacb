// Decisions about a call beyond what the fields of its record say; made when somebody first has something to say, so that most calls have none. Anybody on the
// call path may add to it: `(exchange.decisions ??= new DecisionLog()).add({ ... })`.

import type { Json } from '@gateway/plugin-sdk';

/** Of one call. */
export const decisionsMax = 64;
/** Of their JSON, in UTF-16 units. */
export const decisionCharsMax = 8_192;
/** For the price, beyond that. */
const priceCharsMax = 2_048;
/** Of a text in one of them. */
const textCharsMax = 256;

/** The subject of a decision; the rest of its members are its own. */
export type DecisionAbout = 'target' | 'strategy' | 'cache' | 'limit' | 'price' | 'retry' | 'body';

export interface Decision {
  readonly about: DecisionAbout;
  readonly [member: string]: Json;
}

export class DecisionLog {
  #text = '';
  #count = 0;
  /** Those that had no room. */
  #left = 0;

  add(decision: Decision): void {
    // The facts that the price depends on always have a place.
    this.#add(textOf(decision), decision.about === 'price' && this.#count < decisionsMax * 2 ? priceCharsMax : 0);
  }

  /** JSON of a decision, of whoever writes it quicker. */
  addText(text: string): void {
    this.#add(text, 0);
  }

  /** `more`: characters beyond the limit; 0: its count holds, too. */
  #add(text: string, more: number): void {
    if (text === '' || (more === 0 && this.#count >= decisionsMax) || this.#text.length + text.length + 1 > decisionCharsMax + more) {
      this.#left += 1;
      return;
    }
    this.#text += this.#count === 0 ? text : `,${text}`;
    this.#count += 1;
  }

  /** JSON, for the log: a list in the order in which it was said. */
  logged(): string {
    if (this.#left === 0) return `[${this.#text}]`;
    return `[${this.#text}${this.#count === 0 ? '' : ','}{"about":"more","count":${this.#left}}]`;
  }
}

/** Empty: it is not JSON, as what a plugin says may be. */
function textOf(decision: Decision): string {
  try {
    const text = JSON.stringify(decision);
    return text.length > textCharsMax ? JSON.stringify(decision, shortTexts) : text;
  } catch {
    return '';
  }
}

const shortTexts = (_: string, value: unknown): unknown => (typeof value === 'string' && value.length > textCharsMax ? `${value.slice(0, textCharsMax - 1)}…` : value);
