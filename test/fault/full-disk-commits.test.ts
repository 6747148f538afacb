// A control store without room: commits are refused with a reason, none is written in part, and the first one with room again is made.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Change } from '../../core/storage/change.js';
import { Repository } from '../../core/storage/repository.js';
import { apiKeys } from '../../core/storage/tables/api-keys.js';
import { tables } from '../../core/storage/tables/index.js';
import { verifyStore } from '../../core/storage/verify-store.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { keyRow } from '../support/rows.js';
import { makeSmallDisk } from '../support/small-disk.js';

const commitsMax = 3_000;
const atOnce = 16;
const text = 'long '.repeat(200);

function commitOf(number: number): Change {
  const change = new Change();
  for (const half of ['one', 'other']) {
    const id = `${number}-${half}`;
    change.insert(apiKeys, keyRow('a', { id, name: text, keyHash: createHash('sha256').update(id).digest('hex') }));
  }
  change.audit.push({ number, text });
  return change;
}

describe('commits to a disk without room', () => {
  const disk = makeSmallDisk();

  it('are refused with a reason, whole, and go on with the room', async () => {
    const storage = await lmdb.create({ path: join(disk.folder, 'data') }, fakeHost());
    const repository = new Repository(await storage.open('control'));
    await repository.commit(commitOf(0));
    disk.fill();
    const made = [0];
    const refused: number[] = [];
    // Pages that the file has free take some more.
    for (let number = 1; refused.length < atOnce && number < commitsMax; number += atOnce) {
      const numbers = Array.from({ length: atOnce }, (_, index) => number + index);
      const outcomes = await Promise.allSettled(numbers.map((each) => repository.commit(commitOf(each))));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') {
          made.push(number + index);
        } else {
          refused.push(number + index);
          assert.match(String(outcome.reason), /there is no room for .*; make some, or use another directory/);
          assert.equal((outcome.reason as NodeJS.ErrnoException).code, 'ENOSPC');
        }
      }
    }
    assert.ok(refused.length >= atOnce, 'nothing was refused');
    await check(made, refused);

    disk.empty();
    await repository.commit(commitOf(commitsMax));
    made.push(commitsMax);
    for (const number of refused.splice(0, 3)) {
      await repository.commit(commitOf(number));
      made.push(number);
    }
    await check(made, refused);
    await storage.close?.();

    async function check(there: readonly number[], missing: readonly number[]): Promise<void> {
      const { faults, auditFault, rows, auditEntries } = await verifyStore(repository, tables);
      assert.deepEqual([faults, auditFault, rows, auditEntries], [[], undefined, there.length * 2, there.length]);
      assert.equal(await repository.sequence(), there.length);
      for (const [numbers, isThere] of [[there, true], [missing, false]] as const) {
        for (const number of numbers) for (const half of ['one', 'other']) assert.equal(await repository.get(apiKeys, `${number}-${half}`) !== undefined, isThere, `${number} ${half}`);
      }
    }
  });
});
