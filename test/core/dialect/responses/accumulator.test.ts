import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { dialects } from '../../../../core/dialect/dialects.js';

const event = (type: string, more: JsonObject = {}): AnswerEvent => ({ event: type, data: { type, ...more } });
const item = (id: string): JsonObject => ({ id, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: `text of ${id}`, annotations: [] }] });
const response = (status: string, output: readonly JsonObject[]): JsonObject => ({ id: 'resp_1', object: 'response', status, output, usage: { output_tokens: 3 } });
const done = (index: number, id: string): AnswerEvent => event('response.output_item.done', { output_index: index, item: item(id) });
const created = event('response.created', { response: response('in_progress', []) });

function assembled(events: readonly AnswerEvent[], bytesMax?: number): JsonObject | null {
  const whole = assembler(dialects.responses, bytesMax);
  for (const each of events) whole.push(each);
  return whole.answer();
}
const nameless = (events: readonly AnswerEvent[]): AnswerEvent[] => events.map(({ data }) => ({ event: undefined, data: JSON.stringify(data) }));

describe('a response out of events', () => {
  for (const status of ['completed', 'incomplete']) {
    test(`is the one that response.${status} holds`, () => {
      const events = [created, event('response.output_text.delta', { delta: 'a' }), done(0, 'a'), event(`response.${status}`, { response: response(status, [item('a')]) })];
      assert.deepEqual(assembled(events), response(status, [item('a')]));
      assert.deepEqual(assembled(nameless(events)), response(status, [item('a')]));
    });
  }

  test('has the items that were told one by one when the last event leaves them out', () => {
    const events = [created, done(1, 'b'), done(0, 'a'), event('response.completed', { response: response('completed', []) })];
    assert.deepEqual(assembled(events), response('completed', [item('a'), item('b')]));
  });

  test('is not there without its last event, or when it failed', () => {
    assert.equal(assembled([created, done(0, 'a')]), null);
    assert.equal(assembled([created, event('response.failed', { response: response('failed', []) })]), null);
    assert.equal(assembled([created, event('response.completed')]), null);
    for (const failure of [event('error', { message: 'm' }), event('response.failed', { response: response('failed', []) }), { event: undefined, data: '{"type":"error"}' }]) {
      assert.equal(assembled([created, failure, event('response.completed', { response: response('completed', []) })]), null);
    }
  });

  test('is given up beyond the limit, whether the items or the whole are too long', () => {
    const last = event('response.completed', { response: response('completed', [item('x'.repeat(2_000))]) });
    assert.equal(assembled([created, last], 2_000), null);
    assert.notEqual(assembled([created, last], 6_000), null);
    const items = Array.from({ length: 40 }, (_, index) => done(index, `item_${index}`));
    assert.equal(assembled([...items, event('response.completed', { response: response('completed', []) })], 2_000), null);
    // What was counted item by item is not counted again.
    const whole = event('response.completed', { response: response('completed', Array.from({ length: 40 }, (_, index) => item(`item_${index}`))) });
    const bytes = JSON.stringify(whole).length;
    assert.notEqual(assembled([...items, whole], bytes * 1.5), null);
  });

  test('does not read events that hold nothing whole', () => {
    const events: AnswerEvent[] = [created, { event: 'response.output_text.delta', data: 'no JSON at all' }, event('response.completed', { response: response('completed', []) })];
    assert.deepEqual(assembled(events), response('completed', []));
  });
});
