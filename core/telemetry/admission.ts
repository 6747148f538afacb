// Hot: runs for each call of a caller without a key.
// Which records of callers without a key are taken: the first of each second. The others are counted, and told in one line a minute: they are as
// many as an attacker likes. Those of callers with a key never come here: all are taken.

import type { FaultReport } from './fault-report.js';

/** Records of callers without a key in one second, for each thread. */
export const refusedPerSecondMax = 10;

export class Admission {
  readonly #left: FaultReport;
  readonly #now: () => number;
  #second = 0;
  #refused = 0;

  /** `left` is told of what was not recorded. */
  constructor(left: FaultReport, now: () => number = Date.now) {
    this.#left = left;
    this.#now = now;
  }

  /** Whether the record of one more caller without a key is taken; `errorCode` is what the caller was told. */
  takes(errorCode: string): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#refused = 0;
    }
    this.#refused += 1;
    if (this.#refused <= refusedPerSecondMax) return true;
    this.#left.add(errorCode === '' ? 'none' : errorCode, `more than ${refusedPerSecondMax} a second`);
    return false;
  }
}
