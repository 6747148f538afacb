import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Exporter, LogRecord, ProcessFigures, ThreadFigures } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleFigures, sampleLogRecord } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const params = { modelsMax: 500 };
const thread = (changes: Partial<ThreadFigures> = {}): ThreadFigures =>
  ({ name: 'serve-0', isAnswering: true, counts: {}, openCalls: 2, loopDelay: { p50: 1, p99: 20, max: 250 }, busyMs: 1500, heapBytes: 1000, broken: [], ...changes });
const broken = (slot: number, provider: string, state: 'open' | 'probing' = 'open'): ThreadFigures['broken'][number] => ({ slot, provider, state });
const figures = (changes: Partial<ProcessFigures> = {}): ProcessFigures => sampleFigures({ threads: [thread()], breakers: { closed: 3, open: 1, probing: 0 }, ...changes });

/** Name with labels -> value. Fails on a line that the text format does not know, a series that comes twice, and one without a type. */
function read(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const types = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, name = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) \S/.exec(line) ?? [];
    if (kind !== undefined) {
      if (kind === 'TYPE') types.add(name);
      continue;
    }
    const match = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*\})? (-?[\d.e+-]+|\+Inf|NaN)$/.exec(line);
    assert.ok(match !== null, `not the text format: ${line}`);
    const series = `${match[1]}${match[2] ?? ''}`;
    assert.ok(types.has((match[1] ?? '').replace(/_(?:bucket|sum|count)$/, '')) || types.has(match[1] ?? ''), `no type for ${line}`);
    assert.ok(!values.has(series), `twice: ${series}`);
    values.set(series, Number(match[3] === '+Inf' ? Infinity : match[3]));
  }
  return values;
}

async function scrape(exporter: Exporter, told: ProcessFigures = figures()): Promise<Map<string, number>> {
  const answer = await exporter.scrape?.(told);
  assert.match(answer?.contentType ?? '', /^text\/plain; version=0\.0\.4/);
  return read(answer?.text ?? '');
}

async function counted(records: readonly Partial<LogRecord>[], modelsMax = 500): Promise<Map<string, number>> {
  const exporter = await plugin.create({ modelsMax }, fakeHost());
  await exporter.export(records.map((record) => sampleLogRecord(record)), new AbortController().signal);
  return scrape(exporter);
}

conformExporter(plugin, params);

describe('prometheus exporter', () => {
  it('counts rate, errors and duration by provider, model and status', async () => {
    const values = await counted([{}, { tookMs: 700 }, { status: 503, errorCode: 'UPSTREAM_FAILED', ended: 'upstream', firstByteMs: -1 }, { provider: 'a"b\\c\nd', model: 'x' }]);
    assert.equal(values.get('gateway_requests_total{provider="mock",model="mock-1",status="200"}'), 2);
    assert.equal(values.get('gateway_requests_total{provider="mock",model="mock-1",status="503"}'), 1);
    assert.equal(values.get('gateway_requests_total{provider="a\\"b\\\\c\\nd",model="x",status="200"}'), 1);
    assert.equal(values.get('gateway_request_duration_seconds_count{provider="mock",model="mock-1"}'), 3);
    assert.equal(values.get('gateway_request_duration_seconds_bucket{le="0.5",provider="mock",model="mock-1"}'), 2);
    assert.equal(values.get('gateway_first_byte_seconds_count{provider="mock",model="mock-1"}'), 2);
    assert.equal(values.get('gateway_overhead_seconds_bucket{le="0.001",endpoint="chatCompletions"}'), 3);
    assert.equal(values.get('gateway_request_errors_total{code="UPSTREAM_FAILED"}'), 1);
    assert.equal(values.get('gateway_requests_ended_total{ended="upstream"}'), 1);
  });

  it('counts tokens and cost of what was paid for, and what caches saved', async () => {
    const values = await counted([{ cachedTokens: 5, reasoningTokens: 7 }, { cacheStatus: 'HIT', cost: 0, saved: 0.25 }, { cost: -1, inputTokens: -1, outputTokens: -1 }, { cost: 0, isPriced: false }]);
    const of = 'provider="mock",model="mock-1"';
    assert.equal(values.get(`gateway_tokens_total{${of},type="input"}`), 24);
    assert.equal(values.get(`gateway_tokens_total{${of},type="output"}`), 68);
    assert.equal(values.get(`gateway_tokens_total{${of},type="cached"}`), 5);
    assert.equal(values.get(`gateway_tokens_total{${of},type="reasoning"}`), 7);
    assert.equal(values.get(`gateway_cost_usd_total{${of}}`), 0.0025);
    assert.equal(values.get(`gateway_saved_usd_total{${of}}`), 0.0025);
    assert.equal(values.get(`gateway_unpriced_requests_total{${of}}`), 1);
    assert.equal(values.get('gateway_cache_results_total{result="HIT"}'), 1);
  });

  it('counts a target that was left as that, and no request for it, nor for what a client told afterwards', async () => {
    const values = await counted([{ isFinal: false, status: 500, provider: 'first' }, { targetIndex: 1, retries: 2 }, { source: 'insert' }]);
    assert.equal(values.get('gateway_failed_targets_total{provider="first",model="mock-1",status="500"}'), 1);
    assert.equal(values.get('gateway_rescued_requests_total{provider="mock",model="mock-1"}'), 1);
    assert.equal(values.get('gateway_retries_total{provider="mock",model="mock-1"}'), 2);
    assert.deepEqual([...values].filter(([name]) => name.startsWith('gateway_requests_total')), [['gateway_requests_total{provider="mock",model="mock-1",status="200"}', 1]]);
  });

  it('has as many series as it is told, whatever models clients name', async () => {
    const values = await counted(Array.from({ length: 3000 }, (_, index) => ({ model: `made-up-${index}`, status: index % 2 === 0 ? 404 : 200 })), 40);
    const models = new Set([...values.keys()].flatMap((name) => /^gateway_requests_total.*model="([^"]*)"/.exec(name)?.[1] ?? []));
    assert.equal(models.size, 40 + 5 + 1);
    assert.ok(models.has('other'));
    assert.equal(values.get('gateway_series_overflow_total'), 3000 - 45);
    assert.equal(values.get('gateway_requests_total{provider="mock",model="other",status="200"}'), 1500 - 40);
    assert.equal([...values].filter(([name]) => name.startsWith('gateway_requests_total')).reduce((sum, [, count]) => sum + count, 0), 3000, 'none is missing');
  });

  it('ends the series of models that nobody calls any more when others want their room', async () => {
    const host = fakeHost();
    const exporter = await plugin.create({ modelsMax: 1 }, host);
    const seen: (readonly string[])[] = [];
    for (const model of ['made-up', 'real']) {
      const record = { model, retries: 1, targetIndex: 1, firstByteMs: 5, isStream: true, cost: 1, saved: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 1, cacheWriteTokens: 1, reasoningTokens: 1 };
      await exporter.export([sampleLogRecord(record), sampleLogRecord({ ...record, isFinal: false, status: 503 }), sampleLogRecord({ ...record, isPriced: false, totalTokens: 5, cost: 0 })], new AbortController().signal);
      seen.push([...(await scrape(exporter)).keys()].filter((name) => name.includes(`model="${model}"`)).map((name) => name.replaceAll(model, 'M')));
      assert.equal([...(await scrape(exporter)).keys()].some((name) => name.includes('made-up')), model === 'made-up');
      host.advance(3_600_000);
    }
    assert.deepEqual(seen[1], seen[0]);
    for (const name of ['requests', 'failed_targets', 'tokens', 'cost_usd', 'saved_usd', 'unpriced_requests', 'retries', 'rescued_requests']) assert.ok(seen[0]?.some((each) => each.startsWith(`gateway_${name}_total`)), name);
    for (const name of ['request_duration', 'first_byte']) assert.ok(seen[0]?.some((each) => each.startsWith(`gateway_${name}_seconds`)), name);
  });

  it('ends no series before it was told what they counted', async () => {
    const host = fakeHost();
    const exporter = await plugin.create({ modelsMax: 1 }, host);
    const add = async (model: string): Promise<void> => exporter.export([sampleLogRecord({ model })], new AbortController().signal);
    const countsOf = async (...models: readonly string[]): Promise<readonly (number | undefined)[]> => {
      const values = await scrape(exporter);
      return models.map((model) => values.get(`gateway_requests_total{provider="mock",model="${model}",status="200"}`));
    };
    await add('first');
    assert.deepEqual(await countsOf('first'), [1]);
    await add('first');
    host.advance(3_600_000);
    await add('second');
    assert.deepEqual(await countsOf('first', 'second', 'other'), [2, undefined, 1]);
    host.advance(3_600_000);
    await add('second');
    assert.deepEqual(await countsOf('first', 'second', 'other'), [undefined, 1, 1]);
  });

  it('never ends the series of what has no series of its own, though a model has their name', async () => {
    const host = fakeHost();
    const exporter = await plugin.create({ modelsMax: 1 }, host);
    const add = async (model: string): Promise<void> => exporter.export([sampleLogRecord({ model })], new AbortController().signal);
    await add('other');
    await add('second');
    await scrape(exporter);
    host.advance(3_600_000);
    await add('third');
    const values = await scrape(exporter);
    for (const name of ['requests_total', 'request_duration_seconds_count', 'cost_usd_total', 'tokens_total']) {
      const [series = ''] = [...values.keys()].filter((each) => each.startsWith(`gateway_${name}{provider="mock",model="third"`));
      assert.equal(values.get(series.replace('third', 'other')), 2 * (values.get(series) ?? 0), name);
    }
  });

  it('has room for the statuses that mean something, whatever numbers providers answer with', async () => {
    const values = await counted(Array.from({ length: 500 }, (_, index) => ({ status: 599 - index })), 10);
    const statuses = new Set([...values.keys()].flatMap((name) => /^gateway_requests_total.*status="([^"]*)"/.exec(name)?.[1] ?? []));
    assert.ok(statuses.size < 110, String(statuses.size));
    for (const status of ['200', '246', '404', '429', '446', '500', '529', '1xx', '4xx']) assert.ok(statuses.has(status), status);
  });

  it('tells of threads, queues, rings and breakers, and of what they count', async () => {
    const exporter = await plugin.create(params, fakeHost());
    const counts = { 'refused.RATE_LIMITED': 4, 'log.recordsDropped': 2, 'cache.simple.failed': 1 };
    const told = figures({
      threads: [thread({ counts, broken: [broken(1, 'groq'), broken(3, 'openai')] }), thread({ name: 'serve-1', counts: { 'refused.RATE_LIMITED': 3 }, loopDelay: null }), thread({ name: 'log', openCalls: -1, broken: [broken(1, 'groq'), broken(2, 'groq'), broken(7, 'openai', 'probing')] })],
      exporters: [{ name: 'store', waiting: 7, waitingBytes: 900, exported: 100, dropped: 5 }], rings: [{ thread: 'serve-0', waitingBytes: 64, sizeBytes: 1024 }],
    });
    const values = await scrape(exporter, told);
    const expected = {
      'gateway_refusals_total{code="RATE_LIMITED"}': 7, 'gateway_events_total{event="cache.simple.failed"}': 1, 'gateway_log_ring_dropped_total{thread="serve-0"}': 2,
      'gateway_log_dropped_total{exporter="store"}': 5, 'gateway_log_exported_total{exporter="store"}': 100, 'gateway_log_queue_records{exporter="store"}': 7, 'gateway_log_queue_bytes{exporter="store"}': 900,
      'gateway_log_ring_bytes{thread="serve-0"}': 64, 'gateway_open_calls{thread="serve-1"}': 2, 'gateway_event_loop_delay_seconds{thread="serve-0",statistic="max"}': 0.25,
      'gateway_event_loop_busy_seconds_total{thread="log"}': 1.5, 'gateway_breakers{state="open"}': 1, 'gateway_broken_targets{provider="groq",state="open"}': 2,
      'gateway_broken_targets{provider="openai",state="open"}': 1, 'gateway_broken_targets{provider="openai",state="probing"}': 1, 'gateway_thread_up{thread="serve-1"}': 1,
    };
    for (const [series, value] of Object.entries(expected)) assert.equal(values.get(series), value, series);
    assert.ok(!values.has('gateway_open_calls{thread="log"}') && !values.has('gateway_event_loop_delay_seconds{thread="serve-1",statistic="max"}'));
  });

  it('lets no counter fall because a thread gave no answer', async () => {
    const exporter = await plugin.create(params, fakeHost());
    await scrape(exporter, figures({ threads: [thread({ counts: { 'refused.X': 4 } }), thread({ name: 'serve-1', counts: { 'refused.X': 3, 'log.recordsDropped': 9 } })] }));
    const silent = { name: 'serve-1', isAnswering: false, counts: {}, openCalls: 0, loopDelay: null, busyMs: 0, heapBytes: 0, broken: [] };
    const values = await scrape(exporter, figures({ threads: [thread({ counts: { 'refused.X': 5 } }), silent] }));
    assert.equal(values.get('gateway_refusals_total{code="X"}'), 8);
    assert.equal(values.get('gateway_log_ring_dropped_total{thread="serve-1"}'), 9);
    assert.equal(values.get('gateway_thread_up{thread="serve-1"}'), 0);
    assert.ok(!values.has('gateway_event_loop_busy_seconds_total{thread="serve-1"}'));
  });
});
