// The log thread, seen from the main thread. No call needs it: one that dies is started again, and what it held is lost and counted. Meanwhile records
// wait in the rings, as far as there is room.

import { Worker } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { fail, reasonOf } from './errors/gateway-error.js';
import type { LogThreadData, LogThreadMessage } from './log-thread-entry.js';
import { countUnread } from './logs/log-drain.js';
import { textMsMax } from './metrics-hub.js';
import type { Scraped } from './telemetry/figures.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { Questions } from './telemetry/questions.js';
import { youngGeneration } from './workers/young-generation.js';

/** From a death to the next start; doubled with each that follows soon. */
const restartMs = 1_000;
const restartMsMax = 60_000;
/** A thread that lived this long died for a reason of its own. */
const steadyMs = 60_000;
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
  #worker: Worker | null = null;
  #exited: Promise<void> = Promise.resolve();
  #startedAtMs = 0;
  #delayMs = restartMs;
  #restart: NodeJS.Timeout | undefined = undefined;
  #isStopping = false;
  #ending: Promise<void> | undefined = undefined;
  readonly #scrapes = new Questions<Scraped>();

  private constructor(readonly data: LogThreadData, readonly services: LogWorkerServices) {}

  /** Resolves when all exporters are made. */
  static async start(data: LogThreadData, services: LogWorkerServices): Promise<LogWorker> {
    const worker = new LogWorker(data, services);
    await worker.#start();
    return worker;
  }

  /** Never rejects. */
  scrape(threads: readonly ThreadFigures[]): Promise<Scraped> {
    const worker = this.#worker;
    if (worker === null) return Promise.resolve({ kind: 'failed', reason: 'the log thread is being started again' });
    return this.#scrapes.ask((number) => worker.postMessage({ kind: 'scrape', number, threads } satisfies LogThreadMessage), textMsMax, { kind: 'failed', reason: `the log thread gave no answer within ${textMsMax} ms` });
  }

  /**
   * Never rejects. `writersEnded` resolves when no thread writes records any more. May be called again, with less patience: `isHasty` when the
   * process ends.
   */
  stop(deadlineMs: number, isHasty: boolean, writersEnded: Promise<unknown>): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.#worker?.postMessage({ kind: 'stop', deadlineMs, isHasty } satisfies LogThreadMessage);
    return this.#ending ??= this.#end(isHasty, writersEnded);
  }

  async #end(isHasty: boolean, writersEnded: Promise<unknown>): Promise<void> {
    const { logger, metrics } = this.services;
    const waitMs = isHasty ? hastyCloseMs : closeMs;
    await writersEnded;
    let timer: NodeJS.Timeout | undefined = undefined;
    await Promise.race([this.#exited, new Promise<void>((resolve) => { timer = setTimeout(resolve, waitMs); })]);
    clearTimeout(timer);
    if (this.#worker !== null) {
      // The end of the process takes it along; what it still gets out until then is not known.
      if (isHasty) return;
      logger.error('could not be closed', { what: 'the log thread', reason: `not closed after ${waitMs} ms` });
      this.#worker.terminate().catch((thrown: unknown) => logger.error('could not be closed', { what: 'the log thread', reason: reasonOf(thrown) }));
    }
    const left = this.#takeHeld() + countUnread(this.data.memory.rings);
    if (left === 0) return;
    metrics.add('log.recordsDropped', left);
    logger.warn('log records dropped', { count: left, total: left, reason: 'the gateway shut down without its log thread' });
  }

  #takeHeld(): number {
    return Atomics.exchange(this.data.memory.held, 0, 0);
  }

  /** Rejects, too, when there is no thread to be had: then it is tried again like after a death. */
  async #start(): Promise<void> {
    this.#startedAtMs = performance.now();
    const worker = new Worker(new URL('./log-thread-entry.js', import.meta.url), { workerData: this.data, resourceLimits: youngGeneration(youngGenerationMb) });
    this.#worker = worker;
    let isReady = false;
    let reason = 'it ended by itself';
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (message: LogThreadMessage) => {
        if (message.kind === 'ready') {
          isReady = true;
          resolve();
        } else if (message.kind === 'scraped') {
          this.#scrapes.answer(message.number, message.scraped);
        } else if (message.kind === 'failed' || message.kind === 'died') {
          reason = message.reason;
        }
      });
      worker.on('error', (thrown) => { reason = reasonOf(thrown); });
      this.#exited = new Promise((exited) => {
        worker.once('exit', () => {
          this.#worker = null;
          exited();
          if (!isReady) reject(fail('SETTINGS_INVALID', { reason }));
          else if (!this.#isStopping) this.#onDeath(reason);
        });
      });
    });
  }

  #onDeath(reason: string): void {
    if (performance.now() - this.#startedAtMs >= steadyMs) this.#delayMs = restartMs;
    const lost = this.#takeHeld();
    this.services.metrics.add('log.threadDeaths', 1);
    if (lost > 0) this.services.metrics.add('log.recordsDropped', lost);
    this.services.logger.error('the log thread died; it is started again', { reason, recordsLost: lost, inMs: this.#delayMs });
    this.#restart = setTimeout(() => { this.#start().catch((thrown: unknown) => { if (!this.#isStopping) this.#onDeath(reasonOf(thrown)); }); }, this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, restartMsMax);
  }
}
