import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store, Write } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { pack } from 'msgpackr';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { verifyStore } from '../../../core/storage/verify-store.js';
import { hashOfLetter, keyRow, putRows, removeRows } from '../../support/rows.js';

async function filled(): Promise<{ readonly store: Store; readonly repository: Repository }> {
  const store = await fakeHost().store('control');
  const repository = new Repository(store);
  await putRows(repository, apiKeys, keyRow('a'), keyRow('b'), keyRow('c'));
  await putRows(repository, apiKeys, keyRow('b', { workspaceId: 'other', keyHash: hashOfLetter('d') }));
  await removeRows(repository, apiKeys, 'c');
  return { store, repository };
}

describe('a store', () => {
  it('is whole after what a repository did to it', async () => {
    const { repository } = await filled();
    assert.deepEqual(await verifyStore(repository, [apiKeys]), { rows: 2, auditEntries: 0, faults: [], faultCount: 0, auditFault: undefined });
  });

  const put = (key: string, value: unknown): Write => ({ op: 'put', key, value: pack(value) });
  const wrongs: Readonly<Record<string, readonly [Write, RegExp]>> = {
    'a row that is missing from an index': [{ op: 'remove', key: 'index/api-key/workspace/other/b' }, /^api-key b is not in the index workspace$/],
    'a row whose place in a unique index is another one\'s': [{ op: 'put', key: `index/api-key/hash/${hashOfLetter('a')}`, value: Buffer.from('b') }, /^api-key a has the same hash as b$/],
    'an index entry of a row that is gone': [{ op: 'put', key: 'index/api-key/workspace/w/c', value: Buffer.from('c') }, /^the index workspace of api-key has an entry for c that/],
    'an index entry that is out of date': [{ op: 'put', key: 'index/api-key/workspace/w/b', value: Buffer.from('b') }, /^the index workspace of api-key has an entry for b that/],
    'a damaged row': [put('api-key/a', 'text'), /^the stored api-key a is damaged/],
    'a change that its head does not know': [put('change/0000000000000004', [['api-key', 'a']]), /^the change log has an entry 4 that does not belong there; the last is 3$/],
    'a damaged change': [put('change/0000000000000003', 'text'), /^the change log has an entry 3 of nothing$/],
    'an audit log without its end': [put('head', { sequence: 3, auditHash: 'ab' }), /^entry 0\/0: entries behind it were removed/],
  };
  for (const [what, [write, fault]] of Object.entries(wrongs)) {
    it(`is not whole with ${what}`, async () => {
      const { store, repository } = await filled();
      await store.write([write]);
      const { faults, auditFault } = await verifyStore(repository, [apiKeys]);
      assert.match(faults[0] ?? auditFault ?? '', fault);
    });
  }
});
