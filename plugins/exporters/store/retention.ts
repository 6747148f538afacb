// Keeps logs within their room. Each write removes what it takes, so the limit holds at all times; a sweep removes what is too old, and what a
// lower limit left, in steps, so that it never holds the store for long. Every thread and process has one of these on
// the same store: a row outside the times says whose turn it is, and a sweep that finds it taken leaves the work to the other.

import type { Host, Store, Write } from '@gateway/plugin-sdk';
import { bytesOfHead, heads, keyOfHead, removalOf, timeOfKey } from './block.js';
import { ofCallers, ofRefused, refusedRoom, type Partition } from './partitions.js';
import { Turn } from './turn.js';

export interface RetentionLimits {
  readonly bytesMax: number;
  readonly ageMsMax: number;
}

/** Rows removed in one transaction, and such transactions in one sweep. */
const rowsOfStep = 64;
const stepsMax = 64;
/** Bytes of logs in one step at most, beyond the first row. */
const bytesOfStep = 8 * 1024 * 1024;
/** Rows that one write may remove to make room, and writes that only do that before one more row is left out. */
const rowsOfWrite = 256;
const writesForRoomMax = 16;
/** A partition that is small by its limit has no more rows than this. */
const smallRowsMax = 1024;
/** A row takes whole pages of the store, and its key a place. */
const pageBytes = 4096;
const rowBytes = 64;

export class Retention {
  readonly #turn: Turn;
  #isUnmeasuredTold = false;

  constructor(readonly host: Host, readonly store: Store, readonly limits: RetentionLimits) {
    this.#turn = new Turn(host, store, 'sweep');
  }

  /** What has to go in the write of a row of `bytes`, so that it has room; undefined when there is none to be made. */
  async roomFor(bytes: number, partition: Partition): Promise<readonly Write[] | undefined> {
    const needed = pagesOf(bytes);
    for (let writes = 0; writes <= writesForRoomMax; writes += 1) {
      const excess = partition === ofRefused ? await this.#sizeOf(partition) + needed - refusedRoom(this.limits.bytesMax) : await this.#size() + needed - this.limits.bytesMax;
      if (excess <= 0) return [];
      const { removals, left } = await this.#oldest(partition, excess);
      if (left <= 0) return removals;
      if (removals.length === 0) return undefined;
      // A lower limit than before, say: more than goes into one write.
      await this.store.write(removals);
    }
    return undefined;
  }

  async #oldest(partition: Partition, excess: number): Promise<{ readonly removals: readonly Write[]; readonly left: number }> {
    const removals: Write[] = [];
    let left = excess;
    for await (const { writes, bytes } of this.#ageing(partition, rowsOfWrite)) {
      if (left <= 0) break;
      removals.push(...writes);
      // What it frees at least.
      left -= bytes;
    }
    return { removals, left };
  }

  /** What goes first: blocks, which are older than all rows, then rows; oldest first. */
  async *#ageing({ from, to, prefix }: Partition, limit: number): AsyncGenerator<{ readonly atMs: number; readonly writes: readonly Write[]; readonly bytes: number }> {
    let count = 0;
    if (prefix === ofCallers.prefix) {
      for await (const { key, value } of this.store.range({ from: heads.from, to: heads.to, limit })) {
        count += 1;
        yield { atMs: timeOfKey(keyOfHead(key)), writes: removalOf(keyOfHead(key)), bytes: bytesOfHead(value) };
      }
    }
    for await (const { key, value } of this.store.range({ from, to, limit: limit - count })) yield { atMs: timeOfKey(key.slice(prefix.length)), writes: [{ op: 'remove', key }], bytes: value.length };
  }

  async #sizeOf({ from, to }: Partition): Promise<number> {
    let bytes = 0;
    for await (const { value } of this.store.range({ from, to, limit: smallRowsMax })) bytes += pagesOf(value.length);
    return bytes;
  }

  /** What one sweep does not get done, the next goes on with. */
  async sweep(): Promise<void> {
    let removed = 0;
    await this.#turn.run(async () => {
      for (const partition of [ofRefused, ofCallers]) {
        for (let step = 0; step < stepsMax; step += 1) {
          const count = await this.#step(partition);
          removed += count;
          if (count === 0) break;
        }
      }
    });
    if (removed > 0) this.host.count('rowsRemoved', removed);
  }

  /** Rows removed: those that are too old, or the oldest while there is too much. */
  async #step(partition: Partition): Promise<number> {
    const oldestMs = this.host.now() - this.limits.ageMsMax;
    let excess = partition === ofRefused ? 0 : await this.#size() - this.limits.bytesMax;
    const writes: Write[] = [];
    let [count, freed] = [0, 0];
    for await (const { atMs, writes: removals, bytes } of this.#ageing(partition, rowsOfStep)) {
      if (excess <= 0 && atMs >= oldestMs) break;
      if (freed > bytesOfStep) break;
      writes.push(...removals);
      count += 1;
      freed += bytes;
      excess -= bytes;
    }
    if (writes.length > 0) await this.store.write(writes);
    return count;
  }

  async #size(): Promise<number> {
    if (this.store.size !== undefined) return this.store.size();
    if (!this.#isUnmeasuredTold) this.host.log.warn('the storage reports no size: logs are kept by age alone', { ageMsMax: this.limits.ageMsMax });
    this.#isUnmeasuredTold = true;
    return 0;
  }
}

const pagesOf = (bytes: number): number => Math.ceil((bytes + rowBytes) / pageBytes) * pageBytes;
