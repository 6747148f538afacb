// Carries the counters of rate limits over a restart: written by the control thread every second where they changed, and at its end; put back by the
// first thread before it takes calls. After a kill the last second is missing. Usage is kept by the ledger; here is only who pays for its counters. Counters whose
// windows are over are given back on the way.

import type { Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { slotCountMax, type CounterEntry, type CounterKind, type Counters } from './counters.js';

/** Name of the store. */
export const rateStore = 'rate-counters';
/** Slots that are written together. */
const groupSlots = 1_024;
const half = 0x1_0000_0000;
const groupsMax = slotCountMax / groupSlots;
const everyMs = 1_000;

/** Hash of the key, kind, window, count; then the share that pays for it, where one does. Of usage without window and count. */
type KeptEntry = readonly [hash: number, kind: CounterKind, tag: number, count: number, payer?: number, isInvented?: boolean];

export interface RateKeeperOptions {
  readonly counters: Counters;
  readonly openStore: () => Promise<Store>;
  readonly onFault: (thrown: unknown) => void;
}

const keyOf = (group: number): string => `group ${String(group).padStart(5, '0')}`;
const packr = new Packr({ useRecords: false });

export class RateKeeper {
  readonly #options: RateKeeperOptions;
  /** A checksum of the state in which each group was written; absent: nobody knows what was written of it before this start. */
  readonly #written = new Map<number, number>();
  #store: Promise<Store> | null = null;
  #timer: NodeJS.Timeout | undefined = undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: RateKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#plan(), everyMs).unref();
  }

  /** Never rejects. Everything is written then. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write().catch(this.#options.onFault);
  }

  #plan(): void {
    this.#writing = this.#writing.then(() => this.write()).catch(this.#options.onFault);
  }

  async write(): Promise<void> {
    const { counters } = this.#options;
    if (counters.used === 0) return;
    const changes: Write[] = [];
    const marks: (readonly [group: number, mark: number])[] = [];
    for (let group = 0; group < groupsMax; group += 1) {
      const [from, to] = [group * groupSlots, Math.min((group + 1) * groupSlots, counters.slotCount)];
      counters.sweep(from, to);
      const entries = counters.entries(from, to).filter(isKept);
      const mark = entries.length === 0 ? 0 : markOf(entries);
      if (mark === this.#written.get(group)) continue;
      const value = entries.map(keptEntry);
      changes.push(entries.length === 0 ? { op: 'remove', key: keyOf(group) } : { op: 'put', key: keyOf(group), value: packr.pack(value) });
      marks.push([group, mark]);
    }
    if (changes.length === 0) return;
    const store = await (this.#store ??= this.#options.openStore());
    await store.write(changes);
    for (const [group, mark] of marks) this.#written.set(group, mark);
  }
}

/** Puts back what was written, before anything is counted. Returns how many found no room. */
export async function restoreRates(counters: Counters, store: Store): Promise<number> {
  let lost = 0;
  for await (const { value } of store.range({ from: 'group ', to: 'group ~', limit: groupsMax })) {
    for (const [hash, kind, tag, count, payer = 0, isInvented = false] of packr.unpack(value) as readonly KeptEntry[]) {
      // The ledger has put in what is used.
      if (kind === 'usage') counters.charge({ hash, payer, isInvented });
      else if (!counters.restore({ hash, kind, tag, count, payer, isInvented })) lost += 1;
    }
  }
  return lost;
}

/** Windows of a second are over before anybody has started again. */
const isKept = ({ kind, count, payer }: CounterEntry): boolean => (kind === 'usage' ? payer !== 0 : kind !== 'rps' && count > 0);

const keptEntry = ({ hash, kind, tag, count, payer, isInvented }: CounterEntry): KeptEntry =>
  kind === 'usage' ? [hash, kind, 0, 0, payer, isInvented] : payer === 0 ? [hash, kind, tag, count] : [hash, kind, tag, count, payer, isInvented];

/** Never 0. Two halves, since every single count has to make a difference. */
function markOf(entries: readonly CounterEntry[]): number {
  let [left, right] = [1, 2];
  const add = (value: number): void => {
    left = Math.imul(left ^ (value | 0), 0x0100_0193);
    right = Math.imul((right + (value | 0)) ^ (right >>> 15), 0x2c1b_3c6d) ^ (value / half);
  };
  for (const { hash, kind, tag, count, payer } of entries) {
    add(hash);
    add(payer);
    if (kind === 'usage') continue;
    add(tag);
    add(count);
  }
  return 1 + (left >>> 0) + (right & 0xf_ffff) * half;
}
