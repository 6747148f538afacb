// Faults that may come with every call, told once a minute: the first at once, then how many there were. Counted all the while, by metric.

import type { Fields } from './logger.js';
import type { Metrics } from './metrics.js';

const periodMs = 60_000;
/** Subjects (stores, threads) told apart; more than these are told together. */
const subjectsMax = 100;
const otherSubject = 'other';

export interface FaultReportOptions {
  log(message: string, fields: Fields): void;
  readonly metrics: Pick<Metrics, 'add'>;
  readonly message: string;
  readonly metric: string;
  /** Name of the field that says what failed. */
  readonly subject: string;
  readonly now?: () => number;
  /** Does not keep the process alive. Returns what cancels it. */
  readonly after?: (delayMs: number, work: () => void) => () => void;
}

interface Count {
  /** Not told yet. */
  count: number;
  reason: string;
}

export class FaultReport {
  readonly #options: FaultReportOptions;
  readonly #now: () => number;
  readonly #counts = new Map<string, Count>();
  #total = 0;
  #quietUntilMs = -Infinity;
  #cancel: (() => void) | null = null;

  constructor(options: FaultReportOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  add(subject: string, reason: string, by = 1): void {
    this.#options.metrics.add(this.#options.metric, by);
    const name = this.#counts.has(subject) || this.#counts.size < subjectsMax ? subject : otherSubject;
    let entry = this.#counts.get(name);
    if (entry === undefined) this.#counts.set(name, entry = { count: 0, reason });
    entry.count += by;
    this.#total += by;
    entry.reason = reason;
    if (this.#cancel !== null) return;
    const waitMs = this.#quietUntilMs - this.#now();
    if (waitMs <= 0) {
      this.#report();
      return;
    }
    this.#cancel = (this.#options.after ?? afterUnref)(waitMs, () => {
      this.#cancel = null;
      this.#report();
    });
  }

  /** What has not been told yet, now; for the end. */
  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#report();
  }

  /** One line for all subjects. */
  #report(): void {
    const { message, subject } = this.#options;
    const told = [...this.#counts].filter(([, entry]) => entry.count > 0);
    if (told.length === 0) return;
    this.#quietUntilMs = this.#now() + periodMs;
    const [first] = told;
    let count = 0;
    for (const [, entry] of told) {
      count += entry.count;
      entry.count = 0;
    }
    this.#options.log(message, { [subject]: told.map(([name]) => name).join(', '), count, total: this.#total, reason: first?.[1].reason ?? '' });
  }
}

function afterUnref(delayMs: number, work: () => void): () => void {
  const handle = setTimeout(work, delayMs).unref();
  return () => { clearTimeout(handle); };
}
