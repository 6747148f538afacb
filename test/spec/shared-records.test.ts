// Calls that go along with another one (`share_in_flight`): what their clients and their records are told is what was true of the call that was
// made, and its usage is told to be another's.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import storage from '../../plugins/storage/lmdb/plugin.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { chatChunks, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-shared-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: dataDir });

const at = (path: string): object => ({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/${path}` });
const shared = { mode: 'simple', share_in_flight: true };
/** The first target is busy twice, the second one once. */
const config = {
  strategy: { mode: 'fallback' }, cache: shared,
  targets: [{ ...at('busy'), retry: { attempts: 1, use_retry_after_headers: false } }, { ...at('v1'), retry: { attempts: 2, use_retry_after_headers: false } }],
  output_guardrails: [{ 'default.wordCount': { minWords: 1, maxWords: 100 } }],
};

interface Called { readonly headers: Headers; readonly status: number; readonly text: string }

async function call(trace: string, stream: boolean): Promise<Called> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ model: 'asked', messages: [{ role: 'user', content: `shared ${String(stream)}` }], stream, ...(stream ? { stream_options: { include_usage: true } } : {}) }),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-trace-id': trace, 'x-gateway-config': JSON.stringify(config) },
  });
  return { headers: response.headers, status: response.status, text: await response.text() };
}

/** Three calls of which the provider sees one, with its tries; those that join do so while the first target is being tried. */
async function together(stream: boolean): Promise<Called[]> {
  let tries = 0;
  let release = (): void => undefined;
  const isAsked = new Promise<ServerResponse>((resolve) => {
    upstream.answer = (received, response) => {
      tries += 1;
      if (tries === 1) resolve(response);
      else if (received.url.startsWith('/busy') || tries === 3) sendJson(response, 503, { error: { message: 'busy' } });
      else if (!stream) sendJson(response, 200, chatCompletion);
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${chatChunks(['one ', 'two']).join('\n\n')}\n\n`);
      }
    };
  });
  void isAsked.then((response) => { release = () => sendJson(response, 503, { error: { message: 'busy' } }); });
  const calls = [call(`first ${String(stream)}`, stream)];
  await isAsked;
  for (const name of ['second', 'third']) calls.push(call(`${name} ${String(stream)}`, stream));
  // They have to be there before the first target has answered.
  for (let turn = 0; turn < 3; turn += 1) await (await fetch(`${gateway.url}/health`)).arrayBuffer();
  release();
  const done = await Promise.all(calls);
  assert.equal(tries, 4);
  return done;
}

const called = new Map([[false, await together(false)], [true, await together(true)]]);
await gateway.stop(1000);

const opened = await storage.create({ path: dataDir }, fakeHost());
const records: LogRecord[] = [];
try {
  const logs = await opened.open('exporter-store-logs');
  for await (const row of logs.range({ from: '0', to: ':', limit: 100 })) records.push(...readLogBatch(row.value));
} finally {
  await opened.close?.();
}
const recordOf = (trace: string): LogRecord => records.find((record) => record.traceId === trace && record.isFinal) as LogRecord;

describe('calls that go along with another one', () => {
  for (const stream of [false, true]) {
    it(`tell their clients the target and the retries of that call (${stream ? 'stream' : 'plain'})`, () => {
      const [first, ...others] = called.get(stream)!;
      const told = ({ headers }: Called): unknown[] => ['x-gateway-last-used-option-index', 'x-gateway-provider', 'x-gateway-retry-attempt-count'].map((name) => headers.get(name));
      assert.deepEqual(told(first!), ['config.targets[1]', 'openai', '1']);
      assert.equal(first!.headers.get('x-gateway-cache-status'), 'MISS');
      for (const [index, other] of others.entries()) {
        assert.deepEqual(told(other), told(first!));
        assert.equal(other.headers.get('x-gateway-cache-status'), 'SHARED');
        assert.equal(other.headers.get('x-gateway-trace-id'), `${['second', 'third'][index]} ${String(stream)}`);
        assert.deepEqual([other.status, other.text], [first!.status, first!.text]);
      }
    });

    it(`have records of it: target, model, usage, hooks, and that the tokens are another's (${stream ? 'stream' : 'plain'})`, () => {
      const first = recordOf(`first ${String(stream)}`);
      const expected = stream ? [9, 2, 11] : [9, 3, 12];
      assert.deepEqual([first.cacheStatus, first.attempts, first.targetPath, first.inputTokens, first.outputTokens, first.totalTokens], ['MISS', 4, 'config.targets[1]', ...expected]);
      for (const name of ['second', 'third']) {
        const record = recordOf(`${name} ${String(stream)}`);
        const same = ({ provider, targetPath, model, status, ended, errorCode, isStream, finishReason, inputTokens, outputTokens, totalTokens }: LogRecord): unknown =>
          ({ provider, targetPath, model, status, ended, errorCode, isStream, finishReason, inputTokens, outputTokens, totalTokens });
        assert.deepEqual(same(record), same(first));
        assert.deepEqual([record.cacheStatus, record.attempts], ['SHARED', 0]);
        assert.equal(record.hookResults, first.hookResults);
      }
      // What was paid for is counted once: with the calls that were made.
      const paid = records.filter(({ cacheStatus, traceId, isFinal }) => isFinal && traceId.endsWith(String(stream)) && !['HIT', 'SEMANTIC HIT', 'SHARED'].includes(cacheStatus));
      assert.equal(paid.length, 1);
    });
  }
});
