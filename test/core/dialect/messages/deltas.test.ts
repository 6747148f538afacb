import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import { checkMessagesEvents } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, redactor, run, secret, textsOf, type Run } from '../common/test-streams.js';

const event = (data: JsonObject): AnswerEvent => ({ event: String(data.type), data: JSON.stringify(data) });
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
const start = event({ type: 'message_start', message });
const block = (index: number, content_block: JsonObject): AnswerEvent => event({ type: 'content_block_start', index, content_block });
const delta = (index: number, given: JsonObject): AnswerEvent => event({ type: 'content_block_delta', index, delta: given });
const text = (index: number, piece: string): AnswerEvent => delta(index, { type: 'text_delta', text: piece });
const stop = (index: number): AnswerEvent => event({ type: 'content_block_stop', index });
const end = [event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }), event({ type: 'message_stop' })];
const play = (...events: AnswerEvent[]): Run => run('messages', events, redactor());
const data = (result: Run): any[] => result.events.map((each) => each.data);

test('what is held goes out as one more delta before the block stops, pings in between or not', () => {
  const result = play(start, block(0, { type: 'text', text: '' }), text(0, 'a 123'), event({ type: 'ping' }), text(0, '-4'), stop(0), ...end);
  assert.deepEqual(data(result).slice(1, -2), [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a ' } }, { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '123-4' } }, { type: 'content_block_stop', index: 0 },
  ]);
  assert.deepEqual(checkMessagesEvents(result.events), []);
});

test('a block that begins with text is read from there', () => {
  const result = play(start, block(0, { type: 'text', text: 'a 123-' }), text(0, '45-6789 b'), stop(0), ...end);
  assert.equal(data(result)[1].content_block.text, 'a ');
  assert.equal(textsOf('messages', result.events)['0'], '[SSN] b');
  assert.doesNotMatch(result.text, /6789/);
  const thinking = play(start, block(0, { type: 'thinking', thinking: `a ${secret} 1`, signature: 's' }), stop(0), ...end);
  assert.deepEqual(data(thinking)[1].content_block, { type: 'thinking', thinking: 'a [SSN] 1', signature: '' });
  assert.deepEqual(checkMessagesEvents(thinking.events), []);
});

test('blocks are texts of their own, also side by side', () => {
  const result = play(start, block(0, { type: 'text', text: '' }), block(1, { type: 'text', text: '' }), text(0, '123-45'), text(1, '-6789'), text(0, '-67'), text(1, 'x'), text(0, '89'), stop(1), stop(0), ...end);
  assert.deepEqual(textsOf('messages', result.events), { 0: '[SSN]', 1: '-6789x' });
});

test('a signature comes behind all of its thought', () => {
  const thought = (piece: string): AnswerEvent => delta(0, { type: 'thinking_delta', thinking: piece });
  const begin = block(0, { type: 'thinking', thinking: '', signature: '' });
  const signature = delta(0, { type: 'signature_delta', signature: 's' });
  const kept = play(start, begin, thought('a 123-45-678'), signature, stop(0), ...end);
  assert.deepEqual(data(kept).slice(2, 5).map(({ delta: given }) => given), [{ type: 'thinking_delta', thinking: 'a ' }, { type: 'thinking_delta', thinking: '123-45-678' }, { type: 'signature_delta', signature: 's' }]);
  const changed = play(start, begin, thought('a 123-45-678'), thought('9'), signature, stop(0), ...end);
  assert.doesNotMatch(changed.text, /signature_delta|678/);
  for (const result of [kept, changed]) assert.deepEqual(checkMessagesEvents(result.events), []);
});

test('blocks that come whole are judged whole', () => {
  const result = play(
    start, block(0, { type: 'tool_use', id: 't', name: 'f', input: { a: [secret, 1] } }), stop(0),
    block(1, { type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [{ type: 'text', text: `his ${secret}` }] }), stop(1), ...end,
  );
  assert.deepEqual(data(result)[1].content_block, { type: 'tool_use', id: 't', name: 'f', input: { a: ['[SSN]', 1] } });
  assert.deepEqual(data(result)[3].content_block.content, [{ type: 'text', text: 'his [SSN]' }]);
  assert.doesNotMatch(result.text, /6789/);
  const begun = play(event({ type: 'message_start', message: { ...message, content: [{ type: 'text', text: secret }, { type: 'text', text: 'b' }] } }), ...end);
  assert.deepEqual(data(begun)[0].message.content, [{ type: 'text', text: '[SSN]' }, { type: 'text', text: 'b' }]);
});

test('the rest of a block that is never stopped comes before the end of the message, an error, or at the end', () => {
  const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
  for (const ending of [end, [error], []]) {
    const events = [start, block(0, { type: 'text', text: '' }), text(0, 'a 12')];
    const result = play(...events, ...ending);
    assert.equal(textsOf('messages', result.events)['0'], 'a 12');
    assert.equal(result.text.endsWith(bytesOf(ending)), true);
  }
});

test('events without names stay without', () => {
  const nameless = [start, block(0, { type: 'text', text: '' }), text(0, 'a 12'), stop(0), ...end].map(({ data: given }) => ({ event: undefined, data: given }));
  assert.doesNotMatch(play(...nameless).text, /^event:/m);
});
