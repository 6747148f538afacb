// How a journal of spending lies in its file: frames of entries, one frame for each write. A frame is whole when its checksum says so, and what lies
// behind the last whole one counts as never written. All numbers are little-endian.
//
//   frame    u32 bytes of its entries, u32 CRC-32 of them, entries
//   define   u8 1, u8 unit, u32 number, u16 bytes, UTF-8: the counter that entries of this file name by this number
//   open     u8 2, u8 0, f64 time, id, charges: what a call has reserved
//   settle   u8 3, u8 flags, f64 time, id, charges: what it used, in place of everything that it had reserved
//   end      u8 4, u8 isLast: nothing follows in this file; last: nor in another one of this thread
//   id       u8 bytes, Latin-1
//   charges  u16 how many; of each u32 number of the counter, u32 number of its period, f64 amount

import { createHash } from 'node:crypto';
import type { Counted } from '../snapshot/limit-specs.js';

/** Units of charges; a file says the index. */
export const countedByNumber = ['cost', 'tokens', 'requests'] as const satisfies readonly Counted[];

export const frameHeadBytes = 8;
export const chargeBytes = 16;
export const entryKind = Object.freeze({ define: 1, open: 2, settle: 3, end: 4 });
/** Of a settlement: nobody told what was used. */
export const estimatedFlag = 1;

/** Of one counter's name; it stands in keys of the store as well. */
export const counterKeyBytesMax = 768;
const keptChars = 128;
export const callIdBytesMax = 64;
/** One write; what says it is longer is damage. */
export const frameBytesMax = 16 * 1024 * 1024;

/** The name of a counter as it is written: one that is too long by its beginning and its hash, and half a surrogate pair as what UTF-8 makes of it. */
export function boundedKey(given: string): string {
  const key = /\p{Surrogate}/u.test(given) ? Buffer.from(given).toString() : given;
  if (key.length * 3 <= counterKeyBytesMax || Buffer.byteLength(key) <= counterKeyBytesMax) return key;
  return `${Buffer.from(key.slice(0, keptChars)).toString()}~${createHash('sha256').update(key).digest('hex')}`;
}

export const journalFolder = 'spend';
const suffix = '.journal';
/** Behind the name of a file that nobody could read to its end. */
export const damagedSuffix = '.damaged';

/** `process` is the name of the process, without a slash; files of a thread follow each other by `sequence`. */
export const journalName = (process: string, thread: number, sequence: number): string => `${process}.${thread}.${sequence}${suffix}`;

export interface JournalPlace {
  readonly process: string;
  readonly thread: number;
  readonly sequence: number;
}

/** Undefined: it is not the name of a journal. */
export function journalPlaceOf(name: string): JournalPlace | undefined {
  const match = /^(.+)\.(\d{1,4})\.(\d{1,9})\.journal$/.exec(name);
  if (match === null) return undefined;
  const [, process = '', thread, sequence] = match;
  return { process, thread: Number(thread), sequence: Number(sequence) };
}
