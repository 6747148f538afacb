// The semantic cache over HTTP, with the real model in the real worker pool.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

let asked = 0;
upstream.answer = (_, response) => {
  asked += 1;
  sendJson(response, 200, { id: `c${asked}`, object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: `answer ${asked}` }, finish_reason: 'stop' }] });
};

interface Called { readonly cache: string | null; readonly text: string }

async function ask(content: string, more: object = {}, headers: Record<string, string> = {}): Promise<Called> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }),
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey, ...headers,
      'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, cache: { mode: 'semantic' } }),
    },
  });
  assert.equal(response.status, 200);
  return { cache: response.headers.get('x-gateway-cache-status'), text: await response.text() };
}

it('answers a question that means the same, and none that differs in what matters', { timeout: 240_000 }, async () => {
  assert.equal((await ask('How do I reset my password?')).cache, 'SEMANTIC MISS');
  // Kept a moment after the answer, once the model is loaded.
  let same = await ask('How can I reset my password?', { temperature: 0.1 });
  for (let turn = 0; turn < 2000 && same.cache !== 'SEMANTIC HIT'; turn += 1) {
    same = await ask('How can I reset my password?');
    if (same.cache === 'HIT') break;
  }
  assert.ok(same.cache === 'SEMANTIC HIT' || same.cache === 'HIT', `${same.cache}`);
  const before = asked;
  for (const different of ['How do I reset my username?', 'How do I reset my password on 2 devices?', 'Why should I never reset my password?']) {
    assert.equal((await ask(different)).cache, 'SEMANTIC MISS', different);
  }
  // Another model, other parameters, another tenant's metadata: another question, whatever it means.
  assert.equal((await ask('How can I reset my password?', { model: 'other' })).cache, 'SEMANTIC MISS');
  assert.equal((await ask('How can I reset my password?', {}, { 'x-gateway-metadata': '{"team":"b"}' })).cache, 'SEMANTIC MISS');
  assert.equal(asked - before, 5);
  // Nothing to compare in a picture.
  assert.equal((await ask('', { messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }] })).cache, 'MISS');
});
