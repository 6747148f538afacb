// A change of the master key: every stored secret is opened with the old key and sealed with the new one, in batches. The store says that a change is
// under way until the last one is done, and no gateway starts meanwhile; broken off, it is begun again with the same two keys and goes on.

import { fail } from '../errors/gateway-error.js';
import { Change } from './change.js';
import type { Table } from './define-table.js';
import { opensRecord, readMasterKeyRecord, writeOfMasterKey } from './master-key-record.js';
import type { Repository } from './repository.js';
import type { Sealer } from './sealer.js';
import { rowsUnderOtherKeys, withoutSecrets, withSecrets, type StoredUnderOtherKey } from './stored-secrets.js';

const rowsOfBatch = 200;

/** The outcome of the change that was broken off; null: none was. */
export async function nextKeyIdOf(repository: Repository): Promise<string | null> {
  return (await readMasterKeyRecord(repository.store))?.nextKeyId ?? null;
}

/** `publish` puts the new key where the next start looks for it; called when all secrets are under it. Resolves with how many rows changed. */
export async function rekey(repository: Repository, tables: readonly Table[], from: Sealer, to: Sealer, publish: () => void): Promise<number> {
  const { store } = repository;
  const record = await readMasterKeyRecord(store);
  if (record !== undefined && record.nextKeyId !== null && record.nextKeyId !== to.keyId) {
    throw fail('SETTINGS_INVALID', { reason: `a change of the master key to ${record.nextKeyId} was broken off, and the new key is ${to.keyId}; give that one again` });
  }
  if (record?.nextKeyId == null && from.keyId === to.keyId) throw fail('SETTINGS_INVALID', { reason: 'the new master key is the one of now; give another' });
  if (record !== undefined && record.nextKeyId === null && !opensRecord(from, record)) throw otherKey(from, record.keyId);
  for await (const { others } of rowsUnderOtherKeys(repository, tables, [from.keyId, to.keyId])) throw otherKey(from, others[0]?.keyId ?? '');
  if (record?.nextKeyId !== to.keyId) await writeRecord(repository, from, to.keyId);
  let rows = 0;
  await inBatches(repository, tables, to, (stored, change) => {
    change.update(stored, withSecrets(stored.row, stored.others.map(({ member, sealed, place }) => [member, to.seal(from.open(sealed, place), place)])));
    rows += 1;
  });
  publish();
  await writeRecord(repository, to, null);
  return rows;
}

/** Gives up the secrets that this key does not open. Resolves with their rows. */
export async function forgetSecrets(repository: Repository, tables: readonly Table[], key: Sealer): Promise<string[]> {
  const forgotten: string[] = [];
  await inBatches(repository, tables, key, (stored, change) => {
    change.update(stored, withoutSecrets(stored.table, stored.row, stored.others));
    forgotten.push(`${stored.table.name} ${stored.row.id}`);
  });
  await writeRecord(repository, key, null);
  return forgotten;
}

async function inBatches(repository: Repository, tables: readonly Table[], key: Sealer, each: (stored: StoredUnderOtherKey, change: Change) => void): Promise<void> {
  let change = new Change();
  for await (const stored of rowsUnderOtherKeys(repository, tables, [key.keyId])) {
    each(stored, change);
    if (change.rows.length < rowsOfBatch) continue;
    await repository.commit(change);
    change = new Change();
  }
  await repository.commit(change);
}

async function writeRecord({ store }: Repository, sealer: Sealer, nextKeyId: string | null): Promise<void> {
  const record = await readMasterKeyRecord(store);
  if (!await store.write([writeOfMasterKey(sealer, record?.version ?? 0, nextKeyId)])) throw fail('SETTINGS_INVALID', { reason: 'something else writes to the store; stop it, and run gateway rekey again' });
}

const otherKey = (from: Sealer, keyId: string): Error =>
  fail('SETTINGS_INVALID', { reason: `the master key at hand (${from.keyId}) is not the one that secrets are stored under (${keyId}); put that one back first, or give the secrets up with gateway rekey --forget` });
