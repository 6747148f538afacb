// Hot: runs for each call that is limited.
// Counters of all limits for all threads, in one piece of shared memory. A counter is looked up once in each thread; a call then passes it by
// number. Tag (window or period) and count are one 64-bit word, so that a count is never added to what it was not read from. Its low half holds the
// end of both: a count that changes within it takes a 32-bit exchange, which costs a tenth of one of the whole word, as everything else takes. No call
// waits for another. Only who puts a new counter into the table holds a lock, which others take over when its holder has died.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { RateUnit } from '../snapshot/limit-specs.js';
import { lengthOf, windowAt } from './windows.js';

// A slot: four 64-bit words, so that two are in a cache line.
//   0  owner  generation (11 bits) and 53 bits of the key's hash; 0 = never used; without a hash it is free
//   1  value  tag and count: 24 and 40 bits for a rate, whose tag is the number of its window; 12 and 52 bits for usage, whose tag is its period.
//             In the low half the last 8 bits of the tag and the last 24 of the count, in the high half the rest of both.
//   2  kind   of the counter (low half), and whether it is stated or invented (high half)
//   3  payer  hash of the share that it is charged to; 0: none
// The generation grows when a slot goes to another key: who holds the number of an earlier one is told that the counter is lost, and looks it up again.
const slotWords = 4;
const slotBytes = slotWords * 8;
const headerBytes = 64;
const headerShorts = headerBytes / 4;
/** Places that a key may have. With 80 of 100 slots in use, one key in a million finds none. */
const probesMax = 64;
const slotCountMin = 1_024;
export const slotCountMax = 1_048_576;
const generationBits = 11;
const generationMask = (1 << generationBits) - 1;
/** Of a number that a caller holds: beside the index it has room for so many. */
const heldGenerationMask = (1 << 10) - 1;
const hashBits = 53n;
const hashMask = (1n << hashBits) - 1n;
/** Bits of the low half that belong to the count. */
const lowerBits = 24;
const lowerRange = 2 ** lowerBits;
/** And to the tag. */
const tagBits = 8;
/** Bits of the high half that belong to the count. */
const upperBitsOfRate = 16;
const upperBitsOfUsage = 28;
/** A counter that has come to it goes no further. */
const countMaxOfRate = 2 ** 40 - 1;
const countMaxOfUsage = 2 ** 52 - 1;
/** Windows and periods are told apart modulo these: of windows by the second, half a year. */
const windowMask = (1 << 24) - 1;
export const periodMask = (1 << 12) - 1;

const lockWord = 0;
const usedWord = 1;
const liveWord = 2;
const inventedWord = 3;
/**
 * Who pays may have so many times what is left of a part of the table: whoever comes next finds some, however many came before. What clients may invent (values of policies,
 * tokens) has a part of its own, so that what rows state always has the rest. The first few of each payer (`sure`) may go further into the table.
 */
const parts = Object.freeze({
  stated: Object.freeze({ filledMax: 0.8, sureMax: 0.86, factor: 1 }),
  invented: Object.freeze({ filledMax: 0.6, sureMax: 0.7, factor: 0.5 }),
});
/** The size of a table that has room for so many. */
export const slotCountFor = (counterCount: number): number => Math.min(slotCountMax, Math.max(slotCountMin, 2 ** Math.ceil(Math.log2(counterCount / parts.stated.filledMax))));
/** Of the table. */
const sureShare = 1 / 1_024;
const sureMin = 8;
const [unpaid, stated, invented] = [0, 1, 2];
/**
 * A new counter waits so often for a thread that puts in another; then that thread has died. Waits are counted, and not the time: a process that is held up as a whole (by
 * its share of the processor, or a signal) comes back to a holder that was only about to go on.
 */
const lockWaitsMax = 1_000;
const lockWaitMs = 1;
const lockSpins = 200;

const unitsByKind: readonly RateUnit[] = ['rps', 'rpm', 'rph', 'rpd', 'rpw'];
const usageKind = unitsByKind.length;
/** Not a counter: how many of them a payer has. */
const shareKind = usageKind + 1;
export type CounterKind = RateUnit | 'usage';

/** In place of a slot: every place that the key may have is taken by a counter that is in use. */
export const noRoom = -2;
/** In place of an amount: the limit leaves less than is needed. */
export const refused = -1;
/** In place of an amount: the slot belongs to another key by now; look it up again. */
export const lost = -2;

export interface CounterEntry {
  /** Of the key. */
  readonly hash: number;
  readonly kind: CounterKind;
  readonly tag: number;
  readonly count: number;
  /** Hash of the share that it is charged to; 0: none. */
  readonly payer: number;
  readonly isInvented: boolean;
}

const [low, high] = endianness() === 'LE' ? [0, 1] : [1, 0];

export class Counters {
  readonly #long: BigInt64Array;
  readonly #short: Int32Array;
  readonly slotCount: number;
  readonly #indexBits: number;
  readonly #indexMask: number;
  /** Of the last `take`: what stood there before it, and its window or period, to be given back with. */
  countBefore = 0;
  tag = 0;
  /** The value that was read last. */
  #head = 0;
  #tail = 0;

  constructor(buffer: SharedArrayBuffer, readonly now: () => number = Date.now) {
    this.slotCount = (buffer.byteLength - headerBytes) / slotBytes;
    assertSlotCount(this.slotCount);
    this.#short = new Int32Array(buffer);
    this.#long = new BigInt64Array(buffer);
    this.#indexBits = Math.log2(this.slotCount);
    this.#indexMask = this.slotCount - 1;
  }

  /** `slotCount` is rounded up to a power of two. Memory that no counter is in costs nothing. */
  static allocate(slotCount = 262_144): SharedArrayBuffer {
    const rounded = 2 ** Math.ceil(Math.log2(Math.max(slotCount, slotCountMin)));
    assertSlotCount(rounded);
    return new SharedArrayBuffer(headerBytes + rounded * slotBytes);
  }

  /** Slots that have ever been in use. */
  get used(): number {
    return Atomics.load(this.#short, usedWord);
  }

  /** Counters that the table may come to hold. */
  get room(): number {
    return Math.floor(this.slotCount * parts.stated.sureMax);
  }

  /** Slots that are in use now. */
  get live(): number {
    return Atomics.load(this.#short, liveWord);
  }

  /**
   * The slot of `key`, equal in every thread; made when there is none, for whoever pays (a workspace; empty: nobody has to). `isInvented`: clients may bring as many as they
   * like. `noRoom` when there is no place for it, or none that the payer may have.
   */
  slot(key: string, kind: CounterKind, payer = '', isInvented = false): number {
    const hash = hashOf(key);
    const found = this.#find(hash);
    if (found >= 0) return found;
    return this.#slotOf(hash, kindNumber(kind), payer === '' ? 0n : shareOf(payer, isInvented), isInvented, true);
  }

  /** As `slot`, but -1 when there is none. */
  find(key: string): number {
    return this.#find(hashOf(key));
  }

  /**
   * Takes `wanted` of what a limit leaves in the window of `nowMs`, or as much as is left when that is `needed` at least: what it took, `refused` or `lost`.
   * `lengthMs`: of the window. Nothing of 0 is ever refused.
   */
  takeRate(slot: number, lengthMs: number, wanted: number, needed: number, maximum: number, nowMs: number): number {
    const window = windowAt(lengthMs, nowMs) & windowMask;
    const index = slot & this.#indexMask;
    if (!this.#wasHeld(slot, index)) return lost;
    const word = valueWord(index);
    // Ends: each failed exchange means that another thread's went through.
    for (;;) {
      this.#read(word);
      const tag = tagOf(this.#head, this.#tail, upperBitsOfRate);
      const isCurrent = isWindow(tag, window);
      const count = isCurrent ? countOf(this.#head, this.#tail, upperBitsOfRate) : 0;
      this.countBefore = count;
      this.tag = isCurrent ? tag : window;
      const left = maximum - count;
      if (left < needed) return this.#isHeld(slot, index) ? refused : lost;
      const amount = Math.min(wanted, left, countMaxOfRate - count);
      // What is not of this window may be another key's by now.
      if (!isCurrent && !this.#isHeld(slot, index)) return lost;
      if (!(isCurrent && this.#add(word, amount)) && !this.#change(word, upperBitsOfRate, this.tag, count + amount)) continue;
      if (this.#isHeld(slot, index)) return amount;
      this.settleRate(slot, lengthMs, this.tag, -amount, nowMs, true);
      return lost;
    }
  }

  /**
   * Corrects what was taken in the window `tag`. Less goes back to that window alone, since in another one it would let through what was never taken there; more
   * counts in the window of now, however long ago that was. False: the slot belongs to another key by now, and what is more is not counted.
   */
  settleRate(slot: number, lengthMs: number, tag: number, change: number, nowMs: number, isLost = false): boolean {
    const index = slot & this.#indexMask;
    if (change === 0) return true;
    if (!isLost && !this.#wasHeld(slot, index) && !this.#isHeldAfterAll(slot, index)) return change < 0;
    const word = valueWord(index);
    const window = change < 0 ? tag : windowAt(lengthMs, nowMs) & windowMask;
    for (;;) {
      this.#read(word);
      const before = tagOf(this.#head, this.#tail, upperBitsOfRate);
      if (change < 0 && before !== tag) return true;
      const isCurrent = isWindow(before, window);
      if (isCurrent && this.#add(word, change)) return change < 0 || this.#isCounted(slot, lengthMs, before, change, nowMs);
      if (!isCurrent && !isLost && !this.#isHeld(slot, index)) return false;
      const count = (isCurrent ? countOf(this.#head, this.#tail, upperBitsOfRate) : 0) + change;
      const after = isCurrent ? before : window;
      if (this.#change(word, upperBitsOfRate, after, Math.min(countMaxOfRate, Math.max(0, count)))) return change < 0 || this.#isCounted(slot, lengthMs, after, change, nowMs);
    }
  }

  /** False: what was added went to another key, and is taken back. */
  #isCounted(slot: number, lengthMs: number, tag: number, amount: number, nowMs: number): boolean {
    if (this.#isHeld(slot, slot & this.#indexMask)) return true;
    this.settleRate(slot, lengthMs, tag, -amount, nowMs, true);
    return false;
  }

  /** As takeRate, for usage: in whatever period the counter is. */
  takeUsage(slot: number, wanted: number, needed: number, maximum: number): number {
    const index = slot & this.#indexMask;
    if (!this.#wasHeld(slot, index)) return lost;
    const word = valueWord(index);
    for (;;) {
      this.#read(word);
      const count = countOf(this.#head, this.#tail, upperBitsOfUsage);
      this.countBefore = count;
      this.tag = tagOf(this.#head, this.#tail, upperBitsOfUsage);
      const left = maximum - count;
      if (left < needed) return this.#isHeld(slot, index) ? refused : lost;
      const amount = Math.min(wanted, left, countMaxOfUsage - count);
      if (!this.#add(word, amount) && !this.#change(word, upperBitsOfUsage, this.tag, count + amount)) continue;
      if (this.#isHeld(slot, index)) return amount;
      this.settleUsage(slot, this.tag, -amount, true);
      return lost;
    }
  }

  /** Corrects what was taken in the period `tag`; once another one has begun, nothing. */
  settleUsage(slot: number, tag: number, change: number, isLost = false): void {
    const index = slot & this.#indexMask;
    if (change === 0 || (!isLost && !this.#wasHeld(slot, index) && !this.#isHeldAfterAll(slot, index))) return;
    const word = valueWord(index);
    for (;;) {
      this.#read(word);
      if (tagOf(this.#head, this.#tail, upperBitsOfUsage) !== tag || this.#add(word, change)) return;
      const count = countOf(this.#head, this.#tail, upperBitsOfUsage) + change;
      if (this.#change(word, upperBitsOfUsage, tag, Math.min(countMaxOfUsage, Math.max(0, count)))) return;
    }
  }

  /** Begins a period (any number; counted modulo 4,096) with `count`, or corrects the running one. Returns what stood there; `noRoom` when there is no place. */
  setUsage(key: string, period: number, count: number): number {
    const slot = this.slot(key, 'usage');
    if (slot === noRoom) return noRoom;
    const word = valueWord(slot & this.#indexMask);
    const to = Math.min(countMaxOfUsage, Math.max(0, count));
    for (;;) {
      this.#read(word);
      const before = countOf(this.#head, this.#tail, upperBitsOfUsage);
      if (this.#change(word, upperBitsOfUsage, period & periodMask, to)) return before;
    }
  }

  /** The sum that is used, reservations included; undefined when nothing has been counted yet. */
  usage(key: string): { readonly period: number; readonly count: number } | undefined {
    const slot = this.find(key);
    if (slot < 0) return undefined;
    this.#read(valueWord(slot & this.#indexMask));
    return { period: tagOf(this.#head, this.#tail, upperBitsOfUsage), count: countOf(this.#head, this.#tail, upperBitsOfUsage) };
  }

  /** The count in the window of now. */
  rate(key: string, unit: RateUnit): number {
    const slot = this.find(key);
    if (slot < 0) return 0;
    this.#read(valueWord(slot & this.#indexMask));
    const tag = tagOf(this.#head, this.#tail, upperBitsOfRate);
    return isWindow(tag, windowAt(lengthOf[unit], this.now()) & windowMask) ? countOf(this.#head, this.#tail, upperBitsOfRate) : 0;
  }

  /** Usage of something that is no more. */
  drop(key: string): void {
    const hash = hashOf(key);
    const mine = this.#lock();
    try {
      const slot = this.#find(hash);
      if (slot >= 0) this.#release(slot & this.#indexMask);
    } finally {
      this.#unlock(mine);
    }
  }

  /** As `drop`, where nothing is used; false: something is. Who takes of it meanwhile is told that it is lost. */
  dropUnused(key: string): boolean {
    const hash = hashOf(key);
    const mine = this.#lock();
    try {
      const slot = this.#find(hash);
      if (slot < 0) return true;
      const index = slot & this.#indexMask;
      return this.#releaseIf(index, () => {
        this.#read(valueWord(index));
        return countOf(this.#head, this.#tail, upperBitsOfUsage) === 0;
      });
    } finally {
      this.#unlock(mine);
    }
  }

  /** Gives back the slots from `from` to `to` of rates whose windows are over. */
  sweep(from = 0, to = this.slotCount): void {
    const nowMs = this.now();
    for (let index = from; index < to; index += 1) {
      if (!this.#isIdle(index, nowMs)) continue;
      const mine = this.#lock();
      try {
        if (this.#isIdle(index, nowMs)) this.#releaseIf(index, () => this.#isValueIdle(index, nowMs));
      } finally {
        this.#unlock(mine);
      }
    }
  }

  #isIdle(index: number, nowMs: number): boolean {
    if (Atomics.load(this.#short, (index * slotWords) * 2 + headerShorts + low) === 0) return false;
    if ((Atomics.load(this.#long, index * slotWords + headerLongs) & hashMask) === 0n) return false;
    return this.#isValueIdle(index, nowMs);
  }

  #isValueIdle(index: number, nowMs: number): boolean {
    if (Atomics.load(this.#short, kindWord(index)) === shareKind) return Atomics.load(this.#long, valueWord(index) >> 1) === 0n;
    return this.#isOver(index, nowMs);
  }

  /** Counters in slots `from` to `to`; of rates, those whose window is not over. */
  entries(from = 0, to = this.slotCount): CounterEntry[] {
    const found: CounterEntry[] = [];
    const nowMs = this.now();
    for (let index = from; index < to; index += 1) {
      // Most are empty, and a whole owner is an object.
      if (Atomics.load(this.#short, (index * slotWords) * 2 + headerShorts + low) === 0) continue;
      const owner = Atomics.load(this.#long, index * slotWords + headerLongs);
      if ((owner & hashMask) === 0n) continue;
      const kind = Atomics.load(this.#short, kindWord(index));
      if (kind === shareKind) continue;
      this.#read(valueWord(index));
      const unit = unitsByKind[kind];
      const hash = Number(owner & hashMask);
      const upperBits = unit === undefined ? upperBitsOfUsage : upperBitsOfRate;
      const tag = tagOf(this.#head, this.#tail, upperBits);
      const count = countOf(this.#head, this.#tail, upperBits);
      const payer = Number(Atomics.load(this.#long, payerWord(index)) & hashMask);
      const isInvented = Atomics.load(this.#short, originWord(index)) === invented;
      if (unit === undefined) found.push({ hash, kind: 'usage', tag, count, payer, isInvented });
      else if (isWindow(tag, windowAt(lengthOf[unit], nowMs) & windowMask)) found.push({ hash, kind: unit, tag, count, payer, isInvented });
    }
    return found;
  }

  /** Puts in what `entries` gave. A rate whose window is over is left out, and so is what has counted on since. False: there is no place. */
  restore({ hash, kind, tag, count, payer, isInvented }: CounterEntry): boolean {
    if (kind !== 'usage' && !isWindow(tag, windowAt(lengthOf[kind], this.now()) & windowMask)) return true;
    const slot = this.#slotOf(BigInt(hash), kindNumber(kind), BigInt(payer), isInvented, false);
    if (slot === noRoom) return false;
    const word = valueWord(slot & this.#indexMask);
    this.#read(word);
    const upperBits = kind === 'usage' ? upperBitsOfUsage : upperBitsOfRate;
    // Of two that were kept the larger one counts.
    if (count > countOf(this.#head, this.#tail, upperBits)) this.#change(word, upperBits, tag, count);
    return true;
  }

  /** Says who pays for a counter that is there already, and that nobody pays for yet. */
  charge({ hash, payer, isInvented }: Pick<CounterEntry, 'hash' | 'payer' | 'isInvented'>): void {
    const mine = this.#lock();
    try {
      const slot = this.#find(BigInt(hash));
      const index = slot & this.#indexMask;
      if (slot >= 0 && payer !== 0 && Atomics.load(this.#long, payerWord(index)) === 0n) this.#charge(index, BigInt(payer), isInvented);
    } finally {
      this.#unlock(mine);
    }
  }

  /** -1 when there is none. */
  #find(hash: bigint): number {
    const { start, step } = placesOf(hash);
    for (let probe = 0; probe < probesMax; probe += 1) {
      const index = (start + probe * step) & this.#indexMask;
      const owner = Atomics.load(this.#long, index * slotWords + headerLongs);
      if ((owner & hashMask) === hash) return this.#handle(index, owner);
      // Never used, so nothing was put in behind it.
      if (owner === 0n) return -1;
    }
    return -1;
  }

  #slotOf(hash: bigint, kind: number, payer: bigint, isInvented: boolean, isBounded: boolean): number {
    const mine = this.#lock();
    try {
      const found = this.#find(hash);
      if (found >= 0) return found;
      if (isBounded && payer !== 0n && !this.#mayHave(payer, isInvented)) return noRoom;
      const slot = this.#put(hash, kind);
      if (slot !== noRoom && payer !== 0n) this.#charge(slot & this.#indexMask, payer, isInvented);
      return slot;
    } finally {
      this.#unlock(mine);
    }
  }

  /** Whether who pays may have one more. */
  #mayHave(payer: bigint, isInvented: boolean): boolean {
    const share = this.#find(payer);
    const held = share < 0 ? 0 : this.#heldOf(share & this.#indexMask);
    const { slotCount, live } = this;
    const ofAll = parts.stated;
    const isSure = held < Math.max(sureMin, slotCount * sureShare) && live < slotCount * ofAll.sureMax;
    const left = slotCount * ofAll.filledMax - live;
    if (!isInvented) return isSure || held < left * ofAll.factor;
    const { filledMax, sureMax, factor } = parts.invented;
    const inventedCount = Atomics.load(this.#short, inventedWord);
    return (isSure && inventedCount < slotCount * sureMax) || held < Math.min(left, slotCount * filledMax - inventedCount) * factor;
  }

  /** With the lock held. */
  #charge(index: number, payer: bigint, isInvented: boolean): void {
    const found = this.#find(payer);
    const share = found >= 0 ? found : this.#put(payer, shareKind);
    if (share === noRoom) return;
    this.#setHeld(share & this.#indexMask, 1);
    Atomics.store(this.#long, payerWord(index), payer);
    Atomics.store(this.#short, originWord(index), isInvented ? invented : stated);
    if (isInvented) Atomics.add(this.#short, inventedWord, 1);
  }

  /** With the lock held. The slot is free afterwards. */
  #release(index: number): void {
    const word = index * slotWords + headerLongs;
    Atomics.store(this.#long, word, freedOf(Atomics.load(this.#long, word)));
    this.#unpay(index);
  }

  /**
   * With the lock held. Who takes from the counter, without a lock, looks at the owner afterwards: who took before the owner was taken away is seen here, and everybody else
   * finds that the counter is lost, and gives back. False: it is in use after all, and stays.
   */
  #releaseIf(index: number, isFree: () => boolean): boolean {
    if (!isFree()) return false;
    const word = index * slotWords + headerLongs;
    const owner = Atomics.load(this.#long, word);
    Atomics.store(this.#long, word, freedOf(owner));
    if (!isFree()) {
      Atomics.store(this.#long, word, owner);
      return false;
    }
    this.#unpay(index);
    return true;
  }

  #unpay(index: number): void {
    Atomics.sub(this.#short, liveWord, 1);
    if (Atomics.exchange(this.#short, originWord(index), unpaid) === invented) Atomics.sub(this.#short, inventedWord, 1);
    const payer = Atomics.exchange(this.#long, payerWord(index), 0n);
    const share = payer === 0n ? noRoom : this.#find(payer);
    if (share >= 0) this.#setHeld(share & this.#indexMask, -1);
  }

  #heldOf(index: number): number {
    return Number(Atomics.load(this.#long, valueWord(index) >> 1));
  }

  #setHeld(index: number, change: number): void {
    Atomics.store(this.#long, valueWord(index) >> 1, BigInt(Math.max(0, this.#heldOf(index) + change)));
  }

  /** With the lock held. */
  #put(hash: bigint, kind: number): number {
    const { start, step } = placesOf(hash);
    const nowMs = this.now();
    for (let probe = 0; probe < probesMax; probe += 1) {
      const index = (start + probe * step) & this.#indexMask;
      const word = index * slotWords + headerLongs;
      const owner = Atomics.load(this.#long, word);
      if ((owner & hashMask) !== 0n && !this.#releaseIf(index, () => this.#isOver(index, nowMs))) continue;
      const generation = owner === 0n ? 0 : generationOf(Atomics.load(this.#long, word));
      if (owner === 0n) Atomics.add(this.#short, usedWord, 1);
      Atomics.add(this.#short, liveWord, 1);
      this.#begin(index, kind, nowMs);
      Atomics.store(this.#short, kindWord(index), kind);
      Atomics.store(this.#short, originWord(index), unpaid);
      Atomics.store(this.#long, payerWord(index), 0n);
      const mine = ownerOf(generation, hash);
      Atomics.store(this.#long, word, mine);
      return this.#handle(index, mine);
    }
    return noRoom;
  }

  /** With the lock held. A rate begins in the window of now: one that is over would be another key's to take. */
  #begin(index: number, kind: number, nowMs: number): void {
    const word = valueWord(index);
    const unit = unitsByKind[kind];
    if (unit === undefined) {
      Atomics.store(this.#long, word >> 1, 0n);
      return;
    }
    const window = windowAt(lengthOf[unit], nowMs) & windowMask;
    const isSameKind = Atomics.load(this.#short, kindWord(index)) === kind;
    for (;;) {
      this.#read(word);
      const tag = tagOf(this.#head, this.#tail, upperBitsOfRate);
      // Whoever has taken from the counter that was here before is about to give it back.
      const isUnderWay = isSameKind && isWindow(tag, window);
      if (this.#change(word, upperBitsOfRate, isUnderWay ? tag : window, isUnderWay ? countOf(this.#head, this.#tail, upperBitsOfRate) : 0)) return;
    }
  }

  /** A rate whose window, and the one after it, are over: nobody misses it. */
  #isOver(index: number, nowMs: number): boolean {
    const unit = unitsByKind[Atomics.load(this.#short, kindWord(index))];
    if (unit === undefined) return false;
    this.#read(valueWord(index));
    const tag = tagOf(this.#head, this.#tail, upperBitsOfRate);
    const distance = (windowAt(lengthOf[unit], nowMs) - tag) & windowMask;
    return distance > 1 && distance < windowMask - 1;
  }

  /** The value to unlock with. */
  #lock(): number {
    const mine = (this.now() & 0x7fff_ffff) | 1;
    let holder = 0;
    let waits = 0;
    for (let spins = 0; ; spins += 1) {
      const before = holder;
      holder = Atomics.compareExchange(this.#short, lockWord, 0, mine);
      if (holder === 0) return mine;
      if (spins < lockSpins) continue;
      if (holder !== before) waits = 0;
      if (Atomics.wait(this.#short, lockWord, holder, lockWaitMs) === 'timed-out') waits += 1;
      if (waits >= lockWaitsMax && Atomics.compareExchange(this.#short, lockWord, holder, mine) === holder) return mine;
    }
  }

  #unlock(mine: number): void {
    Atomics.compareExchange(this.#short, lockWord, mine, 0);
    Atomics.notify(this.#short, lockWord);
  }

  /** Both halves of a value, of one moment. */
  #read(word: number): void {
    do {
      this.#head = Atomics.load(this.#short, word + high);
      this.#tail = Atomics.load(this.#short, word + low);
    } while (Atomics.load(this.#short, word + high) !== this.#head);
  }

  /** Adds to what was read, within its low half; false: it does not fit there, or something else stands there by now. */
  #add(word: number, amount: number): boolean {
    const tail = this.#tail;
    const end = (tail & (lowerRange - 1)) + amount;
    return end >= 0 && end < lowerRange && Atomics.compareExchange(this.#short, word + low, tail, tail + amount | 0) === tail;
  }

  /** Puts tag and count in the place of what was read; false: something else stands there by now. */
  #change(word: number, upperBits: number, tag: number, count: number): boolean {
    const before = wholeOf(this.#head, this.#tail);
    return Atomics.compareExchange(this.#long, word >> 1, before, wholeOf(highOf(upperBits, tag, count), lowOf(tag, count))) === before;
  }

  /** The slot has not gone to another key. */
  #isHeld(slot: number, index: number): boolean {
    return ((Atomics.load(this.#short, index * slotWords * 2 + headerShorts + high) >>> (32 - generationBits)) & heldGenerationMask) === slot >>> this.#indexBits;
  }

  /** As `isHeld`, a moment ago, for a fraction of the time. Who takes looks again afterwards. */
  #wasHeld(slot: number, index: number): boolean {
    return (((this.#short[index * slotWords * 2 + headerShorts + high] ?? 0) >>> (32 - generationBits)) & heldGenerationMask) === slot >>> this.#indexBits;
  }

  /** Whoever drops a counter may find that it is used, and put it back. */
  #isHeldAfterAll(slot: number, index: number): boolean {
    const mine = this.#lock();
    try {
      return this.#isHeld(slot, index);
    } finally {
      this.#unlock(mine);
    }
  }

  #handle(index: number, owner: bigint): number {
    return ((generationOf(owner) & heldGenerationMask) << this.#indexBits) | index;
  }
}

const headerLongs = headerBytes / 8;

/** Of 32-bit words. */
const valueWord = (index: number): number => (index * slotWords + 1) * 2 + headerShorts;
const kindWord = (index: number): number => (index * slotWords + 2) * 2 + headerShorts;
const originWord = (index: number): number => kindWord(index) + 1;
/** Of 64-bit words. */
const payerWord = (index: number): number => index * slotWords + 3 + headerLongs;

/** The window of now. One ahead of it is as well: another thread read the clock later. */
const isWindow = (tag: number, window: number): boolean => tag === window || ((tag - window) & windowMask) === 1;

const generationOf = (owner: bigint): number => Number(BigInt.asUintN(64, owner) >> hashBits);
const ownerOf = (generation: number, hash: bigint): bigint => BigInt.asIntN(64, (BigInt(generation) << hashBits) | hash);
/** Never 0, however often the slot went from hand to hand: counters were put in behind it. */
const freedOf = (owner: bigint): bigint => ownerOf(((generationOf(owner) + 1) & generationMask) || 1, 0n);

/** Of a value by its halves. */
const tagOf = (head: number, tail: number, upperBits: number): number => ((head >>> upperBits) << tagBits) | (tail >>> lowerBits);
const countOf = (head: number, tail: number, upperBits: number): number => (head & ((1 << upperBits) - 1)) * lowerRange + (tail & (lowerRange - 1));
const highOf = (upperBits: number, tag: number, count: number): number => ((tag >>> tagBits) << upperBits) | Math.floor(count / lowerRange);
const lowOf = (tag: number, count: number): number => (tag << lowerBits) | (count % lowerRange);
const wholeOf = (head: number, tail: number): bigint => (BigInt(head) << 32n) | BigInt(tail >>> 0);

function kindNumber(kind: CounterKind): number {
  return kind === 'usage' ? usageKind : unitsByKind.indexOf(kind);
}

/** Never 0. */
function hashOf(key: string): bigint {
  return (createHash('sha256').update(key).digest().readBigUInt64LE(0) & hashMask) | 1n;
}

const shareOf = (payer: string, isInvented: boolean): bigint => hashOf(`share/${isInvented ? 'invented' : 'stated'}/${payer}`);

/** The step is odd, so that it comes to every slot. */
const placesOf = (hash: bigint): { readonly start: number; readonly step: number } => ({ start: Number(hash & 0xffff_ffffn) >>> 1, step: Number(hash >> 32n) | 1 });

function assertSlotCount(slotCount: number): void {
  assert(slotCount >= slotCountMin && slotCount <= slotCountMax && Number.isInteger(Math.log2(slotCount)), `the number of slots must be a power of two from ${slotCountMin} to ${slotCountMax}`);
}
