// What counters of budgets hold, for a backup and back: of each the period that it is in and the sum of it. Calls have no rows of their own there, no more
// than they have log records: the sum says so, and `gateway ledger verify` agrees. Nobody but the ledger that gave them could settle calls that are under way.

import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@gateway/plugin-sdk';
import type { BackupSpend, SpendingSource, SpendingTarget } from '../storage/backup-format.js';
import { journalPlaceOf } from './journal-layout.js';
import type { Ledger } from './ledger.js';

/** A ledger that others write to is read again so often; then what was open first counts as open. */
const triesMax = 20;
const removedAtOnce = 1_000;
/** Counters whose sums are read before others get their turn. */
const countersOfTurn = 500;

export function spendingSource(ledger: Ledger): SpendingSource {
  return {
    read: async function* () {
      for (let tries = 1; ; tries += 1) {
        const revision = await ledger.store.revision();
        const found = await countersOf(ledger);
        if (tries < triesMax && await ledger.store.revision() !== revision) continue;
        yield* found;
        return;
      }
    },
  };
}

async function countersOf(ledger: Ledger): Promise<readonly BackupSpend[]> {
  // Before the sums: what is settled meanwhile is counted twice rather than never.
  const reserved = new Map<string, { amount: number; calls: number }>();
  for await (const { charges } of ledger.openCalls(null)) {
    const seen = new Set<string>();
    for (const { key, period, amount } of charges) {
      const place = `${period}/${key}`;
      const before = reserved.get(place) ?? { amount: 0, calls: 0 };
      reserved.set(place, { amount: before.amount + amount, calls: before.calls + (seen.has(place) ? 0 : 1) });
      seen.add(place);
    }
  }
  const found: BackupSpend[] = [];
  for await (const { key, counted, period, startMs, told } of ledger.counters()) {
    const { amount, calls, estimated } = await ledger.sum(key, period);
    const open = reserved.get(`${period}/${key}`) ?? { amount: 0, calls: 0 };
    found.push({ spend: key, counted, period, startMs, told, amount: amount + open.amount, calls: calls + open.calls, estimated: estimated + open.calls });
    if (found.length % countersOfTurn === 0) await new Promise((resolve) => { setImmediate(resolve); });
  }
  return found;
}

/** `folder`: of the journals. With no gateway in the data directory. */
export function spendingTarget(ledger: Ledger, folder: string): SpendingTarget {
  return {
    clear: async () => {
      // First: what they say is of a ledger that is gone.
      for (const name of journalsOf(folder)) unlinkSync(join(folder, name));
      await clear(ledger.store);
    },
    put: (counters) => ledger.takeOver(counters.map(({ spend, ...counter }) => ({ key: spend, ...counter }))),
  };
}

function journalsOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => journalPlaceOf(name) !== undefined);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
    throw thrown;
  }
}

async function clear(store: Store): Promise<void> {
  for (;;) {
    const keys: string[] = [];
    for await (const { key } of store.range({ from: '', to: '\u{10ffff}', limit: removedAtOnce })) keys.push(key);
    if (keys.length === 0) return;
    await store.write(keys.map((key) => ({ op: 'remove', key })));
  }
}
