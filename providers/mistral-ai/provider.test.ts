import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import { isObject, isProviderError, type EventSink, type Json, type JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatAnswer } from './chat-answer.js';
import { ChatStage } from './chat-stream.js';
import { chatRequest } from './chat.js';
import { moderations, speech } from './endpoints.js';
import { mistralError } from './error.js';
import { completions } from './fim.js';
import { mistralId } from './tool-ids.js';

const messages = [{ role: 'user', content: 'Hello' }];
const tool = (name: string): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object', properties: {} } } });

function sent(body: JsonObject): { wire: JsonObject; reported: readonly string[] } {
  const full = { model: 'mistral-large-latest', messages, ...body };
  const call = fakeCall(full);
  const wire = chatRequest(full, call);
  assert.ok(isObject(wire));
  return { wire, reported: call.reported };
}

const refused = (body: JsonObject, param: string): void => {
  assert.throws(() => sent(body), (error: unknown) => error instanceof Refusal && error.param === param, param);
};

describe('ids of tool calls', () => {
  test('nine letters and digits, always the same for the same id', () => {
    assert.equal(mistralId('D681PevKs'), 'D681PevKs');
    for (const id of ['', 'call_1', 'toolu_01A', 'call_PTLP8xhu3uwZk4l3nlnrrJha', 'ee61e87d-25d8-4bad-8e47-02939eb234c5', '123456789é']) {
      assert.match(mistralId(id), /^[A-Za-z0-9]{9}$/);
      assert.equal(mistralId(id), mistralId(id));
    }
  });

  test('different ids stay different', () => {
    const seen = new Set(Array.from({ length: 20_000 }, (_, index) => mistralId(`call_exchange${index}`)));
    assert.equal(seen.size, 20_000);
  });
});

describe('chat requests', () => {
  test('what the answer cannot be is refused', () => {
    refused({ logprobs: true }, 'logprobs');
    refused({ top_logprobs: 2 }, 'top_logprobs');
    refused({ logit_bias: { 5: 1 } }, 'logit_bias');
    refused({ modalities: ['audio'] }, 'modalities');
    refused({ audio: {} }, 'audio');
    refused({ tools: [{ type: 'custom', custom: { name: 'a' } }] }, 'tools[0]');
  });

  test('nothing that Mistral would not know goes up', () => {
    const { wire, reported } = sent({
      stream_options: { include_usage: true }, user: 'u', store: true, service_tier: 'flex', safety_identifier: 's', verbosity: 'low', prompt_cache_retention: '24h',
      logprobs: false, top_logprobs: 0, logit_bias: {}, parallel_tool_calls: false, seed: null,
    });
    assert.deepEqual(wire, { model: 'mistral-large-latest', messages });
    assert.deepEqual([...reported].sort(), ['prompt_cache_retention', 'safety_identifier', 'service_tier', 'store', 'user', 'verbosity']);
  });

  test("Mistral's own parts, tools and prefix come through", () => {
    const own = [
      { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'document_url', document_url: 'https://example.com/a.pdf' }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 't' }] }, { type: 'text', text: 'b' }], prefix: true },
    ];
    const { wire } = sent({ messages: own, tools: [{ type: 'web_search' }, tool('a')] });
    assert.deepEqual(wire.messages, own);
    assert.deepEqual(wire.tools, [tool('a'), { type: 'web_search' }]);
  });

  test('bad parts are told with their place, beside those of Mistral', () => {
    refused({ messages: [{ role: 'user', content: [{ type: 'document_url', document_url: 'x' }, { type: 'video' }] }] }, 'messages[0].content[1].type');
  });

  test('cache marks and foreign members are taken out', () => {
    const { wire, reported } = sent({ messages: [{ role: 'user', name: 'ann', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }] });
    assert.deepEqual(wire.messages, [{ role: 'user', content: [{ type: 'text', text: 'a' }] }]);
    assert.deepEqual(reported, ['messages.name', 'cache_control']);
  });

  test('thinking before tool calls goes back in its own form', () => {
    const { wire } = sent({ messages: [
      ...messages,
      { role: 'assistant', content: null, content_blocks: [{ type: 'thinking', thinking: 'hm' }], tool_calls: [{ id: 'D681PevKs', type: 'function', function: { name: 'a', arguments: '' } }] },
      { role: 'tool', tool_call_id: 'D681PevKs', content: 'x' },
    ] });
    assert.deepEqual(wire.messages, [
      ...messages,
      { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }], tool_calls: [{ id: 'D681PevKs', type: 'function', function: { name: 'a', arguments: '{}' } }] },
      { role: 'tool', content: 'x', tool_call_id: 'D681PevKs', name: 'a' },
    ]);
  });

  test('tool choice and reasoning', () => {
    const tools = [tool('a'), tool('b')];
    const allowed = sent({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] } } }).wire;
    assert.equal(allowed.tool_choice, 'any');
    assert.deepEqual(allowed.tools, [tool('b')]);
    assert.equal(sent({ thinking: { type: 'disabled' } }).wire.reasoning_effort, 'none');
    assert.equal(sent({ thinking: { type: 'enabled' }, reasoning_effort: 'low' }).wire.reasoning_effort, 'low');
    assert.deepEqual(sent({ thinking: { type: 'enabled', budget_tokens: 5 } }).reported, ['thinking.budget_tokens']);
    const always = sent({ model: 'magistral-small-latest', thinking: { type: 'disabled' }, reasoning_effort: 'low' });
    assert.equal(always.wire.reasoning_effort, undefined);
    assert.deepEqual(always.reported, ['thinking', 'reasoning_effort']);
    assert.deepEqual(sent({ prediction: { type: 'content', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] } }).wire.prediction, { type: 'content', content: 'ab' });
  });
});

describe('chat answers', () => {
  const answer = (choice: JsonObject): JsonObject => {
    const made = chatAnswer({ choices: [choice] }, fakeCall({ model: 'm' }, { isStrict: false }));
    assert.ok(isObject(made) && Array.isArray(made.choices) && isObject(made.choices[0]));
    return made.choices[0];
  };

  test('a generation that failed is an error', () => {
    assert.throws(() => answer({ index: 0, message: { content: '' }, finish_reason: 'error' }), isProviderError);
    assert.throws(() => chatAnswer({ choices: [] }, fakeCall()), isProviderError);
  });

  test('tool calls without an id get one, arguments that are not text become one', () => {
    const { message, finish_reason: finish } = answer({ index: 0, finish_reason: 'stop', message: { content: null, tool_calls: [{ id: 'null', function: { name: 'a', arguments: { b: 1 } } }] } });
    assert.ok(isObject(message));
    assert.deepEqual(message.tool_calls, [{ id: 'call_exchange1', type: 'function', function: { name: 'a', arguments: '{"b":1}' } }]);
    assert.equal(finish, 'tool_calls');
  });

  test('references are kept, several messages are one answer', () => {
    const { message } = answer({
      index: 0, finish_reason: 'stop',
      messages: [{ role: 'assistant', content: 'One ' }, { role: 'tool', content: 'found' }, { role: 'assistant', content: [{ type: 'text', text: 'two' }, { type: 'reference', reference_ids: [1] }] }],
    });
    assert.ok(isObject(message));
    assert.equal(message.content, 'One two');
    assert.deepEqual(message.references, [{ type: 'reference', reference_ids: [1] }]);
  });
});

describe('chat streams', () => {
  const streamed = (...choices: Json[]): { text: string; fault: string } => {
    const chunks: Json[] = [];
    let fault = '';
    const out: EventSink = { write: ({ data }) => { chunks.push(data as Json); }, end: () => undefined, fail: (error) => { fault = error.message; } };
    const stage = new ChatStage(fakeCall({ model: 'm' }, { isStrict: false }));
    for (const choice of choices) stage.push({ event: undefined, data: JSON.stringify({ id: 'c', choices: [choice] }) }, out);
    stage.push({ event: undefined, data: '[DONE]' }, out);
    stage.end(out);
    return { text: JSON.stringify(chunks), fault };
  };

  test('calls with the same index but other ids are calls of their own', () => {
    const call = (id: string, name: string): Json => ({ index: 0, delta: { tool_calls: [{ id, index: 0, function: { name, arguments: '{}' } }] }, finish_reason: null });
    const { text } = streamed(call('aaaaaaaaa', 'a'), call('bbbbbbbbb', 'b'), { index: 0, delta: {}, finish_reason: 'tool_calls' });
    assert.match(text, /"index":0,"id":"aaaaaaaaa"/);
    assert.match(text, /"index":1,"id":"bbbbbbbbb"/);
  });

  test('a failed generation and a missing end fail the stream', () => {
    assert.equal(streamed({ index: 0, delta: { content: 'a' }, finish_reason: 'error' }).fault, 'the generation failed');
    assert.notEqual(streamed({ index: 0, delta: { content: 'a' }, finish_reason: null }).fault, '');
  });

  test('signatures come with their thinking', () => {
    const { text } = streamed({ index: 0, delta: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }], signature: 's' }] }, finish_reason: 'stop' });
    assert.match(text, /"thinking":"a".*"signature":"s"/);
  });
});

test('completions take one prompt', () => {
  const make = (body: JsonObject): Json => completions.request?.(body, fakeCall(body, { endpoint: 'completions' })) ?? null;
  assert.deepEqual(make({ model: 'm', prompt: ['a'], n: 1, echo: false }), { model: 'm', prompt: 'a' });
  for (const body of [{ prompt: ['a', 'b'] }, { prompt: 'a', n: 2 }, { prompt: 'a', echo: true }, { prompt: 'a', logprobs: 1 }, { prompt: [1, 2] }, {}]) {
    assert.throws(() => make(body), Refusal);
  }
});

test('speech', () => {
  const make = (body: JsonObject): Json => speech.request?.(body, fakeCall(body, { endpoint: 'speech' })) ?? null;
  assert.deepEqual(make({ model: 'm', input: 'a', voice: { id: 'v' } }), { model: 'm', input: 'a', voice_id: 'v', response_format: 'mp3', stream: false });
  assert.throws(() => make({ input: 'a', speed: 2 }), Refusal);
  assert.throws(() => make({ input: 'a', response_format: 'aac' }), Refusal);
});

test('an answer that is not a moderation comes through', () => {
  assert.deepEqual(moderations.response?.({ other: 1 }, fakeCall()), { other: 1 });
});

test('errors', () => {
  assert.deepEqual(mistralError({ detail: 'Unauthorized' }), { message: 'Unauthorized' });
  assert.deepEqual(mistralError({ message: 'no Route matched', request_id: 'r' }), { message: 'no Route matched' });
  assert.deepEqual(mistralError({ detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }] }), { message: 'messages.0: Field required' });
  assert.deepEqual(mistralError({ object: 'error', message: 'bad', type: 't', code: 3000, param: 'p' }), { message: 'bad', type: 't', code: '3000', param: 'p' });
  assert.equal(mistralError({ other: 1 }), undefined);
  assert.equal(mistralError('text'), undefined);
});
