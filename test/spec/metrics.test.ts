// GET /metrics as operators have it: several threads, a log thread, a control thread, and a real Prometheus that scrapes them.

import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { temporaryFolder } from '../support/child-gateway.js';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const waitsMax = 2_400;
const waitMs = 25;
const gateway = await startTestGateway({ GATEWAY_EXPORTERS: 'prometheus', GATEWAY_THREADS: '2' }, { hasLogThread: true, hasControlThread: true });
const plain = await startTestGateway({ GATEWAY_EXPORTERS: 'store' });
const upstream = await startUpstream();
const calls = 12;
const children: ChildProcess[] = [];
after(() => Promise.all(children.map((child) => new Promise<void>((resolve) => {
  if (child.exitCode !== null || child.signalCode !== null) return resolve();
  child.once('exit', () => resolve());
  child.kill('SIGKILL');
}))));

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let wait = 0; wait < waitsMax; wait += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => { setTimeout(resolve, waitMs); });
  }
  throw new Error(`${what} did not happen`);
}

const metrics = (headers: Record<string, string> = {}): Promise<Response> => fetch(`${gateway.url}/metrics`, { headers });
async function statusOf(headers: Record<string, string>): Promise<number> {
  const response = await metrics(headers);
  await response.arrayBuffer();
  return response.status;
}

/** Sum of the values of all series of this name with these labels. */
const sumOf = (text: string, start: string): number =>
  text.split('\n').filter((line) => line.startsWith(start)).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

describe('the metrics', () => {
  it('have every call, and every thread of the process', async () => {
    for (let index = 0; index < calls; index += 1) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST', headers: { 'content-type': 'application/json', connection: 'close', ...routed(upstream.url) }, body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] }),
      });
      assert.equal(response.status, 200, await response.text());
    }
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { 'x-gateway-api-key': 'not-a-key' }, body: '{}' });
    assert.equal(refused.status, 401);
    const text = await until('the count of all calls', async () => {
      const response = await metrics();
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      const body = await response.text();
      return sumOf(body, 'gateway_requests_total{provider="openai"') === calls && body.includes('gateway_event_loop_delay_seconds{thread="log"') ? body : undefined;
    });
    for (const thread of ['serve-0', 'serve-1', 'control', 'log']) {
      assert.ok(text.includes(`gateway_thread_up{thread="${thread}"} 1`), `${thread} in ${text}`);
      assert.ok(text.includes(`gateway_event_loop_delay_seconds{thread="${thread}",statistic="p99"}`), thread);
    }
    assert.equal(sumOf(text, 'gateway_refusals_total{code="KEY_INVALID"}'), 1);
    assert.equal(sumOf(text, 'gateway_request_duration_seconds_count{provider="openai"'), calls);
    assert.equal(sumOf(text, 'gateway_log_dropped_total{exporter="prometheus"}'), 0);
    assert.ok(sumOf(text, 'gateway_log_exported_total{exporter="prometheus"}') >= calls);
  });

  it('are for clients of this machine, and for organisation keys with the scope', async () => {
    assert.equal(await statusOf({ authorization: `Bearer ${adminKey}` }), 200);
    assert.equal(await statusOf({ 'x-gateway-api-key': adminKey, 'x-forwarded-for': '192.0.2.1' }), 200);
    assert.equal(await statusOf({ 'x-gateway-api-key': apiKey }), 403, 'figures of others as well');
    assert.equal(await statusOf({ 'x-gateway-api-key': 'wrong' }), 401);
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'origin']) assert.equal(await statusOf({ [name]: '127.0.0.1' }), 401, name);
    const rebound = await openWire(gateway.port);
    rebound.write('GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n');
    assert.match(await rebound.until((text) => text.includes('\r\n\r\n')), /^HTTP\/1\.1 401 /, 'a page whose name leads here');
    rebound.destroy();
    assert.equal((await fetch(`${gateway.url}/metrics`, { method: 'POST' })).status, 405);
  });

  it('are open to a key that may do nothing else', async () => {
    const made = await fetch(`${gateway.url}/v1/api-keys/organisation/service`, { method: 'POST', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify({ name: 'Prometheus', scopes: ['metrics.read'] }) });
    const { key } = await made.json() as { key: string };
    assert.equal(made.status, 200, key);
    assert.equal(await statusOf({ authorization: `Bearer ${key}`, via: '1.1 proxy' }), 200);
    assert.equal((await fetch(`${gateway.url}/v1/workspaces`, { headers: { authorization: `Bearer ${key}` } })).status, 403);
  });

  it('cost the threads that serve calls no library', () => {
    // This thread is one of them. The library is loaded, as the metrics show: by the log thread.
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    assert.ok(loaded.length > 0);
    assert.deepEqual(loaded.filter((path) => /[\\/](?:prom-client|@opentelemetry)[\\/]/.test(path)), []);
  });

  it('of many clients at once are made once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, async () => (await metrics()).text()));
    for (const text of answers) assert.ok(text.includes('gateway_thread_up'));
    assert.ok(new Set(answers).size < 50, 'some got the same');
  });

  it('pass the check of promtool', async (context) => {
    if (process.env.GATEWAY_TEST_WITHOUT_PROMETHEUS === '1') {
      context.diagnostic('no promtool here: only the tests of the plugin read the format');
      return;
    }
    const { status, stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], { encoding: 'utf8', input: await (await metrics()).text() });
    assert.deepEqual([error, status, stdout + stderr], [undefined, 0, '']);
  });

  it('are scraped by Prometheus', async (context) => {
    const found = spawnSync('prometheus', ['--version'], { encoding: 'utf8' });
    if (process.env.GATEWAY_TEST_WITHOUT_PROMETHEUS === '1') {
      context.diagnostic('no Prometheus here: only the tests of the plugin read the format');
      return;
    }
    assert.equal(found.status, 0, 'prometheus is not installed; apt-get install prometheus, or set GATEWAY_TEST_WITHOUT_PROMETHEUS=1');
    const port = await freePort();
    const api = startPrometheus(port);
    const query = async (expression: string): Promise<number | undefined> => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`).catch(() => undefined);
      if (response?.status !== 200) return undefined;
      const { data } = await response.json() as { data: { result: { value: [number, string] }[] } };
      return data.result[0] === undefined ? undefined : Number(data.result[0].value[1]);
    };
    await until('a scrape that succeeded', async () => ((await query('up{job="gateway"}')) === 1 ? true : undefined));
    assert.equal(api.exitCode, null);
    assert.equal(await query('sum(gateway_requests_total{provider="openai"})'), calls);
    assert.equal(await query('count(gateway_thread_up == 1)'), 4);
    const p90 = await query('histogram_quantile(0.9, sum by (le) (gateway_request_duration_seconds_bucket))');
    assert.ok(p90 !== undefined && p90 > 0 && p90 < 320, String(p90));
    const targets = await (await fetch(`http://127.0.0.1:${port}/api/v1/targets/metadata?metric=gateway_request_duration_seconds`)).json() as { data: { type: string; help: string }[] };
    assert.deepEqual(targets.data.map(({ type }) => type), ['histogram']);
  });
});

describe('the metrics of a gateway without an exporter that has any', () => {
  it('say what to add', async () => {
    const response = await fetch(`${plain.url}/metrics`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /add prometheus to the setting exporters/);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const address = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function startPrometheus(port: number): ChildProcess {
  const folder = temporaryFolder();
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs: [{ job_name: gateway, static_configs: [{ targets: ['127.0.0.1:${gateway.port}'] }] }]\n`);
  const child = spawn('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], { stdio: 'ignore' });
  children.push(child);
  return child;
}
