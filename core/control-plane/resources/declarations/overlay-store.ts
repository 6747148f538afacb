// A store on top of another: writes stay here, and are read as if they were in the store below. Handlers run on it one after the other, each seeing the writes of
// those before it, and nothing reaches the store below.

import type { Maybe, RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';

const noBytes = new Uint8Array(0);

export class OverlayStore implements Store {
  /** Null: removed here. */
  readonly #rows = new Map<string, Row | null>();
  /** Keys of #rows in order. */
  readonly #keys: string[] = [];

  constructor(readonly below: Store) {}

  get(key: string): Maybe<Row | undefined> {
    const own = this.#rows.get(key);
    return own === undefined ? this.below.get(key) : own ?? undefined;
  }

  async *range({ from, to, limit, reverse = false }: RangeOptions): AsyncGenerator<Row> {
    const own = this.#keys.slice(this.#placeOf(from), this.#placeOf(to));
    if (reverse) own.reverse();
    const isBefore = (left: string, right: string): boolean => (reverse ? compare(left, right) > 0 : compare(left, right) < 0);
    let left = limit;
    let next = 0;
    // Up to as many rows of the store below may be replaced or removed here.
    for await (const row of this.below.range({ from, to, limit: Math.min(limit + own.length, Number.MAX_SAFE_INTEGER), reverse })) {
      for (let key = own[next]; key !== undefined && isBefore(key, row.key) && left > 0; key = own[next]) {
        next += 1;
        const mine = this.#rows.get(key);
        if (mine === undefined || mine === null) continue;
        left -= 1;
        yield mine;
      }
      if (left === 0) return;
      if (this.#rows.has(row.key)) continue;
      left -= 1;
      yield row;
      if (left === 0) return;
    }
    for (const key of own.slice(next)) {
      const mine = this.#rows.get(key);
      if (mine === undefined || mine === null) continue;
      if (left === 0) return;
      left -= 1;
      yield mine;
    }
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    const versions = new Map<string, number>();
    for (const { key, ifVersion } of batch) {
      const version = (await this.get(key))?.version ?? 0;
      if (ifVersion !== undefined && ifVersion !== version) return false;
      versions.set(key, version);
    }
    for (const { op, key, value = noBytes } of batch) {
      const place = this.#placeOf(key);
      if (this.#keys[place] !== key) this.#keys.splice(place, 0, key);
      this.#rows.set(key, op === 'remove' ? null : { key, value, version: (versions.get(key) ?? 0) + 1 });
    }
    return true;
  }

  revision(): Maybe<number> {
    return this.below.revision();
  }

  close(): void {}

  /** Of the first key that is not before this one. */
  #placeOf(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(this.#keys[middle] ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Stores go by bytes, which is the same as long as no surrogates are in the keys; the repository writes none. */
const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
