// Counts of durations in microseconds in buckets 0.3 % wide: recording costs no memory however long the run.
const bucketsPerOctave = 256;
const octaves = 40;

export class Histogram {
  readonly #counts = new Uint32Array(bucketsPerOctave * octaves);
  count = 0;
  maxUs = 0;

  record(us: number): void {
    const index = us <= 1 ? 0 : Math.min(this.#counts.length - 1, Math.round(Math.log2(us) * bucketsPerOctave));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.count++;
    if (us > this.maxUs) this.maxUs = us;
  }

  /** The duration that `fraction` of the records do not exceed, NaN without records. */
  percentile(fraction: number): number {
    if (this.count === 0) return NaN;
    let left = Math.ceil(this.count * fraction);
    for (let index = 0; index < this.#counts.length; index++) {
      left -= this.#counts[index] ?? 0;
      if (left <= 0) return index === 0 ? 1 : 2 ** (index / bucketsPerOctave);
    }
    return this.maxUs;
  }
}
