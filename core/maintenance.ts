// Commands on a data directory without a gateway: backup, restore, change of the master key. A backup also works beside one.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupReport, RekeyOptions, RekeyReport } from './cli/app-contract.js';
import { fail } from './errors/gateway-error.js';
import { journalFolder } from './limits/journal-layout.js';
import { spendingSource, spendingTarget } from './limits/kept-spending.js';
import { Ledger } from './limits/ledger.js';
import { checkMasterKey, publishNextMasterKey, readNewMasterKey, readNextMasterKey, writeNextMasterKey } from './settings/master-key.js';
import type { Settings } from './settings/read.js';
import { writeBackup } from './storage/backup.js';
import { prepareStore } from './storage/prepare-store.js';
import { Presence } from './storage/presence.js';
import { forgetSecrets, nextKeyIdOf, rekey } from './storage/rekey.js';
import { Repository } from './storage/repository.js';
import { requireWhole, restoreBackup } from './storage/restore.js';
import { Sealer } from './storage/sealer.js';
import { tables } from './storage/tables/index.js';
import { gatewayVersion } from './version.js';
import { spendStore } from './spend.js';
import { controlStore, requireDirectory, ThreadServices } from './thread-services.js';

export async function backupGateway(settings: Settings, file: string, { withSecrets }: { readonly withSecrets: boolean }): Promise<BackupReport> {
  return inStore(settings, async (repository, ledger) => {
    await requireWhole(repository.store);
    return writeBackup(repository, tables, file, { withSecrets, version: gatewayVersion, spending: spendingSource(ledger) });
  });
}

export async function restoreGateway(settings: Settings, file: string, { isForced }: { readonly isForced: boolean }): Promise<BackupReport> {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  return alone(settings, (repository, ledger) => {
    const key = checkMasterKey(settings);
    const spending = spendingTarget(ledger, join(settings.dataDir, journalFolder));
    return restoreBackup(repository, tables, file, { isForced, keyId: key === undefined ? undefined : new Sealer(key).keyId, spending });
  });
}

export async function rekeyGateway(settings: Settings, { isForgetting, newKeyFile, newKey }: RekeyOptions): Promise<RekeyReport> {
  return alone(settings, async (repository) => {
    await requireWhole(repository.store);
    await prepareStore(repository, tables);
    const key = checkMasterKey(settings);
    if (key === undefined) throw fail('SETTINGS_INVALID', { reason: `there is no master key to change in ${settings.dataDir}; put the old one back, or start the gateway once, which makes one` });
    const from = new Sealer(key);
    if (isForgetting) return { keyId: from.keyId, changed: 0, forgotten: await forgetSecrets(repository, tables, from), keyFile: undefined, oldKeyFile: undefined };
    const next = nextMasterKey(settings, from, readNewMasterKey({ newKeyFile, newKey }), await nextKeyIdOf(repository));
    let files: Pick<RekeyReport, 'keyFile' | 'oldKeyFile'> = { keyFile: undefined, oldKeyFile: undefined };
    const changed = await rekey(repository, tables, from, next.sealer, () => {
      if (next.isInFile) files = publishNextMasterKey(settings.dataDir, from.keyId);
    });
    return { keyId: next.sealer.keyId, changed, forgotten: [], ...files };
  });
}

/** The key that the change leads to: what is given, what an earlier try left behind, or one made now. In a file beside the old one, if that is where keys are. */
function nextMasterKey(settings: Settings, from: Sealer, given: Buffer | undefined, nextKeyId: string | null): { readonly sealer: Sealer; readonly isInFile: boolean } {
  // Broken off when all was done but the last word.
  if (nextKeyId === from.keyId) return { sealer: from, isInFile: false };
  if (settings.masterKey !== undefined) {
    if (given === undefined) throw fail('SETTINGS_INVALID', { reason: 'the master key of now is in GATEWAY_MASTER_KEY, so the new one has to be given: with --new-key-file or GATEWAY_NEW_MASTER_KEY' });
    return { sealer: new Sealer(given), isInFile: false };
  }
  const left = readNextMasterKey(settings.dataDir);
  const isLeftMeant = left !== undefined && nextKeyId !== null && new Sealer(left).keyId === nextKeyId;
  if (isLeftMeant && (given === undefined || given.equals(left))) return { sealer: new Sealer(left), isInFile: true };
  const sealer = given === undefined ? undefined : new Sealer(given);
  // Nothing takes the place of a key that secrets are under already.
  if (nextKeyId !== null && sealer?.keyId !== nextKeyId) {
    throw fail('SETTINGS_INVALID', { reason: `a change of the master key to ${nextKeyId} was broken off; give that new key again, with --new-key-file or GATEWAY_NEW_MASTER_KEY` });
  }
  return { sealer: new Sealer(writeNextMasterKey(settings.dataDir, given)), isInFile: true };
}

/** With nobody else in the data directory. */
async function alone<T>(settings: Settings, use: (repository: Repository, ledger: Ledger) => Promise<T>): Promise<T> {
  requireDirectory(settings);
  const presence = Presence.enter(settings.dataDir, 'command', () => {});
  try {
    return await inStore(settings, use);
  } finally {
    presence?.leave();
  }
}

async function inStore<T>(settings: Settings, use: (repository: Repository, ledger: Ledger) => Promise<T>): Promise<T> {
  requireDirectory(settings);
  const services = new ThreadServices({ ...settings, threads: 1, pluginsReload: false });
  try {
    const storage = await services.openStorage();
    if (!services.isStorageShared) throw fail('SETTINGS_INVALID', { reason: `storage ${settings.storage} keeps its rows inside the gateway alone; this command cannot reach them` });
    const ledger = new Ledger(await storage.open(spendStore), { now: Date.now, startOf: () => 0 });
    return await use(new Repository(await storage.open(controlStore)), ledger);
  } finally {
    await services.close();
  }
}
