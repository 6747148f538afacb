// The question behind every operation of analytics: whose records, which of them, and in which buckets.

import type { LogAggregate, LogAggregateQuery, LogAggregateRow, LogFilter, LogMeasure } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { commonFilterFields, logFilter } from '../common/log-filter.js';
import { logReader, logScope, logSightOf, organisationSettings, type LogSight } from '../common/log-services.js';

export type Bucket = NonNullable<LogAggregateQuery['bucket']>;

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** Weeks begin on Monday; the epoch began on a Thursday. */
const mondayMs = 4 * dayMs;
const widths: Readonly<Record<Bucket, number>> = { minute: minuteMs, hour: hourMs, day: dayMs, week: 7 * dayMs };
/** Longer times have too many buckets for a reply. */
const daysMax = 3660;

/** `time_of_generation_min` and `max` have to be there; `metadata` is JSON. */
export const analyticsFields = {
  ...commonFilterFields,
  time_of_generation_min: Type.String({ format: 'date-time', description: 'calls that began then or later' }),
  time_of_generation_max: Type.String({ format: 'date-time', description: 'calls that began then or earlier' }),
  metadata: Type.Optional(Type.String({ minLength: 2, maxLength: 8192, description: 'JSON object: members that must be there, with these values' })),
};

export interface AnalyticsFilter {
  readonly time_of_generation_min: string;
  readonly time_of_generation_max: string;
  readonly workspace_slug?: string;
}

/** Up to an hour in minutes, two days in hours, ninety days in days, else in weeks. */
function bucketFor(fromMs: number, toMs: number): Bucket {
  const rangeMs = toMs - fromMs;
  return rangeMs <= hourMs ? 'minute' : rangeMs <= 2 * dayMs ? 'hour' : rangeMs <= 90 * dayMs ? 'day' : 'week';
}

/** Beginnings of all buckets that the time touches. */
function bucketsIn(fromMs: number, toMs: number, bucket: Bucket): number[] {
  const width = widths[bucket];
  const offset = bucket === 'week' ? mondayMs : 0;
  const first = Math.floor((fromMs - offset) / width) * width + offset;
  return Array.from({ length: Math.floor((toMs - first) / width) + 1 }, (_, index) => first + index * width);
}

/** One question to the log; all of its parts have the same filter. */
export class Question {
  private constructor(readonly context: ControlContext, readonly filter: LogFilter, readonly bucket: Bucket, readonly buckets: readonly number[], readonly sight: LogSight) {}

  /** `isOfOrganisation`: a key of the organisation need not name a workspace. Throws WORKSPACE_MISSING, WORKSPACE_FOREIGN, FIELD_INVALID. */
  static async of(context: ControlContext, query: AnalyticsFilter, isOfOrganisation = false): Promise<Question> {
    const scope = await logScope(context, query.workspace_slug);
    if (scope.workspaceIds === null && !isOfOrganisation) throw fail('WORKSPACE_MISSING', { param: 'workspace_slug' });
    const sight = logSightOf(context.caller, await organisationSettings(context));
    const filter = await logFilter(context, scope, { ...query }, sight);
    const [fromMs, toMs] = [Date.parse(query.time_of_generation_min), Date.parse(query.time_of_generation_max)];
    if (toMs - fromMs > daysMax * dayMs) throw fail('FIELD_INVALID', { param: 'time_of_generation_max', reason: `must be at most ${daysMax} days after time_of_generation_min` });
    const bucket = bucketFor(fromMs, toMs);
    return new Question(context, filter, bucket, bucketsIn(fromMs, toMs, bucket), sight);
  }

  /** Throws ACTION_FORBIDDEN for groups by metadata that the caller may not see. */
  async ask(query: Omit<LogAggregateQuery, 'filter'>): Promise<LogAggregate> {
    if (!this.sight.metadata && (query.groupBy === 'user' || query.groupBy?.startsWith('metadata.') === true)) throw fail('ACTION_FORBIDDEN', { reason: 'the settings of the organisation do not show you metadata of calls' });
    return logReader(this.context).aggregate({ filter: this.filter, ...query });
  }

  /** Of all the time: the measures, 0 where nothing matches. */
  async total(measures: readonly LogMeasure[], of: 'records' | 'feedback' = 'records'): Promise<readonly number[]> {
    const { rows: [row] } = await this.ask({ bucket: null, groupBy: null, measures, of });
    return row?.values ?? measures.map(() => 0);
  }

  /** Of every bucket, the empty ones too. */
  async series(measures: readonly LogMeasure[], of: 'records' | 'feedback' = 'records'): Promise<readonly { readonly bucketMs: number; readonly values: readonly number[] }[]> {
    const { rows } = await this.ask({ bucket: this.bucket, groupBy: null, measures, of });
    const byBucket = new Map(rows.map(({ bucketMs, values }) => [bucketMs, values]));
    return this.buckets.map((bucketMs) => ({ bucketMs, values: byBucket.get(bucketMs) ?? measures.map(() => 0) }));
  }

  /** Of every bucket, its groups. */
  async grouped(query: Pick<LogAggregateQuery, 'groupBy' | 'measures'>): Promise<readonly { readonly bucketMs: number; readonly rows: readonly LogAggregateRow[] }[]> {
    const { rows } = await this.ask({ bucket: this.bucket, ...query });
    const byBucket = new Map<number, LogAggregateRow[]>();
    for (const row of rows) byBucket.set(row.bucketMs, [...byBucket.get(row.bucketMs) ?? [], row]);
    return this.buckets.map((bucketMs) => ({ bucketMs, rows: byBucket.get(bucketMs) ?? [] }));
  }
}

/** 0 when there is nothing to divide by. */
export const ratio = (part = 0, whole = 0): number => (whole === 0 ? 0 : part / whole);
export const percent = (part = 0, whole = 0): number => ratio(part, whole) * 100;
