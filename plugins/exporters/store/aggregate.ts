// Figures of many records, straight from the columns: no object is made for a record. Means what `measure` of plain-query.ts means.

import type { Feedback, LogAggregateQuery, LogAggregateRow, LogGroup, LogMeasure } from '@gateway/plugin-sdk';
import type { Columns, Field } from './block.js';
import type { Words } from './block-columns.js';
import { nearestRanks } from './nearest-rank.js';
import { bucketOf, bucketWidthOf, isError, isSemanticHit, isSimpleHit, isSuccess, metadataPrefix, userKey } from './plain-query.js';
import { traceKeyAt, weightedSum, type FeedbackByTrace } from './select.js';

/** Buckets and groups of one query; who asks for more has to narrow it. */
const cellsMax = 200_000;

const percentiles: Readonly<Partial<Record<LogMeasure, number>>> = { tookMsP50: 0.5, tookMsP90: 0.9, tookMsP95: 0.95, tookMsP99: 0.99 };

/** What a measure reads. */
const fieldsOfMeasure: Readonly<Record<LogMeasure, readonly Field[]>> = {
  count: [], cost: ['cost'], saved: ['saved'], simpleSaved: ['saved', 'cacheStatus'], semanticSaved: ['saved', 'cacheStatus'], totalTokens: ['totalTokens'], inputTokens: ['inputTokens'], outputTokens: ['outputTokens'],
  errors: ['status'], successes: ['status'], cacheHits: ['cacheStatus'], simpleHits: ['cacheStatus'], semanticHits: ['cacheStatus'], users: ['metadata'], userRequests: ['metadata'],
  tookMsSum: ['tookMs'], tookMsP50: ['tookMs'], tookMsP90: ['tookMs'], tookMsP95: ['tookMs'], tookMsP99: ['tookMs'], hitTookMsSum: ['tookMs', 'cacheStatus'], firstSeenMs: ['startedAtMs'], lastSeenMs: ['startedAtMs'],
  rescuedByRetry: ['status', 'retries'], rescuedByFallback: ['status', 'targetIndex'], unpriced: ['isPriced', 'totalTokens'],
  weightedFeedbackSum: ['organisationId', 'workspaceId', 'traceId'], feedbackCount: ['organisationId', 'workspaceId', 'traceId'], requestsWithFeedback: ['organisationId', 'workspaceId', 'traceId'],
};

function fieldsOfGroup(group: LogGroup | null): readonly Field[] {
  switch (group) {
    case null: case 'feedbackValue': return [];
    case 'providerModel': return ['provider', 'model'];
    case 'user': return ['metadata'];
    case 'provider': case 'model': case 'providerSlug': case 'status': case 'keyId': case 'configId': case 'workspaceId': case 'promptSlug': case 'endpoint': case 'retries':
    case 'targetIndex': case 'cacheStatus': case 'errorCode': return [group];
    default: return ['metadata'];
  }
}

/** Times of one block, and the cell of each. */
interface Took {
  readonly cells: Int32Array;
  readonly values: Float64Array;
}

export class Aggregation {
  readonly fields: ReadonlySet<Field>;
  readonly #query: LogAggregateQuery;
  readonly #feedback: FeedbackByTrace;
  /** By bucket and group, in the order in which they were met. */
  readonly #cells = new Map<number, Map<string, number>>();
  readonly #buckets: number[] = [];
  readonly #groups: string[] = [];
  /** For each measure, one number a cell; for percentiles nothing. */
  readonly #sums: Float64Array[];
  /** Of all records that have a percentile. */
  readonly #took: Took[] = [];
  /** By cell. */
  readonly #users = new Map<number, Set<string>>();

  constructor(query: LogAggregateQuery, feedback: FeedbackByTrace) {
    this.#query = query;
    this.#feedback = feedback;
    this.#sums = query.measures.map(() => new Float64Array(16));
    this.fields = new Set<Field>([...fieldsOfGroup(query.groupBy), ...(query.bucket === null ? [] : ['startedAtMs' as const]), ...query.measures.flatMap((name) => fieldsOfMeasure[name])]);
  }

  /** Throws when there are too many groups. */
  add(columns: Columns, places: Uint16Array): void {
    if (places.length === 0) return;
    const cells = this.#cellsOf(columns, places);
    const { measures } = this.#query;
    for (let index = 0; index < measures.length; index += 1) {
      const name = measures[index] as LogMeasure;
      if (percentiles[name] === undefined) this.#measure(name, this.#sums[index] as Float64Array, columns, places, cells);
    }
    if (measures.some((name) => percentiles[name] !== undefined)) this.#addTook(columns, places, cells);
  }

  rows(): LogAggregateRow[] {
    const { measures } = this.#query;
    const values = measures.map((name, index) => {
      const share = percentiles[name];
      if (share !== undefined) return this.#percentiles(share);
      return name === 'users' ? Float64Array.from(this.#buckets, (_, cell) => this.#users.get(cell)?.size ?? 0) : this.#sums[index] as Float64Array;
    });
    return this.#buckets
      .map((bucketMs, cell): LogAggregateRow => ({ bucketMs, group: this.#groups[cell] ?? '', values: values.map((each) => each[cell] ?? 0) }))
      .sort((left, right) => left.bucketMs - right.bucketMs);
  }

  #cell(bucketMs: number, group: string): number {
    let groups = this.#cells.get(bucketMs);
    if (groups === undefined) this.#cells.set(bucketMs, groups = new Map());
    let cell = groups.get(group);
    if (cell !== undefined) return cell;
    cell = this.#buckets.length;
    if (cell >= cellsMax) throw new Error(`there are more than ${cellsMax} groups; ask for a shorter time, or filter more`);
    groups.set(group, cell);
    this.#buckets.push(bucketMs);
    this.#groups.push(group);
    const { measures } = this.#query;
    for (let index = 0; index < measures.length; index += 1) {
      const sums = this.#sums[index] as Float64Array;
      if (cell >= sums.length) {
        const grown = new Float64Array(sums.length * 2);
        grown.set(sums);
        this.#sums[index] = grown;
      }
      if (measures[index] === 'firstSeenMs') (this.#sums[index] as Float64Array)[cell] = Infinity;
    }
    return cell;
  }

  #cellsOf(columns: Columns, places: Uint16Array): Int32Array {
    const { bucket, groupBy } = this.#query;
    const { words, codes } = groupWords(columns, groupBy);
    const cells = new Int32Array(places.length);
    const started = bucket === null ? undefined : columns.numbers('startedAtMs');
    const width = bucket === null ? Infinity : bucketWidthOf(bucket);
    let from = 0;
    let to = -1;
    // Of the bucket at hand, by group.
    let known = new Int32Array(words.length).fill(-1);
    const ofBuckets = new Map<number, Int32Array<ArrayBuffer>>([[0, known]]);
    for (let at = 0; at < places.length; at += 1) {
      const index = places[at] as number;
      if (started !== undefined) {
        const startedAtMs = started[index] as number;
        if (startedAtMs < from || startedAtMs >= to) {
          from = bucketOf(startedAtMs, bucket);
          to = from + width;
          const found = ofBuckets.get(from);
          known = found ?? new Int32Array(words.length).fill(-1);
          if (found === undefined) ofBuckets.set(from, known);
        }
      }
      const code = codes[index] as number;
      let cell = known[code] as number;
      if (cell === -1) known[code] = cell = this.#cell(from, words[code] ?? '');
      cells[at] = cell;
    }
    return cells;
  }

  #measure(name: LogMeasure, sums: Float64Array, columns: Columns, places: Uint16Array, cells: Int32Array): void {
    const count = places.length;
    const isAll = count === columns.count;
    const add = (values: Float64Array): void => {
      if (isAll) return addAll(sums, values, cells);
      for (let at = 0; at < count; at += 1) {
        const value = values[places[at] as number] as number;
        // -1: nobody said how much.
        if (value > 0) sums[cells[at] as number] = (sums[cells[at] as number] as number) + value;
      }
    };
    const addWhere = (values: Float64Array | undefined, isCounted: (index: number) => boolean): void => {
      for (let at = 0; at < count; at += 1) {
        const index = places[at] as number;
        if (isCounted(index)) sums[cells[at] as number] = (sums[cells[at] as number] as number) + (values === undefined ? 1 : values[index] as number);
      }
    };
    const cacheIs = (isHit: (cacheStatus: string) => boolean): ((index: number) => boolean) => {
      const { words, codes } = columns.words('cacheStatus');
      const hits = words.map(isHit);
      return (index) => hits[codes[index] as number] === true;
    };
    const statusIs = (isWanted: (status: number) => boolean): ((index: number) => boolean) => {
      const statuses = columns.numbers('status');
      return (index) => isWanted(statuses[index] as number);
    };
    const isHit = (cacheStatus: string): boolean => isSimpleHit(cacheStatus) || isSemanticHit(cacheStatus);
    const isRescued = (field: 'retries' | 'targetIndex'): ((index: number) => boolean) => {
      const isRight = statusIs(isSuccess);
      const numbers = columns.numbers(field);
      return (index) => (numbers[index] as number) > 0 && isRight(index);
    };
    switch (name) {
      case 'count':
        for (let at = 0; at < count; at += 1) sums[cells[at] as number] = (sums[cells[at] as number] as number) + 1;
        return;
      case 'cost': return add(columns.numbers('cost'));
      case 'saved': return add(columns.numbers('saved'));
      case 'simpleSaved': return addWhere(columns.numbers('saved'), cacheIs(isSimpleHit));
      case 'semanticSaved': return addWhere(columns.numbers('saved'), cacheIs(isSemanticHit));
      case 'totalTokens': return add(columns.numbers('totalTokens'));
      case 'inputTokens': return add(columns.numbers('inputTokens'));
      case 'outputTokens': return add(columns.numbers('outputTokens'));
      case 'errors': return addWhere(undefined, statusIs(isError));
      case 'successes': return addWhere(undefined, statusIs(isSuccess));
      case 'cacheHits': return addWhere(undefined, cacheIs(isHit));
      case 'simpleHits': return addWhere(undefined, cacheIs(isSimpleHit));
      case 'semanticHits': return addWhere(undefined, cacheIs(isSemanticHit));
      case 'hitTookMsSum': return addWhere(columns.numbers('tookMs'), cacheIs(isHit));
      case 'tookMsSum': return add(columns.numbers('tookMs'));
      case 'users': return this.#addUsers(columns, places, cells);
      case 'userRequests': {
        const users = columns.member(userKey);
        return addWhere(undefined, (index) => users.words[users.codes[index] as number] !== '');
      }
      case 'firstSeenMs': case 'lastSeenMs': {
        const started = columns.numbers('startedAtMs');
        const choose = name === 'firstSeenMs' ? Math.min : Math.max;
        for (let at = 0; at < count; at += 1) sums[cells[at] as number] = choose(sums[cells[at] as number] as number, started[places[at] as number] as number);
        return;
      }
      case 'rescuedByRetry': return addWhere(undefined, isRescued('retries'));
      case 'rescuedByFallback': return addWhere(undefined, isRescued('targetIndex'));
      case 'unpriced': {
        const [isPriced, tokens] = [columns.numbers('isPriced'), columns.numbers('totalTokens')];
        return addWhere(undefined, (index) => isPriced[index] === 0 && (tokens[index] as number) > 0);
      }
      case 'weightedFeedbackSum': return this.#addFeedback(sums, columns, places, cells, weightedSum);
      case 'feedbackCount': return this.#addFeedback(sums, columns, places, cells, ({ length }) => length);
      case 'requestsWithFeedback': return this.#addFeedback(sums, columns, places, cells, () => 1);
      case 'tookMsP50': case 'tookMsP90': case 'tookMsP95': case 'tookMsP99':
    }
  }

  #addFeedback(sums: Float64Array, columns: Columns, places: Uint16Array, cells: Int32Array, valueOf: (items: readonly Feedback[]) => number): void {
    if (this.#feedback.size === 0) return;
    for (let at = 0; at < places.length; at += 1) {
      const items = this.#feedback.get(traceKeyAt(columns, places[at] as number));
      if (items !== undefined) sums[cells[at] as number] = (sums[cells[at] as number] as number) + valueOf(items);
    }
  }

  #addUsers(columns: Columns, places: Uint16Array, cells: Int32Array): void {
    const { words, codes } = columns.member(userKey);
    /** Of the user at hand, by cell: the last cell is nearly always the same. */
    const last = new Int32Array(words.length).fill(-1);
    for (let at = 0; at < places.length; at += 1) {
      const code = codes[places[at] as number] as number;
      const cell = cells[at] as number;
      const user = words[code] ?? '';
      if (last[code] === cell || user === '') continue;
      last[code] = cell;
      let users = this.#users.get(cell);
      if (users === undefined) this.#users.set(cell, users = new Set());
      users.add(user);
    }
  }

  #addTook(columns: Columns, places: Uint16Array, cells: Int32Array): void {
    const took = columns.numbers('tookMs');
    // Columns are kept for other queries, and never changed.
    if (places.length === took.length) return void this.#took.push({ cells, values: took });
    const values = new Float64Array(places.length);
    for (let at = 0; at < places.length; at += 1) values[at] = took[places[at] as number] as number;
    this.#took.push({ cells, values });
  }

  /** By share, then by cell. */
  #ranks: ReadonlyMap<number, Float64Array> | undefined = undefined;

  #percentiles(share: number): Float64Array {
    this.#ranks ??= this.#rankTook();
    return this.#ranks.get(share) ?? new Float64Array();
  }

  #rankTook(): ReadonlyMap<number, Float64Array> {
    const shares = [...new Set(this.#query.measures.flatMap((name) => percentiles[name] ?? []))].sort((left, right) => left - right);
    const ends = new Int32Array(this.#buckets.length + 1);
    for (const { cells } of this.#took) for (let index = 0; index < cells.length; index += 1) ends[(cells[index] as number) + 1] = (ends[(cells[index] as number) + 1] as number) + 1;
    for (let cell = 0; cell < this.#buckets.length; cell += 1) ends[cell + 1] = (ends[cell + 1] as number) + (ends[cell] as number);
    const starts = ends.slice();
    const ordered = new Float64Array(ends[this.#buckets.length] as number);
    for (const { cells, values } of this.#took) {
      for (let index = 0; index < cells.length; index += 1) {
        const cell = cells[index] as number;
        const start = starts[cell] as number;
        ordered[start] = values[index] as number;
        starts[cell] = start + 1;
      }
    }
    const ranks = new Map(shares.map((share) => [share, new Float64Array(this.#buckets.length)]));
    for (let cell = 0; cell < this.#buckets.length; cell += 1) {
      const found = nearestRanks(ordered.subarray(ends[cell], ends[cell + 1]), shares);
      for (let index = 0; index < shares.length; index += 1) (ranks.get(shares[index] as number) as Float64Array)[cell] = found[index] as number;
    }
    return ranks;
  }
}

function addAll(sums: Float64Array, values: Float64Array, cells: Int32Array): void {
  for (let index = 0; index < cells.length; index += 1) {
    const value = values[index] as number;
    // -1: nobody said how much.
    if (value > 0) sums[cells[index] as number] = (sums[cells[index] as number] as number) + value;
  }
}

/** The group of each record. */
function groupWords(columns: Columns, group: LogGroup | null): Words {
  switch (group) {
    case null: case 'feedbackValue': return { words: [''], codes: new Uint16Array(columns.count) };
    case 'providerModel': return pairWords(columns.words('provider'), columns.words('model'));
    case 'user': return columns.member(userKey);
    case 'status': case 'retries': case 'targetIndex': return numberWords(columns.numbers(group));
    case 'provider': case 'model': case 'providerSlug': case 'keyId': case 'configId': case 'workspaceId': case 'promptSlug': case 'endpoint': case 'cacheStatus': case 'errorCode': return columns.words(group);
    default: return columns.member(group.slice(metadataPrefix.length));
  }
}

function numberWords(numbers: Float64Array): Words {
  const places = new Map<number, number>();
  const codes = Uint16Array.from(numbers, (number) => {
    let code = places.get(number);
    if (code === undefined) places.set(number, code = places.size);
    return code;
  });
  return { words: Array.from(places.keys(), String), codes };
}

function pairWords(left: Words, right: Words): Words {
  const places = new Map<number, number>();
  const words: string[] = [];
  const codes = left.codes.map((code, index) => {
    const other = right.codes[index] as number;
    const pair = code * 65_536 + other;
    let place = places.get(pair);
    if (place === undefined) {
      places.set(pair, place = words.length);
      words.push(`${left.words[code] ?? ''}__${right.words[other] ?? ''}`);
    }
    return place;
  });
  return { words, codes };
}
