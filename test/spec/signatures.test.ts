// Requests that are signed: checked by an independent implementation, on the first attempt, after a retry, with a session token, with
// credentials from headers, over a fan-out, and for bodies that the config changed.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { bedrock } from '../matrix/bedrock.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type Received } from '../support/upstream.js';

const gateway = await startTestGateway();
const upstream = await startUpstream();
beforeEach(() => { upstream.received.length = 0; });

const target = bedrock.target(upstream.url);
const converse = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } }, stopReason: 'end_turn', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: { latencyMs: 1 },
};

/** Throws when the signature is not the one that the documentation asks for. */
async function verify(received: Received): Promise<void> {
  const headers = Object.fromEntries(Object.entries(received.headers).map(([name, value]) => [name, String(value)]));
  assert.ok(bedrock.verify !== undefined);
  await bedrock.verify({ method: received.method, url: received.url, headers, body: received.body });
}

const post = (path: string, body: unknown, config: object, headers: Record<string, string> = {}): Promise<Response> => fetch(gateway.url + path, {
  method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...headers },
});
const hello = { model: 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3', messages: [{ role: 'user', content: 'Grüße' }] };

describe('a signed request', () => {
  it('is signed anew for a retry', async () => {
    upstream.answer = (_, response) => (upstream.received.length === 1 ? sendJson(response, 503, { message: 'busy' }) : sendJson(response, 200, converse));
    const response = await post('/v1/chat/completions', hello, { ...target, retry: { attempts: 1 }, override_params: { temperature: 0.25 } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-gateway-retry-attempt-count'), '1');
    assert.equal(upstream.received.length, 2);
    for (const received of upstream.received) await verify(received);
    assert.equal(upstream.received[0]?.url, `/model/${encodeURIComponent(hello.model)}/converse`);
    assert.deepEqual((upstream.received[1]?.json() as { inferenceConfig?: unknown }).inferenceConfig, { temperature: 0.25 });
  });

  it('carries the session token in its signature', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, converse);
    assert.equal((await post('/v1/chat/completions', hello, { ...target, cloud1_session_token: 'session/token+=' })).status, 200);
    const [received] = upstream.received;
    assert.ok(received !== undefined);
    assert.equal(received.headers['x-amz-security-token'], 'session/token+=');
    assert.match(String(received.headers.authorization), /SignedHeaders=[^,]*x-amz-security-token/);
    await verify(received);
  });

  it('takes credentials from headers when the config has none', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, converse);
    const { provider, custom_host: host, ...credentials } = target;
    const headers = Object.fromEntries(Object.entries(credentials).map(([name, value]) => [`x-gateway-${name.replaceAll('_', '-')}`, String(value)]));
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST', body: JSON.stringify(hello),
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-provider': String(provider), 'x-gateway-custom-host': String(host), ...headers },
    });
    assert.equal(response.status, 200, await response.text());
    await verify(upstream.received[0] as Received);
    assert.ok(Object.keys(upstream.received[0]?.headers ?? {}).every((name) => !name.startsWith('x-gateway-')));
  });

  it('is signed for each text of a list that goes up one by one, and every vector comes back in its place', async () => {
    upstream.answer = (received, response) => {
      const text = String(received.json().inputText);
      // The later answers come first.
      setImmediate(() => sendJson(response, 200, { embedding: [text.length, 1], inputTextTokenCount: text.length }));
    };
    const input = Array.from({ length: 20 }, (_, index) => 'x'.repeat(index + 1));
    const response = await post('/v1/embeddings', { model: 'amazon.titan-embed-text-v2:0', input }, target);
    const answer = await response.json() as { data: { index: number; embedding: number[] }[]; usage: { prompt_tokens: number } };
    assert.equal(response.status, 200);
    assert.deepEqual(answer.data.map(({ index, embedding }) => [index, embedding[0]]), input.map((text, index) => [index, text.length]));
    assert.equal(answer.usage.prompt_tokens, 210);
    assert.equal(upstream.received.length, 20);
    for (const received of upstream.received) await verify(received);
  });

  it('of a list is refused when it would be too many calls', async () => {
    const response = await post('/v1/embeddings', { model: 'amazon.titan-embed-text-v2:0', input: Array.from({ length: 2_049 }, () => 'a') }, target);
    assert.equal(response.status, 400);
    assert.equal(upstream.received.length, 0);
  });

  it('of a list fails as a whole with the first fault', async () => {
    upstream.answer = (received, response) => (received.json().inputText === 'bad' ? sendJson(response, 429, { message: 'slow down' }) : sendJson(response, 200, { embedding: [1], inputTextTokenCount: 1 }));
    const response = await post('/v1/embeddings', { model: 'amazon.titan-embed-text-v2:0', input: ['a', 'bad', 'c'] }, target);
    assert.equal(response.status, 429);
    assert.equal((await response.json() as { error: { message: string } }).error.message, 'slow down');
  });

  it('without credentials says which are missing', async () => {
    const response = await post('/v1/chat/completions', hello, { provider: 'bedrock', custom_host: upstream.url });
    assert.ok(response.status >= 400 && response.status < 500);
    assert.match((await response.json() as { error: { message: string } }).error.message, /cloud1_access_key_id/);
    assert.equal(upstream.received.length, 0);
  });
});
