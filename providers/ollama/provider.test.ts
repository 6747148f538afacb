import type { JsonObject } from '@gateway/plugin-sdk';
import { fakeCall } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatToOllama } from './chat.js';
import { completionsEndpoint } from './completions.js';
import { embedBody } from './embeddings.js';
import { modelsEndpoint } from './models.js';
import provider from './provider.js';

const hello: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const sent = (more: JsonObject): JsonObject => { const body = { ...hello, ...more }; return chatToOllama(body, fakeCall(body)); };
const tools = ['a', 'b'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } }));

test('what changes the answer is refused, with its place', () => {
  const refused: readonly [JsonObject, string][] = [
    [{ n: 2 }, 'n:'], [{ logit_bias: { 5: 1 } }, 'logit_bias:'], [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs:'],
    [{ modalities: ['text', 'audio'] }, 'modalities:'], [{ reasoning_effort: 'huge' }, 'reasoning_effort:'], [{ tools: [{ type: 'web_search' }] }, 'tools[0]:'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }] }, 'messages[0].content[0]:'],
  ];
  for (const [more, message] of refused) assert.throws(() => sent(more), (thrown: Error) => thrown.message.startsWith(message), message);
});

test('defaults and nulls count as absent', () => {
  assert.deepEqual(sent({ n: 1, logit_bias: null, logprobs: false, response_format: { type: 'text' }, tool_choice: 'auto', temperature: null, stop: null }), { ...hello, stream: false });
});

test('fewer tools say what tool_choice says', () => {
  assert.equal(sent({ tools, tool_choice: 'none' }).tools, undefined);
  assert.deepEqual(sent({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'b' } }] } } }).tools, [tools[1]]);
});

test('what ollama cannot promise is reported', () => {
  const asked = (more: JsonObject): readonly [unknown, readonly string[]] => {
    const body = { ...hello, tools, ...more };
    const call = fakeCall(body);
    return [chatToOllama(body, call).tools, call.reported];
  };
  assert.deepEqual(asked({ tool_choice: 'required' }), [tools, ['tool_choice']]);
  assert.deepEqual(asked({ tool_choice: { type: 'function', function: { name: 'b' } } }), [[tools[1]], ['tool_choice']]);
  assert.deepEqual(asked({ parallel_tool_calls: false }), [tools, ['parallel_tool_calls']]);
  assert.deepEqual(asked({ web_search_options: {} }), [tools, ['web_search_options']]);
});

test('thinking', () => {
  assert.equal(sent({ reasoning_effort: 'none' }).think, false);
  assert.equal(sent({ reasoning_effort: 'xhigh' }).think, 'max');
  assert.equal(sent({ thinking: { type: 'disabled' }, reasoning_effort: 'high' }).think, false);
  assert.equal(sent({ thinking: { type: 'adaptive' } }).think, undefined);
  assert.equal(sent({ think: 'low', reasoning_effort: 'high' }).think, 'low');
  assert.equal(sent({}).think, undefined);
});

test('options of both kinds are put together', () => {
  assert.deepEqual(sent({ options: { num_ctx: 4096, temperature: 1 }, temperature: 0, min_p: 0.1, stop: 'x', max_tokens: 5 }).options, { num_ctx: 4096, temperature: 0, min_p: 0.1, num_predict: 5, stop: ['x'] });
});

test('a list of prompts becomes as many calls', () => {
  const body = { model: 'm', prompt: ['one', 'two'], logprobs: 1 };
  const call = fakeCall(body, { endpoint: 'completions' });
  const spec = completionsEndpoint(call);
  assert.equal(spec.isFanOut, true);
  assert.deepEqual(spec.request?.(body, call), ['one', 'two'].map((prompt) => ({ model: 'm', prompt, stream: false, logprobs: true, top_logprobs: 1 })));
  const answer = (response: string): JsonObject => ({
    model: 'm', response, done: true, done_reason: 'length', prompt_eval_count: 2, eval_count: 3,
    logprobs: [{ token: 'A', logprob: -1, top_logprobs: [{ token: 'A', logprob: -1 }] }, { token: 'b', logprob: -2 }],
  });
  const logprobs = { tokens: ['A', 'b'], token_logprobs: [-1, -2], top_logprobs: [{ A: -1 }, {}], text_offset: [0, 1] };
  assert.deepEqual(spec.response?.([answer('Ab'), answer('Ab')], call), {
    id: 'cmpl-exchange', object: 'text_completion', created: 1_700_000_000, model: 'm',
    choices: [0, 1].map((index) => ({ index, text: 'Ab', logprobs, finish_reason: 'length' })),
    usage: { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 },
  });
  assert.throws(() => completionsEndpoint(fakeCall({ ...body, stream: true })), /one prompt only/);
  assert.throws(() => completionsEndpoint(fakeCall({ model: 'm', prompt: [1, 2] })), /takes no tokens/);
});

test('embeddings take texts only', () => {
  assert.throws(() => embedBody({ model: 'm', input: [[1, 2]] }, fakeCall({ model: 'm' })), /input/);
  assert.deepEqual(embedBody({ model: 'm', input: 'a', truncate: false, user: 'u' }, fakeCall({ model: 'm' })), { truncate: false, model: 'm', input: 'a' });
});

test('one model is asked for at the path that has it', () => {
  const call = fakeCall({}, { endpoint: 'models' });
  const at = (path: string) => modelsEndpoint({ ...call, exchange: { ...call.exchange, request: { ...call.exchange.request, path } } });
  assert.equal(at('/v1/models').path, '/api/tags');
  assert.deepEqual(at('/v1/models/gemma4'), { path: '/v1/models' });
});

test('errors are a text', () => {
  assert.deepEqual(provider.error?.({ error: 'no such model' }, 404, () => undefined), { message: 'no such model' });
  assert.equal(provider.error?.({ message: 'x' }, 404, () => undefined), undefined);
});
