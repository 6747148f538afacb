// Stores as released versions wrote them. store-of-0.1.0.json was written by that version's own first start: key of the row -> its bytes in base64.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Store } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { unpack } from 'msgpackr';
import { bootstrap } from '../../../core/auth/bootstrap.js';
import { hashKey } from '../../../core/auth/key.js';
import { RevisionSignal, Snapshot } from '../../../core/snapshot/snapshot.js';
import { Change } from '../../../core/storage/change.js';
import { prepareStore } from '../../../core/storage/prepare-store.js';
import { Repository } from '../../../core/storage/repository.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { tables } from '../../../core/storage/tables/index.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import lmdb from '../../../plugins/storage/lmdb/plugin.js';

const adminKey = 'fixture-admin-key-of-0.1.0';
const apiKey = 'fixture-api-key-of-0.1.0';
const written: Readonly<Record<string, string>> = JSON.parse(readFileSync(new URL('../../../../test/core/storage/store-of-0.1.0.json', import.meta.url), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'gateway-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function storeOf010(store: Store): Promise<Store> {
  await store.write(Object.entries(written).map(([key, value]) => ({ op: 'put', key, value: Buffer.from(value, 'base64') })));
  return store;
}

/** As a start opens it. */
async function opened(store: Store): Promise<Repository> {
  const repository = new Repository(store);
  await prepareStore(repository, tables);
  assert.deepEqual(await bootstrap(repository, { adminKey: undefined, apiKey: undefined }), {}, 'its first keys were made anew');
  return repository;
}

async function formatOf(store: Store, key: string): Promise<unknown> {
  const { format }: { format: unknown } = unpack((await store.get(key))?.value ?? new Uint8Array());
  return format;
}

describe('a store of 0.1.0', () => {
  for (const [kind, open] of Object.entries({ memory: async () => fakeHost().store('control'), lmdb: async () => (await lmdb.create({ path: folder }, fakeHost())).open('control') })) {
    it(`is opened, read and indexed whole, and written in today's formats where it changes (${kind})`, async () => {
      const store = await storeOf010(await open());
      const repository = await opened(store);
      const before = { ...written };
      for (const table of tables) {
        for await (const { row } of repository.all(table)) {
          assert.equal(table.fault(row), undefined);
          delete before[`${table.name}/${row.id}`];
        }
      }
      assert.deepEqual(Object.keys(before), [], 'rows that no table of today reads');

      const snapshot = new Snapshot(repository, new RevisionSignal(RevisionSignal.allocate()));
      await snapshot.refreshIfMoved();
      assert.equal(snapshot.principalByKeyHash(hashKey(adminKey))?.workspaceId, '');
      assert.notEqual(snapshot.principalByKeyHash(hashKey(apiKey))?.workspaceId ?? '', '');

      const api = await repository.find(apiKeys, 'hash', [hashKey(apiKey)]);
      const [workspace] = await repository.list(workspaces, { limit: 10 });
      assert.ok(api !== undefined && workspace !== undefined);
      assert.equal((await repository.find(workspaces, 'slug', [workspace.row.organisationId, 'first-workspace']))?.row.id, workspace.row.id);
      assert.deepEqual((await repository.list(apiKeys, { index: 'workspace', parts: [workspace.row.id], limit: 10 })).map(({ row }) => row.id), [api.row.id]);

      const change = new Change();
      change.update(api, { ...api.row, name: 'renamed', keyHash: hashKey('another key') });
      await repository.commit(change);
      assert.equal(await formatOf(store, `api-key/${api.row.id}`), apiKeys.format);
      assert.equal(await formatOf(store, `workspace/${workspace.row.id}`), 1);
      assert.equal((await repository.find(apiKeys, 'hash', [hashKey('another key')]))?.row.name, 'renamed');
      assert.equal(await repository.find(apiKeys, 'hash', [hashKey(apiKey)]), undefined);
      await store.close?.();
    });
  }
});

describe('every table', () => {
  it('has a way up from each of its older formats, and from no other', () => {
    for (const { name, format, upgrades } of tables) {
      const wanted = Array.from({ length: format - 1 }, (_, index) => String(index + 1));
      assert.deepEqual(Object.keys(upgrades), wanted, name);
    }
  });

  it('has a name of its own that is no prefix of what else a store holds', () => {
    const names = tables.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) {
      assert.match(name, /^[a-z]+(?:-[a-z]+)*$/);
      assert.ok(!['index', 'change', 'audit', 'head', 'layout', 'master-key'].includes(name), name);
    }
  });
});
