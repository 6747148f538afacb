// The built-in provider through the gateway: what `npm start` shows first, and what an in-process transport has to get.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { apiKey, startTestGateway } from '../support/gateway.js';

const gateway = await startTestGateway();
const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: { 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'mock' } });
const messages = [{ role: 'user' as const, content: 'Hello there' }];

describe('the mock provider through the gateway', () => {
  it('answers plain and streamed', async () => {
    const plain = await client.chat.completions.create({ model: 'mock', messages });
    assert.equal(plain.choices[0]?.message.content, 'Hello there');
    let heard = '';
    for await (const chunk of await client.chat.completions.create({ model: 'mock?cut=5', messages, stream: true })) heard += chunk.choices[0]?.delta.content ?? '';
    assert.equal(heard, 'Hello there');
  });

  it('gets the body of an upload and of a proxied call whole', async () => {
    const { text } = await client.audio.transcriptions.create({ model: 'mock', file: await toFile(Buffer.alloc(300_000), 'a.wav') });
    assert.ok(Number(/\d+/.exec(text)?.[0]) > 300_000, text);
    const answer = await fetch(`${gateway.url}/v1/proxy/chat/completions`, {
      method: 'POST', headers: { 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'mock', 'content-type': 'application/json' }, body: JSON.stringify({ model: 'mock', messages }),
    });
    assert.equal(answer.status, 200);
  });

  it('is told apart from the gateway when it breaks off', async () => {
    const stream = await client.chat.completions.create({ model: 'mock?break_after=2', messages, stream: true });
    await assert.rejects(async () => { for await (const chunk of stream) assert.ok(chunk); }, /mock broke off|broke off before its end/);
  });

  it('answers for odd paths instead of failing inside', async () => {
    for (const path of ['/v1/proxy//', '/v1/proxy//x:99999/y']) {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'mock' } });
      assert.equal(answer.status, 404, path);
    }
  });
});
