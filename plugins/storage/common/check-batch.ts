// What both backends refuse before they touch a row, so that a bad batch can never be written in part.

import type { Write } from '@gateway/plugin-sdk';

/** Largest key in UTF-8 bytes: LMDB takes 1,978, and other engines less than that. */
export const keyBytesMax = 1024;
const valueBytesMax = 256 * 1024 * 1024;
export const batchCountMax = 100_000;

const storeName = /^[a-z0-9][a-z0-9_-]{0,127}$/;

export function checkStoreName(name: string): void {
  if (!storeName.test(name)) throw new RangeError(`store name ${JSON.stringify(name)}: use 1 to 128 of a-z, 0-9, - and _, beginning with a letter or digit`);
}

/** Throws before anything is written. */
export function checkBatch(batch: readonly Write[]): void {
  if (batch.length > batchCountMax) throw new RangeError(`a batch holds at most ${batchCountMax} writes; this one has ${batch.length}`);
  for (const { op, key, value } of batch) {
    checkKey(key);
    if (key === '') throw new RangeError('a key may not be empty');
    if (op === 'put' && value === undefined) throw new TypeError(`put of ${JSON.stringify(key)} has no value`);
    if (value !== undefined && value.length > valueBytesMax) throw new RangeError(`the value of ${JSON.stringify(key)} is larger than ${valueBytesMax} bytes`);
  }
}

/** A bound of a range may be empty; everything else holds for it as well. */
export function checkKey(key: string): void {
  // A UTF-16 unit takes at least one byte: the length alone refuses what is hopeless before it is encoded.
  if (key.length > keyBytesMax || Buffer.byteLength(key) > keyBytesMax) throw new RangeError(`a key is at most ${keyBytesMax} bytes long`);
  // Half a surrogate pair has no UTF-8: two such keys would become one.
  if (/\p{Surrogate}/u.test(key)) throw new RangeError('a key may not hold half of a surrogate pair');
}

/**
 * The version that each write of the batch leaves (0: removed), each condition checked against what the batch did before it; undefined when
 * one does not hold.
 */
export function planVersions(batch: readonly Write[], versionOf: (key: string) => number): number[] | undefined {
  const planned = new Map<string, number>();
  const versions: number[] = [];
  for (const { op, key, ifVersion } of batch) {
    const version = planned.get(key) ?? versionOf(key);
    if (ifVersion !== undefined && ifVersion !== version) return undefined;
    const next = op === 'put' ? version + 1 : 0;
    planned.set(key, next);
    versions.push(next);
  }
  return versions;
}
