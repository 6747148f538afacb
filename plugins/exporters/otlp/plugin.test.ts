import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import * as published from '@opentelemetry/semantic-conventions/incubating';
// The official definitions of the protocol, with the decoders that an earlier release of the transformer had of them.
import decoders from 'otlp-decoders/build/src/generated/root.js';
import { endpointNames, type LogRecord, type OutboundRequest } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleLogRecord, type FakeHost, type FakeHostOptions } from '@gateway/plugin-sdk/testing';
import { attribute, metric, operationOf, providerNames, secondsBuckets, tokenBuckets } from './conventions.js';
import { spanIdOf, traceIdOf } from './ids.js';
import plugin from './plugin.js';

const params = {
  endpoint: 'https://collector.example/otlp/', signals: ['traces', 'metrics'], encoding: 'protobuf', compression: 'gzip', serviceName: 'gateway', metadata: true, metricsPeriodMs: 60_000,
  temporality: 'cumulative', seriesMax: 2000, timeoutMs: 1000, retriesMax: 0,
} as const;
const signal = new AbortController().signal;
const uuid = '0b6c2f0e-6f0f-4f5c-9a39-0d7c3f0c5a11';

interface KeyValue { readonly key: string; readonly value: Readonly<Record<string, unknown>> }
interface Span {
  readonly traceId: string; readonly spanId: string; readonly parentSpanId: string; readonly name: string; readonly kind: string;
  readonly startTimeUnixNano: string; readonly endTimeUnixNano: string; readonly status: { readonly code?: string; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}
interface Point { readonly attributes: Readonly<Record<string, unknown>>; readonly startTimeUnixNano: string; readonly timeUnixNano: string; readonly count?: string; readonly sum?: number; readonly bucketCounts?: string[]; readonly explicitBounds?: number[]; readonly asDouble?: number }
interface Metric { readonly name: string; readonly unit: string; readonly temporality: string; readonly points: readonly Point[] }

const bodyOf = ({ body, headers }: OutboundRequest): Buffer => (headers?.['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(body ?? '')) : Buffer.from(body ?? ''));
const options = { longs: String, enums: String, defaults: false, bytes: String } as const;
const { opentelemetry } = decoders as unknown as { opentelemetry: { proto: { collector: Record<string, { v1: Record<string, { decode(bytes: Uint8Array): unknown; toObject(message: unknown, options: object): unknown; encode(message: object): { finish(): Uint8Array } }> }> } } };

function decode(kind: 'Trace' | 'Metrics', request: OutboundRequest): any {
  const type = opentelemetry.proto.collector[kind.toLowerCase()]?.v1[`Export${kind}ServiceRequest`];
  assert.ok(type !== undefined, kind);
  return request.headers?.['content-type'] === 'application/json' ? JSON.parse(bodyOf(request).toString()) : type.toObject(type.decode(bodyOf(request)), options);
}

function plain(value: any): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
const namesAndValues = (attributes: readonly KeyValue[] = []): Record<string, unknown> => Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
/** Ids are base64 in what the decoders give, and hex in JSON. */
const hex = (id: string | undefined): string => (id === undefined || /^[0-9a-f]{16,32}$/.test(id) ? id ?? '' : Buffer.from(id, 'base64').toString('hex'));

const spansIn = (requests: readonly OutboundRequest[]): Span[] => requests.filter(({ url }) => url.endsWith('/v1/traces')).flatMap((request) => decode('Trace', request).resourceSpans)
  .flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans)
  .map((span) => ({ ...span, kind: String(span.kind), traceId: hex(span.traceId), spanId: hex(span.spanId), parentSpanId: hex(span.parentSpanId), attributes: namesAndValues(span.attributes) }));
const metricsIn = (requests: readonly OutboundRequest[]): Metric[] => requests.filter(({ url }) => url.endsWith('/v1/metrics')).flatMap((request) => decode('Metrics', request).resourceMetrics)
  .flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics)
  .map(({ name, unit, histogram, sum }) => ({ name, unit, temporality: String((histogram ?? sum).aggregationTemporality), points: (histogram ?? sum).dataPoints.map((point: any) => ({ ...point, attributes: namesAndValues(point.attributes) })) }));

async function exported(records: readonly Partial<LogRecord>[], changes: object = {}, hostOptions: FakeHostOptions = {}): Promise<FakeHost> {
  const host = fakeHost({ fetch: () => ({}), ...hostOptions });
  const exporter = await plugin.create({ ...params, ...changes }, host);
  await exporter.export(records.map((record) => sampleLogRecord(record)), signal);
  await exporter.close?.();
  return host;
}

async function spanOf(record: Partial<LogRecord>, changes: object = {}): Promise<Span> {
  const [span] = spansIn((await exported([record], changes)).requests);
  assert.ok(span !== undefined);
  return span;
}

/** Those that the package declares for programs that still have them: what it says of the others is at most that they moved. */
function replacedNames(): ReadonlySet<string> {
  const folder = dirname(fileURLToPath(import.meta.resolve('@opentelemetry/semantic-conventions/incubating')));
  const found = new Set<string>();
  for (const file of ['experimental_attributes.d.mts', 'experimental_metrics.d.mts']) {
    const comments = readFileSync(join(folder, file), 'utf8').matchAll(/\/\*\*(?:(?!\*\/)[^])*@deprecated (?!Moved to)(?:(?!\*\/)[^])*\*\/\s*declare const (?:ATTR|METRIC)_\w+: "([^"]+)"/g);
    for (const [, name = ''] of comments) found.add(name);
  }
  return found;
}

conformExporter(plugin, params, { host: { fetch: () => ({}) } });

describe('otlp exporter', () => {
  for (const encoding of ['protobuf', 'json'] as const) {
    it(`sends spans that the official decoders read, as ${encoding}`, async () => {
      const host = await exported([{ traceId: uuid, isStream: true, cachedTokens: 4, reasoningTokens: 9 }], { encoding, resource: { 'deployment.environment.name': 'test' } });
      const [request] = host.requests;
      assert.ok(request !== undefined);
      assert.equal(request.url, 'https://collector.example/otlp/v1/traces');
      assert.equal(request.headers?.['content-type'], encoding === 'json' ? 'application/json' : 'application/x-protobuf');
      const { resource } = decode('Trace', request).resourceSpans[0];
      const { 'service.instance.id': instance, ...others } = namesAndValues(resource.attributes);
      assert.deepEqual(others, { 'service.name': 'gateway', 'deployment.environment.name': 'test' });
      assert.match(String(instance), /^[0-9a-f-]{36}$/);
      const [span] = spansIn([request]);
      assert.ok(span !== undefined);
      assert.deepEqual([span.traceId, span.spanId, span.parentSpanId, span.name], [uuid.replaceAll('-', ''), '00f067aa0ba902b7', '', 'chat mock-1']);
      assert.ok(['3', 'SPAN_KIND_CLIENT'].includes(span.kind), span.kind);
      assert.deepEqual([span.startTimeUnixNano, span.endTimeUnixNano], ['1700000000000000000', '1700000000080250000']);
      const { attributes } = span;
      assert.deepEqual(Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.startsWith('gateway.'))), {
        'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'mock', 'gen_ai.request.model': 'mock-1', 'gen_ai.response.model': 'mock-1', 'gen_ai.request.stream': true,
        'gen_ai.response.time_to_first_chunk': 0.0125, 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 34,
        'gen_ai.usage.cache_read.input_tokens': 4, 'gen_ai.usage.reasoning.output_tokens': 9, 'gen_ai.prompt.name': 'pp-main', 'http.response.status_code': 200,
      });
      assert.deepEqual([attributes['gateway.trace.id'], attributes['gateway.cost.usd'], attributes['gateway.metadata._user'], attributes['gateway.workspace.id']], [uuid, 0.0025, 'ünï😀', 'workspace']);
    });
  }

  it('names its attributes and metrics as the conventions do', () => {
    const names = new Set(Object.entries(published).flatMap(([name, value]) => (/^(?:ATTR|METRIC)_/.test(name) ? [value] : [])));
    const replaced = replacedNames();
    // Names that were replaced are published as well.
    assert.ok(names.has('gen_ai.system') && replaced.has('gen_ai.system') && replaced.has('gen_ai.usage.prompt_tokens'));
    for (const name of [...Object.values(attribute), ...Object.values(metric)]) assert.ok(names.has(name) && !replaced.has(name), name);
    assert.equal(attribute.provider, published.ATTR_GEN_AI_PROVIDER_NAME);
    assert.equal(metric.duration, published.METRIC_GEN_AI_CLIENT_OPERATION_DURATION);
    const values = (start: string): Set<unknown> => new Set(Object.entries(published).flatMap(([name, value]) => (name.startsWith(start) ? [value] : [])));
    // The one provider that the conventions got since.
    const providers = values('GEN_AI_PROVIDER_NAME_VALUE_').add('moonshot_ai');
    for (const [, name] of providerNames) assert.ok(providers.has(name), name);
    const operations = values('GEN_AI_OPERATION_NAME_VALUE_');
    const known = endpointNames.map((endpoint) => operationOf(sampleLogRecord({ endpoint }))).filter((name) => operations.has(name));
    assert.deepEqual(known, ['chat', 'text_completion', 'chat', 'chat', 'embeddings']);
  });

  it('tells what may be a fraction as one at all times: receivers give an attribute the type that they saw first', async () => {
    const host = await exported([{ cost: 100, isStream: true, firstByteMs: 2000, upstreamMs: 0 }, { cost: 0, isStream: true, firstByteMs: 0, upstreamMs: 3000 }], { metadata: false });
    for (const { attributes } of decode('Trace', host.requests[0] as OutboundRequest).resourceSpans[0].scopeSpans[0].spans as readonly { readonly attributes: readonly KeyValue[] }[]) {
      const fractions = attributes.filter(({ key }) => ['gateway.cost.usd', 'gateway.upstream.duration', 'gen_ai.response.time_to_first_chunk'].includes(key));
      assert.equal(fractions.length, 3);
      for (const { key, value } of fractions) {
        assert.deepEqual(Object.keys(value), ['doubleValue'], key);
        assert.ok(Math.abs(Number(value.doubleValue) - Math.round(Number(value.doubleValue))) < 1e-8, key);
      }
    }
  });

  it('puts targets that were left below the span of their call', async () => {
    const host = await exported([
      { id: 'left', isFinal: false, spanId: '1111111111111111', parentSpanId: '00f067aa0ba902b7', status: 500, errorCode: 'UPSTREAM_FAILED' },
      { id: 'final', parentSpanId: 'b7ad6b7169203331', targetIndex: 1 },
    ]);
    const [left, final] = spansIn(host.requests);
    assert.ok(left !== undefined && final !== undefined);
    assert.equal(left.traceId, final.traceId);
    assert.equal(left.parentSpanId, final.spanId);
    assert.equal(final.parentSpanId, 'b7ad6b7169203331');
    assert.equal(left.attributes['error.type'], 'UPSTREAM_FAILED');
    assert.ok(['2', 'STATUS_CODE_ERROR'].includes(String(left.status.code)));
    assert.equal(final.attributes['gateway.target.index'], 1);
  });

  it('says what kind of error a call ended with', async () => {
    const typeOf = async (record: Partial<LogRecord>): Promise<unknown> => (await spanOf(record)).attributes['error.type'];
    assert.equal(await typeOf({ status: 404 }), '404');
    assert.equal(await typeOf({ status: 200, ended: 'upstream' }), 'upstream_left');
    assert.equal(await typeOf({ status: 200, ended: 'client' }), undefined);
    assert.equal(await typeOf({ status: 429, errorCode: 'RATE_LIMITED' }), 'RATE_LIMITED');
    assert.equal((await spanOf({ status: 404 })).attributes['gen_ai.response.model'], undefined);
  });

  it('says where a call went when its bodies were kept, and keeps metadata to itself when asked', async () => {
    const bodies = { requestHeaders: '', request: 'secret question', upstreamUrl: 'https://api.openai.com/v1/chat/completions', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '' };
    const { attributes } = await spanOf({ bodies }, { metadata: false });
    assert.deepEqual([attributes['server.address'], attributes['server.port'], attributes['gateway.metadata._user']], ['api.openai.com', 443, undefined]);
    assert.ok(!JSON.stringify(attributes).includes('secret question'));
    assert.equal((await spanOf({ metadata: '{"a":"…' })).attributes['gateway.metadata'], '{"a":"…');
  });

  it('counts tokens and durations of calls to providers, with the buckets of the conventions', async () => {
    const host = await exported([
      { provider: 'bedrock' }, { provider: 'bedrock', status: 500, inputTokens: -1, outputTokens: -1, cost: -1 }, { provider: 'bedrock', isFinal: false, inputTokens: 100, outputTokens: -1, cost: -1 },
      { provider: 'bedrock', cacheStatus: 'HIT', attempts: 0 }, { provider: '', attempts: 0 }, { source: 'insert' }, { provider: 'bedrock', isStream: true, inputTokens: -1, outputTokens: -1, cost: -1 },
    ]);
    const metrics = new Map(metricsIn(host.requests).map((each) => [each.name, each]));
    const common = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'aws.bedrock', 'gen_ai.request.model': 'mock-1' };
    const tokens = metrics.get('gen_ai.client.token.usage');
    assert.equal(tokens?.unit, '{token}');
    const sums = tokens.points.map(({ attributes, sum, count }) => [attributes['gen_ai.token.type'], sum, Number(count)]);
    assert.deepEqual(sums, [['input', 112, 2], ['output', 34, 1]]);
    assert.deepEqual(tokens.points[0]?.explicitBounds, [...tokenBuckets]);
    const duration = metrics.get('gen_ai.client.operation.duration');
    assert.equal(duration?.unit, 's');
    assert.ok(['2', 'AGGREGATION_TEMPORALITY_CUMULATIVE'].includes(duration.temporality), duration.temporality);
    assert.deepEqual(duration.points.map(({ attributes, count }) => [attributes, Number(count)]), [
      [{ ...common, 'gen_ai.response.model': 'mock-1' }, 2], [{ ...common, 'error.type': '500' }, 1],
    ]);
    assert.deepEqual(duration.points[0]?.explicitBounds, [...secondsBuckets]);
    assert.equal(Number(metrics.get('gen_ai.client.operation.time_to_first_chunk')?.points[0]?.count), 1);
    assert.equal(metrics.get('gateway.cost')?.points[0]?.asDouble, 0.0025);
  });

  it('sends metrics every period, sums since the start or what is new', async () => {
    for (const [temporality, expected] of [['cumulative', [1, 2]], ['delta', [1, 1]]] as const) {
      const host = fakeHost({ fetch: () => ({}) });
      const exporter = await plugin.create({ ...params, temporality, signals: ['metrics'] }, host);
      assert.deepEqual(host.periods, [60_000]);
      for (let round = 0; round < 2; round += 1) {
        await exporter.export([sampleLogRecord()], signal);
        await host.runEvery();
      }
      const counts = metricsIn(host.requests).filter(({ name }) => name === metric.duration).map(({ points }) => Number(points[0]?.count));
      assert.deepEqual(counts, expected, temporality);
      assert.ok(host.requests.every(({ url }) => url.endsWith('/v1/metrics')));
      await exporter.close?.();
    }
  });

  it('has as many series as it is told', async () => {
    const host = await exported(Array.from({ length: 500 }, (_, index) => ({ model: `made-up-${index}` })), { seriesMax: 20, signals: ['metrics'] });
    const duration = metricsIn(host.requests).find(({ name }) => name === metric.duration);
    assert.ok(duration !== undefined && duration.points.length <= 20, String(duration?.points.length));
    assert.equal(duration.points.reduce((sum, { count }) => sum + Number(count), 0), 500);
    assert.ok(duration.points.some(({ attributes }) => attributes['otel.metric.overflow'] === true));
  });

  it('has no more series than that in any message, of made-up models neither, and gives those that are idle back', async () => {
    for (const temporality of ['cumulative', 'delta'] as const) {
      const host = fakeHost({ fetch: () => ({}) });
      const exporter = await plugin.create({ ...params, temporality, signals: ['metrics'], seriesMax: 20 }, host);
      const add = async (records: readonly Partial<LogRecord>[]): Promise<void> => { await exporter.export(records.map((record) => sampleLogRecord(record)), signal); };
      const told = async (): Promise<Metric> => {
        const before = host.requests.length;
        await host.runEvery();
        const metrics = metricsIn(host.requests.slice(before));
        for (const { name, points } of metrics) assert.ok(points.length <= 20, `${temporality} ${name}: ${points.length}`);
        const duration = metrics.find(({ name }) => name === metric.duration);
        assert.ok(duration !== undefined);
        return duration;
      };
      const modelsOf = ({ points }: Metric): readonly unknown[] => points.map(({ attributes }) => attributes['gen_ai.request.model']);
      const countOf = ({ points }: Metric): number => points.reduce((sum, { count }) => sum + Number(count), 0);
      // Each message brings others.
      let recorded = 0;
      for (let round = 0; round < 4; round += 1) {
        await add(Array.from({ length: 50 }, (_, index) => ({ model: `made-up-${round}-${index}`, status: index % 2 === 0 ? 404 : 200 })));
        recorded += 50;
        assert.equal(countOf(await told()), temporality === 'delta' ? 50 : recorded, 'none is missing');
      }
      await add([{ model: 'real' }]);
      assert.ok(!modelsOf(await told()).includes('real'));
      host.advance(3_600_000);
      await add([{ model: 'real' }]);
      await told();
      await add([{ model: 'real' }]);
      const last = await told();
      assert.deepEqual([modelsOf(last), countOf(last)], [['real'], 1], temporality);
      await exporter.close?.();
    }
  });

  it('loses nothing that was counted when a message is not taken, where sums end neither, and tells nothing twice', async () => {
    for (const [temporality, expected] of [['cumulative', [1, 6, 4]], ['delta', [1, 5, 4]]] as const) {
      let status = 200;
      /** Finished while a message is on its way. */
      let meanwhile = 0;
      const host: FakeHost = fakeHost({
        fetch: async () => {
          await add(meanwhile);
          return { status };
        },
      });
      const exporter = await plugin.create({ ...params, temporality, signals: ['metrics'], seriesMax: 20 }, host);
      const add = async (count: number): Promise<void> => { await exporter.export(Array.from({ length: count }, () => sampleLogRecord({ model: 'counted' })), signal); };
      const told = async (): Promise<Point> => {
        await host.runEvery();
        const points = metricsIn(host.requests.slice(-1)).find(({ name }) => name === metric.duration)?.points ?? [];
        if (host.requests.length === 4) assert.equal(points.length, 1, `${temporality}: sums began anew`);
        const point = points.find(({ attributes }) => attributes['gen_ai.request.model'] === 'counted');
        assert.ok(point !== undefined, temporality);
        return point;
      };
      await add(1);
      await exporter.export(Array.from({ length: 50 }, (_, index) => sampleLogRecord({ model: `made-up-${index}` })), signal);
      const points = [await told()];
      // Now the series are full and some are idle: the next message that is taken ends them.
      host.advance(3_600_000);
      await add(3);
      [status, meanwhile] = [503, 2];
      await assert.rejects(host.runEvery(), /status 503/);
      [status, meanwhile] = [200, 4];
      points.push(await told());
      meanwhile = 0;
      points.push(await told());
      assert.deepEqual(points.map(({ count }) => Number(count)), expected, temporality);
      if (temporality === 'delta') assert.deepEqual(points.slice(1).map(({ startTimeUnixNano }) => startTimeUnixNano), points.slice(0, 2).map(({ timeUnixNano }) => timeUnixNano), 'each tells from where the one before ended');
      await exporter.close?.();
      assert.deepEqual([host.counts.get('metricsFailed'), host.counts.get('metricsLost')], [1, undefined]);
    }
  });

  it('tells at its end what no message has told, and waits for the one that is on its way', async () => {
    for (const [status, expected] of [[200, [1, 2]], [503, [1, 3]]] as const) {
      let [arrive, answer] = [() => {}, () => {}];
      const arrived = new Promise<void>((resolve) => { arrive = resolve; });
      const answered = new Promise<void>((resolve) => { answer = resolve; });
      const host = fakeHost({
        fetch: async () => {
          if (host.requests.length > 1) return {};
          arrive();
          await answered;
          return { status };
        },
      });
      const exporter = await plugin.create({ ...params, temporality: 'delta', signals: ['metrics'] }, host);
      await exporter.export([sampleLogRecord()], signal);
      const sent = host.runEvery().catch(() => {});
      await arrived;
      await exporter.export([sampleLogRecord(), sampleLogRecord()], signal);
      const closed = exporter.close?.();
      answer();
      await Promise.all([sent, closed]);
      assert.deepEqual(metricsIn(host.requests).filter(({ name }) => name === metric.duration).map(({ points }) => Number(points[0]?.count)), expected);
    }
  });

  it('reads what the far end did not take', async () => {
    const type = opentelemetry.proto.collector.trace?.v1.ExportTraceServiceResponse;
    assert.ok(type !== undefined);
    const binary = type.encode({ partialSuccess: { rejectedSpans: 3, errorMessage: 'too old' } }).finish();
    for (const [encoding, body] of [['protobuf', binary], ['json', JSON.stringify({ partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } })]] as const) {
      const host = await exported([{}], { encoding, signals: ['traces'] }, { fetch: () => ({ body }) });
      assert.equal(host.counts.get('rejected.spans'), 3, encoding);
      assert.deepEqual(host.logged.map(({ fields }) => fields), [{ what: 'spans', rejected: 3, reason: 'too old' }]);
    }
    const strange = await exported([{}], { signals: ['traces'] }, { fetch: () => ({ body: '<html>' }) });
    assert.deepEqual(strange.logged, []);
  });

  it('tells the queue that spans are lost, and says that metrics are', async () => {
    const host = fakeHost({ fetch: () => ({ status: 400 }) });
    const exporter = await plugin.create(params, host);
    await assert.rejects(async () => exporter.export([sampleLogRecord()], signal), /collector\.example did not take it: status 400/);
    await assert.rejects(host.runEvery(), /status 400/);
    await exporter.close?.();
    assert.deepEqual([host.counts.get('metricsFailed'), host.counts.get('metricsLost')], [1, 1]);
  });
});

describe('ids of OpenTelemetry', () => {
  it('are those of the record where they can be, and the same for the same name', () => {
    assert.equal(traceIdOf('4bf92f3577b34da6a3ce929d0e0e4736'), '4bf92f3577b34da6a3ce929d0e0e4736');
    assert.equal(traceIdOf('4BF92F35-77B3-4DA6-A3CE-929D0E0E4736'), '4bf92f3577b34da6a3ce929d0e0e4736');
    assert.match(traceIdOf('my trace'), /^[0-9a-f]{32}$/);
    assert.equal(traceIdOf('my trace'), traceIdOf('my trace'));
    assert.notEqual(traceIdOf('my trace'), traceIdOf('my trace 2'));
    for (const zero of ['0'.repeat(32), '00000000-0000-0000-0000-000000000000']) assert.notEqual(traceIdOf(zero), '0'.repeat(32));
    assert.equal(spanIdOf('00f067aa0ba902b7'), '00f067aa0ba902b7');
    assert.match(spanIdOf('span'), /^[0-9a-f]{16}$/);
    assert.notEqual(spanIdOf('0'.repeat(16)), '0'.repeat(16));
  });
});
