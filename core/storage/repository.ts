// Typed rows over a store, with their indexes, the change log and the audit chain. Used by the control plane, at the start, and by the snapshot;
// never on the path of a call. A commit is one batch: rows, index rows, change entry, audit entries, and the head that orders all of them.
//
//   <table>/<id>                             { format, row }
//   index/<table>/<index>/<parts>            id, of a unique index
//   index/<table>/<index>/<parts>/<id>       of others
//   change/<sequence>                        [table, id], ... of one commit; the last `changesMax` are kept
//   audit/<sequence>/<number>                { record, hash }, where the hash is over the record and the hash before it
//   head                                     { sequence, auditHash }
//   writer/<random>                          empty; one for whoever commits, written with each commit

import type { Row as StoreRow, Store, Write } from '@gateway/plugin-sdk';
import { createHash, randomBytes } from 'node:crypto';
import { Packr } from 'msgpackr';
import { fail } from '../errors/gateway-error.js';
import { CommitConflict, type Change, type RowChange, type Stored } from './change.js';
import type { Row, Table } from './define-table.js';

export type { Stored } from './change.js';

const rowsOfPage = 1000;
/** Commits that a reader may be behind before it reads every row anew. */
export const changesMax = 100_000;
/** As many commits at once are read one by one: a walk over a range leaves more behind, on every thread and for every commit. */
const singlyReadMax = 32;
/** A commit that loses against others this often is not losing races. */
const triesMax = 100;
/** Longer parts of an index stand in its keys as their hashes: a key of the store has at most 1,024 bytes. */
const partCharsMax = 128;
/** Entries of one commit are in order up to this many digits; a batch of the storage holds fewer rows. */
export const auditDigits = 6;
/** Of a key of the store. */
export const keyBytesMax = 1_024;
const headKey = 'head';
const writersFrom = 'writer/';
/** Rows of earlier writers that are removed at once. */
const writersMax = 1_000;
export const emptyAuditHash = '';

const noBytes = new Uint8Array(0);
const packr = new Packr({ useRecords: false });

interface Head {
  readonly sequence: number;
  readonly auditHash: string;
  /** Of the row in the store. */
  readonly version: number;
}

/** What the next commit is to find, and takes the place of. */
interface Turn extends Head {
  /**
   * Of the row of this writer. A commit that is chained to one under way knows which version of the head that one leaves; when it fails, because
   * another process came first, that process leaves the very same version. Of this row it leaves none.
   */
  readonly writerVersion: number;
}

export interface AuditEntry {
  readonly sequence: number;
  readonly number: number;
  readonly record: Readonly<Record<string, unknown>>;
  /** SHA-256 in lower-case hex over the entry before and the packed record. */
  readonly hash: string;
  readonly packed: Uint8Array;
}

/** The commits after a sequence; `touched` null: too long ago to tell, or never read. */
export interface Changes {
  readonly sequence: number;
  readonly touched: ReadonlyMap<string, ReadonlySet<string>> | null;
}

export interface ListOptions {
  /** Rows of this index whose parts begin with these, in the order of the parts; without, the whole table. */
  readonly index?: string;
  readonly parts?: readonly string[];
  readonly limit: number;
  /** Rows to leave out first. */
  readonly offset?: number;
  /** From the highest id down: ids made by `newId` grow with time. */
  readonly reverse?: boolean;
}

export interface AuditOptions {
  /** Sequences: from the first on, before the second. */
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly reverse?: boolean;
}

export class Repository {
  /** As it will be when all commits under way are written; undefined: to be read. */
  #head: Turn | undefined = undefined;
  #reading: Promise<Turn> | undefined = undefined;
  readonly #writerKey = `${writersFrom}${randomBytes(12).toString('hex')}`;
  /** Rows of earlier writers, most of which are gone; one that is not makes its row anew. Null: they were looked for. */
  #writers: readonly string[] | null = [];
  /** Grows when #head turned out wrong. */
  #epoch = 0;

  /** `onCommit` is told after each write that changed something: it bumps the revision signal of the threads. */
  constructor(readonly store: Store, readonly onCommit: () => void = () => {}) {}

  async get<R extends Row>(table: Table<R>, id: string): Promise<Stored<R> | undefined> {
    const stored = await this.store.get(`${table.name}/${id}`);
    return stored === undefined ? undefined : decode(table, stored);
  }

  /** The one row with these parts of a unique index. */
  async find<R extends Row>(table: Table<R>, index: string, parts: readonly string[]): Promise<Stored<R> | undefined> {
    const entry = await this.store.get(indexKey(table, index, parts));
    return entry === undefined ? undefined : this.get(table, Buffer.from(entry.value).toString());
  }

  async list<R extends Row>(table: Table<R>, options: ListOptions): Promise<Stored<R>[]> {
    const list: Stored<R>[] = [];
    for await (const stored of this.page(table, options)) list.push(stored);
    return list;
  }

  /** The same, read as they are taken: for rows that may be large. */
  async *page<R extends Row>(table: Table<R>, options: ListOptions): AsyncGenerator<Stored<R>> {
    const { index, parts = [], limit, offset = 0, reverse = false } = options;
    const base = index === undefined ? table.name : indexKey(table, index, parts);
    let left = offset;
    // '0' follows '/'.
    for await (const entry of this.store.range({ from: `${base}/`, to: `${base}0`, limit: offset + limit, reverse })) {
      if (left > 0) {
        left -= 1;
        continue;
      }
      const stored = index === undefined ? decode(table, entry) : await this.get(table, Buffer.from(entry.value).toString());
      if (stored !== undefined) yield stored;
    }
  }

  /** As `page`, without a limit. */
  async *each<R extends Row>(table: Table<R>, { index, parts = [], reverse = false }: Omit<ListOptions, 'limit' | 'offset'>): AsyncGenerator<Stored<R>> {
    const base = index === undefined ? table.name : indexKey(table, index, parts);
    for await (const entry of this.store.range({ from: `${base}/`, to: `${base}0`, limit: Number.MAX_SAFE_INTEGER, reverse })) {
      const stored = index === undefined ? decode(table, entry) : await this.get(table, Buffer.from(entry.value).toString());
      if (stored !== undefined) yield stored;
    }
  }

  async count(table: Table, index?: string, parts: readonly string[] = []): Promise<number> {
    const base = index === undefined ? table.name : indexKey(table, index, parts);
    const range = { from: `${base}/`, to: `${base}0` };
    if (this.store.count !== undefined) return this.store.count(range);
    let rows = 0;
    for await (const entry of this.store.range({ ...range, limit: Number.MAX_SAFE_INTEGER })) rows += entry.version > 0 ? 1 : 0;
    return rows;
  }

  /** Every row of a table, page by page; not one snapshot. A row that is damaged is told to `onDamaged` and left out; without, it ends the reading. */
  async *all<R extends Row>(table: Table<R>, onDamaged?: (id: string, thrown: unknown) => void): AsyncGenerator<Stored<R>> {
    for (let from = `${table.name}/`; ;) {
      let rows = 0;
      for await (const entry of this.store.range({ from, to: `${table.name}0`, limit: rowsOfPage })) {
        rows += 1;
        from = `${entry.key}\u0000`;
        if (onDamaged === undefined) {
          yield decode(table, entry);
          continue;
        }
        let stored: Stored<R>;
        try {
          stored = decode(table, entry);
        } catch (thrown) {
          onDamaged(entry.key.slice(table.name.length + 1), thrown);
          continue;
        }
        yield stored;
      }
      if (rows < rowsOfPage) return;
    }
  }

  /**
   * All or nothing, durable when it resolves. Rejects with CommitConflict when a row is not as it was read or a unique index has another one in its
   * place, and with what the storage says when it refuses. Commits of others in between are no conflict. Resolves with the commit's sequence.
   */
  async commit(change: Change): Promise<number> {
    if (change.isEmpty) return this.sequence();
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (this.#head === undefined) await this.#knowHead();
      // From here to the call of write() nothing waits: commits under way at once are chained in the order in which they are written. Each takes the
      // head that the one before it left, also when both waited for the same reading.
      const head = this.#head;
      if (head === undefined) continue;
      const { batch, next } = batchOf(change, head);
      batch.push({ op: 'put', key: this.#writerKey, value: noBytes, ifVersion: head.writerVersion });
      for (const key of this.#writers ?? []) batch.push({ op: 'remove', key });
      this.#writers = null;
      this.#head = { ...next, writerVersion: head.writerVersion + 1 };
      const epoch = this.#epoch;
      let isWritten = false;
      try {
        isWritten = await this.store.write(batch);
      } finally {
        if (!isWritten && epoch === this.#epoch) {
          this.#epoch += 1;
          this.#head = undefined;
        }
      }
      if (isWritten) {
        this.onCommit();
        return next.sequence;
      }
      const conflict = await this.#conflictOf(change);
      if (conflict !== undefined) throw conflict;
    }
    throw fail('SETTINGS_INVALID', { reason: `a change could not be written: others came first ${triesMax} times` });
  }

  /** The commits after `since`. Rows read afterwards are at least as new. */
  async changes(since: number): Promise<Changes> {
    const { sequence } = await this.#readHead();
    if (since < 0 || since < sequence - changesMax) return { sequence, touched: null };
    const touched = new Map<string, Set<string>>();
    const add = (value: Uint8Array): void => {
      for (const [table, id] of packr.unpack(value) as [string, string][]) {
        const ids = touched.get(table) ?? new Set();
        touched.set(table, ids.add(id));
      }
    };
    if (sequence - since <= singlyReadMax) {
      for (let each = since + 1; each <= sequence; each += 1) {
        const entry = await this.store.get(changeKey(each));
        // A commit of audit entries alone has none.
        if (entry !== undefined) add(entry.value);
      }
    } else {
      for await (const { value } of this.store.range({ from: changeKey(since + 1), to: changeKey(sequence + 1), limit: changesMax })) add(value);
    }
    return { sequence, touched };
  }

  /** The sequence of the last commit, by whatever process. */
  async sequence(): Promise<number> {
    return (await this.#readHead()).sequence;
  }

  /** The state after the last commit: its sequence, and the hash of the last audit entry. */
  async head(): Promise<{ readonly sequence: number; readonly auditHash: string }> {
    const { sequence, auditHash } = await this.#readHead();
    return { sequence, auditHash };
  }

  /** Entries of the audit log in the order of their making, or backwards. */
  async *audit({ from = 0, to = Number.MAX_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER, reverse = false }: AuditOptions = {}): AsyncGenerator<AuditEntry> {
    for await (const { key, value } of this.store.range({ from: auditKey(from), to: auditKey(to), limit, reverse })) {
      yield auditEntryOf(key, value);
    }
  }

  async #knowHead(): Promise<void> {
    this.#reading ??= this.#readTurn().finally(() => { this.#reading = undefined; });
    const read = await this.#reading;
    this.#head ??= read;
  }

  async #readTurn(): Promise<Turn> {
    if (this.#writers !== null) {
      const keys: string[] = [];
      for await (const { key } of this.store.range({ from: writersFrom, to: 'writer0', limit: writersMax })) if (key !== this.#writerKey) keys.push(key);
      if (this.#writers !== null) this.#writers = keys;
    }
    const own = await this.store.get(this.#writerKey);
    return { ...await this.#readHead(), writerVersion: own?.version ?? 0 };
  }

  async #readHead(): Promise<Head> {
    const stored = await this.store.get(headKey);
    if (stored === undefined) return { sequence: 0, auditHash: emptyAuditHash, version: 0 };
    const { sequence, auditHash } = packr.unpack(stored.value) as Head;
    return { sequence, auditHash, version: stored.version };
  }

  /** Why a batch was refused; undefined: because of the head alone. */
  async #conflictOf(change: Change): Promise<CommitConflict | undefined> {
    for (const { table, id, before, after } of change.rows) {
      const stored = await this.store.get(`${table.name}/${id}`);
      if ((stored?.version ?? 0) !== (before?.version ?? 0)) return new CommitConflict('stale', table.name, id);
      if (after === null) continue;
      for (const [name, index] of Object.entries(table.indexes)) {
        const parts = index.isUnique ? index.of(after) : null;
        if (parts === null) continue;
        const holder = await this.store.get(indexKey(table, name, parts));
        const held = holder === undefined ? id : Buffer.from(holder.value).toString();
        if (held !== id) return new CommitConflict('duplicate', table.name, id, name, held);
      }
    }
    return undefined;
  }
}

function batchOf(change: Change, head: Head): { readonly batch: Write[]; readonly next: Head } {
  const sequence = head.sequence + 1;
  let { auditHash } = head;
  const batch: Write[] = [];
  for (const each of change.rows) writeRow(each, batch);
  if (change.rows.length > 0) batch.push({ op: 'put', key: changeKey(sequence), value: packr.pack(change.rows.map(({ table, id }) => [table.name, id])) });
  if (sequence > changesMax) batch.push({ op: 'remove', key: changeKey(sequence - changesMax) });
  for (const [number, record] of change.audit.entries()) {
    const packed = packr.pack(record);
    auditHash = auditHashOf(auditHash, packed);
    batch.push(auditWrite(sequence, number, packed, auditHash));
  }
  batch.push({ ...headWrite({ sequence, auditHash }), ifVersion: head.version });
  return { batch, next: { sequence, auditHash, version: head.version + 1 } };
}

export function auditEntryOf(key: string, value: Uint8Array): AuditEntry {
  const [, sequence = '', number = ''] = key.split('/');
  try {
    const { packed, hash }: { readonly packed?: unknown; readonly hash?: unknown } = Object(packr.unpack(value));
    if (!(packed instanceof Uint8Array) || typeof hash !== 'string') throw new TypeError('it is not an audit entry');
    const record: unknown = packr.unpack(packed);
    return { sequence: Number(sequence), number: Number(number), record: Object(record), hash, packed };
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the stored audit entry ${Number(sequence)}/${Number(number)} is damaged` }, thrown);
  }
}

/** The writes that a commit is made of, for what writes a whole store: a restore. */
export const rowWrite = (table: Table, row: Row): Write => ({ op: 'put', key: `${table.name}/${row.id}`, value: packr.pack({ format: table.format, row }) });
export const headWrite = ({ sequence, auditHash }: { readonly sequence: number; readonly auditHash: string }): Write => ({ op: 'put', key: headKey, value: packr.pack({ sequence, auditHash }) });
export const auditWrite = (sequence: number, number: number, packed: Uint8Array, hash: string): Write =>
  ({ op: 'put', key: `${auditKey(sequence)}/${String(number).padStart(auditDigits, '0')}`, value: packr.pack({ packed, hash }), ifVersion: 0 });

/** One link of the chain. */
export const auditHashOf = (before: string, packed: Uint8Array): string => createHash('sha256').update(before).update(packed).digest('hex');

function writeRow({ table, id, before, after }: RowChange, batch: Write[]): void {
  const key = `${table.name}/${id}`;
  const version = before?.version ?? 0;
  if (after === null) {
    batch.push({ op: 'remove', key, ifVersion: version });
  } else {
    const fault = after.id === id ? table.fault(after) : 'its id changed';
    if (fault !== undefined) throw new TypeError(`${table.name} ${id} is not to be written: ${fault}`);
    batch.push({ ...rowWrite(table, after), ifVersion: version });
  }
  for (const [name, index] of Object.entries(table.indexes)) {
    const had = before === null ? null : index.of(before.row);
    const has = after === null ? null : index.of(after);
    const from = had === null ? undefined : indexRowKey(table, name, had, id);
    const to = has === null ? undefined : indexRowKey(table, name, has, id);
    if (from === to) continue;
    if (from !== undefined) batch.push({ op: 'remove', key: from });
    if (to !== undefined) batch.push({ op: 'put', key: to, value: Buffer.from(id), ifVersion: 0 });
  }
}

function indexKey(table: Table, index: string, parts: readonly string[]): string {
  return `index/${table.name}/${index}${parts.map((part) => `/${partOf(part)}`).join('')}`;
}

export const indexRowKey = (table: Table, name: string, parts: readonly string[], id: string): string =>
  table.indexes[name]?.isUnique ? indexKey(table, name, parts) : `${indexKey(table, name, parts)}/${id}`;

function partOf(text: string): string {
  // Half a surrogate pair has no UTF-8.
  const escaped = text.length > partCharsMax || /\p{Surrogate}/u.test(text) ? undefined : encodeURIComponent(text);
  return escaped === undefined || escaped.length > partCharsMax ? `#${createHash('sha256').update(text, 'utf16le').digest('hex')}` : escaped;
}

const digits = (sequence: number): string => String(sequence).padStart(16, '0');
const changeKey = (sequence: number): string => `change/${digits(sequence)}`;
const auditKey = (sequence: number): string => `audit/${digits(sequence)}`;

/** For what goes over the rows of a store itself. Throws SETTINGS_INVALID, by name, for a row that cannot be read. */
export function decode<R extends Row>(table: Table<R>, { key, value, version }: StoreRow): Stored<R> {
  const where = `the stored ${table.name} ${key.slice(table.name.length + 1)}`;
  let packed: unknown;
  try {
    packed = packr.unpack(value);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${where} is damaged; restore the data directory from a backup` }, thrown);
  }
  const { format, row }: { format?: unknown; row?: unknown } = Object(packed);
  if (typeof format !== 'number' || !Number.isInteger(format) || format < 1 || typeof row !== 'object' || row === null) throw damaged(where, 'it has no format');
  return { table, row: rowUpgrade(table, Object(row), format, where), version };
}

/** A row as it was written in a format, in that of today; `where` names it in what is thrown. */
export function rowUpgrade<R extends Row>(table: Table<R>, row: Readonly<Record<string, unknown>>, format: number, where: string): R {
  if (format > table.format) {
    throw fail('SETTINGS_INVALID', { reason: `${where} has format ${format}, newer than the ${table.format} that this version reads; start the newer version of the gateway` });
  }
  let current: Readonly<Record<string, unknown>> = row;
  for (let from = format; from < table.format; from += 1) {
    const upgrade = table.upgrades[from];
    if (upgrade === undefined) throw damaged(where, `there is no way up from its format ${from}`);
    current = upgrade(current);
  }
  const fault = table.fault(current);
  if (fault !== undefined) throw damaged(where, fault);
  const own = { ...current };
  table.share(own);
  // Checked against the schema that the type was made of.
  return Object.freeze(own) as unknown as R;
}

const damaged = (where: string, reason: string): Error => fail('SETTINGS_INVALID', { reason: `${where} is damaged (${reason}); restore the data directory from a backup` });
