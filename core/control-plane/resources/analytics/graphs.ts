// Graphs: a summary of the time, and a point for each bucket. What each figure is stands in the README, under Analytics.

import type { LogMeasure } from '@gateway/plugin-sdk';
import { object } from '../../../storage/schema-parts.js';
import { Type, type Properties, type TSchema } from '../../../storage/type.js';
import { operation, type Operation, type Reply } from '../../define-resource.js';
import { time, timeText } from '../../envelope.js';
import { analyticsFields, percent, Question, ratio } from './question.js';

type Figures = Readonly<Record<string, number>>;

const number = (): TSchema<number> => Type.Number();
const numbers = (...names: readonly string[]): Properties => Object.fromEntries(names.map((name) => [name, number()]));

interface GraphParts {
  readonly summary: Reply;
  readonly points: readonly Reply[];
}

function graph(path: string, aliases: readonly string[], schemas: { readonly summary: Properties; readonly point: Properties }, draw: (question: Question) => Promise<GraphParts>): Operation {
  return operation({
    method: 'GET', path: `/analytics/graphs/${path}`, aliases: aliases.map((alias) => `/analytics/graphs/${alias}`), scope: 'analytics.view', query: object(analyticsFields),
    reply: object({ summary: object(schemas.summary), data_points: Type.Array(object(schemas.point)), object: Type.Literal('analytics-graph') }),
    handle: async (context, { query }) => {
      const { summary, points } = await draw(await Question.of(context, query));
      return { summary, data_points: points, object: 'analytics-graph' };
    },
  });
}

/** The same figures for the whole time and for each bucket, made of measures. */
function series<M extends LogMeasure>(path: string, aliases: readonly string[], names: { readonly summary: readonly string[]; readonly point: readonly string[] }, measures: readonly M[], figures: (of: Readonly<Record<M, number>>) => Figures, of: 'records' | 'feedback' = 'records'): Operation {
  const named = (values: readonly number[]): Figures =>
    // Each measure has its value.
    figures(Object.fromEntries(measures.map((name, index) => [name, values[index] ?? 0])) as Record<M, number>);
  const pick = (all: Figures, wanted: readonly string[]): Figures => Object.fromEntries(wanted.map((name) => [name, all[name] ?? 0]));
  return graph(path, aliases, { summary: numbers(...names.summary), point: { timestamp: timeText(), ...numbers(...names.point) } }, async (question) => {
    const [total, buckets] = await Promise.all([question.total(measures, of), question.series(measures, of)]);
    return { summary: pick(named(total), names.summary), points: buckets.map(({ bucketMs, values }) => ({ timestamp: time(bucketMs), ...pick(named(values), names.point) })) };
  });
}

const alike = (...names: readonly string[]) => ({ summary: names, point: names });

export const graphs: Readonly<Record<string, Operation>> = {
  requests: series('requests', [], alike('total'), ['count'], ({ count }) => ({ total: count })),
  cost: series('cost', [], alike('total', 'avg'), ['cost', 'count'], ({ cost, count }) => ({ total: cost, avg: ratio(cost, count) })),
  latency: series('latency', [], alike('avg', 'p50', 'p90', 'p99'), ['tookMsSum', 'count', 'tookMsP50', 'tookMsP90', 'tookMsP99'], (of) => ({ avg: ratio(of.tookMsSum, of.count), p50: of.tookMsP50, p90: of.tookMsP90, p99: of.tookMsP99 })),
  tokens: series('tokens', [], alike('total', 'avg'), ['totalTokens', 'count'], ({ totalTokens, count }) => ({ total: totalTokens, avg: ratio(totalTokens, count) })),
  users: series('users', [], alike('total'), ['users'], ({ users }) => ({ total: users })),
  usersRequests: series('users/requests', ['users-requests'], { summary: ['total', 'unique', 'avg'], point: ['avg'] }, ['userRequests', 'users'], ({ userRequests, users }) => ({ total: userRequests, unique: users, avg: ratio(userRequests, users) })),
  errors: series('errors', [], alike('total'), ['errors'], ({ errors }) => ({ total: errors })),
  errorsRate: series('errors/rate', ['errors-rate'], alike('rate'), ['errors', 'count'], ({ errors, count }) => ({ rate: percent(errors, count) })),
  errorsStacks: graph('errors/stacks', ['errors-stack', 'errors-stacks'], {
    summary: numbers('total'), point: { timestamp: timeText(), stats: Type.Array(object({ response_status_code: Type.Integer(), count: Type.Integer() })) },
  }, async (question) => {
    const [[total = 0], buckets] = await Promise.all([question.total(['errors']), question.grouped({ groupBy: 'status', measures: ['errors'] })]);
    return { summary: { total }, points: buckets.map(({ bucketMs, rows }) => ({ timestamp: time(bucketMs), stats: statusCounts(rows).map(({ status, count }) => ({ response_status_code: status, count })) })) };
  }),
  errorsStatusCodes: graph('errors/status-codes', ['errors-status-code', 'errors-status-codes'], {
    summary: numbers('total_errors', 'unique_error_codes'), point: { status_code: Type.Integer(), count: Type.Integer() },
  }, async (question) => {
    const counts = statusCounts((await question.ask({ bucket: null, groupBy: 'status', measures: ['errors'] })).rows);
    return { summary: { total_errors: counts.reduce((sum, { count }) => sum + count, 0), unique_error_codes: counts.length }, points: counts.map(({ status, count }) => ({ status_code: status, count })) };
  }),
  requestsRescued: graph('requests/rescued', ['requests-rescued'], {
    summary: numbers('retry', 'fallback'), point: { timestamp: timeText(), retry: Type.Array(object({ retry_success_count: Type.Integer(), count: Type.Integer() })), fallback: Type.Integer() },
  }, async (question) => {
    const [[retry = 0, fallback = 0], buckets] = await Promise.all([question.total(['rescuedByRetry', 'rescuedByFallback']), question.grouped({ groupBy: 'retries', measures: ['rescuedByRetry', 'rescuedByFallback'] })]);
    return {
      summary: { retry, fallback },
      points: buckets.map(({ bucketMs, rows }) => ({
        timestamp: time(bucketMs),
        retry: rows.flatMap(({ group, values: [count = 0] }) => (count === 0 ? [] : [{ retry_success_count: Number(group), count }])).sort((left, right) => left.retry_success_count - right.retry_success_count),
        fallback: rows.reduce((sum, { values }) => sum + (values[1] ?? 0), 0),
      })),
    };
  }),
  cacheHitRate: graph('cache/hit-rate', ['cache-hit-rate'], {
    summary: numbers('total', 'rate'), point: { timestamp: timeText(), ...numbers('simple_hits', 'semantic_hits', 'rate', 'cumulative_simple_cache_savings', 'cumulative_semantic_cache_savings') },
  }, async (question) => {
    const [[total = 0, requests], buckets] = await Promise.all([question.total(['cacheHits', 'count']), question.series(['simpleHits', 'semanticHits', 'count', 'simpleSaved', 'semanticSaved'])]);
    let [savedBySimple, savedBySemantic] = [0, 0];
    return {
      summary: { total, rate: percent(total, requests) },
      points: buckets.map(({ bucketMs, values: [simple = 0, semantic = 0, count, simpleSaved = 0, semanticSaved = 0] }) => ({
        timestamp: time(bucketMs), simple_hits: simple, semantic_hits: semantic, rate: percent(simple + semantic, count),
        cumulative_simple_cache_savings: savedBySimple += simpleSaved, cumulative_semantic_cache_savings: savedBySemantic += semanticSaved,
      })),
    };
  }),
  cacheLatency: series('cache/latency', ['cache-latency'], alike('avg'), ['hitTookMsSum', 'cacheHits'], ({ hitTookMsSum, cacheHits }) => ({ avg: ratio(hitTookMsSum, cacheHits) })),
  feedbacks: series('feedbacks', [], alike('total'), ['count'], ({ count }) => ({ total: count }), 'feedback'),
  feedbacksScores: graph('feedbacks/scores', ['feedbacks/score', 'feedbacks-scores'], { summary: numbers('total'), point: { score: Type.Integer(), total: Type.Integer() } }, async (question) => {
    const { rows } = await question.ask({ bucket: null, groupBy: 'feedbackValue', measures: ['count'], of: 'feedback' });
    const points = rows.map(({ group, values: [total = 0] }) => ({ score: Number(group), total })).sort((left, right) => left.score - right.score);
    return { summary: { total: points.reduce((sum, { total }) => sum + total, 0) }, points };
  }),
  feedbacksWeighted: series('feedbacks/weighted', ['feedbacks-weighted'], alike('avg'), ['weightedFeedbackSum', 'count'], ({ weightedFeedbackSum, count }) => ({ avg: ratio(weightedFeedbackSum, count) }), 'feedback'),
  feedbacksAiModels: graph('feedbacks/ai-models', ['feedbacks-ai-models'], { summary: {}, point: { ai_model: Type.String(), ...numbers('total', 'avg_weighted_feedback') } }, async (question) => {
    const { rows } = await question.ask({ bucket: null, groupBy: 'model', measures: ['count', 'weightedFeedbackSum'], of: 'feedback' });
    // Of traces without a record, and of calls without a model.
    const named = rows.filter(({ group }) => group !== '');
    const points = named.map(({ group, values: [total = 0, sum] }) => ({ ai_model: group, total, avg_weighted_feedback: ratio(sum, total) }));
    return { summary: {}, points: points.sort((left, right) => right.total - left.total || (left.ai_model < right.ai_model ? -1 : 1)) };
  }),
  summaryCache: operation({
    method: 'GET', path: '/analytics/summary/cache', aliases: ['/analytics/summary-cache'], scope: 'analytics.view', query: object(analyticsFields),
    reply: object({ summary: object(numbers('hits', 'avg_latency', 'total_requests', 'cache_speedup')), object: Type.Literal('analytics-summary') }),
    handle: async (context, { query }) => {
      const [hits = 0, hitMs = 0, requests = 0, allMs = 0] = await (await Question.of(context, query)).total(['cacheHits', 'hitTookMsSum', 'count', 'tookMsSum']);
      const others = ratio(allMs - hitMs, requests - hits);
      const average = ratio(hitMs, hits);
      return { summary: { hits, avg_latency: average, total_requests: requests, cache_speedup: hits === 0 ? 0 : percent(others - average, others) }, object: 'analytics-summary' };
    },
  }),
};

const statusCounts = (rows: readonly { readonly group: string; readonly values: readonly number[] }[]): readonly { readonly status: number; readonly count: number }[] =>
  rows.flatMap(({ group, values: [count = 0] }) => (count === 0 ? [] : [{ status: Number(group), count }])).sort((left, right) => left.status - right.status);
