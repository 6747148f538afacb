import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import type { EndpointName, Json } from '@gateway/plugin-sdk';
import plugin from './plugin.js';

const message = (content: Json, role = 'user'): Json => ({ role, content });
const picture: Json = { type: 'image_url', image_url: { url: 'https://pictures.example/1.png' } };
const block: Json = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const tool: Json = { type: 'function', function: { name: 'look' } };

conformGuardrail(plugin, {
  passes: [
    { text: 'short', params: { maxBytes: 200, maxMessages: 1, maxImages: 0, maxTools: 0, maxCharactersPerMessage: 5 } },
    { body: {}, params: { maxMessages: 0, maxImages: 0, maxTools: 0, maxCharactersPerMessage: 0 } },
    { body: { messages: [] }, params: { maxMessages: 0 } },
    { body: { messages: 'no list' }, params: { maxMessages: 1, maxImages: 0 } },
    { body: { messages: [message([picture]), message('and?')] }, params: { maxImages: 1 } },
    { body: { tools: [tool] }, params: { maxTools: 1 } },
    { body: { messages: [message('12345'), message('12345')] }, params: { maxCharactersPerMessage: 5 } },
    { endpoint: 'embeddings', body: { input: ['a', 'b'] }, params: { maxMessages: 2 } },
  ],
  fails: [
    { text: 'x'.repeat(300), params: { maxBytes: 200 } },
    { text: '123456', params: { maxCharactersPerMessage: 5 } },
    { body: { messages: [message('a'), message('b')] }, params: { maxMessages: 1 } },
    { endpoint: 'responses', body: { input: [message('a'), message('b')] }, params: { maxMessages: 1 } },
    { endpoint: 'embeddings', body: { input: ['a', 'b', 'c'] }, params: { maxMessages: 2 } },
    { endpoint: 'rerank', body: { query: 'q', documents: ['a', 'b', 'c'] }, params: { maxMessages: 2 } },
    { endpoint: 'completions', body: { prompt: ['a', 'b', 'c'] }, params: { maxMessages: 2 } },
    { body: { messages: [message([picture, picture])] }, params: { maxImages: 1 } },
    { endpoint: 'messages', body: { messages: [message([{ type: 'tool_result', tool_use_id: 't', content: [block, block] }])] }, params: { maxImages: 1 } },
    { endpoint: 'responses', body: { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'https://a.example/' }] }] }, params: { maxImages: 0 } },
    { body: { tools: [tool, tool] }, params: { maxTools: 1 } },
    { body: { tools: [tool], functions: [{ name: 'old' }] }, params: { maxTools: 1 } },
    { body: { messages: [message([{ type: 'text', text: '123' }, { type: 'text', text: '456' }])] }, params: { maxCharactersPerMessage: 5 } },
    { endpoint: 'messages', body: { system: 'a long system text', messages: [] }, params: { maxCharactersPerMessage: 5 } },
  ],
  refuses: [{}],
});

describe('size limit', () => {
  const judge = async (params: Parameters<typeof plugin.create>[0], body: Json, endpoint: EndpointName = 'chatCompletions') =>
    (await plugin.create(params, fakeHost())).evaluate(fakeCheckInput({ body, endpoint }));

  it('names every limit that is exceeded, with what is allowed and what was found', async () => {
    const verdict = await judge({ maxMessages: 1, maxTools: 0, maxBytes: 100_000 }, { messages: [message('a'), message('b')], tools: [tool] });
    assert.equal(verdict.pass, false);
    assert.equal(verdict.why, 'the request is too large: 2 messages (at most 1), 1 tools (at most 0)');
    assert.deepEqual(verdict.data, {
      reasons: [{ limit: 'maxMessages', allowed: 1, found: 2 }, { limit: 'maxTools', allowed: 0, found: 1 }],
      explanation: verdict.why,
    });
  });

  it('counts bytes, not characters, of the body', async () => {
    const body: Json = { input: 'ä'.repeat(10) };
    const bytes = Buffer.byteLength(JSON.stringify(body));
    assert.equal((await judge({ maxBytes: bytes }, body, 'embeddings')).pass, true);
    assert.equal((await judge({ maxBytes: bytes - 1 }, body, 'embeddings')).pass, false);
  });

  it('asks for no parsed body when it only counts bytes', () => {
    assert.deepEqual(plugin.needsFor?.({ maxBytes: 1 }), { request: 'bytes' });
    assert.deepEqual(plugin.needsFor?.({ maxBytes: 1, maxImages: 0 }), { request: 'json' });
  });

  it('does not follow contents in contents without end', async () => {
    let nested: Json = picture;
    for (let depth = 0; depth < 100; depth += 1) nested = { type: 'tool_result', content: [nested] };
    assert.equal((await judge({ maxImages: 0 }, { messages: [message([nested])] })).pass, true);
  });
});
