// Hot: runs for each chunk of a long plain answer.
// Catches the object under one name as chunks of JSON pass, wherever they are cut: the name is looked for with a native search, the object
// behind it is copied byte by byte, at most captureBytesMax of it. Holds no chunk.

import { asBuffer } from './cursor.js';

/** A longer object is let go. */
const captureBytesMax = 4_096;

const quote = 0x22, backslash = 0x5c, colon = 0x3a, braceOpen = 0x7b, braceClose = 0x7d;

type Phase = 'search' | 'colon' | 'value' | 'object';

export class ObjectCapture {
  #phase: Phase = 'search';
  /** Bytes of the needle that the last chunk ended with. */
  #matched = 0;
  /** The needle that has begun stands behind an odd run of backslashes: its quote is content. */
  #isEscaped = false;
  /** The bytes so far end in an odd run of backslashes. */
  #endsInBackslash = false;
  #object: Buffer | null = null;
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isAfterBackslash = false;

  /** `onObject` gets the whole object; the bytes are its own only until it returns. */
  constructor(readonly needle: Buffer, readonly onObject: (bytes: Buffer) => void) {}

  push(bytes: Uint8Array): void {
    const chunk = asBuffer(bytes);
    let at = 0;
    while (at < chunk.length) at = this.#phase === 'search' ? this.#search(chunk, at) : this.#step(chunk, at);
    this.#endsInBackslash = endsInBackslash(chunk, chunk.length, this.#endsInBackslash);
  }

  /** Returns the index to go on from: behind a whole needle, or the end of the chunk. */
  #search(chunk: Buffer, from: number): number {
    const { needle } = this;
    let at = from;
    if (this.#matched > 0) {
      // Only at the beginning of a chunk.
      while (this.#matched < needle.length && at < chunk.length && chunk[at] === needle[this.#matched]) {
        this.#matched += 1;
        at += 1;
      }
      if (this.#matched === needle.length) return this.#onNeedle(at);
      if (at === chunk.length) return at;
      this.#matched = 0;
      // Part of a needle that went wrong holds no other beginning: its only quotes are the first and last byte.
    }
    const found = chunk.indexOf(needle, at);
    if (found !== -1) {
      this.#isEscaped = endsInBackslash(chunk, found, this.#endsInBackslash);
      return this.#onNeedle(found + needle.length);
    }
    const tail = chunk.lastIndexOf(quote);
    const isBegun = tail >= at && chunk.length - tail < needle.length && chunk.compare(needle, 0, chunk.length - tail, tail) === 0;
    if (isBegun) {
      this.#matched = chunk.length - tail;
      this.#isEscaped = endsInBackslash(chunk, tail, this.#endsInBackslash);
    }
    return chunk.length;
  }

  #onNeedle(at: number): number {
    this.#matched = 0;
    if (!this.#isEscaped) this.#phase = 'colon';
    return at;
  }

  #step(chunk: Buffer, from: number): number {
    if (this.#phase === 'object') return this.#copy(chunk, from);
    const byte = chunk[from];
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return from + 1;
    if (this.#phase === 'colon' && byte === colon) {
      this.#phase = 'value';
      return from + 1;
    }
    if (this.#phase === 'value' && byte === braceOpen) {
      this.#phase = 'object';
      this.#object ??= Buffer.allocUnsafe(captureBytesMax);
      this.#length = 0;
      this.#depth = 0;
      this.#isInString = false;
      this.#isAfterBackslash = false;
      return from;
    }
    this.#phase = 'search';
    return from;
  }

  #copy(chunk: Buffer, from: number): number {
    const object = this.#object;
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (object === null || this.#length === captureBytesMax) {
        this.#phase = 'search';
        return at;
      }
      object[this.#length] = byte;
      this.#length += 1;
      if (this.#isInString) {
        if (this.#isAfterBackslash) this.#isAfterBackslash = false;
        else if (byte === backslash) this.#isAfterBackslash = true;
        else if (byte === quote) this.#isInString = false;
      } else if (byte === quote) {
        this.#isInString = true;
      } else if (byte === braceOpen) {
        this.#depth += 1;
      } else if (byte === braceClose) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#phase = 'search';
        this.onObject(object.subarray(0, this.#length));
        return at + 1;
      }
    }
    return chunk.length;
  }
}

/** Does an odd run of backslashes end at `at`? `before`: one ended where the chunk begins. */
function endsInBackslash(chunk: Buffer, at: number, before: boolean): boolean {
  let index = at - 1;
  while (index >= 0 && chunk[index] === backslash) index -= 1;
  const isOdd = ((at - 1 - index) & 1) === 1;
  return index === -1 ? isOdd !== before : isOdd;
}
