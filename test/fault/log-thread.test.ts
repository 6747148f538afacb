// The thread that runs the exporters, as users have it: every call is in the log once, and whatever an exporter does, calls are served.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { LogMemory } from '../../core/log-thread.js';
import { LogWorker } from '../../core/log-worker.js';
import { RingMemory } from '../../core/logs/ring.js';
import { readSettings } from '../../core/settings/read.js';
import { Metrics } from '../../core/telemetry/metrics.js';
import { Breakers } from '../../core/upstream/breaker.js';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { RevisionSignal } from '../../core/snapshot/revision-signal.js';
import { writePackage, type PackageParts } from '../core/registry/plugin-package.js';
import { startChildGateway, temporaryFolder, type ChildGateway } from '../support/child-gateway.js';
import { routed, startTestGateway } from '../support/gateway.js';
import { answerChat, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const waitsMax = 3_000;
const waitMs = 20;

const files = {
  /** One line for each record, when it is exported. Does what the trace asks for. */
  'file.js': `import { appendFileSync, existsSync } from 'node:fs';
    const pause = new Int32Array(new SharedArrayBuffer(4));
    export default { kind: 'exporter', contract: 1, title: 'File', describe: 'Writes traces', batch: { countMax: 50, waitMsMax: 20 },
      params: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      create: ({ path }) => ({ async export(batch) {
        for (const { traceId } of batch) {
          if (traceId === 'block') {
            appendFileSync(path, 'blocked\\n');
            for (let turn = 0; turn < 6000 && !existsSync(path + '.go'); turn += 1) Atomics.wait(pause, 0, 0, 5);
          }
          if (traceId === 'die') setImmediate(() => { throw new Error('an exporter broke'); });
          appendFileSync(path, traceId + '\\n');
        }
      } }) };`,
  'hang.js': `export default { kind: 'exporter', contract: 1, title: 'Hang', describe: 'Never ends', params: { type: 'object', properties: {} },
      batch: { countMax: 10, waitMsMax: 20 }, create: () => ({ export: () => new Promise(() => undefined) }) };`,
  'leave.js': `export default { kind: 'exporter', contract: 1, title: 'Leave', describe: 'Ends its thread', params: { type: 'object', properties: {} },
      create: () => { setTimeout(() => process.exit(), 50); return { export: () => undefined }; } };`,
  'throw.js': `export default { kind: 'exporter', contract: 1, title: 'Throw', describe: 'Throws', params: { type: 'object', properties: {} },
      batch: { countMax: 10, waitMsMax: 20 }, create: () => ({ export: () => { throw new Error('refused'); } }) };`,
};

const packageOf = (exporters: readonly string[]): PackageParts => ({
  gateway: { namespace: 'acme', contract: { exporter: 1 }, plugins: { exporter: exporters } }, files, exports: Object.fromEntries(exporters.map((name) => [`./exporter/${name}`, `./${name}.js`])),
});

/** Calls with these traces, one after the other. */
async function callAll(url: string, upstream: TestUpstream, traces: readonly string[]): Promise<void> {
  for (const trace of traces) {
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url), 'x-gateway-trace-id': trace }, body: chat });
    assert.equal(response.status, 200, await response.text());
  }
}

async function stored(dataDir: string): Promise<string[]> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  const store = await storage.open('exporter-store-logs');
  const traces: string[] = [];
  for await (const { value } of store.range({ from: '0', to: ':', limit: 100_000 })) traces.push(...readLogBatch(value).map(({ traceId }) => traceId));
  await storage.close?.();
  return traces;
}

const tracesIn = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []);

async function until(what: string, test: () => boolean): Promise<void> {
  for (let wait = 0; !test(); wait += 1) {
    assert.ok(wait < waitsMax, `${what} did not happen`);
    await new Promise((resolve) => { setTimeout(resolve, waitMs); });
  }
}

describe('the log thread', { concurrency: 2 }, () => {
  it('has every one of many calls at once exactly once, in the order of its thread, when the process ends right behind them', async () => {
    const upstream = await startUpstream(answerChat);
    const folder = temporaryFolder();
    const path = join(folder, 'traces');
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ plugins: [writePackage(join(folder, 'package'), packageOf(['file']))], exporters: ['store', { id: 'acme.file', params: { path } }] }));
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_SETTINGS: join(folder, 'gateway.json') });
    const expected: string[] = [];
    await Promise.all(Array.from({ length: 12 }, async (_, connection) => {
      const { write, socket } = await openWire(gateway.port);
      await new Promise<void>((resolve) => {
        let seen = '';
        let count = 0;
        const next = (): void => {
          if (count === 60) {
            socket.destroy();
            resolve();
            return;
          }
          const trace = `${connection}-${count}`;
          count += 1;
          expected.push(trace);
          const headers = Object.entries({ host: 'g', 'content-type': 'application/json', 'content-length': String(chat.length), ...routed(upstream.url), 'x-gateway-trace-id': trace });
          write(`POST /v1/chat/completions HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${chat}`);
        };
        socket.on('data', (data) => {
          seen += data.toString('latin1');
          if (!seen.endsWith('"total_tokens":12}}')) return;
          assert.match(seen, /^HTTP\/1\.1 200 /);
          seen = '';
          next();
        });
        next();
      });
    }));
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr());
    assert.equal(gateway.stderr().includes('dropped'), false, gateway.stderr());
    for (const found of [await stored(gateway.dataDir), tracesIn(path)]) {
      assert.deepEqual([...found].sort(), [...expected].sort());
      for (let connection = 0; connection < 12; connection += 1) {
        const own = found.filter((trace) => trace.startsWith(`${connection}-`)).map((trace) => Number(trace.split('-')[1]));
        assert.deepEqual(own, Array.from({ length: 60 }, (_, count) => count));
      }
    }
  });

  it('goes on beside exporters that hang and throw, keeps no call waiting when it is blocked, and is started again when it dies', async () => {
    const upstream = await startUpstream(answerChat);
    const folder = temporaryFolder();
    const path = join(folder, 'traces');
    const plugins = writePackage(join(folder, 'package'), packageOf(['file', 'hang', 'throw']));
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ plugins: [plugins], exporters: ['acme.hang', 'acme.throw', { id: 'acme.file', params: { path } }] }));
    const gateway: ChildGateway = await startChildGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json'), GATEWAY_LOG_LEVEL: 'warn' });
    const traces = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const has = (wanted: readonly string[]) => (): boolean => { const found = new Set(tracesIn(path)); return wanted.every((trace) => found.has(trace)); };

    await callAll(gateway.url, upstream, traces('first', 30));
    await until('the first export', has(traces('first', 30)));
    assert.match(gateway.stderr(), /"message":"log records dropped".*"reason":"refused"/);

    await callAll(gateway.url, upstream, ['block']);
    await until('the block', has(['blocked']));
    // Asked for while nobody can make it: told so in time, and no call waits for that.
    const metrics = fetch(`${gateway.url}/metrics`).then(async (response) => [response.status, await response.text()] as const);
    await callAll(gateway.url, upstream, traces('blocked', 50));
    const [status, text] = await metrics;
    assert.equal(status, 503);
    assert.match(text, /the log thread gave no answer within 3000 ms/);
    assert.equal(tracesIn(path).at(-1), 'blocked');
    writeFileSync(`${path}.go`, '');
    await until('the export of what came meanwhile', has(['block', ...traces('blocked', 50)]));

    await callAll(gateway.url, upstream, ['die']);
    await gateway.until((text) => text.includes('the log thread died'));
    assert.match(gateway.stderr(), /"level":"error","message":"the log thread died; it is started again","reason":"an exporter broke","recordsLost":\d+,"inMs":1000/);
    await callAll(gateway.url, upstream, traces('after', 20));
    await until('the export by the next thread', has(traces('after', 20)));
    const found = tracesIn(path).filter((trace) => trace !== 'blocked');
    assert.equal(new Set(found).size, found.length, 'a record was exported twice');
    gateway.kill('SIGKILL');
    await gateway.ended;
  });

  it('runs on the main thread with a storage that threads cannot share, and not at all without exporters', async () => {
    const upstream = await startUpstream(answerChat);
    const folder = temporaryFolder();
    const path = join(folder, 'traces');
    const plugins = writePackage(join(folder, 'package'), packageOf(['file']));
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ storage: 'memory', plugins: [plugins], exporters: [{ id: 'acme.file', params: { path } }] }));
    const gateway = await startTestGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json') }, { hasLogThread: true });
    await callAll(gateway.url, upstream, ['a', 'b']);
    await gateway.stop();
    assert.deepEqual(tracesIn(path), ['a', 'b']);

    writeFileSync(join(folder, 'none.json'), JSON.stringify({ exporters: [] }));
    const without = await startTestGateway({ GATEWAY_SETTINGS: join(folder, 'none.json') }, { hasLogThread: true });
    await callAll(without.url, upstream, ['c']);
    await without.stop();
    assert.equal(existsSync(join(without.dataDir, 'exporter-store-logs')), false);
  });

  for (const isPatient of [true, false]) {
    it(`has the calls whose hooks in the background still run when the gateway ends, ${isPatient ? 'with what they say before the deadline' : 'at the deadline without'}`, async () => {
      const upstream = await startUpstream(answerChat);
      let answer = (): void => undefined;
      const judge = await startUpstream((_, response) => { answer = () => sendJson(response, 200, { verdict: true }); });
      const folder = temporaryFolder();
      const path = join(folder, 'log.jsonl');
      writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ exporters: [{ id: 'jsonl', params: { path } }] }));
      const gateway = await startTestGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json') });
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST', body: chat,
        headers: { 'content-type': 'application/json', ...routed(upstream.url, { input_guardrails: [{ webhook: { webhookURL: `${judge.url}/`, timeout: 60_000 }, async: true }] }) },
      });
      assert.equal(response.status, 200);
      await response.arrayBuffer();
      await until('the question to the hook', () => judge.received.length === 1);
      const stopped = gateway.stop(isPatient ? 60_000 : 0);
      // What a gateway that stops says, or nobody any more.
      await fetch(`${gateway.url}/ready`).then(({ status }) => assert.equal(status, 503), () => undefined);
      if (isPatient) answer();
      await stopped;
      const records = tracesIn(path).map((line) => JSON.parse(line));
      assert.deepEqual(records.map(({ status, hookResults }) => [status, hookResults === '' ? 0 : JSON.parse(hookResults).async_hooks.length]), [[200, isPatient ? 1 : 0]]);
    });
  }

  it('lacks no call without a key that is not counted, when the gateway ends before the minute is over', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'log.jsonl');
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ exporters: [{ id: 'jsonl', params: { path } }] }));
    const gateway = await startChildGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json'), GATEWAY_LOG_LEVEL: 'warn' });
    const calls = 40;
    await Promise.all(Array.from({ length: calls }, async () => {
      const response = await fetch(`${gateway.url}/v1/models`);
      assert.equal(response.status, 401);
      await response.arrayBuffer();
    }));
    gateway.kill('SIGTERM');
    await gateway.ended;
    const counted = [...gateway.stderr().matchAll(/"message":"calls without a valid key were not recorded one by one".*?"count":(\d+)/g)].map((match) => Number(match[1]));
    assert.equal(counted.reduce((sum, count) => sum + count, tracesIn(`${path}.refused`).length), calls, gateway.stderr());
  });

  it('is tried again when it dies and no new one can be made', async () => {
    const folder = temporaryFolder();
    const settings = readSettings({
      GATEWAY_DATA_DIR: folder, GATEWAY_LOG_LEVEL: 'error', GATEWAY_EXPORTERS: 'acme.leave', GATEWAY_THREADS: '1',
      GATEWAY_PLUGINS: writePackage(join(folder, 'package'), packageOf(['leave'])),
    }, folder);
    const memory: LogMemory = { rings: [RingMemory.allocate(1024)], held: new Int32Array(new SharedArrayBuffer(4)), breakers: Breakers.allocate(), revision: RevisionSignal.allocate() };
    const reasons: unknown[] = [];
    const log = (message: string, fields?: Readonly<Record<string, unknown>>): void => { if (message.startsWith('the log thread died')) reasons.push(fields?.reason); };
    const worker = await LogWorker.start({ settings, memory }, { logger: { error: log, warn: log }, metrics: new Metrics() });
    // Like a process that may have no more threads: the constructor throws.
    Object.assign(memory, { notForThreads: () => undefined });
    await until('the second try', () => reasons.length === 2);
    await worker.stop(0, true, Promise.resolve());
    assert.deepEqual([reasons[0], /could not be cloned/.test(String(reasons[1]))], ['it ended by itself', true]);
  });

  it('ends with a start that fails after it', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ exporters: [{ id: 'jsonl', params: { path: '/proc/version/log.jsonl' } }] }));
    await assert.rejects(startTestGateway({ GATEWAY_SETTINGS: join(folder, 'gateway.json') }, { hasLogThread: true }), /the log file \/proc\/version\/log\.jsonl cannot be written/);
  });
});
