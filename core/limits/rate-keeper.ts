// Carries the counters of rate limits over a restart: written by the control thread every second where they changed, and at its end; put back by the
// first thread before it takes calls. After a kill the last second is missing. Usage is kept by the ledger.

import type { Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { slotCountMax, type CounterEntry, type CounterKind, type Counters } from './counters.js';

/** Name of the store. */
export const rateStore = 'rate-counters';
/** Slots that are written together. */
const groupSlots = 1_024;
const everyMs = 1_000;

/** Hash of the key, kind, window, count. */
type KeptEntry = readonly [hash: number, kind: CounterKind, tag: number, count: number];

export interface RateKeeperOptions {
  readonly counters: Counters;
  readonly openStore: () => Promise<Store>;
  readonly onFault: (thrown: unknown) => void;
}

const keyOf = (group: number): string => `group ${String(group).padStart(5, '0')}`;
const packr = new Packr({ useRecords: false });

export class RateKeeper {
  readonly #options: RateKeeperOptions;
  /** A checksum of the state in which each group was written; absent: it was not. */
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
    for (let group = 0; group * groupSlots < counters.slotCount; group += 1) {
      const entries = counters.entries(group * groupSlots, (group + 1) * groupSlots).filter(isKept);
      const mark = entries.length === 0 ? 0 : markOf(entries);
      if (mark === (this.#written.get(group) ?? 0)) continue;
      const value: readonly KeptEntry[] = entries.map(({ hash, kind, tag, count }) => [hash, kind, tag, count]);
      changes.push(entries.length === 0 ? { op: 'remove', key: keyOf(group) } : { op: 'put', key: keyOf(group), value: packr.pack(value) });
      marks.push([group, mark]);
    }
    if (changes.length === 0) return;
    const store = await (this.#store ??= this.#options.openStore());
    await store.write(changes);
    for (const [group, mark] of marks) {
      if (mark === 0) this.#written.delete(group);
      else this.#written.set(group, mark);
    }
  }
}

/** Puts back what was written, before anything is counted. Returns how many found no room. */
export async function restoreRates(counters: Counters, store: Store): Promise<number> {
  let lost = 0;
  for await (const { value } of store.range({ from: 'group ', to: 'group ~', limit: slotCountMax / groupSlots })) {
    for (const [hash, kind, tag, count] of packr.unpack(value) as readonly KeptEntry[]) if (!counters.restore({ hash, kind, tag, count })) lost += 1;
  }
  return lost;
}

/** Windows of a second are over before anybody has started again. */
const isKept = ({ kind, count }: CounterEntry): boolean => kind !== 'usage' && kind !== 'rps' && count > 0;

/** Never 0. */
function markOf(entries: readonly CounterEntry[]): number {
  let mark = 1;
  for (const { hash, tag, count } of entries) mark = (mark * 31 + (hash % 0x7fff_ffff) + tag * 7 + count) % 0x1f_ffff_ffff_ffff;
  return mark + 1;
}
