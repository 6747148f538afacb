import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Ledger } from '../../core/limits/ledger.js';
import { spendStore } from '../../core/spend.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';

/** Reads the ledger of a data directory, whether a gateway runs on it or not. */
export async function ledgerOf<T>(dataDir: string, read: (ledger: Ledger) => Promise<T>): Promise<T> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  try {
    return await read(new Ledger(await storage.open(spendStore), { now: Date.now, startOf: () => 0 }));
  } finally {
    await storage.close?.();
  }
}

export const hasOpenCalls = (dataDir: string): Promise<boolean> => ledgerOf(dataDir, async (ledger) => {
  for await (const _ of ledger.openCalls(null)) return true;
  return false;
});
