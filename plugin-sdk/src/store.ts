import type { Closable, Maybe } from './shared.js';

/** Ordered keys, versions, batches. Never on the path of a call. */
export interface Store extends Closable {
  get(key: string): Maybe<Row | undefined>;
  /** Rows with `from <= key < to`, in the order of the UTF-8 bytes of the keys; at most `limit`; backwards with `reverse`. */
  range(options: RangeOptions): AsyncIterable<Row>;
  /**
   * All or nothing, durable when it resolves; false when an `ifVersion` did not hold, and then nothing was written. Rejects when the medium refuses it,
   * with a `code` of the system (`ENOSPC`, `EDQUOT`, `EFBIG`, `EIO`, `EROFS`) when it may hold later: larger writes then wait a moment before the next.
   */
  write(batch: readonly Write[]): Promise<boolean>;
  /** Grows with each commit, seen by every thread and process that opened the store. */
  revision(): Maybe<number>;
  /** How many rows a range has, for stores that know it without reading them; else they are read and counted. */
  count?(range: Pick<RangeOptions, 'from' | 'to'>): Maybe<number>;
  /** Bytes the store takes on its medium, for retention. */
  size?(): Maybe<number>;
}

export interface RangeOptions {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly reverse?: boolean;
}

export interface Row {
  readonly key: string;
  readonly value: Uint8Array;
  /** 1 when the key was first written, then one more with each write. */
  readonly version: number;
}

export interface Write {
  readonly op: 'put' | 'remove';
  readonly key: string;
  /** Required by `put`. */
  readonly value?: Uint8Array;
  /** The row's version must be this; 0 = the key must not exist. */
  readonly ifVersion?: number;
}
