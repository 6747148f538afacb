// What the parts of one config cost together: what they hold in memory, and what they may do with one character of text. Added up while the
// config is compiled, so that a config that asks for too much is refused at the part that went too far, before the next one is made.

import type { Weighed } from '@gateway/plugin-sdk';
import { fail } from '../errors/gateway-error.js';

/** Checks of one config, in all its lists. */
export const checksMax = 256;
/** Bytes that the parts of one config may hold: some hundred ordinary patterns, or fifty of the largest. */
const weightBytesMax = 16 * 1024 * 1024;
/** Held by every check, whatever it says. */
const checkBytes = 2_048;
/** The worst case of all checks of a config for a text that is judged on the loop. */
const worstMsMax = 50;
/** Compiling leaves the loop to others after so long, for as long. Milliseconds. */
const turnMsMax = 4;

export class PlanWeight {
  #bytes = 0;
  #checks = 0;
  #nanosecondsPerCharacter = 0;
  #turnStartedAt = performance.now();

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a check before it is made. */
  addCheck(path: string): void {
    this.#checks += 1;
    if (this.#checks > checksMax) throw fail('CONFIG_INVALID', { path, param: path, reason: `a config may have at most ${checksMax} checks in all; use fewer, or one with a list` });
    this.addBytes(checkBytes, path);
  }

  /** What was made at `path` says what it weighs. */
  add({ weight }: Weighed, path: string): void {
    if (weight === undefined) return;
    this.addBytes(positive(weight.bytes), path);
    this.#nanosecondsPerCharacter += positive(weight.nanosecondsPerCharacter);
  }

  addBytes(bytes: number, path: string): void {
    this.#bytes += bytes;
    if (this.#bytes <= weightBytesMax) return;
    throw fail('CONFIG_INVALID', { path, param: path, reason: 'the patterns, schemas and parameters of this config are too large together; use fewer or smaller ones, with smaller counts in {}' });
  }

  /** Whether verdicts on a text of so many characters might hold the loop too long. Asked when all of the config has been added. */
  isTooLong(characters: number): boolean {
    return characters * this.#nanosecondsPerCharacter > worstMsMax * 1e6;
  }

  /** To be awaited between parts: lets other calls have their turn, now and then. */
  async pause(): Promise<void> {
    if (performance.now() - this.#turnStartedAt < turnMsMax) return;
    await nextTurn();
    this.#turnStartedAt = performance.now();
  }
}

/** Configs of the thread that wait to be compiled on, in the order in which they came. */
const waiting: (() => void)[] = [];

/** One config at a time goes on, so that however many there are take no more than half of the loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setTimeout(goOn, turnMsMax);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setTimeout(goOn, 2 * turnMsMax);
}

/** Plugins of others are not all written in TypeScript. */
const positive = (value: number | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);
