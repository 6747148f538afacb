// Entries of the audit log by time, newest first. Entries lie in the order of their commits, which is that of time but for calls that ran at once, so the
// place of a time is found by halves and what is near it is looked at one by one.

import type { AuditEntry, Repository } from '../../../storage/repository.js';
import { nextTurn } from '../../next-turn.js';

/** A call takes no longer than this from its time to its commit. */
const skewMs = 60_000;
/** Entries that a request looks at, and that it counts. */
const lookedMax = 100_000;
export const countedMax = 10_000;
const entriesOfTurn = 250;

export interface AuditRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly offset: number;
  readonly limit: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly total: number;
  /** There may be more than `total`. */
  readonly isCut: boolean;
}

export async function readAudit(repository: Repository, { startMs, endMs, offset, limit }: AuditRange, isWanted: (record: AuditEntry['record']) => boolean): Promise<AuditPage> {
  const entries: AuditEntry[] = [];
  let total = 0;
  let looked = 0;
  const [from, to] = [await sequenceAt(repository, startMs - skewMs), await sequenceAt(repository, endMs + skewMs)];
  for await (const entry of repository.audit({ from, to, reverse: true })) {
    looked += 1;
    if (looked > lookedMax || total >= countedMax) return { entries, total, isCut: true };
    if (looked % entriesOfTurn === 0) await nextTurn();
    const timeMs = Number(entry.record.timestamp);
    if (timeMs < startMs || timeMs > endMs || !isWanted(entry.record)) continue;
    if (total >= offset && entries.length < limit) entries.push(entry);
    total += 1;
  }
  return { entries, total, isCut: false };
}

/** The first commit with an entry of this time or later. */
async function sequenceAt(repository: Repository, timeMs: number): Promise<number> {
  let low = 0;
  let high = (await repository.sequence()) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await firstFrom(repository, middle);
    if (entry === undefined || Number(entry.record.timestamp) >= timeMs) high = middle;
    else low = entry.sequence + 1;
  }
  return low;
}

async function firstFrom(repository: Repository, from: number): Promise<AuditEntry | undefined> {
  for await (const entry of repository.audit({ from, limit: 1 })) return entry;
  return undefined;
}
