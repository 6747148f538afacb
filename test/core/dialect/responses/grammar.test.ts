import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gateway/plugin-sdk';
import { checkChatChunks, checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import { chunkOf, play, usage, usageChunk } from './recorder.js';

const role = chunkOf({ role: 'assistant', content: '' });
const stop = chunkOf({}, 'stop');
const begin = (index: number, more: JsonObject = {}): JsonObject => chunkOf({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: 'f', arguments: '' }, ...more }] });
const args = (index: number): JsonObject => chunkOf({ tool_calls: [{ index, function: { arguments: '{' } }] });

describe('the grammar of chat chunks', () => {
  for (const [what, chunks] of [
    ['text', [role, chunkOf({ content: 'a' }), stop]], ['usage at the end', [role, stop, usageChunk(usage)]], ['usage in the last chunk', [role, { ...stop, usage }]],
    ['interleaved tool calls', [role, begin(0), begin(1), args(0), args(1), args(0), chunkOf({}, 'tool_calls')]],
    ['two choices', [role, { ...role, choices: [{ index: 1, delta: { role: 'assistant' }, finish_reason: null }] }, stop, { ...stop, choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }]],
  ] as const) test(`allows ${what}`, () => assert.deepEqual(checkChatChunks(chunks), []));

  for (const [what, chunks, fault] of [
    ['no chunks', [], /no choice/], ['no role', [chunkOf({ content: 'a' }), stop], /begin with its role/], ['a second role', [role, role, stop], /role again/],
    ['no finish', [role], /no finish_reason/], ['an unknown finish', [role, chunkOf({}, 'end_turn')], /finish_reason is end_turn/], ['going on', [role, stop, chunkOf({ content: 'a' })], /goes on/],
    ['another id', [role, { ...stop, id: 'x' }], /id changed/], ['a skipped index', [role, begin(1), stop], /index of a tool call/], ['arguments first', [role, args(0), stop], /without an id/],
    ['an id again', [role, begin(0), begin(0), stop], /tells id/], ['chunks after usage', [role, stop, usageChunk(usage), usageChunk(usage)], /after usage/],
    ['early usage', [{ ...role, usage }, stop], /usage/], ['broken usage', [role, stop, usageChunk({})], /prompt_tokens/], ['text for a chunk', ['x', role, stop], /not an object/],
  ] as const) test(`catches ${what}`, () => assert.match(checkChatChunks(chunks).join('; '), fault));
});

describe('the grammar of response events', () => {
  const { events } = play([role, chunkOf({ reasoning_content: 'hm' }), chunkOf({ content: 'a' }), begin(0), args(0), chunkOf({}, 'tool_calls')]);
  const renumbered = (list: readonly { event: string; data: JsonObject }[]): { event: string; data: JsonObject }[] => list.map(({ event, data }, index) => ({ event, data: { ...data, sequence_number: index } }));

  test('allows a whole stream', () => assert.deepEqual(checkResponsesEvents(events), []));
  for (const [index, { event }] of events.entries()) {
    // A delta of its own is not a fault of the order; that it is missing shows in the texts.
    test(`misses event ${index}: ${event}`, () => assert.notDeepEqual(checkResponsesEvents(renumbered(events.filter((_, at) => at !== index))), []));
    test(`catches event ${index} when it comes twice: ${event}`, () => assert.notDeepEqual(checkResponsesEvents(renumbered([...events.slice(0, index + 1), ...events.slice(index)])), []));
  }
  test('catches wrong numbers', () => assert.match(checkResponsesEvents(events.slice(1)).join('; '), /sequence_number/));
  test('catches a wrong name', () => assert.match(checkResponsesEvents(events.map(({ data }) => ({ event: 'message', data }))).join('; '), /is named message/));
  test('catches a wrong item id', () => {
    const broken = events.map(({ event, data }) => ({ event, data: event.endsWith('arguments.delta') ? { ...data, item_id: 'x' } : data }));
    assert.match(checkResponsesEvents(broken).join('; '), /item_id is x/);
  });
});
