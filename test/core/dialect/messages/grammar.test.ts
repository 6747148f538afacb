import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkMessagesEvents } from '@gateway/plugin-sdk/testing';

const event = (type: string, more: object = {}): { event: string; data: object } => ({ event: type, data: { type, ...more } });
const start = event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 0 } } });
const open = (index: number, block: object): object => event('content_block_start', { index, content_block: block });
const delta = (index: number, piece: object): object => event('content_block_delta', { index, delta: piece });
const close = (index: number): object => event('content_block_stop', { index });
const end = (reason: string | null = 'end_turn'): object => event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } });
const stop = event('message_stop');
const ping = event('ping');
const text = { type: 'text', text: '' };
const tool = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const faults = (...events: object[]): string[] => checkMessagesEvents(events as { data: unknown }[]);

describe('grammar of messages streams', () => {
  it('finds nothing in sound streams', () => {
    assert.deepEqual(faults(start, ping, open(0, text), ping, delta(0, { type: 'text_delta', text: 'a' }), close(0), event('future'), end(), stop), []);
    assert.deepEqual(faults(start, end(), stop), []);
    assert.deepEqual(faults(start, open(0, tool), delta(0, { type: 'input_json_delta', partial_json: '{}' }), close(0), end('tool_use'), stop), []);
    assert.deepEqual(faults(start, open(0, text), event('error', { error: { type: 'overloaded_error', message: 'm' } })), []);
    assert.deepEqual(checkMessagesEvents([start, end(), stop].map((each) => ({ data: JSON.stringify((each as { data: object }).data) }))), []);
  });

  const unsound: [string, object[], RegExp][] = [
    ['no events', [], /no message_start/], ['no start', [open(0, text), close(0), end(), stop], /before message_start/], ['two starts', [start, start, end(), stop], /second time/],
    ['no stop', [start, end()], /no message_stop/], ['no delta', [start, stop], /without message_delta/], ['two open blocks', [start, open(0, text), open(1, text), close(1), end(), stop], /while block 0 is open/],
    ['a wrong index', [start, open(1, text), close(0), end(), stop], /must be 0/], ['a delta for another block', [start, open(0, text), delta(1, { type: 'text_delta', text: 'a' }), close(0), end(), stop], /block 0 is open/],
    ['a delta of another type', [start, open(0, text), delta(0, { type: 'thinking_delta', thinking: 'a' }), close(0), end(), stop], /does not belong/],
    ['an open block at the end', [start, open(0, text), end(), stop], /while block 0 is open/], ['a block behind the end', [start, end(), open(0, text), close(0), stop], /after message_delta/],
    ['no stop reason', [start, end(null), stop], /stop_reason is null/], ['tool_use without a tool', [start, end('tool_use'), stop], /no tool/], ['events behind the end', [start, end(), stop, ping], /after the end/],
    ['another name', [start, { event: 'x', data: { type: 'ping' } }, end(), stop], /named x/], ['an id twice', [start, open(0, tool), close(0), open(1, tool), close(1), end('tool_use'), stop], /given before/],
    ['thinking behind its signature', [start, open(0, { type: 'thinking', thinking: '', signature: '' }), delta(0, { type: 'signature_delta', signature: 's' }), delta(0, { type: 'thinking_delta', thinking: 'a' }), close(0), end(), stop], /behind its signature/],
    ['half an input', [start, open(0, tool), delta(0, { type: 'input_json_delta', partial_json: '{' }), close(0), end('tool_use'), stop], /not JSON/], ['no JSON', [{ data: '{' }, start, end(), stop], /not JSON/],
    ['negative usage', [start, event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: -1 } }), stop], /not below 0/],
  ];
  for (const [name, events, fault] of unsound) it(`tells of ${name}`, () => assert.match(faults(...events).join('\n'), fault));
});
