// Removes the oldest rows of logs, in steps, so that a sweep never holds the store for long. Every thread and process has one of these on
// the same store: a row outside the times says whose turn it is, and a sweep that finds it taken leaves the work to the other.

import type { Host, Store } from '@gateway/plugin-sdk';

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
/** Rows lie between these: their keys begin with a digit. */
const firstKey = '0';
const endKey = ':';

/** Sorts as text the way the times sort, up to the year 2286. */
export const timeKey = (atMs: number): string => String(Math.max(0, Math.floor(atMs))).padStart(13, '0');

export class Retention {
  #isUnmeasuredTold = false;

  constructor(readonly host: Host, readonly store: Store, readonly limits: RetentionLimits) {}

  /** What one sweep does not get done, the next goes on with. */
  async sweep(): Promise<void> {
    const version = await this.#takeTurn();
    if (version === undefined) return;
    let removed = 0;
    for (let step = 0; step < stepsMax; step += 1) {
      const count = await this.#step();
      removed += count;
      if (count === 0) break;
    }
    await this.store.write([{ op: 'remove', key: turnKey, ifVersion: version }]);
    if (removed > 0) this.host.count('rowsRemoved', removed);
  }

  /** Rows removed: those that are too old, or the oldest while there is too much. */
  async #step(): Promise<number> {
    const oldest = timeKey(this.host.now() - this.limits.ageMsMax);
    let excess = await this.#size() - this.limits.bytesMax;
    const keys: string[] = [];
    let bytes = 0;
    for await (const row of this.store.range({ from: firstKey, to: endKey, limit: rowsOfStep })) {
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
