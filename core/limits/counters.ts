// Hot: runs for each call that is limited.
// Counters of all limits for all threads, in one piece of shared memory. A counter is looked up once in each thread; a call then passes it by
// number. Tag (window or period) and count are one 64-bit word, so that a count is never added to what it was not read from: a count that
// goes up in place takes a 32-bit exchange of its low half, everything else one of the whole word. No call waits for another. Only who puts a
// new counter into the table holds a lock, which others take over when its holder has died.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { RateUnit } from '../snapshot/limit-specs.js';
import { lengthOf, windowAt } from './windows.js';

// A slot: four 64-bit words (the fourth only pads, for two slots to a cache line).
//   0  owner  generation (11 bits) and 53 bits of the key's hash; 0 = never used; without a hash it is free
//   1  value  tag and count: 24 and 40 bits for a rate, whose tag is the number of its window; 12 and 52 bits for usage, whose tag is its period
//   2  kind   of the counter (8 bits)
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
const halfMax = 0xffff_ffff;
const half = 0x1_0000_0000;

/** Bits of the high half that belong to the count. */
const upperBitsOfRate = 8;
const upperBitsOfUsage = 20;
/** A counter that has come to it goes no further. */
const countMaxOfRate = 2 ** 40 - 1;
export const countMaxOfUsage = 2 ** 52 - 1;
/** Windows and periods are told apart modulo these: of windows by the second, half a year. */
const windowMask = (1 << 24) - 1;
export const periodMask = (1 << 12) - 1;

const lockWord = 0;
const usedWord = 1;
/** A new counter waits so long for a thread that puts in another; then that thread has died. */
const lockMsMax = 100;
const lockSpins = 200;

const unitsByKind: readonly RateUnit[] = ['rps', 'rpm', 'rph', 'rpd', 'rpw'];
const usageKind = unitsByKind.length;
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

  /** The slot of `key`, equal in every thread; made when there is none. `noRoom` when there is no place for it. */
  slot(key: string, kind: CounterKind): number {
    return this.#slotOf(hashOf(key), kindNumber(kind));
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
    if (!this.#isHeld(slot, index)) return lost;
    const word = valueWord(index);
    // Ends: each failed exchange means that another thread's went through.
    for (;;) {
      const head = Atomics.load(this.#short, word + high);
      const tail = Atomics.load(this.#short, word + low);
      const tag = head >>> upperBitsOfRate;
      const isCurrent = isWindow(tag, window);
      const count = isCurrent ? (head & 0xff) * half + (tail >>> 0) : 0;
      this.countBefore = count;
      this.tag = isCurrent ? tag : window;
      const left = maximum - count;
      if (left < needed) return refused;
      const amount = Math.min(wanted, left, countMaxOfRate - count);
      if (isCurrent && (tail >>> 0) + amount <= halfMax) {
        // Whatever else has become of the word meanwhile, what is added stands on this very count.
        if (Atomics.compareExchange(this.#short, word + low, tail, (tail >>> 0) + amount | 0) !== tail) continue;
      } else {
        const state = Atomics.load(this.#long, word >> 1);
        const before = Number(BigInt.asUintN(64, state) >> 40n);
        const isSame = isCurrent ? before === tag && Number(state & countMaskOfRate) === count : !isWindow(before, window);
        if (!isSame || Atomics.compareExchange(this.#long, word >> 1, state, packRate(this.tag, count + amount)) !== state) continue;
      }
      if (this.#isHeld(slot, index)) return amount;
      this.settleRate(slot, lengthMs, this.tag, -amount, nowMs, true);
      return lost;
    }
  }

  /**
   * Corrects what was taken in the window `tag`. Less goes back to that window alone, since in another one it would let through what was never taken there; more
   * counts in the window of now.
   */
  settleRate(slot: number, lengthMs: number, tag: number, change: number, nowMs: number, isLost = false): void {
    const index = slot & this.#indexMask;
    if (change === 0 || (!isLost && !this.#isHeld(slot, index))) return;
    const window = windowAt(lengthMs, nowMs) & windowMask;
    const word = valueWord(index) >> 1;
    for (;;) {
      const state = Atomics.load(this.#long, word);
      const before = Number(BigInt.asUintN(64, state) >> 40n);
      let after = before;
      let count = Number(state & countMaskOfRate);
      if (change < 0) {
        if (before !== tag) return;
      } else if (!isWindow(before, window)) {
        after = window;
        count = 0;
      }
      const next = packRate(after, Math.min(countMaxOfRate, Math.max(0, count + change)));
      if (Atomics.compareExchange(this.#long, word, state, next) === state) return;
    }
  }

  /** As takeRate, for usage: in whatever period the counter is. */
  takeUsage(slot: number, wanted: number, needed: number, maximum: number): number {
    const index = slot & this.#indexMask;
    if (!this.#isHeld(slot, index)) return lost;
    const word = valueWord(index);
    for (;;) {
      const head = Atomics.load(this.#short, word + high);
      const tail = Atomics.load(this.#short, word + low);
      const count = (head & upperMaskOfUsage) * half + (tail >>> 0);
      this.countBefore = count;
      this.tag = head >>> upperBitsOfUsage;
      const left = maximum - count;
      if (left < needed) return refused;
      const amount = Math.min(wanted, left, countMaxOfUsage - count);
      if ((tail >>> 0) + amount <= halfMax) {
        if (Atomics.compareExchange(this.#short, word + low, tail, (tail >>> 0) + amount | 0) !== tail) continue;
      } else {
        const state = packUsage(this.tag, count);
        if (Atomics.compareExchange(this.#long, word >> 1, state, packUsage(this.tag, count + amount)) !== state) continue;
      }
      if (this.#isHeld(slot, index)) return amount;
      this.settleUsage(slot, this.tag, -amount, true);
      return lost;
    }
  }

  /** Corrects what was taken in the period `tag`; once another one has begun, nothing. */
  settleUsage(slot: number, tag: number, change: number, isLost = false): void {
    const index = slot & this.#indexMask;
    if (change === 0 || (!isLost && !this.#isHeld(slot, index))) return;
    const word = valueWord(index) >> 1;
    for (;;) {
      const state = Atomics.load(this.#long, word);
      if (periodOf(state) !== tag) return;
      const next = packUsage(tag, Math.min(countMaxOfUsage, Math.max(0, Number(state & countMaskOfUsage) + change)));
      if (Atomics.compareExchange(this.#long, word, state, next) === state) return;
    }
  }

  /** Begins a period (any number; counted modulo 4,096) with `count`, or corrects the running one. Returns what stood there; `noRoom` when there is no place. */
  setUsage(key: string, period: number, count: number): number {
    const slot = this.slot(key, 'usage');
    if (slot === noRoom) return noRoom;
    const before = Atomics.exchange(this.#long, valueWord(slot & this.#indexMask) >> 1, packUsage(period & periodMask, Math.min(countMaxOfUsage, Math.max(0, count))));
    return Number(before & countMaskOfUsage);
  }

  /** The sum that is used, reservations included; undefined when nothing has been counted yet. */
  usage(key: string): { readonly period: number; readonly count: number } | undefined {
    const slot = this.find(key);
    if (slot < 0) return undefined;
    const state = Atomics.load(this.#long, valueWord(slot & this.#indexMask) >> 1);
    return { period: periodOf(state), count: Number(state & countMaskOfUsage) };
  }

  /** The count in the window of now. */
  rate(key: string, unit: RateUnit): number {
    const slot = this.find(key);
    if (slot < 0) return 0;
    const state = Atomics.load(this.#long, valueWord(slot & this.#indexMask) >> 1);
    const tag = Number(BigInt.asUintN(64, state) >> 40n);
    return isWindow(tag, windowAt(lengthOf[unit], this.now()) & windowMask) ? Number(state & countMaskOfRate) : 0;
  }

  /** Usage of something that is no more. */
  drop(key: string): void {
    const hash = hashOf(key);
    const mine = this.#lock();
    try {
      const slot = this.#find(hash);
      if (slot < 0) return;
      const word = (slot & this.#indexMask) * slotWords + headerLongs;
      const generation = (generationOf(Atomics.load(this.#long, word)) + 1) & generationMask;
      Atomics.store(this.#long, word, ownerOf(generation, 0n));
    } finally {
      this.#unlock(mine);
    }
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
      const state = Atomics.load(this.#long, valueWord(index) >> 1);
      const unit = unitsByKind[kind];
      const hash = Number(owner & hashMask);
      if (unit === undefined) {
        found.push({ hash, kind: 'usage', tag: periodOf(state), count: Number(state & countMaskOfUsage) });
        continue;
      }
      const tag = Number(BigInt.asUintN(64, state) >> 40n);
      if (isWindow(tag, windowAt(lengthOf[unit], nowMs) & windowMask)) found.push({ hash, kind: unit, tag, count: Number(state & countMaskOfRate) });
    }
    return found;
  }

  /** Puts in what `entries` gave. A rate whose window is over is left out, and so is what has counted on since. False: there is no place. */
  restore({ hash, kind, tag, count }: CounterEntry): boolean {
    if (kind !== 'usage' && !isWindow(tag, windowAt(lengthOf[kind], this.now()) & windowMask)) return true;
    const slot = this.#slotOf(BigInt(hash), kindNumber(kind));
    if (slot === noRoom) return false;
    const word = valueWord(slot & this.#indexMask) >> 1;
    const before = Atomics.load(this.#long, word);
    // Of two that were kept the larger one counts.
    const counted = Number(before & (kind === 'usage' ? countMaskOfUsage : countMaskOfRate));
    if (count > counted) Atomics.compareExchange(this.#long, word, before, kind === 'usage' ? packUsage(tag, count) : packRate(tag, count));
    return true;
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

  #slotOf(hash: bigint, kind: number): number {
    const found = this.#find(hash);
    if (found >= 0) return found;
    const mine = this.#lock();
    try {
      const again = this.#find(hash);
      return again >= 0 ? again : this.#put(hash, kind);
    } finally {
      this.#unlock(mine);
    }
  }

  /** With the lock held. */
  #put(hash: bigint, kind: number): number {
    const { start, step } = placesOf(hash);
    const nowMs = this.now();
    for (let probe = 0; probe < probesMax; probe += 1) {
      const index = (start + probe * step) & this.#indexMask;
      const word = index * slotWords + headerLongs;
      const owner = Atomics.load(this.#long, word);
      if ((owner & hashMask) !== 0n && !this.#isOver(index, nowMs)) continue;
      const generation = owner === 0n ? 0 : (generationOf(owner) + 1) & generationMask;
      if (owner === 0n) Atomics.add(this.#short, usedWord, 1);
      else Atomics.store(this.#long, word, ownerOf(generation, 0n));
      const unit = unitsByKind[kind];
      // Of the window of now: one that is over would be another key's to take.
      Atomics.store(this.#long, valueWord(index) >> 1, unit === undefined ? 0n : packRate(windowAt(lengthOf[unit], nowMs) & windowMask, 0));
      Atomics.store(this.#short, kindWord(index), kind);
      const mine = ownerOf(generation, hash);
      Atomics.store(this.#long, word, mine);
      return this.#handle(index, mine);
    }
    return noRoom;
  }

  /** A rate whose window, and the one after it, are over: nobody misses it. */
  #isOver(index: number, nowMs: number): boolean {
    const unit = unitsByKind[Atomics.load(this.#short, kindWord(index))];
    if (unit === undefined) return false;
    const tag = Atomics.load(this.#short, valueWord(index) + high) >>> upperBitsOfRate;
    const distance = (windowAt(lengthOf[unit], nowMs) - tag) & windowMask;
    return distance > 1 && distance < windowMask - 1;
  }

  /** The value to unlock with. */
  #lock(): number {
    const mine = (this.now() & 0x7fff_ffff) | 1;
    let spins = 0;
    const byMs = performance.now() + lockMsMax;
    for (;;) {
      const holder = Atomics.compareExchange(this.#short, lockWord, 0, mine);
      if (holder === 0) return mine;
      spins += 1;
      if (spins > lockSpins) Atomics.wait(this.#short, lockWord, holder, 1);
      if (performance.now() >= byMs && Atomics.compareExchange(this.#short, lockWord, holder, mine) === holder) return mine;
    }
  }

  #unlock(mine: number): void {
    Atomics.compareExchange(this.#short, lockWord, mine, 0);
    Atomics.notify(this.#short, lockWord);
  }

  /** The slot has not gone to another key. */
  #isHeld(slot: number, index: number): boolean {
    return ((Atomics.load(this.#short, index * slotWords * 2 + headerShorts + high) >>> (32 - generationBits)) & heldGenerationMask) === slot >>> this.#indexBits;
  }

  #handle(index: number, owner: bigint): number {
    return ((generationOf(owner) & heldGenerationMask) << this.#indexBits) | index;
  }
}

const headerLongs = headerBytes / 8;
const upperMaskOfUsage = (1 << upperBitsOfUsage) - 1;
const countMaskOfRate = (1n << 40n) - 1n;
const countMaskOfUsage = (1n << 52n) - 1n;

/** Of 32-bit words. */
const valueWord = (index: number): number => (index * slotWords + 1) * 2 + headerShorts;
const kindWord = (index: number): number => (index * slotWords + 2) * 2 + headerShorts;

/** The window of now. One ahead of it is as well: another thread read the clock later. */
const isWindow = (tag: number, window: number): boolean => tag === window || ((tag - window) & windowMask) === 1;

const generationOf = (owner: bigint): number => Number(BigInt.asUintN(64, owner) >> hashBits);
const ownerOf = (generation: number, hash: bigint): bigint => BigInt.asIntN(64, (BigInt(generation) << hashBits) | hash);
const packRate = (tag: number, count: number): bigint => BigInt.asIntN(64, (BigInt(tag) << 40n) | BigInt(count));
const packUsage = (tag: number, count: number): bigint => BigInt.asIntN(64, (BigInt(tag) << 52n) | BigInt(count));
const periodOf = (state: bigint): number => Number(BigInt.asUintN(64, state) >> 52n);

function kindNumber(kind: CounterKind): number {
  return kind === 'usage' ? usageKind : unitsByKind.indexOf(kind);
}

/** Never 0. */
function hashOf(key: string): bigint {
  return (createHash('sha256').update(key).digest().readBigUInt64LE(0) & hashMask) | 1n;
}

/** The step is odd, so that it comes to every slot. */
const placesOf = (hash: bigint): { readonly start: number; readonly step: number } => ({ start: Number(hash & 0xffff_ffffn) >>> 1, step: Number(hash >> 32n) | 1 });

function assertSlotCount(slotCount: number): void {
  assert(slotCount >= slotCountMin && slotCount <= slotCountMax && Number.isInteger(Math.log2(slotCount)), `the number of slots must be a power of two from ${slotCountMin} to ${slotCountMax}`);
}
