// All there is to read, at one moment: the blocks, and the rows that are in none yet. Both give columns.

import { crc32 } from 'node:zlib';
import type { Row, Store } from '@gateway/plugin-sdk';
import {
  allFields, atOf, boundsOf, bytesOfColumn, columnOf, columnOfRow, Columns, filterKey, headKey, heads, keyOfHead, memberOf, partKey, partOfField, peekField, peekRow, readField, readHead, readPart, timeOfKey, valuesKey,
  type Arrival, type BlockBounds, type BlockHead, type Column, type ColumnSource, type Field, type PackedPart, type PartName, type Peek,
} from './block.js';
import type { At, Words } from './block-columns.js';
import { Metadata } from './block-metadata.js';
import { ColumnCache } from './column-cache.js';
import type { OnDamaged } from './damage.js';
import { mayHave } from './id-filter.js';
import { countOfBatch, openLogBatch, readLogBatch } from './log-batch.js';
import { allRows } from './partitions.js';

/** Columns and rows that were read lately. */
const cacheBytesMax = 160 * 1024 * 1024;
/** What a record of a row takes in memory, about, beside the columns that were read of it. */
const recordBytes = 500;
/** What is said about a column that few records were read of. */
const peekBytes = 200;
/** Looks at what there is until nothing was written meanwhile; the last is taken as it is. */
const looksMax = 20;
/** Heads that are kept read; more are read again. */
const headsMax = 10_000;
/** Records that are in no block, some hundred bytes each: a store of an earlier version has more until they are merged, and one that gets more than can be merged for minutes. */
const rowRecordsMax = 1_000_000;
/** Rows looked at before others have their turn. */
const rowsOfTurn = 16;

/** Blocks and rows that are left out; what is damaged beyond them fails what is asked. */
const leftOutMax = 10_000;

/** A block was merged or removed since its head was read: the query begins again. */
export class StaleError extends Error {
  constructor(key: string) {
    super(`the block ${key} of the log is gone`);
  }
}

/** A block or row cannot be read: the query begins again without it. */
export class DamagedError extends Error {
  constructor(readonly segment: Segment, thrown: unknown) {
    super(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}

export interface Segment {
  /** Of the row, or of the last row that the block was made of. */
  readonly key: string;
  readonly version: number;
  readonly count: number;
  readonly bounds: BlockBounds;
  readonly arrivals: readonly Arrival[];
  /** Throws StaleError. `isOfFew`: what is asked of the columns is what they say of few records (`at`, `record`). */
  open(fields: ReadonlySet<Field>, isOfFew?: boolean): Promise<Columns>;
  /** Ids of records or traces. */
  mayHaveId(ids: readonly string[]): Promise<boolean>;
  mayHaveSpan(ids: readonly string[]): Promise<boolean>;
  /** Of each list one, as `Selection.valuesOf` gives them. */
  mayHaveValues(lists: readonly (readonly string[])[]): Promise<boolean>;
  /** A row, in memory. */
  readonly isHeld: boolean;
}

export class Segments {
  readonly cache = new ColumnCache(cacheBytesMax);
  readonly #heads = new Map<string, BlockHead>();
  /** Names of those that cannot be read. */
  readonly #leftOut = new Set<string>();
  #listed: { readonly revision: number; readonly segments: readonly Segment[] } | null = null;
  #isAsked = false;

  constructor(readonly store: Store, readonly onDamaged: OnDamaged = () => {}, readonly recordsMax = rowRecordsMax) {}

  /** From now on it is in no list. Throws when there are too many. */
  leaveOut(damaged: DamagedError): void {
    const { key, version, count, bounds: { ranges: { startedAtMs: [fromMs, toMs] } } } = damaged.segment;
    if (this.#leftOut.size >= leftOutMax) throw damaged;
    this.#leftOut.add(`${key}@${version}`);
    this.#listed = null;
    this.onDamaged(key, damaged, { records: count, fromMs, toMs });
  }

  /** Called now and then: what was read is let go when nobody has asked since the last time. */
  rest(): void {
    if (!this.#isAsked) {
      this.cache.clear();
      this.#listed = null;
    }
    this.#isAsked = false;
  }

  /** In no order. Rejects while too many records are in no block. */
  async list(): Promise<readonly Segment[]> {
    this.#isAsked = true;
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
    for await (const row of this.store.range({ from: heads.from, to: heads.to, limit: Infinity })) {
      // What cannot be read hides nothing else.
      const key = keyOfHead(row.key);
      if (this.#leftOut.has(`${key}@${row.version}`)) continue;
      try {
        segments.push(new BlockSegment(this.store, this.cache, key, row.version, this.#headOf(row)));
      } catch (thrown) {
        this.onDamaged(key, thrown);
      }
    }
    let [rows, records] = [0, 0];
    for await (const row of this.store.range({ ...allRows, limit: Infinity })) {
      if (!isBatchKey(row.key) || this.#leftOut.has(`${row.key}@${row.version}`)) continue;
      try {
        rows += 1;
        records += countOfBatch(row.value);
        if (records <= this.recordsMax) segments.push(this.#heldOf(row));
      } catch (thrown) {
        this.onDamaged(row.key, thrown);
      }
      if (records > this.recordsMax) throw new Error('more records than fit into memory are still to be merged; ask again in some minutes');
      if (rows % rowsOfTurn === 0) await nextTurn();
    }
    return segments;
  }

  #heldOf(row: Row): RowSegment {
    const name = `${row.key}@${row.version}`;
    const held = this.cache.get(name);
    if (held instanceof RowSegment) return held;
    const made = new RowSegment(this.cache, row);
    this.cache.set(name, made, recordBytes * made.count);
    return made;
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
const isBatchKey = (key: string): boolean => /^r?\d{13}-/.test(key);

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

  async open(fields: ReadonlySet<Field>, isOfFew = false): Promise<Columns> {
    const [kept, parts] = [new Map<Field, Column>(), new Map<PartName, OpenPart>()];
    // Ids of traces may be said by those of their records.
    const wanted = fields.has('traceId') || fields.has('spanId') || fields.has('parentSpanId') ? new Set<Field>(['id', ...fields]) : fields;
    const name = `block ${this.key}@${this.version}/`;
    for (const field of wanted) {
      // Only columns stand under such names.
      const column = this.cache.get(`${name}${field}`) as Column | undefined;
      const partName = partOfField(this.bounds.format, field);
      if (column !== undefined) kept.set(field, column);
      else if (!parts.has(partName)) parts.set(partName, await this.#openPart(`${name}part ${partName}`, partName, isOfFew));
    }
    return new Columns(this.count, new BlockSource(this, name, kept, parts));
  }

  /** What few records are read of is kept as it was read: the next ones are of it as well. Of all others the columns are kept. */
  async #openPart(name: string, partName: PartName, isKept: boolean): Promise<OpenPart> {
    const kept = this.cache.get(name);
    if (kept instanceof OpenPart) return kept;
    const { part, bytes } = await this.#part(partName);
    const open: OpenPart = new OpenPart(part, isKept ? (peeks) => this.cache.set(name, open, bytes + peeks) : () => {});
    open.told(0);
    return open;
  }

  async #part(name: PartName): Promise<{ readonly part: PackedPart; readonly bytes: number }> {
    const row = await this.store.get(partKey(this.key, name));
    const part = row === undefined ? undefined : ofSegment(this, () => readPart(row.value));
    if (part === undefined || part.count !== this.count) throw await this.#faultOf(`a block of the log is damaged: its part ${name} is ${part === undefined ? 'missing' : 'of another one'}`);
    return { part, bytes: row?.value.length ?? 0 };
  }

  /** While its head is as it was, nobody has merged or removed it. */
  async #faultOf(reason: string): Promise<Error> {
    const head = await this.store.get(headKey(this.key));
    return head?.version === this.version ? new DamagedError(this, reason) : new StaleError(this.key);
  }

  async mayHaveId(ids: readonly string[]): Promise<boolean> {
    const bits = await this.#filter('ids', filterKey(this.key), this.bounds.filters?.[0]);
    return ids.some((id) => mayHave(bits, id));
  }

  async mayHaveSpan(ids: readonly string[]): Promise<boolean> {
    // Filters of the first format have no spans.
    return this.bounds.format === 1 || this.mayHaveId(ids);
  }

  async mayHaveValues(lists: readonly (readonly string[])[]): Promise<boolean> {
    if (this.bounds.format === 1 || lists.length === 0) return true;
    const bits = await this.#filter('values', valuesKey(this.key), this.bounds.filters?.[1]);
    return lists.every((values) => values.some((value) => mayHave(bits, value)));
  }

  /** One that is not as it was written says nothing. */
  async #filter(of: string, key: string, sum: number | undefined): Promise<Uint8Array> {
    const name = `block ${this.key}@${this.version}/filter of ${of}`;
    let bits = this.cache.get(name);
    if (!(bits instanceof Uint8Array)) {
      const row = await this.store.get(key);
      if (row === undefined) throw await this.#faultOf(`a block of the log is damaged: its filter of ${of} is missing`);
      bits = sum === undefined || crc32(row.value) === sum ? Uint8Array.from(row.value) : new Uint8Array(0);
      this.cache.set(name, bits, row.value.length);
    }
    // As above.
    return bits as Uint8Array;
  }
}

/** A part that was read, and what is said of few of its records. */
class OpenPart {
  readonly #peeks = new Map<Field, Peek>();
  #bytes = 0;

  /** `told`: how many bytes the peeks take. */
  constructor(readonly part: PackedPart, readonly told: (bytes: number) => void) {}

  peek(field: Field): Peek['at'] {
    let peek = this.#peeks.get(field);
    if (peek === undefined) {
      this.#peeks.set(field, peek = peekField(this.part, field));
      this.#bytes += peek.bytes + peekBytes;
      this.told(this.#bytes);
    }
    return peek.at;
  }
}

/** Columns of a block: those that are kept, and those of the parts that were read for it. */
class BlockSource implements ColumnSource {
  constructor(readonly of: BlockSegment, readonly name: string, readonly kept: ReadonlyMap<Field, Column>, readonly parts: ReadonlyMap<PartName, OpenPart>) {}

  read(field: Field): Column {
    const kept = this.kept.get(field);
    if (kept !== undefined) return kept;
    const own = isOfOthers(field) ? this.read('id') : undefined;
    const column = ofSegment(this.of, () => readField(this.#part(field).part, field, Array.isArray(own) ? own : undefined));
    this.of.cache.set(`${this.name}${field}`, column, bytesOfColumn(column));
    return column;
  }

  peek(field: Field): At<string | number> {
    const ids = isOfOthers(field) ? this.peek('id') : undefined;
    const own: At<string> | undefined = ids === undefined ? undefined : (index) => String(ids(index));
    const at = ofSegment(this.of, (): Peek['at'] => {
      const kept = this.kept.get(field);
      // Members stand under such names.
      if (kept instanceof Metadata) return kept.reading((name) => this.of.cache.get(this.#nameOf(name)) as Words | undefined).at;
      return kept === undefined ? this.#part(field).peek(field) : atOf(kept);
    });
    return (index) => ofSegment(this.of, () => at(index, own));
  }

  member(name: string): Words {
    const key = this.#nameOf(name);
    // As above.
    const kept = this.of.cache.get(key) as Words | undefined;
    if (kept !== undefined) return kept;
    const words = ofSegment(this.of, () => memberOf(this.read('metadata'), name));
    this.of.cache.set(key, words, bytesOfColumn(words));
    return words;
  }

  readonly #nameOf = (member: string): string => `${this.name}metadata/${member}`;

  #part(field: Field): OpenPart {
    const part = this.parts.get(partOfField(this.of.bounds.format, field));
    if (part === undefined) throw new Error(`${field} was not asked for`);
    return part;
  }
}

/** What cannot be read is known by where it lies. */
function ofSegment<T>(segment: Segment, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw new DamagedError(segment, thrown);
  }
}

/** It may be the id of its record. */
const isOfOthers = (field: Field): boolean => field === 'traceId' || field === 'spanId' || field === 'parentSpanId';

/** A row that the exporter wrote. */
class RowSegment implements Segment, ColumnSource {
  readonly isHeld = true;
  readonly key: string;
  readonly version: number;
  readonly count: number;
  readonly bounds: BlockBounds;
  readonly arrivals: readonly Arrival[];
  readonly #read: (field: Field) => Column;
  readonly #peek: (field: Field) => At<string> | undefined;

  constructor(readonly cache: ColumnCache, { key, version, value }: Row) {
    this.key = key;
    this.version = version;
    // The row of a store may be a view of memory that comes to hold something else.
    const batch = openLogBatch(Uint8Array.from(value));
    const records = batch === undefined ? readLogBatch(value) : [];
    this.#read = batch === undefined ? (field) => columnOf(records, field) : (field) => columnOfRow(batch, field);
    this.#peek = (field) => (batch === undefined ? undefined : peekRow(batch, field));
    this.count = batch?.count ?? records.length;
    this.bounds = boundsOf(new Columns(this.count, this));
    this.arrivals = [[timeOfKey(key.replace(/^r/, '')), this.count]];
  }

  read(field: Field): Column {
    const name = `${this.key}@${this.version}/${field}`;
    let column = this.cache.get(name) as Column | undefined;
    if (column === undefined) this.cache.set(name, column = ofSegment(this, () => this.#read(field)), bytesOfColumn(column));
    return column;
  }

  peek(field: Field): At<string | number> {
    return this.#peek(field) ?? atOf(this.read(field));
  }

  member(name: string): Words {
    const key = `${this.key}@${this.version}/metadata/${name}`;
    // As above.
    let words = this.cache.get(key) as Words | undefined;
    if (words === undefined) this.cache.set(key, words = memberOf(this.read('metadata'), name), bytesOfColumn(words));
    return words;
  }

  async open(): Promise<Columns> {
    return new Columns(this.count, this);
  }

  /** What is held is as quickly read. */
  async mayHaveSpan(): Promise<boolean> {
    return true;
  }

  async mayHaveValues(): Promise<boolean> {
    return true;
  }

  async mayHaveId(ids: readonly string[]): Promise<boolean> {
    const columns = await this.open();
    return columns.ids('id').some((id) => ids.includes(id)) || columns.ids('traceId').some((id) => ids.includes(id));
  }
}

export const everyField: ReadonlySet<Field> = new Set(allFields);
