// Hot: runs for each call.
// A ring of records in shared memory, from one thread that writes to one that reads. Nobody waits: what finds no room is not written. A record is
// seen whole or not at all, since the place of the next one is moved behind it only when all its bytes are there. One record is never split.

import assert from 'node:assert/strict';

// The memory: words of 32 bits that both sides know each other by (each on a cache line of its own), a dictionary (dictionary.ts), the records.
// Positions count bytes for ever, modulo 2^32; the size of the ring is a power of two.
const wordHead = 0;
const wordTail = 16;
const wordEnded = 32;
const controlBytes = 256;
/** What the dictionary may take; dictionary.ts divides it. */
const dictionaryBytes = 256 * 1024;
const dataAt = controlBytes + dictionaryBytes;

/** What waits for the log thread, for each thread that serves calls: some 70,000 records of usual length. Memory that no record ever reached is not taken. */
const ringBytes = 16 * 1024 * 1024;
/** A writer whose reader has read everything begins anew behind this many bytes, so that the same few pages are used again and again. */
const rewindBytes = 512 * 1024;

const recordAlignment = 8;
/** Stands where the next record is at the beginning of the ring, because it had no room here. */
const skip = -1;

/** The views that both sides write and read records through; offsets are in bytes, from the beginning of the records. */
export class RingMemory {
  readonly control: Int32Array;
  readonly dictionary: Buffer;
  readonly bytes: Buffer;
  readonly shorts: Uint16Array;
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  readonly size: number;

  constructor(readonly shared: SharedArrayBuffer) {
    this.size = shared.byteLength - dataAt;
    assert.ok(this.size >= 64 && Number.isInteger(Math.log2(this.size)), 'the size of a ring is a power of two');
    this.control = new Int32Array(shared, 0, controlBytes / 4);
    this.dictionary = Buffer.from(shared, controlBytes, dictionaryBytes);
    this.bytes = Buffer.from(shared, dataAt, this.size);
    this.shorts = new Uint16Array(shared, dataAt, this.size / 2);
    this.words = new Int32Array(shared, dataAt, this.size / 4);
    this.doubles = new Float64Array(shared, dataAt, this.size / 8);
  }

  /** `size`: a power of two. */
  static allocate(size: number = ringBytes): SharedArrayBuffer {
    return new SharedArrayBuffer(dataAt + size);
  }
}

/** Of records that nobody has taken yet. */
export const bytesWaiting = ({ control }: RingMemory): number => (Atomics.load(control, wordHead) - Atomics.load(control, wordTail)) >>> 0;

const aligned = (bytes: number): number => (bytes + recordAlignment - 1) & -recordAlignment;

export class RingWriter {
  readonly #control: Int32Array;
  readonly #words: Int32Array;
  readonly #size: number;
  /** Where the next record goes, and where it may go at the latest known position of the reader. */
  #head: number;
  #tail: number;
  #start = 0;

  constructor(memory: RingMemory) {
    this.#control = memory.control;
    this.#words = memory.words;
    this.#size = memory.size;
    this.#head = Atomics.load(memory.control, wordHead);
    this.#tail = Atomics.load(memory.control, wordTail);
  }

  /** Offset of a place for a record of at most so many bytes; -1 when there is no room. Nothing is seen of it before `end`; it may be given up. */
  begin(bytesMax: number): number {
    const size = this.#size;
    const needed = aligned(bytesMax);
    // What is larger than half could wait for ever for a place in one piece.
    if (needed * 2 > size) return -1;
    const head = this.#head;
    const offset = head & (size - 1);
    let toSkip = size - offset < needed ? size - offset : 0;
    if (toSkip === 0 && offset >= rewindBytes && needed <= offset && this.isEmpty()) toSkip = size - offset;
    if (((head - this.#tail) >>> 0) + toSkip + needed > size) {
      this.#tail = Atomics.load(this.#control, wordTail);
      if (((head - this.#tail) >>> 0) + toSkip + needed > size) return -1;
    }
    if (toSkip > 0) this.#words[offset >> 2] = skip;
    this.#start = (head + toSkip) | 0;
    return this.#start & (size - 1);
  }

  /** The record is whole; `bytes` is its length with its first word, which says the length, and no longer than `begin` was told. */
  end(bytes: number): void {
    const length = aligned(bytes);
    this.#words[(this.#start & (this.#size - 1)) >> 2] = length;
    this.#head = (this.#start + length) | 0;
    Atomics.store(this.#control, wordHead, this.#head);
  }

  /** So many bytes more leave the larger part of the room to other records. */
  leavesRoom(bytes: number): boolean {
    this.#tail = Atomics.load(this.#control, wordTail);
    return ((this.#head - this.#tail) >>> 0) + aligned(bytes) <= this.#size / 2 - recordAlignment;
  }

  /** The reader has read all there is. */
  isEmpty(): boolean {
    this.#tail = Atomics.load(this.#control, wordTail);
    return this.#tail === this.#head;
  }

  /** No record will follow. */
  close(): void {
    Atomics.store(this.#control, wordEnded, 1);
  }
}

export class RingReader {
  readonly #control: Int32Array;
  readonly #words: Int32Array;
  readonly #size: number;
  #head: number;
  #tail: number;

  /** Goes on where the reader before it, if there was one, had given back. */
  constructor(memory: RingMemory) {
    this.#control = memory.control;
    this.#words = memory.words;
    this.#size = memory.size;
    this.#tail = Atomics.load(memory.control, wordTail);
    this.#head = this.#tail;
  }

  /** Offset of the next record; -1 when there is none. The same until `next`. */
  peek(): number {
    const mask = this.#size - 1;
    if (this.#tail === this.#head) {
      this.#head = Atomics.load(this.#control, wordHead);
      if (this.#tail === this.#head) return -1;
    }
    const offset = this.#tail & mask;
    if (this.#words[offset >> 2] !== skip) return offset;
    // A skip is published with the record behind it.
    this.#tail = (this.#tail + this.#size - offset) | 0;
    return this.#tail & mask;
  }

  /** The record of `peek` is done with. */
  next(): void {
    const length = this.#words[(this.#tail & (this.#size - 1)) >> 2] ?? 0;
    if (length <= 0 || length > ((this.#head - this.#tail) >>> 0)) {
      // Cannot be, but must not come back at every look.
      this.#tail = this.#head;
      throw new Error('a record in the ring has no end');
    }
    this.#tail = (this.#tail + length) | 0;
  }

  /** Gives the room of all that was read back to the writer. */
  giveBack(): void {
    Atomics.store(this.#control, wordTail, this.#tail);
  }

  /** Everything was read, and no record will follow. */
  get isOver(): boolean {
    // In this order: what was written before the end is seen after it.
    return Atomics.load(this.#control, wordEnded) === 1 && Atomics.load(this.#control, wordHead) === this.#tail;
  }
}
