// A data directory without room: calls go on without log, cache and kept responses, and all of it comes back with the room.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { runGateway, spawnGateway, startChildGateway, temporaryFolder, type ChildGateway } from '../support/child-gateway.js';
import { adminKey, apiKey, routed } from '../support/gateway.js';
import { makeSmallDisk } from '../support/small-disk.js';
import { answerChat, chatChunks, startUpstream, type TestUpstream } from '../support/upstream.js';

const clean = { code: 0, signal: null };
const messages = [{ role: 'user', content: 'x' }];
/** Calls that fill several batches of the log. */
const callsOfRound = 40;
const roundsMax = 400;

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function post(gateway: ChildGateway, path: string, config: Record<string, string>, body: object): Promise<Reply> {
  const response = await fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...config }, body: JSON.stringify({ model: 'gpt-test', ...body }) });
  return { status: response.status, text: await response.text() };
}

/** One call of each kind that writes something beside its answer. */
async function callEachKind(gateway: ChildGateway, upstream: TestUpstream, mark: string): Promise<void> {
  const asked = [{ role: 'user', content: `${mark} ${'long '.repeat(400)}` }];
  const cached = routed(upstream.url, { cache: { mode: 'simple' } });
  upstream.answer = answerChat;
  for (const call of [
    () => post(gateway, '/v1/chat/completions', routed(upstream.url), { messages }),
    () => post(gateway, '/v1/chat/completions', cached, { messages: asked }),
    () => post(gateway, '/v1/chat/completions', cached, { messages: asked }),
    () => post(gateway, '/v1/responses', routed(upstream.url, { provider: 'mistral-ai' }), { input: 'x'.repeat(5000), store: true }),
  ]) {
    const { status, text } = await call();
    assert.equal(status, 200, `${mark}: ${text}`);
  }
  upstream.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chatChunks(['a', 'b']).join('\n\n')}\n\n`);
  };
  const streamed = await post(gateway, '/v1/chat/completions', cached, { messages: asked.concat(messages), stream: true });
  assert.equal(streamed.status, 200);
  assert.ok(streamed.text.trimEnd().endsWith('data: [DONE]'), streamed.text);
  upstream.answer = answerChat;
}

async function load(gateway: ChildGateway, upstream: TestUpstream): Promise<void> {
  await Promise.all(Array.from({ length: callsOfRound }, async () => {
    const { status, text } = await post(gateway, '/v1/chat/completions', { ...routed(upstream.url), 'x-gateway-metadata': JSON.stringify({ padding: 'p'.repeat(1500) }) }, { messages });
    assert.equal(status, 200, text);
  }));
}

async function storedRecords(dataDir: string): Promise<LogRecord[]> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  const store = await storage.open('exporter-store-logs');
  const records: LogRecord[] = [];
  for await (const { value } of store.range({ from: '0', to: ':', limit: 100_000 })) records.push(...readLogBatch(value));
  await storage.close?.();
  return records;
}

describe('a data directory without room', () => {
  const disk = makeSmallDisk();
  const dataDir = join(disk.folder, 'data');
  const settingsFile = join(temporaryFolder(), 'gateway.json');
  const linesFile = join(disk.folder, 'log.jsonl');
  writeFileSync(settingsFile, JSON.stringify({ exporters: [{ id: 'store' }, { id: 'jsonl', params: { path: linesFile, bytesMax: 300_000, filesMax: 1 } }] }));
  const environment = { GATEWAY_SETTINGS: settingsFile, GATEWAY_DATA_DIR: dataDir, GATEWAY_THREADS: '2', GATEWAY_LOG_LEVEL: 'warn', GATEWAY_SHUTDOWN_DEADLINE_MS: '1000' };
  const failures = (gateway: ChildGateway): number => gateway.stderr().split('\n').filter((line) => line.includes('storage refused writes')).length;

  it('costs calls nothing but log, cache and kept responses, is told once, and is well again by itself', async () => {
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway(environment);
    await callEachKind(gateway, upstream, 'before');
    disk.fill(gateway.pid);
    // Batches go out in the background: calls go on until one was refused.
    for (let round = 0; failures(gateway) === 0; round += 1) {
      assert.ok(round < roundsMax, `nothing was refused: ${gateway.stderr()}`);
      await load(gateway, upstream);
      await callEachKind(gateway, upstream, `full ${round}`);
    }
    await callEachKind(gateway, upstream, 'still full');
    assert.doesNotMatch(gateway.stderr(), /\n\s+at |unexpected|Unhandled/);

    disk.empty(gateway.pid);
    const emptiedAtMs = Date.now();
    for (let round = 0; ; round += 1) {
      assert.ok(round < roundsMax, `no record is stored again: ${gateway.stderr()}`);
      await load(gateway, upstream);
      if ((await storedRecords(dataDir)).some(({ startedAtMs }) => startedAtMs > emptiedAtMs)) break;
    }
    await callEachKind(gateway, upstream, 'after');
    for (let round = 0; ; round += 1) {
      assert.ok(round < roundsMax, 'no response is kept again');
      const kept = await post(gateway, '/v1/responses', routed(upstream.url, { provider: 'mistral-ai' }), { input: 'y'.repeat(5000), store: true });
      const { id } = JSON.parse(kept.text) as { id: string };
      const again = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: routed(upstream.url) });
      await again.arrayBuffer();
      if (again.status === 200) break;
      await load(gateway, upstream);
    }
    // One line of each kind for each thread (two that serve calls, and that of the log) within its minute, however many writes were refused.
    assert.ok(failures(gateway) <= 3, gateway.stderr());
    const kinds = [...gateway.stderr().matchAll(/"message":"([^"]+)"/g)].map(([, message]) => message ?? '');
    // The log has two exporters.
    for (const kind of new Set(kinds)) assert.ok(kinds.filter((each) => each === kind).length <= (kind === 'log records dropped' ? 4 : 3), gateway.stderr());
    // A line may be cut off where the disk was full, and none is glued to it.
    const lines = readFileSync(linesFile, 'utf8').trimEnd().split('\n');
    const whole = lines.filter((line) => line.startsWith('{"id":') && line.endsWith('}'));
    assert.ok(whole.length > lines.length / 2, `${whole.length} of ${lines.length}`);
    for (const line of whole) assert.doesNotThrow(() => JSON.parse(line), line);

    disk.fill(gateway.pid);
    await load(gateway, upstream);
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
  });

  it('lets a gateway start that ran before, and end', async () => {
    disk.fill();
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway(environment);
    await load(gateway, upstream);
    await callEachKind(gateway, upstream, 'started full');
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    disk.empty();
  });

  it('refuses the first start of all in one sentence, and leaves nothing that stops the next', async () => {
    disk.fill();
    const fresh = { GATEWAY_MASTER_KEY: 'a'.repeat(64), GATEWAY_DATA_DIR: join(disk.folder, 'fresh'), GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey };
    const { code, signal, stderr } = await runGateway(['start'], fresh);
    assert.deepEqual({ code, signal }, { code: 1, signal: null }, stderr);
    assert.match(stderr, /^gateway: [^\n]*no room[^\n]*\n$/);
    disk.empty();
    const gateway = spawnGateway(['start'], fresh);
    await gateway.until((text) => text.includes('Base URL'));
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
  });
});
