// Hot: runs for each call.
// Circuit breakers for all threads, in one piece of shared memory. A slot is looked up when a config is compiled; a call then passes it by
// number. While a target is well, a call reads one word and allocates nothing; failures and open breakers pay for a 64-bit exchange, which
// keeps phase, count and time together, so that no thread can see or lose half a change. No locks: a thread may end at any point.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';

export interface BreakerPolicy {
  readonly failureThreshold: number;
  /** Length of the counting window, and of the rest after opening. */
  readonly cooldownMs: number;
  /** null: 500 and above. */
  readonly failureStatusCodes: ReadonlySet<number> | null;
}

// A slot: four 64-bit words (the fourth only pads, for two slots to a cache line).
//   0  owner  generation (10 bits) and 54 bits of the key's hash; 0 = free
//   1  state  phase (2), generation (10), count (20), time (32): milliseconds, low half
//   2  used   time (32)
// The generation grows when a slot goes to another key. A state of an earlier generation counts as new, a caller of an earlier one has lost
// its breaker and counts as closed: two keys never share one.
const slotWords = 4;
const slotBytes = slotWords * 8;
const probesMax = 32;
const slotCountMax = 65_536;
const generationBits = 10;
const generationMask = (1 << generationBits) - 1;
const hashBits = 54n;
const hashMask = (1n << hashBits) - 1n;
const countMax = (1 << 20) - 1;
/** Times are milliseconds modulo 2^32 (49.7 days), compared by their distance: a wrap or a clock set far back can only bring a probe early. */
const cooldownMsMax = 2_147_483_647;
/** So far ahead another thread's time may be: it read the clock after us, or the clock was set back a little. */
const aheadMsMax = 60_000;
/** `used` is written no more often, since a write takes the cache line from the other threads. */
const touchEveryMs = 1000;

/** Told for the metrics. */
const brokenMax = 1_000;

const closed = 0;
const open = 1;
const probing = 2;

const [low, high] = endianness() === 'LE' ? [0, 1] : [1, 0];

export interface BrokenTarget {
  /** The same in every thread. */
  readonly slot: number;
  readonly provider: string;
  readonly state: 'open' | 'probing';
}

export class Breakers {
  readonly #long: BigInt64Array;
  readonly #short: Int32Array;
  readonly #slotCount: number;
  readonly #indexBits: number;
  /** Slot -> provider, of what this thread has looked up: for the metrics. */
  readonly #providers = new Map<number, string>();

  constructor(buffer: SharedArrayBuffer, readonly now: () => number = Date.now) {
    this.#long = new BigInt64Array(buffer);
    this.#short = new Int32Array(buffer);
    this.#slotCount = buffer.byteLength / slotBytes;
    assertSlotCount(this.#slotCount);
    this.#indexBits = Math.log2(this.#slotCount);
  }

  static allocate(slotCount = 16_384): SharedArrayBuffer {
    assertSlotCount(slotCount);
    return new SharedArrayBuffer(slotCount * slotBytes);
  }

  /** The slot of `key`, equal in every thread. At compile time only. When the places of a key are all taken, the one longest unused is. `provider`: for the metrics. */
  slot(key: string, provider = ''): number {
    const slot = this.#find(key);
    // No more than there are slots; those of former generations make place for others.
    if (slot >= 0 && provider !== '' && (this.#providers.size < this.#slotCount || this.#providers.has(slot))) this.#providers.set(slot, provider);
    return slot;
  }

  #find(key: string): number {
    const digest = createHash('sha256').update(key).digest();
    const hash = (digest.readBigUInt64LE(0) & hashMask) | 1n;
    const start = digest.readUInt32LE(8);
    const probes = Math.min(probesMax, this.#slotCount);
    // Each round that fails means that another thread took a place, so one round for each place is ample.
    for (let round = 0; round < probesMax; round += 1) {
      let oldest = -1;
      let oldestAge = -1;
      let oldestOwner = 0n;
      const now = this.now() | 0;
      for (let probe = 0; probe < probes; probe += 1) {
        const index = (start + probe) & (this.#slotCount - 1);
        let owner = Atomics.load(this.#long, index * slotWords);
        if (owner === 0n) {
          Atomics.store(this.#short, usedWord(index), now);
          owner = Atomics.compareExchange(this.#long, index * slotWords, 0n, hash);
          if (owner === 0n) return index;
        }
        if ((owner & hashMask) === hash) {
          Atomics.store(this.#short, usedWord(index), now);
          return this.#handle(index, generationOf(owner));
        }
        const age = distance(now, Atomics.load(this.#short, usedWord(index)));
        if (age > oldestAge) {
          oldest = index;
          oldestAge = age;
          oldestOwner = owner;
        }
      }
      const generation = (generationOf(oldestOwner) + 1) & generationMask;
      // Marked first: once owned it must not look like the longest unused to another thread.
      Atomics.store(this.#short, usedWord(oldest), now);
      const owner = BigInt.asIntN(64, (BigInt(generation) << hashBits) | hash);
      if (Atomics.compareExchange(this.#long, oldest * slotWords, oldestOwner, owner) === oldestOwner) return this.#handle(oldest, generation);
    }
    return noSlot;
  }

  /** How many there are, by phase. Looks at each slot, so not for calls. */
  count(): { readonly closed: number; readonly open: number; readonly probing: number } {
    const counts = { closed: 0, open: 0, probing: 0 };
    for (let index = 0; index < this.#slotCount; index += 1) {
      const owner = Atomics.load(this.#long, index * slotWords);
      if (owner === 0n) continue;
      const head = Atomics.load(this.#short, stateWord(index) + high);
      const phase = headGeneration(head) === generationOf(owner) ? phaseOf(head) : closed;
      counts[phase === closed ? 'closed' : phase === open ? 'open' : 'probing'] += 1;
    }
    return counts;
  }

  /** Those that are not closed, of what this thread has looked up. Looks at each of these, so not for calls. */
  broken(): BrokenTarget[] {
    const found: BrokenTarget[] = [];
    for (const [slot, provider] of this.#providers) {
      const index = slot & (this.#slotCount - 1);
      const generation = slot >>> this.#indexBits;
      if (this.#ownerGeneration(index) !== generation) {
        this.#providers.delete(slot);
        continue;
      }
      const head = Atomics.load(this.#short, stateWord(index) + high);
      const phase = headGeneration(head) === generation ? phaseOf(head) : closed;
      if (phase !== closed && found.length < brokenMax) found.push({ slot, provider, state: phase === open ? 'open' : 'probing' });
    }
    return found;
  }

  /** May the target be left out? A pure read, for choosing among targets: tryPass decides. */
  isOpen(slot: number, policy: BreakerPolicy): boolean {
    if (slot < 0) return false;
    const index = slot & (this.#slotCount - 1);
    const word = stateWord(index);
    const head = Atomics.load(this.#short, word + high);
    if (phaseOf(head) === closed) return false;
    const generation = slot >>> this.#indexBits;
    if (headGeneration(head) !== generation || this.#ownerGeneration(index) !== generation) return false;
    return !isOver(this.now(), Atomics.load(this.#short, word + low), policy);
  }

  /** Right before an attempt. After the rest exactly one caller of all threads gets true: its attempt is the probe. */
  tryPass(slot: number, policy: BreakerPolicy): boolean {
    if (slot < 0) return true;
    const index = slot & (this.#slotCount - 1);
    const generation = slot >>> this.#indexBits;
    if (this.#ownerGeneration(index) !== generation) return true;
    const now = this.now();
    if (distance(now, Atomics.load(this.#short, usedWord(index))) >= touchEveryMs + aheadMsMax) Atomics.store(this.#short, usedWord(index), now | 0);
    if (phaseOf(Atomics.load(this.#short, stateWord(index) + high)) === closed) return true;
    const word = index * slotWords + 1;
    const state = Atomics.load(this.#long, word);
    const head = Number(state >> 32n);
    if (phaseOf(head) === closed || headGeneration(head) !== generation) return true;
    if (!isOver(now, Number(BigInt.asIntN(32, state)), policy)) return false;
    return Atomics.compareExchange(this.#long, word, state, pack(probing, generation, countOf(head), now)) === state;
  }

  /** The outcome of an attempt. A network failure counts with the status that the gateway would answer. */
  record(slot: number, policy: BreakerPolicy, status: number): void {
    if (slot < 0) return;
    const isFailure = policy.failureStatusCodes === null ? status >= 500 : policy.failureStatusCodes.has(status);
    const index = slot & (this.#slotCount - 1);
    if (!isFailure) {
      const head = Atomics.load(this.#short, stateWord(index) + high);
      // While open, what comes back was sent before, or because every target is open: only a probe closes.
      if (phaseOf(head) !== probing) return;
    }
    const generation = slot >>> this.#indexBits;
    const word = index * slotWords + 1;
    // Ends: each failed exchange means that another thread's went through.
    for (;;) {
      const state = Atomics.load(this.#long, word);
      const next = this.#after(index, generation, state, policy, isFailure);
      if (next === state || Atomics.compareExchange(this.#long, word, state, next) === state) return;
    }
  }

  /** The state that follows `state`; `state` itself when nothing changes. */
  #after(index: number, generation: number, state: bigint, policy: BreakerPolicy, isFailure: boolean): bigint {
    const head = Number(state >> 32n);
    const isCurrent = headGeneration(head) === generation;
    if (this.#ownerGeneration(index) !== generation) return state;
    const phase = isCurrent ? phaseOf(head) : closed;
    if (!isFailure) return phase === probing ? pack(closed, generation, 0, 0) : state;
    if (phase === open) return state;
    const now = this.now();
    if (phase === probing) return pack(open, generation, countOf(head), now);
    const since = Number(BigInt.asIntN(32, state));
    const isNewWindow = !isCurrent || countOf(head) === 0 || isOver(now, since, policy);
    const count = isNewWindow ? 1 : Math.min(countMax, countOf(head) + 1);
    if (count >= Math.min(policy.failureThreshold, countMax)) return pack(open, generation, count, now);
    return pack(closed, generation, count, isNewWindow ? now : since);
  }

  #ownerGeneration(index: number): number {
    return Atomics.load(this.#short, index * slotWords * 2 + high) >>> (32 - generationBits);
  }

  #handle(index: number, generation: number): number {
    return (generation << this.#indexBits) | index;
  }
}

/** No breaker: counts as closed. */
const noSlot = -1;

const stateWord = (index: number): number => (index * slotWords + 1) * 2;
const usedWord = (index: number): number => (index * slotWords + 2) * 2;

const phaseOf = (head: number): number => head >>> 30;
const headGeneration = (head: number): number => (head >>> 20) & generationMask;
const countOf = (head: number): number => head & countMax;
const generationOf = (owner: bigint): number => Number((owner >> hashBits) & BigInt(generationMask));

/** Milliseconds from `since` to `now`, plus aheadMsMax. */
const distance = (now: number, since: number): number => (now - since + aheadMsMax) >>> 0;

const isOver = (now: number, since: number, policy: BreakerPolicy): boolean => distance(now, since) >= Math.min(policy.cooldownMs, cooldownMsMax) + aheadMsMax;

const pack = (phase: number, generation: number, count: number, time: number): bigint =>
  (BigInt((phase << 30) | (generation << 20) | count) << 32n) | BigInt(time >>> 0);

function assertSlotCount(slotCount: number): void {
  assert(slotCount >= 1 && slotCount <= slotCountMax && Number.isInteger(Math.log2(slotCount)), `the number of slots must be a power of two up to ${slotCountMax}`);
}
