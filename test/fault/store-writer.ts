// Run by killed-writer.test.ts as a process of its own: commits to a store until it has made all commits or is killed, and tells of each one that is durable.

import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Change } from '../../core/storage/change.js';
import { Repository } from '../../core/storage/repository.js';
import { apiKeys } from '../../core/storage/tables/api-keys.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { keyRow } from '../support/rows.js';

/** Commits under way at once, each lane waiting for its own. */
export const lanes = 32;
export const commitsMax = 10_000;

/** The rows that step `step` of a lane inserts, updates and removes in one commit. */
export function stepOf(lane: string, step: number): { readonly inserted: string; readonly updated: string | null; readonly removed: string | null } {
  const id = (of: number): string => `${lane}-${String(of).padStart(6, '0')}`;
  return { inserted: id(step), updated: step % 2 === 0 && step > 1 ? id(step - 1) : null, removed: step % 5 === 0 ? id(step - 3) : null };
}

async function commitStep(repository: Repository, lane: string, step: number): Promise<number> {
  const { inserted, updated, removed } = stepOf(lane, step);
  const change = new Change();
  const hash = (text: string): string => Buffer.from(text).toString('hex').padEnd(64, '0');
  change.insert(apiKeys, keyRow('a', { id: inserted, name: 'inserted', keyHash: hash(inserted), workspaceId: lane }));
  for (const id of [updated, removed]) {
    if (id === null) continue;
    const stored = await repository.get(apiKeys, id);
    if (stored === undefined) throw new Error(`${id} is gone`);
    if (id === removed) change.remove(stored);
    else change.update(stored, { ...stored.row, name: `updated in ${step}`, keyHash: hash(`${id}.`), workspaceId: `${lane}-updated` });
  }
  change.audit.push({ lane, step });
  return repository.commit(change);
}

const [, , path, round = ''] = process.argv;
if (path !== undefined && process.argv[1]?.endsWith('store-writer.js') === true) {
  const storage = await lmdb.create({ path }, fakeHost());
  const repository = new Repository(await storage.open('control'));
  await Promise.all(Array.from({ length: lanes }, async (_, number) => {
    const lane = `${round}-${number}`;
    for (let step = 1; step <= commitsMax / lanes; step += 1) process.stdout.write(`${lane} ${step} ${await commitStep(repository, lane, step)}\n`);
  }));
  await storage.close?.();
}
