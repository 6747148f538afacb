// Hot: runs for each call.
// Finished exchanges on their way to an exporter. A call only pushes; batches go out beside the calls, one at a time. Bounded: what finds
// no room, or an exporter refuses, is dropped, counted, and told to the log now and then.

import type { Exporter, LogRecord } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';
import { guardSignal } from '../errors/guard-signal.js';
import { timerMs } from '../settings/timer-limit.js';
import type { Logger } from './logger.js';
import { bytesOfRecord } from './record-limits.js';

/** Timers, so that tests can drive them. */
export interface QueueTimer {
  /** Does not keep the process alive. Returns what cancels it; cancelling late is harmless. */
  after(delayMs: number, work: () => void): () => void;
  /** In the next turn of the event loop. */
  soon(work: () => void): void;
  now(): number;
}

export interface LogQueueOptions {
  readonly logger: Pick<Logger, 'warn'>;
  /** Of the exporter, for the log. */
  readonly name?: string;
  /** Told of each loss, for the counters. */
  readonly onDropped?: (count: number) => void;
  /** Records come with the bodies that were kept of them, as far as those have room. */
  readonly takesBodies?: boolean;
  /** Told of each record whose bodies had none: it goes on without them. */
  readonly onBodiesDropped?: () => void;
  /** Records that may wait, the batch that is being exported included. */
  readonly countMax?: number;
  /** The same in bytes. */
  readonly bytesMax?: number;
  readonly batchCountMax?: number;
  /** Bytes of one batch; a record alone may be larger. */
  readonly batchBytesMax?: number;
  /** Longest that a record waits for its batch to fill. */
  readonly waitMsMax?: number;
  /** An export that takes longer is aborted and its batch dropped. */
  readonly exportTimeoutMs?: number;
  readonly timer?: QueueTimer;
}

const reportPeriodMs = 60_000;
/** Callers without a key have this share of the room beside what the others have, and never take any of theirs. */
const refusedShare = 16;
/** Bodies are taken while no more than this part of the room is: they keep no record out. */
const bodiesShare = 2;

export class LogQueue {
  /** Records lost so far. */
  dropped = 0;
  /** Records that the exporter took. */
  exported = 0;
  readonly name: string;
  readonly #exporter: Exporter;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #onDropped: ((count: number) => void) | undefined;
  readonly #takesBodies: boolean;
  readonly #onBodiesDropped: (() => void) | undefined;
  readonly #countMax: number;
  readonly #bytesMax: number;
  readonly #batchCountMax: number;
  readonly #batchBytesMax: number;
  readonly #waitMsMax: number;
  readonly #exportTimeoutMs: number;
  readonly #timer: QueueTimer;
  #records: LogRecord[] = [];
  /** Records taken out of `#records` and not exported yet. */
  #takenCount = 0;
  /** Waiting, with what is being exported: bytes of all callers with a key, and count and bytes of those without. */
  #bytes = 0;
  #refusedCount = 0;
  #refusedBytes = 0;
  #cancelWait: (() => void) | null = null;
  #draining: Promise<void> | null = null;
  #isClosed = false;
  #isCut = false;
  /** The export that runs; aborted by the deadline of close(). */
  #running: AbortController | null = null;
  #reported = 0;
  #reportAtMs = -Infinity;
  #cancelReport: (() => void) | null = null;
  #reason = '';

  constructor(exporter: Exporter, options: LogQueueOptions) {
    this.#exporter = exporter;
    this.name = options.name ?? '';
    this.#logger = options.logger;
    this.#onDropped = options.onDropped;
    this.#takesBodies = options.takesBodies === true;
    this.#onBodiesDropped = options.onBodiesDropped;
    this.#countMax = options.countMax ?? 65_536;
    this.#bytesMax = options.bytesMax ?? 64 * 1024 * 1024;
    this.#batchCountMax = options.batchCountMax ?? 500;
    this.#batchBytesMax = options.batchBytesMax ?? 4 * 1024 * 1024;
    this.#waitMsMax = options.waitMsMax ?? 1000;
    this.#exportTimeoutMs = options.exportTimeoutMs ?? 30_000;
    this.#timer = options.timer ?? realTimer;
  }

  /** False: there was no room, and the record is lost. Does nothing else on the caller's time. */
  push(record: LogRecord, bytes: number = bytesOfRecord(record)): boolean {
    return record.bodies === null ? this.#push(record, bytes) : this.#pushWithBodies(record, bytes);
  }

  #pushWithBodies(record: LogRecord, bytes: number): boolean {
    if (this.#takesBodies && this.#bytes + bytes <= this.#bytesMax / bodiesShare) return this.#push(record, bytes);
    if (this.#takesBodies) this.#onBodiesDropped?.();
    const bare = Object.freeze({ ...record, bodies: null });
    return this.#push(bare, bytesOfRecord(bare));
  }

  #push(record: LogRecord, bytes: number): boolean {
    const count = this.#records.length;
    if (this.#isClosed || !this.#hasRoom(record.keyId === '', bytes)) {
      this.#drop(1, this.#isClosed ? 'the queue is closed' : 'the queue is full');
      return false;
    }
    this.#records.push(record);
    if (count === 0 || count + 1 === this.#batchCountMax) this.#schedule(count + 1);
    return true;
  }

  /** Takes the room as well. */
  #hasRoom(isRefused: boolean, bytes: number): boolean {
    if (isRefused) {
      if (this.#refusedCount >= this.#countMax / refusedShare || this.#refusedBytes + bytes > this.#bytesMax / refusedShare) return false;
      this.#refusedCount += 1;
      this.#refusedBytes += bytes;
      return true;
    }
    if (this.length - this.#refusedCount >= this.#countMax || this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  get length(): number {
    return this.#records.length + this.#takenCount;
  }

  /** Of what waits and what is being exported. */
  get bytes(): number {
    return this.#bytes + this.#refusedBytes;
  }

  /** Resolves when everything pushed before the call is exported or dropped. */
  async flush(): Promise<void> {
    // The drain that runs may have taken its records before the caller's were pushed.
    if (this.#draining !== null) await this.#draining;
    if (this.#records.length > 0) await this.#drain();
  }

  /** Exports what is left; what is not out by the deadline is dropped. Later records are refused. */
  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    const cancelCut = this.#timer.after(deadlineMs, () => {
      this.#isCut = true;
      this.#running?.abort(new Error('the gateway is shutting down'));
    });
    await this.flush();
    cancelCut();
    this.#cancelReport?.();
    if (this.dropped > this.#reported) this.#report();
  }

  #schedule(count: number): void {
    if (this.#draining !== null || this.#isClosed) return;
    if (count >= this.#batchCountMax) {
      this.#timer.soon(this.#drainSoon);
    } else if (this.#cancelWait === null) {
      this.#cancelWait = this.#timer.after(this.#waitMsMax, () => {
        this.#cancelWait = null;
        this.#drainSoon();
      });
    }
  }

  readonly #drainSoon = (): void => {
    this.#drain().catch((thrown: unknown) => this.#logger.warn('log records could not be handed on', { reason: reasonOf(thrown) }));
  };

  /** Never rejects: a batch that fails is dropped. */
  #drain(): Promise<void> {
    this.#cancelWait?.();
    this.#cancelWait = null;
    this.#draining ??= this.#exportAll().finally(() => {
      this.#draining = null;
      if (this.#records.length > 0) this.#schedule(this.#records.length);
    });
    return this.#draining;
  }

  /** One round over what is there now; records that come in meanwhile are for the next. */
  async #exportAll(): Promise<void> {
    const records = this.#records;
    this.#records = [];
    this.#takenCount = records.length;
    for (let at = 0; at < records.length;) {
      const end = this.#batchEnd(records, at);
      if (this.#isCut) this.#drop(end - at, 'the gateway shut down before they were exported');
      else await this.#export(records, at, end);
      this.#giveBack(records, at, end);
      at = end;
    }
  }

  /** Where the batch that begins at `start` ends. */
  #batchEnd(records: readonly LogRecord[], start: number): number {
    let bytes = 0;
    let end = start;
    for (; end < records.length && end - start < this.#batchCountMax; end += 1) {
      bytes += bytesOfRecord(records[end] as LogRecord);
      if (bytes > this.#batchBytesMax && end > start) break;
    }
    return end;
  }

  #giveBack(records: readonly LogRecord[], start: number, end: number): void {
    this.#takenCount -= end - start;
    for (let index = start; index < end; index += 1) {
      const record = records[index] as LogRecord;
      const bytes = bytesOfRecord(record);
      if (record.keyId === '') {
        this.#refusedCount -= 1;
        this.#refusedBytes -= bytes;
      } else {
        this.#bytes -= bytes;
      }
    }
  }

  async #export(records: readonly LogRecord[], start: number, end: number): Promise<void> {
    const abort = new AbortController();
    guardSignal(abort.signal, (thrown) => this.#logger.warn('a listener of an exporter threw', { reason: reasonOf(thrown) }));
    this.#running = abort;
    const cancelTimeout = this.#timer.after(this.#exportTimeoutMs, () => abort.abort(new Error(`the exporter took longer than ${this.#exportTimeoutMs} ms`)));
    try {
      // An exporter that does not heed its signal must not hold the queue up for ever.
      // The list is the exporter's, which may take it apart: what is counted is ours.
      await Promise.race([this.#exporter.export(records.slice(start, end), abort.signal), rejectOn(abort.signal)]);
      this.exported += end - start;
    } catch (thrown) {
      this.#drop(end - start, reasonOf(thrown));
    } finally {
      cancelTimeout();
      this.#running = null;
    }
  }

  #drop(count: number, reason: string): void {
    this.dropped += count;
    this.#onDropped?.(count);
    this.#reason = reason;
    if (this.#cancelReport !== null) return;
    const waitMs = this.#reportAtMs - this.#timer.now();
    if (waitMs <= 0) {
      this.#report();
      return;
    }
    this.#cancelReport = this.#timer.after(waitMs, () => {
      this.#cancelReport = null;
      this.#report();
    });
  }

  #report(): void {
    const count = this.dropped - this.#reported;
    this.#reported = this.dropped;
    this.#reportAtMs = this.#timer.now() + reportPeriodMs;
    this.#logger.warn('log records dropped', { ...(this.name === '' ? {} : { exporter: this.name }), count, total: this.dropped, reason: this.#reason });
  }
}

const rejectOn = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason), { once: true }); });

const realTimer: QueueTimer = {
  after: (delayMs, work) => {
    const handle = setTimeout(work, timerMs(delayMs)).unref();
    return () => { clearTimeout(handle); };
  },
  soon: (work) => { setImmediate(work); },
  now: () => Date.now(),
};
