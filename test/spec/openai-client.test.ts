// The official client against the gateway, as a user would point it there.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import OpenAI, { APIError, toFile } from 'openai';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { answerChat, answerStream, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: routed(upstream.url) });

describe('the openai client through the gateway', () => {
  it('gets a plain chat completion, and the provider gets the request unchanged', async () => {
    upstream.answer = answerChat;
    const { data, response } = await client.chat.completions
      .create({ model: 'gpt-test', messages: [{ role: 'user', content: 'Grüße 👋' }], temperature: 0.5 }).withResponse();
    assert.equal(data.choices[0]?.message.content, 'Hello there.');
    assert.deepEqual(data.usage, chatCompletion.usage);
    const sent = upstream.received.at(-1);
    assert.equal(sent?.url, '/v1/chat/completions');
    assert.equal(sent.headers.authorization, 'Bearer sk-upstream');
    assert.deepEqual(sent.json(), { model: 'gpt-test', messages: [{ role: 'user', content: 'Grüße 👋' }], temperature: 0.5 });
    assert.equal(response.headers.get('x-gateway-provider'), 'openai');
    assert.equal(response.headers.get('x-gateway-last-used-option-index'), 'config');
    assert.equal(response.headers.get('x-gateway-retry-attempt-count'), '0');
    assert.equal(response.headers.get('x-gateway-cache-status'), 'DISABLED');
    assert.match(response.headers.get('server-timing') ?? '', /^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/);
  });

  it('gets a streamed chat completion, every delta in order', async () => {
    const words = Array.from({ length: 200 }, (_, index) => `w${index}é `);
    upstream.answer = answerStream(words);
    const stream = await client.chat.completions.create({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }], stream: true, stream_options: { include_usage: true } });
    const heard: string[] = [];
    let usage: unknown;
    for await (const chunk of stream) {
      const content = chunk.choices[0]?.delta.content;
      if (content) heard.push(content);
      usage = chunk.usage ?? usage;
    }
    assert.deepEqual(heard, words);
    assert.deepEqual(usage, { prompt_tokens: 9, completion_tokens: 200, total_tokens: 209 });
  });

  it('gets tool calls', async () => {
    const toolCalls = [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Köln"}' } }];
    upstream.answer = (_, response) => sendJson(response, 200, {
      ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: toolCalls }, finish_reason: 'tool_calls' }],
    });
    const answer = await client.chat.completions.create({
      model: 'gpt-test', messages: [{ role: 'user', content: 'weather?' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }],
    });
    assert.deepEqual(answer.choices[0]?.message.tool_calls, toolCalls);
  });

  it('gets embeddings for a list', async () => {
    upstream.answer = (received, response) => {
      const { input } = received.json() as { input: string[] };
      sendJson(response, 200, {
        object: 'list', model: 'embed-test', data: input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, index] })), usage: { prompt_tokens: 2, total_tokens: 2 },
      });
    };
    const answer = await client.embeddings.create({ model: 'embed-test', input: ['a', 'bcd'], encoding_format: 'float' });
    assert.deepEqual(answer.data.map((entry) => entry.embedding), [[1, 0], [3, 1]]);
  });

  it('uploads 20 MB of audio whole', async () => {
    const audio = randomBytes(20 * 1024 * 1024);
    const digest = createHash('sha256').update(audio).digest('hex');
    upstream.answer = (received, response) => {
      const at = received.body.indexOf(audio.subarray(0, 64));
      const found = createHash('sha256').update(received.body.subarray(at, at + audio.length)).digest('hex');
      sendJson(response, 200, { text: found });
    };
    const answer = await client.audio.transcriptions.create({ model: 'whisper-test', file: await toFile(audio, 'speech.wav') });
    assert.equal(answer.text, digest);
    assert.equal(upstream.received.at(-1)?.url, '/v1/audio/transcriptions');
  });

  it('uploads, lists, reads and deletes files', async () => {
    const file = { id: 'file-1', object: 'file', bytes: 5, created_at: 1, filename: 'a.jsonl', purpose: 'batch', status: 'processed' };
    upstream.answer = (received, response) => {
      if (received.method === 'POST') sendJson(response, 200, file);
      else if (received.method === 'DELETE') sendJson(response, 200, { id: 'file-1', object: 'file', deleted: true });
      else if (received.url.endsWith('/content')) response.end(Buffer.from([0, 255, 10, 13]));
      else if (received.url.includes('file-1')) sendJson(response, 200, file);
      else sendJson(response, 200, { object: 'list', data: [file], has_more: false });
    };
    assert.equal((await client.files.create({ purpose: 'batch', file: await toFile(Buffer.from('{"a":1}\n'), 'a.jsonl') })).id, 'file-1');
    assert.equal((await client.files.list({ purpose: 'batch' })).data.length, 1);
    assert.equal(upstream.received.at(-1)?.url, '/v1/files?purpose=batch');
    assert.equal((await client.files.retrieve('file-1')).filename, 'a.jsonl');
    assert.deepEqual([...new Uint8Array(await (await client.files.content('file-1')).arrayBuffer())], [0, 255, 10, 13]);
    assert.equal((await client.files.delete('file-1')).deleted, true);
  });

  it('lists models and reads one whose id holds a slash', async () => {
    upstream.answer = (received, response) => sendJson(response, 200, received.url === '/v1/models'
      ? { object: 'list', data: [{ id: 'm', object: 'model', created: 1, owned_by: 'o' }] }
      : { id: decodeURIComponent(received.url.slice('/v1/models/'.length)), object: 'model', created: 1, owned_by: 'o' });
    assert.deepEqual((await client.models.list()).data.map((model) => model.id), ['m']);
    assert.equal((await client.models.retrieve('org/m')).id, 'org/m');
  });

  it('speaks, moderates, draws, completes, and uses responses', async () => {
    const wave = randomBytes(70_000);
    upstream.answer = (_, response) => { response.writeHead(200, { 'content-type': 'audio/wav' }); response.end(wave); };
    const speech = await client.audio.speech.create({ model: 'tts-test', input: 'hi', voice: 'alloy' });
    assert.deepEqual(Buffer.from(await speech.arrayBuffer()), wave);
    upstream.answer = (received, response) => sendJson(response, 200, { path: received.url });
    const paths = [
      await client.moderations.create({ input: 'x' }),
      await client.images.generate({ prompt: 'x', model: 'gpt-image-1' }),
      await client.completions.create({ model: 'm', prompt: 'x' }),
      await client.responses.create({ model: 'm', input: 'x' }),
      await client.batches.list(),
      await client.fineTuning.jobs.list(),
    ].map((answer) => (answer as unknown as { path?: string; body?: { path: string } }).path ?? (answer as unknown as { body: { path: string } }).body.path);
    assert.deepEqual(paths, ['/v1/moderations', '/v1/images/generations', '/v1/completions', '/v1/responses', '/v1/batches', '/v1/fine_tuning/jobs']);
  });

  it('gets the provider\'s error with status, message and code', async () => {
    upstream.answer = (_, response) => sendJson(response, 429, { error: { message: 'slow down', type: 'rate_limit_error', param: null, code: 'rate_limited' } }, { 'retry-after': '7' });
    await assert.rejects(client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] }), (error: unknown) => {
      assert.ok(error instanceof APIError);
      assert.equal(error.status, 429);
      assert.equal(error.code, 'rate_limited');
      assert.match(error.message, /slow down/);
      assert.equal(error.headers?.get('retry-after'), '7');
      return true;
    });
  });

  it('routes by provider header and the provider\'s key in Authorization', async () => {
    upstream.answer = answerChat;
    const byHeader = new OpenAI({
      baseURL: `${gateway.url}/v1`, apiKey: 'sk-of-the-client', maxRetries: 0,
      defaultHeaders: { 'x-gateway-api-key': apiKey, 'x-gateway-provider': 'openai', 'x-gateway-custom-host': `${upstream.url}/v1` },
    });
    await byHeader.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    const sent = upstream.received.at(-1);
    assert.equal(sent?.headers.authorization, 'Bearer sk-of-the-client');
    assert.deepEqual(Object.keys(sent.headers).filter((name) => name.startsWith('x-')), []);
  });

  it('takes the gateway key as Authorization and never forwards it', async () => {
    upstream.answer = answerChat;
    const { 'x-gateway-api-key': _, ...config } = routed(upstream.url);
    const byBearer = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0, defaultHeaders: config });
    await byBearer.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    assert.equal(upstream.received.at(-1)?.headers.authorization, 'Bearer sk-upstream');
    assert.ok(!JSON.stringify(upstream.received.at(-1)?.rawHeaders).includes(apiKey));
  });
});
