// The questions of one frame, found by meaning. A few hundred vectors are searched one by one, which never misses; what is beyond goes into
// a graph, a few vectors with each insert, so that no call ever waits for it.

import { createRequire } from 'node:module';
import type { Vectored } from './records.js';
import { byteCosine, byteLength } from './vector.js';

export interface Neighbour {
  readonly item: IndexedText;
  readonly similarity: number;
}

export interface IndexedText {
  readonly key: string;
  readonly text: string;
  readonly storedAtMs: number;
}

interface Matches {
  readonly keys: BigUint64Array;
  readonly distances: Float32Array;
}

interface Graph {
  add(key: bigint, vector: Float32Array, threads: number): void;
  search(vector: Float32Array, count: number, threads: number): Matches;
  remove(key: bigint): unknown;
}

/** The part of usearch that is used. */
export interface Usearch {
  readonly Index: new (options: object) => Graph;
}

const graphPackage = 'usearch';
/** Vectors searched one by one: 256 take about 0.2 ms. */
export const exactMax = 256;
/** Vectors that are searched one by one beside a graph. */
const looseMax = 16;
/** Vectors moved into the graph with one insert beyond that. */
const movesMax = 2;
/** Measured at 100,000 vectors: fewer links than usual make an insert faster, and a wider search makes up for it. */
const graphOptions = { metric: 'cos', quantization: 'i8', connectivity: 12, expansion_add: 64, expansion_search: 96, multi: false };
/** Measured: what one vector takes in the graph, and what its bookkeeping takes here. */
const graphBytes = 800;
const itemBytes = 400;

/** Undefined when the package is not installed: frames then keep the newest `exactMax` questions. */
export function loadUsearch(): Usearch | undefined {
  try {
    // Its ES module entry calls itself until the stack is full.
    return createRequire(import.meta.url)(graphPackage) as Usearch;
  } catch {
    return undefined;
  }
}

interface Slot extends IndexedText {
  readonly id: number;
  /** Undefined once the graph has it. */
  vector: Int8Array | undefined;
}

export class FrameIndex {
  readonly #usearch: Usearch | undefined;
  readonly #slots = new Map<string, Slot>();
  readonly #byId = new Map<number, Slot>();
  /** Not in the graph: oldest first. */
  readonly #loose = new Set<Slot>();
  #graph: Graph | undefined;
  #nextId = 0;
  #bytes = 0;

  constructor(usearch: Usearch | undefined) {
    this.#usearch = usearch;
  }

  get size(): number {
    return this.#slots.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string, storedAtMs: number): boolean {
    const slot = this.#slots.get(key);
    return slot !== undefined && slot.storedAtMs >= storedAtMs;
  }

  add({ key, text, storedAtMs, vector }: Vectored): void {
    this.remove(key);
    const slot: Slot = { id: this.#nextId, key, text, storedAtMs, vector };
    this.#nextId += 1;
    this.#slots.set(key, slot);
    this.#byId.set(slot.id, slot);
    this.#loose.add(slot);
    this.#bytes += bytesOf(slot);
    for (let moves = 0; this.#loose.size > (this.#graph === undefined ? exactMax : looseMax) && moves < movesMax; moves += 1) this.#moveOldest();
  }

  remove(key: string): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#slots.delete(key);
    this.#byId.delete(slot.id);
    this.#bytes -= bytesOf(slot);
    if (!this.#loose.delete(slot)) this.#graph?.remove(BigInt(slot.id));
    return true;
  }

  /** Makes room: the text that came first goes. */
  removeOldest(): void {
    const [key] = this.#slots.keys();
    if (key !== undefined) this.remove(key);
  }

  /** At most `count` texts, the nearest first, none below `similarityMin`. */
  search(vector: Float32Array, count: number, similarityMin: number): Neighbour[] {
    const found: Neighbour[] = [];
    for (const slot of this.#loose) {
      if (slot.vector === undefined || slot.vector.length !== vector.length) continue;
      const similarity = byteCosine(vector, slot.vector, 0, lengthOf(slot.vector));
      if (similarity >= similarityMin) found.push({ item: slot, similarity });
    }
    if (this.#graph !== undefined && this.#slots.size > this.#loose.size) {
      const { keys, distances } = this.#graph.search(vector, Math.min(count, this.#slots.size - this.#loose.size), 1);
      for (const [index, id] of keys.entries()) {
        const slot = this.#byId.get(Number(id));
        const similarity = 1 - (distances[index] ?? 2);
        if (slot !== undefined && similarity >= similarityMin) found.push({ item: slot, similarity });
      }
    }
    return found.sort((left, right) => right.similarity - left.similarity || right.item.storedAtMs - left.item.storedAtMs).slice(0, count);
  }

  #moveOldest(): void {
    const [slot] = this.#loose;
    if (slot === undefined) return;
    if (this.#usearch === undefined || slot.vector === undefined) {
      this.remove(slot.key);
      return;
    }
    this.#graph ??= new this.#usearch.Index({ ...graphOptions, dimensions: slot.vector.length });
    this.#loose.delete(slot);
    this.#bytes -= bytesOf(slot);
    const length = lengthOf(slot.vector);
    this.#graph.add(BigInt(slot.id), Float32Array.from(slot.vector, (value) => value / length), 1);
    slot.vector = undefined;
    this.#bytes += bytesOf(slot);
  }
}

const bytesOf = (slot: Slot): number => itemBytes + 2 * slot.text.length + (slot.vector?.length ?? graphBytes);

const lengths = new WeakMap<Int8Array, number>();

function lengthOf(vector: Int8Array): number {
  let length = lengths.get(vector);
  if (length === undefined) lengths.set(vector, length = byteLength(vector));
  return length;
}
