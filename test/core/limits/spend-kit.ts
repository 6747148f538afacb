// A ledger with all that belongs to it, for tests: a store in memory, journals in a folder, and a clock.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Store } from '@gateway/plugin-sdk';
import { Counters } from '../../../core/limits/counters.js';
import { SpendJournal, type SpendCharge } from '../../../core/limits/journal.js';
import { Keeper, type Alert, type KeeperServices } from '../../../core/limits/keeper.js';
import { Ledger } from '../../../core/limits/ledger.js';
import type { LimitOwner } from '../../../core/limits/limit-owners.js';
import { periodAt } from '../../../core/limits/periods.js';
import { MemoryStore } from '../../../plugins/storage/memory/memory-store.js';

const temporaryJournals = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'spend-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

export interface SpendKit {
  readonly folder: string;
  store: Store;
  counters: Counters;
  nowMs: number;
  readonly alive: Set<string>;
  readonly owners: Map<string, LimitOwner>;
  readonly gone: Set<string>;
  readonly alerts: Alert[];
  readonly faults: string[];
  changed: ReadonlySet<string> | null;
  ledger(): Ledger;
  keeper(process: string, changes?: Partial<KeeperServices>): Keeper;
  journal(process: string, options?: { readonly fileBytesMax?: number; readonly thread?: number }): SpendJournal;
}

export function spendKit(): SpendKit {
  const kit: SpendKit = {
    folder: temporaryJournals(), store: new MemoryStore(), counters: new Counters(Counters.allocate(1_024)), nowMs: Date.parse('2026-04-01T12:00:00Z'), alive: new Set(), owners: new Map(), gone: new Set(), alerts: [], faults: [],
    changed: new Set(),
    ledger: () => new Ledger(kit.store, {
      now: () => kit.nowMs,
      startOf: (key, atMs) => {
        const owner = kit.owners.get(key);
        return owner === undefined ? 0 : Math.max(periodAt(owner.rule, owner.level, atMs, owner.madeAtMs).startMs, owner.lastResetAtMs <= atMs ? owner.lastResetAtMs : 0);
      },
    }),
    keeper: (process, changes = {}) => new Keeper({
      ledger: kit.ledger(), counters: kit.counters, folder: kit.folder, process, isAlive: (name) => kit.alive.has(name), owner: async (counter) => kit.owners.get(counter), isGone: async (counter) => kit.gone.has(counter), isAlone: () => kit.alive.size === 0,
      changedRows: async () => kit.changed, alert: async (alert) => { kit.alerts.push(alert); }, now: () => kit.nowMs, onFault: (what, thrown) => { kit.faults.push(`${what}: ${String(thrown)}`); }, ...changes,
    }),
    journal: (process, options = {}) => new SpendJournal({ folder: kit.folder, process, thread: 0, isStrict: false, faults: { add: (_, reason) => { kit.faults.push(reason); } }, now: () => kit.nowMs, ...options }),
  };
  return kit;
}

export const ownerOf = (counter: string, changes: Partial<LimitOwner> = {}): LimitOwner => ({
  level: 'key', id: counter.split('/')[1] ?? '', organisationId: 'o', workspaceId: 'w', name: 'a key', kind: 'api-key', uri: '/v1/api-keys/k', maximum: 1_000, threshold: 500, rule: {}, madeAtMs: Date.parse('2026-01-01T00:00:00Z'),
  lastResetAtMs: 0, alertEmails: [], ...changes,
});

/** As a call does: takes of the counter, and says so. */
export function charge(kit: SpendKit, counter: string, reserved: number): SpendCharge & { used: number } {
  const slot = kit.counters.slot(counter, 'usage');
  kit.counters.takeUsage(slot, reserved, reserved, Infinity);
  return { counter, counted: 'cost', period: kit.counters.tag, reserved, used: 0 };
}

/** As a call does at its end. */
export function settle(kit: SpendKit, journal: SpendJournal, id: string, charges: readonly (SpendCharge & { used: number })[], used: number, isEstimated = false): void {
  for (const each of charges) {
    each.used = used;
    kit.counters.settleUsage(kit.counters.slot(each.counter, 'usage'), each.period, used - each.reserved);
  }
  journal.settle(id, charges, isEstimated);
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const each of items) list.push(each);
  return list;
}
