import { createHistogram } from 'node:perf_hooks';

/** An hour; nothing here takes longer. */
const highestUs = 3_600_000_000;

/** Counts of durations in microseconds, three digits of each: recording costs no memory however long the run. */
export class Histogram {
  readonly #recorded = createHistogram({ lowest: 1, highest: highestUs, figures: 3 });

  record(us: number): void {
    this.#recorded.record(Math.min(highestUs, Math.max(1, Math.round(us))));
  }

  get count(): number {
    return this.#recorded.count;
  }

  get maxUs(): number {
    return this.count === 0 ? 0 : this.#recorded.max;
  }

  /** The duration that `fraction` of the records do not exceed, NaN without records. */
  percentile(fraction: number): number {
    return this.count === 0 ? NaN : this.#recorded.percentile(fraction * 100);
  }
}
