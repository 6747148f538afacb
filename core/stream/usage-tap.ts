// Hot: runs for each chunk.
// What an answer says about itself (model, tokens, finish reason), read beside the relay. While chunks pass, their bytes are copied, since chunks
// are only lent: the last ones, and the first ones when the answer outgrows that. What is let go of a plain answer is searched for usage. read()
// searches what was kept, once, at the end, also of an answer that broke off. Never decodes a stream, never holds more than headBytesMax and
// twice keptBytesMin.

import { asBuffer, ObjectCursor } from '../body/cursor.js';
import { firstText, lastText, needleOf, textAt, valueOfKey } from '../body/key-search.js';
import { ObjectCapture } from '../body/object-capture.js';
import { isKey } from '../body/scan.js';
import { readGeminiCounts, readTokenCounts, TokenCounts } from '../body/usage-object.js';
import type { Usage } from '../exchange/usage.js';

/** At least so much of the end is kept. */
export const keptBytesMin = 16_384;
/** So much of the beginning is kept of an answer that is longer. */
export const headBytesMax = 4_096;
/** The first block of a short answer. */
const blockBytesMin = 1_024;

const modelNeedle = needleOf('model');
const usageNeedle = needleOf('usage');
const geminiNeedle = needleOf('usageMetadata');
const billedNeedle = needleOf('billed_units');
const finishNeedle = needleOf('finish_reason');
const stopNeedle = needleOf('stop_reason');
const incompleteNeedle = needleOf('incomplete_details');

export class UsageTap {
  readonly #isEventStream: boolean;
  readonly #isNative: boolean;
  /** The latest bytes, and the full block before them: together at least the last keptBytesMin bytes. */
  #latest: Buffer = noBytes;
  #latestBytes = 0;
  #earlier: Buffer = noBytes;
  /** The first bytes, once some were let go. */
  #head: Buffer | null = null;
  /** Plain answers: reads the bytes that are let go. */
  #capture: ObjectCapture | null = null;
  #captured: TokenCounts | null = null;

  /** `isNative`: the answer may be in a shape of the provider's own. */
  constructor(isEventStream: boolean, isNative = false) {
    this.#isEventStream = isEventStream;
    this.#isNative = isNative;
  }

  push(chunk: Uint8Array): void {
    const { length } = chunk;
    const bytes = this.#latestBytes + length;
    if (bytes > keptBytesMin) {
      this.#pushLong(chunk);
      return;
    }
    if (bytes > this.#latest.length) this.#grow(bytes);
    this.#latest.set(chunk, this.#latestBytes);
    this.#latestBytes = bytes;
  }

  /** The same for the whole of an answer, in bytes that stay as they are: a short one is not copied. */
  pushWhole(bytes: Uint8Array): void {
    // A full block would be written into when more comes.
    if (this.#latestBytes > 0 || bytes.length >= keptBytesMin) {
      this.push(bytes);
      return;
    }
    this.#latest = asBuffer(bytes);
    this.#latestBytes = bytes.length;
  }

  /** The bytes that were kept: all of a short answer, the end of a long one. */
  kept(): Buffer {
    const latest = this.#latest.subarray(0, this.#latestBytes);
    return this.#earlier.length === 0 ? latest : Buffer.concat([this.#earlier, latest]);
  }

  /** The last bytes, `bytesMax` of them or all there are. */
  tail(bytesMax: number): Buffer {
    if (this.#latestBytes >= bytesMax || this.#earlier.length === 0) return this.#latest.subarray(Math.max(0, this.#latestBytes - bytesMax), this.#latestBytes);
    return this.kept().subarray(-bytesMax);
  }

  /** Called once, after the last chunk. */
  read(): Usage {
    const isWhole = this.#head === null;
    const end = this.kept();
    const head = this.#head ?? end;
    const last = lastCounts(end, isWhole) ?? this.#capturedCounts(end);
    // Anthropic's streams tell the input at the beginning and the output at the end.
    const begun = this.#isEventStream && (last === null || last.isPartial) ? firstCounts(head) : null;
    const counts = last === null ? begun ?? (this.#isNative ? nativeCounts(end, isWhole) : null) ?? nothingCounted : begun === null ? last : merge(begun, last);
    const { besideInput, besideOutput } = counts;
    const input = counts.input === -1 ? -1 : counts.input + besideInput;
    const output = counts.output === -1 ? -1 : counts.output + besideOutput;
    // A total that leaves out what it is the total of counts for nothing.
    const total = counts.total === -1 && (input === -1 || output === -1) ? -1 : Math.max(counts.total, Math.max(0, input) + Math.max(0, output));
    return {
      model: firstText(head, modelNeedle, true) || (isWhole ? '' : lastText(end, modelNeedle, false)),
      finishReason: finishReason(end, isWhole) || (isWhole ? '' : finishReason(head, true)),
      inputTokens: input,
      outputTokens: output,
      totalTokens: total,
      cachedTokens: counts.cached,
      cacheWriteTokens: counts.cacheWrite,
      inputAudioTokens: counts.inputAudio,
      inputImageTokens: counts.inputImage,
      reasoningTokens: counts.reasoning,
      outputAudioTokens: counts.outputAudio,
      outputImageTokens: counts.outputImage,
      units: counts.units,
      isBatch: counts.isBatch,
    };
  }

  /** Room for `bytes`, and for as much again as there is. */
  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(Math.min(keptBytesMin, Math.max(bytes, 2 * this.#latest.length, blockBytesMin)));
    if (this.#latestBytes > 0) this.#latest.copy(grown, 0, 0, this.#latestBytes);
    this.#latest = grown;
  }

  /** The latest block is full: the one before it goes, and is filled anew. */
  #pushLong(chunk: Uint8Array): void {
    let from = 0;
    // Of a chunk that is longer than all that is kept, what goes at once is not copied.
    const kept = chunk.length - keptBytesMin;
    if (kept > 0) {
      this.#letGo(this.#earlier);
      this.#letGo(this.#latest.subarray(0, this.#latestBytes));
      this.#letGo(chunk.subarray(0, kept));
      this.#earlier = noBytes;
      this.#latestBytes = 0;
      from = kept;
    }
    if (this.#latest.length < keptBytesMin) this.#grow(keptBytesMin);
    while (from < chunk.length) {
      if (this.#latestBytes === keptBytesMin) this.#turn();
      const count = Math.min(keptBytesMin - this.#latestBytes, chunk.length - from);
      this.#latest.set(chunk.subarray(from, from + count), this.#latestBytes);
      this.#latestBytes += count;
      from += count;
    }
  }

  #turn(): void {
    const earlier = this.#earlier;
    this.#letGo(earlier);
    this.#earlier = this.#latest;
    this.#latest = earlier.length > 0 ? earlier : Buffer.allocUnsafe(keptBytesMin);
    this.#latestBytes = 0;
  }

  #letGo(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const head = this.#head;
    if (head === null) this.#head = Buffer.from(bytes.subarray(0, headBytesMax));
    else if (head.length < headBytesMax) this.#head = Buffer.concat([head, bytes.subarray(0, headBytesMax - head.length)]);
    if (this.#isEventStream) return;
    this.#capture ??= new ObjectCapture(usageNeedle, (object) => { this.#captured = readTokenCounts(object, 0) ?? this.#captured; });
    this.#capture.push(bytes);
  }

  /** What was found in chunks that are gone, or begins there and ends in those that were kept. */
  #capturedCounts(end: Buffer): TokenCounts | null {
    if (this.#capture !== null) this.#capture.push(end);
    return this.#captured;
  }
}

const noBytes = Buffer.alloc(0);
const nothingCounted = new TokenCounts();
/** Of the answer that is being read: its last counts, and its first. Nobody keeps them. */
const lastOnes = new TokenCounts();
const firstOnes = new TokenCounts();

/** The last usage object that counts something. */
function lastCounts(bytes: Buffer, isStartKnown: boolean): TokenCounts | null {
  let at = bytes.lastIndexOf(usageNeedle);
  while (at !== -1) {
    const counts = countsOfKey(bytes, at, isStartKnown, lastOnes);
    if (counts !== null || at === 0) return counts;
    at = bytes.lastIndexOf(usageNeedle, at - 1);
  }
  return null;
}

/** Of answers that have it under a name of their own: Gemini's as they come, Cohere's embeddings and rankings. */
function nativeCounts(bytes: Buffer, isStartKnown: boolean): TokenCounts | null {
  let at = bytes.lastIndexOf(geminiNeedle);
  while (at !== -1) {
    const value = valueOfKey(bytes, at, geminiNeedle, isStartKnown);
    const counts = value === -1 ? null : readGeminiCounts(bytes, value);
    if (counts !== null || at === 0) return counts;
    at = bytes.lastIndexOf(geminiNeedle, at - 1);
  }
  at = bytes.lastIndexOf(billedNeedle);
  const value = at === -1 ? -1 : valueOfKey(bytes, at, billedNeedle, isStartKnown);
  return value === -1 ? null : readTokenCounts(bytes, value);
}

function firstCounts(head: Buffer): TokenCounts | null {
  for (let at = head.indexOf(usageNeedle); at !== -1; at = head.indexOf(usageNeedle, at + 1)) {
    const counts = countsOfKey(head, at, true, firstOnes);
    if (counts !== null) return counts;
  }
  return null;
}

function countsOfKey(bytes: Buffer, at: number, isStartKnown: boolean, counts: TokenCounts): TokenCounts | null {
  const value = valueOfKey(bytes, at, usageNeedle, isStartKnown);
  return value === -1 ? null : readTokenCounts(bytes, value, counts);
}

/** The later object's word counts; what it leaves out stands as the earlier one said. */
function merge(begun: TokenCounts, last: TokenCounts): TokenCounts {
  const merged = new TokenCounts();
  merged.input = last.input === -1 ? begun.input : last.input;
  merged.isPrompt = last.input === -1 ? begun.isPrompt : last.isPrompt;
  merged.isInputApart = begun.isInputApart || last.isInputApart;
  merged.isOutputApart = begun.isOutputApart || last.isOutputApart;
  merged.isBatch = begun.isBatch || last.isBatch;
  merged.output = last.output === -1 ? begun.output : last.output;
  merged.total = last.total === -1 ? begun.total : last.total;
  merged.cached = last.cached === -1 ? begun.cached : last.cached;
  merged.reasoning = last.reasoning === -1 ? begun.reasoning : last.reasoning;
  merged.cacheWrite = last.cacheWrite === -1 ? begun.cacheWrite : last.cacheWrite;
  merged.inputAudio = last.inputAudio === -1 ? begun.inputAudio : last.inputAudio;
  merged.inputImage = last.inputImage === -1 ? begun.inputImage : last.inputImage;
  merged.outputAudio = last.outputAudio === -1 ? begun.outputAudio : last.outputAudio;
  merged.outputImage = last.outputImage === -1 ? begun.outputImage : last.outputImage;
  merged.units = begun.units === null ? last.units : last.units === null ? begun.units : { ...begun.units, ...last.units };
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
