// Records of calls in memory, for tests of what reads them: straightforward, and as the contract of LogReader says.

import type { Bounds, Feedback, LogAggregateQuery, LogFilter, LogMeasure, LogReader, LogRecord, LogScope } from '@gateway/plugin-sdk';
import { bucketOf, groupOf, measure } from '../../plugins/exporters/store/plain-query.js';

const inBounds = (value: number, bounds: Bounds | undefined): boolean => bounds === undefined || ((bounds.min === undefined || value >= bounds.min) && (bounds.max === undefined || value <= bounds.max));
const isOneOf = <T>(value: T, wanted: readonly T[] | undefined): boolean => wanted === undefined || wanted.includes(value);
const inScope = ({ organisationId, workspaceId }: { readonly organisationId: string; readonly workspaceId: string }, scope: LogScope): boolean =>
  organisationId === scope.organisationId && (scope.workspaceIds === null || scope.workspaceIds.includes(workspaceId));

const metadataOf = (record: LogRecord): Readonly<Record<string, unknown>> => (record.metadata === '' ? {} : JSON.parse(record.metadata));
/** As the store has members: what is no text as its JSON. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : JSON.stringify(value));

export function isWanted(record: LogRecord, filter: LogFilter): boolean {
  return inScope(record, filter.scope) && inBounds(record.startedAtMs, { ...(filter.fromMs === undefined ? {} : { min: filter.fromMs }), ...(filter.toMs === undefined ? {} : { max: filter.toMs }) })
    && (filter.records === 'all' || record.isFinal) && isOneOf(record.status, filter.statuses) && (filter.isSuccess === undefined || filter.isSuccess === (record.status < 400))
    && isOneOf(record.provider, filter.providers) && isOneOf(record.model, filter.models) && isOneOf(`${record.provider}__${record.model}`, filter.providerModels)
    && isOneOf(record.providerSlug, filter.providerSlugs) && isOneOf(record.configId, filter.configIds) && isOneOf(record.keyId, filter.keyIds) && isOneOf(record.promptSlug, filter.promptSlugs)
    && isOneOf(record.traceId, filter.traceIds) && isOneOf(record.spanId, filter.spanIds) && isOneOf<string>(record.endpoint, filter.endpoints) && isOneOf(record.cacheStatus, filter.cacheStatuses)
    && isOneOf(record.errorCode, filter.errorCodes) && Object.entries(filter.metadata ?? {}).every(([name, value]) => textOf(metadataOf(record)[name]) === value)
    && inBounds(record.cost, filter.cost) && inBounds(record.totalTokens, filter.totalTokens) && inBounds(record.inputTokens, filter.inputTokens) && inBounds(record.outputTokens, filter.outputTokens)
    && inBounds(record.tookMs, filter.tookMs);
}

const withoutBodies = (record: LogRecord): LogRecord => ({ ...record, bodies: null });

/** An export of this trace goes on until it is stopped. */
export const heldTrace = 'held until it is stopped';

export class MemoryLogs implements LogReader {
  /** In the order of their arrival. */
  readonly records: LogRecord[] = [];
  readonly feedback: Feedback[] = [];
  /** Awaited before each page of an export, for tests that stop one. */
  beforePage: () => Promise<void> = async () => {};
  pageRecords = 2;

  page(filter: LogFilter, { limit, cursor, offset = 0, isCounted = false }: Parameters<LogReader['page']>[1]): ReturnType<LogReader['page']> {
    const found = this.#found(filter).reverse();
    const start = cursor === undefined ? offset : found.findIndex(({ id }) => id === cursor) + 1;
    const records = found.slice(start, start + limit).map(withoutBodies);
    return { records, cursor: start + limit < found.length ? records.at(-1)?.id ?? null : null, total: isCounted ? found.length : null };
  }

  read(scope: LogScope, id: string): readonly LogRecord[] {
    return this.records.filter((record) => inScope(record, scope) && (record.id === id || record.traceId === id)).sort((left, right) => left.startedAtMs - right.startedAtMs);
  }

  async *export(filter: LogFilter, signal: AbortSignal, { hasBodies = false }: { readonly hasBodies?: boolean } = {}): AsyncIterable<readonly LogRecord[]> {
    if (filter.traceIds?.includes(heldTrace) === true) await new Promise((_, reject) => {
      if (signal.aborted) reject(new Error('stopped'));
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
    const found = this.#found(filter);
    for (let start = 0; start < found.length; start += this.pageRecords) {
      await this.beforePage();
      signal.throwIfAborted();
      const page = found.slice(start, start + this.pageRecords);
      yield hasBodies ? page : page.map(withoutBodies);
    }
  }

  follow(filter: LogFilter, after: string | null, limit: number): ReturnType<NonNullable<LogReader['follow']>> {
    const from = after === null ? this.records.length : Number(after);
    const records: LogRecord[] = [];
    let at = from;
    for (; at < this.records.length && records.length < limit; at += 1) {
      const record = this.records[at];
      if (record !== undefined && isWanted(record, filter)) records.push(withoutBodies(record));
    }
    return { records, after: String(at), hasMore: at < this.records.length };
  }

  /** Record by record. */
  aggregate({ filter, bucket, groupBy, measures, of = 'records' }: LogAggregateQuery): ReturnType<LogReader['aggregate']> {
    const cells = new Map<string, { readonly bucketMs: number; readonly group: string; readonly records: LogRecord[]; readonly items: Feedback[] }>();
    const cell = (bucketMs: number, group: string): { readonly records: LogRecord[]; readonly items: Feedback[] } => {
      const key = `${bucketMs}/${group}`;
      const found = cells.get(key) ?? { bucketMs, group, records: [], items: [] };
      cells.set(key, found);
      return found;
    };
    const feedbackOf = ({ traceId, workspaceId }: Pick<LogRecord, 'traceId' | 'workspaceId'>): readonly Feedback[] => this.feedback.filter((item) => item.traceId === traceId && item.workspaceId === workspaceId);
    if (of === 'records') for (const record of this.#found(filter)) cell(bucketOf(record.startedAtMs, bucket), groupOf(record, groupBy)).records.push(record);
    else {
      const { fromMs = 0, toMs = Infinity, ...ofRecords } = filter;
      for (const item of this.feedback) {
        if (!inScope(item, filter.scope) || item.createdAtMs < fromMs || item.createdAtMs > toMs) continue;
        const record = this.#found(ofRecords).findLast(({ traceId, workspaceId }) => traceId === item.traceId && workspaceId === item.workspaceId);
        cell(bucketOf(item.createdAtMs, bucket), groupBy === 'feedbackValue' ? String(item.value) : record === undefined ? '' : groupOf(record, groupBy)).items.push(item);
      }
    }
    const ofItems = (name: LogMeasure, items: readonly Feedback[]): number => (name === 'count' ? items.length : name === 'weightedFeedbackSum' ? items.reduce((sum, { value, weight }) => sum + value * weight, 0) : 0);
    return { rows: [...cells.values()].map(({ bucketMs, group, records, items }) => ({ bucketMs, group, values: measures.map((name) => (of === 'records' ? measure(name, records, feedbackOf) : ofItems(name, items))) })).sort((left, right) => left.bucketMs - right.bucketMs) };
  }

  insert(records: readonly LogRecord[]): void {
    this.records.push(...records);
  }

  addFeedback(items: readonly Feedback[]): void {
    this.feedback.push(...items);
  }

  changeFeedback(scope: LogScope, id: string, changes: Parameters<LogReader['changeFeedback']>[2]): boolean {
    const index = this.feedback.findIndex((item) => item.id === id && inScope(item, scope));
    const before = this.feedback[index];
    if (before === undefined) return false;
    this.feedback[index] = { ...before, ...changes };
    return true;
  }

  reprice(): void {
    throw new Error('this reader reprices nothing');
  }

  #found(filter: LogFilter): LogRecord[] {
    return this.records.filter((record) => isWanted(record, filter)).sort((left, right) => left.startedAtMs - right.startedAtMs);
  }
}

/** A final record of a success. */
export const logRecord = (changes: Partial<LogRecord> = {}): LogRecord => ({
  id: '01890000-0000-7000-8000-0000000000aa', traceId: 'trace-1', spanId: 'span-1', parentSpanId: '', spanName: '', organisationId: 'o', workspaceId: 'w', keyId: 'k', endpoint: 'chatCompletions', method: 'POST',
  path: '/v1/chat/completions', provider: 'openai', model: 'gpt-4o-mini', providerSlug: '', configId: '', configVersionId: '', promptSlug: '', promptId: '', promptVersionId: '', targetPath: 'config', isFinal: true, targetIndex: 0,
  retries: 0, status: 200, ended: 'complete', errorCode: '', isStream: false, attempts: 1, cacheStatus: '', finishReason: 'stop', inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedTokens: -1, cacheWriteTokens: -1,
  inputAudioTokens: -1, inputImageTokens: -1, reasoningTokens: -1, outputAudioTokens: -1, outputImageTokens: -1, cost: 0.5, saved: 0, isPriced: true, requestBytes: 100, responseBytes: 200,
  startedAtMs: Date.UTC(2030, 0, 15, 11), firstByteMs: 20, tookMs: 30, upstreamMs: 15, metadata: '', hookResults: '', decision: '', bodies: null, source: 'call', ...changes,
});
