// The frames that this thread has in memory: read from the store when first asked for, dropped when others need the room more.

import type { Store } from '@gateway/plugin-sdk';
import { FrameIndex, type Usearch } from './frame-index.js';
import { prefixEnd, readVectored, vectorPrefix, type Vectored } from './records.js';

/** Bytes of a frame without any question in it. */
const emptyFrameBytes = 600;
/** Rows that the first question of a frame waits for; the others come in while later questions are answered. */
const firstRows = 256;
/** A frame that takes this part of the room is not read any further. */
const fullShare = 0.95;
/** The loop is given back after this long. */
const sliceMs = 2;

interface Frame {
  readonly index: FrameIndex;
  /** Settles when the first rows are there. */
  opened: Promise<void>;
  countedBytes: number;
}

export class Frames {
  readonly #store: Store;
  readonly #usearch: Usearch | undefined;
  readonly #bytesMax: number;
  /** Least recently used first. */
  readonly #frames = new Map<string, Frame>();
  #bytes = 0;
  #isClosed = false;

  constructor(store: Store, usearch: Usearch | undefined, bytesMax: number) {
    this.#store = store;
    this.#usearch = usearch;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#frames.size;
  }

  /** The frame's index, read from the store when it is not in memory. */
  async open(partition: string, name: string): Promise<FrameIndex> {
    const id = `${partition}/${name}`;
    let frame = this.#frames.get(id);
    if (frame === undefined) {
      const fresh: Frame = { index: new FrameIndex(this.#usearch), opened: Promise.resolve(), countedBytes: 0 };
      this.#frames.set(id, fresh);
      this.#count(fresh);
      fresh.opened = this.#load(id, fresh, vectorPrefix(partition, name));
      frame = fresh;
    } else {
      this.#touch(id, frame);
    }
    await frame.opened;
    return frame.index;
  }

  /** The frame's index when it is in memory. */
  peek(partition: string, name: string): FrameIndex | undefined {
    return this.#frames.get(`${partition}/${name}`)?.index;
  }

  /** Adds to a frame that is in memory; the others find the question in the store when they are opened. */
  add(partition: string, name: string, question: Vectored): void {
    const frame = this.#frames.get(`${partition}/${name}`);
    if (frame === undefined || frame.index.has(question.key, question.storedAtMs)) return;
    frame.index.add(question);
    this.#count(frame);
  }

  remove(partition: string, name: string, key: string): void {
    const frame = this.#frames.get(`${partition}/${name}`);
    if (frame === undefined || !frame.index.remove(key)) return;
    this.#count(frame);
  }

  close(): void {
    this.#isClosed = true;
    this.#frames.clear();
    this.#bytes = 0;
  }

  /** Resolves with the first rows; the rest goes on by itself. */
  async #load(id: string, frame: Frame, prefix: string): Promise<void> {
    const last = await this.#slice(id, frame, prefix, prefixEnd(prefix), firstRows);
    // The frame stays as far as it was read; it is read anew after it was dropped.
    if (last !== undefined) this.#loadRest(id, frame, last, prefixEnd(prefix)).catch(() => undefined);
  }

  async #loadRest(id: string, frame: Frame, from: string, to: string): Promise<void> {
    let next: string | undefined = from;
    while (next !== undefined) next = await this.#slice(id, frame, next, to, firstRows);
  }

  /** Reads rows; the key to go on from, or undefined at the end and when there is no room for more. */
  async #slice(id: string, frame: Frame, from: string, to: string, limit: number): Promise<string | undefined> {
    let count = 0;
    let startedMs = performance.now();
    let last = '';
    for await (const row of this.#store.range({ from, to, limit })) {
      count += 1;
      last = row.key;
      if (this.#isClosed || this.#frames.get(id) !== frame) return undefined;
      const question = readVectored(row);
      if (question !== undefined && !frame.index.has(question.key, question.storedAtMs)) {
        frame.index.add(question);
        this.#count(frame);
      }
      if (performance.now() - startedMs < sliceMs) continue;
      await new Promise<void>((resolve) => { setImmediate(resolve); });
      startedMs = performance.now();
    }
    return count < limit || frame.countedBytes >= this.#bytesMax * fullShare ? undefined : `${last} `;
  }

  #touch(id: string, frame: Frame): void {
    this.#frames.delete(id);
    this.#frames.set(id, frame);
  }

  /** Brings the sum up to date and drops the frames that were not used for longest. */
  #count(frame: Frame): void {
    // A frame that is larger than all the room forgets what came first.
    while (frame.index.size > 1 && frame.index.bytes + emptyFrameBytes > this.#bytesMax) frame.index.removeOldest();
    const bytes = frame.index.bytes + emptyFrameBytes;
    this.#bytes += bytes - frame.countedBytes;
    frame.countedBytes = bytes;
    for (const [id, oldest] of this.#frames) {
      if (this.#bytes <= this.#bytesMax || this.#frames.size <= 1) return;
      this.#frames.delete(id);
      this.#bytes -= oldest.countedBytes;
    }
  }
}
