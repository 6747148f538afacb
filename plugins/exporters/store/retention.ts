// Keeps logs within their room. Each write removes what it takes, so the limit holds at all times; a sweep removes what is too old, and what a
// lower limit left, in steps, so that it never holds the store for long. Every thread and process has one of these on
// the same store: a row outside the times says whose turn it is, and a sweep that finds it taken leaves the work to the other.

import type { Host, Store, Write } from '@gateway/plugin-sdk';
import { ofCallers, ofRefused, refusedRoom, timeKey, type Partition } from './partitions.js';

export interface RetentionLimits {
  readonly bytesMax: number;
  readonly ageMsMax: number;
}

/** Rows removed in one transaction, and such transactions in one sweep. */
const rowsOfStep = 64;
const stepsMax = 64;
/** Bytes of logs in one step at most, beyond the first row. */
const bytesOfStep = 8 * 1024 * 1024;
/** A sweep that died gives its turn back after this long. */
const turnMs = 60_000;
const turnKey = 'sweep';
/** Rows that one write may remove to make room, and writes that only do that before one more row is left out. */
const rowsOfWrite = 256;
const writesForRoomMax = 16;
/** A partition that is small by its limit has no more rows than this. */
const smallRowsMax = 1024;
/** A row takes whole pages of the store, and its key a place. */
const pageBytes = 4096;
const rowBytes = 64;

export class Retention {
  #isUnmeasuredTold = false;

  constructor(readonly host: Host, readonly store: Store, readonly limits: RetentionLimits) {}

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

  async #oldest({ from, to }: Partition, excess: number): Promise<{ readonly removals: readonly Write[]; readonly left: number }> {
    const removals: Write[] = [];
    let left = excess;
    for await (const { key, value } of this.store.range({ from, to, limit: rowsOfWrite })) {
      if (left <= 0) break;
      removals.push({ op: 'remove', key });
      // What it frees at least.
      left -= value.length;
    }
    return { removals, left };
  }

  async #sizeOf({ from, to }: Partition): Promise<number> {
    let bytes = 0;
    for await (const { value } of this.store.range({ from, to, limit: smallRowsMax })) bytes += pagesOf(value.length);
    return bytes;
  }

  /** What one sweep does not get done, the next goes on with. */
  async sweep(): Promise<void> {
    const version = await this.#takeTurn();
    if (version === undefined) return;
    let removed = 0;
    for (const partition of [ofRefused, ofCallers]) {
      for (let step = 0; step < stepsMax; step += 1) {
        const count = await this.#step(partition);
        removed += count;
        if (count === 0) break;
      }
    }
    await this.store.write([{ op: 'remove', key: turnKey, ifVersion: version }]);
    if (removed > 0) this.host.count('rowsRemoved', removed);
  }

  /** Rows removed: those that are too old, or the oldest while there is too much. */
  async #step(partition: Partition): Promise<number> {
    const oldest = `${partition.prefix}${timeKey(this.host.now() - this.limits.ageMsMax)}`;
    let excess = partition === ofRefused ? 0 : await this.#size() - this.limits.bytesMax;
    const keys: string[] = [];
    let bytes = 0;
    for await (const row of this.store.range({ from: partition.from, to: partition.to, limit: rowsOfStep })) {
      if (excess <= 0 && row.key >= oldest) break;
      if (bytes > bytesOfStep) break;
      keys.push(row.key);
      bytes += row.value.length;
      excess -= row.value.length;
    }
    if (keys.length > 0) await this.store.write(keys.map((key) => ({ op: 'remove', key })));
    return keys.length;
  }

  async #size(): Promise<number> {
    if (this.store.size !== undefined) return this.store.size();
    if (!this.#isUnmeasuredTold) this.host.log.warn('the storage reports no size: logs are kept by age alone', { ageMsMax: this.limits.ageMsMax });
    this.#isUnmeasuredTold = true;
    return 0;
  }

  /** The version of the turn's row when it is ours now. */
  async #takeTurn(): Promise<number | undefined> {
    const now = this.host.now();
    const row = await this.store.get(turnKey);
    if (row !== undefined) {
      const until = Number(new TextDecoder().decode(row.value));
      // A clock that was set back must not keep a turn taken for longer than it lasts.
      if (until > now && until <= now + turnMs) return undefined;
    }
    const version = row?.version ?? 0;
    const value = new TextEncoder().encode(String(now + turnMs));
    return await this.store.write([{ op: 'put', key: turnKey, value, ifVersion: version }]) ? version + 1 : undefined;
  }
}

const pagesOf = (bytes: number): number => Math.ceil((bytes + rowBytes) / pageBytes) * pageBytes;
