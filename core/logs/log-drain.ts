// Takes records out of the rings of all serving threads and hands them to the queues of the exporters. Runs in the log thread, every few
// milliseconds, so many records at a time that exporters get their turn.

import type { LogRecord } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';
import type { FaultReport } from '../telemetry/fault-report.js';
import { bytesOfRecord, limitRecord } from '../telemetry/record-limits.js';
import { RecordReader } from './record-reader.js';
import { RingMemory, RingReader } from './ring.js';

/** How often the rings are looked at while records come, and while none do: waking a sleeping thread is what costs. */
const periodMs = 50;
const idlePeriodMs = 200;
/** The same while the gateway ends. */
const endingPeriodMs = 5;
/** Records taken from one ring before exporters, timers and the other rings have their turn. */
const recordsPerTurn = 500;

/** More than a ring holds, so that a writer that goes on cannot keep the end from coming. */
const lastTurnsMax = 200;

/** Where a record goes: the queue of an exporter. Counts by itself what it has no room for. */
export interface RecordQueue {
  push(record: LogRecord, bytes: number): boolean;
}

/** Says what records cost. */
export interface DrainPricer {
  /** Undefined: `load` is to be waited for, and then this is to be asked again. */
  price(record: LogRecord): Pick<LogRecord, 'cost' | 'saved' | 'isPriced'> | undefined;
  /** Never rejects. */
  load(): Promise<void>;
}

export interface LogDrainOptions {
  readonly queues: readonly RecordQueue[];
  /** Told of a record that could not be read. */
  readonly unread: Pick<FaultReport, 'add'>;
  /** Told after each look. */
  readonly onLook?: () => void;
  /** Null: records stay as they are. */
  readonly pricer?: DrainPricer | null;
}

export class LogDrain {
  readonly #readers: readonly RecordReader[];
  readonly #options: LogDrainOptions;
  #timer: NodeJS.Timeout | undefined = undefined;
  #soon: NodeJS.Immediate | undefined = undefined;
  #periodMs = idlePeriodMs;
  #isEnding = false;
  #onOver: (() => void) | null = null;
  /** Records that wait for their prices, by their readers: those behind them wait in the rings. */
  readonly #unpriced = new Map<RecordReader, LogRecord>();
  #isLoading = false;
  /** Nobody waits for prices any longer. */
  #isLate = false;

  constructor(rings: readonly RingMemory[], options: LogDrainOptions) {
    this.#readers = rings.map((memory) => new RecordReader(memory));
    this.#options = options;
  }

  /** Does not keep the process alive. */
  start(): void {
    this.#timer ??= setTimeout(this.#look, this.#periodMs).unref();
  }

  /** Goes on until every writer has ended and all is taken, or `deadlineMs` has passed; then takes what is there and stops. */
  async end(deadlineMs: number): Promise<void> {
    this.#isEnding = true;
    this.#periodMs = endingPeriodMs;
    if (!this.#isOver()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadlineMs);
        this.#onOver = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#schedule(false);
      });
    }
    this.stop();
    this.#isLate = true;
    // Writers have ended, or are no longer waited for.
    for (let turn = 0; turn < lastTurnsMax && this.#take(); turn += 1);
  }

  /** No writer is waited for any longer. */
  hurry(): void {
    this.#onOver?.();
  }

  /** At once; what is in the rings stays there. */
  stop(): void {
    this.#onOver = null;
    clearTimeout(this.#timer);
    if (this.#soon !== undefined) clearImmediate(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    this.#soon = undefined;
    const isMore = this.#take();
    if (!isMore && this.#onOver !== null && this.#isOver()) {
      this.#onOver();
      return;
    }
    this.#schedule(isMore);
  };

  readonly #onLoaded = (): void => {
    this.#isLoading = false;
    if (this.#timer !== undefined) this.#schedule(true);
  };

  #schedule(isMore: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (isMore) this.#soon ??= setImmediate(this.#look);
    else if (this.#soon === undefined) this.#timer = setTimeout(this.#look, this.#periodMs).unref();
  }

  #isOver(): boolean {
    return this.#unpriced.size === 0 && this.#readers.every((reader) => reader.isOver);
  }

  /** True: there is more. */
  #take(): boolean {
    let most = 0;
    if (this.#isLoading && !this.#isLate) return false;
    for (const reader of this.#readers) most = Math.max(most, this.#takeFrom(reader));
    this.#options.onLook?.();
    if (!this.#isEnding) this.#periodMs = most > 0 ? periodMs : idlePeriodMs;
    return most === recordsPerTurn;
  }

  #takeFrom(reader: RecordReader): number {
    let count = 0;
    for (; count < recordsPerTurn; count += 1) {
      const record = this.#next(reader);
      if (record === undefined) break;
      if (record === null) continue;
      if (!this.#price(record)) {
        this.#unpriced.set(reader, record);
        break;
      }
      // Several exporters get the same object, and queues weigh it when it comes and when it goes.
      const limited = Object.freeze(limitRecord(record, record.keyId === ''));
      const bytes = bytesOfRecord(limited);
      for (const queue of this.#options.queues) queue.push(limited, bytes);
    }
    if (count > 0) reader.giveBack();
    return count;
  }

  /** The one that waited, else the next. */
  #next(reader: RecordReader): LogRecord | undefined | null {
    const waiting = this.#unpriced.get(reader);
    if (waiting === undefined) return this.#read(reader);
    this.#unpriced.delete(reader);
    return waiting;
  }

  /** False: what it takes is being loaded. Nobody else has the record yet. */
  #price(record: LogRecord): boolean {
    const pricer = this.#options.pricer ?? null;
    if (pricer === null) return true;
    const pricing = pricer.price(record);
    if (pricing !== undefined) {
      const priced: { cost: number; saved: number; isPriced: boolean } = record;
      priced.cost = pricing.cost;
      priced.saved = pricing.saved;
      priced.isPriced = pricing.isPriced;
      return true;
    }
    if (this.#isLate) return true;
    if (!this.#isLoading) {
      this.#isLoading = true;
      pricer.load().then(this.#onLoaded, this.#onLoaded);
    }
    return false;
  }

  /** Null: it could not be read. One record must not keep the others from being exported. */
  #read(reader: RecordReader): LogRecord | undefined | null {
    try {
      return reader.read();
    } catch (thrown) {
      this.#options.unread.add('ring', reasonOf(thrown));
      return null;
    }
  }
}

/** Records that nobody took; for the end. */
export function countUnread(rings: readonly SharedArrayBuffer[]): number {
  let count = 0;
  for (const ring of rings) {
    const reader = new RingReader(new RingMemory(ring));
    for (; reader.peek() !== -1; count += 1) reader.next();
  }
  return count;
}
