import { defineExporter, type Exporter, type Host, type LogRecord, type Store } from '@gateway/plugin-sdk';
import { packLogBatch } from './log-batch.js';
import { Retention, timeKey } from './retention.js';

const sweepPeriodMs = 30_000;

/** Writes each batch as one row, under a key that sorts by time: `<13 digits of milliseconds>-<writer>-<number>`. */
class StoreExporter implements Exporter {
  /** Tells the writers of several threads and processes apart. */
  readonly #writer: string;
  #number = 0;

  constructor(readonly host: Host, readonly store: Store) {
    this.#writer = Math.floor(host.random() * 36 ** 8).toString(36).padStart(8, '0');
  }

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (batch.length === 0) return;
    const key = `${timeKey(this.host.now())}-${this.#writer}-${String(this.#number % 1e9).padStart(9, '0')}`;
    this.#number += 1;
    if (!await this.store.write([{ op: 'put', key, value: packLogBatch(batch), ifVersion: 0 }])) throw new Error(`the log row ${key} is taken`);
    this.host.count('records', batch.length);
  }

  async close(): Promise<void> {
    await this.store.close?.();
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
    },
  },
  batch: { countMax: 500, waitMsMax: 1000 },
  create: async (params, host) => {
    const store = await host.store('logs');
    const retention = new Retention(host, store, { bytesMax: params.bytesMax, ageMsMax: params.ageDaysMax * 86_400_000 });
    host.every(sweepPeriodMs, () => retention.sweep());
    return new StoreExporter(host, store);
  },
});
