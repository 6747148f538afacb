// What filters, groups and measures mean, record by record. The reader answers the same from columns; tests hold both against each other.

import { isObject, type Bounds, type Feedback, type LogFilter, type LogGroup, type LogMeasure, type LogRecord, type LogScope } from '@gateway/plugin-sdk';

/** Of the traces that have any. */
export type FeedbackOf = (record: Pick<LogRecord, 'organisationId' | 'workspaceId' | 'traceId'>) => readonly Feedback[];

export const isSuccess = (status: number): boolean => status >= 200 && status < 400;
export const isError = (status: number): boolean => status >= 400;
export const isSimpleHit = (cacheStatus: string): boolean => cacheStatus === 'HIT';
export const isSemanticHit = (cacheStatus: string): boolean => cacheStatus === 'SEMANTIC HIT';

/** Name and text of each member; nothing for what is not a JSON object. */
export function metadataOf(metadata: string): Readonly<Record<string, string>> {
  if (metadata === '') return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(metadata);
  } catch {
    return {};
  }
  if (!isObject(parsed)) return {};
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** Members of metadata by their own names alone. */
const memberOf = (metadata: string, name: string): string => {
  const members = metadataOf(metadata);
  return Object.hasOwn(members, name) ? members[name] ?? '' : '';
};

export const userKey = '_user';
export const metadataPrefix = 'metadata.';

export const inScope = (scope: LogScope, { organisationId, workspaceId }: Pick<LogRecord, 'organisationId' | 'workspaceId'>): boolean =>
  organisationId === scope.organisationId && (scope.workspaceIds === null || scope.workspaceIds.includes(workspaceId));

const isWithin = (value: number, bounds: Bounds | undefined): boolean =>
  bounds === undefined || ((bounds.min === undefined || value >= bounds.min) && (bounds.max === undefined || value <= bounds.max));

const isAmong = <T>(list: readonly T[] | undefined, value: T): boolean => list === undefined || list.includes(value);

export function recordMatches(record: LogRecord, filter: LogFilter, feedbackOf: FeedbackOf): boolean {
  return inScope(filter.scope, record)
    && isWithin(record.startedAtMs, { ...(filter.fromMs === undefined ? {} : { min: filter.fromMs }), ...(filter.toMs === undefined ? {} : { max: filter.toMs }) })
    && (filter.records === 'all' || record.isFinal)
    && isAmong(filter.statuses, record.status)
    && (filter.isSuccess === undefined || filter.isSuccess === isSuccess(record.status))
    && isAmong(filter.providers, record.provider)
    && isAmong(filter.models, record.model)
    && isAmong(filter.providerModels, `${record.provider}__${record.model}`)
    && isAmong(filter.providerSlugs, record.providerSlug)
    && isAmong(filter.configIds, record.configId)
    && isAmong(filter.keyIds, record.keyId)
    && isAmong(filter.promptSlugs, record.promptSlug)
    && isAmong(filter.traceIds, record.traceId)
    && isAmong(filter.spanIds, record.spanId)
    && isAmong<string>(filter.endpoints, record.endpoint)
    && isAmong(filter.cacheStatuses, record.cacheStatus)
    && isAmong(filter.errorCodes, record.errorCode)
    && isWithin(record.cost, filter.cost)
    && isWithin(record.totalTokens, filter.totalTokens)
    && isWithin(record.inputTokens, filter.inputTokens)
    && isWithin(record.outputTokens, filter.outputTokens)
    && isWithin(record.tookMs, filter.tookMs)
    && (filter.metadata === undefined || Object.entries(filter.metadata).every(([name, value]) => memberOf(record.metadata, name) === value))
    && (filter.weightedFeedback === undefined || hasFeedbackWithin(feedbackOf(record), filter.weightedFeedback));
}

function hasFeedbackWithin(items: readonly Feedback[], bounds: Bounds): boolean {
  return items.length > 0 && isWithin(weightedSum(items) / items.length, bounds);
}

const weightedSum = (items: readonly Feedback[]): number => items.reduce((sum, { value, weight }) => sum + value * weight, 0);

export function groupOf(record: LogRecord, group: LogGroup | null): string {
  switch (group) {
    case null: case 'feedbackValue': return '';
    case 'providerModel': return `${record.provider}__${record.model}`;
    case 'user': return memberOf(record.metadata, userKey);
    case 'provider': case 'model': case 'providerSlug': case 'status': case 'keyId': case 'configId': case 'workspaceId': case 'promptSlug': case 'endpoint': case 'retries':
    case 'targetIndex': case 'cacheStatus': case 'errorCode': return String(record[group]);
    default: return memberOf(record.metadata, group.slice(metadataPrefix.length));
  }
}

const dayMs = 86_400_000;
const widths = { minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs } as const;
/** The epoch began on a Thursday. */
const mondayMs = 4 * dayMs;

export const bucketWidthOf = (bucket: keyof typeof widths): number => widths[bucket];

/** Beginning of the bucket, in UTC. */
export function bucketOf(atMs: number, bucket: 'minute' | 'hour' | 'day' | 'week' | null): number {
  if (bucket === null) return 0;
  const width = widths[bucket];
  const offset = bucket === 'week' ? mondayMs : 0;
  return Math.floor((atMs - offset) / width) * width + offset;
}

const sum = (records: readonly LogRecord[], value: (record: LogRecord) => number): number => records.reduce((total, record) => total + value(record), 0);
const count = (records: readonly LogRecord[], isCounted: (record: LogRecord) => boolean): number => records.filter(isCounted).length;
/** -1: nobody said how many. */
const known = (value: number): number => Math.max(0, value);

function percentile(records: readonly LogRecord[], share: number): number {
  const sorted = records.map(({ tookMs }) => tookMs).sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function measure(name: LogMeasure, records: readonly LogRecord[], feedbackOf: FeedbackOf): number {
  if (records.length === 0) return 0;
  switch (name) {
    case 'count': return records.length;
    case 'cost': return sum(records, ({ cost }) => known(cost));
    case 'saved': return sum(records, ({ saved }) => saved);
    case 'simpleSaved': return sum(records, ({ saved, cacheStatus }) => (isSimpleHit(cacheStatus) ? saved : 0));
    case 'semanticSaved': return sum(records, ({ saved, cacheStatus }) => (isSemanticHit(cacheStatus) ? saved : 0));
    case 'totalTokens': return sum(records, ({ totalTokens }) => known(totalTokens));
    case 'inputTokens': return sum(records, ({ inputTokens }) => known(inputTokens));
    case 'outputTokens': return sum(records, ({ outputTokens }) => known(outputTokens));
    case 'errors': return count(records, ({ status }) => isError(status));
    case 'successes': return count(records, ({ status }) => isSuccess(status));
    case 'cacheHits': return count(records, ({ cacheStatus }) => isSimpleHit(cacheStatus) || isSemanticHit(cacheStatus));
    case 'simpleHits': return count(records, ({ cacheStatus }) => isSimpleHit(cacheStatus));
    case 'semanticHits': return count(records, ({ cacheStatus }) => isSemanticHit(cacheStatus));
    case 'users': return new Set(records.map(({ metadata }) => memberOf(metadata, userKey)).filter((user) => user !== '')).size;
    case 'userRequests': return count(records, ({ metadata }) => memberOf(metadata, userKey) !== '');
    case 'tookMsSum': return sum(records, ({ tookMs }) => tookMs);
    case 'tookMsP50': return percentile(records, 0.5);
    case 'tookMsP90': return percentile(records, 0.9);
    case 'tookMsP95': return percentile(records, 0.95);
    case 'tookMsP99': return percentile(records, 0.99);
    case 'hitTookMsSum': return sum(records, ({ cacheStatus, tookMs }) => (isSimpleHit(cacheStatus) || isSemanticHit(cacheStatus) ? tookMs : 0));
    case 'firstSeenMs': return records.reduce((first, { startedAtMs }) => Math.min(first, startedAtMs), Infinity);
    case 'lastSeenMs': return records.reduce((last, { startedAtMs }) => Math.max(last, startedAtMs), 0);
    case 'rescuedByRetry': return count(records, ({ status, retries }) => isSuccess(status) && retries > 0);
    case 'rescuedByFallback': return count(records, ({ status, targetIndex }) => isSuccess(status) && targetIndex > 0);
    case 'unpriced': return count(records, ({ isPriced, totalTokens }) => !isPriced && totalTokens > 0);
    case 'weightedFeedbackSum': return records.reduce((total, record) => total + weightedSum(feedbackOf(record)), 0);
    case 'feedbackCount': return records.reduce((total, record) => total + feedbackOf(record).length, 0);
    case 'requestsWithFeedback': return count(records, (record) => feedbackOf(record).length > 0);
  }
}
