// Whether the ledger, the log and the counters say the same of what was spent. Reads alone, beside a gateway or without one: what changes while it looks is
// looked at again, or left to the next time.

import { isCachedAnswer, type LogRecord } from '@gateway/plugin-sdk';
import { microCentsOf } from '../snapshot/limit-specs.js';
import type { Ledger, LedgerCall, NamedSum, RepricedTime } from './ledger.js';

/** Sums that changed meanwhile are compared again so often. */
const triesMax = 5;
/** A record is in the log by then. */
const recordedWithinMs = 15_000;
/** Of one kind; the rest is counted. */
const differencesMax = 1_000;

export interface LedgerDifference {
  readonly about: 'sum' | 'record' | 'counter';
  /** Of a record: the call. */
  readonly call: string | null;
  readonly counter: string;
  readonly period: number | null;
  /** The amount in the ledger; null: none. */
  readonly ledger: number | null;
  /** The amount in the other one. */
  readonly other: number | null;
  readonly reason: string;
}

export interface LedgerVerdict {
  readonly calls: number;
  /** Of the calls: settled at what was reserved for them, since nobody knows what they used. */
  readonly estimated: number;
  /** Begun and not settled yet. */
  readonly open: number;
  readonly sums: number;
  /** Calls that were held against their records. */
  readonly compared: number;
  /** Of these: calls whose record was priced again since, so that it says another cost than was charged. */
  readonly repriced: number;
  /** Calls that the log is too young or too old to know. */
  readonly notInLog: number;
  readonly differences: readonly LedgerDifference[];
  /** Differences that are not among them. */
  readonly more: number;
}

export interface VerifyOptions {
  readonly now: () => number;
  /** The records of a time; undefined: there is no log. */
  readonly records: ((fromMs: number, toMs: number) => AsyncIterable<LogRecord>) | undefined;
}

type Tell = (difference: LedgerDifference) => void;

export async function verifyLedger(ledger: Ledger, { now, records }: VerifyOptions): Promise<LedgerVerdict> {
  const differences: LedgerDifference[] = [];
  let more = 0;
  const tell: Tell = (difference) => {
    if (differences.length < differencesMax) differences.push(difference);
    else more += 1;
  };
  const sums = await verifySums(ledger, tell);
  const calls = new Map<string, LedgerCall>();
  let estimated = 0;
  let count = 0;
  let fromMs = Infinity;
  const toMs = now() - recordedWithinMs;
  for await (const call of ledger.calls()) {
    count += 1;
    if (call.isEstimated) estimated += 1;
    else if (call.settledAtMs <= toMs) {
      const before = calls.get(call.id);
      if (before !== undefined) tell({ about: 'record', call: call.id, counter: before.charges[0]?.key ?? '', period: null, ledger: null, other: null, reason: 'the call was settled twice' });
      calls.set(call.id, call);
      fromMs = Math.min(fromMs, call.openedAtMs);
    }
  }
  const log = records === undefined || calls.size === 0 ? { compared: 0, repriced: 0, notInLog: calls.size }
    : await verifyRecords(calls, records(fromMs - recordedWithinMs, now()), await ledger.repriced(), tell);
  let open = 0;
  for await (const _ of ledger.openCalls(null)) open += 1;
  for (const { counter, period, expected, held } of await ledger.counterDifferences()) {
    tell({ about: 'counter', call: null, counter, period, ledger: expected, other: held, reason: 'the counter in the memory of the gateway holds another amount than was settled and is reserved' });
  }
  return { calls: count, estimated, open, sums, ...log, differences, more };
}

interface Total {
  amount: number;
  calls: number;
}

async function verifySums(ledger: Ledger, tell: Tell): Promise<number> {
  let found: { readonly place: string; readonly difference: LedgerDifference }[] = [];
  let count = 0;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = await sumsOf(ledger);
    const totals = new Map<string, Total>();
    for await (const { charges } of ledger.calls()) {
      for (const { key, period, amount } of charges) {
        const total = totals.get(`${key}/${period}`) ?? { amount: 0, calls: 0 };
        total.amount += amount;
        total.calls += 1;
        totals.set(`${key}/${period}`, total);
      }
    }
    const after = await sumsOf(ledger);
    count = after.size;
    found = [];
    let isMoving = false;
    for (const [place, sum] of after) {
      const earlier = before.get(place);
      const total = totals.get(place) ?? { amount: 0, calls: 0 };
      totals.delete(place);
      if (earlier?.calls !== sum.calls || earlier.prunedCalls !== sum.prunedCalls) {
        isMoving = true;
        continue;
      }
      if (total.amount + sum.prunedAmount === sum.amount && total.calls + sum.prunedCalls === sum.calls) continue;
      found.push({ place, difference: {
        about: 'sum', call: null, counter: sum.key, period: sum.period, ledger: total.amount + sum.prunedAmount, other: sum.amount, reason: `the rows of ${total.calls + sum.prunedCalls} calls say another amount than the sum of ${sum.calls}`,
      } });
    }
    // Rows that came after the sums were read are in none of them.
    if (totals.size > 0) isMoving = true;
    if (found.length === 0 && !isMoving) return count;
    if (tries < triesMax - 1) continue;
    for (const [place, { amount, calls }] of totals) {
      const slash = place.lastIndexOf('/');
      tell({ about: 'sum', call: null, counter: place.slice(0, slash), period: Number(place.slice(slash + 1)), ledger: amount, other: null, reason: `the rows of ${calls} calls are in no sum` });
    }
  }
  for (const { difference } of found) tell(difference);
  return count;
}

async function sumsOf(ledger: Ledger): Promise<ReadonlyMap<string, NamedSum>> {
  const sums = new Map<string, NamedSum>();
  for await (const sum of ledger.sums()) sums.set(`${sum.key}/${sum.period}`, sum);
  return sums;
}

async function verifyRecords(calls: Map<string, LedgerCall>, records: AsyncIterable<LogRecord>, times: readonly RepricedTime[], tell: Tell): Promise<Pick<LedgerVerdict, 'compared' | 'repriced' | 'notInLog'>> {
  let compared = 0;
  let repriced = 0;
  let oldestMs = Infinity;
  for await (const record of records) {
    oldestMs = Math.min(oldestMs, record.startedAtMs);
    const call = calls.get(record.id);
    if (call === undefined || !record.isFinal) continue;
    calls.delete(record.id);
    compared += 1;
    const mayCostOther = times.some(({ fromMs, toMs }) => record.startedAtMs >= fromMs && record.startedAtMs <= toMs);
    if (compare(call, record, mayCostOther, tell)) repriced += 1;
  }
  let notInLog = 0;
  for (const call of calls.values()) {
    // The log forgets by its own rules.
    if (call.openedAtMs < oldestMs) {
      notInLog += 1;
      continue;
    }
    tell({ about: 'record', call: call.id, counter: call.charges[0]?.key ?? '', period: null, ledger: call.charges[0]?.amount ?? null, other: null, reason: 'the log has no record of the call' });
  }
  return { compared, repriced, notInLog };
}

/** True: it costs another amount since it was priced again. */
function compare({ id, charges }: LedgerCall, record: LogRecord, mayCostOther: boolean, tell: Tell): boolean {
  let costsOther = false;
  // Of a call that was tried more than once the record tells the last answer alone; the ledger has the others as well.
  const isMore = record.targetIndex > 0 || record.retries > 0;
  const isFree = isCachedAnswer(record.cacheStatus);
  for (const { key, counted, period, amount } of charges) {
    if (counted === 'requests') continue;
    const told = isFree ? 0 : counted === 'tokens' ? record.totalTokens : record.cost < 0 ? -1 : microCentsOf(record.cost);
    // Nobody priced it, or said what it used.
    if (told < 0) continue;
    const difference = Math.abs(amount - told);
    // A price is a double: its last digit may be another one.
    if (difference <= (counted === 'cost' ? 1 : 0) || (isMore && (amount > told || amount === 0))) continue;
    if (counted === 'cost' && mayCostOther) costsOther = true;
    else tell({ about: 'record', call: id, counter: key, period, ledger: amount, other: told, reason: `the log says that the call used ${told}` });
  }
  return costsOther;
}
