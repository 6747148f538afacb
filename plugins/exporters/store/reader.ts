// Reads what the exporter has written, for the log and analytics endpoints.

import type { Feedback, LogAggregate, LogAggregateQuery, LogAggregateRow, LogFilter, LogPage, LogPageOptions, LogReader, LogRecord, LogScope, RepricedRecord, Store } from '@gateway/plugin-sdk';
import { traceKey, type FeedbackChange, type FeedbackRows } from './feedback-rows.js';
import { packLogBatch, readLogBatch } from './log-batch.js';
import { allRows } from './partitions.js';
import { bucketOf, groupOf, inScope, measure, recordMatches, type FeedbackOf } from './plain-query.js';

/** Records of one page of an export. */
const exportPageRecords = 500;
/** A row that others write at the same time is tried again so often. */
const triesMax = 5;

export class StoreReader implements LogReader {
  constructor(readonly store: Store, readonly feedback: FeedbackRows, readonly write: (records: readonly LogRecord[]) => Promise<void>) {}

  async page(filter: LogFilter, { limit, cursor, offset = 0, isCounted = false }: LogPageOptions): Promise<LogPage> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const found = (await this.#matching(filter)).reverse();
    const rest = after === undefined ? found : found.filter((record) => compare(record, after) < 0);
    const records = rest.slice(offset, offset + limit);
    const last = records.at(-1);
    return { records, cursor: last === undefined || rest.length <= offset + limit ? null : writeCursor(last), total: isCounted ? found.length : null };
  }

  async read(scope: LogScope, id: string): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = [];
    for await (const record of this.#records()) if ((record.id === id || record.traceId === id) && inScope(scope, record)) found.push(record);
    return found.sort(compare);
  }

  async *export(filter: LogFilter, signal: AbortSignal): AsyncGenerator<readonly LogRecord[]> {
    const found = await this.#matching(filter);
    for (let from = 0; from < found.length; from += exportPageRecords) {
      signal.throwIfAborted();
      yield found.slice(from, from + exportPageRecords);
    }
  }

  async aggregate(query: LogAggregateQuery): Promise<LogAggregate> {
    const { filter, bucket, groupBy, measures } = query;
    if (query.of === 'feedback') return this.#aggregateFeedback(query);
    const feedbackOf = await this.#feedbackOf();
    const cells = new Cells<LogRecord>();
    for (const record of await this.#matching(filter)) cells.add(bucketOf(record.startedAtMs, bucket), groupOf(record, groupBy), record);
    return { rows: cells.rows((records) => measures.map((name) => measure(name, records, feedbackOf))) };
  }

  async #aggregateFeedback({ filter, bucket, groupBy, measures }: LogAggregateQuery): Promise<LogAggregate> {
    const { fromMs = -Infinity, toMs = Infinity, ...ofRecords } = filter;
    const latest = new Map((await this.#matching(ofRecords)).map((record) => [traceKey(record), record]));
    const isOfAny = Object.entries(ofRecords).every(([name, value]) => name === 'scope' || name === 'records' || value === undefined);
    const cells = new Cells<Feedback>();
    for (const item of await this.feedback.all()) {
      const record = latest.get(traceKey(item));
      if (!inScope(filter.scope, item) || item.createdAtMs < fromMs || item.createdAtMs > toMs || (record === undefined && !isOfAny)) continue;
      cells.add(bucketOf(item.createdAtMs, bucket), groupBy === 'feedbackValue' ? String(item.value) : record === undefined ? '' : groupOf(record, groupBy), item);
    }
    return { rows: cells.rows((items) => measures.map((name) => measureFeedback(name, items))) };
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
    const keys: string[] = [];
    for await (const { key, value } of this.store.range({ ...allRows, limit: Infinity })) if (readLogBatch(value).some(({ id }) => byId.has(id))) keys.push(key);
    for (const key of keys) await this.#repriceRow(key, byId);
  }

  async #repriceRow(key: string, byId: ReadonlyMap<string, RepricedRecord>): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const row = await this.store.get(key);
      if (row === undefined) return;
      const records = readLogBatch(row.value).map((record) => {
        const price = byId.get(record.id);
        return price === undefined ? record : { ...record, cost: price.cost, saved: price.saved, isPriced: price.isPriced };
      });
      if (await this.store.write([{ op: 'put', key, value: packLogBatch(records), ifVersion: row.version }])) return;
    }
    throw new Error(`the log row ${key} was changed by others again and again`);
  }

  async close(): Promise<void> {
    await this.store.close?.();
    await this.feedback.store.close?.();
  }

  /** Oldest first. */
  async #matching(filter: LogFilter): Promise<LogRecord[]> {
    const feedbackOf = await this.#feedbackOf();
    const found: LogRecord[] = [];
    for await (const record of this.#records()) if (recordMatches(record, filter, feedbackOf)) found.push(record);
    return found.sort(compare);
  }

  async *#records(): AsyncGenerator<LogRecord> {
    for await (const { value } of this.store.range({ ...allRows, limit: Infinity })) yield* readLogBatch(value);
  }

  async #feedbackOf(): Promise<FeedbackOf> {
    const byTrace = await this.feedback.byTrace();
    return (record) => byTrace.get(traceKey(record)) ?? [];
  }
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

  rows(values: (of: readonly T[]) => readonly number[]): LogAggregateRow[] {
    return [...this.#cells.values()].map(({ bucketMs, group, of }) => ({ bucketMs, group, values: values(of) })).sort((left, right) => left.bucketMs - right.bucketMs);
  }
}

function measureFeedback(name: LogAggregateQuery['measures'][number], items: readonly Feedback[]): number {
  switch (name) {
    case 'count': case 'feedbackCount': return items.length;
    case 'weightedFeedbackSum': return items.reduce((sum, { value, weight }) => sum + value * weight, 0);
    case 'requestsWithFeedback': return new Set(items.map(traceKey)).size;
    case 'firstSeenMs': return Math.min(...items.map(({ createdAtMs }) => createdAtMs));
    case 'lastSeenMs': return Math.max(...items.map(({ createdAtMs }) => createdAtMs));
    default: return 0;
  }
}

/** Place in the order of records. */
type Place = Pick<LogRecord, 'startedAtMs' | 'id'>;

/** By time; of one time by their ids. */
const compare = (left: Place, right: Place): number => left.startedAtMs - right.startedAtMs || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);

const writeCursor = ({ startedAtMs, id }: Place): string => Buffer.from(JSON.stringify([startedAtMs, id])).toString('base64url');

function readCursor(cursor: string): Place {
  try {
    const [startedAtMs, id]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof startedAtMs === 'number' && typeof id === 'string') return { startedAtMs, id };
  } catch {
    // As any other text that is not a cursor.
  }
  throw new RangeError('the cursor is none that a page gave');
}
