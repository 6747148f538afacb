// The log thread, seen from the main thread. No call needs it: one that dies is started again, and what it held is lost and counted. Meanwhile records
// wait in the rings, as far as there is room.

import type { ThreadFigures } from '@gateway/plugin-sdk';
import type { LogThreadData, LogThreadMessage } from './log-thread-entry.js';
import { countUnread } from './logs/log-drain.js';
import { textMsMax } from './metrics-hub.js';
import { RestartedThread } from './started-thread.js';
import type { Scraped } from './telemetry/figures.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { Questions } from './telemetry/questions.js';

const restartMs = 1_000;
const restartMsMax = 60_000;
/** When no thread writes records any more, the log thread gets this long to export the last and close: more than it allows itself for the usual. */
const closeMs = 9_000;
const hastyCloseMs = 1_000;

/** Records that live for as long as their batch do not become cheaper by a larger young generation. */
const youngGenerationMb = 16;

export interface LogWorkerServices {
  readonly logger: Pick<Logger, 'error' | 'warn'>;
  readonly metrics: Pick<Metrics, 'add'>;
}

export class LogWorker {
  readonly #thread: RestartedThread<LogThreadMessage>;
  #ending: Promise<void> | undefined = undefined;
  readonly #scrapes = new Questions<Scraped>();

  private constructor(readonly data: LogThreadData, readonly services: LogWorkerServices) {
    this.#thread = new RestartedThread<LogThreadMessage>({
      name: 'the log thread', entry: new URL('./log-thread-entry.js', import.meta.url), youngGenerationMb, restartMs, restartMsMax, logger: services.logger,
      startOf: () => ({ data }),
      onMessage: (message) => { if (message.kind === 'scraped') this.#scrapes.answer(message.number, message.scraped); },
      onDeath: (reason, inMs) => this.#onDeath(reason, inMs),
    });
  }

  /** Resolves when all exporters are made. */
  static async start(data: LogThreadData, services: LogWorkerServices): Promise<LogWorker> {
    const worker = new LogWorker(data, services);
    await worker.#thread.start();
    return worker;
  }

  /** Never rejects. */
  scrape(threads: readonly ThreadFigures[]): Promise<Scraped> {
    if (!this.#thread.isThere) return Promise.resolve({ kind: 'failed', reason: 'the log thread is being started again' });
    return this.#scrapes.ask((number) => this.#thread.post({ kind: 'scrape', number, threads }), textMsMax, { kind: 'failed', reason: `the log thread gave no answer within ${textMsMax} ms` });
  }

  /**
   * Never rejects. `writersEnded` resolves when no thread writes records any more. May be called again, with less patience: `isHasty` when the
   * process ends.
   */
  stop(deadlineMs: number, isHasty: boolean, writersEnded: Promise<unknown>): Promise<void> {
    this.#thread.stop({ kind: 'stop', deadlineMs, isHasty });
    return this.#ending ??= this.#end(isHasty, writersEnded);
  }

  async #end(isHasty: boolean, writersEnded: Promise<unknown>): Promise<void> {
    await writersEnded;
    await this.#thread.ended(isHasty ? hastyCloseMs : closeMs, isHasty);
    // What it still gets out until the end of the process is not known.
    if (isHasty && this.#thread.isThere) return;
    const left = this.#takeHeld() + countUnread(this.data.memory.rings);
    if (left === 0) return;
    this.services.metrics.add('log.recordsDropped', left);
    this.services.logger.warn('log records dropped', { count: left, total: left, reason: 'the gateway shut down without its log thread' });
  }

  #takeHeld(): number {
    return Atomics.exchange(this.data.memory.held, 0, 0);
  }

  #onDeath(reason: string, inMs: number): void {
    const { logger, metrics } = this.services;
    const lost = this.#takeHeld();
    metrics.add('log.threadDeaths', 1);
    if (lost > 0) metrics.add('log.recordsDropped', lost);
    logger.error('the log thread died; it is started again', { reason, recordsLost: lost, inMs });
  }
}
