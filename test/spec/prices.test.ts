// What calls cost, in their records: a gateway with its log thread, providers of every family behind it, and the table of prices beside.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { LogRecord } from '@gateway/plugin-sdk';
import { startGateway } from '../../core/app.js';
import { readSettings } from '../../core/settings/read.js';
import { adminKey, apiKey } from '../support/gateway.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100, prompt_tokens_details: { cached_tokens: 400 }, completion_tokens_details: { reasoning_tokens: 20 } };
const messageUsage = {
  input_tokens: 50, cache_creation_input_tokens: 300, cache_read_input_tokens: 600, cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 }, output_tokens: 80, server_tool_use: { web_search_requests: 2 },
};
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', stop_sequence: null, usage: messageUsage };
const imageUsage = {
  promptTokenCount: 300, candidatesTokenCount: 1_300, totalTokenCount: 1_600, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 42 }, { modality: 'IMAGE', tokenCount: 258 }],
  candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }, { modality: 'IMAGE', tokenCount: 1_290 }],
};
const sse = (...events: readonly unknown[]): string => events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

const upstream = await startUpstream((received, response) => {
  const body: { readonly model?: string; readonly stream?: boolean } = received.body.length === 0 || received.url.endsWith('/transcriptions') ? {} : JSON.parse(received.body.toString());
  const model = body.model === 'deployment' ? 'gpt-4o-2024-08-06' : body.model === 'gpt-4o' ? 'gpt-4o-2024-08-06' : body.model ?? '';
  if (received.url.startsWith('/broken')) sendJson(response, 500, { error: { message: 'broken', type: 'server_error' } });
  else if (received.url.includes('/batches')) sendJson(response, 200, { id: 'batch_1', object: 'batch', status: 'completed', model: 'gpt-4o-2024-08-06', usage: { input_tokens: 1_000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 100, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 1_100 } });
  else if (received.url.endsWith('/messages') && body.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const named = (event: { readonly type: string; readonly [member: string]: unknown }): string => `event: ${event.type}\n${sse(event)}`;
    response.end([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { ...messageUsage, output_tokens: 1, server_tool_use: undefined } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }, { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 80, server_tool_use: { web_search_requests: 2 } } }, { type: 'message_stop' },
    ].map(named).join(''));
  } else if (received.url.endsWith('/messages')) sendJson(response, 200, message);
  else if (received.url.includes(':generateContent')) sendJson(response, 200, { candidates: [{ content: { parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'aW1n' } }], role: 'model' }, finishReason: 'STOP', index: 0 }], usageMetadata: imageUsage, modelVersion: 'gemini-2.5-flash-image' });
  else if (received.url.endsWith('/transcriptions')) sendJson(response, 200, { text: 'said', usage: { type: 'duration', seconds: 60 } });
  else if (received.url.endsWith('/embeddings')) sendJson(response, 200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'text-embedding-3-small', usage: { prompt_tokens: 500, total_tokens: 500 } });
  else if (body.stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model };
    response.end(sse({ ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] }, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { ...chunk, choices: [], usage }, '[DONE]'));
  } else sendJson(response, 200, { ...chatCompletion, model, usage });
});

const folder = mkdtempSync(join(tmpdir(), 'gateway-prices-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'records.jsonl');
const { rows, environment } = await storedData();
const model = (slug: string, changes: object): object => ({ slug, name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null, ...changes });
await rows.integration('plain', { key: 'sk' }, { customHost: `${upstream.url}/v1` });
await rows.integration('own', { key: 'sk' }, { customHost: `${upstream.url}/v1`, models: [model('gpt-4o', { pricing_config: { pay_as_you_go: { request_token: { price: 0.01 } } } }), model('deployment', { pricing_config: { pay_as_you_go: { request_token: { price: 0.02 }, response_token: { price: 0.04 } } } })] as never });
await rows.integration('dear', { key: 'sk' }, { customHost: `${upstream.url}/v1`, pricingAdjustments: { multiplier: { default: 2, cache_read_input_token: 0 } } });
await rows.integration('claude', { key: 'sk' }, { customHost: `${upstream.url}/v1`, aiProviderId: 'anthropic' });
await rows.integration('gemini', { key: 'sk' }, { customHost: upstream.url, aiProviderId: 'google' });
for (const slug of ['plain', 'own', 'dear', 'claude', 'gemini']) await rows.provider(slug, slug);
const budgetKey = 'key-with-a-budget-0000';
await rows.key(budgetKey, { usageLimits: { type: 'cost', credit_limit: 1_000 } });
const settings = readSettings({ ...environment, GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey, GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_LOG_LEVEL: 'error', GATEWAY_RETRY_DELAY_MS: '1' }, folder);
const gateway = await startGateway({ ...settings, exporters: [{ id: 'jsonl', params: { path: file } }] }, { hasControlThread: false });
after(() => gateway.stop(0));

const recordsOf = (trace: string): LogRecord[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter((line) => line.includes(trace)).map((line): LogRecord => JSON.parse(line)) : []);

async function untilLogged(trace: string, count = 1): Promise<LogRecord[]> {
  const byMs = performance.now() + 60_000;
  for (;;) {
    const found = recordsOf(trace);
    if (found.length >= count) return found;
    assert.ok(performance.now() < byMs, `no record of ${trace}`);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}

async function call(body: object, { path = '/v1/chat/completions', config, count = 1, method = 'POST', key = apiKey }: { readonly key?: string; readonly path?: string; readonly config?: object; readonly count?: number; readonly method?: string } = {}): Promise<readonly LogRecord[]> {
  const trace = randomUUID();
  const response = await fetch(gateway.url + path, {
    method, ...(method === 'GET' ? {} : { body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }) }),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-trace-id': trace, ...(config === undefined ? {} : { 'x-gateway-config': JSON.stringify(config) }) },
  });
  await response.arrayBuffer();
  return untilLogged(trace, count);
}
async function one(...given: Parameters<typeof call>): Promise<LogRecord> {
  const [record] = await call(...given);
  assert.ok(record);
  return record;
}

/** Cents, by the package itself. */
function priceOf(provider: string, name: string, used: Readonly<Record<string, number>>): number {
  const found = findProvider({ providerId: provider });
  assert.ok(found);
  const price = calcPrice(used, name, { provider: found });
  assert.ok(price, name);
  return price.total_price * 100;
}
const gpt4o = priceOf('openai', 'gpt-4o-2024-08-06', { input_tokens: 1_000, cache_read_tokens: 400, output_tokens: 100 });
const claude = priceOf('anthropic', 'claude-sonnet-4-5-20250929', { input_tokens: 950, cache_read_tokens: 600, cache_write_tokens: 300, cache_write_1h_tokens: 200, output_tokens: 80, web_searches: 2 });
const near = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} instead of ${expected}`);
const costs = (record: LogRecord, expected: number): void => {
  near(record.cost, expected);
  assert.deepEqual([record.isPriced, record.saved], [true, 0]);
};

// Records come in batches, a second apart: waiting for them one by one would take long.
describe('the cost of a call, in its record', { concurrency: 16 }, () => {
  it('is that of the table, of plain answers and streams', async () => {
    for (const record of await Promise.all([one({ model: '@plain/gpt-4o' }), one({ model: '@plain/gpt-4o', stream: true })])) {
      costs(record, gpt4o);
      assert.deepEqual([record.model, record.inputTokens, record.cachedTokens, record.decision], ['gpt-4o-2024-08-06', 1_000, 400, '']);
    }
  });

  it('has cache writes, the cache of an hour and web searches, in the dialect of the provider and in others', async () => {
    await Promise.all([false, true].flatMap((stream) => ['/v1/messages', '/v1/chat/completions', '/v1/responses'].map(async (path) => {
      const record = await one({ model: '@claude/claude-sonnet-4-5', max_tokens: 100, stream, ...(path === '/v1/chat/completions' ? stream ? { stream_options: { include_usage: true } } : {} : path === '/v1/responses' ? { messages: undefined, max_tokens: undefined, input: 'Hello' } : {}) }, { path });
      assert.deepEqual([path, stream, record.inputTokens, record.cachedTokens, record.cacheWriteTokens, record.outputTokens], [path, stream, 950, 600, 300, 80]);
      costs(record, claude);
    })));
  });

  it('has images that a model made', async () => {
    await Promise.all(['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/images/generations'].map(async (path) => {
      const record = await one({ model: '@gemini/gemini-2.5-flash-image', ...(path === '/v1/messages' ? { max_tokens: 9 } : path === '/v1/responses' ? { messages: undefined, input: 'Hello' } : path.includes('images') ? { messages: undefined, prompt: 'A cat' } : {}) }, { path });
      assert.deepEqual([path, record.inputImageTokens, record.outputImageTokens], [path, 258, 1_290]);
      costs(record, priceOf('google', 'gemini-2.5-flash-image', { input_tokens: 300, output_tokens: 1_300, output_image_tokens: 1_290 }));
    }));
  });

  it('is that of embeddings', async () => costs(await one({ model: '@plain/text-embedding-3-small', input: 'x' }, { path: '/v1/embeddings' }), priceOf('openai', 'text-embedding-3-small', { input_tokens: 500 })));

  it('is that of transcripts, which name no model themselves', async () => {
    const trace = randomUUID();
    const form = new FormData();
    form.set('model', '@plain/whisper-1');
    form.set('file', new Blob(['sound']), 'a.mp3');
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers: { 'x-gateway-api-key': apiKey, 'x-gateway-trace-id': trace }, body: form });
    assert.equal(response.status, 200, await response.text());
    const [record] = await untilLogged(trace);
    assert.ok(record);
    assert.equal(record.model, 'whisper-1');
    costs(record, priceOf('openai', 'whisper-1', { audio_seconds: 60, input_audio_seconds: 60 }));
  });

  it('goes by the prices of the integration, under the name that was asked for', async () => {
    costs(await one({ model: '@own/gpt-4o' }), 600 * 0.01 + 400 * 0.000125 + 100 * 0.001);
    const record = await one({ model: '@own/deployment' });
    costs(record, 600 * 0.02 + 400 * 0.000125 + 100 * 0.04);
    assert.match(record.decision, /"about":"price","asked":"deployment"/);
    costs(await one({ model: '@plain/gpt-4o' }), gpt4o);
  });

  it('is the same where the call was priced as it ran, under a budget', async () => {
    for (const stream of [false, true]) {
      const record = await one({ model: '@dear/gpt-4o', stream }, { key: budgetKey });
      costs(record, 2 * (gpt4o - 400 * 0.000125));
      assert.match(record.decision, /"about":"limit"/);
    }
    costs(await one({ model: '@claude/claude-sonnet-4-5', max_tokens: 100 }, { path: '/v1/messages', key: budgetKey }), claude);
  });

  it('obeys a changed price with the next call', async () => {
    for (const price of [0.5, 0.7]) {
      const changed = await fetch(`${gateway.url}/v1/integrations/own/models`, {
        method: 'PUT', headers: { 'content-type': 'application/json', 'x-gateway-api-key': adminKey },
        body: JSON.stringify({ models: [{ slug: 'late', enabled: true, is_custom: true, pricing_config: { pay_as_you_go: { request_token: { price }, response_token: { price: 0 } } } }] }),
      });
      assert.equal(changed.status, 200, await changed.text());
      costs(await one({ model: '@own/late' }), 1_000 * price);
    }
  });

  it('is adjusted kind by kind', async () => costs(await one({ model: '@dear/gpt-4o' }), 2 * (gpt4o - 400 * 0.000125)));

  it('is nothing, and the saving is told, for an answer out of a cache', async () => {
    const config = { provider: '@plain', cache: { mode: 'simple' } };
    costs(await one({ model: 'gpt-4o', seed: 77 }, { config }), gpt4o);
    const hit = await one({ model: 'gpt-4o', seed: 77 }, { config });
    assert.equal(hit.cacheStatus, 'HIT');
    assert.deepEqual([hit.cost, hit.isPriced], [0, true]);
    near(hit.saved, gpt4o);
  });

  it('is that of the target that answered, and nothing for one that was left', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/broken` }, { provider: '@dear' }] };
    const records = await call({ model: 'gpt-4o' }, { config });
    const record = records.find(({ isFinal }) => isFinal);
    assert.ok(record);
    costs(record, 2 * (gpt4o - 400 * 0.000125));
    for (const left of records.filter(({ isFinal }) => !isFinal)) assert.deepEqual([left.cost, left.isPriced], [0, true]);
  });

  it('is half for a batch, which is paid for once however often it is looked at', async () => {
    const config = { provider: '@plain' };
    costs(await one({}, { path: '/v1/batches/batch_1', method: 'GET', config }), priceOf('openai', 'gpt-4o', { input_tokens: 1_000, output_tokens: 100 }) / 2);
    costs(await one({}, { path: '/v1/batches/batch_1', method: 'GET', config }), 0);
  });

  it('is nothing, and said to be unknown, for a model without a price; for a refused call it is nothing', async () => {
    const { cost, isPriced, saved } = await one({ model: '@plain/nobody-knows-it' });
    assert.deepEqual([cost, isPriced, saved], [0, false, 0]);
    const refused = await one({ model: 'gpt-4o' }, { config: { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/broken` } });
    assert.deepEqual([refused.status, refused.cost, refused.isPriced], [500, 0, true]);
  });
});
