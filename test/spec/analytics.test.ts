// Every figure of analytics against a recomputation from the exported log: 10,000 generated calls in the store, some in blocks and some in rows.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Feedback, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { analyticsResource } from '../../core/control-plane/resources/analytics/resource.js';
import { startControl } from '../support/control.js';
import { startLogs } from '../support/logs.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A Wednesday. */
const endMs = Date.UTC(2030, 0, 16, 12, 30);
const seed = 20_300_116;

let state = seed;
/** mulberry32. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const one = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

const host = fakeHost({ nowMs: endMs - dayMs });
const logs = await startLogs(host);
const control = await startControl({ logReader: logs.reader });
control.clock.nowMs = endMs;
const { organisationId, workspaceId } = await control.callerOf('control-test-api-key-1');
/** One config is a stored row, the others are gone: clients know it by its slug, records by its id. */
const stored = Object(await control.call('POST', '/v1/configs', { name: 'Stored', config: { provider: 'openai', api_key: 'sk-of-a-test-000001' }, workspace_id: workspaceId })).body as { readonly id: string; readonly slug: string };

function call(index: number): Partial<LogRecord> {
  const cacheStatus = one('MISS', 'MISS', 'DISABLED', 'HIT', 'SEMANTIC HIT', 'SHARED');
  const user = one('', `user-${Math.floor(random() * 60)}`);
  // Half of them in the last hour, most of the others in the last days.
  const agoMs = random() * one(hourMs, hourMs, 40 * hourMs, 6 * dayMs, 150 * dayMs);
  return {
    id: `call-${index}`, traceId: `trace-${Math.floor(index / 2)}`, spanId: `span-${index}`, organisationId, workspaceId: random() < 0.95 ? workspaceId : 'another', startedAtMs: Math.floor(endMs - agoMs), tookMs: Math.round(random() * 5e6) / 1000,
    status: one(200, 200, 200, 200, 200, 246, 400, 429, 500, 503), provider: one('openai', 'anthropic', 'cohere'), model: one('a', 'b', 'c', 'd'), providerSlug: one('', 'main', 'spare'), configId: one('', stored.id, 'config-2'),
    keyId: one('key-1', 'key-2'), promptSlug: one('', 'prompt'), cacheStatus, saved: cacheStatus === 'HIT' || cacheStatus === 'SEMANTIC HIT' ? random() : 0, cost: one(-1, 0, Math.round(random() * 1e6) / 1e6), totalTokens: one(-1, Math.floor(random() * 4000)),
    inputTokens: Math.floor(random() * 3000), outputTokens: one(-1, Math.floor(random() * 1000)), retries: one(0, 0, 0, 0, 1, 2, 5), targetIndex: one(0, 0, 0, 1), isFinal: random() < 0.92, metadata: JSON.stringify({ ...(user === '' ? {} : { _user: user }), team: one('red', 'green') }),
  };
}

const generated = new Map<string, Partial<LogRecord>>();
for (let from = 0; from < 10_000; from += 250) {
  const calls = Array.from({ length: 250 }, (_, index) => call(from + index));
  for (const each of calls) generated.set(each.id ?? '', each);
  await logs.add(...calls);
  host.advance(10_000);
}
host.advance(5_000);
await host.runEvery();
const feedback = Array.from({ length: 400 }, (_, index): Feedback => ({
  id: `feedback-${index}`, organisationId, workspaceId: one(workspaceId, workspaceId, 'another'), traceId: `trace-${Math.floor(random() * 5100)}`, value: Math.floor(random() * 21) - 10, weight: Math.round(random() * 10) / 10, metadata: '',
  createdAtMs: Math.floor(endMs - random() * one(hourMs, 30 * hourMs, 100 * dayMs)),
}));
await logs.reader.addFeedback(feedback);

/** The exported log. */
const exported: LogRecord[] = [];
for await (const page of logs.reader.export({ scope: { organisationId, workspaceIds: null }, records: 'all' }, new AbortController().signal)) exported.push(...page);

// The definitions, once more and as plainly as can be.
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const over = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const known = (value: number): number => (value < 0 ? 0 : value);
const rank = (values: readonly number[], share: number): number => [...values].sort((left, right) => left - right)[Math.ceil(values.length * share) - 1] ?? 0;
const userOf = ({ metadata }: LogRecord): string => String(JSON.parse(metadata)._user ?? '');
const teamOf = ({ metadata }: LogRecord): string => String(JSON.parse(metadata).team ?? '');
const succeeded = ({ status }: LogRecord): boolean => status >= 200 && status < 400;
const isHit = ({ cacheStatus }: LogRecord): boolean => cacheStatus === 'HIT' || cacheStatus === 'SEMANTIC HIT';
const unique = (values: readonly string[]): number => new Set(values).size;
function grouped<T, K>(values: readonly T[], of: (value: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = of(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
const countBy = <T>(values: readonly T[]): readonly (readonly [T, number])[] => [...grouped(values, (value) => value)].map(([value, { length }]) => [value, length] as const);
const weightOf = (items: readonly Feedback[]): number => sum(items.map(({ value, weight }) => value * weight));

interface Range {
  readonly name: string;
  readonly fromMs: number;
  readonly widthMs: number;
}
const ranges: readonly Range[] = [
  { name: 'an hour', fromMs: endMs - hourMs, widthMs: minuteMs }, { name: 'two days', fromMs: endMs - 2 * dayMs, widthMs: hourMs }, { name: 'a week', fromMs: endMs - 7 * dayMs, widthMs: dayMs }, { name: 'half a year', fromMs: endMs - 180 * dayMs, widthMs: 7 * dayMs },
];
/** Weeks begin on Mondays, and the epoch began on a Thursday. */
const beginOf = (atMs: number, widthMs: number): number => (widthMs === 7 * dayMs ? Math.floor((atMs - 4 * dayMs) / widthMs) * widthMs + 4 * dayMs : Math.floor(atMs / widthMs) * widthMs);

/** `total` and every point, computed from the records of each bucket. */
type Plain = (records: readonly LogRecord[], items: readonly Feedback[]) => Readonly<Record<string, unknown>>;
interface Drawn {
  readonly summary: Plain;
  readonly point: Plain;
}
const both = (plain: Plain): Drawn => ({ summary: plain, point: plain });
const errorsOf = (records: readonly LogRecord[]): readonly LogRecord[] => records.filter(({ status }) => status >= 400);
const rescued = (records: readonly LogRecord[]) => ({ retry: records.filter((each) => succeeded(each) && each.retries > 0), fallback: records.filter((each) => succeeded(each) && each.targetIndex > 0).length });

const bySeries: Readonly<Record<string, Drawn>> = {
  requests: both((records) => ({ total: records.length })),
  cost: both((records) => ({ total: sum(records.map(({ cost }) => known(cost))), avg: over(sum(records.map(({ cost }) => known(cost))), records.length) })),
  latency: both((records) => {
    const times = records.map(({ tookMs }) => tookMs);
    return { avg: over(sum(times), times.length), p50: rank(times, 0.5), p90: rank(times, 0.9), p99: rank(times, 0.99) };
  }),
  tokens: both((records) => ({ total: sum(records.map(({ totalTokens }) => known(totalTokens))), avg: over(sum(records.map(({ totalTokens }) => known(totalTokens))), records.length) })),
  users: both((records) => ({ total: unique(records.map(userOf).filter((user) => user !== '')) })),
  'users/requests': {
    summary: (records) => {
      const users = records.map(userOf).filter((user) => user !== '');
      return { total: users.length, unique: unique(users), avg: over(users.length, unique(users)) };
    },
    point: (records) => {
      const users = records.map(userOf).filter((user) => user !== '');
      return { avg: over(users.length, unique(users)) };
    },
  },
  errors: both((records) => ({ total: errorsOf(records).length })),
  'errors/rate': both((records) => ({ rate: 100 * over(errorsOf(records).length, records.length) })),
  'errors/stacks': {
    summary: (records) => ({ total: errorsOf(records).length }),
    point: (records) => ({ stats: countBy(errorsOf(records).map(({ status }) => status)).map(([status, count]) => ({ response_status_code: status, count })).sort((left, right) => left.response_status_code - right.response_status_code) }),
  },
  'requests/rescued': {
    summary: (records) => ({ retry: rescued(records).retry.length, fallback: rescued(records).fallback }),
    point: (records) => ({ retry: countBy(rescued(records).retry.map(({ retries }) => retries)).map(([retries, count]) => ({ retry_success_count: retries, count })).sort((left, right) => left.retry_success_count - right.retry_success_count), fallback: rescued(records).fallback }),
  },
  'cache/latency': both((records) => ({ avg: over(sum(records.filter(isHit).map(({ tookMs }) => tookMs)), records.filter(isHit).length) })),
  feedbacks: both((_, items) => ({ total: items.length })),
  'feedbacks/weighted': both((_, items) => ({ avg: over(weightOf(items), items.length) })),
};

/** Equal, but for the last digits of sums that were added up in another order. */
function same(found: unknown, wanted: unknown, where: string): void {
  if (typeof found === 'number' && typeof wanted === 'number') assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)), `${where}: ${found}, and ${wanted} by the log`);
  else if (typeof found === 'object' && found !== null && typeof wanted === 'object' && wanted !== null) {
    assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort(), where);
    for (const [name, value] of Object.entries(found)) same(value, Object.entries(wanted).find(([each]) => each === name)?.[1], `${where}.${name}`);
  } else assert.deepEqual(found, wanted, where);
}

const queryOf = ({ fromMs }: Range, more = ''): string => `workspace_slug=${workspaceId}&time_of_generation_min=${new Date(fromMs).toISOString()}&time_of_generation_max=${new Date(endMs).toISOString()}${more}`;
const asked = new Set<string>();
async function ask(path: string, range: Range, more = ''): Promise<Record<string, any>> {
  asked.add(path);
  const { status, body } = await control.call('GET', `/v1/analytics/${path}?${queryOf(range, more)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
const inRange = ({ fromMs }: Range): readonly LogRecord[] => exported.filter((record) => record.isFinal && record.workspaceId === workspaceId && record.startedAtMs >= fromMs && record.startedAtMs <= endMs);
const itemsIn = ({ fromMs }: Range): readonly Feedback[] => feedback.filter((item) => item.workspaceId === workspaceId && item.createdAtMs >= fromMs && item.createdAtMs <= endMs);
function beginnings({ fromMs, widthMs }: Range): number[] {
  const all: number[] = [];
  for (let at = beginOf(fromMs, widthMs); at <= endMs; at += widthMs) all.push(at);
  return all;
}

describe(`analytics of 10,000 calls, by the exported log (seed ${seed})`, () => {
  it('has them all, in blocks and in rows', async () => {
    assert.deepEqual([exported.length, unique(exported.map(({ id }) => id))], [10_000, 10_000]);
    assert.ok((host.counts.get('blocks') ?? 0) > 0);
    // What was exported is what was called: figures that agree with each other could both be of a log that lost something.
    for (const record of exported) {
      const made = generated.get(record.id) ?? assert.fail(record.id);
      assert.deepEqual(Object.fromEntries(Object.keys(made).map((name) => [name, Reflect.get(record, name)])), made);
    }
  });

  for (const [path, { summary, point }] of Object.entries(bySeries)) {
    it(`graphs/${path}`, async () => {
      for (const range of ranges) {
        const [records, items] = [inRange(range), itemsIn(range)];
        const body = await ask(`graphs/${path}`, range);
        same(body.summary, summary(records, items), `${range.name} summary`);
        const [byBucket, itemsByBucket] = [grouped(records, ({ startedAtMs }) => beginOf(startedAtMs, range.widthMs)), grouped(items, ({ createdAtMs }) => beginOf(createdAtMs, range.widthMs))];
        same(body.data_points, beginnings(range).map((at) => ({ timestamp: new Date(at).toISOString(), ...point(byBucket.get(at) ?? [], itemsByBucket.get(at) ?? []) })), range.name);
      }
    });
  }

  it('graphs/cache/hit-rate, with savings that add up', async () => {
    for (const range of ranges) {
      const records = inRange(range);
      const body = await ask('graphs/cache/hit-rate', range);
      same(body.summary, { total: records.filter(isHit).length, rate: 100 * over(records.filter(isHit).length, records.length) }, range.name);
      const savedUntil = (at: number, status: string): number => sum(records.filter((each) => each.cacheStatus === status && beginOf(each.startedAtMs, range.widthMs) <= at).map(({ saved }) => saved));
      same(body.data_points, beginnings(range).map((at) => {
        const of = records.filter(({ startedAtMs }) => beginOf(startedAtMs, range.widthMs) === at);
        const count = (status: string): number => of.filter(({ cacheStatus }) => cacheStatus === status).length;
        return {
          timestamp: new Date(at).toISOString(), simple_hits: count('HIT'), semantic_hits: count('SEMANTIC HIT'), rate: 100 * over(of.filter(isHit).length, of.length),
          cumulative_simple_cache_savings: savedUntil(at, 'HIT'), cumulative_semantic_cache_savings: savedUntil(at, 'SEMANTIC HIT'),
        };
      }), range.name);
    }
  });

  it('graphs/errors/status-codes, graphs/feedbacks/scores, graphs/feedbacks/ai-models and summary/cache', async () => {
    for (const range of ranges) {
      const [records, items] = [inRange(range), itemsIn(range)];
      const codes = countBy(errorsOf(records).map(({ status }) => status)).toSorted(([left], [right]) => left - right);
      same(await ask('graphs/errors/status-codes', range), {
        summary: { total_errors: errorsOf(records).length, unique_error_codes: codes.length }, data_points: codes.map(([status, count]) => ({ status_code: status, count })), object: 'analytics-graph',
      }, range.name);
      const scores = countBy(items.map(({ value }) => value)).toSorted(([left], [right]) => left - right);
      same(await ask('graphs/feedbacks/scores', range), { summary: { total: items.length }, data_points: scores.map(([score, total]) => ({ score, total })), object: 'analytics-graph' }, range.name);
      const ofWorkspace = exported.filter((record) => record.isFinal && record.workspaceId === workspaceId);
      const modelOf = ({ traceId }: Feedback): string => ofWorkspace.filter((record) => record.traceId === traceId).sort((left, right) => right.startedAtMs - left.startedAtMs || (left.id < right.id ? 1 : -1))[0]?.model ?? '';
      const models = [...grouped(items, modelOf)].map(([model, of]) => ({ ai_model: model, total: of.length, avg_weighted_feedback: over(weightOf(of), of.length) }));
      same((await ask('graphs/feedbacks/ai-models', range)).data_points, models.filter(({ ai_model }) => ai_model !== '').sort((left, right) => right.total - left.total || (left.ai_model < right.ai_model ? -1 : 1)), range.name);
      const [hits, others] = [records.filter(isHit), records.filter((each) => !isHit(each))];
      const [fast, slow] = [hits, others].map((of) => over(sum(of.map(({ tookMs }) => tookMs)), of.length)) as [number, number];
      same((await ask('summary/cache', range)).summary, { hits: hits.length, avg_latency: fast, total_requests: records.length, cache_speedup: 100 * (slow - fast) / slow }, range.name);
    }
  });

  it('groups, with every column', async () => {
    const range = ranges[3] as Range;
    const records = inRange(range);
    const named = (of: (record: LogRecord) => string): readonly (readonly [string, readonly LogRecord[]])[] =>
      [...grouped(records, of)].toSorted(([left, first], [right, second]) => second.length - first.length || (left < right ? -1 : 1));
    const users = named(userOf).filter(([user]) => user !== '');
    const page = await ask('groups/users', range, '&page_size=7&current_page=2');
    same([page.total, page.data.map(({ user, requests }: Record<string, unknown>) => [user, requests])], [users.length, users.slice(14, 21).map(([user, { length }]) => [user, String(length)])], 'users');
    same(page.data.map(({ cost }: Record<string, unknown>) => Number(cost)), users.slice(14, 21).map(([, of]) => sum(of.map(({ cost }) => known(cost)))), 'cost of users');
    same((await ask('groups/ai-models', range)).data, named(({ model }) => model).map(([model, { length }]) => ({ ai_model: model, requests: String(length), object: 'analytics-group' })), 'ai-models');
    const itemsOf = ({ traceId }: LogRecord): readonly Feedback[] => feedback.filter((item) => item.workspaceId === workspaceId && item.traceId === traceId);
    same((await ask('groups/metadata/team', range)).data, named(teamOf).map(([team, of]) => ({
      metadata_value: team, requests: of.length, cost: sum(of.map(({ cost }) => known(cost))), avg_tokens: over(sum(of.map(({ totalTokens }) => known(totalTokens))), of.length),
      avg_weighted_feedback: over(weightOf(of.flatMap(itemsOf)), of.flatMap(itemsOf).length), requests_with_feedback: of.filter((each) => itemsOf(each).length > 0).length,
      last_seen: new Date(Math.max(...of.map(({ startedAtMs }) => startedAtMs))).toISOString(), object: 'analytics-group',
    })), 'metadata');
    const groupings: Readonly<Record<string, (record: LogRecord) => string | number>> = {
      ai_service: ({ provider }) => provider, model: ({ model }) => model, status_code: ({ status }) => status, api_key: ({ keyId }) => keyId, config: ({ configId }) => (configId === stored.id ? stored.slug : configId), provider: ({ providerSlug }) => providerSlug, prompt: ({ promptSlug }) => promptSlug,
    };
    const columns = 'cost,total_tokens,avg_tokens,avg_input_tokens,avg_output_tokens,avg_latency,p95_latency,p99_latency,success_rate,error_count,cache_hit_rate,last_seen,first_seen';
    for (const [groupBy, of] of Object.entries(groupings)) {
      const { data } = await ask(`groups/${groupBy}`, range, `&columns=${columns}`);
      same(data, [...grouped(records, of)].toSorted(([left, first], [right, second]) => second.length - first.length || (String(left) < String(right) ? -1 : 1)).map(([value, group]) => {
        const { length } = group;
        const total = (field: 'totalTokens' | 'inputTokens' | 'outputTokens' | 'cost'): number => sum(group.map((each) => known(each[field])));
        const times = group.map(({ tookMs }) => tookMs);
        return {
          // Calls without one are in no group of a name, and in the totals.
          [groupBy]: value === '' ? null : value, requests: length, cost: total('cost'), total_tokens: total('totalTokens'), avg_tokens: total('totalTokens') / length, avg_input_tokens: total('inputTokens') / length, avg_output_tokens: total('outputTokens') / length,
          avg_latency: sum(times) / length, p95_latency: rank(times, 0.95), p99_latency: rank(times, 0.99), success_rate: 100 * group.filter(succeeded).length / length, error_count: errorsOf(group).length, cache_hit_rate: 100 * group.filter(isHit).length / length,
          last_seen: new Date(Math.max(...group.map(({ startedAtMs }) => startedAtMs))).toISOString(), first_seen: new Date(Math.min(...group.map(({ startedAtMs }) => startedAtMs))).toISOString(), object: 'analytics-group',
        };
      }), groupBy);
    }
    same((await control.call('GET', `/v1/logs/groups/model?${queryOf(range, '&order_by=p95_latency&order=asc&page_size=2')}`)).body.data, (await ask('groups/model', range, '&columns=p95_latency')).data
      .toSorted((left: Record<string, number>, right: Record<string, number>) => (left.p95_latency ?? 0) - (right.p95_latency ?? 0)).slice(0, 2).map(({ p95_latency: _, ...row }: Record<string, unknown>) => row), 'order');
  });

  const means = new Map([...grouped(feedback.filter((item) => item.workspaceId === workspaceId), ({ traceId }) => traceId)].map(([traceId, of]) => [traceId, weightOf(of) / of.length]));
  const meanOf = ({ traceId }: LogRecord): number => means.get(traceId) ?? NaN;
  const filters: Readonly<Record<string, (record: LogRecord) => boolean>> = {
    'total_units_min=1000': ({ totalTokens }) => totalTokens >= 1000, 'total_units_max=1000': ({ totalTokens }) => totalTokens <= 1000, 'total_units_min=500&total_units_max=700': ({ totalTokens }) => totalTokens >= 500 && totalTokens <= 700,
    'cost_min=0.25': ({ cost }) => cost >= 0.25, 'cost_max=0.5': ({ cost }) => cost <= 0.5, 'prompt_token_min=1500': ({ inputTokens }) => inputTokens >= 1500, 'prompt_token_max=1500': ({ inputTokens }) => inputTokens <= 1500,
    'completion_token_min=300': ({ outputTokens }) => outputTokens >= 300, 'completion_token_max=300': ({ outputTokens }) => outputTokens <= 300, 'status_code=429,503': ({ status }) => status === 429 || status === 503,
    'weighted_feedback_min=0.5': (record) => meanOf(record) >= 0.5, 'weighted_feedback_max=-1': (record) => meanOf(record) <= -1, 'virtual_keys=main': ({ providerSlug }) => providerSlug === 'main',
    'virtual_keys=%40main,spare': ({ providerSlug }) => providerSlug !== '', 'configs=config-2': ({ configId }) => configId === 'config-2', [`configs=${stored.slug}`]: ({ configId }) => configId === stored.id,
    [`configs=${stored.id},config-2`]: ({ configId }) => configId !== '', 'api_key_ids=key-2': ({ keyId }) => keyId === 'key-2', 'prompt_slug=prompt': ({ promptSlug }) => promptSlug === 'prompt',
    'trace_id=trace-7,trace-1200': ({ traceId }) => traceId === 'trace-7' || traceId === 'trace-1200', 'span_id=span-14,span-2400': ({ spanId }) => spanId === 'span-14' || spanId === 'span-2400',
    [`metadata=${encodeURIComponent('{"team":"red"}')}`]: (record) => teamOf(record) === 'red', [`metadata=${encodeURIComponent('{"team":"green","_user":"user-3"}')}`]: (record) => teamOf(record) === 'green' && userOf(record) === 'user-3',
    'ai_org_model=openai__a,cohere__d': ({ provider, model }) => (provider === 'openai' && model === 'a') || (provider === 'cohere' && model === 'd'), 'ai_model=b': ({ model }) => model === 'b', 'ai_org=cohere': ({ provider }) => provider === 'cohere',
    'status_code=500&ai_model=a,b&cost_min=0.1': ({ status, model, cost }) => status === 500 && (model === 'a' || model === 'b') && cost >= 0.1,
  };

  it('filters by each member of a query, and by several', async () => {
    const range = ranges[3] as Range;
    const records = inRange(range);
    const items = itemsIn(range);
    for (const [query, isKept] of Object.entries(filters)) {
      const kept = records.filter(isKept);
      assert.ok(kept.length > 0 && kept.length < records.length, `${query} tells nothing apart: ${kept.length} of ${records.length}`);
      const more = `&${query}`;
      same((await ask('graphs/cost', range, more)).summary, bySeries.cost?.summary(kept, []), query);
      const byBucket = grouped(kept, ({ startedAtMs }) => beginOf(startedAtMs, range.widthMs));
      same((await ask('graphs/latency', range, more)).data_points, beginnings(range).map((at) => ({ timestamp: new Date(at).toISOString(), ...bySeries.latency?.point(byBucket.get(at) ?? [], []) })), query);
      same((await ask('groups/model', range, more)).data.map((row: Record<string, unknown>) => [row.model, row.requests]).sort(), countBy(kept.map(({ model }) => model)).toSorted().map(([model, count]) => [model, count]), query);
      const users = kept.map(userOf).filter((user) => user !== '');
      assert.equal((await ask('groups/users', range, `${more}&page_size=1`)).total, unique(users), query);
      // Of feedback: on a trace that has such a call, whenever it was.
      const traces = new Set(exported.filter((record) => record.isFinal && record.workspaceId === workspaceId && isKept(record)).map(({ traceId }) => traceId));
      same((await ask('graphs/feedbacks/weighted', range, more)).summary, bySeries['feedbacks/weighted']?.summary([], items.filter(({ traceId }) => traces.has(traceId))), query);
    }
    const named = new Set(Object.keys(filters).flatMap((query) => [...new URLSearchParams(query).keys()]));
    const schema = Object(analyticsResource.operations.requests?.query).properties as Readonly<Record<string, unknown>>;
    assert.deepEqual(Object.keys(schema).filter((name) => !named.has(name) && !['time_of_generation_min', 'time_of_generation_max', 'workspace_slug'].includes(name)), []);
  });

  it('has held every operation against the log', () => {
    const held = [...asked].map((path) => path.replace(/^groups\/metadata\/.*$/, 'groups/metadata/{metadataKey}').replace(/^groups\/(?!users$|ai-models$|metadata\/).*$/, 'groups/{groupBy}'));
    assert.deepEqual([...new Set(held)].sort(), Object.values(analyticsResource.operations).map(({ path }) => path.replace(/^\/analytics\//, '')).sort());
    assert.equal(new Set(held).size, 22);
  });

  it('takes the names that clients of the Node package call', async () => {
    const range = ranges[0] as Range;
    const names = { 'users-requests': 'users/requests', 'errors-rate': 'errors/rate', 'errors-stack': 'errors/stacks', 'errors-status-code': 'errors/status-codes', 'requests-rescued': 'requests/rescued', 'cache-hit-rate': 'cache/hit-rate', 'cache-latency': 'cache/latency', 'feedbacks/score': 'feedbacks/scores' };
    for (const [other, path] of Object.entries(names)) assert.deepEqual(await ask(`graphs/${other}`, range), await ask(`graphs/${path}`, range));
  });

  it('shows keys of a workspace their own, and asks keys of the organisation which', async () => {
    const range = ranges[3] as Range;
    const times = queryOf(range).replace(/^workspace_slug=[^&]*&/, '');
    const own = await control.call('GET', `/v1/analytics/graphs/requests?${times}`, undefined, { as: 'control-test-api-key-1' });
    assert.equal(Object(own.body.summary).total, inRange(range).length);
    const refused = await control.call('GET', `/v1/analytics/graphs/requests?${times}`);
    assert.deepEqual([refused.status, Object(refused.body.error).param], [400, 'workspace_slug']);
    const all = await control.call('GET', `/v1/analytics/groups/workspace?${times}`);
    const counts: Record<string, number> = Object.fromEntries([...grouped(exported.filter(({ isFinal, startedAtMs }) => isFinal && startedAtMs >= range.fromMs), ({ workspaceId: of }) => of)].map(([of, { length }]) => [of, length]));
    assert.deepEqual([all.status, (all.body.data as readonly { readonly requests: number }[]).map(({ requests }) => requests)], [200, [counts[workspaceId], counts.another]]);
    const unknown = await control.call('GET', `/v1/analytics/groups/nothing?${queryOf(range)}`);
    assert.deepEqual([unknown.status, Object(unknown.body.error).param], [400, 'groupBy']);
    const long = await control.call('GET', `/v1/analytics/graphs/requests?workspace_slug=${workspaceId}&time_of_generation_min=1970-01-01T00:00:00Z&time_of_generation_max=2030-01-01T00:00:00Z`);
    assert.deepEqual([long.status, Object(long.body.error).param], [400, 'time_of_generation_max']);
  });
});
