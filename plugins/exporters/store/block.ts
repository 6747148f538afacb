// A block: some thousands of records by columns, in rows that are written and removed together. The head says what is inside, so that most queries pass
// most blocks by; what is filtered by, what figures are made of, metadata, ids, and all other columns lie apart, so that each query reads what it needs.
// Two more rows tell whether an id may be inside, and whether a value of a filter that the head does not list.

import { crc32 } from 'node:zlib';
import { isObject, type LogRecord, type Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { idAt, JoinedWords, numberAt, packIds, packNumbers, packTexts, readIds, readNumbers, readWords, wordAt, wordsOf, type At, type PackedColumn, type Words } from './block-columns.js';
import { forEachMember, isMetadata, memberOfWords, Metadata, packMetadata, readMetadata } from './block-metadata.js';
import { packIdFilter } from './id-filter.js';
import { blankFields, valuesOf, type KeptRecord, type LogBatch } from './log-batch.js';

/** What is written; those of version 1 are read. */
const blockFormat = 2;

export type Field = keyof KeptRecord;
/** By the letter at the end of its key. `facts` were labels, figures and metadata in one. */
const letters = { facts: 'f', labels: 'l', figures: 'g', metadata: 'm', names: 'n', rest: 'r' } as const;
export type PartName = keyof typeof letters;
type NumberField = { [F in Field]: KeptRecord[F] extends number ? F : KeptRecord[F] extends boolean ? F : never }[Field];
type IdField = 'id' | 'traceId' | 'spanId' | 'parentSpanId';
type WordField = Exclude<Field, NumberField | IdField | 'metadata'>;

const idFields: ReadonlySet<string> = new Set<IdField>(['id', 'traceId', 'spanId', 'parentSpanId']);
const labels: readonly Field[] = [
  'organisationId', 'workspaceId', 'keyId', 'endpoint', 'provider', 'model', 'providerSlug', 'configId', 'promptSlug', 'isFinal', 'targetIndex', 'retries', 'status', 'cacheStatus', 'errorCode', 'startedAtMs',
];
const figures: readonly Field[] = ['inputTokens', 'outputTokens', 'totalTokens', 'cost', 'saved', 'isPriced', 'tookMs'];
const metadata: readonly Field[] = ['metadata'];
const names: readonly Field[] = ['id', 'traceId', 'spanId'];
// The blank record has each field and no other.
export const allFields = Object.keys(blankFields) as readonly Field[];

/** The parts of a block of some format: in `rest` is what is in no other. */
class Layout {
  readonly partNames: readonly PartName[];
  readonly #partOf: ReadonlyMap<Field, PartName>;

  constructor(readonly parts: Readonly<Partial<Record<PartName, readonly Field[]>>>) {
    const named = Object.entries(parts) as [PartName, readonly Field[]][];
    this.#partOf = new Map(named.flatMap(([name, fields]) => fields.map((field) => [field, name])));
    this.partNames = [...named.map(([name]) => name), 'rest'];
  }

  partOf(field: Field): PartName {
    return this.#partOf.get(field) ?? 'rest';
  }
}

const current = new Layout({ labels, figures, metadata, names });
const layouts: ReadonlyMap<unknown, Layout> = new Map([[1, new Layout({ facts: [...labels, ...figures, ...metadata], names })], [blockFormat, current]]);
const fieldsOf = (part: PartName): readonly Field[] => allFields.filter((field) => current.partOf(field) === part);
export const partOfField = (format: number, field: Field): PartName => (layouts.get(format) ?? current).partOf(field);
export const partNamesOf = (format: number): readonly PartName[] => (layouts.get(format) ?? current).partNames;

/** Of these, which values there are is said in the head, as long as they are few. */
const listed = ['organisationId', 'workspaceId', 'keyId', 'endpoint', 'provider', 'model', 'providerSlug', 'configId', 'promptSlug', 'cacheStatus', 'errorCode', 'status', 'isFinal'] as const satisfies readonly Field[];
export type ListedField = (typeof listed)[number];
const listedMax = 32;
/** And of these the least and the most. */
const ranged = ['startedAtMs', 'tookMs', 'cost', 'inputTokens', 'outputTokens', 'totalTokens'] as const satisfies readonly Field[];
export type RangedField = (typeof ranged)[number];

/** Places of records are numbers of 16 bits. */
const countMax = 0xffff;

/** What is inside. */
export interface BlockBounds {
  /** Texts of the values; a field with too many is missing. */
  readonly values: Readonly<Partial<Record<ListedField, readonly string[]>>>;
  readonly ranges: Readonly<Record<RangedField, readonly [least: number, most: number]>>;
}

/** Records of one arrival: milliseconds since the epoch, and how many. */
export type Arrival = readonly [atMs: number, count: number];

export interface BlockHead extends BlockBounds {
  readonly format: number;
  readonly count: number;
  /** Of all its rows but this one. */
  readonly bytes: number;
  /** When the first of it was written; the key says when the last was. */
  readonly firstMs: number;
  /** Records are in the order of their arrival. */
  readonly arrivals: readonly Arrival[];
  /** CRC-32 of the filters, which say no of nearly all when they are damaged; blocks were written without them once. */
  readonly filters: readonly [ids: number, values: number] | undefined;
}

const packr = new Packr({ useRecords: false });
/** Heads, and beside them all else: `from <= key < to`. */
export const heads = { prefix: 'x', from: 'x', to: 'y' } as const;
const bodyPrefix = 'y';

/** `key` is that of a row: time, writer, number. */
export const headKey = (key: string): string => `${heads.prefix}${key}`;
export const partKey = (key: string, part: PartName): string => `${bodyPrefix}${key}${letters[part]}`;
export const filterKey = (key: string): string => `${bodyPrefix}${key}i`;
export const valuesKey = (key: string): string => `${bodyPrefix}${key}v`;
export const keyOfHead = (row: string): string => row.slice(heads.prefix.length);
export const timeOfKey = (key: string): number => Number(key.slice(0, 13));

/** Rows of every format: to remove one that is not there does nothing. */
export const removalOf = (key: string): readonly Write[] => [headKey(key), ...(Object.keys(letters) as PartName[]).map((part) => partKey(key, part)), filterKey(key), valuesKey(key)].map((each) => ({ op: 'remove', key: each }));

const isNumber = (field: Field): field is NumberField => typeof blankFields[field] !== 'string';

const numbersOf = (records: readonly LogRecord[], field: Field): Float64Array => Float64Array.from(records, (record) => Number(record[field]));
const textsOf = (records: readonly LogRecord[], field: Field): string[] => records.map((record) => String(record[field]));

function packColumn(column: Column, own: readonly string[] | undefined): PackedColumn {
  if (column instanceof Float64Array) return packNumbers(column);
  if (column instanceof Metadata) throw new Error('metadata are packed as words');
  return 'codes' in column ? packTexts(column) : packIds(column, own);
}

/** What the rows of a block hold. `pause` is awaited between the columns, each of which takes about a millisecond. */
export async function packBlock(columns: Columns, firstMs: number, arrivals: readonly Arrival[], pause: () => Promise<void>): Promise<{ readonly head: BlockHead; writes(key: string): readonly Write[] }> {
  const { count } = columns;
  const own = columns.ids('id');
  const parts: { readonly name: PartName; readonly value: Uint8Array }[] = [];
  let packedMetadata: PackedColumn = [];
  for (const name of current.partNames) {
    const packed: PackedColumn[] = [];
    for (const field of fieldsOf(name)) {
      const column = columns.column(field);
      if (field === 'metadata' && 'codes' in column) packed.push(packedMetadata = packMetadata(column));
      else packed.push(packColumn(column, field === 'id' ? undefined : own));
      await pause();
    }
    parts.push({ name, value: packr.pack([blockFormat, count, fieldsOf(name), packed]) });
  }
  const filter = packIdFilter(new Set([...own, ...columns.ids('traceId'), ...columns.ids('spanId')]));
  await pause();
  const bounds = boundsOf(columns);
  const inside = valuesIn(columns, bounds, packedMetadata);
  const values = inside.size > valuesMax ? new Uint8Array(0) : packIdFilter(inside);
  await pause();
  const head: BlockHead = { format: blockFormat, count, bytes: filter.length + values.length + parts.reduce((sum, { value }) => sum + value.length, 0), firstMs, arrivals, filters: [crc32(filter), crc32(values)], ...bounds };
  return {
    head,
    writes: (key) => [
      { op: 'put', key: headKey(key), value: packr.pack(head) },
      ...parts.map(({ name, value }): Write => ({ op: 'put', key: partKey(key, name), value })),
      // Of a block of an earlier format, which this one may take the place of.
      { op: 'remove', key: partKey(key, 'facts') },
      { op: 'put', key: filterKey(key), value: filter },
      { op: 'put', key: valuesKey(key), value: values },
    ],
  };
}

/** More values than these are in no filter, which then says of each that it may be inside. */
const valuesMax = 65_536;
/** A value as the filter of values knows it. */
export const ofValue = (field: ListedField, value: string): string => `${field}=${value}`;
export const ofMember = (name: string, value: string): string => `metadata.${name}=${value}`;

/** Values of fields that have too many for the head, and members of metadata. */
function valuesIn(columns: Columns, { values }: BlockBounds, packedMetadata: PackedColumn): ReadonlySet<string> {
  const found = new Set<string>();
  for (const field of listed) if (values[field] === undefined && field !== 'status' && field !== 'isFinal') for (const word of columns.words(field).words) found.add(ofValue(field, word));
  forEachMember(packedMetadata, columns.count, (name, value) => {
    if (found.size <= valuesMax) found.add(ofMember(name, value));
  });
  return found;
}

const listedOf = (found: ReadonlySet<string>): readonly string[] | undefined => (found.size > listedMax ? undefined : [...found]);

export function boundsOf(columns: Columns): BlockBounds {
  const valuesOf = (field: ListedField): readonly string[] | undefined => {
    if (field !== 'status' && field !== 'isFinal') return listedOf(new Set(columns.words(field).words));
    const numbers = new Set(columns.numbers(field));
    return listedOf(new Set(Array.from(numbers, (number) => String(field === 'status' ? number : number === 1))));
  };
  const rangeOf = (field: RangedField): readonly [number, number] => {
    let [least, most] = [Infinity, -Infinity];
    for (const number of columns.numbers(field)) {
      if (number < least) least = number;
      if (number > most) most = number;
    }
    return [least, most];
  };
  const values: Partial<Record<ListedField, readonly string[]>> = {};
  for (const field of listed) {
    const found = valuesOf(field);
    if (found !== undefined) values[field] = found;
  }
  return { values, ranges: { startedAtMs: rangeOf('startedAtMs'), tookMs: rangeOf('tookMs'), cost: rangeOf('cost'), inputTokens: rangeOf('inputTokens'), outputTokens: rangeOf('outputTokens'), totalTokens: rangeOf('totalTokens') } };
}

export function readHead(value: Uint8Array): BlockHead {
  const head: Readonly<Record<keyof BlockHead, unknown>> = Object(packr.unpack(value));
  if (!isCount(head.format)) throw new Error('a block of the log is damaged: its head has no format');
  if (!layouts.has(head.format)) throw new Error(`a block of the log has format ${String(head.format)}, and ${blockFormat} is read here; update the gateway`);
  const { format, count, bytes, firstMs, values, ranges, arrivals, filters } = head;
  if (!isCount(count) || count > countMax || !isCount(bytes) || typeof firstMs !== 'number' || !isOf(listed, values, (list) => list === undefined || areTexts(list)) || !isOf(ranged, ranges, isPair) || !isArrivals(arrivals) || (filters !== undefined && !isPair(filters))) {
    throw new Error('a block of the log is damaged: its head lacks members, or has others');
  }
  // Each member that is read of them was looked at.
  return { format, count, bytes, firstMs, values, ranges: ranges as BlockBounds['ranges'], arrivals, filters };
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isPair = (value: unknown): value is readonly [number, number] => Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'number');
const isArrivals = (value: unknown): value is readonly Arrival[] => Array.isArray(value) && value.every(isPair);
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');
const isOf = (names: readonly string[], value: unknown, isOne: (member: unknown) => boolean): value is Readonly<Record<string, never>> => isObject(value) && names.every((name) => isOne(value[name]));

/** What it takes of the room, and lies in its rows; of a head that cannot be read only that of itself. */
export function bytesOfHead(value: Uint8Array): number {
  try {
    return readHead(value).bytes;
  } catch {
    return value.length;
  }
}

/** Columns of one block or row in memory, by field. */
export type Column = Float64Array | Words | Metadata | readonly string[];

/** The columns of a part as they are kept, for `readField`. */
export interface PackedPart {
  readonly count: number;
  readonly columns: ReadonlyMap<string, unknown>;
}

export function readPart(value: Uint8Array): PackedPart {
  const part: unknown = packr.unpack(value);
  const [format, count, fields, columns]: readonly unknown[] = Array.isArray(part) ? part : [];
  if (!layouts.has(format) || typeof count !== 'number' || !Array.isArray(fields) || !Array.isArray(columns)) throw new Error('a block of the log is damaged: a part is not one of columns');
  return { count, columns: new Map(fields.map((field, index) => [String(field), columns[index]])) };
}

/** A field that the block was written without is blank. */
export function readField({ count, columns }: PackedPart, field: Field, own: readonly string[] | undefined): Column {
  const column = columns.get(field);
  if (isNumber(field)) return column === undefined ? new Float64Array(count).fill(Number(blankFields[field])) : readNumbers(column, count);
  const blank = String(blankFields[field]);
  if (idFields.has(field)) return column === undefined ? new Array<string>(count).fill(blank) : readIds(column, count, own);
  if (column === undefined) return { words: [blank], codes: new Uint16Array(count) };
  return field === 'metadata' ? readMetadata(column, count) : readWords(column, count);
}

/** Columns of one field, one after the other. */
export function joinColumns(field: Field, columns: readonly Column[], count: number): Column {
  if (isNumber(field)) return joinNumbers(columns.filter((column) => column instanceof Float64Array), count);
  if (!idFields.has(field)) return joinWords(columns.map((column) => (column instanceof Metadata ? column.whole() : column)).filter((column) => 'codes' in column), count);
  const ids: string[] = [];
  for (const column of columns) if (Array.isArray(column)) for (const id of column as readonly string[]) ids.push(id);
  return ids;
}

function joinNumbers(columns: readonly Float64Array[], count: number): Float64Array {
  const joined = new Float64Array(count);
  let from = 0;
  for (const column of columns) {
    joined.set(column, from);
    from += column.length;
  }
  return joined;
}

function joinWords(columns: readonly Words[], count: number): Words {
  const places = new Map<string, number>();
  const codes = new Uint16Array(count);
  let from = 0;
  for (const column of columns) {
    const placed = Uint16Array.from(column.words, (word) => {
      let place = places.get(word);
      if (place === undefined) places.set(word, place = places.size);
      return place;
    });
    for (let index = 0; index < column.codes.length; index += 1) codes[from + index] = placed[column.codes[index] as number] as number;
    from += column.codes.length;
  }
  return { words: [...places.keys()], codes };
}

/** The same of records that are in memory already. */
export function columnOf(records: readonly LogRecord[], field: Field): Column {
  if (isNumber(field)) return numbersOf(records, field);
  return idFields.has(field) ? textsOf(records, field) : wordsOf(records.length, (index) => String(records[index]?.[field]));
}

/** The same of a row that the exporter wrote. */
export function columnOfRow(batch: LogBatch, field: Field): Column {
  const packed = batch.columns.get(field);
  const [form, first, second]: readonly unknown[] = Array.isArray(packed) ? packed : [];
  const type = typeof blankFields[field];
  // The usual forms are taken as they are; `valuesOf` reads all of them, and says what is wrong.
  if (isNumber(field)) {
    if (form === 'same' && typeof first === type) return new Float64Array(batch.count).fill(Number(first));
    const width = form === 'integers' ? 4 : form === 'doubles' ? 8 : 0;
    if (width > 0 && type === 'number' && first instanceof Uint8Array && first.length === batch.count * width) {
      const bytes = first.buffer.slice(first.byteOffset, first.byteOffset + first.byteLength);
      return width === 4 ? new Float64Array(new Int32Array(bytes)) : new Float64Array(bytes);
    }
    return Float64Array.from(rowValues(batch, field), Number);
  }
  if (idFields.has(field)) return rowValues(batch, field).map(String);
  if (form === 'same' && typeof first === type) return { words: [String(first)], codes: new Uint16Array(batch.count) };
  if (form === 'words' && areWords(first) && second instanceof Uint8Array && second.length === batch.count && second.every((code) => code < first.length)) return { words: first, codes: new Uint16Array(second) };
  const texts = rowValues(batch, field).map(String);
  return wordsOf(texts.length, (index) => texts[index] ?? '');
}

const areWords = (words: unknown): words is readonly string[] => Array.isArray(words) && words.every((word) => typeof word === 'string');
const rowValues = (batch: LogBatch, field: Field): readonly unknown[] => valuesOf(batch, field) ?? new Array<unknown>(batch.count).fill(blankFields[field]);

/** The same of few records; undefined: its column is as cheap. */
export function peekRow({ count, columns }: LogBatch, field: Field): At<string> | undefined {
  const packed = columns.get(field);
  const [form, first, second]: readonly unknown[] = Array.isArray(packed) ? packed : [];
  if (isNumber(field)) return undefined;
  if (form === 'texts' && typeof first === 'number' && typeof second === 'string' && second.length === first * count) return (index) => second.slice(index * first, (index + 1) * first);
  if (form === 'list' && Array.isArray(first) && first.length === count && areWords(first)) return (index) => first[index] ?? '';
  return undefined;
}

/** What a field says of one record; for few of them cheaper than the whole column. */
export interface Peek {
  /** `own`: the id of a record. */
  readonly at: (index: number, own?: At<string>) => string | number;
  /** In memory. */
  readonly bytes: number;
}

export function peekField(part: PackedPart, field: Field): Peek {
  const column = part.columns.get(field);
  const same = column === undefined ? blankFields[field] : Array.isArray(column) && column[0] === 'same' ? column[1] : undefined;
  // Most columns are of one value: nothing is laid out for each record.
  if (isNumber(field) ? typeof same === 'number' || typeof same === 'boolean' : typeof same === 'string') {
    const value = isNumber(field) ? Number(same) : String(same);
    return { at: () => value, bytes: 0 };
  }
  if (isNumber(field)) return numberAt(column, part.count);
  if (column !== undefined && idFields.has(field)) return idAt(column, part.count);
  return field === 'metadata' && isMetadata(column) ? new Metadata(column, part.count).reading() : wordAt(column, part.count);
}

export function atOf(column: Column): At<string | number> {
  if (column instanceof Float64Array) return (index) => column[index] as number;
  if (column instanceof Metadata) return column.reading().at;
  if (column instanceof JoinedWords) return (index) => column.joined.at(column.codes[index] as number);
  return 'codes' in column ? (index) => column.words[column.codes[index] as number] ?? '' : (index) => column[index] ?? '';
}

export function bytesOfColumn(column: Column): number {
  if (column instanceof Float64Array) return column.byteLength;
  if (column instanceof JoinedWords || column instanceof Metadata) return column.bytes;
  return 'codes' in column ? column.codes.byteLength + column.words.reduce((sum, { length }) => sum + length + 32, 0) : column.length * 64;
}

/** Where the columns of one block or row come from. */
export interface ColumnSource {
  read(field: Field): Column;
  /** Left out where nothing is cheaper than the column. */
  peek?(field: Field): At<string | number>;
  /** A member of metadata, as `memberOf` gives it; left out where none is kept. */
  member?(name: string): Words;
}

/** The texts of a member of metadata, for each record. */
export function memberOf(metadata: Column, name: string): Words {
  if (metadata instanceof Metadata) return metadata.member(name);
  if ('codes' in metadata) return memberOfWords(metadata, name);
  throw new Error('these are not metadata');
}

/** Fields by name, of one block or row, each read when it is asked for. */
export class Columns {
  readonly #read = new Map<Field, Column>();
  readonly #peeks = new Map<Field, At<string | number>>();
  readonly #members = new Map<string, Words>();

  constructor(readonly count: number, readonly source: ColumnSource) {}

  column(field: Field): Column {
    let column = this.#read.get(field);
    if (column === undefined) this.#read.set(field, column = this.source.read(field));
    return column;
  }

  /** What the field says of one record, where few of them are asked for. */
  at(field: Field): At<string | number> {
    let peek = this.#peeks.get(field);
    if (peek === undefined) this.#peeks.set(field, peek = this.#read.has(field) || this.source.peek === undefined ? atOf(this.column(field)) : this.source.peek(field));
    return peek;
  }

  numbers(field: NumberField): Float64Array {
    const column = this.column(field);
    if (column instanceof Float64Array) return column;
    throw new Error(`${field} is not a number`);
  }

  member(name: string): Words {
    let words = this.#members.get(name);
    if (words === undefined) this.#members.set(name, words = this.source.member?.(name) ?? memberOf(this.column('metadata'), name));
    return words;
  }

  words(field: WordField): Words {
    const column = this.column(field);
    if ('codes' in column) return column;
    throw new Error(`${field} is not of words`);
  }

  ids(field: IdField): readonly string[] {
    const column = this.column(field);
    if (Array.isArray(column)) return column as readonly string[];
    throw new Error(`${field} is not an id`);
  }

  /** All fields have to be there. `isOfFew`: others of its block are not asked for. */
  record(index: number, isOfFew = false): LogRecord {
    const record: Record<string, unknown> = { bodies: null };
    for (const field of allFields) {
      const value = isOfFew || field === 'metadata' ? this.at(field)(index) : valueAt(this.column(field), index);
      record[field] = typeof blankFields[field] === 'boolean' ? value === 1 : value;
    }
    // Each field of the blank record is there, with a value of its type.
    return record as unknown as LogRecord;
  }
}

function valueAt(column: Column, index: number): string | number | undefined {
  if (column instanceof Float64Array) return column[index];
  if (column instanceof Metadata) return column.reading().at(index);
  return 'codes' in column ? column.words[column.codes[index] ?? 0] : column[index];
}
