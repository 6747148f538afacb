// Bodies of calls, in a store of their own beside the records, one compressed row for each record that has any. They have room and an age of their own,
// so that they push out no record.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { Host, LogBodies, LogRecord, Store, Write } from '@gateway/plugin-sdk';
import { damageOf, type OnDamaged } from './damage.js';
import { ofCallers, timeKey } from './partitions.js';
import { Retention, type RetentionLimits } from './retention.js';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Half a millisecond for the bodies of a usual call; the best one takes twenty times as long for a tenth less. */
const quality = 5;
/** Of one transaction, beyond its last row. */
const bytesOfWrite = 1024 * 1024;
const rowsOfWrite = 64;
/** What a row takes beside its bytes, for the most part of a page. */
const placeBytes = 2048;
/** Between two lines about bodies that could not be written. */
const tellEveryMs = 60_000;
/** What a row may become: all bodies of a call, at their largest limits, take less. */
const readBytesMax = 64 * 1024 * 1024;

const names = ['requestHeaders', 'request', 'upstreamUrl', 'upstreamHeaders', 'upstreamRequest', 'upstreamResponse', 'responseHeaders', 'response'] as const satisfies readonly (keyof LogBodies)[];

export class BodyRows {
  readonly #retention: Retention;
  readonly #onDamaged: OnDamaged;
  #toldAtMs = -Infinity;

  constructor(readonly host: Host, readonly store: Store, limits: RetentionLimits) {
    this.#onDamaged = damageOf(host, 'bodiesDamaged', 'bodies of a call cannot be read and are left out');
    this.#retention = new Retention(host, store, limits);
  }

  /** Those of the records that have any. What finds no room is left out and counted: the records themselves stay. */
  async write(records: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    let rows: Write[] = [];
    let bytes = 0;
    for (const record of records) {
      if (record.bodies === null) continue;
      signal.throwIfAborted();
      const value = await compress(JSON.stringify(names.map((name) => record.bodies?.[name] ?? '')), { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
      rows.push({ op: 'put', key: keyOf(record), value });
      bytes += value.length;
      if (bytes < bytesOfWrite && rows.length < rowsOfWrite) continue;
      await this.#commit(rows, bytes);
      rows = [];
      bytes = 0;
    }
    if (rows.length > 0) await this.#commit(rows, bytes);
  }

  async #commit(rows: readonly Write[], bytes: number): Promise<void> {
    this.host.count(await this.#isWritten(rows, bytes) ? 'bodies' : 'bodiesDropped', rows.length);
  }

  /** A disk without room costs bodies, and never the records that are written already or those that are still to come. */
  async #isWritten(rows: readonly Write[], bytes: number): Promise<boolean> {
    try {
      const removals = await this.#retention.roomFor(bytes + rows.length * placeBytes, ofCallers);
      return removals !== undefined && await this.store.write([...removals, ...rows]);
    } catch (thrown) {
      const nowMs = this.host.now();
      if (nowMs < this.#toldAtMs || nowMs - this.#toldAtMs >= tellEveryMs) {
        this.#toldAtMs = nowMs;
        this.host.log.warn('bodies of calls could not be written', { reason: thrown instanceof Error ? thrown.message : String(thrown) });
      }
      return false;
    }
  }

  /** Null: none were kept, or not for so long, or they cannot be read. */
  async read(record: Pick<LogRecord, 'id' | 'startedAtMs'>): Promise<LogBodies | null> {
    const key = keyOf(record);
    const row = await this.store.get(key);
    if (row === undefined) return null;
    try {
      return readRow(await decompress(row.value, { maxOutputLength: readBytesMax }));
    } catch (thrown) {
      // They hide neither their record nor others.
      this.#onDamaged(key, thrown);
      return null;
    }
  }

  sweep(): Promise<void> {
    return this.#retention.sweep();
  }

  async close(): Promise<void> {
    await this.store.close?.();
  }
}

const keyOf = ({ id, startedAtMs }: Pick<LogRecord, 'id' | 'startedAtMs'>): string => `${ofCallers.prefix}${timeKey(Math.floor(startedAtMs))}-${id.slice(0, 128)}`;

function readRow(bytes: Buffer): LogBodies {
  const texts: unknown = JSON.parse(bytes.toString('utf8'));
  const text = (name: (typeof names)[number]): string => {
    const value: unknown = Array.isArray(texts) ? texts[names.indexOf(name)] : undefined;
    return typeof value === 'string' ? value : '';
  };
  return {
    requestHeaders: text('requestHeaders'), request: text('request'), upstreamUrl: text('upstreamUrl'), upstreamHeaders: text('upstreamHeaders'), upstreamRequest: text('upstreamRequest'),
    upstreamResponse: text('upstreamResponse'), responseHeaders: text('responseHeaders'), response: text('response'),
  };
}
