import { ABORT, getLastVersion, open, type RootDatabase } from 'lmdb';
import type { RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';
import { checkBatch, checkKey, planVersions } from '../common/check-batch.js';
import { fileMode } from './make-files.js';
import { freeBytes, isDiskFull, noRoomYet, refusedWrite } from './refused-write.js';

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

/** What LMDB tells of a commit beside these is an error. */
const commitStatuses: ReadonlySet<unknown> = new Set([0, 1, 2]);
const statusUnderWay = 1;
/** A full disk is tried again after this, also when it has no more room: pages inside the file may be free by then. */
const retryMs = 60_000;
/** A value that is no longer says whose turn it is, or the like. */
const markBytes = 64;

/** One LMDB environment. Reads are synchronous, from the memory map; writes commit off this thread. */
export class LmdbStore implements Store {
  readonly #database: Database;
  readonly #folder: string;
  #closed: Promise<void> | undefined = undefined;
  /** LMDB's reason for the last commit that failed. */
  #commitFault: unknown = undefined;
  /** When there was no room, how much there was: with no more than that a write is not tried, since LMDB prints each that fails. */
  #fullAt: { readonly freeBytes: number; readonly untilMs: number } | undefined = undefined;

  constructor(folder: string) {
    this.#folder = folder;
    const options = {
      path: folder,
      noSubdir: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      useVersions: true,
      // A commit is on the disk when it resolves, as `write` promises; the default would resolve before.
      overlappingSync: false,
      // Else LMDB begins a batch of its own with each turn of the loop, and nobody holds its promise when the commit fails.
      eventTurnBatching: false,
      permissionsMode: fileMode,
    } as const;
    this.#database = open<Uint8Array, Uint8Array>(options);
    this.#hearCommits();
    const written = this.#read(layoutKey);
    if (written !== undefined && Number(written.value[0]) > layout) {
      this.#database.close().catch(() => undefined);
      throw new Error('it was written by a newer version of the gateway; start that version, or use another directory');
    }
  }

  /**
   * Of a commit that fails the library prints the reason to the console and rejects a promise that it keeps to itself; whoever wrote learns only
   * that there is a reason. So the status is heard before the library is: kept for `write`, and told to the library as progress, upon which it
   * rejects the writes and nothing else.
   */
  #hearCommits(): void {
    const env: unknown = Object(this.#database).env;
    const start: unknown = Object(env).startWriting;
    if (typeof env !== 'object' || env === null || typeof start !== 'function') return;
    Object.defineProperty(env, 'startWriting', {
      configurable: true,
      value: (address: unknown, told: (status: unknown) => unknown): unknown => start.call(env, address, (status: unknown) => {
        if (commitStatuses.has(status)) return told(status);
        this.#commitFault = status;
        return told(statusUnderWay);
      }),
    });
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

  /** Walks the keys inside LMDB, without a copy of anything. */
  count({ from, to }: Pick<RangeOptions, 'from' | 'to'>): number {
    checkKey(from);
    checkKey(to);
    this.#live().resetReadTxn();
    const [start, end] = [rowKey(from), rowKey(to)];
    return Buffer.compare(start, end) >= 0 ? 0 : this.#database.getKeysCount({ start, end });
  }

  async write(batch: readonly Write[]): Promise<boolean> {
    checkBatch(batch);
    if (batch.length === 0) return true;
    const keys = batch.map((entry) => rowKey(entry.key));
    if (this.#isStillFull(batch)) throw noRoomYet(this.#folder);
    let isHeld = false;
    // A child transaction, because LMDB may commit several callers' batches as one: a failure undoes this batch and no other.
    const committed = this.#live().childTransaction(() => {
      const database = this.#database;
      const versions = planVersions(batch, (key) => versionOf(database, rowKey(key)));
      if (versions === undefined) return ABORT;
      for (let index = 0; index < batch.length; index += 1) {
        const entry = batch[index];
        const key = keys[index];
        if (entry === undefined || key === undefined) continue;
        if (entry.op === 'remove') inside(database.remove(key));
        else if (entry.value !== undefined) inside(database.put(key, entry.value, versions[index] ?? 1));
      }
      const revision = revisionOf(database) + 1;
      inside(database.put(revisionKey, encodeRevision(revision), revision));
      if (revision === 1) inside(database.put(layoutKey, Uint8Array.of(layout), 1));
      isHeld = true;
      return undefined;
    });
    try {
      await committed;
    } catch (thrown) {
      const refused = await this.#refused(thrown);
      if (isDiskFull(refused)) this.#fullAt = { freeBytes: freeBytes(this.#folder), untilMs: Date.now() + retryMs };
      throw refused;
    }
    this.#fullAt = undefined;
    return isHeld;
  }

  /** Removals and marks are tried at all times: the file may have the few pages that they take, and they are what makes room inside it. */
  #isStillFull(batch: readonly Write[]): boolean {
    if (this.#fullAt === undefined || Date.now() >= this.#fullAt.untilMs || freeBytes(this.#folder) > this.#fullAt.freeBytes) return false;
    return batch.some(({ value }) => value !== undefined && value.length > markBytes);
  }

  /** Why the commit failed, with a `code` that says whether there is no room. */
  async #refused(thrown: unknown): Promise<unknown> {
    const commitError: unknown = Object(thrown).commitError;
    if (!(commitError instanceof Promise)) return thrown instanceof Error && 'code' in thrown ? refusedWrite(this.#folder, thrown) : thrown;
    // The library's own promise of the reason. It stays pending when the status was heard; else it must not reject unheard.
    commitError.catch(() => undefined);
    const reason: unknown = this.#commitFault ?? await Promise.race([commitError.catch((fault: unknown) => fault), nextTurn()]);
    return refusedWrite(this.#folder, reason ?? thrown);
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

  /** May be called again. */
  close(): Promise<void> {
    return this.#closed ??= this.#database.close();
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
    const lent = this.#database.getBinaryFast(key);
    if (lent === undefined) return undefined;
    // Copied into a pooled buffer: memory of its own for each small row makes the collections of a thread that reads each commit longer.
    const value = Buffer.allocUnsafe(lent.length);
    // What is lent is longer than its `length` says.
    value.set(lent.subarray(0, value.length));
    return { value, version: getLastVersion() };
  }

  #live(): Database {
    if (this.#closed !== undefined) throw new Error('the store is closed');
    return this.#database;
  }
}

/** Inside a transaction the library answers at once, with promises that are settled and never reject: what fails is thrown, or fails the commit. */
function inside(written: Promise<boolean>): void {
  written.catch(() => undefined);
}

const nextTurn = (): Promise<undefined> => new Promise((resolve) => { setImmediate(resolve, undefined); });

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
