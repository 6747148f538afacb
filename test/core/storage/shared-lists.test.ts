import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Repository } from '../../../core/storage/repository.js';
import { SharedLists } from '../../../core/storage/shared-lists.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { keyRow, putRows } from '../../support/rows.js';

describe('lists that many rows have alike', () => {
  it('are one list when their texts are the same, in order, and else their own', () => {
    const lists = new SharedLists();
    const first = lists.share(['a', 'b']);
    assert.equal(lists.share(['a', 'b']), first);
    assert.ok(Object.isFrozen(first));
    for (const other of [['b', 'a'], ['a'], ['a', 'b', 'c'], ['a', 1], 'a', null]) assert.deepEqual(lists.share(other), other);
    assert.equal(lists.share(['a', 'b']), first);
  });

  it('are remembered up to a number', () => {
    const lists = new SharedLists();
    for (let index = 0; index < 64; index += 1) assert.equal(lists.share([String(index)]), lists.share([String(index)]));
    assert.notEqual(lists.share(['one more']), lists.share(['one more']));
  });

  it('are the scopes of keys', async () => {
    const repository = new Repository(await fakeHost().store('control'));
    await putRows(repository, apiKeys, keyRow('a'), keyRow('b'), keyRow('c', { scopes: ['logs.view'] }));
    const [a, b, c] = (await repository.list(apiKeys, { limit: 3 })).map(({ row }) => row);
    assert.equal(a?.scopes, b?.scopes);
    assert.deepEqual([a?.scopes, c?.scopes], [['completions.write'], ['logs.view']]);
  });
});
