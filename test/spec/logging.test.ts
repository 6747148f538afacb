// What is left of a call when it is over: its record, read back from the data directory of a gateway that has stopped. And what must not be
// left anywhere: keys.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import { allRows } from '../../plugins/exporters/store/partitions.js';
import storage from '../../plugins/storage/lmdb/plugin.js';
import { deadAddress } from '../support/dead-address.js';
import { adminKey, apiKey, routed, startTestGateway } from '../support/gateway.js';
import { answerChat, chatChunks, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const secrets = {
  apiKey, adminKey, provider: 'sk-provider-secret-0123456789', client: 'sk-client-secret-0123456789', wrong: 'wrong-gateway-key-0123456789', region: 'cloud-secret-0123456789', body: 'body-secret-0123456789',
};

const printed: string[] = [];
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (...given: unknown[]): boolean => {
    printed.push(typeof given[0] === 'string' ? given[0] : Buffer.from(given[0] as Uint8Array).toString('latin1'));
    return write(...given);
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-logging-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'debug' });
const gone = await deadAddress();

const messages = [{ role: 'user', content: secrets.body }];
const startedAtMs = Date.now();
/** What the wall clock may be set by while calls are timed by the other one. */
const clockMsMax = 2_000;

/** Calls by the trace id they were made with: what the client saw of each. */
const clients = new Map<string, { status: number; bytes: number; spanId: string | null }>();

async function call(trace: string, headers: Record<string, string>, body: Record<string, unknown> | null = {}, path = '/v1/chat/completions', method = 'POST'): Promise<void> {
  const response = await fetch(gateway.url + path, {
    method, headers: { 'content-type': 'application/json', 'x-gateway-trace-id': trace, ...headers }, ...(body === null ? {} : { body: JSON.stringify({ model: 'asked-model', messages, ...body }) }),
  });
  const spanId = response.headers.get('x-gateway-span-id');
  const bytes = (await response.arrayBuffer()).byteLength;
  clients.set(trace, { status: response.status, bytes, spanId });
}

const config = (more: Record<string, unknown> = {}): Record<string, string> => routed(upstream.url, { api_key: secrets.provider, ...more });
const target = (url: string): Record<string, unknown> => ({ provider: 'openai', api_key: secrets.provider, custom_host: `${url}/v1` });

// ---- the calls ----

upstream.answer = answerChat;
await call('plain', { ...config(), 'x-gateway-span-id': 'span-1', 'x-gateway-parent-span-id': 'parent-1', 'x-gateway-span-name': 'first step', 'x-gateway-metadata': Buffer.from('{"user":"Grüße"}').toString('latin1') });
await call('parent', { ...config(), traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' });

upstream.answer = (_, response) => sendJson(response, 200, {
  ...chatCompletion, usage: { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120, prompt_tokens_details: { cached_tokens: 64 }, completion_tokens_details: { reasoning_tokens: 16 } },
});
await call('details', config());

upstream.answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chatChunks(['a', 'b', 'c']).join('\n\n')}\n\n`);
};
await call('stream', config(), { stream: true });

upstream.answer = (_, response) => sendJson(response, 429, { error: { message: 'slow down' } });
await call('provider-error', config());

let tries = 0;
upstream.answer = (received, response, request) => {
  tries += 1;
  setTimeout(() => {
    if (tries < 3) sendJson(response, 503, { error: {} });
    else answerChat(received, response, request);
  }, 40);
};
await call('retried', config({ retry: { attempts: 3 } }));

upstream.answer = answerChat;
await call('fallback', { 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [target(gone.url), target(upstream.url)] }) });
await call('dead', { 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(target(gone.url)) });
await call('embeddings', config(), { input: 'x' }, '/v1/embeddings');
await call('proxy', { ...config(), authorization: `Bearer ${secrets.client}`, 'x-api-key': secrets.client }, null, '/v1/proxy/things?limit=1', 'GET');
await call('by-provider', { authorization: `Bearer ${secrets.client}`, 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1` });
await call('bearer', { 'x-gateway-config': config()['x-gateway-config'] ?? '', authorization: `Bearer ${apiKey}` });

await call('no-key', { 'x-gateway-config': config()['x-gateway-config'] ?? '' });
await call('wrong-key', { ...config(), 'x-gateway-api-key': secrets.wrong });
await call('admin-key', { ...config(), 'x-gateway-api-key': adminKey });
await call('bad-config', config({ cloud1_secret_access_key: secrets.region, retry: secrets.provider }));
await call('broken-config', { 'x-gateway-api-key': apiKey, 'x-gateway-config': `{"api_key":"${secrets.provider}"` });
await call('bad-body', config(), { temperature: 99 });
await call('bad-host', config({ custom_host: `http://user:${secrets.client}@127.0.0.1:1` }));

// The upstream breaks off in the midst of a stream.
upstream.answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`${chatChunks(['a', 'b']).slice(0, 2).join('\n\n')}\n\n`, () => { response.destroy(); });
};
await call('broke-off', config(), { stream: true });

/** Sends a call on a socket of its own, to be left. */
async function leave(trace: string, until: (text: string) => boolean, arrived: Promise<void>, closed: Promise<void>): Promise<void> {
  const wire = await openWire(gateway.port);
  const body = JSON.stringify({ model: 'asked-model', messages, stream: true });
  const headers = Object.entries({ host: 'g', ...config(), 'x-gateway-trace-id': trace, 'content-type': 'application/json', 'content-length': String(body.length) });
  wire.write(`POST /v1/chat/completions HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
  await arrived;
  await wire.until(until);
  wire.destroy();
  await closed;
}

for (const [trace, begins] of [['left-stream', true], ['left-early', false]] as const) {
  let noteArrived: () => void = () => {};
  let noteClosed: () => void = () => {};
  const arrived = new Promise<void>((resolve) => { noteArrived = resolve; });
  const closed = new Promise<void>((resolve) => { noteClosed = resolve; });
  upstream.answer = (_, response) => {
    response.on('close', noteClosed);
    if (begins) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${chatChunks(['a', 'b']).slice(0, 2).join('\n\n')}\n\n`);
    }
    noteArrived();
  };
  await leave(trace, begins ? (text) => text.includes('"content":"a"') : () => true, arrived, closed);
}

// Answers that are translated: counts are read where their shape is known.
upstream.answer = answerChat;
await call('as-message', config({ provider: 'ovhcloud' }), { max_tokens: 5 }, '/v1/messages');
await call('as-response', config({ provider: 'ovhcloud' }), { messages: undefined, input: 'x', store: false }, '/v1/responses');
upstream.answer = (_, response) => sendJson(response, 200, {
  candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 11, cachedContentTokenCount: 4, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 16 }, modelVersion: 'gemini-x',
});
await call('translated', config({ provider: 'google' }));
upstream.answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":3,"totalTokenCount":14},"modelVersion":"gemini-x"}\n\n');
};
await call('translated-stream', config({ provider: 'google' }), { stream: true });
upstream.answer = (_, response) => sendJson(response, 400, { error: { code: 400, message: secrets.body, status: 'INVALID_ARGUMENT' } });
await call('translated-error', config({ provider: 'google' }));

for (const path of ['/health', '/v1/proxy/a%2f..%2fb', '/nowhere']) await (await fetch(gateway.url + path)).arrayBuffer();

await gateway.stop(2000);
const endedAtMs = Date.now();

// ---- what is left of them ----

const opened = await storage.create({ path: dataDir }, fakeHost());
const records: LogRecord[] = [];
try {
  const logs = await opened.open('exporter-store-logs');
  for await (const row of logs.range({ ...allRows, limit: 10_000 })) records.push(...readLogBatch(row.value).filter((record) => record.isFinal));
} finally {
  await opened.close?.();
}

const recordOf = (trace: string): LogRecord => {
  const found = records.filter((record) => record.traceId === trace);
  assert.equal(found.length, 1, `${found.length} records of ${trace}`);
  return found[0] as LogRecord;
};

describe('the log', () => {
  it('has one record for each call, and none for what is not a call', () => {
    const traces = [...clients.keys(), 'left-stream', 'left-early'];
    assert.deepEqual(records.map((record) => record.traceId).sort(), traces.sort());
    assert.equal(new Set(records.map((record) => record.id)).size, records.length);
  });

  it('says of each call what the client saw', () => {
    for (const [trace, client] of clients) {
      const record = recordOf(trace);
      assert.equal(record.status, client.status, trace);
      assert.equal(record.responseBytes, client.bytes, trace);
      assert.equal(record.spanId, client.spanId, trace);
    }
  });

  it('has times that fit together', () => {
    for (const record of records) {
      assert.ok(record.startedAtMs >= startedAtMs - clockMsMax && record.startedAtMs <= endedAtMs + clockMsMax, record.traceId);
      assert.ok(record.tookMs > 0 && record.tookMs <= endedAtMs - startedAtMs + clockMsMax, record.traceId);
      assert.ok(record.upstreamMs >= 0 && record.upstreamMs <= record.tookMs, record.traceId);
      assert.ok(record.firstByteMs <= record.tookMs, record.traceId);
      if (record.traceId !== 'left-early') assert.ok(record.firstByteMs >= 0, record.traceId);
    }
    assert.equal(recordOf('left-early').firstByteMs, -1);
    const retried = recordOf('retried');
    assert.ok(retried.upstreamMs >= 110, `three waits of 40 ms are ${retried.upstreamMs} ms`);
    assert.equal(recordOf('no-key').upstreamMs, 0);
  });

  it('has all there is to know of a plain call', () => {
    const record = recordOf('plain');
    assert.match(record.id, /^[0-9a-f-]{36}$/);
    assert.equal(record.spanId, 'span-1');
    assert.equal(record.parentSpanId, 'parent-1');
    assert.equal(record.spanName, 'first step');
    assert.equal(record.metadata, '{"user":"Grüße"}');
    assert.equal(record.endpoint, 'chatCompletions');
    assert.equal(record.method, 'POST');
    assert.equal(record.path, '/v1/chat/completions');
    assert.equal(record.provider, 'openai');
    assert.equal(record.model, 'gpt-test-2024');
    assert.equal(record.targetPath, 'config');
    assert.equal(record.ended, 'complete');
    assert.equal(record.errorCode, '');
    assert.equal(record.isStream, false);
    assert.equal(record.attempts, 1);
    assert.equal(record.cacheStatus, 'DISABLED');
    assert.equal(record.finishReason, 'stop');
    assert.deepEqual([record.inputTokens, record.outputTokens, record.totalTokens], [9, 3, 12]);
    assert.equal(record.requestBytes, JSON.stringify({ model: 'asked-model', messages }).length);
    for (const id of [record.organisationId, record.workspaceId, record.keyId]) assert.match(id, /^[0-9a-f-]{36}$/);
  });

  it('takes the parent from traceparent when the client names no other', () => {
    assert.equal(recordOf('parent').parentSpanId, '00f067aa0ba902b7');
  });

  it('tells cached and reasoning tokens', () => {
    const record = recordOf('details');
    assert.deepEqual([record.inputTokens, record.outputTokens, record.totalTokens, record.cachedTokens, record.reasoningTokens], [90, 30, 120, 64, 16]);
  });

  it('has the usage of a stream', () => {
    const record = recordOf('stream');
    assert.equal(record.isStream, true);
    assert.equal(record.ended, 'complete');
    assert.equal(record.model, 'gpt-test-2024');
    assert.equal(record.finishReason, 'stop');
    assert.deepEqual([record.inputTokens, record.outputTokens, record.totalTokens], [9, 3, 12]);
  });

  it('has the provider\'s error with the model that was asked for', () => {
    const record = recordOf('provider-error');
    assert.equal(record.status, 429);
    assert.equal(record.ended, 'complete');
    assert.equal(record.errorCode, '');
    assert.equal(record.provider, 'openai');
    assert.equal(record.model, 'asked-model');
    assert.deepEqual([record.inputTokens, record.outputTokens, record.totalTokens], [-1, -1, -1]);
  });

  it('counts the attempts of a retried call and of a fallback', () => {
    assert.equal(recordOf('retried').attempts, 3);
    assert.equal(recordOf('retried').status, 200);
    assert.equal(recordOf('fallback').attempts, 2);
    assert.equal(recordOf('fallback').targetPath, 'config.targets[1]');
    assert.equal(recordOf('fallback').errorCode, '');
  });

  it('has the code of an error of the gateway, and who was at fault', () => {
    const expected: Record<string, [status: number, code: string, attempts: number, ended: string]> = {
      dead: [502, 'UPSTREAM_UNREACHABLE', 1, 'upstream'], 'no-key': [401, 'KEY_MISSING', 0, 'complete'], 'wrong-key': [401, 'KEY_INVALID', 0, 'complete'],
      'admin-key': [403, 'KEY_WITHOUT_WORKSPACE', 0, 'complete'], 'bad-config': [400, 'CONFIG_INVALID', 0, 'complete'], 'broken-config': [400, 'CONFIG_NOT_JSON', 0, 'complete'],
      'bad-body': [400, 'BODY_INVALID', 0, 'complete'], 'bad-host': [400, 'CUSTOM_HOST_INVALID', 0, 'complete'],
    };
    for (const [trace, [status, code, attempts, ended]] of Object.entries(expected)) {
      const record = recordOf(trace);
      assert.deepEqual([record.status, record.errorCode, record.attempts, record.ended], [status, code, attempts, ended], trace);
    }
  });

  it('names the caller as soon as the key is known, and nobody before', () => {
    const known = recordOf('plain');
    for (const trace of ['bearer', 'bad-config', 'bad-body', 'left-early', 'proxy']) {
      assert.equal(recordOf(trace).keyId, known.keyId, trace);
      assert.equal(recordOf(trace).workspaceId, known.workspaceId, trace);
    }
    for (const trace of ['no-key', 'wrong-key']) assert.deepEqual([recordOf(trace).keyId, recordOf(trace).workspaceId], ['', ''], trace);
    assert.notEqual(recordOf('admin-key').keyId, known.keyId);
    assert.equal(recordOf('admin-key').organisationId, known.organisationId);
  });

  it('tells the routes apart', () => {
    assert.equal(recordOf('embeddings').endpoint, 'embeddings');
    assert.equal(recordOf('proxy').endpoint, 'proxy');
    assert.equal(recordOf('proxy').method, 'GET');
    assert.equal(recordOf('proxy').path, '/v1/proxy/things');
    assert.equal(recordOf('proxy').requestBytes, 0);
  });

  it('has what came of a stream that broke off', () => {
    const record = recordOf('broke-off');
    assert.equal(record.status, 200);
    assert.equal(record.ended, 'upstream');
    assert.equal(record.errorCode, 'UPSTREAM_BROKE');
    assert.equal(record.isStream, true);
    assert.equal(record.model, 'gpt-test-2024');
    assert.equal(record.totalTokens, -1);
  });

  it('has what came until the client left', () => {
    const begun = recordOf('left-stream');
    assert.deepEqual([begun.status, begun.ended, begun.isStream, begun.model, begun.attempts], [200, 'client', true, 'gpt-test-2024', 1]);
    assert.ok(begun.responseBytes > 0);
    const early = recordOf('left-early');
    assert.deepEqual([early.status, early.ended, early.model, early.attempts, early.responseBytes], [499, 'client', 'asked-model', 1, 0]);
  });
});

describe('secrets', () => {
  const formsOf = (secret: string): (string | Buffer)[] => [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64').slice(0, -4), Buffer.from(secret, 'utf16le')];

  it('are in no file of the data directory', () => {
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const bytes = Buffer.concat(files.map((file) => readFileSync(file)));
    assert.ok(bytes.includes('left-stream') && bytes.includes('asked-model'), 'the records can be found in these bytes');
    for (const [name, secret] of Object.entries(secrets)) for (const form of formsOf(secret)) assert.ok(!bytes.includes(form), `${name} is in the data directory`);
  });

  it('are in nothing that was printed', () => {
    const text = printed.join('');
    for (const [name, secret] of Object.entries(secrets)) assert.ok(!text.includes(secret), `${name} was printed`);
  });
});

describe('the records of translated calls', () => {
  it('count tokens as the provider told them', () => {
    const counts = (trace: string): unknown[] => {
      const record = records.find(({ traceId }) => traceId === trace);
      return [record?.status, record?.inputTokens, record?.outputTokens, record?.totalTokens, record?.finishReason, record?.isStream];
    };
    assert.deepEqual(counts('as-message'), [200, 9, 3, 12, 'end_turn', false]);
    assert.deepEqual(counts('as-response').slice(0, 4), [200, 9, 3, 12]);
    assert.deepEqual(counts('translated'), [200, 11, 5, 16, 'stop', false]);
    assert.deepEqual(counts('translated-stream'), [200, 11, 3, 14, 'stop', true]);
    assert.equal(counts('translated-error')[0], 400);
  });
});
