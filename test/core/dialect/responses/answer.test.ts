import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gateway/plugin-sdk';
import { chatToResponse } from '../../../../core/dialect/responses/answer.js';
import { seal, unseal } from '../../../../core/dialect/responses/reasoning.js';
import { responsesToChat } from '../../../../core/dialect/responses/request.js';
import { context, responseUsage, usage } from './recorder.js';

const answerOf = (message: JsonObject, finish = 'stop', choice: JsonObject = {}): JsonObject => ({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, ...choice }], usage });
const outputOf = (message: JsonObject, finish = 'stop', choice: JsonObject = {}): Json => chatToResponse(answerOf(message, finish, choice), context).output as Json;

const messageItem = (index: number, content: Json, status = 'completed'): JsonObject => ({ id: `msg_gw_1_${index}`, type: 'message', status, role: 'assistant', content });
const textPart = (text: string, annotations: Json = [], logprobs: Json = []): JsonObject => ({ type: 'output_text', text, annotations, logprobs });
const callItem = (index: number, id: string, args: string, status = 'completed'): JsonObject => ({ id: `fc_gw_1_${index}`, type: 'function_call', status, call_id: id, name: 'f', arguments: args });
const toolCall = (id: string, args: Json, more: JsonObject = {}): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: args }, ...more });
const reasoningItem = (index: number, text: string, sealed?: string): JsonObject => ({
  id: `rs_gw_1_${index}`, type: 'reasoning', status: 'completed', summary: text === '' ? [] : [{ type: 'summary_text', text }], ...(sealed === undefined ? {} : { encrypted_content: sealed }),
});

describe('a response', () => {
  test('has every member', () => {
    assert.deepEqual(chatToResponse(answerOf({ content: 'Hello' }), context), {
      id: 'resp_gw_1', object: 'response', created_at: 1_700_000_000, status: 'completed', background: false, error: null, incomplete_details: null, instructions: null,
      max_output_tokens: null, max_tool_calls: null, metadata: {}, model: 'm', output: [messageItem(0, [textPart('Hello')])], parallel_tool_calls: true, previous_response_id: null,
      reasoning: { effort: null, summary: null }, safety_identifier: null, prompt_cache_key: null, store: false, temperature: 1, text: { format: { type: 'text' } }, tool_choice: 'auto',
      tools: [], top_logprobs: 0, top_p: 1, truncation: 'disabled', usage: responseUsage,
    });
  });

  test('echoes what the client asked for', () => {
    const format = { type: 'json_schema', name: 'n', schema: {} };
    const request = {
      instructions: 'Be brief.', max_output_tokens: 9, metadata: { a: 'b' }, parallel_tool_calls: false, previous_response_id: 'resp_gw_0', reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0, text: { format, verbosity: 'low' }, tool_choice: 'required', tools: [{ type: 'function', name: 'f' }], top_p: 0.5, truncation: 'auto', user: 'u',
    };
    const response = chatToResponse({ ...answerOf({ content: 'a' }), service_tier: 'default' }, { ...context, request, isStored: true, now: () => 1_700_000_005 });
    const { tools: _tools, ...echoed } = request;
    for (const [member, value] of Object.entries(echoed)) assert.deepEqual(response[member], value, member);
    assert.deepEqual(response.tools, [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }]);
    assert.deepEqual([response.store, response.service_tier, response.completed_at], [true, 'default', 1_700_000_005]);
  });

  const signed = { type: 'thinking', thinking: 'hm', signature: 'sig' };
  const cases: readonly (readonly [what: string, message: JsonObject, output: Json])[] = [
    ['nothing', { content: '' }, [messageItem(0, [textPart('')])]],
    ['a refusal', { content: null, refusal: 'no' }, [messageItem(0, [{ type: 'refusal', refusal: 'no' }])]],
    ['parts', { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }, [messageItem(0, [textPart('ab')])]],
    ['text and parallel calls', { content: 'I look.', tool_calls: [toolCall('a', '{}'), toolCall('b', { x: 1 })] }, [messageItem(0, [textPart('I look.')]), callItem(1, 'a', '{}'), callItem(2, 'b', '{"x":1}')]],
    ['a call without an id', { content: null, tool_calls: [toolCall('', '{}')] }, [callItem(0, 'call_gw_1_0', '{}')]],
    ['a citation', { content: 'a', annotations: [{ type: 'url_citation', url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://x' } }] },
      [messageItem(0, [textPart('a', [{ type: 'url_citation', start_index: 0, end_index: 1, title: 't', url: 'https://x' }])])]],
    ['plain reasoning', { content: 'a', reasoning_content: 'hm' }, [reasoningItem(0, 'hm'), messageItem(1, [textPart('a')])]],
    ['reasoning under both names', { content: 'a', reasoning: 'hm', reasoning_content: 'hm' }, [reasoningItem(0, 'hm'), messageItem(1, [textPart('a')])]],
    ['signed and redacted thinking', { content: 'a', content_blocks: [signed, { type: 'redacted_thinking', data: 'x' }, { type: 'text', text: 'a' }] },
      [reasoningItem(0, 'hm', seal({ type: 'signature', signature: 'sig' })), reasoningItem(1, '', seal({ type: 'redacted', data: 'x' })), messageItem(2, [textPart('a')])]],
    ['thinking between texts', { content: 'ab', content_blocks: [{ type: 'text', text: 'a' }, signed, { type: 'text', text: 'b' }] },
      [messageItem(0, [textPart('a')]), reasoningItem(1, 'hm', seal({ type: 'signature', signature: 'sig' })), messageItem(2, [textPart('b')])]],
    ['content that was changed after the blocks', { content: 'a ***', content_blocks: [signed, { type: 'text', text: 'a secret' }] },
      [reasoningItem(0, 'hm', seal({ type: 'signature', signature: 'sig' })), messageItem(1, [textPart('a ***')])]],
    ['a thought signature', { content: null, tool_calls: [toolCall('a', '{}', { thought_signature: 's' })] },
      [reasoningItem(0, '', seal({ type: 'thought_signature', call_id: 'a', signature: 's' })), callItem(1, 'a', '{}')]],
  ];
  for (const [what, message, output] of cases) test(`tells ${what}`, () => assert.deepEqual(outputOf(message), output));

  test('tells log probabilities', () => {
    const entry = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] };
    assert.deepEqual(outputOf({ content: 'a' }, 'stop', { logprobs: { content: [entry], refusal: null } }), [messageItem(0, [textPart('a', [], [entry])])]);
  });

  test('that was cut off is incomplete, and so is its last item', () => {
    for (const [finish, reason] of [['length', 'max_output_tokens'], ['content_filter', 'content_filter']] as const) {
      const response = chatToResponse(answerOf({ content: 'a', tool_calls: [toolCall('a', '{'), toolCall('b', '{')] }, finish), context);
      assert.deepEqual([response.status, response.incomplete_details], ['incomplete', { reason }]);
      assert.deepEqual(response.output, [messageItem(0, [textPart('a')]), callItem(1, 'a', '{'), callItem(2, 'b', '{', 'incomplete')]);
    }
  });

  test('without an answer has failed', () => {
    for (const answer of [{}, { choices: [] }, { choices: [{ finish_reason: 'error', message: {}, error: { message: 'broken' } }] }]) {
      const response = chatToResponse(answer, context);
      assert.equal(response.status, 'failed');
      assert.equal((response.error as JsonObject).code, 'server_error');
    }
  });

  test('tells other counts of tokens', () => {
    const told = chatToResponse({ ...answerOf({ content: 'a' }), usage: { prompt_tokens: 3, completion_tokens: 4, cache_read_input_tokens: 1, cache_creation_input_tokens: 2 } }, context);
    assert.deepEqual(told.usage, { input_tokens: 3, input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 }, output_tokens: 4, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 7 });
    const { usage: _usage, ...silent } = answerOf({ content: 'a' });
    assert.ok(!('usage' in chatToResponse(silent, context)));
  });

  test('comes back as the message that it was', () => {
    const message = {
      role: 'assistant', content: 'I look.', content_blocks: [signed, { type: 'redacted_thinking', data: 'x' }, { type: 'text', text: 'I look.' }],
      tool_calls: [toolCall('a', '{}', { thought_signature: 's' }), toolCall('b', '{"x":1}')],
    };
    const input = [...(outputOf(message, 'tool_calls') as Json[]), { type: 'function_call_output', call_id: 'a', output: '1' }, { type: 'function_call_output', call_id: 'b', output: '2' }];
    const chat = responsesToChat({ input }, [], { accepts: new Set(['thinking', 'thought_signature']), refuse: (param) => { throw new Error(param); }, omit: (param) => { throw new Error(param); }, report: () => {} });
    assert.deepEqual(chat.messages, [message, { role: 'tool', tool_call_id: 'a', content: '1' }, { role: 'tool', tool_call_id: 'b', content: '2' }]);
  });
});

describe('sealed reasoning', () => {
  for (const sealed of [{ type: 'signature', signature: 'ü/+=' }, { type: 'redacted', data: '' }, { type: 'thought_signature', call_id: 'a', signature: 's' }] as const) {
    test(`is read again: ${sealed.type}`, () => assert.deepEqual(unseal(seal(sealed)), sealed));
  }
  for (const foreign of [undefined, null, 7, '', 'gAAAA', 'gateway.', 'gateway.!!', 'gateway.bnVsbA', `gateway.${Buffer.from('{"type":"x"}').toString('base64url')}`]) {
    test(`is nothing else: ${String(foreign)}`, () => assert.equal(unseal(foreign), undefined));
  }
});
