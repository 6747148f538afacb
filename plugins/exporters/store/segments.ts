// All there is to read, at one moment: the blocks, and the rows that are in none yet. Both give columns.

import type { LogRecord, Row, Store } from '@gateway/plugin-sdk';
import {
  allFields, boundsOf, bytesOfColumn, columnOf, Columns, filterKey, heads, keyOfHead, partKey, partOfField, readField, readHead, readPart, timeOfKey,
  type Arrival, type BlockBounds, type BlockHead, type Column, type Field, type PackedPart, type PartName,
} from './block.js';
import { ColumnCache } from './column-cache.js';
import { mayHave } from './id-filter.js';
import { countOfBatch, readLogBatch } from './log-batch.js';
import { allRows } from './partitions.js';

/** Columns and rows that were read lately. */
const cacheBytesMax = 160 * 1024 * 1024;
/** What a record takes in memory, about. */
const recordBytes = 1500;
/** Looks at what there is until nothing was written meanwhile; the last is taken as it is. */
const looksMax = 20;
/** Heads that are kept read; more are read again. */
const headsMax = 10_000;
/** Records that are in no block: only a store of an earlier version has more, until they are merged. They would not fit into memory. */
const rowRecordsMax = 150_000;
/** Rows looked at before others have their turn. */
const rowsOfTurn = 16;

/** A block was merged or removed since its head was read: the query begins again. */
export class StaleError extends Error {
  constructor(key: string) {
    super(`the block ${key} of the log is gone`);
  }
}

export interface Segment {
  /** Of the row, or of the last row that the block was made of. */
  readonly key: string;
  readonly version: number;
  readonly count: number;
  readonly bounds: BlockBounds;
  readonly arrivals: readonly Arrival[];
  /** Throws StaleError. */
  open(fields: ReadonlySet<Field>): Promise<Columns>;
  mayHaveId(ids: readonly string[]): Promise<boolean>;
  /** A row, in memory. */
  readonly isHeld: boolean;
}

export class Segments {
  readonly cache = new ColumnCache(cacheBytesMax);
  readonly #heads = new Map<string, BlockHead>();
  #listed: { readonly revision: number; readonly segments: readonly Segment[] } | null = null;

  constructor(readonly store: Store, readonly recordsMax = rowRecordsMax) {}

  /** In no order. Rejects while too many records are in no block. */
  async list(): Promise<readonly Segment[]> {
    for (let look = 1; ; look += 1) {
      const revision = await this.store.revision();
      if (this.#listed?.revision === revision) return this.#listed.segments;
      const segments = await this.#read();
      // A merge in between would show records twice, or not at all.
      const isWhole = await this.store.revision() === revision;
      if (isWhole) this.#listed = { revision, segments };
      if (isWhole || look === looksMax) return segments;
    }
  }

  async #read(): Promise<readonly Segment[]> {
    const segments: Segment[] = [];
    for await (const row of this.store.range({ from: heads.from, to: heads.to, limit: Infinity })) segments.push(new BlockSegment(this.store, this.cache, keyOfHead(row.key), row.version, this.#headOf(row)));
    let [rows, records] = [0, 0];
    for await (const row of this.store.range({ ...allRows, limit: Infinity })) {
      if (!isBatchKey(row.key)) continue;
      rows += 1;
      records += countOfBatch(row.value);
      if (records > this.recordsMax) throw new Error('the records of an earlier version are being merged; ask again in some minutes');
      const name = `${row.key}@${row.version}`;
      let held = this.cache.get(name);
      if (!(held instanceof RowSegment)) {
        held = new RowSegment(this.cache, row);
        this.cache.set(name, held, recordBytes * (held as RowSegment).count);
        if (rows % rowsOfTurn === 0) await nextTurn();
      }
      segments.push(held as RowSegment);
    }
    return segments;
  }

  #headOf({ key, version, value }: Row): BlockHead {
    const name = `${key}@${version}`;
    let head = this.#heads.get(name);
    if (head !== undefined) return head;
    if (this.#heads.size >= headsMax) this.#heads.clear();
    this.#heads.set(name, head = readHead(value));
    return head;
  }
}

/** Batches of callers and of those without a key lie between other rows. */
export const isBatchKey = (key: string): boolean => /^r?\d{13}-/.test(key);

export const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

export class BlockSegment implements Segment {
  readonly isHeld = false;

  constructor(readonly store: Store, readonly cache: ColumnCache, readonly key: string, readonly version: number, readonly bounds: BlockHead) {}

  get count(): number {
    return this.bounds.count;
  }

  get arrivals(): readonly Arrival[] {
    return this.bounds.arrivals;
  }

  async open(fields: ReadonlySet<Field>): Promise<Columns> {
    const found = new Map<Field, Column>();
    const parts = new Map<PartName, PackedPart>();
    // Ids of traces may be said by those of their records.
    const wanted = fields.has('traceId') || fields.has('spanId') || fields.has('parentSpanId') ? new Set<Field>(['id', ...fields]) : fields;
    for (const field of wanted) {
      const name = `block ${this.key}@${this.version}/${field}`;
      // Only columns stand under such a name.
      let column = this.cache.get(name) as Column | undefined;
      if (column === undefined) {
        const partName = partOfField(field);
        let part = parts.get(partName);
        if (part === undefined) parts.set(partName, part = await this.#part(partName));
        const own = found.get('id');
        column = readField(part, field, Array.isArray(own) ? own : undefined);
        this.cache.set(name, column, bytesOfColumn(column));
      }
      found.set(field, column);
    }
    return new Columns(this.count, found);
  }

  async #part(name: PartName): Promise<PackedPart> {
    const row = await this.store.get(partKey(this.key, name));
    if (row === undefined) throw new StaleError(this.key);
    const part = readPart(row.value);
    if (part.count !== this.count) throw new StaleError(this.key);
    return part;
  }

  async mayHaveId(ids: readonly string[]): Promise<boolean> {
    const name = `block ${this.key}@${this.version}/`;
    let bits = this.cache.get(name);
    if (!(bits instanceof Uint8Array)) {
      const row = await this.store.get(filterKey(this.key));
      if (row === undefined) throw new StaleError(this.key);
      bits = Uint8Array.from(row.value);
      this.cache.set(name, bits, row.value.length);
    }
    // As above.
    return ids.some((id) => mayHave(bits as Uint8Array, id));
  }
}

/** A row that the exporter wrote, read whole. */
class RowSegment implements Segment {
  readonly isHeld = true;
  readonly key: string;
  readonly version: number;
  readonly records: readonly LogRecord[];
  readonly bounds: BlockBounds;
  readonly arrivals: readonly Arrival[];

  constructor(readonly cache: ColumnCache, { key, version, value }: Row) {
    this.key = key;
    this.version = version;
    this.records = readLogBatch(value);
    this.bounds = boundsOf(this.records);
    this.arrivals = [[timeOfKey(key.replace(/^r/, '')), this.records.length]];
  }

  get count(): number {
    return this.records.length;
  }

  async open(fields: ReadonlySet<Field>): Promise<Columns> {
    const found = new Map<Field, Column>();
    for (const field of fields) {
      const name = `${this.key}@${this.version}/${field}`;
      let column = this.cache.get(name) as Column | undefined;
      if (column === undefined) this.cache.set(name, column = columnOf(this.records, field), bytesOfColumn(column));
      found.set(field, column);
    }
    return new Columns(this.count, found);
  }

  async mayHaveId(ids: readonly string[]): Promise<boolean> {
    return this.records.some(({ id, traceId }) => ids.includes(id) || ids.includes(traceId));
  }
}

export const everyField: ReadonlySet<Field> = new Set(allFields);
