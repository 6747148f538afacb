// A process that is killed in the middle of its writes: what it was told to be written is there, whole, and the next one goes on from it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Repository } from '../../core/storage/repository.js';
import { apiKeys } from '../../core/storage/tables/api-keys.js';
import { tables } from '../../core/storage/tables/index.js';
import { verifyStore } from '../../core/storage/verify-store.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { temporaryFolder } from '../support/child-gateway.js';
import { lanes, stepOf } from './store-writer.js';

const writer = fileURLToPath(new URL('store-writer.js', import.meta.url));
const rounds = 3;
/** Acknowledged commits before the kill: some moment between these. */
const commitsLeast = 100;
const commitsMost = 1_000;

/** Steps that each lane was told to be durable; the child is killed after `commits` of them in all. */
async function writeAndKill(path: string, round: number, commits: number): Promise<{ readonly steps: ReadonlyMap<string, number>; readonly sequence: number; readonly signal: NodeJS.Signals | null; readonly stderr: string }> {
  const child = spawn(process.execPath, [writer, path, String(round)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const steps = new Map<string, number>();
  let sequence = 0;
  let rest = '';
  let told = 0;
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [lane = '', step, at] = line.split(' ');
      steps.set(lane, Number(step));
      sequence = Math.max(sequence, Number(at));
      told += 1;
    }
    if (told >= commits) child.kill('SIGKILL');
  });
  return new Promise((resolve) => { child.once('close', (_, signal) => resolve({ steps, sequence, signal, stderr })); });
}

/** The rows of a lane after so many steps: ids and names. */
function rowsAfter(lane: string, steps: number): Record<string, string> {
  const rows: Record<string, string> = {};
  for (let step = 1; step <= steps; step += 1) {
    const { inserted, updated, removed } = stepOf(lane, step);
    rows[inserted] = 'inserted';
    if (updated !== null) rows[updated] = `updated in ${step}`;
    if (removed !== null) delete rows[removed];
  }
  return rows;
}

describe('a process that is killed while it writes', () => {
  it('leaves every acknowledged commit, none in part, and a store that is whole', async () => {
    const path = temporaryFolder();
    const acknowledged = new Map<string, number>();
    let sequences = 0;
    for (let round = 0; round < rounds; round += 1) {
      const commits = commitsLeast + Math.floor(Math.random() * (commitsMost - commitsLeast));
      const { steps, sequence, signal, stderr } = await writeAndKill(path, round, commits);
      assert.deepEqual([signal, stderr], ['SIGKILL', ''], `killed after ${commits}`);
      for (const [lane, step] of steps) acknowledged.set(lane, step);
      for (let number = 0; number < lanes; number += 1) if (!steps.has(`${round}-${number}`)) acknowledged.set(`${round}-${number}`, 0);

      const storage = await lmdb.create({ path }, fakeHost());
      const store = await storage.open('control');
      const repository = new Repository(store);
      const note = `round ${round}, killed after ${commits}`;
      const { faults, auditFault, rows, auditEntries } = await verifyStore(repository, tables);
      assert.deepEqual([faults, auditFault], [[], undefined], note);
      assert.ok(rows > 0, note);
      const head = await repository.sequence();
      assert.ok(head >= sequence, `${note}: ${sequence} was acknowledged, the store is at ${head}`);
      // Every commit of the writer changes rows and has one audit entry.
      assert.equal(auditEntries, head, note);
      let changes = 0;
      for await (const each of store.range({ from: 'change/', to: 'change0', limit: 1_000_000 })) changes += each.version;
      assert.equal(changes, head, note);
      const found = new Map<string, Record<string, string>>();
      for await (const { row } of repository.all(apiKeys)) {
        const lane = row.id.slice(0, row.id.lastIndexOf('-'));
        (found.get(lane) ?? found.set(lane, {}).get(lane) ?? {})[row.id] = row.name;
      }
      let stepsMade = 0;
      for (const [lane, step] of acknowledged) {
        const rowsFound = found.get(lane) ?? {};
        // One more than was acknowledged may have been under way.
        const isOneMore = JSON.stringify(sorted(rowsFound)) === JSON.stringify(sorted(rowsAfter(lane, step + 1)));
        if (!isOneMore) assert.deepEqual(rowsFound, rowsAfter(lane, step), `${note}: lane ${lane} after step ${step}`);
        acknowledged.set(lane, isOneMore ? step + 1 : step);
        stepsMade += isOneMore ? step + 1 : step;
      }
      assert.equal(stepsMade, head, note);
      assert.ok(head > sequences, note);
      sequences = head;
      await storage.close?.();
    }
  });
});

const sorted = (rows: Readonly<Record<string, string>>): [string, string][] => Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1));
