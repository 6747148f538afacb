// Counters of one thread, by name. Cheap enough for each call; summed over the threads by whoever reads them.

/** Names come from plugins: a plugin that makes them up must not fill the memory. */
const namesMax = 10_000;
/** Counts what had no room of its own. */
export const overflowName = 'metrics.overflow';

export class Metrics {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    const count = this.#counts.get(name);
    if (count !== undefined) this.#counts.set(name, count + by);
    else if (this.#counts.size < namesMax) this.#counts.set(name, by);
    else this.#counts.set(overflowName, (this.#counts.get(overflowName) ?? 0) + by);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** What is more than it was at `before`, a snapshot. */
  since(before: Readonly<Record<string, number>>): Record<string, number> {
    return Object.fromEntries([...this.#counts].flatMap(([name, count]) => (count === (before[name] ?? 0) ? [] : [[name, count - (before[name] ?? 0)]])));
  }

  /** A copy, sorted by name. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1)));
  }
}
