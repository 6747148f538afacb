import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { defineTable } from '../../../core/storage/define-table.js';
import { faultOfMasterKey, readMasterKeyRecord, recordMasterKey, writeOfMasterKey } from '../../../core/storage/master-key-record.js';
import { Repository } from '../../../core/storage/repository.js';
import { object, orNull } from '../../../core/storage/schema-parts.js';
import { absentSecret, Sealer } from '../../../core/storage/sealer.js';
import { Type, type TSchema } from '../../../core/storage/type.js';
import { putRows } from '../../support/rows.js';

const vaults = defineTable({ name: 'vault', format: 1, schema: object({ id: Type.String(), token: Type.String(), other: orNull(Type.String()) }), secrets: ['token', 'other'] });
const first = new Sealer(Buffer.alloc(32, 1));
const second = new Sealer(Buffer.alloc(32, 2));
const refuse = (thrown: unknown): void => { throw thrown; };

async function storeUnder(sealer: Sealer, ...ids: readonly string[]): Promise<{ readonly store: Store; readonly repository: Repository }> {
  const store = await fakeHost().store('control');
  const repository = new Repository(store);
  await recordMasterKey(store, sealer, refuse);
  for (const id of ids) await putRows(repository, vaults, { id, token: sealer.seal('s', `vault/${id}/token`), other: null });
  return { store, repository };
}

describe('the master key of a store', () => {
  it('is recorded at the first start, and that key starts it again', async () => {
    const { store, repository } = await storeUnder(first, 'a');
    const revision = await store.revision();
    assert.equal(await faultOfMasterKey(repository, [vaults], first), undefined);
    await recordMasterKey(store, first, refuse);
    assert.equal(await store.revision(), revision);
    assert.equal((await readMasterKeyRecord(store))?.keyId, first.keyId);
  });

  it('that is another one, or lost, is refused while secrets are stored, with what to do', async () => {
    const { repository } = await storeUnder(first, 'a');
    const expected = (id: string): string => `the master key is another one than secrets were stored under (${id} instead of ${first.keyId}, vault a); `
      + 'put the old one back, as GATEWAY_MASTER_KEY or as master.key in the data directory, or give the stored secrets up with gateway rekey --forget';
    assert.equal(await faultOfMasterKey(repository, [vaults], second), expected(second.keyId));
    assert.equal(await faultOfMasterKey(repository, [vaults], undefined), expected('a new one'));
  });

  it('is refused as well in a store that has no record of it yet', async () => {
    const { store, repository } = await storeUnder(first, 'a');
    await store.write([{ op: 'remove', key: 'master-key' }]);
    assert.match(await faultOfMasterKey(repository, [vaults], second) ?? '', /put the old one back/);
    assert.equal(await faultOfMasterKey(repository, [vaults], first), undefined);
  });

  it('may be any where no secret is stored', async () => {
    const { store, repository } = await storeUnder(first);
    await putRows(repository, vaults, { id: 'given up', token: absentSecret, other: null });
    assert.equal(await faultOfMasterKey(repository, [vaults], second), undefined);
    assert.equal(await faultOfMasterKey(repository, [vaults], undefined), undefined);
    await recordMasterKey(store, second, refuse);
    assert.equal((await readMasterKeyRecord(store))?.keyId, second.keyId);
  });

  it('is refused while a change of it is not finished', async () => {
    const { store, repository } = await storeUnder(first);
    await store.write([writeOfMasterKey(first, 1, second.keyId)]);
    for (const sealer of [first, second]) assert.match(await faultOfMasterKey(repository, [vaults], sealer) ?? '', /was broken off; run gateway rekey again/);
  });

  it('that cannot be recorded for want of room stops nothing', async () => {
    const store = await fakeHost().store('control');
    const told: unknown[] = [];
    const full: Store = { get: (id) => store.get(id), range: (options) => store.range(options), revision: () => store.revision(), write: () => Promise.reject(new Error('no room')) };
    await recordMasterKey(full, first, (thrown) => told.push(thrown));
    assert.match(String(told), /no room/);
  });
});

describe('a table with secrets', () => {
  it('has them in members that can hold a sealed value or its absence', () => {
    const define = (schema: TSchema<string | null>) => () => defineTable({ name: 't', format: 1, schema: object({ id: Type.String(), s: schema }), secrets: ['s'] });
    assert.doesNotThrow(define(orNull(Type.String())));
    assert.throws(define(Type.String({ pattern: '^sk-' })), /t\.s is sealed: its schema has no pattern/);
    assert.throws(define(Type.Unsafe<string>({ type: 'object' })), /t\.s is sealed: its schema must be a string/);
  });
});
