import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { Store } from '@gateway/plugin-sdk';
import { collectAll } from '../../../core/server/idle-collector.js';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys, type ApiKeyRow } from '../../../core/storage/tables/api-keys.js';
import { AppliedSequences } from '../../../core/snapshot/applied-sequences.js';
import { RevisionSignal, Snapshot, type SnapshotOptions } from '../../../core/snapshot/snapshot.js';
import { projectedTables } from '../../../core/snapshot/view.js';
import { hashOfLetter as hashOf, keyRow, putRows, removeRows } from '../../support/rows.js';


async function setUp(options: SnapshotOptions = {}): Promise<{ store: Store; signal: RevisionSignal; repository: Repository; snapshot: Snapshot }> {
  const store = await fakeHost().store('control');
  const signal = new RevisionSignal(RevisionSignal.allocate());
  const repository = new Repository(store, () => signal.bump());
  return { store, signal, repository, snapshot: new Snapshot(repository, signal, options) };
}

const changeOf = (row: ApiKeyRow): Change => {
  const change = new Change();
  change.insert(apiKeys, row);
  return change;
};

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('snapshot', () => {
  it('finds the principal of a key by its hash, frozen', async () => {
    const { repository, snapshot } = await setUp();
    await putRows(repository, apiKeys, keyRow('a'), keyRow('b', { type: 'organisation-service', workspaceId: null, expiresAtMs: 99, status: 'exhausted' }));
    await snapshot.refreshIfMoved();
    const { workspace, ...a } = snapshot.principalByKeyHash(hashOf('a')) ?? assert.fail('no such key');
    assert.deepEqual(a, {
      keyId: 'a', organisationId: 'o', workspaceId: 'w', scopes: new Set(['completions.write']), type: 'workspace-service', expiresAtMs: Infinity, defaults: null, limits: null, token: null,
    });
    assert.equal(workspace?.rules?.isActive, false);
    const b = snapshot.principalByKeyHash(hashOf('b'));
    assert.equal(b?.workspaceId, '');
    assert.equal(b.workspace, null);
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

  it('takes over a commit at once, without a call or anybody else asking for it', async () => {
    const applied = new AppliedSequences(AppliedSequences.allocate(1));
    const { repository, snapshot } = await setUp({ onApplied: (sequence) => applied.publish(0, sequence) });
    await putRows(repository, apiKeys, keyRow('a'));
    await snapshot.refreshIfMoved();
    const unwatch = snapshot.watch();
    const stored = await repository.get(apiKeys, 'a');
    const change = new Change();
    if (stored !== undefined) change.remove(stored);
    change.insert(apiKeys, keyRow('b'));
    const sequence = await repository.commit(change);
    assert.equal(await applied.waitUntilApplied(sequence, 10_000), true);
    assert.equal(snapshot.principalByKeyHash(hashOf('a')), undefined);
    assert.equal(snapshot.principalByKeyHash(hashOf('b'))?.keyId, 'b');
    unwatch();
    const later = await repository.commit(changeOf(keyRow('c')));
    await turn();
    await turn();
    assert.equal(applied.isApplied(later), false);
  });

  it('never shows half of a commit that came in while the rows of an earlier one were read', async () => {
    const { store, signal, repository } = await setUp();
    let beforeRead: (() => Promise<void>) | null = null;
    const slow = new Repository({
      write: (batch) => store.write(batch), revision: () => store.revision(), range: (options) => store.range(options),
      get: async (key) => {
        const meanwhile = key === 'api-key/a' ? beforeRead : null;
        beforeRead = meanwhile === null ? beforeRead : null;
        await meanwhile?.();
        return store.get(key);
      },
    });
    const seen: string[][] = [];
    const snapshot = new Snapshot(slow, signal, {
      onApplied: () => seen.push(['a', 'b', 'c'].map((letter) => `${letter}${snapshot.principalByKeyHash(hashOf(letter))?.expiresAtMs}`)),
    });
    await putRows(repository, apiKeys, keyRow('a', { expiresAtMs: 1 }), keyRow('b', { expiresAtMs: 1 }));
    await snapshot.refreshIfMoved();
    await putRows(repository, apiKeys, keyRow('a', { expiresAtMs: 2 }));
    beforeRead = () => putRows(repository, apiKeys, keyRow('a', { expiresAtMs: 3 }), keyRow('b', { expiresAtMs: 3 }), keyRow('c', { expiresAtMs: 3 }));
    await snapshot.refreshIfMoved();
    assert.deepEqual(seen, [['a1', 'b1', 'cundefined'], ['a3', 'b3', 'c3']]);
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
    assert.equal(ranges, projectedTables.length);
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

  it('keeps the earlier view when a reload fails, says so, and takes all over when it can', async () => {
    let onFault = (_thrown: unknown): void => {};
    const fault = new Promise((resolve) => { onFault = resolve; });
    const { store, signal, repository } = await setUp();
    let isBroken = false;
    const breaking = new Repository({
      write: (batch) => store.write(batch), revision: () => store.revision(), range: (options) => store.range(options),
      get: (key) => {
        if (isBroken && key.startsWith('api-key/')) throw new Error('the disk is gone');
        return store.get(key);
      },
    });
    const snapshot = new Snapshot(breaking, signal, { onFault });
    await putRows(repository, apiKeys, keyRow('a'), keyRow('b'));
    await snapshot.refreshIfMoved();
    const unwatch = snapshot.watch();
    isBroken = true;
    await removeRows(repository, apiKeys, 'a');
    await assert.rejects(snapshot.refreshIfMoved(), /the disk is gone/);
    assert.equal(snapshot.principalByKeyHash(hashOf('a'))?.keyId, 'a');
    assert.match(String(await fault), /the disk is gone/);
    isBroken = false;
    await snapshot.refreshIfMoved();
    assert.equal(snapshot.principalByKeyHash(hashOf('a')), undefined);
    assert.equal(snapshot.principalByKeyHash(hashOf('b'))?.keyId, 'b');
    unwatch();
  });

  it('keeps of a key what calls need, not the whole row that it was read from', async () => {
    const { repository, snapshot } = await setUp();
    const count = 1_000;
    const scopes = Array.from({ length: 150 }, (_, index) => `some_resource.action_${index}`);
    const rows = Array.from({ length: count }, (_, index) => keyRow('a', { id: `key-with-a-long-id-${index}`, keyHash: index.toString(16).padStart(64, '0'), scopes }));
    await putRows(repository, apiKeys, ...rows);
    // What the first reading makes once, and the store itself, stand on both sides.
    const heapUsed = async (): Promise<number> => {
      await promisify(collectAll)();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapUsed();
    await snapshot.refreshIfMoved();
    const bytes = (await heapUsed() - before) / count;
    assert.ok(snapshot.principalByKeyHash('0'.repeat(64)) !== undefined);
    assert.ok(bytes < 2_000, `${bytes} bytes for each key`);
  });

  it('does without a row that is damaged, tells of it, and takes over all others, at the first reading and later', async () => {
    const unusable: string[] = [];
    const { store, repository, snapshot } = await setUp({ onUnusable: (table, id, thrown) => unusable.push(`${table} ${id}: ${String(thrown)}`) });
    await putRows(repository, apiKeys, keyRow('a'), keyRow('b'), keyRow('c'));
    const damage = (id: string): Promise<boolean> | boolean => store.write([{ op: 'put', key: `api-key/${id}`, value: new Uint8Array([0xc1]) }]) as Promise<boolean>;
    await damage('b');
    await snapshot.refreshIfMoved();
    assert.equal(snapshot.principalByKeyHash(hashOf('b')), undefined);
    assert.equal(snapshot.principalByKeyHash(hashOf('c'))?.keyId, 'c');
    assert.match(unusable.join(), /^api-key b: .*api-key b is damaged/);
    await putRows(repository, apiKeys, keyRow('d'), keyRow('e'));
    await damage('d');
    await snapshot.refreshIfMoved();
    assert.equal(snapshot.principalByKeyHash(hashOf('d')), undefined);
    assert.equal(snapshot.principalByKeyHash(hashOf('e'))?.keyId, 'e');
    assert.match(unusable[1] ?? '', /api-key d is damaged/);
  });
});

describe('applied sequences', () => {
  it('are waited for until every thread that takes calls has them', async () => {
    const memory = AppliedSequences.allocate(3);
    const mine = new AppliedSequences(memory);
    const others = new AppliedSequences(memory);
    assert.equal(await mine.waitUntilApplied(7, 0), true);
    others.publish(0, 6);
    others.publish(1, 7);
    assert.equal(await mine.waitUntilApplied(7, 1), false);
    const waiting = mine.waitUntilApplied(7, 10_000);
    others.publish(0, 8);
    assert.equal(await waiting, true);
    others.publish(2, 3);
    const again = mine.waitUntilApplied(7, 10_000);
    others.leave(2);
    assert.equal(await again, true);
  });

  it('wake a waiter in another thread, and neither it nor a watched signal keeps a process alive', async () => {
    const memories = { applied: AppliedSequences.allocate(1), revision: RevisionSignal.allocate() };
    const applied = new AppliedSequences(memories.applied);
    applied.publish(0, 1);
    const of = (name: string): string => JSON.stringify(new URL(`../../../core/snapshot/${name}.js`, import.meta.url).href);
    const source = `const { workerData } = require('node:worker_threads');
      Promise.all([import(${of('revision-signal')}), import(${of('applied-sequences')})]).then(([{ RevisionSignal }, { AppliedSequences }]) => {
        const applied = new AppliedSequences(workerData.applied);
        new RevisionSignal(workerData.revision).watch(() => {});
        new RevisionSignal(workerData.revision).bump();
        setTimeout(() => applied.publish(0, 2), 20);
      });`;
    const ended = once(new Worker(source, { eval: true, workerData: memories }), 'exit');
    assert.equal(await applied.waitUntilApplied(2, 10_000), true);
    assert.deepEqual(await ended, [0]);
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
