import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonInstruction, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { fakeCall, Refusal, type FakeCallOptions } from '@gateway/plugin-sdk/testing';
import { traitsOf } from './models.js';
import { chatToMessages } from './request.js';

const hello: Json = [{ role: 'user', content: 'Hello' }];
const weather: Json = { type: 'function', function: { name: 'get_weather', parameters: { properties: { city: { type: 'string' } } } } };

function translate(body: JsonObject, options: FakeCallOptions = {}) {
  const whole = { model: 'claude-sonnet-4-5', messages: hello, ...body };
  const call = fakeCall(whole, options);
  return { wire: chatToMessages(whole, call), reported: call.reported };
}

const refuses = (body: JsonObject, param: string): void => {
  assert.throws(() => translate(body), (error) => error instanceof Refusal && error.param === param, param);
};

test('what would change the answer is refused', () => {
  refuses({ n: 2 }, 'n');
  refuses({ logprobs: true }, 'logprobs');
  refuses({ logit_bias: { 50256: -100 } }, 'logit_bias');
  refuses({ temperature: 1.5 }, 'temperature');
  refuses({ top_p: -1 }, 'top_p');
  refuses({ modalities: ['text', 'audio'] }, 'modalities');
  refuses({ tool_choice: 'required' }, 'tool_choice');
  refuses({ tools: [{ type: 'code_interpreter' }] }, 'tools[0]');
  refuses({ reasoning_effort: 'huge' }, 'reasoning_effort');
  refuses({ messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] }, 'messages[0].content[0]');
  refuses({ messages: [{ role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }] }] }, 'messages[0].tool_calls');
});

test('an effort beside a temperature thinks as far as the API lets it, and is reported', () => {
  const effort = translate({ model: 'claude-opus-4-6', reasoning_effort: 'low', temperature: 0.2 });
  assert.deepEqual([effort.wire.thinking, effort.wire.output_config, effort.wire.temperature, effort.reported], [undefined, { effort: 'low' }, 0.2, ['reasoning_effort']]);
  const budget = translate({ model: 'claude-sonnet-4-5', reasoning_effort: 'low', top_k: 5 });
  assert.deepEqual([budget.wire.thinking, budget.wire.top_k, budget.reported], [undefined, 5, ['reasoning_effort']]);
  const free = translate({ model: 'claude-opus-4-6', reasoning_effort: 'low', temperature: 1 });
  assert.deepEqual([free.wire.thinking, free.reported], [{ type: 'adaptive' }, []]);
});

test('a JSON object is asked for in words, behind what the client says', () => {
  const { wire, reported } = translate({ messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hi' }], response_format: { type: 'json_object' } });
  assert.deepEqual(wire.system, [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: jsonInstruction }]);
  assert.equal(wire.output_config, undefined);
  assert.deepEqual(reported, []);
});

test('web_search_options become the tool', () => {
  const location = { type: 'approximate', approximate: { city: 'Köln', country: 'DE' } };
  const { wire, reported } = translate({ web_search_options: { search_context_size: 'high', user_location: location }, tools: [weather] });
  assert.deepEqual((wire.tools as Json[])[1], { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Köln', country: 'DE' } });
  assert.deepEqual(reported, ['web_search_options.search_context_size']);
  const own = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 };
  assert.deepEqual(translate({ web_search_options: {}, tools: [own] }).wire.tools, [own]);
});

test('with unsupported_params omit, what can be left out is left out and told', () => {
  const body: JsonObject = { model: 'claude-opus-4-6', messages: [{ role: 'user', content: 'Hi' }], n: 2, logprobs: true, temperature: 1.5, tools: [{ type: 'code_interpreter' }], tool_choice: 'required' };
  const call = fakeCall(body, { unsupportedParams: 'omit' });
  assert.deepEqual(chatToMessages(body, call), { model: 'claude-opus-4-6', max_tokens: 64_000, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] });
  assert.deepEqual([...call.reported].sort(), ['logprobs', 'n', 'temperature', 'tool_choice', 'tools']);
  assert.throws(() => chatToMessages({ ...body, n: 1, seed: 5 }, fakeCall(body, { unsupportedParams: 'refuse' })), Refusal);
});

test('hints without a counterpart are reported, defaults are not', () => {
  assert.deepEqual(translate({ seed: 1, store: true, verbosity: 'low', frequency_penalty: 0.5, metadata: { team: 'a' }, service_tier: 'flex' }).reported,
    ['frequency_penalty', 'seed', 'verbosity', 'store', 'metadata', 'service_tier']);
  const { wire, reported } = translate({
    n: 1, logprobs: false, top_logprobs: 0, presence_penalty: 0, store: false, seed: null, response_format: { type: 'text' }, modalities: ['text'], parallel_tool_calls: true,
    stream_options: null, logit_bias: {},
  });
  assert.deepEqual(reported, []);
  assert.deepEqual(Object.keys(wire), ['model', 'max_tokens', 'messages']);
});

test('members that are not OpenAI\'s are copied as they are', () => {
  const { wire } = translate({ top_k: 5, container: 'container_1', speed: 'fast', output_config: { effort: 'low' }, context_management: { edits: [] } });
  assert.equal(wire.top_k, 5);
  assert.equal(wire.container, 'container_1');
  assert.equal(wire.speed, 'fast');
  assert.deepEqual(wire.output_config, { effort: 'low' });
  assert.deepEqual(wire.context_management, { edits: [] });
});

test('service tiers and the user', () => {
  assert.equal(translate({ service_tier: 'default' }).wire.service_tier, 'standard_only');
  assert.equal(translate({ service_tier: 'priority' }).wire.service_tier, 'auto');
  assert.deepEqual(translate({ safety_identifier: 'a', metadata: { user_id: 'b' } }).wire.metadata, { user_id: 'a' });
  assert.deepEqual(translate({ metadata: { user_id: 'b' } }), { wire: { ...translate({}).wire, metadata: { user_id: 'b' } }, reported: [] });
});

test('tool results come first in one user message, texts of the client after them', () => {
  const call = (id: string): Json => ({ id, type: 'function', function: { name: 'get_weather', arguments: '{}' } });
  const { wire } = translate({
    messages: [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: '', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'user', content: 'Hurry.' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'sun', cache_control: { type: 'ephemeral' } }, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }], is_error: true },
    ],
  });
  assert.deepEqual(wire.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_weather', input: {} }, { type: 'tool_use', id: 'b', name: 'get_weather', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a' },
        {
          type: 'tool_result', tool_use_id: 'b', is_error: true,
          content: [{ type: 'text', text: 'sun', cache_control: { type: 'ephemeral' } }, { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
        },
        { type: 'text', text: 'Hurry.' },
      ],
    },
  ]);
});

test('a mark on a message goes to its last block that can be marked', () => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  const { wire } = translate({
    messages: [
      { role: 'system', content: 'A', cache_control: mark },
      { role: 'user', content: [{ type: 'text', text: 'B' }, { type: 'text', text: 'C' }, { type: 'text', text: ' ' }], cache_control: mark },
      { role: 'assistant', content_blocks: [{ type: 'thinking', thinking: 'D', signature: 's' }], cache_control: mark },
    ],
  });
  assert.deepEqual(wire.system, [{ type: 'text', text: 'A', cache_control: mark }]);
  assert.deepEqual(wire.messages, [
    { role: 'user', content: [{ type: 'text', text: 'B' }, { type: 'text', text: 'C', cache_control: mark }] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'D', signature: 's' }] },
  ]);
});

test('thinking that another provider left unsigned is not sent', () => {
  const { wire, reported } = translate({ messages: [{ role: 'user', content: 'A' }, { role: 'assistant', content: 'B', content_blocks: [{ type: 'thinking', thinking: 'C' }] }] });
  assert.deepEqual(wire.messages, [{ role: 'user', content: [{ type: 'text', text: 'A' }] }, { role: 'assistant', content: [{ type: 'text', text: 'B' }] }]);
  assert.deepEqual(reported, ['messages.content_blocks']);
});

test('tools keep their order and schema; the choice follows', () => {
  const search: Json = { type: 'web_search_20250305', name: 'web_search' };
  const own: Json = { name: 'plain', input_schema: { type: 'object' } };
  const tool = { name: 'get_weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
  assert.deepEqual(translate({ tools: [search, weather, own] }).wire.tools, [search, tool, own]);
  assert.deepEqual(translate({ tools: [weather], parallel_tool_calls: false }).wire.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  assert.deepEqual(translate({ tools: [weather], tool_choice: 'none', parallel_tool_calls: false }).wire.tool_choice, { type: 'none' });
  assert.equal(translate({ tools: [], tool_choice: 'auto' }).wire.tool_choice, undefined);
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] } };
  const { wire } = translate({ tools: [weather, { type: 'function', function: { name: 'other' } }], tool_choice: allowed });
  assert.deepEqual(wire.tools, [tool]);
  assert.deepEqual(wire.tool_choice, { type: 'any' });
  assert.deepEqual(translate({ functions: [{ name: 'f' }], function_call: { name: 'f' } }).wire.tool_choice, { type: 'tool', name: 'f' });
});

test('reasoning effort becomes an effort or a budget, by the model', () => {
  const thought = (model: string, body: JsonObject): JsonObject => {
    const { wire, reported } = translate({ model, ...body });
    return { thinking: wire.thinking ?? null, output_config: wire.output_config ?? null, reported };
  };
  assert.deepEqual(thought('claude-opus-4-8', { reasoning_effort: 'xhigh' }), { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' }, reported: [] });
  assert.deepEqual(thought('claude-opus-4-8', { reasoning_effort: 'minimal' }).output_config, { effort: 'low' });
  assert.deepEqual(thought('claude-opus-4-8', { reasoning_effort: 'none' }), { thinking: { type: 'disabled' }, output_config: null, reported: [] });
  assert.deepEqual(thought('claude-opus-4-8', { reasoning_effort: 'low', tools: [weather], tool_choice: 'required' }), { thinking: null, output_config: { effort: 'low' }, reported: [] });
  assert.deepEqual(thought('claude-sonnet-4-5', { reasoning_effort: 'medium' }).thinking, { type: 'enabled', budget_tokens: 8192 });
  assert.deepEqual(thought('claude-sonnet-4-5', { reasoning_effort: 'medium', max_tokens: 4000 }).thinking, { type: 'enabled', budget_tokens: 2000 });
  refuses({ reasoning_effort: 'medium', max_tokens: 500 }, 'reasoning_effort');
  assert.deepEqual(thought('claude-3-5-haiku-20241022', { reasoning_effort: 'medium' }), { thinking: null, output_config: null, reported: ['reasoning_effort'] });
  // The answer that called the tool came back without its thinking: a budget would be rejected.
  const messages: Json = [
    { role: 'user', content: 'A' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'B' },
  ];
  assert.deepEqual(thought('claude-sonnet-4-5', { messages, reasoning_effort: 'low', tools: [weather] }), { thinking: null, output_config: null, reported: ['reasoning_effort'] });
  const enabled: Json = { type: 'enabled', budget_tokens: 2000 };
  assert.deepEqual(thought('claude-sonnet-4-5', { messages, thinking: enabled, tools: [weather] }), { thinking: null, output_config: null, reported: ['thinking'] });
  assert.deepEqual(thought('claude-opus-4-8', { messages, reasoning_effort: 'low', tools: [weather] }), { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, reported: [] });
});

test('a budget must fit into the answer, except with interleaved thinking', () => {
  refuses({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } }, 'thinking.budget_tokens');
  const { wire } = translate({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 4000 } }, { headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' } });
  assert.deepEqual(wire.thinking, { type: 'enabled', budget_tokens: 4000 });
});

test('models are known by their names on every platform', () => {
  const expected: readonly (readonly [string, number, string])[] = [
    ['claude-instant-1.2', 4096, 'none'],
    ['claude-2.1', 4096, 'none'],
    ['anthropic.claude-v2:1', 4096, 'none'],
    ['claude-3-haiku-20240307', 4096, 'none'],
    ['us.anthropic.claude-3-5-sonnet-20241022-v2:0', 8192, 'none'],
    ['claude-3-7-sonnet@20250219', 64_000, 'budget'],
    ['claude-opus-4-20250514', 32_000, 'budget'],
    ['claude-opus-4@20250514', 32_000, 'budget'],
    ['claude-opus-4-1-20250805', 32_000, 'budget'],
    ['claude-sonnet-4-20250514', 64_000, 'budget'],
    ['claude-haiku-4-5@20251001', 64_000, 'budget'],
    ['claude-opus-4-5', 64_000, 'budget'],
    ['eu.anthropic.claude-opus-4-6-v1', 64_000, 'adaptive'],
    ['claude-sonnet-5', 64_000, 'adaptive'],
    ['claude-fable-5-1', 64_000, 'adaptive'],
    ['claude-mythos-preview', 64_000, 'adaptive'],
    ['my-deployment', 64_000, 'adaptive'],
  ];
  for (const [model, defaultMaxTokens, thinking] of expected) assert.deepEqual(traitsOf(model), { defaultMaxTokens, thinking }, model);
});
