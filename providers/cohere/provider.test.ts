import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import { isObject, isProviderError, type EndpointSpec, type EventSink, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatAnswer, logprobsOf } from './chat-answer.js';
import { ChatStage } from './chat-stream.js';
import { chatRequest } from './chat.js';
import { embeddings } from './embeddings.js';
import { models } from './models.js';
import provider from './provider.js';
import { rerank } from './rerank.js';

const messages = [{ role: 'user', content: 'Hello' }];
const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } });

function sent(body: JsonObject): { wire: JsonObject; reported: readonly string[] } {
  const full = { model: 'command-a-03-2025', messages, ...body };
  const call = fakeCall(full);
  const wire = chatRequest(full, call);
  assert.ok(isObject(wire));
  return { wire, reported: call.reported };
}

const refused = (body: JsonObject, param: string): void => {
  assert.throws(() => sent(body), (error: unknown) => error instanceof Refusal && error.param === param, param);
};

describe('chat requests', () => {
  test('what the answer cannot be is refused', () => {
    refused({ n: 2 }, 'n');
    refused({ top_logprobs: 3, logprobs: true }, 'top_logprobs');
    refused({ logit_bias: { 5: 1 } }, 'logit_bias');
    refused({ modalities: ['text', 'audio'] }, 'modalities');
    refused({ audio: { voice: 'alloy' } }, 'audio');
    refused({ tools: [{ type: 'custom', custom: { name: 'a' } }] }, 'tools[0]');
    refused({ messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] }] }, 'messages[0].content[0]');
    refused({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'AA==' } }] }] }, 'messages[0].content[0]');
    refused({ messages: [{ role: 'tool', tool_call_id: 'a', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }] }, 'messages[0].content[0]');
  });

  test('numbers out of range are refused, never clamped', () => {
    for (const [name, value] of [['top_p', 0], ['top_p', 0.995], ['top_k', 501], ['frequency_penalty', -0.5], ['presence_penalty', 1.5]] as const) refused({ [name]: value }, name);
    refused({ stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'stop');
  });

  test('defaults and null count as absent', () => {
    const { wire, reported } = sent({
      n: 1, top_p: 1, frequency_penalty: 0, presence_penalty: null, logprobs: false, top_logprobs: 0, logit_bias: {}, response_format: { type: 'text' }, store: false,
      service_tier: 'auto', modalities: ['text'], parallel_tool_calls: true, stop: null, user: null, temperature: null,
    });
    assert.deepEqual(wire, { model: 'command-a-03-2025', messages });
    assert.deepEqual(reported, []);
  });

  test('what stops clients is reported', () => {
    const { wire, reported } = sent({ tools: [tool('a')], parallel_tool_calls: false, web_search_options: {} });
    assert.deepEqual([Object.hasOwn(wire, 'parallel_tool_calls'), [...reported].sort()], [false, ['parallel_tool_calls', 'web_search_options']]);
  });

  test('hints are reported', () => {
    const { wire, reported } = sent({ user: 'u', metadata: { a: 'b' }, store: true, service_tier: 'flex', prompt_cache_key: 'k', verbosity: 'low', prediction: { type: 'content', content: 'x' } });
    assert.deepEqual(wire, { model: 'command-a-03-2025', messages });
    assert.deepEqual([...reported].sort(), ['metadata', 'prediction', 'prompt_cache_key', 'service_tier', 'store', 'user', 'verbosity']);
  });

  test('tool choice', () => {
    const tools = [tool('a'), tool('b')];
    assert.equal(sent({ tools, tool_choice: 'auto' }).wire.tool_choice, undefined);
    assert.equal(sent({ tools, tool_choice: 'none' }).wire.tool_choice, 'NONE');
    assert.equal(sent({ tools, tool_choice: 'NONE' }).wire.tool_choice, 'NONE');
    const allowed = sent({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'b' } }] } } }).wire;
    assert.equal(allowed.tool_choice, undefined);
    assert.deepEqual(allowed.tools, [tool('b')]);
    refused({ tools, tool_choice: { type: 'function', function: { name: 'c' } } }, 'tool_choice');
  });

  test('reasoning', () => {
    assert.deepEqual(sent({ reasoning_effort: 'none' }).wire.thinking, { type: 'disabled' });
    assert.deepEqual(sent({ reasoning_effort: 'low' }), { wire: { model: 'command-a-03-2025', messages, thinking: { type: 'enabled' } }, reported: ['reasoning_effort'] });
    assert.deepEqual(sent({ thinking: { type: 'adaptive' } }).wire.thinking, { type: 'enabled' });
    assert.deepEqual(sent({ thinking: { type: 'enabled', token_budget: 9 } }).wire.thinking, { type: 'enabled', token_budget: 9 });
    assert.deepEqual(sent({ thinking: { type: 'disabled', budget_tokens: 9 } }).wire.thinking, { type: 'disabled' });
  });

  test("Cohere's own response format comes through", () => {
    const format = { type: 'json_object', json_schema: { type: 'object' } };
    assert.deepEqual(sent({ response_format: format }).wire.response_format, format);
  });
});

describe('chat answers', () => {
  test('a generation that failed is an error', () => {
    const answer = { id: 'a', message: { role: 'assistant', content: [] }, finish_reason: 'TIMEOUT' };
    assert.throws(() => chatAnswer(answer, fakeCall()), (error: unknown) => isProviderError(error) && error.status === 504);
  });

  test('citations keep their place when the answer has several texts', () => {
    const source = { type: 'document', document: { url: 'https://example.com', title: 'T' } };
    const answer = chatAnswer({
      message: { content: [{ type: 'text', text: 'One. ' }, { type: 'text', text: 'Two.' }], citations: [{ start: 0, end: 3, content_index: 1, sources: [source] }] },
      finish_reason: 'COMPLETE',
    }, fakeCall());
    assert.match(JSON.stringify(answer), /"start_index":5,"end_index":8/);
  });

  test('a text without log probabilities has none', () => {
    assert.equal(logprobsOf([{ text: 'a', token_ids: [1] }]), undefined);
    assert.equal(logprobsOf(undefined), undefined);
  });
});

function streamed(events: readonly Json[], call: ProviderCall = fakeCall()): { chunks: Json[]; fault: string } {
  const chunks: Json[] = [];
  let fault = '';
  const out: EventSink = { write: ({ data }) => { chunks.push(data as Json); }, end: () => undefined, fail: (error) => { fault = error.message; } };
  const stage = new ChatStage(call);
  for (const event of events) stage.push({ event: undefined, data: JSON.stringify(event) }, out);
  stage.end(out);
  return { chunks, fault };
}

describe('chat streams', () => {
  test('an error in the middle ends the stream, and nothing comes after', () => {
    const { chunks, fault } = streamed([{ type: 'message-start', id: 'a' }, { message: 'internal server error' }, { type: 'content-delta', delta: { message: { content: { text: 'x' } } } }]);
    assert.equal(fault, 'internal server error');
    assert.equal(chunks.length, 1);
  });

  test('events of unknown types are passed over', () => {
    const { fault, chunks } = streamed([{ type: 'debug', prompt: 'p' }, { type: 'message-end', delta: { finish_reason: 'COMPLETE' } }]);
    assert.equal(fault, '');
    assert.equal(chunks.length, 2);
  });

  test('log probabilities come with their text', () => {
    const { chunks } = streamed([{ type: 'content-delta', delta: { message: { content: { text: 'Hi' } } }, logprobs: { text: 'Hi', token_ids: [1], logprobs: [-0.5] } }]);
    assert.match(JSON.stringify(chunks[1]), /"logprob":-0.5/);
  });

  test('a strict client sees neither plans nor citations', () => {
    const { chunks } = streamed([
      { type: 'tool-plan-delta', delta: { message: { tool_plan: 'x' } } },
      { type: 'citation-start', delta: { message: { citations: { start: 0, end: 1, sources: [] } } } },
    ], fakeCall({}, { isStrict: true }));
    assert.deepEqual(chunks, []);
  });
});

describe('embeddings', () => {
  const make = (body: JsonObject): { spec: EndpointSpec; call: ProviderCall; wire: Json } => {
    const call = fakeCall(body, { endpoint: 'embeddings' });
    const spec = embeddings(call);
    return { spec, call, wire: spec.request?.(body, call) ?? null };
  };

  test('more than 96 inputs are several calls with one answer', () => {
    const { spec, call, wire } = make({ model: 'embed-v4.0', input: Array.from({ length: 200 }, (_, index) => `text ${index}`) });
    assert.equal(spec.isFanOut, true);
    assert.ok(Array.isArray(wire));
    assert.deepEqual(wire.map((part) => (isObject(part) && Array.isArray(part.texts) ? part.texts.length : 0)), [96, 96, 8]);
    const answer = spec.response?.([{ embeddings: { float: [[1], [2]] }, meta: { billed_units: { input_tokens: 3 } } }, { embeddings: { float: [[3]] }, meta: { billed_units: { input_tokens: 4 } } }], call);
    assert.deepEqual(answer, {
      object: 'list', model: 'embed-v4.0', usage: { prompt_tokens: 7, total_tokens: 7 },
      data: [1, 2, 3].map((number, index) => ({ object: 'embedding', index, embedding: [number] })),
    });
  });

  test('tokens and several types are refused', () => {
    assert.throws(() => make({ input: [1, 2, 3] }), Refusal);
    assert.throws(() => make({ input: [[1, 2], [3]] }), Refusal);
    assert.throws(() => make({ input: 'a', embedding_types: ['float', 'int8'] }), Refusal);
    assert.throws(() => make({}), Refusal);
  });

  test("Cohere's own form comes through", () => {
    assert.deepEqual(make({ model: 'm', images: ['data:image/png;base64,AA=='] }).wire, { model: 'm', images: ['data:image/png;base64,AA=='], embedding_types: ['float'], input_type: 'image' });
  });
});

describe('rerank', () => {
  const make = (body: JsonObject): Json => rerank.request?.(body, fakeCall(body, { endpoint: 'rerank' })) ?? null;

  test('rank_fields choose what is ranked', () => {
    const documents = [{ text: 'body', title: 'head', id: 7 }];
    assert.deepEqual(make({ documents, query: 'q', rank_fields: ['title', 'text'] }), { query: 'q', documents: ['title: head\ntext: body\n'] });
    assert.deepEqual(make({ documents, query: 'q', rank_fields: ['title'] }), { query: 'q', documents: ['head'] });
    assert.throws(() => make({ documents, query: 'q', rank_fields: ['other'] }), Refusal);
  });

  test('what makes no sense is refused', () => {
    assert.throws(() => make({ documents: [], query: 'q' }), Refusal);
    assert.throws(() => make({ documents: ['a'], query: 'q', top_n: 0 }), Refusal);
    assert.throws(() => make({ documents: [5], query: 'q' }), Refusal);
  });
});

test('the models of a page, and one model', () => {
  assert.deepEqual(models.response?.({ models: [{ name: 'a' }] }, fakeCall()), { object: 'list', data: [{ id: 'a', object: 'model', created: 0, owned_by: 'cohere', name: 'a' }] });
  assert.deepEqual(models.response?.({ name: 'a' }, fakeCall()), { id: 'a', object: 'model', created: 0, owned_by: 'cohere', name: 'a' });
});

test('errors', () => {
  assert.deepEqual(provider.error?.({ message: 'invalid api token' }, 401, () => undefined), { message: 'invalid api token' });
  assert.deepEqual(provider.error?.({ data: 'too many tokens' }, 400, () => undefined), { message: 'too many tokens' });
  assert.equal(provider.error?.({ other: 1 }, 400, () => undefined), undefined);
});
