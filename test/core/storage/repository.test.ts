import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { pack } from 'msgpackr';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { putRow, removeRow, Repository } from '../../../core/storage/repository.js';
import { apiKeys, organisations, workspaces, type ApiKeyRow } from '../../../core/storage/rows.js';

const key: ApiKeyRow = {
  id: 'k1', name: 'key', type: 'workspace-service', organisationId: 'o1', workspaceId: 'w1', scopes: ['completions.write'],
  keyHash: 'a'.repeat(64), keyPrefix: 'gw_abcd', status: 'active', createdAtMs: 1_700_000_000_000, expiresAtMs: null,
};
const freshStore = () => fakeHost().store('control');

describe('repository', () => {
  it('gives back rows as they were written, with their versions', async () => {
    const repository = new Repository(await freshStore());
    assert.equal(await repository.get(apiKeys, 'k1'), undefined);
    assert.equal(await repository.write([putRow(apiKeys, key, 0)]), true);
    assert.deepEqual(await repository.get(apiKeys, 'k1'), { row: key, version: 1 });
    const changed = { ...key, workspaceId: null, expiresAtMs: 5 };
    assert.equal(await repository.write([putRow(apiKeys, changed, 0)]), false);
    assert.equal(await repository.write([putRow(apiKeys, changed, 1)]), true);
    assert.deepEqual(await repository.get(apiKeys, 'k1'), { row: changed, version: 2 });
    assert.equal(await repository.write([removeRow(apiKeys, 'k1', 2)]), true);
    assert.equal(await repository.get(apiKeys, 'k1'), undefined);
  });

  it('lists a table and no other, page by page', async () => {
    const repository = new Repository(await freshStore());
    const ids = Array.from({ length: 2300 }, (_, index) => `o${String(index).padStart(4, '0')}`);
    await repository.write([...ids].reverse().map((id) => putRow(organisations, { id, name: id, createdAtMs: 1 })));
    await repository.write([putRow(workspaces, { id: 'w', organisationId: 'o0000', slug: 's', name: 'n', createdAtMs: 1 }), putRow(apiKeys, key)]);
    const all: string[] = [];
    for await (const { row } of repository.all(organisations)) all.push(row.id);
    assert.deepEqual(all, ids);
    assert.deepEqual((await repository.list(organisations, 2, 'o0009')).map(({ row }) => row.id), ['o0010', 'o0011']);
    assert.deepEqual((await repository.list(workspaces, 10)).map(({ row }) => row.id), ['w']);
  });

  it('tells of each commit, and of no refused write', async () => {
    let commits = 0;
    const repository = new Repository(await freshStore(), () => { commits += 1; });
    await repository.write([putRow(apiKeys, key, 0)]);
    await repository.write([putRow(apiKeys, key, 0)]);
    await repository.write([]);
    assert.equal(commits, 1);
  });

  it('refuses a row of a newer version by name', async () => {
    const store = await freshStore();
    await store.write([{ op: 'put', key: 'api-key/k9', value: pack({ format: 2, row: { ...key, invented: true } }) }]);
    const repository = new Repository(store);
    for (const read of [() => repository.get(apiKeys, 'k9'), () => repository.list(apiKeys, 10)]) {
      await assert.rejects(read, (thrown) => {
        assert.ok(isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID');
        assert.equal(thrown.message, 'the stored api-key k9 has format 2, newer than the 1 that this version reads; start the newer version of the gateway');
        return true;
      });
    }
  });

  it('refuses a damaged row, and says which and why', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    const cases: readonly [Uint8Array, RegExp][] = [
      [new Uint8Array([0xc1]), /the stored api-key bad is damaged/],
      [pack('text'), /it has no format/],
      [pack({ format: 0, row: key }), /it has no format/],
      [pack({ format: 1, row: null }), /it has no format/],
      [pack({ format: 1, row: { ...key, scopes: 'completions.write' } }), /its scopes is not valid/],
      [pack({ format: 1, row: { ...key, type: 'root' } }), /its type is not valid/],
      [pack({ format: 1, row: { ...key, keyHash: 'abc' } }), /its keyHash is not valid/],
      [pack({ format: 1, row: { id: 'k' } }), /is not valid/],
    ];
    for (const [value, reason] of cases) {
      await store.write([{ op: 'put', key: 'api-key/bad', value }]);
      await assert.rejects(repository.get(apiKeys, 'bad'), reason);
    }
  });
});
