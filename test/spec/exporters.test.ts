// Exporters side by side, as users have them: a process with several threads, one exporter that works, one whose far end hangs, one whose far end
// refuses. Calls go on, those that work miss nothing, and what the others lose is counted where operators look.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import decoders from 'otlp-decoders/build/src/generated/root.js';
import type { LogRecord } from '@gateway/plugin-sdk';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { routed, startTestGateway } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const waitsMax = 2_400;
const waitMs = 25;
const calls = 20;
const upstream = await startUpstream();
// A model that has a price.
upstream.answer = (_, response) => sendJson(response, 200, { ...chatCompletion, model: 'gpt-4o-mini' });
const failing = await startUpstream();
failing.answer = (_, response) => sendJson(response, 500, { error: { message: 'out of order' } });
const receiver = await startUpstream();
receiver.answer = (_, response) => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
const hanging = await startUpstream();
hanging.answer = () => undefined;
const refusing = await startUpstream();
refusing.answer = (_, response) => sendJson(response, 400, {});

const folder = temporaryFolder();
writeFileSync(join(folder, 'gateway.json'), JSON.stringify({
  exporters: [
    { id: 'http', params: { url: hanging.url } },
    { id: 'jsonl', params: { path: '-', bodies: true } },
    { id: 'http', params: { url: refusing.url, compression: 'none' } },
    { id: 'otlp', params: { endpoint: receiver.url, headers: { authorization: 'Bearer ${env:RECEIVER_TOKEN}' }, metricsPeriodMs: 1000 } },
    'prometheus',
  ],
}));
const gateway = await startChildGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json'), GATEWAY_LOG_LEVEL: 'warn', GATEWAY_THREADS: '2', GATEWAY_DATA_DIR: folder, RECEIVER_TOKEN: 'of-the-receiver' });

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let wait = 0; wait < waitsMax; wait += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => { setTimeout(resolve, waitMs); });
  }
  throw new Error(`${what} did not happen; ${gateway.stderr()}`);
}

const lines = (): LogRecord[] => gateway.stdout().split('\n').filter((line) => line.startsWith('{"id"') && line.endsWith('}')).map((line) => JSON.parse(line));
const valueOf = (text: string, series: string): number => Number(new RegExp(`^${series.replace(/[{}"#]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1] ?? NaN);

/** What the receiver got at this path, as the official definitions read it. */
function received(kind: 'Trace' | 'Metrics'): any[] {
  const { collector } = (decoders as any).opentelemetry.proto;
  const type = collector[kind.toLowerCase()].v1[`Export${kind}ServiceRequest`];
  return receiver.received.filter(({ url }) => url === `/v1/${kind === 'Trace' ? 'traces' : 'metrics'}`)
    .map(({ body, headers }) => type.toObject(type.decode(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body), { longs: Number, bytes: String }));
}

describe('exporters side by side', () => {
  it('each have every record, but for the losses of those whose far end fails', async () => {
    for (let index = 0; index < calls; index += 1) {
      const config = { strategy: { mode: 'fallback' }, targets: [failing, upstream].map(({ url }) => ({ provider: 'openai', api_key: 'sk-upstream', custom_host: `${url}/v1` })) };
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST', headers: { 'content-type': 'application/json', connection: 'close', ...routed(''), 'x-gateway-config': JSON.stringify(config), 'x-gateway-debug': 'true' }, body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] }),
      });
      assert.equal(response.status, 200, await response.text());
    }
    const records = await until('every record on the standard output', () => { const all = lines(); return all.length >= calls * 2 ? all : undefined; });
    assert.deepEqual([records.filter(({ isFinal }) => isFinal).length, records.filter(({ isFinal }) => !isFinal).length], [calls, calls]);

    const kept = records.filter(({ isFinal }) => isFinal).map(({ bodies }) => bodies);
    assert.ok(kept.every((bodies) => bodies?.request.includes('"model":"gpt-test"') === true && bodies.response.includes('Hello there.')), JSON.stringify(kept[0]));

    const spans = await until('every span', () => {
      const all = received('Trace').flatMap(({ resourceSpans }) => resourceSpans).flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans: some }) => some);
      return all.length >= calls * 2 ? all : undefined;
    });
    assert.equal(spans.length, calls * 2);
    const roots = new Map(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map((span) => [span.spanId, span]));
    assert.equal(roots.size, calls);
    for (const root of roots.values()) assert.equal(root.attributes.find(({ key }: { key: string }) => key === 'server.port')?.value.intValue, upstream.port, 'as far as bodies are kept, the address is known');
    assert.ok(refusing.received.every(({ body }) => (JSON.parse(body.toString()) as LogRecord[]).every(({ bodies }) => bodies === null)), 'bodies only for those who ask');
    for (const span of spans.filter(({ parentSpanId }) => parentSpanId !== undefined)) {
      const root = roots.get(span.parentSpanId);
      assert.equal(root?.traceId, span.traceId);
      assert.ok(span.startTimeUnixNano >= root.startTimeUnixNano - 1e6 && span.endTimeUnixNano <= root.endTimeUnixNano + 1e6, 'within the call');
    }
    assert.ok(receiver.received.every(({ headers }) => headers.authorization === 'Bearer of-the-receiver'));

    const metrics = await until('the count of all calls', () => received('Metrics').flatMap(({ resourceMetrics }) => resourceMetrics).flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics: some }) => some)
      .find(({ name, histogram }) => name === 'gen_ai.client.operation.duration' && histogram.dataPoints[0].count === calls));
    assert.equal(metrics.unit, 's');

    const text = await until('the losses', async () => {
      const all = await (await fetch(`${gateway.url}/metrics`)).text();
      return valueOf(all, 'gateway_log_dropped_total{exporter="http#2"}') === calls * 2 ? all : undefined;
    });
    assert.equal(valueOf(text, 'gateway_log_queue_records{exporter="http"}'), calls * 2, 'what hangs still has its own');
    assert.ok(valueOf(text, 'gateway_log_queue_bytes{exporter="http"}') > 0);
    for (const name of ['jsonl', 'otlp', 'prometheus']) assert.deepEqual([valueOf(text, `gateway_log_dropped_total{exporter="${name}"}`), valueOf(text, `gateway_log_exported_total{exporter="${name}"}`)], [0, calls * 2], name);
    assert.equal(valueOf(text, 'gateway_failed_targets_total{provider="openai",model="gpt-test",status="500"}'), calls);
    const cost = records.filter(({ isFinal }) => isFinal).reduce((sum, record) => sum + record.cost, 0) / 100;
    assert.ok(cost > 0, 'the log thread has priced them');
    const told = valueOf(text, 'gateway_cost_usd_total{provider="openai",model="gpt-4o-mini"}');
    assert.ok(Math.abs(told - cost) < 1e-9, `${told} and ${cost}`);
    const sums = received('Metrics').flatMap(({ resourceMetrics }) => resourceMetrics).flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics: some }) => some).filter(({ name }) => name === 'gateway.cost');
    assert.ok(Math.abs(sums.at(-1).sum.dataPoints[0].asDouble - cost) < 1e-9, JSON.stringify(sums.at(-1)));
    assert.match(gateway.stderr(), /"message":"log records dropped","exporter":"http#2"/);
  });

  it('are refused by name when their parameters make no sense, or a secret of theirs is not there', async () => {
    for (const [params, expected] of [
      [{ url: 'logs.example' }, /exporter http: url must be a whole URL/],
      [{ url: 'https://logs.example', headers: { Host: 'x' } }, /exporter http: headers\.Host is written by the gateway itself/],
      [{ url: 'https://logs.example', headers: { a: '${env:NOT_THERE}' } }, /exporter\/http.*no secret env:NOT_THERE/],
      [{}, /exporter http: .*url/],
    ] as const) {
      const file = join(temporaryFolder(), 'gateway.json');
      writeFileSync(file, JSON.stringify({ exporters: [{ id: 'http', params }] }));
      await assert.rejects(startTestGateway({ GATEWAY_SETTINGS: file }), expected);
    }
  });

  it('end in time, whatever hangs', async () => {
    const beganMs = performance.now();
    gateway.kill('SIGTERM');
    const { code } = await gateway.ended;
    assert.equal(code, 0, gateway.stderr());
    assert.ok(performance.now() - beganMs < 20_000);
    assert.match(gateway.stderr(), /"message":"log records dropped","exporter":"http","count":\d+,"total":40/);
  });
});
