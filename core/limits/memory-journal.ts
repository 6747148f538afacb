// The journal of a gateway whose storage is its memory: nothing survives the process, so nothing is written. The keeper runs on the same thread and takes
// what calls said.

import type { JournalEntry } from './journal-reader.js';
import type { SpendCharge } from './journal.js';

/** Entries that wait for the keeper's next round; more are lost, and told. */
const entriesMax = 200_000;

export class MemoryJournal {
  #entries: JournalEntry[] = [];

  constructor(readonly onLost: (reason: string) => void) {}

  open(callId: string, charges: readonly SpendCharge[]): null {
    this.#add({ kind: 'open', atMs: Date.now(), callId, charges: charges.map(({ counter, counted, period, reserved }) => ({ counter: { key: counter, counted }, period, amount: reserved })) });
    return null;
  }

  settle(callId: string, charges: readonly SpendCharge[], isEstimated: boolean): void {
    this.#add({ kind: 'settle', atMs: Date.now(), callId, isEstimated, charges: charges.map(({ counter, counted, period, used }) => ({ counter: { key: counter, counted }, period, amount: used })) });
  }

  close(): void {}

  /** The entries since the last time. */
  take(): readonly JournalEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  #add(entry: JournalEntry): void {
    if (this.#entries.length < entriesMax) this.#entries.push(entry);
    else this.onLost('too many wait for the ledger');
  }
}
