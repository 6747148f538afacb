// Decisions about a call beyond what the fields of its record say; made when somebody first has something to say, so that most calls have none. Anybody on the
// call path may add to it: `(exchange.decisions ??= new DecisionLog()).add({ ... })`.

import type { Json } from '@gateway/plugin-sdk';
import type { KeptText } from '../telemetry/kept-text.js';

/** Of one call. */
export const decisionsMax = 64;
/** Of their JSON, in UTF-16 units. */
export const decisionCharsMax = 8_192;
/** For the price, beyond that. */
const priceCharsMax = 2_048;
/** Of a text in one of them. */
const textCharsMax = 256;
/** What a limit takes beside its own words: two numbers, and what is around them. */
const limitCharsMax = 64;

/** The subject of a decision; the rest of its members are its own. */
export type DecisionAbout = 'target' | 'strategy' | 'cache' | 'limit' | 'price' | 'retry' | 'body';

export interface Decision {
  readonly about: DecisionAbout;
  readonly [member: string]: Json;
}

/** What a limit had counted before a call, and what the call added to it. */
export interface LimitNote {
  readonly spec: { readonly told: KeptText | null };
  readonly before: number;
  readonly amount: number;
}

export class DecisionLog {
  #text = '';
  #count = 0;
  /** Those that had no room. */
  #left = 0;
  /** Not in the text: every call under a limit says it, and numbers are written sooner than text. The log thread makes it of them. */
  limits: readonly LimitNote[] | null = null;
  /** Where in the text it belongs. */
  limitsAt = 0;
  /** From above. */
  #limitsChars = 0;

  add(decision: Decision): void {
    // The facts that the price depends on always have a place.
    this.#add(textOf(decision), decision.about === 'price' && this.#count < decisionsMax * 2 ? priceCharsMax : 0);
  }

  /** Once, when the call has ended. The list is kept as it is. */
  addLimits(limits: readonly LimitNote[]): void {
    let chars = limitCharsMax;
    for (let index = 0; index < limits.length; index += 1) {
      const { told } = (limits[index] as LimitNote).spec;
      chars += limitCharsMax + (told === null ? 0 : told.text.length);
    }
    if (this.limits !== null || this.#count >= decisionsMax || this.#text.length + chars > decisionCharsMax) {
      this.#add(aboutLimits(textOfLimits(limits)), 0);
      return;
    }
    this.limits = limits;
    this.limitsAt = this.#text.length;
    this.#limitsChars = chars;
    this.#count += 1;
  }

  /** `more`: characters beyond the limit; 0: its count holds, too. */
  #add(text: string, more: number): void {
    // How long it is exactly says only the text.
    if (this.limits !== null && this.#text.length + this.#limitsChars + text.length + 1 > decisionCharsMax + more) this.#writeLimits(this.limits);
    if (text === '' || (more === 0 && this.#count >= decisionsMax) || this.#text.length + text.length + 1 > decisionCharsMax + more) {
      this.#left += 1;
      return;
    }
    this.#text += this.#count === 0 ? text : `,${text}`;
    this.#count += 1;
  }

  #writeLimits(limits: readonly LimitNote[]): void {
    this.#text = withLimits(this.#text, this.limitsAt, textOfLimits(limits));
    this.limits = null;
  }

  /** JSON, for the log: a list in the order in which it was said. */
  logged(): string {
    return `[${this.limits === null ? this.others : withLimits(this.others, this.limitsAt, textOfLimits(this.limits))}]`;
  }

  /** What the list has beside `limits`. */
  get others(): string {
    return this.#left === 0 ? this.#text : `${this.#text}${this.#count === 0 ? '' : ','}{"about":"more","count":${this.#left}}`;
  }
}

const aboutLimits = (limits: string): string => `{"about":"limit","limits":[${limits}]}`;

/** `limits`: texts of limits (`textOfLimit`) with commas between them, to be put in at `at`. */
export const withLimits = (others: string, at: number, limits: string): string => `${others.slice(0, at)}${at === 0 ? '' : ','}${aboutLimits(limits)}${others.slice(at)}`;

export const textOfLimit = (told: string, before: number, after: number): string => `${told}${before},"after":${after}}`;

function textOfLimits(limits: readonly LimitNote[]): string {
  return limits.map(({ spec: { told }, before, amount }) => (told === null ? '' : textOfLimit(told.text, before, before + amount))).join(',');
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
