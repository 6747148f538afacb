import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store, Write } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { defineTable } from '../../../core/storage/define-table.js';
import { faultOfMasterKey, readMasterKeyRecord, recordMasterKey } from '../../../core/storage/master-key-record.js';
import { forgetSecrets, nextKeyIdOf, rekey } from '../../../core/storage/rekey.js';
import { Repository } from '../../../core/storage/repository.js';
import { object, orNull } from '../../../core/storage/schema-parts.js';
import { absentSecret, Sealer } from '../../../core/storage/sealer.js';
import { Type } from '../../../core/storage/type.js';
import { verifyStore } from '../../../core/storage/verify-store.js';
import { putRows } from '../../support/rows.js';

const vaults = defineTable({
  name: 'vault', format: 1, schema: object({ id: Type.String(), token: Type.String({ minLength: 1 }), other: orNull(Type.String()), plain: Type.String() }), secrets: ['token', 'other'],
  indexes: { plain: { of: (row) => [row.plain] } },
});
const [first, second, third] = [new Sealer(Buffer.alloc(32, 1)), new Sealer(Buffer.alloc(32, 2)), new Sealer(Buffer.alloc(32, 3))];
const vaultCount = 450;
const none = (): void => {};

async function filled(): Promise<{ readonly store: Store; readonly repository: Repository }> {
  const store = await fakeHost().store('control');
  const repository = new Repository(store);
  await recordMasterKey(store, first, (thrown) => { throw thrown; });
  await putRows(repository, vaults, ...Array.from({ length: vaultCount }, (_, index) => {
    const id = `v${String(index).padStart(3, '0')}`;
    return { id, token: first.seal(`token of ${id}`, `vault/${id}/token`), other: index % 2 === 0 ? null : first.seal(`other of ${id}`, `vault/${id}/other`), plain: id };
  }));
  return { store, repository };
}

async function assertOpens(repository: Repository, sealer: Sealer): Promise<void> {
  let rows = 0;
  for await (const { row: { id, token, other } } of repository.all(vaults)) {
    assert.equal(sealer.open(token, `vault/${id}/token`), `token of ${id}`);
    if (other !== null) assert.equal(sealer.open(other, `vault/${id}/other`), `other of ${id}`);
    rows += 1;
  }
  assert.equal(rows, vaultCount);
}

describe('a change of the master key', () => {
  it('puts every secret under the new key, and the key in its place when all are', async () => {
    const { repository } = await filled();
    let isPublished = false;
    const changed = await rekey(repository, [vaults], first, second, () => { isPublished = true; });
    assert.deepEqual([changed, isPublished], [vaultCount, true]);
    await assertOpens(repository, second);
    assert.equal(await faultOfMasterKey(repository, [vaults], second), undefined);
    assert.match(await faultOfMasterKey(repository, [vaults], first) ?? '', /put the old one back/);
    assert.deepEqual((await verifyStore(repository, [vaults])).faults, []);
  });

  it('that is broken off, wherever, lets no gateway start, and goes on when it is begun again', async () => {
    for (let writesLeft = 0; writesLeft < 6; writesLeft += 1) {
      const { store, repository } = await filled();
      let left = writesLeft;
      const write = (batch: readonly Write[]): Promise<boolean> => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error('no room')) : store.write(batch) as Promise<boolean>;
      };
      const failing = new Repository({ get: (key) => store.get(key), range: (options) => store.range(options), revision: () => store.revision(), write });
      let published = 0;
      const publish = (): void => { published += 1; };
      const outcome = await rekey(failing, [vaults], first, second, publish).then(() => 'done', () => 'broken off');
      assert.equal(outcome, writesLeft < 5 ? 'broken off' : 'done', `${writesLeft} writes`);
      if (outcome === 'done') continue;
      const next = await nextKeyIdOf(repository);
      assert.equal(next, writesLeft === 0 ? null : second.keyId);
      if (next !== null) {
        for (const sealer of [first, second]) assert.match(await faultOfMasterKey(repository, [vaults], sealer) ?? '', /broken off; run gateway rekey again/);
        await assert.rejects(rekey(repository, [vaults], first, third, publish), /was broken off, and the new key is .*; give that one again/);
      }
      // The new key is in its place already when only the last word is missing.
      await rekey(repository, [vaults], published > 0 ? second : first, second, publish);
      await assertOpens(repository, second);
      assert.equal((await readMasterKeyRecord(store))?.nextKeyId, null);
    }
  });

  it('refuses an old key that is not the one of the store, and a new one that is', async () => {
    const { repository } = await filled();
    await assert.rejects(rekey(repository, [vaults], second, third, none), /the master key at hand \(.*\) is not the one that secrets are stored under/);
    await assert.rejects(rekey(repository, [vaults], first, first, none), /the new master key is the one of now/);
    await assertOpens(repository, first);
    assert.equal(await nextKeyIdOf(repository), null);
  });

  it('is done without secrets, and from then on the new key is the one of the store', async () => {
    const store = await fakeHost().store('control');
    const repository = new Repository(store);
    await recordMasterKey(store, first, none);
    assert.equal(await rekey(repository, [vaults], first, second, none), 0);
    assert.equal((await readMasterKeyRecord(store))?.keyId, second.keyId);
  });
});

describe('secrets that are given up', () => {
  it('leave their rows, and a store that goes by the key of now', async () => {
    const { repository } = await filled();
    await putRows(repository, vaults, { id: 'v000', token: second.seal('new', 'vault/v000/token'), other: null, plain: 'p' });
    const forgotten = await forgetSecrets(repository, [vaults], second);
    assert.deepEqual([forgotten.length, forgotten[0]], [vaultCount - 1, 'vault v001']);
    assert.deepEqual((await repository.get(vaults, 'v001'))?.row, { id: 'v001', token: absentSecret, other: null, plain: 'v001' });
    assert.equal(second.open((await repository.get(vaults, 'v000'))?.row.token ?? '', 'vault/v000/token'), 'new');
    assert.throws(() => second.open(absentSecret, 'vault/v001/token'), /the secret at vault\/v001\/token is not there: it was given up or left out of a backup; store it again/);
    assert.equal(await faultOfMasterKey(repository, [vaults], second), undefined);
  });
});
