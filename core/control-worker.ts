// The control thread, seen from the main thread. No call to a model needs it: one that dies is started again, and the control calls it had taken are
// answered with an error by the threads they came from.

import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import type { ControlThreadData, ControlThreadMessage, ControlThreadStart } from './control-thread-entry.js';
import { reasonOf } from './errors/gateway-error.js';
import { figuresMsMax } from './metrics-hub.js';
import { noFigures } from './telemetry/figures.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { Questions } from './telemetry/questions.js';
import { youngGeneration } from './workers/young-generation.js';

/** From a death to the next start; doubled with each that follows soon. */
const restartMs = 100;
const restartMsMax = 30_000;
/** A thread that lived this long died for a reason of its own. */
const steadyMs = 60_000;
/** From the stop to the end of the thread: what it commits and closes. */
const closeMs = 4_000;
const hastyCloseMs = 1_000;
/** Replies live for as long as their call. */
const youngGenerationMb = 16;

export interface ControlWorkerServices {
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: Pick<Metrics, 'add'>;
}

export class ControlWorker {
  #near: readonly MessagePort[];
  #far: readonly MessagePort[];
  #services: ControlWorkerServices | null = null;
  #worker: Worker | null = null;
  #exited: Promise<void> = Promise.resolve();
  #startedAtMs = 0;
  #delayMs = restartMs;
  #restart: NodeJS.Timeout | undefined = undefined;
  #isStopping = false;
  readonly #figures = new Questions<ThreadFigures>();

  /** `onPorts` gets the ports of each thread that takes the place of one that died. */
  constructor(readonly data: ControlThreadData, readonly threads: number, readonly onPorts: (ports: readonly MessagePort[]) => void) {
    [this.#near, this.#far] = channels(threads);
  }

  /** Near ends of the channels: one for each thread that serves calls. Calls sent before the control thread is there wait in them. */
  get ports(): readonly MessagePort[] {
    return this.#near;
  }

  /** Returns at once. A thread that cannot start is tried again, like one that died. */
  start(services: ControlWorkerServices): void {
    this.#services = services;
    this.#begin();
  }

  /** What the thread says of itself; null: there is none, control calls are answered beside the others. Never rejects. */
  figures(): Promise<ThreadFigures> | null {
    const worker = this.#worker;
    if (this.#services === null) return null;
    if (worker === null) return Promise.resolve(noFigures('control'));
    return this.#figures.ask((number) => worker.postMessage({ kind: 'figures', number } satisfies ControlThreadMessage), figuresMsMax, noFigures('control'));
  }

  /** Never rejects. `callersEnded` resolves when no thread sends calls any more. May be called again, with less patience: `isHasty` when the process ends. */
  async stop(isHasty: boolean, callersEnded: Promise<unknown>): Promise<void> {
    if (!isHasty) await callersEnded;
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === null) {
      for (const port of this.#far) port.close();
      return;
    }
    worker.postMessage({ kind: 'stop' } satisfies ControlThreadMessage);
    const waitMs = isHasty ? hastyCloseMs : closeMs;
    let timer: NodeJS.Timeout | undefined = undefined;
    await Promise.race([this.#exited, new Promise<void>((resolve) => { timer = setTimeout(resolve, waitMs); })]);
    clearTimeout(timer);
    // The end of the process takes it along.
    if (this.#worker === null || isHasty) return;
    this.#services?.logger.error('could not be closed', { what: 'the control thread', reason: `not closed after ${waitMs} ms` });
    worker.terminate().catch((thrown: unknown) => this.#services?.logger.error('could not be closed', { what: 'the control thread', reason: reasonOf(thrown) }));
  }

  #begin(): void {
    this.#startedAtMs = performance.now();
    const ports = this.#far;
    this.#far = [];
    let reason = 'it ended by itself';
    let worker: Worker;
    try {
      worker = new Worker(new URL('./control-thread-entry.js', import.meta.url), {
        workerData: { ...this.data, ports } satisfies ControlThreadStart, transferList: [...ports], resourceLimits: youngGeneration(youngGenerationMb),
      });
    } catch (thrown) {
      for (const port of ports) port.close();
      this.#onDeath(reasonOf(thrown));
      return;
    }
    this.#worker = worker;
    worker.on('message', (message: ControlThreadMessage) => {
      if (message.kind === 'figured') this.#figures.answer(message.number, message.figures);
      else if (message.kind === 'failed' || message.kind === 'died') reason = message.reason;
    });
    worker.on('error', (thrown) => { reason = reasonOf(thrown); });
    this.#exited = new Promise((exited) => {
      worker.once('exit', () => {
        this.#worker = null;
        exited();
        if (!this.#isStopping) this.#onDeath(reason);
      });
    });
  }

  #onDeath(reason: string): void {
    if (performance.now() - this.#startedAtMs >= steadyMs) this.#delayMs = restartMs;
    this.#services?.metrics.add('control.threadDeaths', 1);
    this.#services?.logger.error('the control thread died; it is started again', { reason, inMs: this.#delayMs });
    this.#restart = setTimeout(() => {
      [this.#near, this.#far] = channels(this.threads);
      this.onPorts(this.#near);
      this.#begin();
    }, this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, restartMsMax);
  }
}

function channels(count: number): readonly [near: readonly MessagePort[], far: readonly MessagePort[]] {
  const made = Array.from({ length: count }, () => new MessageChannel());
  return [made.map(({ port1 }) => port1), made.map(({ port2 }) => port2)];
}
