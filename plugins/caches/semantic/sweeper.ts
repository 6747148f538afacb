// Takes what is over and what is too much out of the store. One thread at a time, told by a row that says who swept last.

import type { Host, Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { arrivalsEnd, arrivalTime, readArrival, readAnswer, answerKey, removeWrites, type Arrival } from './records.js';

const leaseKey = 's';
export const sweepPeriodMs = 30_000;
const rowsMax = 1000;
const writesMax = 300;
/** A sweep goes below the limit, so that the next answer does not start another. */
const keptShare = 0.9;
/** Bytes written by this thread, as a part of the limit, that call for a sweep out of turn. */
const earlyShare = 0.1;
const packr = new Packr({ useRecords: false });

export class Sweeper {
  readonly #host: Host;
  readonly #store: Store;
  readonly #bytesMax: number;
  #writtenBytes = 0;
  #sweeping: Promise<void> | undefined;

  constructor(host: Host, store: Store, bytesMax: number) {
    this.#host = host;
    this.#store = store;
    this.#bytesMax = bytesMax;
  }

  /** False for an answer that is larger than all the room there is. */
  async admits(bytes: number): Promise<boolean> {
    if (bytes > this.#bytesMax * keptShare) return false;
    this.#writtenBytes += bytes;
    if (this.#writtenBytes > this.#bytesMax * earlyShare) {
      this.#writtenBytes = 0;
      await this.#once();
    }
    return true;
  }

  /** Periodic: only when no thread swept of late. */
  async sweep(): Promise<void> {
    const nowMs = this.#host.now();
    const row = await this.#store.get(leaseKey);
    const last: unknown = row === undefined ? 0 : packr.unpack(row.value);
    if (typeof last === 'number' && nowMs - last < sweepPeriodMs / 2 && nowMs >= last) return;
    if (!await this.#store.write([{ op: 'put', key: leaseKey, value: packr.pack(nowMs), ifVersion: row?.version ?? 0 }])) return;
    await this.#once();
  }

  #once(): Promise<void> {
    this.#sweeping ??= this.#run().finally(() => { this.#sweeping = undefined; });
    return this.#sweeping;
  }

  async #run(): Promise<void> {
    const nowMs = this.#host.now();
    let bytes = 0;
    const over: Arrival[] = [];
    for await (const arrival of this.#arrivals()) {
      if (arrival.endsAtMs < nowMs) over.push(arrival);
      else bytes += arrival.bytes;
      if (over.length >= writesMax) await this.#take(over.splice(0));
    }
    await this.#take(over);
    if (bytes <= this.#bytesMax) return;
    let count = 0;
    for await (const arrival of this.#arrivals()) {
      if (bytes <= this.#bytesMax * keptShare) break;
      bytes -= arrival.bytes;
      count += 1;
      over.push(arrival);
      if (over.length >= writesMax) await this.#take(over.splice(0));
    }
    await this.#take(over);
    this.#host.count('evictions', count);
  }

  /** All arrivals, oldest first, in slices: a reader of the store is never kept open for long. */
  async *#arrivals(): AsyncGenerator<Arrival> {
    let from = arrivalTime(0);
    for (;;) {
      const slice: Arrival[] = [];
      let last = '';
      let count = 0;
      for await (const row of this.#store.range({ from, to: arrivalsEnd, limit: rowsMax })) {
        count += 1;
        last = row.key;
        const arrival = readArrival(row);
        if (arrival !== undefined) slice.push(arrival);
      }
      yield* slice;
      if (count < rowsMax) return;
      from = `${last} `;
      await new Promise<void>((resolve) => { setImmediate(resolve); });
    }
  }

  async #take(arrivals: readonly Arrival[]): Promise<void> {
    const writes: Write[] = [];
    for (const arrival of arrivals) {
      const { partition, key, frame, storedAtMs, rowKey } = arrival;
      const row = await this.#store.get(answerKey(partition, key));
      const answer = row === undefined ? undefined : readAnswer(row);
      // Only the arrival goes when the answer is a newer one, or when this was the note about one removed.
      if (arrival.bytes > 0 && (answer === undefined || answer.storedAtMs <= storedAtMs + 1)) writes.push(...removeWrites(partition, key, frame, storedAtMs));
      writes.push({ op: 'remove', key: rowKey });
    }
    if (writes.length > 0) await this.#store.write(writes);
  }
}
