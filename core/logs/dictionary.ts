// Hot: runs for each call.
// Texts that come back from call to call (keys, providers, models, targets), each written once into the memory of a ring and known by a number from
// then on. The memory outlives the thread that reads. When it is full, texts go into the records themselves until the reader has read all there
// is; then it begins anew, under another generation.

import type { KeptText } from '../telemetry/kept-text.js';
import type { RingMemory } from './ring.js';
import { readText, textBytesMax, writeText } from './text.js';

/** Numbers are 1 to this; 0 is the empty text. */
export const entriesMax = 2047;
/** Not in the dictionary: it stands in the record. */
export const inline = 0xffff;
/** UTF-16 units; what is longer hardly ever comes back. */
const charsMax = 256;

/** Of the numbers, and of the room, for texts that clients may bring about without end: names of counters. */
const keptShare = 0.5;

const entriesAt = (entriesMax + 1) * 4;

export class DictionaryWriter {
  generation: number;
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  readonly #numbers = new Map<string, number>();
  #end = entriesAt;
  /** Another one each time that it begins anew. */
  #era: object = {};
  /** Had no room for a text. */
  isFull = false;

  constructor(memory: RingMemory, generation = 1) {
    this.#bytes = memory.dictionary;
    this.#words = wordsOf(memory.dictionary);
    this.generation = generation;
  }

  /** The number of `text`, or `inline`. The reader may look it up once a record that uses it is published. */
  numberOf(text: string): number {
    if (text === '') return 0;
    const known = this.#numbers.get(text);
    return known === undefined ? this.#add(text) : known;
  }

  /** As `numberOf`, of a text that remembers it. */
  numberOfKept(kept: KeptText): number {
    if (kept.era !== this.#era) {
      kept.number = this.#numbers.get(kept.text) ?? this.#addKept(kept.text);
      kept.era = this.#era;
    }
    return kept.number;
  }

  #addKept(text: string): number {
    if (this.#numbers.size < entriesMax * keptShare && this.#end < this.#bytes.length * keptShare) return this.#add(text);
    this.isFull = true;
    return inline;
  }

  #add(text: string): number {
    if (text.length > charsMax) return inline;
    const number = this.#numbers.size + 1;
    if (number > entriesMax || this.#end + textBytesMax(text) > this.#bytes.length) {
      this.isFull = true;
      return inline;
    }
    this.#words[number] = this.#end;
    this.#end = writeText(this.#bytes, this.#words, this.#end, 0, text);
    this.#numbers.set(text, number);
    return number;
  }

  /** Only when the reader has read everything that was written so far. */
  clear(): void {
    this.#numbers.clear();
    this.#end = entriesAt;
    this.#era = {};
    this.isFull = false;
    this.generation = (this.generation + 1) & 0x7fff_ffff;
  }
}

export class DictionaryReader {
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  #texts: (string | undefined)[] = [''];
  #generation = 0;

  constructor(memory: RingMemory) {
    this.#bytes = memory.dictionary;
    this.#words = wordsOf(memory.dictionary);
  }

  /** Texts of another generation are forgotten. */
  turnTo(generation: number): void {
    if (generation === this.#generation) return;
    this.#texts = [''];
    this.#generation = generation;
  }

  text(number: number): string {
    return this.#texts[number] ??= readText(this.#bytes, this.#words, this.#words[number] ?? 0);
  }
}

const wordsOf = (bytes: Buffer): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
