// What is kept in the store. Three rows for each answer, so that nothing is read in vain:
//   b/<partition>/<key>                     the answer
//   v/<partition>/<frame>/<key>             text and vector of its question, when there is one to compare
//   t/<time>/<partition>/<frame>/<key>      when it came, how many bytes it takes, when it is over
// A row `t` without bytes says that an answer was taken away: other threads forget it then.

import type { CacheEntry, Row, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';

export interface Answer extends CacheEntry {
  /** Empty when the question cannot be compared. */
  readonly frame: string;
}

export interface Vectored {
  readonly key: string;
  readonly text: string;
  readonly vector: Int8Array;
  readonly storedAtMs: number;
}

export interface Arrival {
  readonly rowKey: string;
  readonly storedAtMs: number;
  readonly partition: string;
  readonly frame: string;
  readonly key: string;
  readonly bytes: number;
  readonly endsAtMs: number;
}

const packr = new Packr({ useRecords: false });
const timeDigits = 15;
const noFrame = '-';
/** Bytes of a row besides its key and value. */
const rowBytes = 48;

export const answerKey = (partition: string, key: string): string => `b/${partition}/${key}`;
export const vectorPrefix = (partition: string, frame: string): string => `v/${partition}/${frame}/`;
export const arrivalTime = (timeMs: number): string => `t/${String(Math.max(0, Math.floor(timeMs))).padStart(timeDigits, '0')}/`;
export const arrivalsEnd = 't0';

/** The key after all that begin with this prefix. */
export const prefixEnd = (prefix: string): string => `${prefix.slice(0, -1)}0`;

export function readAnswer(row: Row): Answer | undefined {
  const [status, contentType, storedAtMs, frame, body, endsAtMs] = unpacked(row);
  if (typeof endsAtMs !== 'number' || typeof status !== 'number' || typeof contentType !== 'string' || typeof storedAtMs !== 'number' || typeof frame !== 'string' || !(body instanceof Uint8Array)) return undefined;
  return { status, contentType, storedAtMs, endsAtMs, frame, body };
}

export function readVectored(row: Row): Vectored | undefined {
  const [text, storedAtMs, vector] = unpacked(row);
  if (typeof text !== 'string' || typeof storedAtMs !== 'number' || !(vector instanceof Uint8Array)) return undefined;
  return { key: row.key.slice(row.key.lastIndexOf('/') + 1), text, storedAtMs, vector: Int8Array.from(new Int8Array(vector.buffer, vector.byteOffset, vector.byteLength)) };
}

export function readArrival(row: Row): Arrival | undefined {
  const [, time, partition, frame, key] = row.key.split('/');
  const [bytes, endsAtMs] = unpacked(row);
  if (time === undefined || partition === undefined || frame === undefined || key === undefined || typeof bytes !== 'number' || typeof endsAtMs !== 'number') return undefined;
  return { rowKey: row.key, storedAtMs: Number(time), partition, frame: frame === noFrame ? '' : frame, key, bytes, endsAtMs };
}

export interface StoredAnswer {
  readonly partition: string;
  readonly key: string;
  readonly answer: Answer;
  /** What its vector and text will take, which are written later; 0: there will be none. */
  readonly vectorBytes: number;
}

/** Puts an answer in, and takes the arrival and the vector of the one before it out. */
export function putWrites({ partition, key, answer, vectorBytes }: StoredAnswer, before: Answer | undefined): Write[] {
  const { status, contentType, storedAtMs, endsAtMs, frame, body } = answer;
  const writes: Write[] = [];
  if (before !== undefined) {
    writes.push({ op: 'remove', key: arrivalKey(before.storedAtMs, partition, before.frame, key) });
    if (before.frame !== '') writes.push({ op: 'remove', key: vectorPrefix(partition, before.frame) + key });
  }
  const value = packr.pack([status, contentType, storedAtMs, frame, body, endsAtMs]);
  writes.push({ op: 'put', key: answerKey(partition, key), value });
  let bytes = value.length + key.length + partition.length + 2 * rowBytes;
  if (vectorBytes > 0) bytes += vectorBytes + partition.length + frame.length + key.length + rowBytes;
  bytes += partition.length + frame.length + key.length;
  writes.push({ op: 'put', key: arrivalKey(storedAtMs, partition, frame, key), value: packr.pack([bytes, endsAtMs]) });
  return writes;
}

/** The vector of a question whose answer is there already. */
export function vectorWrite(partition: string, frame: string, { key, text, storedAtMs, vector }: Vectored): Write {
  const value = packr.pack([text, storedAtMs, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)]);
  return { op: 'put', key: vectorPrefix(partition, frame) + key, value };
}

/** Takes an answer out. `nowMs`: leaves a note for other threads, kept until `endsAtMs`. */
export function removeWrites(partition: string, key: string, frame: string, storedAtMs: number, note?: { readonly nowMs: number; readonly endsAtMs: number }): Write[] {
  const writes: Write[] = [
    { op: 'remove', key: answerKey(partition, key) },
    { op: 'remove', key: arrivalKey(storedAtMs, partition, frame, key) },
  ];
  if (frame !== '') writes.push({ op: 'remove', key: vectorPrefix(partition, frame) + key });
  if (note !== undefined) writes.push({ op: 'put', key: arrivalKey(note.nowMs, partition, frame, key), value: packr.pack([0, note.endsAtMs]) });
  return writes;
}

const arrivalKey = (timeMs: number, partition: string, frame: string, key: string): string =>
  `${arrivalTime(timeMs)}${partition}/${frame === '' ? noFrame : frame}/${key}`;

/** The members of a row; none when it is not ours to read. */
function unpacked(row: Row): readonly unknown[] {
  try {
    const value: unknown = packr.unpack(row.value);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
