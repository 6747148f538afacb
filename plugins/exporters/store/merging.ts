// Makes blocks of the rows that the exporter writes, and of blocks that are small yet: the new block is put and what it was made of removed in one
// write, which holds only if nobody changed that meanwhile. So a record is in one place at all times, whatever dies when.

import type { Host, Row, Store, Write } from '@gateway/plugin-sdk';
import { allFields, columnOf, columnOfRow, Columns, headKey, heads, joinColumns, keyOfHead, packBlock, partKey, partNamesOf, readField, readHead, readPart, removalOf, timeOfKey, type Arrival, type BlockHead, type Column, type ColumnSource, type Field, type PackedPart } from './block.js';
import { Metadata } from './block-metadata.js';
import { lastArrivalMs } from './arrivals.js';
import type { OnDamaged } from './damage.js';
import { countOfBatch, openLogBatch, readLogBatch } from './log-batch.js';
import { ofCallers, timeKey } from './partitions.js';
import { nextTurn } from './segments.js';
import { Turn } from './turn.js';

/** Records of a full block, about. */
const blockRecords = 8192;
/** What a block is made of takes at most so many bytes, or this share of all the room. */
const sourceBytesMax = 4 * 1024 * 1024;
const sourceShare = 16;
/** Rows stay rows for so long: what arrives meanwhile goes into one block with them. */
const settledMs = 15_000;
/** So many rows, or small blocks, become one block though it is not full. */
const rowsMax = 64;
const smallBlocksMax = 16;
/** Rows looked at for one block. */
const looksMax = 1024;
/** Records of one block are of one such share of the age at which they go, and of one day at most. */
const ageShare = 32;
const dayMs = 86_400_000;
/** Work of one run: half of the time to the next one. */
const mergesMax = 64;
const runMsMax = 5_000;

/** It is merged with what comes after it. */
export const isSmall = ({ count, bytes }: BlockHead, bytesMax = sourceBytesMax): boolean => count < blockRecords / 2 && bytes < bytesMax / 2;

/** A row, or a block with its head. */
interface Source {
  readonly row: Row;
  readonly key: string;
  readonly head: BlockHead | undefined;
}

/** The fields of a source. */
interface SourceColumns extends ColumnSource {
  readonly count: number;
}

export interface MergingLimits {
  readonly bytesMax: number;
  readonly ageMsMax: number;
}

export class Merging {
  /** Rows and blocks that cannot be read: they stay as they are until they are too old. */
  readonly #damaged = new Set<string>();
  readonly #turn: Turn;
  readonly #periodMs: number;
  readonly #bytesMax: number;

  constructor(readonly host: Host, readonly store: Store, limits: MergingLimits, readonly onDamaged: OnDamaged = () => {}) {
    this.#turn = new Turn(host, store, 'sweep-merge');
    this.#periodMs = Math.max(1, Math.min(dayMs, Math.floor(limits.ageMsMax / ageShare)));
    this.#bytesMax = Math.min(sourceBytesMax, Math.floor(limits.bytesMax / sourceShare));
  }

  /** A bounded part of what there is to do; true: there is more. */
  async run(): Promise<boolean> {
    let isMore = false;
    await this.#turn.run(async () => {
      const untilMs = performance.now() + runMsMax;
      for (let merges = 0; merges < mergesMax && performance.now() < untilMs; merges += 1) {
        isMore = await this.#step();
        if (!isMore) return;
      }
    });
    return isMore;
  }

  /** Makes one block; false: there is nothing to do. */
  async #step(): Promise<boolean> {
    const settled = timeKey(await this.#settledMs());
    const rows = await this.#rows(settled);
    const [first] = rows;
    const period = first === undefined ? undefined : this.#periodOf(first.key);
    const small = await this.#smallBlocks(first?.key);
    if (period !== undefined) {
      const ofPeriod = rows.filter(({ key }) => this.#periodOf(key) === period);
      const isOver = ofPeriod.length < rows.length || this.#periodOf(settled) > period;
      const { sources, isFull } = this.#fitting([...small, ...ofPeriod]);
      if (isFull || isOver) return this.#merge(sources);
      if (ofPeriod.length >= rowsMax) return this.#merge(ofPeriod);
    }
    return small.length >= smallBlocksMax && this.#merge(this.#fitting(small).sources);
  }

  readonly #periodOf = (key: string): number => Math.floor(timeOfKey(key) / this.#periodMs);

  /** From the oldest on, as many as one block may take. */
  #fitting(sources: readonly Source[]): { readonly sources: readonly Source[]; readonly isFull: boolean } {
    let [records, bytes] = [0, 0];
    for (let index = 0; index < sources.length; index += 1) {
      const { row, head } = sources[index] as Source;
      bytes += head?.bytes ?? row.value.length;
      if (bytes > this.#bytesMax && index > 0) return { sources: sources.slice(0, index), isFull: true };
      records += head?.count ?? countOfBatch(row.value);
      if (records >= blockRecords) return { sources: sources.slice(0, index + 1), isFull: true };
    }
    return { sources, isFull: false };
  }

  /** Rows before it do not wait. While the clock is behind the rows, as it was set back, each is a millisecond later than the last: none would get old until the clock has caught up. */
  async #settledMs(): Promise<number> {
    const [nowMs, lastMs] = [this.host.now(), await lastArrivalMs(this.store)];
    return lastMs - nowMs > settledMs ? lastMs : nowMs - settledMs;
  }

  /** The oldest rows. */
  async #rows(to: string): Promise<readonly Source[]> {
    const rows: Source[] = [];
    let [records, bytes] = [0, 0];
    for await (const row of this.store.range({ from: ofCallers.from, to, limit: looksMax })) {
      if (this.#damaged.has(row.key)) continue;
      const count = this.#countOf(row);
      if (count === undefined) continue;
      rows.push({ row, key: row.key, head: undefined });
      bytes += row.value.length;
      records += count;
      if (records >= blockRecords || bytes > this.#bytesMax) break;
    }
    return rows;
  }

  /** The newest blocks before the first row, or of all, as long as they are small and of its period, or of one; oldest first. Those behind it are of a clock that was set back. */
  async #smallBlocks(firstKey: string | undefined): Promise<readonly Source[]> {
    const found: Source[] = [];
    let of = firstKey === undefined ? undefined : this.#periodOf(firstKey);
    for await (const row of this.store.range({ from: heads.from, to: firstKey === undefined ? heads.to : headKey(firstKey), limit: smallBlocksMax + 1, reverse: true })) {
      const key = keyOfHead(row.key);
      const head = this.#headOf(row);
      of ??= this.#periodOf(key);
      if (head === undefined || !isSmall(head, this.#bytesMax) || this.#periodOf(key) !== of) break;
      // It lies within the time of the one behind it.
      if (timeOfKey(key) > (found.at(-1)?.head?.firstMs ?? Infinity)) break;
      found.push({ row, key, head });
    }
    return found.reverse();
  }

  async #merge(sources: readonly Source[]): Promise<boolean> {
    const last = sources.at(-1);
    if (last === undefined) return false;
    // As columns from first to last: an object for each record takes five times as long.
    const parts: SourceColumns[] = [];
    const arrivals: Arrival[] = [];
    let count = 0;
    for (const source of sources) {
      const of = await this.#columnsOf(source);
      // Removed, or merged by another, meanwhile.
      if (of === undefined) return false;
      parts.push(of);
      count += of.count;
      arrivals.push(...source.head?.arrivals ?? [[timeOfKey(source.key), of.count] as const]);
      await nextTurn();
    }
    const columns = new Columns(count, { read: (field) => joinColumns(field, parts.map((part) => part.read(field)), count) });
    const [first] = sources;
    const firstMs = first?.head?.firstMs ?? timeOfKey(first?.key ?? last.key);
    const { writes } = await packBlock(columns, firstMs, arrivals, nextTurn);
    // A block that takes the place of another with its key is the next version of that one.
    const puts = writes(last.key).map((each): Write => (last.head !== undefined && each.key === headKey(last.key) ? { ...each, ifVersion: last.row.version } : each));
    const isPut = new Set(puts.map(({ key }) => key));
    const removals = sources.flatMap(({ row, key, head }) => (head === undefined ? [{ op: 'remove' as const, key }] : removalOf(key)).map((each): Write => (each.key === row.key ? { ...each, ifVersion: row.version } : each)));
    const isWritten = await this.store.write([...removals.filter(({ key }) => !isPut.has(key)), ...puts]);
    if (isWritten) this.host.count('blocks', 1);
    return isWritten;
  }

  #countOf(row: Row): number | undefined {
    try {
      return countOfBatch(row.value);
    } catch (thrown) {
      this.#leaveOut(row, thrown);
      return undefined;
    }
  }

  #headOf(row: Row): BlockHead | undefined {
    if (this.#damaged.has(row.key)) return undefined;
    try {
      return readHead(row.value);
    } catch (thrown) {
      this.#leaveOut(row, thrown);
      return undefined;
    }
  }

  #leaveOut({ key }: Row, thrown: unknown): void {
    if (this.#damaged.size < looksMax) this.#damaged.add(key);
    this.onDamaged(key, thrown);
  }

  /** Undefined: it was removed or merged by another meanwhile, or cannot be read; then the next run goes on without it. */
  async #columnsOf({ row, key, head }: Source): Promise<SourceColumns | undefined> {
    const parts: Uint8Array[] = [];
    if (head !== undefined) {
      for (const name of partNamesOf(head.format)) {
        const part = await this.store.get(partKey(key, name));
        if (part !== undefined) parts.push(Uint8Array.from(part.value));
      }
      // One that was merged or removed meanwhile is not damaged.
      if ((await this.store.get(row.key))?.version !== row.version) return undefined;
    }
    try {
      return head === undefined ? columnsOfRow(row.value) : columnsOfBlock(head, parts);
    } catch (thrown) {
      this.#leaveOut(row, thrown);
      return undefined;
    }
  }
}

/** Throws when any of it is damaged, as the next one. */
function columnsOfBlock({ format, count }: BlockHead, parts: readonly Uint8Array[]): SourceColumns {
  if (parts.length < partNamesOf(format).length) throw new Error('a block of the log is damaged: a part of it is missing');
  const found = new Map<Field, Column>();
  for (const value of parts) {
    const part = readPart(value);
    if (part.count !== count) throw new Error('a block of the log is damaged: a part of it is of another one');
    for (const field of allFields) {
      if (!part.columns.has(field)) continue;
      const own = found.get('id');
      const column = readField(part, field, Array.isArray(own) ? own : undefined);
      found.set(field, column instanceof Metadata ? column.whole() : column);
    }
  }
  const nothing: PackedPart = { count, columns: new Map() };
  return { count, read: (field) => found.get(field) ?? readField(nothing, field, undefined) };
}

function columnsOfRow(value: Uint8Array): SourceColumns {
  const batch = openLogBatch(value);
  if (batch === undefined) {
    const records = readLogBatch(value);
    return { count: records.length, read: (field) => columnOf(records, field) };
  }
  const columns = new Map(allFields.map((field) => [field, columnOfRow(batch, field)]));
  return { count: batch.count, read: (field) => columns.get(field) ?? columnOfRow(batch, field) };
}
