// Hot: runs for each chunk of a request body.
// A request body while it comes, in memory that is allocated once where its length was announced. Where it is allocated decides what becomes
// of the memory afterwards: what the C library's heap once held it keeps, since small things that live on lie between the bodies. So
// only so much of the bodies goes there; the others get pages of their own, which the system has back as soon as the body is collected.

import type { HeldBytes } from './held-bytes.js';
import { smallBytesMax } from './held-bytes.js';

/** An announced length is believed up to here, or up to so many times what has come: announcing much costs nothing. */
const believedBytesMin = 64 * 1024;
const believedTimes = 4;
/** While a thread holds no more than this, bodies up to `heapBodyBytesMax` lie in the C library's heap, which is quicker to have. */
const heapBytesMax = 4 * 1024 * 1024;
const heapBodyBytesMax = 256 * 1024;
/** Shorter ones always do: a page more or less is too much for them. */
const pagesBytesMin = 32 * 1024;
const firstBytesMin = 1024;
const noMemory = Buffer.alloc(0);

export class BodyBuffer {
  /** Bytes that have come. */
  length = 0;
  #memory: Buffer = noMemory;
  /** Pages of its own, which nobody else has seen yet. */
  #pages: ArrayBuffer | null = null;
  #counted = 0;

  /** `announced`: -1 when the length is not known. */
  constructor(readonly held: HeldBytes, readonly announced: number) {}

  /** False: there is no room for it, and nothing has changed. */
  append(chunk: Uint8Array, isLast: boolean): boolean {
    const { byteLength } = chunk;
    if (byteLength === 0) return true;
    const { length } = this;
    const needed = length + byteLength;
    if (needed > this.#memory.length && !this.#grow(needed, isLast)) return false;
    this.#memory.set(chunk, length);
    this.length = needed;
    return true;
  }

  /** Whether there is room for all that was announced. */
  get hasRoom(): boolean {
    const missing = this.announced - this.#counted;
    return missing <= 0 || this.held.fits(missing, this.announced <= smallBytesMax);
  }

  /** What has come; it counts until release(). */
  take(): Buffer {
    const { length } = this;
    const memory = this.#memory;
    this.#memory = noMemory;
    this.#pages = null;
    this.length = 0;
    return memory.length === length ? memory : memory.subarray(0, length);
  }

  /** Nothing of it counts any more; what was not taken is gone at once. */
  release(): void {
    this.#dropPages();
    this.#memory = noMemory;
    this.length = 0;
    if (this.#counted === 0) return;
    this.held.give(this.#counted);
    this.#counted = 0;
  }

  #grow(needed: number, isLast: boolean): boolean {
    const { held, announced } = this;
    const isSmall = Math.max(needed, announced) <= smallBytesMax;
    let capacity = needed;
    if (announced >= needed) capacity = Math.min(announced, Math.max(believedBytesMin, needed * believedTimes));
    else if (!isLast) capacity = Math.max(firstBytesMin, needed * 2);
    if (!held.take(capacity - this.#counted, isSmall)) {
      if (capacity === needed || !held.take(needed - this.#counted, isSmall)) return false;
      capacity = needed;
    }
    this.#counted = capacity;
    const before = this.#memory;
    const pagesBefore = this.#pages;
    this.#allocate(capacity);
    if (this.length > 0) before.copy(this.#memory, 0, 0, this.length);
    pagesBefore?.resize(0);
    return true;
  }

  #allocate(capacity: number): void {
    this.#pages = null;
    if (capacity >= pagesBytesMin && (capacity > heapBodyBytesMax || this.held.bytes > heapBytesMax)) this.#pages = pagesOf(capacity);
    this.#memory = this.#pages === null ? Buffer.allocUnsafe(capacity) : Buffer.from(this.#pages, 0, capacity);
  }

  #dropPages(): void {
    this.#pages?.resize(0);
    this.#pages = null;
  }
}

/** A buffer that may be resized has pages of its own. Null: the system has no more pages, or no more mappings, for this process. */
function pagesOf(bytes: number): ArrayBuffer | null {
  try {
    return new ArrayBuffer(bytes, { maxByteLength: bytes });
  } catch {
    // The heap may still have room; if it has none either, that says so.
    return null;
  }
}

/** For plugins: of a body that has pages of its own a copy. `Response` and `Request` of the web refuse a buffer that might be resized. */
export const plainBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.buffer instanceof ArrayBuffer && bytes.buffer.resizable ? Buffer.from(bytes) : bytes;
