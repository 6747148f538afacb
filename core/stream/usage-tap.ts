// Hot: runs for each chunk.
// What an answer says about itself (model, tokens, finish reason), read beside the relay. While chunks pass, references to the last ones
// are kept; when the answer outgrows that, its first bytes are copied, and what is let go of a plain answer is searched for usage. read()
// searches what was kept, once, at the end, also of an answer that broke off. Never decodes a stream, never holds much more than two chunks
// or twice keptBytesMin.

import { asBuffer, ObjectCursor } from '../body/cursor.js';
import { firstText, lastText, needleOf, textAt, valueOfKey } from '../body/key-search.js';
import { ObjectCapture } from '../body/object-capture.js';
import { isKey } from '../body/scan.js';
import { readTokenCounts, TokenCounts } from '../body/usage-object.js';
import type { Usage } from '../exchange/usage.js';

/** At least so much of the end is kept. */
export const keptBytesMin = 16_384;
/** So much of the beginning is kept of an answer that is longer. */
export const headBytesMax = 4_096;
/** Chunks held before they are copied into one: many small ones cost more than their bytes. */
const chunksMax = 512;

const modelNeedle = needleOf('model');
const usageNeedle = needleOf('usage');
const finishNeedle = needleOf('finish_reason');
const stopNeedle = needleOf('stop_reason');
const incompleteNeedle = needleOf('incomplete_details');

export class UsageTap {
  readonly #isEventStream: boolean;
  /** The latest chunks, and the full generation before them: together at least the last keptBytesMin bytes. */
  #latest: Uint8Array[] = [];
  #latestBytes = 0;
  #earlier: Uint8Array[] = [];
  /** The first bytes, once chunks were let go. */
  #head: Buffer | null = null;
  /** Plain answers: reads the chunks that are let go. */
  #capture: ObjectCapture | null = null;
  #captured: TokenCounts | null = null;

  constructor(isEventStream: boolean) {
    this.#isEventStream = isEventStream;
  }

  push(chunk: Uint8Array): void {
    const latest = this.#latest;
    latest.push(chunk);
    this.#latestBytes += chunk.length;
    if (this.#latestBytes >= keptBytesMin) this.#turn();
    else if (latest.length >= chunksMax) this.#latest = [Buffer.concat(latest)];
  }

  /** The bytes that were kept: all of a short answer, the end of a long one. */
  kept(): Buffer {
    return joined(this.#earlier, this.#latest);
  }

  /** Called once, after the last chunk. */
  read(): Usage {
    const isWhole = this.#head === null;
    const end = joined(this.#earlier, this.#latest);
    const head = this.#head ?? end;
    const last = lastCounts(end, isWhole) ?? this.#capturedCounts(end);
    // Anthropic's streams tell the input at the beginning and the output at the end.
    const begun = this.#isEventStream && (last === null || last.input === -1 || last.output === -1) ? firstCounts(head) : null;
    const counts = last === null ? begun ?? nothingCounted : begun === null ? last : merge(begun, last);
    return {
      model: firstText(head, modelNeedle, true) || (isWhole ? '' : lastText(end, modelNeedle, false)),
      finishReason: finishReason(end, isWhole) || (isWhole ? '' : finishReason(head, true)),
      inputTokens: counts.input,
      outputTokens: counts.output,
      totalTokens: counts.total === -1 && counts.input !== -1 && counts.output !== -1 ? counts.input + counts.besideInput + counts.output : counts.total,
      cachedTokens: counts.cached,
      reasoningTokens: counts.reasoning,
    };
  }

  /** A generation is full: the one before it goes. */
  #turn(): void {
    if (this.#earlier.length > 0) this.#letGo(this.#earlier);
    this.#earlier = this.#latest;
    this.#latest = [];
    this.#latestBytes = 0;
  }

  #letGo(chunks: readonly Uint8Array[]): void {
    // A copy: a reference would hold the whole read that the bytes came in.
    this.#head ??= Buffer.from(joined(chunks, noChunks).subarray(0, headBytesMax));
    if (this.#isEventStream) return;
    this.#capture ??= new ObjectCapture(usageNeedle, (object) => { this.#captured = readTokenCounts(object, 0) ?? this.#captured; });
    for (let index = 0; index < chunks.length; index += 1) this.#capture.push(chunks[index] ?? noBytes);
  }

  /** What was found in chunks that are gone, or begins there and ends in those that were kept. */
  #capturedCounts(end: Buffer): TokenCounts | null {
    if (this.#capture !== null) this.#capture.push(end);
    return this.#captured;
  }
}

const noBytes = Buffer.alloc(0);
const noChunks: readonly Uint8Array[] = [];
const nothingCounted = new TokenCounts();

function joined(earlier: readonly Uint8Array[], latest: readonly Uint8Array[]): Buffer {
  const count = earlier.length + latest.length;
  if (count > 1) return Buffer.concat(earlier.length === 0 ? latest : earlier.concat(latest));
  return asBuffer(earlier[0] ?? latest[0] ?? noBytes);
}

/** The last usage object that counts something. */
function lastCounts(bytes: Buffer, isStartKnown: boolean): TokenCounts | null {
  let at = bytes.lastIndexOf(usageNeedle);
  while (at !== -1) {
    const counts = countsOfKey(bytes, at, isStartKnown);
    if (counts !== null || at === 0) return counts;
    at = bytes.lastIndexOf(usageNeedle, at - 1);
  }
  return null;
}

function firstCounts(head: Buffer): TokenCounts | null {
  for (let at = head.indexOf(usageNeedle); at !== -1; at = head.indexOf(usageNeedle, at + 1)) {
    const counts = countsOfKey(head, at, true);
    if (counts !== null) return counts;
  }
  return null;
}

function countsOfKey(bytes: Buffer, at: number, isStartKnown: boolean): TokenCounts | null {
  const value = valueOfKey(bytes, at, usageNeedle, isStartKnown);
  return value === -1 ? null : readTokenCounts(bytes, value);
}

/** The later object's word counts; what it leaves out stands as the earlier one said. */
function merge(begun: TokenCounts, last: TokenCounts): TokenCounts {
  const merged = new TokenCounts();
  merged.input = last.input === -1 ? begun.input : last.input;
  merged.besideInput = last.input === -1 ? begun.besideInput : last.besideInput;
  merged.output = last.output === -1 ? begun.output : last.output;
  merged.total = last.total === -1 ? begun.total : last.total;
  merged.cached = last.cached === -1 ? begun.cached : last.cached;
  merged.reasoning = last.reasoning === -1 ? begun.reasoning : last.reasoning;
  return merged;
}

/** OpenAI's, Anthropic's, or why a response is incomplete; that a response is complete is no reason. */
function finishReason(bytes: Buffer, isStartKnown: boolean): string {
  return lastText(bytes, finishNeedle, isStartKnown) || lastText(bytes, stopNeedle, isStartKnown) || incompleteReason(bytes, isStartKnown);
}

function incompleteReason(bytes: Buffer, isStartKnown: boolean): string {
  let at = bytes.lastIndexOf(incompleteNeedle);
  while (at !== -1) {
    const value = valueOfKey(bytes, at, incompleteNeedle, isStartKnown);
    if (value !== -1 && bytes[value] === 0x7b) {
      const cursor = new ObjectCursor(bytes, value);
      while (cursor.next()) if (isKey(cursor, 'reason')) return textAt(bytes, cursor.valueStart);
    }
    if (at === 0) return '';
    at = bytes.lastIndexOf(incompleteNeedle, at - 1);
  }
  return '';
}
