import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gateway/plugin-sdk';
import { deletedResponse, historyOf, inputItemsPage, isOwnId, isPageFault, itemsOf, newResponseId, referencesOf, responseIdOf, withReferences, type StoredResponse } from '../../../../core/dialect/responses/stored.js';

const id = newResponseId(1_700_000_000_000, '0123456789abcdef0123');
const suffix = id.slice(5);

describe('ids of stored responses', () => {
  test('are ours and ordered by time', () => {
    assert.equal(id, 'resp_gw_018bcfe568000123456789abcdef0123');
    assert.ok(isOwnId(id));
    assert.ok(newResponseId(1_700_000_000_001, '0'.repeat(20)) > id);
    for (const other of ['resp_abc', 'resp_gw_12', `${id}0`, 'chatcmpl-1', '']) assert.ok(!isOwnId(other), other);
  });

  test('are found from the ids of their items', () => {
    assert.equal(responseIdOf(`msg_${suffix}_0`), id);
    assert.equal(responseIdOf(`fco_${suffix}_in_12`), id);
    assert.equal(responseIdOf('msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654'), undefined);
  });
});

describe('input items', () => {
  const items = itemsOf([{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'yes' }, { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }, { type: 'function_call_output', call_id: 'a', output: 'ok' }, { type: 'reasoning', id: 'rs_9', summary: [] }], id);

  test('get ids, types and statuses', () => {
    assert.deepEqual(itemsOf('hi', id), [{ id: `msg_${suffix}_in_0`, type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'hi' }] }]);
    assert.deepEqual(items, [
      { id: `msg_${suffix}_in_0`, type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'hi' }] },
      { id: `msg_${suffix}_in_1`, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'yes', annotations: [], logprobs: [] }] },
      { id: `fc_${suffix}_in_2`, type: 'function_call', status: 'completed', call_id: 'a', name: 'f', arguments: '{}' },
      { id: `fco_${suffix}_in_3`, type: 'function_call_output', status: 'completed', call_id: 'a', output: 'ok' },
      { id: 'rs_9', type: 'reasoning', summary: [] },
    ]);
    const parts = [{ type: 'input_text', text: 'a' }, { type: 'input_image', image_url: 'https://x/y.png' }];
    assert.deepEqual(itemsOf([{ type: 'message', id: 'msg_1', role: 'user', status: 'completed', content: parts }], id), [{ type: 'message', id: 'msg_1', role: 'user', status: 'completed', content: [parts[0], { ...parts[1], detail: 'auto' }] }]);
    assert.deepEqual(itemsOf(undefined, id), []);
  });

  const many: Json[] = Array.from({ length: 25 }, (_, index) => ({ id: `i${index}`, type: 'message' }));
  const pages: readonly (readonly [query: string, first: string | null, last: string | null, count: number, hasMore: boolean])[] = [
    ['', 'i24', 'i5', 20, true], ['order=asc', 'i0', 'i19', 20, true], ['order=asc&after=i19', 'i20', 'i24', 5, false], ['order=asc&limit=3&after=i2', 'i3', 'i5', 3, true],
    ['after=i5', 'i4', 'i0', 5, false], ['order=asc&limit=2&before=i5', 'i3', 'i4', 2, true], ['order=asc&before=i2', 'i0', 'i1', 2, false], ['limit=100', 'i24', 'i0', 25, false],
    ['order=asc&after=i24', null, null, 0, false],
  ];
  for (const [query, first, last, count, hasMore] of pages) {
    test(`come in pages: ${query}`, () => {
      const page = inputItemsPage(many, new URLSearchParams(query)) as JsonObject;
      assert.deepEqual([page.object, page.first_id, page.last_id, (page.data as Json[]).length, page.has_more], ['list', first, last, count, hasMore]);
    });
  }
  for (const [query, param] of [['limit=0', 'limit'], ['limit=101', 'limit'], ['limit=x', 'limit'], ['order=up', 'order'], ['after=no', 'after'], ['before=no', 'before']] as const) {
    test(`are refused: ${query}`, () => {
      const page = inputItemsPage(many, new URLSearchParams(query));
      assert.ok(isPageFault(page));
      assert.equal(page.fault.param, param);
    });
  }

  test('replace references', () => {
    const input = [{ type: 'item_reference', id: 'a' }, { id: 'b' }, { role: 'user', content: 'hi' }];
    assert.deepEqual(referencesOf(input), ['a', 'b']);
    assert.deepEqual(withReferences(input, new Map([['a', { type: 'message', id: 'a' }]])), [{ type: 'message', id: 'a' }, { id: 'b' }, { role: 'user', content: 'hi' }]);
    assert.equal(withReferences('hi', new Map()), 'hi');
  });
});

test('history is input and output of each response, oldest first', () => {
  const stored = (name: string): StoredResponse => ({ response: { output: [`${name} out`] }, input: [`${name} in`], previous: null, workspaceId: 'w', expiresAtMs: 0 });
  assert.deepEqual(historyOf([stored('a'), stored('b')]), ['a in', 'a out', 'b in', 'b out']);
  assert.deepEqual(deletedResponse('resp_1'), { id: 'resp_1', object: 'response', deleted: true });
});
