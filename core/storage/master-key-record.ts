// Which master key the secrets of a store are stored under: a row that only that key opens. Looked at once at each start, before anything is opened, so
// that a key that was lost or mistaken for another is told at once, and not by the first call that needs a secret.

import { Packr } from 'msgpackr';
import type { Store, Write } from '@gateway/plugin-sdk';
import type { Table } from './define-table.js';
import type { Repository } from './repository.js';
import { Sealer } from './sealer.js';
import { rowsUnderOtherKeys } from './stored-secrets.js';

const masterKeyRow = 'master-key';
const checkPlace = `${masterKeyRow}/check`;
const packr = new Packr({ useRecords: false });

export interface MasterKeyRecord {
  readonly keyId: string;
  /** Sealed; what is in it does not matter. */
  readonly check: string;
  /** The key that a change under way leads to; null: none is under way. */
  readonly nextKeyId: string | null;
  /** Of the row in the store. */
  readonly version: number;
}

export async function readMasterKeyRecord(store: Store): Promise<MasterKeyRecord | undefined> {
  const stored = await store.get(masterKeyRow);
  if (stored === undefined) return undefined;
  const { keyId, check, nextKeyId }: Readonly<Record<string, unknown>> = Object(packr.unpack(stored.value));
  return { keyId: String(keyId), check: String(check), nextKeyId: typeof nextKeyId === 'string' ? nextKeyId : null, version: stored.version };
}

export function writeOfMasterKey(sealer: Sealer, ifVersion: number, nextKeyId: string | null = null): Write {
  return { op: 'put', key: masterKeyRow, value: packr.pack({ keyId: sealer.keyId, check: sealer.seal('', checkPlace), nextKeyId }), ifVersion };
}

export function opensRecord(sealer: Sealer, { keyId, check }: MasterKeyRecord): boolean {
  if (keyId !== sealer.keyId) return false;
  try {
    sealer.open(check, checkPlace);
    return true;
  } catch {
    return false;
  }
}

/** Why a start with this key must not be; undefined: it may. `sealer` undefined: there is no key yet, and a start would make one. Writes nothing. */
export async function faultOfMasterKey(repository: Repository, tables: readonly Table[], sealer: Sealer | undefined): Promise<string | undefined> {
  const record = await readMasterKeyRecord(repository.store);
  if (record !== undefined && record.nextKeyId !== null) {
    return `a change of the master key from ${record.keyId} to ${record.nextKeyId} was broken off; run gateway rekey again, with the old master key in its place, to finish it`;
  }
  if (record !== undefined && sealer !== undefined && opensRecord(sealer, record)) return undefined;
  const own = sealer === undefined ? [] : [sealer.keyId];
  for await (const { table, row, others } of rowsUnderOtherKeys(repository, tables, own)) {
    const [other] = others;
    return `the master key is another one than secrets were stored under (${sealer?.keyId ?? 'a new one'} instead of ${other?.keyId ?? ''}, ${table.name} ${row.id}); `
      + 'put the old one back, as GATEWAY_MASTER_KEY or as master.key in the data directory, or give the stored secrets up with gateway rekey --forget';
  }
  return undefined;
}

/**
 * At the start, after faultOfMasterKey found nothing: the store goes by this key from now on. A refused write is told and stops nothing: what is
 * stored under the key says so itself, the row only says it sooner.
 */
export async function recordMasterKey(store: Store, sealer: Sealer, onRefused: (thrown: unknown) => void): Promise<void> {
  const record = await readMasterKeyRecord(store);
  if (record !== undefined && opensRecord(sealer, record)) return;
  try {
    await store.write([writeOfMasterKey(sealer, record?.version ?? 0)]);
  } catch (thrown) {
    onRefused(thrown);
  }
}
