// What the journal of spending costs the thread that serves calls: a reservation and a settlement of one call with four counters, with as many calls in one
// turn of the loop as a busy thread has, writes included.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpendJournal, type SpendCharge } from '../../core/limits/journal.js';

const roundMs = 500;
const rounds = 5;
const ids = Array.from({ length: 1_000 }, (_, index) => `1c9e3f0a-7a55-4d6b-9c0b-${String(index).padStart(12, '0')}`);
const charges: readonly SpendCharge[] = ['key/5b0c7c8e-7a55-4d6b-9c0b-0f3a4c6f1d11/cost', 'provider/5b0c7c8e-7a55-4d6b-9c0b-0f3a4c6f1d12/cost', 'workspace/5b0c7c8e-7a55-4d6b-9c0b-0f3a4c6f1d13/cost', 'policy/5b0c7c8e-7a55-4d6b-9c0b-0f3a4c6f1d14/metadata._user:bob']
  .map((counter) => ({ counter, counted: 'cost', period: 12, reserved: 1_200_000, used: 345_678 }));

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

async function measure(callsOfTurn: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'journal-bench-'));
  const journal = new SpendJournal({ folder, process: 'bench', thread: 0, isStrict: false, faults: { add: (_, reason) => { throw new Error(reason); } } });
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    let calls = 0;
    const from = process.cpuUsage();
    const until = performance.now() + roundMs;
    while (performance.now() < until) {
      for (let call = 0; call < callsOfTurn; call += 1) {
        const id = ids[(calls + call) % ids.length] as string;
        journal.open(id, charges);
        journal.settle(id, charges, false);
      }
      calls += callsOfTurn;
      await turn();
    }
    const { user, system } = process.cpuUsage(from);
    best = Math.min(best, (user + system) / calls);
  }
  journal.close();
  rmSync(folder, { recursive: true, force: true });
  return best;
}

for (const calls of [1, 4, 16, 64]) console.log(`${String(calls).padStart(3)} calls in a turn: ${(await measure(calls)).toFixed(2)} us of CPU a call (best of ${rounds}, four counters, reserved and settled)`);
