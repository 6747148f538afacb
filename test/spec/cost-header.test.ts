import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { storedData } from '../support/stored.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
const upstream = await startUpstream((received, response) => {
  const { model, stream }: { readonly model: string; readonly stream?: boolean } = JSON.parse(received.body.toString() || '{"model":"gpt-4o"}');
  if (received.url.endsWith('/messages')) sendJson(response, 200, { id: 'm', type: 'message', role: 'assistant', model, content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 10, output_tokens: 2 } });
  else if (stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-gateway-cost': '99' });
    response.end(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`);
  } else sendJson(response, model === 'broken' ? 400 : 200, model === 'broken' ? { error: { message: 'no' } } : { ...chatCompletion, model, usage }, { 'x-gateway-cost': '99' });
});
const { rows, environment } = await storedData();
await rows.integration('dear', { key: 'sk' }, { customHost: `${upstream.url}/v1`, pricingAdjustments: { multiplier: { default: 3 } } });
await rows.provider('dear', 'dear');
const gateway = await startTestGateway({ ...environment, GATEWAY_COST_HEADER: 'on' });
const plain = await startTestGateway();

async function costOf(body: object, { headers = routed(upstream.url), path = '/v1/chat/completions', url = gateway.url }: { readonly headers?: Record<string, string>; readonly path?: string; readonly url?: string } = {}): Promise<string | null> {
  const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...body }) });
  await response.arrayBuffer();
  return response.headers.get('x-gateway-cost');
}

/** The first calls of a model go without. */
async function knownCostOf(...given: Parameters<typeof costOf>): Promise<string> {
  const byMs = performance.now() + 60_000;
  for (;;) {
    const cost = await costOf(...given);
    if (cost !== null) return cost;
    assert.ok(performance.now() < byMs, 'no cost was told');
    await sleep(10);
  }
}

describe('the header x-gateway-cost', () => {
  it('has the cost of plain answers, relayed and translated ones', async () => {
    assert.equal(await costOf({ model: 'gpt-4.1' }), null, 'a call waited for its price');
    assert.equal(await knownCostOf({}), '0.350000');
    assert.equal(await knownCostOf({}, { headers: { 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: '@dear' }) } }), '1.050000');
    const claude = { headers: routed(upstream.url, { provider: 'anthropic' }) };
    assert.equal(await knownCostOf({ model: 'claude-sonnet-4-5', max_tokens: 9 }, claude), '0.006000');
    assert.equal(await knownCostOf({ model: 'claude-sonnet-4-5', max_tokens: 9 }, { ...claude, path: '/v1/messages' }), '0.006000');
  });

  it('is 0 for an answer out of a cache', async () => {
    const headers = routed(upstream.url, { cache: { mode: 'simple' } });
    await knownCostOf({});
    assert.equal(await costOf({ seed: 5 }, { headers }), '0.350000');
    assert.equal(await costOf({ seed: 5 }, { headers }), '0.000000');
  });

  it('is left out of streams, of errors, for models without a price, and where nobody asked for it; providers cannot set it', async () => {
    await knownCostOf({});
    assert.equal(await costOf({ stream: true }), null);
    const read = await fetch(`${gateway.url}/v1/responses/resp_1`, { headers: routed(upstream.url) });
    assert.deepEqual([read.status, read.headers.get('x-gateway-cost')], [200, null], 'what was made by another call');
    await read.arrayBuffer();
    assert.equal(await costOf({ model: 'broken' }), null);
    for (let count = 0; count < 3; count += 1) assert.equal(await costOf({ model: 'nobody-knows-it' }), null);
    for (let count = 0; count < 2; count += 1) assert.equal(await costOf({}, { url: plain.url }), null);
  });
});
