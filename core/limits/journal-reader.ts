// Reads what a journal of spending (journal.ts) has written so far. It may be read while it grows: a frame that is not whole yet is read the next time.

import { crc32 } from 'node:zlib';
import type { Counted } from '../snapshot/limit-specs.js';
import { chargeBytes, countedByNumber, entryKind, estimatedFlag, frameBytesMax, frameHeadBytes } from './journal-layout.js';

export interface JournalCounter {
  readonly key: string;
  readonly counted: Counted;
}

export interface JournalCharge {
  readonly counter: JournalCounter;
  readonly period: number;
  readonly amount: number;
}

export type JournalEntry =
  | { readonly kind: 'open'; readonly atMs: number; readonly callId: string; readonly charges: readonly JournalCharge[] }
  | { readonly kind: 'settle'; readonly atMs: number; readonly callId: string; readonly charges: readonly JournalCharge[]; readonly isEstimated: boolean }
  | { readonly kind: 'end'; readonly isLast: boolean };

/** The names of one file, and how far it was read. */
export class JournalReader {
  readonly #counters: (JournalCounter | undefined)[] = [];
  /** Behind the last whole frame that was read. */
  position = 0;

  /** Entries of the whole frames at the start of `bytes`, which lie at `position` in the file, up to the frame that makes `entriesMax` full. The rest is left for the next time. */
  read(bytes: Buffer, entriesMax = Infinity): readonly JournalEntry[] {
    const entries: JournalEntry[] = [];
    let at = 0;
    for (let length = frameLength(bytes, at); length > 0 && entries.length < entriesMax; length = frameLength(bytes, at)) {
      this.#readFrame(bytes, at + frameHeadBytes, at + length, entries);
      at += length;
    }
    this.position += at;
    return entries;
  }

  #readFrame(bytes: Buffer, from: number, to: number, entries: JournalEntry[]): void {
    let at = from;
    const charges = (): JournalCharge[] => {
      const count = bytes.readUInt16LE(at);
      at += 2;
      const list: JournalCharge[] = [];
      for (let index = 0; index < count; index += 1) {
        const counter = this.#counters[bytes.readUInt32LE(at)];
        // A frame with a right checksum names only what was defined before it.
        if (counter === undefined) throw new Error('a counter without a name');
        list.push({ counter, period: bytes.readUInt32LE(at + 4), amount: bytes.readDoubleLE(at + 8) });
        at += chargeBytes;
      }
      return list;
    };
    while (at < to) {
      const kind = bytes[at];
      const flags = bytes[at + 1] as number;
      if (kind === entryKind.end) {
        entries.push({ kind: 'end', isLast: flags === 1 });
        at += 2;
      } else if (kind === entryKind.define) {
        const length = bytes.readUInt16LE(at + 6);
        this.#counters[bytes.readUInt32LE(at + 2)] = { key: bytes.toString('utf8', at + 8, at + 8 + length), counted: countedByNumber[flags] ?? 'requests' };
        at += 8 + length;
      } else if (kind === entryKind.open || kind === entryKind.settle) {
        const atMs = bytes.readDoubleLE(at + 2);
        const idLength = bytes[at + 10] as number;
        const callId = bytes.toString('latin1', at + 11, at + 11 + idLength);
        at += 11 + idLength;
        if (kind === entryKind.open) entries.push({ kind: 'open', atMs, callId, charges: charges() });
        else entries.push({ kind: 'settle', atMs, callId, charges: charges(), isEstimated: (flags & estimatedFlag) !== 0 });
      } else throw new Error(`an entry of kind ${String(kind)}`);
    }
  }
}

/** Of the frame at `at` with its head; 0: there is none that is whole. */
function frameLength(bytes: Buffer, at: number): number {
  if (at + frameHeadBytes > bytes.length) return 0;
  const length = bytes.readUInt32LE(at);
  const to = at + frameHeadBytes + length;
  if (length === 0 || length > frameBytesMax || to > bytes.length) return 0;
  return crc32(bytes.subarray(at + frameHeadBytes, to)) === bytes.readUInt32LE(at + 4) ? frameHeadBytes + length : 0;
}
