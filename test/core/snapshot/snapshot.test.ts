import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { Store } from '@gateway/plugin-sdk';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { RevisionSignal, Snapshot } from '../../../core/snapshot/snapshot.js';
import { hashOfLetter as hashOf, keyRow, putRows } from '../../support/rows.js';


async function setUp(onFault?: (thrown: unknown) => void): Promise<{ store: Store; signal: RevisionSignal; repository: Repository; snapshot: Snapshot }> {
  const store = await fakeHost().store('control');
  const signal = new RevisionSignal(RevisionSignal.allocate());
  const repository = new Repository(store, () => signal.bump());
  return { store, signal, repository, snapshot: new Snapshot(repository, signal, onFault) };
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('snapshot', () => {
  it('finds the principal of a key by its hash, frozen', async () => {
    const { repository, snapshot } = await setUp();
    await putRows(repository, apiKeys, keyRow('a'), keyRow('b', { type: 'organisation-service', workspaceId: null, expiresAtMs: 99, status: 'exhausted' }));
    await snapshot.refreshIfMoved();
    assert.deepEqual(snapshot.principalByKeyHash(hashOf('a')), {
      keyId: 'a', organisationId: 'o', workspaceId: 'w', scopes: new Set(['completions.write']), type: 'workspace-service', expiresAtMs: Infinity,
    });
    const b = snapshot.principalByKeyHash(hashOf('b'));
    assert.equal(b?.workspaceId, '');
    assert.equal(b?.expiresAtMs, 99);
    assert.ok(Object.isFrozen(b));
    assert.equal(snapshot.principalByKeyHash(hashOf('c')), undefined);
    assert.equal(snapshot.mayBeKey('aaaa-rest'), true);
    assert.equal(snapshot.mayBeKey('aaab-rest'), false);
    assert.deepEqual(snapshot.keyBeginnings(), ['aaaa', 'bbbb']);
    await putRows(repository, apiKeys, keyRow('c', { keyPrefix: 'gw_1234' }), keyRow('d', { keyPrefix: 'gw_abcd' }));
    await snapshot.refreshIfMoved();
    assert.deepEqual(snapshot.keyBeginnings(), ['aaaa', 'bbbb', 'gw_']);
  });

  it('takes over a commit after the signal moved, without a call waiting for it', async () => {
    const { repository, snapshot } = await setUp();
    await putRows(repository, apiKeys, keyRow('a'));
    await snapshot.refreshIfMoved();
    const stored = await repository.get(apiKeys, 'a');
    const change = new Change();
    if (stored !== undefined) change.remove(stored);
    change.insert(apiKeys, keyRow('b'));
    await repository.commit(change);
    // The first call still sees the old view and sets the reload off.
    assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
    await turn();
    assert.equal(snapshot.principalByKeyHash(hashOf('a')), undefined);
    assert.equal(snapshot.principalByKeyHash(hashOf('b'))?.keyId, 'b');
  });

  it('reads no row again while neither signal nor revision moved', async () => {
    const { store, signal, repository } = await setUp();
    await putRows(repository, apiKeys, keyRow('a'));
    let ranges = 0;
    const counting = new Repository({
      get: (key) => store.get(key), write: (batch) => store.write(batch), revision: () => store.revision(),
      range: (options) => { ranges += 1; return store.range(options); },
    });
    const snapshot = new Snapshot(counting, signal);
    for (let round = 0; round < 3; round += 1) {
      await snapshot.refreshIfMoved();
      assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
    }
    assert.equal(ranges, 1);
  });

  it('sees the commit of another process, which cannot move the signal, when it is asked to refresh', async () => {
    const { store, snapshot } = await setUp();
    await snapshot.refreshIfMoved();
    await putRows(new Repository(store), apiKeys, keyRow('a'));
    assert.equal(snapshot.principalByKeyHash(hashOf('a')), undefined);
    await snapshot.refreshIfMoved();
    assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
  });

  it('holds every commit made before refreshIfMoved was called, also when a reload was under way', async () => {
    const { repository, snapshot } = await setUp();
    await putRows(repository, apiKeys, keyRow('a'));
    const first = snapshot.refreshIfMoved();
    await putRows(repository, apiKeys, keyRow('b'));
    const [second, third] = [snapshot.refreshIfMoved(), snapshot.refreshIfMoved()];
    await Promise.all([first, second, third]);
    assert.equal(snapshot.principalByKeyHash(hashOf('b'))?.keyId, 'b');
  });

  it('keeps the earlier view when a reload fails, says so, and does not try again on each call', async () => {
    const faults: unknown[] = [];
    const { store, signal, repository, snapshot } = await setUp((thrown) => faults.push(thrown));
    await putRows(repository, apiKeys, keyRow('a'));
    await snapshot.refreshIfMoved();
    await putRows(repository, apiKeys, keyRow('e', { id: 'z' }));
    const whole = await store.get('api-key/z');
    await store.write([{ op: 'put', key: 'api-key/z', value: new Uint8Array([0xc1]) }]);
    signal.bump();
    for (let call = 0; call < 5; call += 1) {
      assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
      await turn();
    }
    assert.equal(faults.length, 1);
    assert.match(String(faults[0]), /api-key z is damaged/);
    await assert.rejects(snapshot.refreshIfMoved(), /damaged/);
    await store.write([{ op: 'put', key: 'api-key/z', value: whole?.value ?? new Uint8Array() }]);
    await snapshot.refreshIfMoved();
    assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
  });
});

describe('revision signal', () => {
  it('is seen by another thread', async () => {
    const memory = RevisionSignal.allocate();
    const signal = new RevisionSignal(memory);
    const before = signal.current();
    const module = new URL('../../../core/snapshot/revision-signal.js', import.meta.url).href;
    const source = `const { workerData } = require('node:worker_threads'); import(${JSON.stringify(module)}).then(({ RevisionSignal }) => { new RevisionSignal(workerData).bump(); });`;
    await once(new Worker(source, { eval: true, workerData: memory }), 'exit');
    assert.notEqual(signal.current(), before);
  });
});
