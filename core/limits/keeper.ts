// Keeps the ledger: carries what the journals of this process say into it, and what processes left that are gone; begins periods; puts the counters of usage
// right at the start. Runs on the control thread, one round at a time; no call waits for it. Whenever it dies, the next one goes on where it stopped.

import { closeSync, fstatSync, openSync, readdirSync, readSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fail, reasonOf } from '../errors/gateway-error.js';
import { slotCountFor } from './counters.js';
import { damagedSuffix, frameBytesMax, frameHeadBytes, journalPlaceOf, type JournalPlace } from './journal-layout.js';
import { JournalReader, type JournalEntry } from './journal-reader.js';
import { PositionMoved, toldExhausted, toldThreshold, type Counter, type CounterDifference, type Ledger, type LedgerCharge, type LeftCall, type OpenCall } from './ledger.js';
import { isTokenExpired, rowOf, type LimitOwner } from './limit-owners.js';
import { periodAt } from './periods.js';

/** How often journals are looked at. */
export const lookEveryMs = 200;
/** How often it is looked whether other processes have died, and whether rows are too old. */
const sweepEveryMs = 60_000;
/** Of a file, at once; a frame is never longer. */
const readBytesMax = 20 * 1024 * 1024;
/** Entries of one batch of the store. */
const entriesMax = 2_000;
/** Calls of dead processes that are settled in one batch: each batch waits for the disk. */
const leftAtOnce = 200;
/** Counters that are held against the ledger in one go. */
const comparedMax = 20_000;
/** Rows of calls: as old, and as many blocks of them. */
const ledgerDays = 40;
const blocksMax = 200_000;
const prunedAtOnce = 500;
/** Counters that are looked at in one go, for those that nobody needs any more. */
const idleAtOnce = 500;
/** Alerts of one look, of one workspace and in all: each waits for the disk, and clients may bring about as many as they like. The others are told by the next looks. */
const alertsOfWorkspaceMax = 5;
const alertsMax = 50;
/** Counters that are given back in one go, and in one write, which waits for the disk. */
const givenBackAtOnce = 5_000;
const givenBackInBatch = 250;
const lookedAtOnce = 20_000;
/** After the beginning of a period: entries of calls that belong to the one before it are read by then. */
const periodSettlesMs = 60_000;
const dayMs = 86_400_000;
/** A clock that is this far behind what it said last was set back. */
const setBackMs = 60_000;
/** A timer takes no more; nothing is due for longer without being looked at. */
const waitMsMax = 3_600_000;

/** Counters in shared memory, as far as periods and corrections go. */
export interface UsageCounters {
  /** As many may come to be in use. */
  readonly room: number;
  usage(key: string): { readonly period: number; readonly count: number } | undefined;
  /** Negative: there is no place for it. */
  setUsage(key: string, period: number, count: number): number;
  slot(key: string, kind: 'usage'): number;
  settleUsage(slot: number, period: number, change: number): void;
  drop(key: string): void;
  /** Drops one of which nothing is used; false: something is. */
  dropUnused(key: string): boolean;
}

export interface KeeperServices {
  readonly ledger: Ledger;
  readonly counters: UsageCounters;
  /** Of the journals; null: nothing is in files. */
  readonly folder: string | null;
  /** Entries that are in no file, since the last time. */
  takeFed?(): readonly JournalEntry[];
  /** The name of this start of the process. */
  readonly process: string;
  isAlive(process: string): boolean;
  /** When this process started; calls that others had open then are in the counters. Absent: so are all that are open now. */
  readonly startedAtMs?: number;
  owner(counter: string): Promise<LimitOwner | undefined>;
  /** Whoever the counter was of is there no more, and comes never again. */
  isGone(counter: string): Promise<boolean>;
  /** No other process counts by the same ledger. */
  isAlone(): boolean;
  /** Rows that changed since the last time, `<table>/<id>`; null: any may have. */
  changedRows(): Promise<ReadonlySet<string> | null>;
  /** The use of each counter as the log record of the call has it; undefined: there is none. */
  recorded?(call: OpenCall): Promise<((charge: LedgerCharge) => number | undefined) | undefined>;
  alert(alert: Alert): Promise<void>;
  now(): number;
  onFault(what: string, thrown: unknown): void;
}

export interface Alert {
  readonly kind: 'threshold' | 'exhausted';
  readonly counter: Counter;
  readonly owner: LimitOwner;
  /** In the unit of the counter. */
  readonly used: number;
  readonly resetsAtMs: number | null;
}

interface Known {
  counter: Counter;
  owner: LimitOwner | undefined;
  endMs: number;
  /** When it was first seen in this period. */
  readonly sinceMs: number;
}

interface File extends JournalPlace {
  readonly name: string;
}

/** Progress in a file that is still being read. */
interface Open {
  readonly file: number;
  readonly reader: JournalReader;
  isEnded: boolean;
}

const periodMask = 4_095;
const workspaceOf = ({ workspaceId, organisationId }: LimitOwner): string => workspaceId ?? organisationId;

/** One file cannot be read; others can. */
class JournalUnreadable extends Error {
  override name = 'JournalUnreadable';
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw new JournalUnreadable(`cannot be read: ${reasonOf(thrown)}`, { cause: thrown });
  }
}

/** Behind what was read lies more than a kill can leave: a frame that is all there, and not what was written. */
function isDamaged({ file, reader }: Open): boolean {
  const head = Buffer.alloc(frameHeadBytes);
  const left = fstatSync(file).size - reader.position;
  if (left < frameHeadBytes || readSync(file, head, 0, frameHeadBytes, reader.position) < frameHeadBytes) return false;
  const length = head.readUInt32LE(0);
  return length > frameBytesMax || (length > 0 && length <= left - frameHeadBytes);
}

export class Keeper {
  readonly #services: KeeperServices;
  readonly #open = new Map<string, Open>();
  readonly #known = new Map<string, Known>();
  /** Counters by the row that says of their limit. */
  readonly #byRow = new Map<string, Set<string>>();
  /** In no file, and not put in yet. */
  #fed: readonly JournalEntry[] = [];
  #round: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isStopped = false;
  #isLoaded = false;
  #sweptAtMs = -Infinity;
  /** The time of the last look. */
  #latestMs = -Infinity;
  /** Counters that held something else than the ledger, when they were last compared. */
  #differing: ReadonlyMap<string, CounterDifference> = new Map();
  /** Where the last look for counters that nobody needs stopped. */
  #idleAfter = '';
  /** Where the last look for counters that can be given back stopped. */
  #toGiveBack = this.#known.entries();
  /** What calls of other processes had open at the start, which the counters were set with. */
  readonly #heldOfOthers = new Map<string, readonly LedgerCharge[]>();
  /** Counters that memory had no place for at the start, and what they hold. */
  readonly #unplaced = new Map<string, { readonly period: number; readonly count: number }>();
  /** Others have counted by this ledger; what they spent is added when nothing moves. */
  #hadOthers = false;
  /** Alerts of this look, and counters whose alerts are for the next one, both by workspace. */
  readonly #alerted = new Map<string, number>();
  #alertedInAll = 0;
  readonly #toAlert = new Map<string, Set<string>>();
  /** When the first of the known periods is over. */
  #dueAtMs = Infinity;

  constructor(services: KeeperServices) {
    this.#services = services;
  }

  /** At the start of the process, before calls: what the dead left is put in, and the counters hold what is used. Rejects when the ledger cannot be read. */
  async recover(): Promise<void> {
    await this.#putInAll();
    const { ledger, isAlive } = this.#services;
    // Who died while it gave counters back had calls on them.
    for await (const { process, charges } of ledger.openCalls(null)) if (!isAlive(process)) for (const { key, period } of charges) await ledger.takeBack(key, period);
    await this.#load();
    await this.#rollDue();
    const reserved = new Map<string, number>();
    for await (const { charges } of ledger.openCalls(null)) for (const { key, period, amount } of charges) reserved.set(`${period}/${key}`, (reserved.get(`${period}/${key}`) ?? 0) + amount);
    await this.#placeAll(reserved);
    this.#closeFiles();
  }

  /**
   * Puts into memory what is used: first that, since a budget without a counter would begin anew. What nobody has used may do so. Rejects when the table is too small for all of it;
   * where only some find no place, by chance, calls that need them are refused until they have one.
   */
  async #placeAll(reserved: ReadonlyMap<string, number>): Promise<void> {
    const { ledger, counters, isAlone, now } = this.#services;
    const unused: Counter[] = [];
    let usedCount = 0;
    let unplacedCount = 0;
    for (const { counter } of this.#known.values()) {
      const { key, period } = counter;
      const count = (await ledger.sum(key, period)).amount + (reserved.get(`${period}/${key}`) ?? 0);
      if (count === 0 || isTokenExpired(key, now())) {
        unused.push(counter);
        continue;
      }
      usedCount += 1;
      if (counters.setUsage(key, period & periodMask, count) < 0) unplacedCount += 1;
    }
    if (unplacedCount > 0) {
      const needed = slotCountFor(usedCount);
      if (usedCount > counters.room && needed > counters.room) {
        throw fail('SETTINGS_INVALID', { reason: `${usedCount} budgets have been used in their periods, and GATEWAY_LIMIT_COUNTERS leaves room for ${counters.room} counters; set it to ${needed} at least` });
      }
      this.#services.onFault('counters at the start', new Error(`${unplacedCount} have no place; calls that count in them are refused`));
    }
    const unplaced = unused.filter(({ key, period }) => counters.setUsage(key, period & periodMask, 0) < 0);
    if (!isAlone()) return;
    for (let from = 0; from < unplaced.length; from += givenBackInBatch) await ledger.giveBack(unplaced.slice(from, from + givenBackInBatch));
  }

  /** Looks at once, and then again and again. Keeps no process alive. */
  start(): void {
    this.look().catch((thrown: unknown) => this.#services.onFault('a round', thrown));
    this.#plan();
  }

  #plan(): void {
    if (this.#isStopped) return;
    const waitMs = Math.max(1, Math.min(lookEveryMs, this.#dueAtMs - this.#services.now(), waitMsMax));
    this.#timer = setTimeout(() => {
      this.look().catch((thrown: unknown) => this.#services.onFault('a round', thrown)).finally(() => this.#plan());
    }, waitMs).unref();
  }

  /** Resolves when everything is in the ledger that was written before, and every row is obeyed that was committed before. */
  async look(): Promise<void> {
    if (this.#round === null) {
      this.#round = this.#look().finally(() => { this.#round = null; });
      return this.#round;
    }
    // The one that runs may have looked already: another one, for all who ask meanwhile.
    this.#next ??= this.#round.catch(() => undefined).then(() => {
      this.#next = null;
      this.#round = this.#look().finally(() => { this.#round = null; });
      return this.#round;
    });
    return this.#next;
  }

  /** The end of the process in good order: no thread writes any more. Calls that nobody settled are settled as those of the dead are. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#timer);
    try {
      await this.look();
      await this.#settleLeft((process) => process === this.#services.process);
      if (this.#differing.size > 0) await this.#services.ledger.tellCounters(this.#services.process, this.#services.now(), []);
    } finally {
      this.#closeFiles();
    }
  }

  /** Stops where it is: another thread goes on. */
  abandon(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#closeFiles();
  }

  async #look(): Promise<void> {
    if (!this.#isLoaded) {
      await this.#load();
      this.#findUntold();
    }
    this.#alerted.clear();
    this.#alertedInAll = 0;
    await this.#alertLater();
    await this.#putInAll();
    const isSetBack = this.#services.now() < this.#latestMs - setBackMs;
    if (isSetBack) this.#sweptAtMs = -Infinity;
    this.#latestMs = this.#services.now();
    // Ends of periods were computed by a clock that was ahead.
    const changed = isSetBack ? await this.#services.changedRows().then(() => null) : await this.#services.changedRows();
    const keys = changed === null ? [...this.#known.keys()] : [...changed].flatMap((row) => [...this.#byRow.get(row) ?? []]);
    for (const key of keys) await this.#know(key);
    if (isSetBack || this.#services.now() >= this.#dueAtMs) await this.#rollDue();
    if (this.#services.now() - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = this.#services.now();
    await this.#settleLeft((process) => process !== this.#services.process && !this.#services.isAlive(process));
    await this.#compareCounters();
    await this.#services.ledger.prune(this.#services.now() - ledgerDays * dayMs, blocksMax, prunedAtOnce);
    await this.#forgetIdle();
    await this.#giveBack();
  }

  /** Memory of counters that nobody needs: of which nothing is used in their period, or whose tokens have expired. Of others that are gone the row may come back, as that of a policy. */
  async #giveBack(): Promise<void> {
    const { ledger, counters, now, isAlone } = this.#services;
    // Another process has memory of its own.
    if (!isAlone()) return;
    await this.#readUnplaced();
    const open = await ledger.openCounters();
    const idle: Counter[] = [];
    for (let looked = 0; looked < lookedAtOnce && idle.length < givenBackAtOnce; looked += 1) {
      const { value, done } = this.#toGiveBack.next();
      if (done === true) {
        this.#toGiveBack = this.#known.entries();
        break;
      }
      const [key, { counter, sinceMs }] = value;
      if (sinceMs > now() - periodSettlesMs || open.has(key)) continue;
      const isIdle = isTokenExpired(key, now()) || (counters.usage(key)?.count === 0 && (await ledger.sum(key, counter.period)).amount === 0);
      if (isIdle) idle.push(counter);
    }
    for (let from = 0; from < idle.length; from += givenBackInBatch) {
      // First the rows: whoever begins in memory anew is then counted in another period, whenever this dies.
      for (const key of await ledger.giveBack(idle.slice(from, from + givenBackInBatch))) await this.#letGo(key);
    }
  }

  async #letGo(key: string): Promise<void> {
    const { ledger, counters, now } = this.#services;
    if (isTokenExpired(key, now())) counters.drop(key);
    else if (!counters.dropUnused(key)) {
      await ledger.takeBack(key, this.#known.get(key)?.counter.period ?? -1);
      return;
    }
    this.#placeLeft();
    this.#unknow(key);
  }

  #unknow(key: string): void {
    this.#known.delete(key);
    const row = rowOf(key);
    const keys = row === undefined ? undefined : this.#byRow.get(row);
    keys?.delete(key);
    if (row !== undefined && keys?.size === 0) this.#byRow.delete(row);
  }

  /** Those of owners that are gone leave with the last row of a call that tells of them. */
  async #forgetIdle(): Promise<void> {
    const { ledger, counters } = this.#services;
    const { after, removed } = await ledger.forgetIdle(this.#idleAfter, idleAtOnce, (key) => this.#services.isGone(key));
    this.#idleAfter = after;
    await this.#readUnplaced();
    for (const key of removed) {
      this.#unknow(key);
      counters.drop(key);
      this.#placeLeft();
    }
  }

  /** Every counter that there is, and its limit. */
  async #load(): Promise<void> {
    for await (const { key } of this.#services.ledger.counters()) await this.#know(key);
    const { ledger, process: own, startedAtMs = Infinity } = this.#services;
    for await (const { process, id, atMs, charges } of ledger.openCalls(null)) if (process !== own && atMs < startedAtMs) this.#heldOfOthers.set(`${process}/${id}`, charges);
    for (const key of this.#known.keys()) if (this.#services.counters.usage(key) === undefined) this.#unplaced.set(key, { period: 0, count: 0 });
    this.#isLoaded = true;
  }

  /** Before memory makes room: nobody may have it first, so what goes there is known then. */
  async #readUnplaced(): Promise<void> {
    const { ledger, counters } = this.#services;
    if (this.#unplaced.size === 0) return;
    const reserved = new Map<string, number>();
    for await (const { charges } of ledger.openCalls(null)) for (const { key, period, amount } of charges) if (this.#unplaced.has(key)) reserved.set(`${period}/${key}`, (reserved.get(`${period}/${key}`) ?? 0) + amount);
    for (const key of [...this.#unplaced.keys()]) {
      const period = this.#known.get(key)?.counter.period;
      if (period === undefined || counters.usage(key) !== undefined) this.#unplaced.delete(key);
      else this.#unplaced.set(key, { period, count: (await ledger.sum(key, period)).amount + (reserved.get(`${period}/${key}`) ?? 0) });
    }
  }

  #placeLeft(): void {
    for (const [key, { period, count }] of this.#unplaced) if (this.#services.counters.setUsage(key, period & periodMask, count) >= 0) this.#unplaced.delete(key);
  }

  /** Who died may have put in what calls used, and told nobody. */
  #findUntold(): void {
    for (const [key, { counter: { told }, owner }] of this.#known) {
      if (owner === undefined) continue;
      const used = this.#services.counters.usage(key)?.count ?? 0;
      const isUntold = (owner.threshold >= 0 && used >= owner.threshold && (told & toldThreshold) === 0) || (used >= owner.maximum && (told & toldExhausted) === 0);
      if (isUntold) this.#delayAlert(key, workspaceOf(owner));
    }
  }

  #delayAlert(key: string, workspace: string): void {
    const keys = this.#toAlert.get(workspace) ?? new Set();
    this.#toAlert.set(workspace, keys.add(key));
  }

  /** Those of the last looks; a workspace that had its turn is the last one in the next. */
  async #alertLater(): Promise<void> {
    for (const [workspace, keys] of [...this.#toAlert].slice(0, alertsMax)) {
      this.#toAlert.delete(workspace);
      const first: string[] = [];
      for (const key of keys) {
        if (first.length === alertsOfWorkspaceMax) break;
        first.push(key);
        keys.delete(key);
      }
      if (keys.size > 0) this.#toAlert.set(workspace, keys);
      for (const key of first) await this.#alert(key);
    }
  }

  #mayAlert(workspace: string): boolean {
    const count = this.#alerted.get(workspace) ?? 0;
    if (count >= alertsOfWorkspaceMax || this.#alertedInAll >= alertsMax) return false;
    this.#alerted.set(workspace, count + 1);
    this.#alertedInAll += 1;
    return true;
  }

  /** Begins a new period with zero, at once: what calls use from now on counts in it. */
  async reset(key: string, startMs: number): Promise<void> {
    await this.look();
    const counter = await this.#services.ledger.counter(key);
    if (counter === undefined || counter.isGivenBack === true) return;
    await this.#begin(counter, startMs);
    await this.#know(counter.key);
  }

  async #begin(counter: Counter, startMs: number): Promise<Counter | undefined> {
    const { ledger, counters } = this.#services;
    // Another process may have begun it; then it counts what that says.
    const begun = await ledger.begin(counter.key, counter.period, startMs) ?? await ledger.counter(counter.key);
    if (begun === undefined || begun.period === counter.period) return begun;
    const held = counters.usage(counter.key);
    if (held?.period !== (begun.period & periodMask)) counters.setUsage(counter.key, begun.period & periodMask, (await ledger.sum(counter.key, begun.period)).amount);
    return begun;
  }

  /** Looks at a counter and the row of its limit: a reset that was asked for, flags that hold no longer, the end of its period. */
  async #know(key: string): Promise<void> {
    const { ledger, counters, now } = this.#services;
    let counter = await ledger.counter(key);
    if (counter === undefined || counter.isGivenBack === true) return;
    const owner = await this.#services.owner(key);
    // Who began the period died before the next step, or it was another process.
    const held = counters.usage(key);
    if (held !== undefined && held.period !== (counter.period & periodMask)) counters.setUsage(key, counter.period & periodMask, (await ledger.sum(key, counter.period)).amount);
    if (owner !== undefined && owner.lastResetAtMs > counter.startMs) counter = await this.#begin(counter, owner.lastResetAtMs) ?? counter;
    if (owner !== undefined && counter.told !== 0) {
      const { amount } = await ledger.sum(key, counter.period);
      const told = (amount >= owner.threshold && owner.threshold >= 0 ? counter.told & toldThreshold : 0) | (amount >= owner.maximum ? counter.told & toldExhausted : 0);
      if (told !== counter.told) counter = await ledger.tell(key, counter.period, told) ?? counter;
    }
    const endMs = owner === undefined ? Infinity : periodAt(owner.rule, owner.level, Math.min(counter.startMs === 0 ? now() : counter.startMs, now()), owner.madeAtMs).endMs;
    const known = this.#known.get(counter.key);
    const sinceMs = known?.counter.period === counter.period ? Math.min(known.sinceMs, now()) : now();
    this.#known.set(counter.key, { counter, owner, endMs, sinceMs });
    if (endMs < this.#dueAtMs) this.#dueAtMs = endMs;
    const row = rowOf(counter.key);
    if (row === undefined) return;
    const keys = this.#byRow.get(row) ?? new Set();
    this.#byRow.set(row, keys.add(counter.key));
  }

  /** Periods that are over. */
  async #rollDue(): Promise<void> {
    const nowMs = this.#services.now();
    this.#dueAtMs = Infinity;
    for (const [key, { counter, owner, endMs }] of this.#known) {
      if (endMs > nowMs || owner === undefined) {
        if (endMs < this.#dueAtMs) this.#dueAtMs = endMs;
        continue;
      }
      await this.#begin(counter, periodAt(owner.rule, owner.level, nowMs, owner.madeAtMs).startMs);
      await this.#know(key);
    }
  }

  async #putInAll(): Promise<void> {
    if (this.#fed.length === 0) this.#fed = this.#services.takeFed?.() ?? [];
    if (this.#fed.length > 0) {
      await this.#put(this.#services.process, null, this.#fed);
      this.#fed = [];
    }
    if (this.#services.folder === null) return;
    const files = this.#files();
    for (const file of files) {
      if (file.process !== this.#services.process && this.#services.isAlive(file.process)) continue;
      try {
        await this.#putIn(file);
      } catch (thrown) {
        this.#forget(file.name);
        if (thrown instanceof PositionMoved) continue;
        // Of the store: none of the files can be put in.
        if (!(thrown instanceof JournalUnreadable)) throw thrown;
        this.#services.onFault(`journal ${file.name}`, thrown);
        if (file.process !== this.#services.process) await this.#putAside(file);
      }
    }
    // Removed files whose position is still there: whoever removed them died before the next step.
    if (this.#services.now() - this.#sweptAtMs < sweepEveryMs) return;
    const there = new Set(files.map(({ name }) => name));
    for (const name of await this.#services.ledger.positions()) {
      // Of one that lives its own keeper knows better.
      const process = journalPlaceOf(name)?.process ?? '';
      if (!there.has(name) && (process === this.#services.process || !this.#services.isAlive(process))) await this.#services.ledger.forgetPosition(name);
    }
  }

  /** What is not to be read holds up no other file; the operator may want to look at it. Everything of it that could be read is in. */
  async #putAside({ name }: File): Promise<void> {
    const path = join(this.#services.folder ?? '', name);
    try {
      renameSync(path, `${path}${damagedSuffix}`);
    } catch (thrown) {
      this.#services.onFault(`journal ${name}`, thrown);
      return;
    }
    await this.#services.ledger.forgetPosition(name);
  }

  /** In the order of their making, for each thread. */
  #files(): readonly File[] {
    let names: readonly string[];
    try {
      names = readdirSync(this.#services.folder ?? '');
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
      throw thrown;
    }
    return names.flatMap((name) => {
      const place = journalPlaceOf(name);
      return place === undefined ? [] : [{ ...place, name }];
    }).sort((left, right) => left.process.localeCompare(right.process) || left.thread - right.thread || left.sequence - right.sequence);
  }

  async #putIn(file: File): Promise<void> {
    const { ledger, folder } = this.#services;
    const path = join(folder ?? '', file.name);
    const isOwn = file.process === this.#services.process;
    let open = this.#open.get(file.name);
    if (open === undefined) {
      this.#open.set(file.name, open = { file: readable(() => openSync(path, 'r')), reader: new JournalReader(), isEnded: false });
      // The part that is in already has the names of the counters.
      const upTo = await ledger.positionOf(file.name);
      while (open.reader.position < upTo) {
        const from = open.reader.position;
        const { entries } = this.#read(open, upTo);
        open.isEnded ||= entries.some(({ kind }) => kind === 'end');
        if (open.reader.position === from) throw new JournalUnreadable('is shorter than what was read of it');
      }
    }
    for (;;) {
      const { from, entries } = this.#read(open, Infinity);
      if (open.reader.position === from) break;
      open.isEnded ||= entries.some(({ kind }) => kind === 'end');
      await this.#put(file.process, { name: file.name, from, to: open.reader.position }, entries);
    }
    // Nobody writes to it any more, and all of it is in.
    if (!open.isEnded && isOwn) return;
    if (!open.isEnded && isDamaged(open)) throw new JournalUnreadable(`is damaged from byte ${open.reader.position} on; what follows is not counted`);
    this.#forget(file.name);
    unlinkSync(path);
    await ledger.forgetPosition(file.name);
  }

  #read({ file, reader }: Open, upTo: number): { readonly from: number; readonly entries: readonly JournalEntry[] } {
    return readable(() => {
      const from = reader.position;
      const bytes = Math.min(readBytesMax, upTo - from, Math.max(0, fstatSync(file).size - from));
      if (bytes <= 0) return { from, entries: [] };
      const buffer = Buffer.allocUnsafe(bytes);
      const read = readSync(file, buffer, 0, bytes, from);
      return { from, entries: reader.read(buffer.subarray(0, read), entriesMax) };
    });
  }

  async #put(process: string, position: { readonly name: string; readonly from: number; readonly to: number } | null, entries: readonly JournalEntry[]): Promise<void> {
    const { seen, settled } = await this.#services.ledger.apply(process, position, entries);
    for (const key of seen) if (!this.#known.has(key)) await this.#know(key);
    // At the start the counters are set from the ledger afterwards.
    if (process !== this.#services.process && this.#isLoaded) {
      for (const entry of entries) {
        if (entry.kind !== 'settle') continue;
        for (const { counter, period, amount } of entry.charges) this.#addOfOther({ process, id: entry.callId }, counter.key, period, amount);
        this.#heldOfOthers.delete(`${process}/${entry.callId}`);
      }
    }
    for (const key of settled) await this.#alert(key);
  }

  /** Of another process this memory holds what its calls had reserved at the start of this one, and nothing that came later. */
  #addOfOther({ process, id }: Pick<OpenCall, 'process' | 'id'>, key: string, period: number, amount: number): void {
    const { counters } = this.#services;
    const held = this.#heldOfOthers.get(`${process}/${id}`) ?? [];
    const reserved = held.reduce((sum, charge) => (charge.key === key && (charge.period & periodMask) === (period & periodMask) ? sum + charge.amount : sum), 0);
    if (amount !== reserved) counters.settleUsage(counters.slot(key, 'usage'), period & periodMask, amount - reserved);
  }

  async #alert(key: string): Promise<void> {
    const known = this.#known.get(key);
    if (known?.owner === undefined) return;
    const { counter, owner, endMs } = known;
    const { ledger } = this.#services;
    if ((owner.threshold < 0 || (counter.told & toldThreshold) !== 0) && (owner.maximum === Infinity || (counter.told & toldExhausted) !== 0)) return;
    const { amount } = await ledger.sum(key, counter.period);
    const isDue = (owner.threshold >= 0 && amount >= owner.threshold && (counter.told & toldThreshold) === 0) || (amount >= owner.maximum && (counter.told & toldExhausted) === 0);
    if (!isDue) return;
    if (!this.#mayAlert(workspaceOf(owner))) {
      this.#delayAlert(key, workspaceOf(owner));
      return;
    }
    const resetsAtMs = endMs === Infinity ? null : endMs;
    let { told } = counter;
    const tell = async (flag: number, kind: Alert['kind']): Promise<void> => {
      if ((told & flag) !== 0) return;
      try {
        await this.#services.alert({ kind, counter, owner, used: amount, resetsAtMs });
        told |= flag;
      } catch (thrown) {
        // Not told: the next call that is settled tries again.
        this.#services.onFault('an alert', thrown);
      }
    };
    if (owner.threshold >= 0 && amount >= owner.threshold) await tell(toldThreshold, 'threshold');
    if (amount >= owner.maximum) await tell(toldExhausted, 'exhausted');
    if (told !== counter.told) known.counter = await ledger.tell(key, counter.period, told) ?? counter;
  }

  async #settleLeft(isLeft: (process: string) => boolean): Promise<void> {
    const { ledger, counters } = this.#services;
    const left: OpenCall[] = [];
    const dead = new Map<string, boolean>();
    for await (const call of ledger.openCalls(null)) {
      const isDead = dead.get(call.process) ?? isLeft(call.process);
      dead.set(call.process, isDead);
      if (isDead) left.push(call);
    }
    for (let from = 0; from < left.length; from += leftAtOnce) {
      const calls: LeftCall[] = [];
      for (const call of left.slice(from, from + leftAtOnce)) calls.push({ call, known: await this.#services.recorded?.(call).catch(() => undefined) ?? null });
      const keys = new Set<string>();
      for (const [call, settled] of await ledger.settleLeft(calls)) {
        for (const { key, period, amount } of settled) {
          keys.add(key);
          if (call.process !== this.#services.process) {
            this.#addOfOther(call, key, period, amount);
            continue;
          }
          const reserved = call.charges.filter((charge) => charge.key === key && charge.period === period).reduce((sum, charge) => sum + charge.amount, 0);
          if (amount !== reserved) counters.settleUsage(counters.slot(key, 'usage'), period & periodMask, amount - reserved);
        }
        this.#heldOfOthers.delete(`${call.process}/${call.id}`);
      }
      for (const key of keys) await this.#alert(key);
    }
  }

  /** Whether counters in memory hold what the ledger says, as far as nothing moves; what differs twice in a row is put down for `gateway ledger verify`. */
  async #compareCounters(): Promise<void> {
    const { ledger, counters, process, now } = this.#services;
    // Spending of another process is in the ledger, and not in this memory.
    if (this.#services.folder !== null && this.#files().some((file) => file.process !== process)) {
      this.#hadOthers = true;
      return;
    }
    const keys = [...this.#known.keys()].slice(0, comparedMax);
    const before = keys.map((key) => counters.usage(key));
    await this.#putInAll();
    const reserved = new Map<string, number>();
    for await (const { charges } of ledger.openCalls(null)) for (const { key, period, amount } of charges) reserved.set(`${period}/${key}`, (reserved.get(`${period}/${key}`) ?? 0) + amount);
    const found = new Map<string, CounterDifference>();
    for (const [index, key] of keys.entries()) {
      const counter = this.#known.get(key)?.counter;
      const [earlier, held] = [before[index], counters.usage(key)];
      if (counter === undefined || held === undefined || held.count !== earlier?.count || held.period !== earlier.period || held.period !== (counter.period & periodMask)) continue;
      const expected = (await ledger.sum(key, counter.period)).amount + (reserved.get(`${counter.period}/${key}`) ?? 0);
      if (expected !== held.count && counters.usage(key)?.count === held.count) found.set(key, { counter: key, period: counter.period, expected, held: held.count });
    }
    const lasting = [...found.values()].filter(({ counter, expected, held }) => {
      const last = this.#differing.get(counter);
      return last !== undefined && last.held - last.expected === held - expected;
    });
    if (this.#hadOthers) {
      for (const { counter, period, expected, held } of lasting) if (expected > held) counters.settleUsage(counters.slot(counter, 'usage'), period & periodMask, expected - held);
    }
    if (lasting.length > 0 || this.#differing.size > 0) await ledger.tellCounters(process, now(), lasting);
    this.#differing = found;
  }

  #forget(name: string): void {
    const open = this.#open.get(name);
    if (open !== undefined) closeSync(open.file);
    this.#open.delete(name);
  }

  #closeFiles(): void {
    for (const name of [...this.#open.keys()]) this.#forget(name);
  }

  /** Of a counter: when its period began and ends; undefined: nothing has been counted yet, or it has no end. */
  periodOf(key: string): { readonly startMs: number; readonly endMs: number } | undefined {
    const known = this.#known.get(key);
    return known === undefined ? undefined : { startMs: known.counter.startMs, endMs: known.endMs };
  }
}
