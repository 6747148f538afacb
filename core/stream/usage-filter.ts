// Hot: runs for each chunk of a stream whose usage the gateway asked for, and its client did not.
// Keeps the event that has nothing but usage from the client; every other byte passes as it came. An event whose end has not come is held back, since only
// all of it says what it is.

import { ByteCollector, isObject, type Json } from '@gateway/plugin-sdk';
import { asBuffer, skipBlank } from '../body/cursor.js';
import { needleOf, valueOfKey } from '../body/key-search.js';

/** An event that is longer is not held: usage takes some hundred bytes. */
export const heldBytesMax = 16 * 1024;

const lineFeed = 0x0a, carriageReturn = 0x0d, openBracket = 0x5b, closeBracket = 0x5d;
const usageNeedle = needleOf('usage');
const choicesNeedle = needleOf('choices');

export class UsageFilter {
  /** The event whose end has not come. */
  readonly #held = new ByteCollector();
  /** It is longer than what is held, and part of it has gone. */
  #isPassing = false;
  #isLineEmpty = true;
  /** The last byte was a carriage return: a line feed behind it belongs to it. */
  #wasReturn = false;
  /** The last event ended with that carriage return. */
  #isEnded = false;
  /** The last event was kept back. */
  #isKept = false;

  constructor(readonly write: (bytes: Uint8Array) => void) {}

  /** The client has got part of an event. */
  get isMidEvent(): boolean {
    return this.#isPassing;
  }

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    // Bytes before `sent` are dealt with; the present event begins at `from`.
    let sent = 0, from = 0, index = 0;
    if (this.#isEnded && length > 0) {
      this.#isEnded = this.#wasReturn = false;
      if (chunk[0] === lineFeed) {
        from = index = 1;
        if (this.#isKept) sent = 1;
      }
    }
    let isLineEmpty = this.#isLineEmpty, wasReturn = this.#wasReturn;
    for (; index < length; index += 1) {
      const byte = chunk[index];
      if (byte !== lineFeed && byte !== carriageReturn) {
        isLineEmpty = wasReturn = false;
        continue;
      }
      const isSecond = byte === lineFeed && wasReturn;
      wasReturn = byte === carriageReturn;
      if (isSecond) continue;
      if (!isLineEmpty) {
        isLineEmpty = true;
        continue;
      }
      if (wasReturn && index + 1 === length) this.#isEnded = true;
      else if (wasReturn && chunk[index + 1] === lineFeed) {
        index += 1;
        wasReturn = false;
      }
      sent = this.#endEvent(chunk, sent, from, index + 1);
      from = index + 1;
    }
    this.#isLineEmpty = isLineEmpty;
    this.#wasReturn = wasReturn;
    this.#keepRest(chunk, sent, from);
  }

  /** The stream has ended: its last event may lack the blank line. */
  end(): void {
    if (this.#held.length === 0) return;
    const event = this.#held.take();
    if (!isUsageAlone(event)) this.write(event);
  }

  /** Up to where the chunk is dealt with now. */
  #endEvent(chunk: Uint8Array, sent: number, from: number, end: number): number {
    this.#isKept = false;
    if (this.#isPassing) {
      this.#isPassing = false;
      return sent;
    }
    if (this.#held.length > 0) {
      // It began in an earlier chunk: nothing of this one has gone.
      this.#held.appendCopy(chunk.subarray(0, end));
      const event = this.#held.take();
      this.#isKept = isUsageAlone(event);
      if (!this.#isKept) this.write(event);
      return end;
    }
    this.#isKept = isUsageAlone(chunk.subarray(from, end));
    if (!this.#isKept) return sent;
    if (from > sent) this.write(chunk.subarray(sent, from));
    return end;
  }

  #keepRest(chunk: Uint8Array, sent: number, from: number): void {
    const { length } = chunk;
    if (!this.#isPassing && this.#held.length + length - from <= heldBytesMax) {
      if (from > sent) this.write(chunk.subarray(sent, from));
      if (from < length) this.#held.appendCopy(chunk.subarray(from));
      return;
    }
    this.#isPassing = true;
    if (this.#held.length > 0) this.write(this.#held.take());
    if (sent < length) this.write(sent === 0 ? chunk : chunk.subarray(sent));
  }
}

/** An event of a chat or text completion with no choice in it, and usage. */
function isUsageAlone(event: Uint8Array): boolean {
  if (event.length > heldBytesMax) return false;
  const bytes = asBuffer(event);
  if (!bytes.includes(usageNeedle) || !namesNoChoice(bytes)) return false;
  const data: string[] = [];
  for (const line of bytes.toString('utf8').split(/\r\n|\n|\r/)) if (line.startsWith('data:')) data.push(line.slice(5));
  try {
    const told = JSON.parse(data.join('\n')) as Json;
    return isObject(told) && Array.isArray(told.choices) && told.choices.length === 0 && isObject(told.usage);
  } catch {
    // Whatever it is, it is the client's.
    return false;
  }
}

/** Somewhere in it `choices` is an empty list. Most chunks are not read further. */
function namesNoChoice(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(choicesNeedle); at !== -1; at = bytes.indexOf(choicesNeedle, at + 1)) {
    const value = valueOfKey(bytes, at, choicesNeedle, true);
    if (value !== -1 && bytes[value] === openBracket && bytes[skipBlank(bytes, value + 1)] === closeBracket) return true;
  }
  return false;
}
