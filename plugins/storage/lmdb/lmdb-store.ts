import { ABORT, open, type RootDatabase } from 'lmdb';
import type { RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';
import { checkBatch, checkKey, planVersions } from '../common/check-batch.js';

/** Rows read at a time by a range: a page is whole before the first of it is given out, so no read transaction outlives a tick. */
const pageRowsMax = 256;
const pageBytesMax = 1024 * 1024;

/** First byte of each key in the file: the gateway's own keys lie outside the space of the rows. */
const rowPrefix = 0x72;
const ownPrefix = 0x6d;
const revisionKey = Buffer.from([ownPrefix, ...Buffer.from('revision')]);
const layoutKey = Buffer.from([ownPrefix, ...Buffer.from('layout')]);
/** Raised when keys or values are laid out differently. */
const layout = 1;

type Database = RootDatabase<Uint8Array, Uint8Array>;

/** One LMDB environment. Reads are synchronous, from the memory map; writes commit off this thread. */
export class LmdbStore implements Store {
  readonly #database: Database;
  #isClosed = false;

  constructor(folder: string) {
    this.#database = open<Uint8Array, Uint8Array>({
      path: folder,
      noSubdir: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      useVersions: true,
      // A commit is on the disk when it resolves, as `write` promises; the default would resolve before.
      overlappingSync: false,
    });
    const written = this.#read(layoutKey);
    if (written !== undefined && Number(written.value[0]) > layout) {
      void this.#database.close();
      throw new Error('it was written by a newer version of the gateway; start that version, or use another directory');
    }
  }

  get(key: string): Row | undefined {
    checkKey(key);
    const entry = this.#read(rowKey(key));
    return entry === undefined ? undefined : { key, value: entry.value, version: entry.version };
  }

  /** Not one snapshot: rows that others write while the range is read may or may not be in it. */
  async *range(options: RangeOptions): AsyncGenerator<Row> {
    const { reverse = false } = options;
    checkKey(options.from);
    checkKey(options.to);
    let { from, to, limit } = options;
    while (limit > 0) {
      const page = this.#page(from, to, Math.min(limit, pageRowsMax), reverse);
      for (const row of page) yield row;
      const last = page.at(-1);
      if (last === undefined) return;
      limit -= page.length;
      if (reverse) to = last.key;
      else from = `${last.key}\u0000`;
    }
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    checkBatch(batch);
    if (batch.length === 0) return true;
    const keys = batch.map((entry) => rowKey(entry.key));
    let isHeld = false;
    // A child transaction, because LMDB may commit several callers' batches as one: a failure undoes this batch and no other.
    await this.#live().childTransaction(() => {
      const database = this.#database;
      const versions = planVersions(batch, (key) => versionOf(database, rowKey(key)));
      if (versions === undefined) return ABORT;
      for (let index = 0; index < batch.length; index += 1) {
        const entry = batch[index];
        const key = keys[index];
        if (entry === undefined || key === undefined) continue;
        if (entry.op === 'remove') void database.remove(key);
        else if (entry.value !== undefined) void database.put(key, entry.value, versions[index] ?? 1);
      }
      const revision = revisionOf(database) + 1;
      void database.put(revisionKey, encodeRevision(revision), revision);
      if (revision === 1) void database.put(layoutKey, Uint8Array.of(layout), 1);
      isHeld = true;
      return undefined;
    });
    return isHeld;
  }

  revision(): number {
    this.#live().resetReadTxn();
    return revisionOf(this.#database);
  }

  /** Bytes of the pages that rows take. The file keeps pages that removals freed, and uses them first, so it follows only upwards. */
  size(): number {
    this.#live().resetReadTxn();
    const stats: unknown = this.#database.getStats();
    return sizeOf(stats) + ('free' in Object(stats) ? sizeOf(Object(stats).free) : 0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#database.close();
  }

  #page(from: string, to: string, rows: number, reverse: boolean): Row[] {
    this.#live().resetReadTxn();
    const [lower, upper] = [rowKey(from), rowKey(to)];
    const page: Row[] = [];
    if (Buffer.compare(lower, upper) >= 0) return page;
    let bytes = 0;
    const bounds = reverse
      ? { start: upper, exclusiveStart: true, end: lower, inclusiveEnd: true }
      : { start: lower, end: upper };
    for (const { key, value, version } of this.#database.getRange({ ...bounds, reverse, versions: true, limit: rows })) {
      page.push({ key: Buffer.from(key.buffer, key.byteOffset + 1, key.length - 1).toString(), value, version: version ?? 1 });
      bytes += value.length;
      if (bytes >= pageBytesMax) break;
    }
    return page;
  }

  #read(key: Buffer): { readonly value: Uint8Array; readonly version: number } | undefined {
    // Another thread's commit has to be seen at once, not from the next tick on.
    this.#live().resetReadTxn();
    const entry = this.#database.getEntry(key);
    return entry === undefined ? undefined : { value: entry.value, version: entry.version ?? 1 };
  }

  #live(): Database {
    if (this.#isClosed) throw new Error('the store is closed');
    return this.#database;
  }
}

function rowKey(key: string): Buffer {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(key));
  bytes[0] = rowPrefix;
  bytes.write(key, 1);
  return bytes;
}

const versionOf = (database: Database, key: Buffer): number => database.getEntry(key)?.version ?? 0;

function revisionOf(database: Database): number {
  const value = database.get(revisionKey);
  return value === undefined ? 0 : Number(Buffer.from(value).readBigUInt64BE());
}

function encodeRevision(revision: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(revision));
  return bytes;
}

function sizeOf(stats: unknown): number {
  const counts: Readonly<Record<string, unknown>> = Object(stats);
  const count = (name: string): number => {
    const value = counts[name];
    if (typeof value !== 'number') throw new Error(`lmdb reports no ${name}`);
    return value;
  };
  return (count('treeBranchPageCount') + count('treeLeafPageCount') + count('overflowPages')) * count('pageSize');
}
