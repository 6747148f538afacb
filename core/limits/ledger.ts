// The ledger of spending: what calls under a budget have settled, by counter and period. Used on the control thread and at the start, never on the path of a
// call. Entries of a journal are put in with the place that it was read to, in one batch, so that each entry counts once whoever dies when.
//
//   counter/<key>                   { counted, period, startMs, told, isGivenBack }: the period that the counter is in; given back: no memory holds it, and whoever
//                                   uses it again begins in memory with period 0
//   sum/<key>/<period>              { startMs, amount, calls, estimated, pruned }: what has been settled in one period, and what of it has no row any more
//   open/<process>/<call>           { atMs, charges }: reserved and not settled yet
//   ledger/<time>/<random>          { counters, calls }: what each call has settled; the oldest are removed
//   position/<journal>              { bytes }: how far the file has been put in
//   check/<process>                 { atMs, differences }: counters of a process that lately held something else than the ledger says

import type { Row, Store, Write } from '@gateway/plugin-sdk';
import { randomBytes } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { Counted } from '../snapshot/limit-specs.js';
import { boundedKey } from './journal-layout.js';
import type { JournalCharge, JournalEntry } from './journal-reader.js';

/** Batches that lose against another writer this often are not losing races. */
const triesMax = 50;
/** Counters in shared memory know the period modulo this. */
const periodsTold = 4_096;
/** Of one counter; of one that has more, only some are looked at. */
const sumsAtOnce = 200;
/** Threshold and exhaustion have been told for the period. */
export const toldThreshold = 1;
export const toldExhausted = 2;

const packr = new Packr({ useRecords: false });

export interface CounterRow {
  readonly counted: Counted;
  /** Numbers of periods follow each other. */
  readonly period: number;
  readonly startMs: number;
  readonly told: number;
  readonly isGivenBack?: boolean;
}

export interface Sum {
  readonly startMs: number;
  /** Micro-cents, tokens, calls. */
  readonly amount: number;
  readonly calls: number;
  /** Of the calls: at what was reserved for them, since nobody knows what they used. */
  readonly estimated: number;
  /** Of amount and calls: what the rows told that were removed. */
  readonly prunedAmount: number;
  readonly prunedCalls: number;
}

export interface NamedSum extends Sum {
  readonly key: string;
  readonly period: number;
}

export interface CounterDifference {
  readonly counter: string;
  readonly period: number;
  /** Settled and reserved. */
  readonly expected: number;
  readonly held: number;
}

/** A call as it was settled. */
export interface LedgerCall {
  readonly id: string;
  readonly openedAtMs: number;
  readonly settledAtMs: number;
  readonly isEstimated: boolean;
  readonly charges: readonly LedgerCharge[];
}

export interface LedgerCharge {
  readonly key: string;
  readonly counted: Counted;
  readonly period: number;
  readonly amount: number;
}

export interface OpenCall {
  readonly process: string;
  readonly id: string;
  readonly atMs: number;
  readonly charges: readonly LedgerCharge[];
}

export interface LeftCall {
  readonly call: OpenCall;
  /** Null: nothing is known of it. */
  readonly known: ((charge: LedgerCharge) => number | undefined) | null;
}

export interface JournalPosition {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface StoredBlock {
  readonly counters: readonly (readonly [key: string, counted: Counted])[];
  readonly calls: readonly (readonly [id: string, openedAtMs: number, settledAtMs: number, isEstimated: boolean, charges: readonly number[]])[];
}

export interface Counter extends CounterRow {
  readonly key: string;
}

/** A counter with what it holds in its period. */
export interface KeptCounter extends Counter {
  readonly amount: number;
  readonly calls: number;
  readonly estimated: number;
}

/** Beginnings of calls whose records were priced again; both ends are in it. */
export interface RepricedTime {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Another one has put it in; read its position again. */
export class PositionMoved extends Error {}

export interface LedgerOptions {
  /** Beginning of the period at a time, for a counter that nobody has seen before. */
  readonly startOf: (key: string, atMs: number) => Promise<number> | number;
  readonly now: () => number;
}

export class Ledger {
  constructor(readonly store: Store, readonly options: LedgerOptions) {}

  /**
   * Puts in what a journal of `process` says, and its position with it; null: there is no file. Returns the counters that were named, and those that something was settled of.
   * Rejects with PositionMoved when the file was put in from there before.
   */
  async apply(process: string, position: JournalPosition | null, entries: readonly JournalEntry[]): Promise<{ readonly seen: Iterable<string>; readonly settled: ReadonlySet<string> }> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const batch = new LedgerBatch(this);
      if (position !== null) await batch.move(position);
      for (const entry of entries) {
        if (entry.kind === 'open') await batch.open(process, entry.callId, entry.atMs, entry.charges);
        else if (entry.kind === 'settle') await batch.settle(process, entry.callId, entry.atMs, entry.charges, entry.isEstimated);
      }
      if (await this.store.write(batch.writes())) return { seen: batch.seen, settled: batch.settled };
    }
    throw new Error('the ledger is written to by too many at once');
  }

  /** Settles the calls that dead processes left open, each at its reservation or at what is known of it. Returns those that nobody settled meanwhile, with what they were settled at. */
  async settleLeft(calls: readonly LeftCall[]): Promise<ReadonlyMap<OpenCall, readonly LedgerCharge[]>> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const batch = new LedgerBatch(this);
      const settled = new Map<OpenCall, readonly LedgerCharge[]>();
      for (const { call, known } of calls) {
        const charges = await batch.settleLeft(call, known);
        if (charges !== undefined) settled.set(call, charges);
      }
      if (settled.size === 0 || await this.store.write(batch.writes())) return settled;
    }
    throw new Error('the ledger is written to by too many at once');
  }

  /** How far a file has been put in. */
  async positionOf(name: string): Promise<number> {
    const row = await this.store.get(positionKey(name));
    return row === undefined ? 0 : (packr.unpack(row.value) as { readonly bytes: number }).bytes;
  }

  /** Of a file that is not there any more. */
  async forgetPosition(name: string): Promise<void> {
    await this.store.write([{ op: 'remove', key: positionKey(name) }]);
  }

  async positions(): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const { key } of this.#below('position')) names.push(key.slice('position/'.length));
    return names;
  }

  /** Records of a time are about to be priced again: from now on they may say another cost than was charged. */
  async noteRepricing(fromMs: number, toMs: number): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const row = await this.store.get(repricedKey);
      const times = row === undefined ? [] : packr.unpack(row.value) as readonly RepricedTime[];
      if (await this.store.write([{ op: 'put', key: repricedKey, value: packr.pack(united([...times, { fromMs, toMs }])), ifVersion: row?.version ?? 0 }])) return;
    }
    throw new Error('the ledger is written to by too many at once');
  }

  /** Sorted, apart from each other. */
  async repriced(): Promise<readonly RepricedTime[]> {
    const row = await this.store.get(repricedKey);
    return row === undefined ? [] : packr.unpack(row.value) as readonly RepricedTime[];
  }

  async counter(key: string): Promise<Counter | undefined> {
    const row = await this.store.get(counterKey(boundedKey(key)));
    return row === undefined ? undefined : { key: boundedKey(key), ...(packr.unpack(row.value) as CounterRow) };
  }

  /** Those whose names begin so. */
  async *counters(prefix = ''): AsyncGenerator<Counter> {
    const from = counterKey(prefix);
    for await (const { key, value } of this.store.range({ from, to: `${from}\u{10ffff}`, limit: Number.MAX_SAFE_INTEGER })) {
      yield { key: key.slice('counter/'.length), ...(packr.unpack(value) as CounterRow) };
    }
  }

  async sum(key: string, period: number): Promise<Sum> {
    const row = await this.store.get(sumKey(boundedKey(key), period));
    return row === undefined ? noSum : packr.unpack(row.value) as Sum;
  }

  async *sums(): AsyncGenerator<NamedSum> {
    for await (const { key, value } of this.#below('sum')) {
      const slash = key.lastIndexOf('/');
      yield { key: key.slice('sum/'.length, slash), period: Number(key.slice(slash + 1)), ...(packr.unpack(value) as Sum) };
    }
  }

  /** `process` null: of all. */
  async *openCalls(process: string | null): AsyncGenerator<OpenCall> {
    for await (const { key, value } of this.#below(process === null ? 'open' : `open/${process}`)) yield openCallOf(key, value);
  }

  /** Those that a call has open, and the places of their sums. */
  async openCounters(): Promise<ReadonlySet<string>> {
    const open = new Set<string>();
    for await (const { charges } of this.openCalls(null)) for (const { key, period } of charges) open.add(key).add(sumKey(key, period));
    return open;
  }

  async *calls(): AsyncGenerator<LedgerCall> {
    for await (const { value } of this.#below('ledger')) yield* callsOf(value);
  }

  /**
   * Begins a period at a time; null: the next one whenever the row is read. Null in return: another one has begun it, or the counter is not there.
   * Calls that began before and are settled later still go to theirs.
   */
  async begin(key: string, after: number, startMs: number): Promise<Counter | null> {
    return this.#changeCounter(key, (row) => (row.period !== after ? null : { ...row, period: row.period + 1, startMs, told: 0 }));
  }

  /** The alerts that were sent in a period. */
  async tell(key: string, period: number, told: number): Promise<Counter | null> {
    return this.#changeCounter(key, (row) => (row.period !== period || row.told === told ? null : { ...row, told }));
  }

  /** No memory holds these counters any more, in one batch. Returns those of which that is so: not those that are in another period by now, and none when somebody changed one of them meanwhile. */
  async giveBack(counters: readonly Pick<Counter, 'key' | 'period'>[]): Promise<readonly string[]> {
    const writes: Write[] = [];
    const keys: string[] = [];
    for (const { key, period } of counters) {
      const stored = await this.store.get(counterKey(boundedKey(key)));
      if (stored === undefined) continue;
      const row = packr.unpack(stored.value) as CounterRow;
      if (row.period !== period || row.isGivenBack === true) continue;
      writes.push({ op: 'put', key: counterKey(boundedKey(key)), value: packr.pack({ ...row, isGivenBack: true } satisfies CounterRow), ifVersion: stored.version });
      keys.push(key);
    }
    return writes.length > 0 && await this.store.write(writes) ? keys : [];
  }

  /** Memory holds it still. */
  async takeBack(key: string, period: number): Promise<Counter | null> {
    return this.#changeCounter(key, (row) => (row.period !== period || row.isGivenBack !== true ? null : { ...row, isGivenBack: false }));
  }

  async #changeCounter(given: string, change: (row: CounterRow) => CounterRow | null): Promise<Counter | null> {
    const key = boundedKey(given);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const stored = await this.store.get(counterKey(key));
      if (stored === undefined) return null;
      const after = change(packr.unpack(stored.value) as CounterRow);
      if (after === null) return null;
      if (await this.store.write([{ op: 'put', key: counterKey(key), value: packr.pack(after), ifVersion: stored.version }])) return { key, ...after };
    }
    throw new Error('the ledger is written to by too many at once');
  }

  /** Counters of another ledger, with the sums of their periods; the calls have no rows here. */
  async takeOver(counters: readonly KeptCounter[]): Promise<void> {
    await this.store.write(counters.flatMap(({ key, counted, period, startMs, told, amount, calls, estimated }): Write[] => {
      const sum: Sum = { startMs, amount, calls, estimated, prunedAmount: amount, prunedCalls: calls };
      return [
        { op: 'put', key: counterKey(key), value: packr.pack({ counted, period, startMs, told } satisfies CounterRow) }, { op: 'put', key: sumKey(key, period), value: packr.pack(sum) },
      ];
    }));
  }

  /** Removes rows of calls that are older, or too many, oldest first; what they told stays in the sums. Returns how many calls went. */
  async prune(beforeMs: number, blocksMax: number, removedMax: number): Promise<number> {
    let pruned = 0;
    const blocks = this.store.count === undefined ? 0 : await this.store.count({ from: 'ledger/', to: 'ledger0' });
    const surplus = Math.max(0, blocks - blocksMax);
    const due: Row[] = [];
    for await (const row of this.store.range({ from: 'ledger/', to: 'ledger0', limit: removedMax })) {
      if (due.length >= surplus && Number(row.key.split('/')[1]) >= beforeMs) break;
      due.push(row);
    }
    for (const row of due) {
      const calls = [...callsOf(row.value)];
      const batch = new LedgerBatch(this);
      await batch.forget(row, calls);
      // Somebody else does it, or it is done the next time.
      if (await this.store.write(batch.writes())) pruned += calls.length;
    }
    return pruned;
  }

  /**
   * Removes sums that no row of a call tells of any more: of periods that are over, and, where whoever the counter was of is gone, all of them and the counter. Looks at so many
   * counters behind `after`; returns where it stopped (empty: at the end), and the counters that went. Nothing that a call has open goes.
   */
  async forgetIdle(after: string, countersMax: number, isGone: (key: string) => Promise<boolean>): Promise<{ readonly after: string; readonly removed: readonly string[] }> {
    const open = await this.openCounters();
    const removed: string[] = [];
    let last = '';
    let looked = 0;
    for await (const row of this.store.range({ from: after === '' ? 'counter/' : `${counterKey(after)}\u0000`, to: 'counter0', limit: countersMax })) {
      looked += 1;
      last = row.key.slice('counter/'.length);
      if (await this.#forgetIdleOf(last, row, open, isGone)) removed.push(last);
    }
    return { after: looked < countersMax ? '' : last, removed };
  }

  async #forgetIdleOf(key: string, row: Row, open: ReadonlySet<string>, isGone: (key: string) => Promise<boolean>): Promise<boolean> {
    const { period } = packr.unpack(row.value) as CounterRow;
    const idle: Write[] = [];
    let [sums, hasCurrent] = [0, false];
    const from = `sum/${key}/`;
    // Names of other counters may begin with this one's, so the rest has to be a number.
    for await (const sum of this.store.range({ from, to: `${from}:`, limit: sumsAtOnce })) {
      sums += 1;
      if (!/^\d{10}$/.test(sum.key.slice(from.length))) continue;
      const { amount, calls, prunedAmount, prunedCalls } = packr.unpack(sum.value) as Sum;
      const isIdle = calls === prunedCalls && amount === prunedAmount && !open.has(sum.key);
      if (isIdle && Number(sum.key.slice(from.length)) < period) idle.push({ op: 'remove', key: sum.key, ifVersion: sum.version });
      else if (isIdle) {
        hasCurrent = true;
        idle.push({ op: 'remove', key: sum.key, ifVersion: sum.version });
      } else sums = sumsAtOnce;
    }
    const isOver = sums < sumsAtOnce && !open.has(key) && await isGone(key);
    const writes = isOver ? [...idle, { op: 'remove' as const, key: row.key, ifVersion: row.version }] : hasCurrent ? idle.slice(0, -1) : idle;
    if (writes.length === 0) return false;
    // Somebody else changed one of them: they are looked at again the next time.
    return await this.store.write(writes) && isOver;
  }

  /** The differences that a process found when it last compared its counters. Its own is removed at its end. */
  async tellCounters(process: string, atMs: number, differences: readonly CounterDifference[]): Promise<void> {
    await this.store.write([differences.length === 0 ? { op: 'remove', key: checkKey(process) } : { op: 'put', key: checkKey(process), value: packr.pack({ atMs, differences }) }]);
  }

  async counterDifferences(): Promise<readonly CounterDifference[]> {
    const found: CounterDifference[] = [];
    for await (const { value } of this.#below('check')) found.push(...(packr.unpack(value) as { readonly differences: readonly CounterDifference[] }).differences);
    return found;
  }

  #below(name: string): AsyncIterable<Row> {
    return this.store.range({ from: `${name}/`, to: `${name}0`, limit: Number.MAX_SAFE_INTEGER });
  }
}

const noSum: Sum = Object.freeze({ startMs: 0, amount: 0, calls: 0, estimated: 0, prunedAmount: 0, prunedCalls: 0 });

interface Held<T> {
  readonly version: number;
  value: T;
  isChanged?: boolean;
}

/** Rows as they were read, changed and to be written on the condition that nobody changed them meanwhile. */
class LedgerBatch {
  readonly settled = new Set<string>();
  readonly #counters = new Map<string, Held<CounterRow>>();
  readonly #sums = new Map<string, Held<Sum>>();
  /** Null: removed. */
  readonly #opens = new Map<string, Held<{ readonly atMs: number; readonly charges: readonly LedgerCharge[] } | null>>();
  readonly #calls: LedgerCall[] = [];
  readonly #others: Write[] = [];
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get seen(): Iterable<string> {
    return this.#counters.keys();
  }

  async move({ name, from, to }: JournalPosition): Promise<void> {
    const row = await this.#ledger.store.get(positionKey(name));
    if ((row === undefined ? 0 : (packr.unpack(row.value) as { readonly bytes: number }).bytes) !== from) throw new PositionMoved(name);
    this.#others.push({ op: 'put', key: positionKey(name), value: packr.pack({ bytes: to }), ifVersion: row?.version ?? 0 });
  }

  /** Adds to what the call has open. */
  async open(process: string, id: string, atMs: number, charges: readonly JournalCharge[]): Promise<void> {
    const held = await this.#open(openKey(process, id));
    const added: LedgerCharge[] = [];
    for (const charge of charges) added.push(await this.#chargeOf(charge, atMs, 0));
    held.value = { atMs: held.value?.atMs ?? atMs, charges: [...held.value?.charges ?? [], ...added] };
  }

  async settle(process: string, id: string, settledAtMs: number, charges: readonly JournalCharge[], isEstimated: boolean): Promise<void> {
    const held = await this.#open(openKey(process, id));
    const openedAtMs = held.value?.atMs ?? settledAtMs;
    held.value = null;
    const used: LedgerCharge[] = [];
    for (const charge of charges) used.push(await this.#chargeOf(charge, openedAtMs, charge.amount));
    await this.#record({ id, openedAtMs, settledAtMs, isEstimated, charges: used });
  }

  async settleLeft({ process, id }: OpenCall, known: ((charge: LedgerCharge) => number | undefined) | null): Promise<readonly LedgerCharge[] | undefined> {
    const held = await this.#open(openKey(process, id));
    const { value } = held;
    if (value === null) return undefined;
    held.value = null;
    let isEstimated = false;
    const charges = merged(value.charges).map((charge) => {
      const amount = known?.(charge);
      isEstimated ||= amount === undefined;
      return { ...charge, amount: amount ?? charge.amount };
    });
    await this.#record({ id, openedAtMs: value.atMs, settledAtMs: this.#ledger.options.now(), isEstimated, charges });
    return charges;
  }

  async forget(row: Row, calls: readonly LedgerCall[]): Promise<void> {
    this.#others.push({ op: 'remove', key: row.key, ifVersion: row.version });
    for (const { charges } of calls) {
      for (const { key, period, amount } of charges) {
        const sum = await this.#sum(key, period);
        sum.value = { ...sum.value, prunedAmount: sum.value.prunedAmount + amount, prunedCalls: sum.value.prunedCalls + 1 };
      }
    }
  }

  writes(): Write[] {
    const writes = [...this.#others];
    // Only what is new is written: rows that were read for their period alone must not be changed by whoever begins another.
    for (const [key, { version, value, isChanged }] of this.#counters) if (version === 0 || isChanged === true) writes.push({ op: 'put', key: counterKey(key), value: packr.pack(value), ifVersion: version });
    for (const [key, { version, value }] of this.#sums) writes.push({ op: 'put', key, value: packr.pack(value), ifVersion: version });
    for (const [key, { version, value }] of this.#opens) {
      if (value !== null) writes.push({ op: 'put', key, value: packr.pack(value), ifVersion: version });
      else if (version > 0) writes.push({ op: 'remove', key, ifVersion: version });
    }
    if (this.#calls.length > 0) writes.push({ op: 'put', key: blockKey(this.#ledger.options.now()), value: packr.pack(blockOf(this.#calls)), ifVersion: 0 });
    return writes;
  }

  async #record(call: LedgerCall): Promise<void> {
    const charges = merged(call.charges);
    this.#calls.push({ ...call, charges });
    for (const { key, period, amount } of charges) {
      const held = await this.#sum(key, period);
      const { value } = held;
      held.value = { ...value, amount: value.amount + amount, calls: value.calls + 1, estimated: value.estimated + (call.isEstimated ? 1 : 0) };
      this.settled.add(key);
    }
  }

  /** The number of a period is told modulo something: it is the last one that ends so. */
  async #chargeOf({ counter, period: told, amount }: JournalCharge, atMs: number, used: number): Promise<LedgerCharge> {
    const held = await this.#counter(counter.key, counter.counted, atMs);
    if (held.value.isGivenBack === true) await this.#takeUp(held, counter.key, told, atMs, used);
    const { period } = held.value;
    const back = (period - told) % periodsTold;
    return { key: counter.key, counted: counter.counted, period: Math.max(0, period - (back < 0 ? back + periodsTold : back)), amount };
  }

  /**
   * A counter that was given back is used again: memory, which has forgotten its period, calls it 0. What goes to an earlier one changes nothing, nor does a call that
   * used nothing before memory forgot it; where something was used, it never did.
   */
  async #takeUp(held: Held<CounterRow>, key: string, told: number, atMs: number, used: number): Promise<void> {
    const { counted, period } = held.value;
    const present = period % periodsTold;
    if (told !== 0 && (told !== present || used === 0)) return;
    held.value = { counted, period: told === present ? period : period - present + periodsTold, startMs: await this.#ledger.options.startOf(key, atMs), told: 0 };
    held.isChanged = true;
  }

  async #counter(key: string, counted: Counted, atMs: number): Promise<Held<CounterRow>> {
    let held = this.#counters.get(key);
    if (held === undefined) {
      const row = await this.#ledger.store.get(counterKey(key));
      held = row === undefined
        ? { version: 0, value: { counted, period: 0, startMs: await this.#ledger.options.startOf(key, atMs), told: 0 } }
        : { version: row.version, value: packr.unpack(row.value) as CounterRow };
      this.#counters.set(key, held);
    }
    return held;
  }

  async #sum(key: string, period: number): Promise<Held<Sum>> {
    const place = sumKey(key, period);
    let held = this.#sums.get(place);
    if (held === undefined) {
      const row = await this.#ledger.store.get(place);
      const startMs = this.#counters.get(key)?.value.startMs ?? 0;
      held = row === undefined ? { version: 0, value: { ...noSum, startMs } } : { version: row.version, value: packr.unpack(row.value) as Sum };
      this.#sums.set(place, held);
    }
    return held;
  }

  async #open(key: string): Promise<Held<{ readonly atMs: number; readonly charges: readonly LedgerCharge[] } | null>> {
    let held = this.#opens.get(key);
    if (held === undefined) {
      const row = await this.#ledger.store.get(key);
      held = row === undefined ? { version: 0, value: null } : { version: row.version, value: openCallOf(key, row.value) };
      this.#opens.set(key, held);
    }
    return held;
  }
}

/** One for each counter and period. */
function merged(charges: readonly LedgerCharge[]): readonly LedgerCharge[] {
  const byPlace = new Map<string, LedgerCharge>();
  for (const charge of charges) {
    const place = sumKey(charge.key, charge.period);
    const before = byPlace.get(place);
    byPlace.set(place, before === undefined ? charge : { ...before, amount: before.amount + charge.amount });
  }
  return [...byPlace.values()];
}

function blockOf(calls: readonly LedgerCall[]): StoredBlock {
  const numbers = new Map<string, number>();
  const counters: (readonly [string, Counted])[] = [];
  return {
    counters,
    calls: calls.map(({ id, openedAtMs, settledAtMs, isEstimated, charges }) => [id, openedAtMs, settledAtMs, isEstimated, charges.flatMap(({ key, counted, period, amount }) => {
      let number = numbers.get(key);
      if (number === undefined) {
        numbers.set(key, number = counters.length);
        counters.push([key, counted]);
      }
      return [number, period, amount];
    })]),
  };
}

function* callsOf(value: Uint8Array): Generator<LedgerCall> {
  const { counters, calls } = packr.unpack(value) as StoredBlock;
  for (const [id, openedAtMs, settledAtMs, isEstimated, numbers] of calls) {
    const charges: LedgerCharge[] = [];
    for (let index = 0; index + 2 < numbers.length; index += 3) {
      const [key, counted] = counters[numbers[index] as number] ?? ['', 'requests'];
      charges.push({ key, counted, period: numbers[index + 1] as number, amount: numbers[index + 2] as number });
    }
    yield { id, openedAtMs, settledAtMs, isEstimated, charges };
  }
}

function openCallOf(key: string, value: Uint8Array): OpenCall {
  const { atMs, charges } = packr.unpack(value) as { readonly atMs: number; readonly charges: readonly LedgerCharge[] };
  const [, process = '', id = ''] = key.split('/');
  return { process, id, atMs, charges };
}

/** Times of repricing that are kept apart; of more the oldest two become one. */
const repricedTimesMax = 256;

function united(times: readonly RepricedTime[]): readonly RepricedTime[] {
  const apart: RepricedTime[] = [];
  for (const time of [...times].sort((left, right) => left.fromMs - right.fromMs)) {
    const last = apart.at(-1);
    if (last === undefined || time.fromMs > last.toMs) apart.push(time);
    else apart[apart.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, time.toMs) };
  }
  while (apart.length > repricedTimesMax) apart.splice(0, 2, { fromMs: (apart[0] as RepricedTime).fromMs, toMs: (apart[1] as RepricedTime).toMs });
  return apart;
}

const repricedKey = 'repriced/';
const counterKey = (key: string): string => `counter/${key}`;
const sumKey = (key: string, period: number): string => `sum/${key}/${String(period).padStart(10, '0')}`;
const openKey = (process: string, id: string): string => `open/${process}/${id}`;
const positionKey = (name: string): string => `position/${name}`;
const checkKey = (process: string): string => `check/${process}`;
const blockKey = (nowMs: number): string => `ledger/${String(nowMs).padStart(15, '0')}/${randomBytes(8).toString('hex')}`;
