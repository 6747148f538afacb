// Reads what the exporter has written, for the log and analytics endpoints. Blocks that cannot hold what is asked for are passed by, of the others
// the columns are read that the question is about; others have their turn between two blocks.

import type { Feedback, LogAggregate, LogAggregateQuery, LogFilter, LogPage, LogPageOptions, LogReader, LogRecord, LogScope, LogTail, RepricedRecord, Store } from '@gateway/plugin-sdk';
import { Aggregation } from './aggregate.js';
import { setBackMsMax } from './arrivals.js';
import { Columns, headKey, packBlock, type Arrival, type Field } from './block.js';
import { wordsOf } from './block-columns.js';
import type { BodyRows } from './bodies.js';
import { traceKey, type FeedbackChange, type FeedbackRows } from './feedback-rows.js';
import { packLogBatch } from './log-batch.js';
import { nearestRanks } from './nearest-rank.js';
import { bucketOf, groupOf, inScope } from './plain-query.js';
import { isSmall } from './merging.js';
import type { OnDamaged } from './damage.js';
import { BlockSegment, DamagedError, everyField, nextTurn, Segments, StaleError, type Segment } from './segments.js';
import { Selection, type FeedbackByTrace } from './select.js';

/** Records of one page of an export. */
const exportPageRecords = 500;
const bodiesPageRecords = 20;
/** Records of one id: clients may give one trace to any number of calls. */
const readRecordsMax = 1000;
/** Of those the ones that come with their bodies: so many, and no more behind so many characters. */
const readBodiesMax = 20;
const readBodiesCharsMax = 16 * 1024 * 1024;
/** A query that met a block that was merged meanwhile begins again, so often. */
const triesMax = 5;
/** The reader works this long before others on its thread have their turn. */
const sliceMs = 10;
const none: FeedbackByTrace = new Map();

export class StoreReader implements LogReader {
  readonly #segments: Segments;
  #sliceFromMs = 0;

  constructor(readonly store: Store, readonly feedback: FeedbackRows, readonly bodies: BodyRows, readonly write: (records: readonly LogRecord[]) => Promise<void>, onDamaged?: OnDamaged) {
    this.#segments = new Segments(store, onDamaged);
  }

  async page(filter: LogFilter, options: LogPageOptions): Promise<LogPage> {
    const after = options.cursor === undefined ? undefined : readCursor(options.cursor);
    return this.#again(() => this.#page(filter, options, after));
  }

  async #page(filter: LogFilter, { limit, offset = 0, isCounted = false }: LogPageOptions, after: Place | undefined): Promise<LogPage> {
    const selection = await this.#selection(filter);
    const wanted = offset + limit + 1;
    let best: Found[] = [];
    let total = 0;
    const segments = (await this.#candidates(selection)).sort((left, right) => latest(right) - latest(left));
    for (const segment of segments) {
      const isOlder = best.length >= wanted && latest(segment) < (best.at(-1)?.startedAtMs ?? -Infinity);
      // Those that follow end earlier still. One that is newer than the page says nothing of them.
      if (isOlder && !isCounted) break;
      const isTaken = !isOlder && (after === undefined || earliest(segment) <= after.startedAtMs);
      if (!isTaken && !isCounted) continue;
      const columns = await segment.open(new Set<Field>([...selection.fields, 'startedAtMs']));
      const places = selection.of(columns, segment.bounds);
      total += places.length;
      if (isTaken) {
        const newest = newestOf(columns, places, after, best, wanted);
        if (newest.length > 0) best = nearest(best, foundIn(segment, await segment.open(ofPlaces, true), newest, after), wanted);
      }
      await this.#turn();
    }
    const rest = best.slice(offset, offset + limit);
    const records = await recordsOf(rest);
    const last = records.at(-1);
    return { records, cursor: last === undefined || best.length < wanted ? null : writeCursor(last), total: isCounted ? total : null };
  }

  async read(scope: LogScope, id: string): Promise<readonly LogRecord[]> {
    const records = [...await this.#read(scope, id)];
    // First those that are most likely asked for.
    const places = records.map((_, index) => index).sort((left, right) => rankOf(records[right], id) - rankOf(records[left], id) || right - left).slice(0, readBodiesMax);
    let chars = 0;
    for (const index of places) {
      if (chars > readBodiesCharsMax) break;
      const record = records[index] as LogRecord;
      const bodies = await this.bodies.read(record);
      if (bodies === null) continue;
      records[index] = { ...record, bodies };
      for (const text of Object.values<string>({ ...bodies })) chars += text.length;
    }
    return records;
  }

  async #withBodies(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = [];
    for (const record of records) {
      const bodies = await this.bodies.read(record);
      found.push(bodies === null ? record : { ...record, bodies });
    }
    return found;
  }

  #read(scope: LogScope, id: string): Promise<readonly LogRecord[]> {
    return this.#again(async () => {
      const selection = new Selection({ scope, records: 'all' }, none);
      const own: Found[] = [];
      let ofTrace: Found[] = [];
      for (const segment of await this.#candidates(selection)) {
        if (!await segment.mayHaveId([id])) continue;
        const columns = await segment.open(new Set<Field>([...selection.fields, 'id', 'traceId', 'startedAtMs']));
        const [ids, traces] = [columns.ids('id'), columns.ids('traceId')];
        const places = selection.of(columns, segment.bounds).filter((index) => ids[index] === id || traces[index] === id);
        own.push(...foundIn(segment, columns, places.filter((index) => ids[index] === id), undefined));
        ofTrace = nearest(ofTrace, foundIn(segment, columns, places.filter((index) => ids[index] !== id), undefined), readRecordsMax);
        await this.#turn();
      }
      return recordsOf([...own, ...ofTrace].sort(compare));
    });
  }

  async *export(filter: LogFilter, signal: AbortSignal, { hasBodies = false }: { readonly hasBodies?: boolean } = {}): AsyncGenerator<readonly LogRecord[]> {
    signal.throwIfAborted();
    const selection = await this.#selection(filter);
    // What may be merged while the export goes on is read before it begins: all of it of one list.
    const { segments, held } = await this.#again(async () => {
      const listed = (await this.#candidates(selection)).sort((left, right) => earliest(left) - earliest(right));
      const opened = new Map<Segment, Opened>();
      for (const segment of listed) if (isBlock(segment) && isSmall(segment.bounds)) opened.set(segment, { segment, columns: await segment.open(everyField) });
      return { segments: listed, held: opened };
    });
    let waiting: LogRecord[] = [];
    for (let index = 0; index < segments.length; index += 1) {
      const segment = segments[index] as Segment;
      const opened = held.get(segment) ?? await this.#openOrLost(segment);
      if (opened !== undefined) for (const record of this.#recordsIn(opened, selection)) waiting.push(record);
      // Nothing that begins earlier than these is left.
      const next = segments[index + 1];
      const untilMs = next === undefined ? Infinity : earliest(next);
      const ready = waiting.filter(({ startedAtMs }) => startedAtMs < untilMs).sort(compare);
      waiting = waiting.filter(({ startedAtMs }) => startedAtMs >= untilMs);
      for (let from = 0; from < ready.length; from += exportPageRecords) {
        signal.throwIfAborted();
        const page = ready.slice(from, from + exportPageRecords);
        if (!hasBodies) yield page;
        // Bodies are large: fewer of them at once.
        else for (let at = 0; at < page.length; at += bodiesPageRecords) yield await this.#withBodies(page.slice(at, at + bodiesPageRecords));
      }
      await this.#turn();
    }
  }

  async aggregate(query: LogAggregateQuery): Promise<LogAggregate> {
    if (query.of === 'feedback') return this.#again(() => this.#aggregateFeedback(query));
    return this.#again(async () => {
      const needsFeedback = query.filter.weightedFeedback !== undefined || query.measures.some((name) => name === 'weightedFeedbackSum' || name === 'feedbackCount' || name === 'requestsWithFeedback');
      const feedback = needsFeedback ? await this.feedback.byTrace() : none;
      const selection = new Selection(query.filter, feedback);
      const aggregation = new Aggregation(query, feedback);
      const fields = new Set<Field>([...selection.fields, ...aggregation.fields]);
      for (const segment of await this.#candidates(selection)) {
        const columns = await segment.open(fields);
        aggregation.add(columns, selection.of(columns, segment.bounds));
        await this.#turn();
      }
      return { rows: aggregation.rows() };
    });
  }

  async #aggregateFeedback({ filter, bucket, groupBy, measures }: LogAggregateQuery): Promise<LogAggregate> {
    const { fromMs = -Infinity, toMs = Infinity, ...ofRecords } = filter;
    const items = (await this.feedback.all()).filter((item) => inScope(filter.scope, item) && item.createdAtMs >= fromMs && item.createdAtMs <= toMs);
    const isOfAny = Object.entries(ofRecords).every(([name, value]) => name === 'scope' || name === 'records' || value === undefined);
    const isGrouped = groupBy !== null && groupBy !== 'feedbackValue';
    const latestOf = isOfAny && !isGrouped ? new Map<string, LogRecord>() : await this.#latestOf(ofRecords, new Set(items.map(({ traceId }) => traceId)));
    const cells = new Cells<Feedback>();
    for (const item of items) {
      const record = latestOf.get(traceKey(item));
      if (record === undefined && !isOfAny) continue;
      cells.add(bucketOf(item.createdAtMs, bucket), groupBy === 'feedbackValue' ? String(item.value) : record === undefined ? '' : groupOf(record, groupBy), item);
    }
    return { rows: cells.rows((each) => measures.map((name) => measureFeedback(name, each))) };
  }

  /** The last record of each of these traces, by `traceKey`. */
  async #latestOf(filter: LogFilter, traces: ReadonlySet<string>): Promise<ReadonlyMap<string, LogRecord>> {
    const selection = await this.#selection(filter);
    const wanted = [...traces];
    const found = new Map<string, Found>();
    for (const segment of await this.#candidates(selection)) {
      if (wanted.length === 0 || !await segment.mayHaveId(wanted)) continue;
      const columns = await segment.open(new Set<Field>([...selection.fields, 'organisationId', 'workspaceId', 'traceId', 'id', 'startedAtMs']));
      const ids = columns.ids('traceId');
      const { words, codes } = columns.words('workspaceId');
      for (const each of foundIn(segment, columns, selection.of(columns, segment.bounds).filter((index) => traces.has(ids[index] ?? '')), undefined)) {
        const key = traceKey({ organisationId: filter.scope.organisationId, workspaceId: words[codes[each.index] ?? 0] ?? '', traceId: ids[each.index] ?? '' });
        const before = found.get(key);
        if (before === undefined || compare(before, each) < 0) found.set(key, each);
      }
      await this.#turn();
    }
    const records = await recordsOf([...found.values()]);
    return new Map(records.map((record) => [traceKey(record), record]));
  }

  async follow(filter: LogFilter, after: string | null, limit: number): Promise<LogTail> {
    return this.#again(async () => {
      const segments = await this.#segments.list();
      const newestMs = this.feedback.host.now() + setBackMsMax;
      const from = after === null ? undefined : readTail(after);
      // A time to come is of a clock that was wrong: nothing arrives behind it.
      if (from === undefined || from.atMs > newestMs) return { records: [], after: writeTail(lastTail(segments, newestMs)), hasMore: false };
      const selection = await this.#selection(filter);
      const found: Unmade[] = [];
      let tail: Tail = { atMs: from.atMs, count: 0 };
      const told = async (hasMore: boolean): Promise<LogTail> => ({ records: await recordsOf(found), after: writeTail(tail), hasMore });
      for (const overlapping of byArrival(segments, from.atMs)) {
        const placesOf = new Map<Segment, Uint16Array>();
        for (const { segment, atMs, start, count } of piecesOf(overlapping, from.atMs, newestMs)) {
          const seen = atMs === from.atMs ? Math.max(0, Math.min(count, from.count - tail.count)) : 0;
          tail = onwards(tail, atMs, seen);
          if (seen === count) continue;
          const left = limit - found.length;
          if (left <= 0) return told(true);
          let places = placesOf.get(segment);
          if (places === undefined) {
            placesOf.set(segment, places = selection.of(await segment.open(new Set<Field>(selection.fields)), segment.bounds));
            await this.#turn();
          }
          const [first, end] = [indexOf(places, start + seen), indexOf(places, start + count)];
          const taken = places.subarray(first, Math.min(end, first + left));
          for (const index of taken) found.push({ segment, index });
          if (end - first > left) {
            tail = onwards(tail, atMs, (taken.at(-1) as number) + 1 - start - seen);
            return told(true);
          }
          tail = onwards(tail, atMs, count - seen);
        }
      }
      return told(false);
    });
  }

  async insert(records: readonly LogRecord[]): Promise<void> {
    await this.write(records);
  }

  async addFeedback(items: readonly Feedback[]): Promise<void> {
    await this.feedback.add(items);
  }

  changeFeedback(scope: LogScope, id: string, changes: FeedbackChange): Promise<boolean> {
    return this.feedback.change(scope, id, changes);
  }

  async reprice(prices: readonly RepricedRecord[]): Promise<void> {
    const byId = new Map(prices.map((price) => [price.id, price]));
    const ids = [...byId.keys()];
    // A row that others change meanwhile is looked for again, wherever it is then.
    await this.#again(async () => {
      for (const segment of await this.#segments.list()) {
        if (await segment.mayHaveId(ids)) await this.#repriceSegment(segment, byId);
        await this.#turn();
      }
    });
  }

  async #repriceSegment(segment: Segment, byId: ReadonlyMap<string, RepricedRecord>): Promise<void> {
    const columns = await segment.open(everyField);
    const ids = columns.ids('id');
    if (!ids.some((id) => byId.has(id))) return;
    const metadata = columns.at('metadata');
    const priced = new Columns(segment.count, {
      read: (field) => {
        if (field === 'cost' || field === 'saved' || field === 'isPriced') return columns.numbers(field).map((value, index) => Number(byId.get(ids[index] ?? '')?.[field] ?? value));
        return field === 'metadata' ? wordsOf(segment.count, (index) => String(metadata(index))) : columns.column(field);
      },
    });
    const { key, version } = segment;
    const isWritten = isBlock(segment)
      ? await this.store.write((await packBlock(priced, segment.bounds.firstMs, segment.arrivals, nextTurn)).writes(key).map((each) => (each.key === headKey(key) ? { ...each, ifVersion: version } : each)))
      : await this.store.write([{ op: 'put', key, value: packLogBatch(Array.from({ length: segment.count }, (_, index) => priced.record(index))), ifVersion: version }]);
    if (!isWritten) throw new StaleError(key);
  }

  /** Called now and then: holds nothing for queries that nobody asks. */
  rest(): void {
    this.#segments.rest();
  }

  async close(): Promise<void> {
    await this.store.close?.();
    await this.feedback.store.close?.();
    await this.bodies.close();
  }

  async #selection(filter: LogFilter): Promise<Selection> {
    return new Selection(filter, filter.weightedFeedback === undefined ? none : await this.feedback.byTrace());
  }

  /** Blocks and rows that may hold what is asked for. */
  async #candidates(selection: Selection): Promise<Segment[]> {
    this.#sliceFromMs = performance.now();
    const { traceIds, spanIds } = selection.filter;
    const found: Segment[] = [];
    for (const segment of await this.#segments.list()) {
      if (!selection.mayMatch(segment.bounds) || !await segment.mayHaveValues(selection.valuesOf(segment.bounds))) continue;
      if (traceIds !== undefined && !await segment.mayHaveId(traceIds)) continue;
      if (spanIds === undefined || await segment.mayHaveSpan(spanIds)) found.push(segment);
    }
    return found;
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#sliceFromMs < sliceMs) return;
    await nextTurn();
    this.#sliceFromMs = performance.now();
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (thrown) {
        if (thrown instanceof DamagedError) {
          this.#segments.leaveOut(thrown);
          // Of those there are only so many.
          tries -= 1;
        } else if (!(thrown instanceof StaleError) || tries === triesMax) throw thrown;
      }
    }
  }

  /** Undefined: it was too old meanwhile, or cannot be read. One that got new prices has its key still, and the same records. */
  async #openOrLost(segment: Segment): Promise<Opened | undefined> {
    let now: Segment | undefined = segment;
    return this.#again(async () => {
      now ??= (await this.#segments.list()).find(({ key, count }) => key === segment.key && count === segment.count);
      const found = now;
      now = undefined;
      return found === undefined ? undefined : { segment: found, columns: await found.open(everyField) };
    });
  }

  /** None of what cannot be read. */
  #recordsIn({ segment, columns }: Opened, selection: Selection): readonly LogRecord[] {
    try {
      return Array.from(selection.of(columns, segment.bounds), (place) => columns.record(place));
    } catch (thrown) {
      if (!(thrown instanceof DamagedError)) throw thrown;
      this.#segments.leaveOut(thrown);
      return [];
    }
  }
}

/** As it is when its columns are read: what it says of them may be newer than the list. */
interface Opened {
  readonly segment: Segment;
  readonly columns: Columns;
}

const isBlock = (segment: Segment): segment is BlockSegment => segment instanceof BlockSegment;

const latest = ({ bounds }: Segment): number => bounds.ranges.startedAtMs[1];
const earliest = ({ bounds }: Segment): number => bounds.ranges.startedAtMs[0];

/** Place in the order of records. */
interface Place {
  readonly startedAtMs: number;
  readonly id: string;
}

/** A record that is not made yet. */
interface Unmade {
  readonly segment: Segment;
  readonly index: number;
}

interface Found extends Place, Unmade {}

/** By time; of one time by their ids. */
const compare = (left: Place, right: Place): number => left.startedAtMs - right.startedAtMs || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);

/** Of those places the records before `after`. */
function foundIn(segment: Segment, columns: Columns, places: Uint16Array, after: Place | undefined): Found[] {
  const [started, ids] = [columns.at('startedAtMs'), columns.at('id')];
  const found: Found[] = [];
  for (const index of places) {
    const each = { startedAtMs: Number(started(index)), id: String(ids(index)), segment, index };
    if (after === undefined || compare(each, after) < 0) found.push(each);
  }
  return found;
}

const ofPlaces: ReadonlySet<Field> = new Set(['startedAtMs', 'id']);

/** Of those places the ones whose time may put them among the newest that are wanted. */
function newestOf(columns: Columns, places: Uint16Array, after: Place | undefined, best: readonly Found[], wanted: number): Uint16Array {
  if (places.length === 0) return places;
  const started = columns.numbers('startedAtMs');
  const most = after?.startedAtMs ?? Infinity;
  const least = best.length < wanted ? -Infinity : best.at(-1)?.startedAtMs ?? -Infinity;
  const possible = places.filter((index) => (started[index] as number) <= most && (started[index] as number) >= least);
  // Those of the time of `after` may be after it: all of them stay.
  const before = Float64Array.from(possible, (index) => started[index] as number).filter((startedAtMs) => startedAtMs < most);
  if (before.length <= wanted) return possible;
  const [oldest = -Infinity] = nearestRanks(before.map((startedAtMs) => -startedAtMs), [wanted / before.length]);
  return possible.filter((index) => (started[index] as number) >= -oldest);
}

/** The newest of both, newest first. */
const nearest = (best: readonly Found[], found: readonly Found[], wanted: number): Found[] => (found.length === 0 ? [...best] : [...best, ...found].sort((left, right) => compare(right, left)).slice(0, wanted));

/** In the same order. The columns of one segment are held at a time: all of them may be more than fits into memory. */
async function recordsOf(found: readonly Unmade[]): Promise<LogRecord[]> {
  const placesOf = new Map<Segment, number[]>();
  for (const [place, { segment }] of found.entries()) {
    const places = placesOf.get(segment);
    if (places === undefined) placesOf.set(segment, [place]);
    else places.push(place);
  }
  const records = new Map<number, LogRecord>();
  for (const [segment, places] of placesOf) {
    const columns = await segment.open(everyField, true);
    for (const place of places) records.set(place, columns.record((found[place] as Unmade).index, true));
  }
  return found.map((_, place) => records.get(place) as LogRecord);
}

/** The record of the id itself, then final ones. */
const rankOf = (record: LogRecord | undefined, id: string): number => (record?.id === id ? 2 : record?.isFinal === true ? 1 : 0);

/** Place in the order of arrival: so many of what was written in this millisecond, and all before. */
interface Tail {
  readonly atMs: number;
  readonly count: number;
}

function lastTail(segments: readonly Segment[], newestMs: number): Tail {
  let last: Tail = { atMs: 0, count: 0 };
  for (const { arrivals } of segments) {
    for (const [atMs, records] of arrivals) if (atMs >= last.atMs && atMs <= newestMs) last = { atMs, count: records + (atMs === last.atMs ? last.count : 0) };
  }
  return last;
}

/** So many records of this time further on. */
const onwards = (tail: Tail, atMs: number, count: number): Tail => ({ atMs, count: count + (atMs === tail.atMs ? tail.count : 0) });

/** Records of a segment that arrived together. */
interface Piece {
  readonly segment: Segment;
  readonly atMs: number;
  readonly start: number;
  readonly count: number;
}

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A block has thousands of arrivals, and stays: each follower asks every second. */
const spans = new WeakMap<readonly Arrival[], Span>();

function spanOf(arrivals: readonly Arrival[]): Span {
  let span = spans.get(arrivals);
  if (span !== undefined) return span;
  let [firstMs, lastMs] = [Infinity, -Infinity];
  for (const [atMs] of arrivals) {
    if (atMs < firstMs) firstMs = atMs;
    if (atMs > lastMs) lastMs = atMs;
  }
  spans.set(arrivals, span = { firstMs, lastMs });
  return span;
}

/** From this time on, in their order; those whose times overlap together: a row that is never merged lies in the time of a block. */
function* byArrival(segments: readonly Segment[], fromMs: number): Generator<readonly Segment[]> {
  const found = segments.map((segment) => ({ segment, ...spanOf(segment.arrivals) })).filter(({ lastMs }) => lastMs >= fromMs).sort((left, right) => left.firstMs - right.firstMs);
  let overlapping: Segment[] = [];
  let untilMs = -Infinity;
  for (const { segment, firstMs, lastMs } of found) {
    if (firstMs > untilMs && overlapping.length > 0) {
      yield overlapping;
      overlapping = [];
    }
    overlapping.push(segment);
    untilMs = Math.max(untilMs, lastMs);
  }
  if (overlapping.length > 0) yield overlapping;
}

/** In the order of arrival; of one time by their keys. Records keep the time of their arrival, and their order, when rows become blocks. */
function piecesOf(segments: readonly Segment[], fromMs: number, toMs: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const segment of segments) {
    let start = 0;
    for (const [atMs, count] of segment.arrivals) {
      if (atMs >= fromMs && atMs <= toMs) pieces.push({ segment, atMs, start, count });
      start += count;
    }
  }
  return pieces.sort((left, right) => left.atMs - right.atMs || (left.segment.key < right.segment.key ? -1 : left.segment.key > right.segment.key ? 1 : left.start - right.start));
}

/** Of the first that is not less. */
function indexOf(places: Uint16Array, least: number): number {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((places[middle] as number) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

const writeTail = ({ atMs, count }: Tail): string => Buffer.from(JSON.stringify([atMs, count])).toString('base64url');

function readTail(text: string): Tail {
  const [atMs, count] = readList(text);
  if (typeof atMs === 'number' && typeof count === 'number') return { atMs, count };
  throw new RangeError('is not a place that a reply gave');
}

/** What falls into one bucket and group. */
class Cells<T> {
  readonly #cells = new Map<string, { readonly bucketMs: number; readonly group: string; readonly of: T[] }>();

  add(bucketMs: number, group: string, one: T): void {
    const key = `${bucketMs}/${group}`;
    let cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, cell = { bucketMs, group, of: [] });
    cell.of.push(one);
  }

  rows(values: (of: readonly T[]) => readonly number[]): { readonly bucketMs: number; readonly group: string; readonly values: readonly number[] }[] {
    return [...this.#cells.values()].map(({ bucketMs, group, of }) => ({ bucketMs, group, values: values(of) })).sort((left, right) => left.bucketMs - right.bucketMs);
  }
}

function measureFeedback(name: LogAggregateQuery['measures'][number], items: readonly Feedback[]): number {
  switch (name) {
    case 'count': case 'feedbackCount': return items.length;
    case 'weightedFeedbackSum': return items.reduce((sum, { value, weight }) => sum + value * weight, 0);
    case 'requestsWithFeedback': return new Set(items.map(traceKey)).size;
    case 'firstSeenMs': return items.reduce((first, { createdAtMs }) => Math.min(first, createdAtMs), Infinity);
    case 'lastSeenMs': return items.reduce((last, { createdAtMs }) => Math.max(last, createdAtMs), 0);
    default: return 0;
  }
}

const writeCursor = ({ startedAtMs, id }: Place): string => Buffer.from(JSON.stringify([startedAtMs, id])).toString('base64url');

function readCursor(cursor: string): Place {
  const [startedAtMs, id] = readList(cursor);
  if (typeof startedAtMs === 'number' && typeof id === 'string') return { startedAtMs, id };
  throw new RangeError('is not one that a page gave');
}

function readList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}
