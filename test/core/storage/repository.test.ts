import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { Store, Write } from '@gateway/plugin-sdk';
import { pack, unpack } from 'msgpackr';
import { Type } from '../../../core/storage/type.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { Change, CommitConflict } from '../../../core/storage/change.js';
import { defineTable } from '../../../core/storage/define-table.js';
import { newId } from '../../../core/storage/new-id.js';
import { prepareStore } from '../../../core/storage/prepare-store.js';
import { auditHashOf, changesMax, Repository } from '../../../core/storage/repository.js';
import { object } from '../../../core/storage/schema-parts.js';
import { verifyAudit } from '../../../core/storage/verify-audit.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { keyRow, putRows, removeRows } from '../../support/rows.js';

const freshStore = (): Promise<Store> => fakeHost().store('control');
const key = keyRow('a', { id: 'k1' });

const things = defineTable({
  name: 'thing', format: 1, schema: object({ id: Type.String(), group: Type.String(), slug: Type.String() }),
  indexes: { group: { of: (row) => [row.group] }, slug: { isUnique: true, of: (row) => (row.slug === '' ? null : [row.slug]) } },
});
const thing = (id: string, group = 'g', slug = id): { id: string; group: string; slug: string } => ({ id, group, slug });

const insert = (...rows: readonly ReturnType<typeof thing>[]): Change => {
  const change = new Change();
  for (const row of rows) change.insert(things, row);
  return change;
};
const isConflict = (kind: string, index = '') => (thrown: unknown): boolean => thrown instanceof CommitConflict && thrown.kind === kind && thrown.index === index;
const idsOf = (list: readonly { readonly row: { readonly id: string } }[]): string[] => list.map(({ row }) => row.id);
async function keysOf(store: Store, from: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const row of store.range({ from: `${from}/`, to: `${from}0`, limit: 10_000 })) keys.push(row.key);
  return keys;
}

describe('repository', () => {
  it('gives back rows as they were written, with their versions', async () => {
    const repository = new Repository(await freshStore());
    assert.equal(await repository.get(apiKeys, 'k1'), undefined);
    await putRows(repository, apiKeys, key);
    const stored = await repository.get(apiKeys, 'k1');
    assert.deepEqual([stored?.row, stored?.version], [key, 1]);
    const changed = { ...key, workspaceId: null, expiresAtMs: 5 };
    await putRows(repository, apiKeys, changed);
    assert.deepEqual((await repository.get(apiKeys, 'k1'))?.row, changed);
    await removeRows(repository, apiKeys, 'k1');
    assert.equal(await repository.get(apiKeys, 'k1'), undefined);
  });

  it('writes nothing when a row is not as it was read', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    await repository.commit(insert(thing('1')));
    const stored = await repository.get(things, '1');
    assert.ok(stored !== undefined);
    const late = insert(thing('2'));
    late.update(stored, thing('1', 'late'));
    const early = new Change();
    early.update(stored, thing('1', 'early'));
    await repository.commit(early);
    await assert.rejects(repository.commit(late), isConflict('stale'));
    await assert.rejects(repository.commit(insert(thing('1'))), isConflict('stale'));
    assert.deepEqual(await keysOf(store, 'thing'), ['thing/1']);
    assert.deepEqual((await repository.find(things, 'slug', ['1']))?.row, thing('1', 'early'));
  });

  it('finds rows by their indexes, which follow every change', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    await repository.commit(insert(thing('1', 'a'), thing('2', 'a', 'two/ü'), thing('3', 'b', '')));
    assert.deepEqual(idsOf(await repository.list(things, { index: 'group', parts: ['a'], limit: 10, reverse: true })), ['2', '1']);
    assert.deepEqual(idsOf(await repository.list(things, { index: 'group', parts: ['a'], limit: 1, offset: 1 })), ['2']);
    assert.equal(await repository.count(things, 'group', ['a']), 2);
    assert.equal((await repository.find(things, 'slug', ['two/ü']))?.row.id, '2');
    assert.equal(await repository.find(things, 'slug', ['']), undefined);
    const two = await repository.get(things, '2');
    const change = new Change();
    if (two !== undefined) change.update(two, thing('2', 'b', 'second'));
    await repository.commit(change);
    assert.deepEqual(idsOf(await repository.list(things, { index: 'group', parts: ['b'], limit: 10 })), ['2', '3']);
    // Fewer parts than the index has: all that begin so, in the order of the parts.
    assert.deepEqual(idsOf(await repository.list(things, { index: 'group', limit: 2 })), ['1', '2']);
    assert.equal(await repository.find(things, 'slug', ['two/ü']), undefined);
    await removeRows(repository, things, '1', '2', '3');
    assert.deepEqual(await keysOf(store, 'index'), []);
  });

  it('refuses a second row in a unique index, and says whose it is', async () => {
    const repository = new Repository(await freshStore());
    await repository.commit(insert(thing('1', 'a', 'same')));
    await assert.rejects(repository.commit(insert(thing('2', 'a', 'same'))), (thrown) => thrown instanceof CommitConflict && thrown.kind === 'duplicate' && thrown.holder === '1' && thrown.message === 'thing 1 has the same slug');
    assert.equal(await repository.get(things, '2'), undefined);
    const long = 'x'.repeat(300);
    await repository.commit(insert(thing('3', 'a', long)));
    await assert.rejects(repository.commit(insert(thing('4', 'a', long))), isConflict('duplicate', 'slug'));
    await repository.commit(insert(thing('5', 'a', `${long}.`), thing('6', '\ud800')));
    assert.deepEqual(idsOf(await repository.list(things, { index: 'group', parts: ['\ud800'], limit: 10 })), ['6']);
  });

  it('does not write a row that its own table would not read', async () => {
    const repository = new Repository(await freshStore());
    await assert.rejects(putRows(repository, apiKeys, keyRow('a', { keyHash: 'short' })), /its keyHash must match pattern/);
    assert.equal(await repository.sequence(), 0);
  });

  it('lets commits of several writers at once all through, in one order', async () => {
    const store = await freshStore();
    const repositories = [new Repository(store), new Repository(store), new Repository(store)];
    const sequences = await Promise.all(Array.from({ length: 60 }, (_, index) => {
      const change = insert(thing(`t${index}`));
      change.audit.push({ made: index });
      return repositories[index % 3]?.commit(change);
    }));
    assert.deepEqual([...sequences].sort((a, b) => Number(a) - Number(b)), Array.from({ length: 60 }, (_, index) => index + 1));
    const [repository] = repositories;
    let hash = '';
    let entries = 0;
    for await (const entry of repository?.audit() ?? []) {
      hash = auditHashOf(hash, entry.packed);
      assert.equal(entry.hash, hash);
      entries += 1;
    }
    assert.equal(entries, 60);
    assert.equal((await repository?.changes(0))?.touched?.get('thing')?.size, 60);
  });

  it('writes commits that are under way at once one after the other, each once', async () => {
    const store = await freshStore();
    let writes = 0;
    const write = async (batch: readonly Write[]): Promise<boolean> => {
      writes += 1;
      return store.write(batch);
    };
    const repository = new Repository({ get: (id) => store.get(id), range: (options) => store.range(options), revision: () => store.revision(), write });
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 60 }, (_, index) => repository.commit(insert(thing(`t${round}-${index}`)))));
    assert.equal(writes, 180);
    assert.equal(await repository.sequence(), 180);
  });

  it('keeps one order when another process commits between commits that are under way at once', async () => {
    const store = await freshStore();
    const other = new Repository(store);
    await other.commit(insert(thing('before')));
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => { open = resolve; });
    const late: Store = {
      get: (key) => store.get(key), range: (range) => store.range(range), revision: () => store.revision(),
      write: async (batch) => {
        await gate;
        return store.write(batch);
      },
    };
    const audited = (id: string): Change => {
      const change = insert(thing(id));
      change.audit.push({ made: id });
      return change;
    };
    const repository = new Repository(late);
    // What these two believe of the head is wrong when they are written; the version that the second expects is there all the same.
    const writing = [repository.commit(audited('first')), repository.commit(audited('second'))];
    await new Promise((resolve) => { setImmediate(resolve); });
    await other.commit(audited('between'));
    open();
    assert.deepEqual((await Promise.all(writing)).sort(), [3, 4]);
    assert.deepEqual(await verifyAudit(other), { entries: 3, hash: (await other.head()).auditHash, fault: undefined });
    assert.equal((await other.head()).sequence, 4);
    assert.deepEqual([...((await other.changes(2)).touched?.get('thing') ?? [])].sort(), ['first', 'second']);
  });

  it('goes on after a write that the storage refused', async () => {
    const store = await freshStore();
    let refusals = 1;
    const write = (batch: readonly Write[]): Promise<boolean> => {
      refusals -= 1;
      return refusals >= 0 ? Promise.reject(new Error('no room')) : store.write(batch);
    };
    const repository = new Repository({ get: (id) => store.get(id), range: (options) => store.range(options), revision: () => store.revision(), write });
    const [first, second] = await Promise.allSettled([repository.commit(insert(thing('1'))), repository.commit(insert(thing('2')))]);
    assert.deepEqual([first?.status, second?.status], ['rejected', 'fulfilled']);
    assert.equal(await repository.sequence(), 1);
  });

  it('tells what changed since a commit, and when that is too long ago', async () => {
    const store = await freshStore();
    const repository = new Repository(store);
    assert.deepEqual(await repository.changes(-1), { sequence: 0, touched: null });
    await repository.commit(insert(thing('1'), thing('2')));
    await putRows(repository, things, thing('2', 'z'));
    const onlyAudit = new Change();
    onlyAudit.audit.push({ refused: true });
    await repository.commit(onlyAudit);
    const { sequence, touched } = await repository.changes(1);
    assert.deepEqual([sequence, [...touched?.get('thing') ?? []]], [3, ['2']]);
    assert.deepEqual([...(await repository.changes(0)).touched?.get('thing') ?? []], ['1', '2']);
    const head = unpack((await store.get('head'))?.value ?? new Uint8Array());
    await store.write([{ op: 'put', key: 'head', value: pack({ ...head, sequence: changesMax + 2 }) }]);
    const later = new Repository(store);
    await later.commit(insert(thing('3')));
    assert.equal((await later.changes(2)).touched, null);
    assert.deepEqual([...(await later.changes(3)).touched?.get('thing') ?? []], ['3']);
  });

  it('tells the same of many commits as of few', async () => {
    const repository = new Repository(await freshStore());
    const names = Array.from({ length: 40 }, (_, index) => `thing ${index}`);
    for (const name of names) await repository.commit(insert(thing(name)));
    assert.deepEqual([...(await repository.changes(0)).touched?.get('thing') ?? []], names);
    assert.deepEqual([...(await repository.changes(37)).touched?.get('thing') ?? []], names.slice(37));
  });

  it('tells of each commit, and of no refused write', async () => {
    let commits = 0;
    const repository = new Repository(await freshStore(), () => { commits += 1; });
    await repository.commit(insert(thing('1')));
    await repository.commit(insert(thing('1'))).catch(() => undefined);
    await repository.commit(new Change());
    assert.equal(commits, 1);
  });

  it('refuses a row of a newer version by name', async () => {
    const store = await freshStore();
    await store.write([{ op: 'put', key: 'api-key/k9', value: pack({ format: 3, row: { ...key, invented: true } }) }]);
    const repository = new Repository(store);
    for (const read of [() => repository.get(apiKeys, 'k9'), () => repository.list(apiKeys, { limit: 10 })]) {
      await assert.rejects(read, (thrown) => {
        assert.ok(isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID');
        assert.equal(thrown.message, 'the stored api-key k9 has format 3, newer than the 2 that this version reads; start the newer version of the gateway');
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
      [pack({ format: 2, row: null }), /it has no format/],
      [pack({ format: 2, row: { ...key, scopes: 'completions.write' } }), /its scopes must be array/],
      [pack({ format: 2, row: { ...key, type: 'root' } }), /its type must be equal to one of/],
      [pack({ format: 2, row: { ...key, keyHash: 'abc' } }), /its keyHash must match pattern/],
      [pack({ format: 2, row: { id: 'k' } }), /it must have required property/],
    ];
    for (const [value, reason] of cases) {
      await store.write([{ op: 'put', key: 'api-key/bad', value }]);
      await assert.rejects(repository.get(apiKeys, 'bad'), reason);
    }
  });
});

describe('preparing a store', () => {
  it('enters the rows of an earlier version into the indexes that are new, once', async () => {
    const store = await freshStore();
    for (let index = 0; index < 2_300; index += 1) await store.write([{ op: 'put', key: `thing/${index}`, value: pack({ format: 1, row: thing(String(index)) }) }]);
    const repository = new Repository(store);
    await prepareStore(repository, [things]);
    assert.equal(await repository.count(things, 'group', ['g']), 2_300);
    assert.equal((await repository.find(things, 'slug', ['2299']))?.row.id, '2299');
    const revision = await store.revision();
    await prepareStore(repository, [things]);
    assert.equal(await store.revision(), revision);
    await removeRows(repository, things, '7');
    assert.equal(await repository.find(things, 'slug', ['7']), undefined);
  });
});

describe('ids of rows', () => {
  it('are UUIDs of version 7 that grow, also many of one moment and when the clock goes back', () => {
    const ids = [...Array.from({ length: 9_000 }, () => newId(1_700_000_000_000)), newId(1_600_000_000_000), newId(1_800_000_000_000)];
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(ids).size, ids.length);
  });
});
