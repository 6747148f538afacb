// Hot: runs for each call.
// Which records reach the queues. Those of callers with a key all do. Of callers without one only the first of each second do, their texts cut
// short; the others are counted, and told in one line a minute: they are as many as an attacker likes.

import type { LogRecord } from '@gateway/plugin-sdk';
import type { FaultReport } from './fault-report.js';
import type { LogQueue } from './queue.js';
import { bytesOfRecord, limitRecord } from './record-limits.js';

/** Records of callers without a key in one second, for each thread. */
export const refusedPerSecondMax = 10;

export class Admission {
  readonly #queues: readonly LogQueue[];
  readonly #left: FaultReport;
  readonly #now: () => number;
  #second = 0;
  #refused = 0;

  /** `left` is told of what was not recorded. */
  constructor(queues: readonly LogQueue[], left: FaultReport, now: () => number = Date.now) {
    this.#queues = queues;
    this.#left = left;
    this.#now = now;
  }

  /** False: a queue had no room. */
  record(record: LogRecord): boolean {
    const isRefused = record.keyId === '';
    if (isRefused && !this.#hasTurn()) {
      this.#left.add(record.errorCode === '' ? 'none' : record.errorCode, `more than ${refusedPerSecondMax} a second`);
      return true;
    }
    const limited = limitRecord(record, isRefused);
    const bytes = bytesOfRecord(limited);
    let isTaken = true;
    for (let index = 0; index < this.#queues.length; index += 1) isTaken = (this.#queues[index] as LogQueue).push(limited, bytes) && isTaken;
    return isTaken;
  }

  #hasTurn(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#refused = 0;
    }
    this.#refused += 1;
    return this.#refused <= refusedPerSecondMax;
  }
}
