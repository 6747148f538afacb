import { defineExporter, type Exporter, type Host, type LogRecord, type Store } from '@gateway/plugin-sdk';
import { Arrivals } from './arrivals.js';
import { BodyRows } from './bodies.js';
import { damageOf } from './damage.js';
import { packLogBatch } from './log-batch.js';
import { ofCallers, ofRefused, timeKey, type Partition } from './partitions.js';
import { Merging } from './merging.js';
import { Retention } from './retention.js';

const dayMs = 86_400_000;
const sweepPeriodMs = 30_000;
const mergePeriodMs = 10_000;
/** What was read for queries is held until nobody has asked for one to two of these. */
const restPeriodMs = 30_000;
/** A row is at most this share of the room, or this long; a larger batch becomes several rows. A record alone may be longer. */
const rowShare = 64;
const rowBytesMax = 1024 * 1024;

/** Writes each batch as a row, under a key that sorts by time: `<13 digits of milliseconds>-<writer>-<number>`; callers without a key apart. */
class StoreExporter implements Exporter {
  /** Tells the writers of several threads and processes apart. */
  readonly #writer: string;
  readonly #arrivals: Arrivals;
  #number = 0;

  constructor(readonly host: Host, readonly store: Store, readonly retention: Retention, readonly bodies: BodyRows | null = null) {
    this.#arrivals = new Arrivals(host, store);
    this.#writer = Math.floor(host.random() * 36 ** 8).toString(36).padStart(8, '0');
  }

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const isKnown = (record: LogRecord): boolean => record.keyId !== '';
    const callers = batch.every(isKnown) ? batch : batch.filter(isKnown);
    if (callers.length > 0) await this.#write(callers, ofCallers, signal);
    if (this.bodies !== null) await this.bodies.write(callers, signal);
    if (callers.length < batch.length) await this.#write(batch.filter((record) => !isKnown(record)), ofRefused, signal);
  }

  async #write(records: readonly LogRecord[], partition: Partition, signal: AbortSignal): Promise<void> {
    const value = packLogBatch(records);
    if (value.length > Math.min(rowBytesMax, this.retention.limits.bytesMax / rowShare) && records.length > 1) {
      const half = records.length >> 1;
      await this.#write(records.slice(0, half), partition, signal);
      signal.throwIfAborted();
      await this.#write(records.slice(half), partition, signal);
      return;
    }
    const number = String(this.#number % 1e9).padStart(9, '0');
    this.#number += 1;
    let removed = 0;
    await this.#arrivals.write(async (atMs) => {
      const removals = await this.retention.roomFor(value.length, partition);
      if (removals === undefined) throw new Error(`the log has no room for ${value.length} bytes more within its ${this.retention.limits.bytesMax}`);
      removed = removals.length;
      return [...removals, { op: 'put', key: `${partition.prefix}${timeKey(atMs)}-${this.#writer}-${number}`, value, ifVersion: 0 }];
    });
    if (removed > 0) this.host.count('rowsRemoved', removed);
    this.host.count('records', records.length);
  }

  async close(): Promise<void> {
    await this.store.close?.();
    await this.bodies?.close();
  }
}

export default defineExporter({
  title: 'Store',
  describe: 'Keeps log records in the gateway\'s own storage, for the log and analytics endpoints. The oldest are removed by size and age.',
  params: {
    type: 'object',
    properties: {
      bytesMax: { type: 'integer', minimum: 1_048_576, default: 1_073_741_824, description: 'Bytes of storage that logs may take; the oldest are removed first.' },
      ageDaysMax: { type: 'number', exclusiveMinimum: 0, default: 30, description: 'Days that a record is kept.' },
      bodiesBytesMax: { type: 'integer', minimum: 1_048_576, default: 1_073_741_824, description: 'Bytes of storage that kept bodies may take beside the logs; the oldest are removed first.' },
      bodiesDaysMax: { type: 'number', exclusiveMinimum: 0, default: 7, description: 'Days that bodies are kept.' },
    },
  },
  batch: { countMax: 500, waitMsMax: 1000 },
  takesBodies: true,
  create: async (params, host) => {
    const store = await host.store('logs');
    const retention = new Retention(host, store, { bytesMax: params.bytesMax, ageMsMax: params.ageDaysMax * dayMs });
    const bodies = new BodyRows(host, await host.store('bodies'), { bytesMax: params.bodiesBytesMax, ageMsMax: params.bodiesDaysMax * dayMs });
    host.every(sweepPeriodMs, async () => {
      await retention.sweep();
      await bodies.sweep();
    });
    const merging = new Merging(host, store, { bytesMax: params.bytesMax, ageMsMax: params.ageDaysMax * dayMs }, damageOf(host, 'rowsUnmerged', 'records of the log cannot be read and are not merged'));
    host.every(mergePeriodMs, async () => { await merging.run(); });
    return new StoreExporter(host, store, retention, bodies);
  },
  reader: async (params, host) => {
    // Of no use to the thread that writes.
    const [{ FeedbackRows }, { StoreReader }] = await Promise.all([import('./feedback-rows.js'), import('./reader.js')]);
    const store = await host.store('logs');
    const ageMsMax = params.ageDaysMax * dayMs;
    const feedback = new FeedbackRows(host, await host.store('feedback'), ageMsMax);
    const bodies = new BodyRows(host, await host.store('bodies'), { bytesMax: params.bodiesBytesMax, ageMsMax: params.bodiesDaysMax * dayMs });
    const writer = new StoreExporter(host, store, new Retention(host, store, { bytesMax: params.bytesMax, ageMsMax }), bodies);
    host.every(sweepPeriodMs, () => feedback.sweep());
    const reader = new StoreReader(store, feedback, bodies, (records) => writer.export(records, new AbortController().signal), damageOf(host, 'rowsDamaged', 'records of the log cannot be read and are left out'));
    host.every(restPeriodMs, () => reader.rest());
    return reader;
  },
});
