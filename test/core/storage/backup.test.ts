import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Store, Write } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { writeBackup } from '../../../core/storage/backup.js';
import { Change } from '../../../core/storage/change.js';
import { defineTable, type Table } from '../../../core/storage/define-table.js';
import { Repository } from '../../../core/storage/repository.js';
import { requireWhole, restoreBackup } from '../../../core/storage/restore.js';
import { object, orNull } from '../../../core/storage/schema-parts.js';
import { absentSecret, Sealer } from '../../../core/storage/sealer.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { Type } from '../../../core/storage/type.js';
import { verifyStore } from '../../../core/storage/verify-store.js';
import { temporaryFolder } from '../../support/child-gateway.js';
import { hashOfLetter, keyRow, putRows } from '../../support/rows.js';

const vaults = defineTable({ name: 'vault', format: 1, schema: object({ id: Type.String(), token: Type.String({ minLength: 1 }), other: orNull(Type.String()) }), secrets: ['token', 'other'] });
const tables: readonly Table[] = [apiKeys, vaults];
const sealer = new Sealer(Buffer.alloc(32, 1));
const secret = 'sk-marked-secret';
const options = { withSecrets: true, version: '9.8.7' };
const here = { isForced: false, keyId: sealer.keyId };
const folder = temporaryFolder();
let files = 0;
const newFile = (): string => join(folder, `backup-${files += 1}.jsonl`);

async function filled(): Promise<{ readonly store: Store; readonly repository: Repository }> {
  const store = await fakeHost().store('control');
  const repository = new Repository(store);
  const change = new Change();
  for (const letter of ['a', 'b', 'c']) change.insert(apiKeys, keyRow(letter));
  for (const id of ['x', 'y']) change.insert(vaults, { id, token: sealer.seal(`${secret} ${id}`, `vault/${id}/token`), other: sealer.seal(secret, `vault/${id}/other`) });
  change.audit.push({ made: 'all' }, { made: 'more' });
  await repository.commit(change);
  const later = new Change();
  later.audit.push({ made: 'nothing' });
  await repository.commit(later);
  return { store, repository };
}

const fresh = async (): Promise<Repository> => new Repository(await fakeHost().store('control'));

async function rowsOf(repository: Repository): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const table of tables) for await (const { row } of repository.all(table)) rows.push(row);
  return rows;
}

async function keysOf(store: Store): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.range({ from: '', to: '~', limit: 1000 })) keys.push(key);
  return keys;
}

describe('a backup', () => {
  it('restored gives the same rows, indexes, audit log and sequence', async () => {
    const { store, repository } = await filled();
    const path = newFile();
    assert.deepEqual(await writeBackup(repository, tables, path, options), { rows: 5, auditEntries: 3, withoutSecrets: [], auditFault: undefined });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(!readFileSync(path, 'utf8').includes(secret));
    const restored = await fresh();
    assert.deepEqual(await restoreBackup(restored, tables, path, here), { rows: 5, auditEntries: 3, withoutSecrets: [], auditFault: undefined });
    assert.deepEqual(await rowsOf(restored), await rowsOf(repository));
    assert.deepEqual(await restored.head(), await repository.head());
    assert.equal((await restored.find(apiKeys, 'hash', [hashOfLetter('b')]))?.row.id, 'b');
    assert.deepEqual((await keysOf(restored.store)).filter((key) => key !== 'layout'), (await keysOf(store)).filter((key) => !/^(?:change|writer)\//.test(key)));
    assert.deepEqual((await verifyStore(restored, tables)).faults, []);
    // It goes on where the other one was.
    const change = new Change();
    change.audit.push({ made: 'after' });
    assert.equal(await restored.commit(change), 3);
    assert.equal((await verifyStore(restored, tables)).auditFault, undefined);
  });

  it('is as of one commit while others write', async () => {
    const { repository } = await filled();
    // Two rows that are always changed together: in a file that mixes commits they differ.
    const pair = (count: number): Promise<void> => putRows(repository, apiKeys, keyRow('a', { name: String(count) }), keyRow('zz', { keyHash: hashOfLetter('f'), name: String(count) }));
    for (let index = 0; index < 3_000; index += 1) await putRows(repository, apiKeys, keyRow(`m${String(index).padStart(4, '0')}`, { keyHash: createHash('sha256').update(String(index)).digest('hex') }));
    let isOver = false;
    let count = 0;
    const { store } = repository;
    const slow: Store = {
      get: (key) => store.get(key), revision: () => store.revision(), write: (batch) => store.write(batch),
      range: async function* (range) {
        let rows = 0;
        for await (const row of store.range(range)) {
          rows += 1;
          if (rows % 500 === 0) await new Promise((resolve) => { setImmediate(resolve); });
          yield row;
        }
      },
    };
    const writing = (async () => {
      while (!isOver && count < 5_000) {
        await pair(count += 1);
        await new Promise((resolve) => { setImmediate(resolve); });
      }
    })();
    const path = newFile();
    const { rows } = await writeBackup(new Repository(slow), tables, path, options);
    isOver = true;
    await writing;
    assert.equal(rows, 3_006);
    const restored = await fresh();
    await restoreBackup(restored, tables, path, here);
    const [one, other] = [await restored.get(apiKeys, 'a'), await restored.get(apiKeys, 'zz')];
    assert.ok(Number(one?.row.name) > 0, 'nothing was written meanwhile');
    assert.equal(one?.row.name, other?.row.name);
    assert.ok(readFileSync(path, 'utf8').split('"zz"').length > 2, 'nothing was written meanwhile');
  });

  it('without secrets has none, says whose, and so does its restore, under any master key', async () => {
    const { repository } = await filled();
    const path = newFile();
    const withoutSecrets = ['vault x', 'vault y'];
    assert.deepEqual((await writeBackup(repository, tables, path, { ...options, withSecrets: false })).withoutSecrets, withoutSecrets);
    for (const { row } of await repository.list(vaults, { limit: 9 })) for (const sealed of [row.token, row.other ?? '']) assert.ok(!readFileSync(path, 'utf8').includes(sealed));
    const restored = await fresh();
    assert.deepEqual((await restoreBackup(restored, tables, path, { isForced: false, keyId: undefined })).withoutSecrets, withoutSecrets);
    assert.deepEqual((await restored.get(vaults, 'x'))?.row, { id: 'x', token: absentSecret, other: null });
  });

  it('does not take the place of a file that is there', async () => {
    const { repository } = await filled();
    const path = newFile();
    writeFileSync(path, 'mine');
    await assert.rejects(writeBackup(repository, tables, path, options), /is there already; name a file that is not/);
    assert.equal(readFileSync(path, 'utf8'), 'mine');
    await assert.rejects(writeBackup(repository, tables, join(folder, 'none', 'x'), options), /could not be written: ENOENT/);
  });
});

describe('a restore', () => {
  it('refuses a file that was changed, cut off, or is none, and writes nothing', async () => {
    const { repository } = await filled();
    const path = newFile();
    await writeBackup(repository, tables, path, options);
    const text = readFileSync(path, 'utf8');
    const lines = text.trimEnd().split('\n');
    const resealed = (changed: readonly string[]): string => {
      const before = `${changed.slice(0, -1).join('\n')}\n`;
      return `${before}${JSON.stringify({ ...JSON.parse(changed.at(-1) ?? ''), sha256: createHash('sha256').update(before).digest('hex') })}\n`;
    };
    for (const [what, bad, reason] of [
      ['changed', text.replace('"name":"a"', '"name":"z"'), /line 10 is not the end of what is before it: the file was changed or damaged/],
      ['cut off at a line', `${lines.slice(0, -1).join('\n')}\n`, /it has no end; it was cut off/],
      ['cut off in a line', text.slice(0, -20), /its last line is cut off/],
      ['with a line more', resealed([lines[0] ?? '', lines[1] ?? '', ...lines.slice(1)]), /line 11 counts other lines than there are/],
      ['with lines behind', `${text}${lines[1] ?? ''}\n`, /line 11 is behind its end/],
      ['of another kind', 'hello\n', /line 1 is not what a backup has/],
      ['of nothing', '', /it has no end/],
      ['of a newer gateway', text.replace('"backup":2', '"backup":3'), /it has format 3, newer than the 2 .* take version 9\.8\.7 of the gateway/],
      ['with rows of a newer format', text.replace('"api-key":2', '"api-key":3'), /line 2 cannot be read: the api-key a has format 3, newer than the 2/],
      ['with a table of a newer gateway', text.replace('"table":"api-key"', '"table":"novel"'), /line 2 is of a table novel, which this version does not have/],
      ['with a row that is none', text.replace('"keyHash":"', '"keyHash":"!'), /line 2 cannot be read: the api-key a is damaged \(its keyHash must match/],
    ] as const) {
      const file = newFile();
      writeFileSync(file, bad);
      const target = await fresh();
      await assert.rejects(restoreBackup(target, tables, file, here), reason, what);
      assert.deepEqual(await keysOf(target.store), [], what);
    }
    await assert.rejects(restoreBackup(await fresh(), tables, join(folder, 'none'), here), /none cannot be read: ENOENT/);
  });

  it('refuses secrets of another master key', async () => {
    const { repository } = await filled();
    const path = newFile();
    await writeBackup(repository, tables, path, options);
    for (const [keyId, has] of [[undefined, 'there is no master key here yet'], ['0badc0de', 'the one here is 0badc0de']] as const) {
      const target = await fresh();
      await assert.rejects(restoreBackup(target, tables, path, { isForced: false, keyId }), { message: new RegExp(`are stored under the master key ${sealer.keyId}, and ${has}; put that one in its place first`) });
      assert.deepEqual(await keysOf(target.store), []);
    }
  });

  it('replaces what is stored only when it is told to', async () => {
    const { repository } = await filled();
    const path = newFile();
    await writeBackup(repository, tables, path, options);
    const target = await fresh();
    await putRows(target, apiKeys, keyRow('e', { id: 'q', name: 'q' }));
    await assert.rejects(restoreBackup(target, tables, path, here), /rows are stored here already; .*--force/);
    assert.equal((await target.get(apiKeys, 'q'))?.row.name, 'q');
    await restoreBackup(target, tables, path, { ...here, isForced: true });
    assert.deepEqual(await rowsOf(target), await rowsOf(repository));
    assert.equal(await target.find(apiKeys, 'hash', [hashOfLetter('e')]), undefined);
  });

  it('that is broken off, wherever, lets no gateway start, and is whole when it is done again', async () => {
    const { repository } = await filled();
    const path = newFile();
    await writeBackup(repository, tables, path, options);
    let writes = 0;
    for (let allowed = 0; ; allowed += 1) {
      assert.ok(allowed < 20);
      const store = await fakeHost().store('control');
      await putRows(new Repository(store), apiKeys, keyRow('e', { id: 'q', name: 'q' }));
      writes = 0;
      const write = async (batch: readonly Write[]): Promise<boolean> => {
        writes += 1;
        if (writes > allowed) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
        return store.write(batch);
      };
      const failing = new Repository({ get: (key) => store.get(key), range: (range) => store.range(range), revision: () => store.revision(), write });
      const outcome = await restoreBackup(failing, tables, path, { ...here, isForced: true }).then(() => 'done', () => 'broken off');
      if (outcome === 'done') break;
      if (allowed === 0) assert.equal((await new Repository(store).get(apiKeys, 'q'))?.row.name, 'q');
      else await assert.rejects(requireWhole(store), /was broken off; run gateway restore again/);
      const again = new Repository(store);
      await restoreBackup(again, tables, path, { ...here, isForced: allowed === 0 });
      await requireWhole(store);
      assert.deepEqual(await rowsOf(again), await rowsOf(repository));
    }
    assert.ok(writes >= 4);
  });
});
