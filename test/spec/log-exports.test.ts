// Files of log exports on their way to the client: by a link, without a key, piece by piece.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryLogs } from '../support/memory-logs.js';
import { apiKey, startTestGateway } from '../support/gateway.js';

const logs = new MemoryLogs();
logs.pageRecords = 100;
const gateway = await startTestGateway({}, { logs });
const waitMsMax = 60_000;
const pauseMs = 20;

const call = async (method: string, path: string, body?: unknown): Promise<Record<string, any>> => {
  const response = await fetch(gateway.url + path, { method, headers: { 'x-gateway-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const answer: Record<string, any> = JSON.parse(await response.text());
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
};

async function exported(filters: object, requested_data: readonly string[]): Promise<{ readonly id: string; readonly url: string }> {
  const { id } = await call('POST', '/v1/logs/exports', { filters, requested_data });
  await call('POST', `/v1/logs/exports/${String(id)}/start`);
  for (const byMs = performance.now() + waitMsMax; performance.now() < byMs && (await call('GET', `/v1/logs/exports/${String(id)}`)).status === 'in_progress';);
  return { id, url: (await call('GET', `/v1/logs/exports/${String(id)}/download`)).signed_url };
}

const pathOf = (id: string): string => {
  const folder = join(gateway.dataDir, 'exports');
  return join(folder, readdirSync(folder).find((name) => name.startsWith(id)) ?? '');
};

const log = (text: string, trace: string) => ({ request: { url: '/v1/chat/completions', body: { model: 'm', messages: [{ role: 'user', content: text }] } }, response: { body: { model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1 } } }, metadata: { trace_id: trace } });

describe('a file of an export', () => {
  it('is fetched by its link without a key, byte by byte as it was written, and more than once', async () => {
    // Some megabytes: more than one piece, and more than a socket takes at once.
    for (let round = 0; round < 10; round += 1) await call('POST', '/v1/logs', Array.from({ length: 4 }, (_, index) => log(`${round}-${index} ${'é'.repeat(50_000)}`, 'long')));
    const { id, url } = await exported({ trace_id: 'long' }, ['id', 'request']);
    assert.ok(url.startsWith(gateway.url), url);
    const written = readFileSync(pathOf(id));
    assert.ok(written.length > 3_000_000, String(written.length));
    for (let round = 0; round < 2; round += 1) {
      const response = await fetch(url);
      assert.deepEqual([response.status, response.headers.get('content-length'), response.headers.get('cache-control'), response.headers.get('content-disposition')], [200, String(written.length), 'no-store', `attachment; filename="logs-${id}.jsonl"`]);
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(written));
    }
    assert.equal(written.toString().trimEnd().split('\n').length, 40);
  });

  it('that is empty is fetched, too', async () => {
    const response = await fetch((await exported({ trace_id: 'nobody' }, ['id'])).url);
    assert.deepEqual([response.status, await response.text()], [200, '']);
  });

  it('is for nobody with another link, and gone when it is gone', async () => {
    const { id, url } = await exported({ trace_id: 'nobody' }, ['id']);
    const { id: other } = await exported({ trace_id: 'nobody' }, ['id']);
    const wrong = [`${url}x`, url.replace(id, other), url.replace(/expires=\d+/, 'expires=99999999999999'), url.replace(/\?.*/, ''), url.replace(/signature=.*/, 'signature=')];
    for (const each of wrong) {
      const response = await fetch(each);
      const body: Record<string, any> = await response.json() as Record<string, any>;
      assert.deepEqual([response.status, body.data.errorCode, /ask for a new one/.test(body.message)], [403, 'AB03', true], each);
    }
    // Other methods are those of the control plane, which asks for a key.
    assert.equal((await fetch(url, { method: 'POST' })).status, 401);
    rmSync(pathOf(id));
    assert.equal((await fetch(url)).status, 404);
  });

  it('is closed when its client leaves in the middle', async () => {
    const { url } = await exported({ trace_id: 'long' }, ['id', 'request']);
    const { pathname, search } = new URL(url);
    for (let round = 0; round < 20; round += 1) {
      await new Promise<void>((resolve, reject) => {
        const socket = connect(gateway.port, '127.0.0.1', () => socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\n\r\n`));
        socket.once('data', () => { socket.destroy(); resolve(); });
        socket.once('error', reject);
      });
    }
    // More than may be open at once have come and gone: the next one waits until the first of them are known to be gone.
    let status = 429;
    for (const byMs = performance.now() + waitMsMax; status === 429 && performance.now() < byMs;) {
      const response = await fetch(url);
      status = response.status;
      await response.arrayBuffer();
      // It is looked for clients that left once a second.
      if (status === 429) await sleep(pauseMs);
    }
    assert.equal(status, 200);
  });
});
