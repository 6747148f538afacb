import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { dialects } from '../../../../core/dialect/dialects.js';

const event = (type: string, more: JsonObject = {}): AnswerEvent => ({ event: type, data: { type, ...more } });
const started = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 25, cache_read_input_tokens: 3, output_tokens: 1, service_tier: 'standard' } };
const start = event('message_start', { message: started });
const open = (index: number, block: JsonObject): AnswerEvent => event('content_block_start', { index, content_block: block });
const delta = (index: number, type: string, more: JsonObject): AnswerEvent => event('content_block_delta', { index, delta: { type, ...more } });
const close = (index: number): AnswerEvent => event('content_block_stop', { index });
const end = event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 15 } });
const stop = event('message_stop');

function assembled(...events: readonly AnswerEvent[]): any {
  const whole = assembler(dialects.messages);
  for (const each of events) whole.push(each);
  return whole.answer();
}
const blockOf = (block: JsonObject, ...deltas: readonly AnswerEvent[]): any => assembled(start, open(0, block), ...deltas, close(0), end, stop)?.content[0];

describe('a message out of events', () => {
  test('is what the API answers without a stream', () => {
    assert.deepEqual(assembled(start, event('ping'), open(0, { type: 'text', text: '' }), delta(0, 'text_delta', { text: 'Hel' }), delta(0, 'text_delta', { text: 'lo' }), close(0), end, stop), {
      ...started, content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage: { ...started.usage, output_tokens: 15 },
    });
  });

  test('is there after message_stop only', () => {
    assert.equal(assembled(), null);
    assert.equal(assembled(stop), null);
    assert.equal(assembled(start, end), null);
    assert.equal(assembled(start, event('error', { error: { type: 'overloaded_error', message: 'm' } }), end, stop), null);
    assert.equal(assembled(start, { event: undefined, data: '{"type":"error","error":{}}' }, end, stop), null);
    assert.equal(assembled(start, delta(0, 'text_delta', { text: 'of no block' }), end, stop), null);
    assert.equal(assembled(event('message_start'), end, stop), null);
  });

  test('reads the input of tools, of which an empty one is an empty object', () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
    const json = (text: string): AnswerEvent => delta(0, 'input_json_delta', { partial_json: text });
    assert.deepEqual(blockOf(use), use);
    assert.deepEqual(blockOf(use, json('')), use);
    assert.deepEqual(blockOf(use, json(''), json('{"a":'), json('[1]}')), { ...use, input: { a: [1] } });
    assert.deepEqual(blockOf({ ...use, type: 'server_tool_use' }, json('{"query":"q"}')), { ...use, type: 'server_tool_use', input: { query: 'q' } });
  });

  test('keeps the text of an input that was cut off', () => {
    assert.deepEqual(blockOf({ type: 'tool_use', id: 'a', name: 'f', input: {} }, delta(0, 'input_json_delta', { partial_json: '{"a":"b' })).input, { INVALID_JSON: '{"a":"b' });
  });

  test('puts thinking, its signature and citations together, and takes other blocks as they are', () => {
    assert.deepEqual(blockOf({ type: 'thinking', thinking: '', signature: '' }, delta(0, 'thinking_delta', { thinking: 'h' }), delta(0, 'thinking_delta', { thinking: 'm' }), delta(0, 'signature_delta', { signature: 's' })), { type: 'thinking', thinking: 'hm', signature: 's' });
    assert.deepEqual(blockOf({ type: 'text', text: '', citations: [] }, delta(0, 'citations_delta', { citation: { n: 1 } }), delta(0, 'text_delta', { text: 'a' }), delta(0, 'citations_delta', { citation: { n: 2 } })), { type: 'text', text: 'a', citations: [{ n: 1 }, { n: 2 }] });
    assert.deepEqual(blockOf({ type: 'text', text: '' }, delta(0, 'citations_delta', { citation: { n: 1 } })), { type: 'text', text: '', citations: [{ n: 1 }] });
    assert.deepEqual(blockOf({ type: 'redacted_thinking', data: 'x' }), { type: 'redacted_thinking', data: 'x' });
    const result = { type: 'web_search_tool_result', tool_use_id: 'a', content: [{ type: 'web_search_result', url: 'u' }] };
    assert.deepEqual(blockOf(result), result);
    assert.deepEqual(blockOf({ type: 'compaction', content: null }, delta(0, 'compaction_delta', { content: 'short' })), { type: 'compaction', content: 'short' });
  });

  test('takes over what the end says of the message and of its cost', () => {
    const answer = assembled(start, event('message_delta', {
      delta: { stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal' }, container: { id: 'c' } },
      usage: { input_tokens: 30, cache_read_input_tokens: null, output_tokens: 7, server_tool_use: { web_search_requests: 1 } }, context_management: { applied_edits: [] },
    }), stop, { event: 'hook_results', data: { hook_results: { after_request_hooks: [] } } });
    assert.deepEqual(answer, {
      ...started, stop_reason: 'refusal', stop_details: { type: 'refusal' }, container: { id: 'c' }, context_management: { applied_edits: [] }, hook_results: { after_request_hooks: [] },
      usage: { input_tokens: 30, cache_read_input_tokens: 3, output_tokens: 7, service_tier: 'standard', server_tool_use: { web_search_requests: 1 } },
    });
  });

  test('is given up beyond the limit', () => {
    const answerWithin = (bytesMax: number, ...events: readonly AnswerEvent[]): unknown => {
      const whole = assembler(dialects.messages, bytesMax);
      for (const each of [start, ...events, end, stop]) whole.push(each);
      return whole.answer();
    };
    const long = 'x'.repeat(3_000);
    assert.notEqual(answerWithin(2_000), null);
    for (const more of [delta(0, 'text_delta', { text: long }), delta(0, 'input_json_delta', { partial_json: long }), delta(0, 'citations_delta', { citation: { long } }), delta(0, 'signature_delta', { signature: long }), open(1, { type: 'result', long })]) {
      assert.equal(answerWithin(2_000, open(0, { type: 'text', text: '' }), more), null);
      assert.notEqual(answerWithin(6_000, open(0, { type: 'text', text: '' }), more), null);
    }
  });
});
