import type { Closable, Maybe } from '../shared.js';
import type { LogRecord } from './log-record.js';

/** Reads the records of calls for the log and analytics endpoints. Times are milliseconds since the Unix epoch, money US cents. */
export interface LogReader extends Closable {
  /** Newest first, without bodies. */
  page(filter: LogFilter, options: LogPageOptions): Maybe<LogPage>;
  /**
   * Records that have this id, or whose trace has it, oldest first. Empty: there is none. Clients may give one trace to any number of calls: it may be the newest of them alone, and
   * bodies come with the record of that id, else with the newest final ones, as many as fit.
   */
  read(scope: LogScope, id: string): Maybe<readonly LogRecord[]>;
  /** All that match, oldest first, in pages, with their bodies only where `hasBodies`; the signal ends it. */
  export(filter: LogFilter, signal: AbortSignal, options?: { readonly hasBodies?: boolean }): AsyncIterable<readonly LogRecord[]>;
  /**
   * Records that arrived after a place, in the order of their arrival, without bodies: each record once, whenever its call began. Null: the place of now, and no records.
   * Of a place that is not known any more: what is there from the oldest one on.
   */
  follow?(filter: LogFilter, after: string | null, limit: number): Maybe<LogTail>;
  /** One row for each bucket and group that has records, in the order of buckets. */
  aggregate(query: LogAggregateQuery): Maybe<LogAggregate>;
  /** Records that did not come through the gateway. */
  insert(records: readonly LogRecord[]): Maybe<void>;
  addFeedback(items: readonly Feedback[]): Maybe<void>;
  /** False: there is no such item in the scope. */
  changeFeedback(scope: LogScope, id: string, changes: Pick<Feedback, 'value' | 'weight' | 'metadata'>): Maybe<boolean>;
  /** Replaces cost, saved and isPriced of records by id, for prices that were changed in hindsight. */
  reprice(prices: readonly RepricedRecord[]): Maybe<void>;
}

/** Whose records may be seen: of an organisation, and of some of its workspaces alone unless `workspaceIds` is null. */
export interface LogScope {
  readonly organisationId: string;
  readonly workspaceIds: readonly string[] | null;
}

/** An absent member does not narrow; bounds are inclusive; of a list one must match. */
export interface LogFilter {
  readonly scope: LogScope;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Default: final records alone. `all`: those of targets that were left, too. */
  readonly records?: 'final' | 'all';
  readonly statuses?: readonly number[];
  readonly isSuccess?: boolean;
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
  /** `provider__model`. */
  readonly providerModels?: readonly string[];
  readonly providerSlugs?: readonly string[];
  readonly configIds?: readonly string[];
  readonly keyIds?: readonly string[];
  readonly promptSlugs?: readonly string[];
  readonly traceIds?: readonly string[];
  readonly spanIds?: readonly string[];
  readonly endpoints?: readonly string[];
  readonly cacheStatuses?: readonly string[];
  readonly errorCodes?: readonly string[];
  /** Every one must be there with this value. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly cost?: Bounds;
  readonly totalTokens?: Bounds;
  readonly inputTokens?: Bounds;
  readonly outputTokens?: Bounds;
  readonly tookMs?: Bounds;
  /** Mean of value times weight of the feedback on the trace. */
  readonly weightedFeedback?: Bounds;
}

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export interface LogPageOptions {
  readonly limit: number;
  /** Of the page before. */
  readonly cursor?: string;
  /** Records to leave out first. */
  readonly offset?: number;
  /** Also count all that match. */
  readonly isCounted?: boolean;
}

export interface LogPage {
  readonly records: readonly LogRecord[];
  /** Null: there are no more. */
  readonly cursor: string | null;
  /** Null: not asked for. */
  readonly total: number | null;
}

export interface LogTail {
  readonly records: readonly LogRecord[];
  /** Behind the last one that was looked at, whether it matched or not. */
  readonly after: string;
  /** More may be there already. */
  readonly hasMore: boolean;
}

export type LogGroup = 'provider' | 'model' | 'providerModel' | 'providerSlug' | 'status' | 'keyId' | 'configId' | 'workspaceId' | 'promptSlug' | 'endpoint' | 'user' | 'retries' | 'targetIndex' | 'cacheStatus' | 'errorCode' | 'feedbackValue' | `metadata.${string}`;

export interface LogAggregateQuery {
  readonly filter: LogFilter;
  /** UTC; weeks begin on Monday. Null: all in one. */
  readonly bucket: 'minute' | 'hour' | 'day' | 'week' | null;
  readonly groupBy: LogGroup | null;
  readonly measures: readonly LogMeasure[];
  /** `feedback`: the items of feedback on matching traces are what is counted, at the time that they were given. */
  readonly of?: 'records' | 'feedback';
}

/** Percentiles are true ones, by nearest rank; of an empty set every measure is 0. `userRequests`: records that name a user. */
export type LogMeasure =
  | 'count' | 'cost' | 'saved' | 'simpleSaved' | 'semanticSaved' | 'totalTokens' | 'inputTokens' | 'outputTokens' | 'errors' | 'successes' | 'cacheHits' | 'simpleHits' | 'semanticHits' | 'users' | 'userRequests'
  | 'tookMsSum' | 'tookMsP50' | 'tookMsP90' | 'tookMsP95' | 'tookMsP99' | 'hitTookMsSum' | 'firstSeenMs' | 'lastSeenMs' | 'rescuedByRetry' | 'rescuedByFallback' | 'unpriced'
  | 'weightedFeedbackSum' | 'feedbackCount' | 'requestsWithFeedback';

export interface LogAggregate {
  readonly rows: readonly LogAggregateRow[];
}

export interface LogAggregateRow {
  /** Beginning of the bucket; 0 without buckets. */
  readonly bucketMs: number;
  /** Empty without groups, and for records that have nothing there. */
  readonly group: string;
  /** In the order of the measures. */
  readonly values: readonly number[];
}

export interface Feedback {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly traceId: string;
  /** -10 to 10. */
  readonly value: number;
  /** 0 to 1. */
  readonly weight: number;
  /** JSON object; empty without. */
  readonly metadata: string;
  readonly createdAtMs: number;
}

export interface RepricedRecord {
  readonly id: string;
  readonly cost: number;
  readonly saved: number;
  readonly isPriced: boolean;
}
