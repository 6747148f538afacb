import type { RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';
import { checkBatch, checkKey, planVersions } from '../common/check-batch.js';

/** Rows of one name. Keys are kept sorted by their UTF-8 bytes, as a range reads them. */
export class MemoryStore implements Store {
  readonly #rows = new Map<string, Row>();
  readonly #keys: string[] = [];
  #revision = 0;
  #bytes = 0;

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  async *range(options: RangeOptions): AsyncGenerator<Row> {
    const { from, to, reverse = false } = options;
    checkKey(from);
    checkKey(to);
    let left = options.limit;
    // Places move when others write in between: each step looks its own up, from the key it gave last.
    let key = reverse ? this.#below(to) : this.#atOrAbove(from);
    while (left > 0 && key !== undefined && compareUtf8(key, from) >= 0 && compareUtf8(key, to) < 0) {
      const row = this.#rows.get(key);
      if (row !== undefined) {
        left -= 1;
        yield row;
      }
      key = reverse ? this.#below(key) : this.#atOrAbove(`${key}\u0000`);
    }
  }

  count({ from, to }: Pick<RangeOptions, 'from' | 'to'>): number {
    checkKey(from);
    checkKey(to);
    return Math.max(0, this.#place(to) - this.#place(from));
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    checkBatch(batch);
    const versions = planVersions(batch, (key) => this.#rows.get(key)?.version ?? 0);
    if (versions === undefined) return false;
    if (batch.length === 0) return true;
    for (let index = 0; index < batch.length; index += 1) {
      const entry = batch[index];
      if (entry === undefined) continue;
      if (entry.op === 'remove') this.#remove(entry.key);
      else this.#put({ key: entry.key, value: Uint8Array.from(entry.value ?? []), version: versions[index] ?? 1 });
    }
    this.#revision += 1;
    return true;
  }

  revision(): number {
    return this.#revision;
  }

  /** Bytes of keys and values. */
  size(): number {
    return this.#bytes;
  }

  #put(row: Row): void {
    const { key } = row;
    const old = this.#rows.get(key);
    if (old === undefined) this.#keys.splice(this.#place(key), 0, key);
    this.#bytes += sizeOf(row) - (old === undefined ? 0 : sizeOf(old));
    this.#rows.set(key, row);
  }

  #remove(key: string): void {
    const old = this.#rows.get(key);
    if (old === undefined) return;
    this.#rows.delete(key);
    this.#keys.splice(this.#place(key), 1);
    this.#bytes -= sizeOf(old);
  }

  #atOrAbove(key: string): string | undefined {
    return this.#keys[this.#place(key)];
  }

  #below(key: string): string | undefined {
    return this.#keys[this.#place(key) - 1];
  }

  /** Index of the first key that is not below `key`. */
  #place(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareUtf8(this.#keys[middle] ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const sizeOf = (row: Row): number => Buffer.byteLength(row.key) + row.value.length;

/** The order of UTF-8 bytes is the order of code points; UTF-16 units differ from it only where one is half of a surrogate pair. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    const isSurrogateA = a >= 0xd800 && a <= 0xdfff;
    const isSurrogateB = b >= 0xd800 && b <= 0xdfff;
    return isSurrogateA === isSurrogateB ? a - b : isSurrogateA ? 1 : -1;
  }
  return left.length - right.length;
}
