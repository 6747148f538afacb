// The control thread, seen from the main thread. No call to a model needs it: one that dies is started again, and the control calls it had taken are
// answered with an error by the threads they came from.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import type { ControlThreadData, ControlThreadMessage, ControlThreadStart } from './control-thread-entry.js';
import { figuresMsMax } from './metrics-hub.js';
import { RestartedThread, type ThreadStart } from './started-thread.js';
import { noFigures } from './telemetry/figures.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { Questions } from './telemetry/questions.js';

const restartMs = 100;
const restartMsMax = 30_000;
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
  /** Empty once a thread has them. */
  #far: readonly MessagePort[];
  #thread: RestartedThread<ControlThreadMessage> | null = null;
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
  start({ logger, metrics }: ControlWorkerServices): void {
    this.#thread = new RestartedThread<ControlThreadMessage>({
      name: 'the control thread', entry: new URL('./control-thread-entry.js', import.meta.url), youngGenerationMb, restartMs, restartMsMax, logger,
      startOf: () => this.#startOf(),
      onMessage: (message) => { if (message.kind === 'figured') this.#figures.answer(message.number, message.figures); },
      onDeath: (reason, inMs) => {
        metrics.add('control.threadDeaths', 1);
        logger.error('the control thread died; it is started again', { reason, inMs });
      },
    });
    this.#thread.keep();
  }

  /** What the thread says of itself; null: there is none, control calls are answered beside the others. Never rejects. */
  figures(): Promise<ThreadFigures> | null {
    const thread = this.#thread;
    if (thread === null) return null;
    if (!thread.isThere) return Promise.resolve(noFigures('control'));
    return this.#figures.ask((number) => thread.post({ kind: 'figures', number }), figuresMsMax, noFigures('control'));
  }

  /** Never rejects. `callersEnded` resolves when no thread sends calls any more. May be called again, with less patience: `isHasty` when the process ends. */
  async stop(isHasty: boolean, callersEnded: Promise<unknown>): Promise<void> {
    if (!isHasty) await callersEnded;
    for (const port of this.#far) port.close();
    this.#thread?.stop({ kind: 'stop' });
    await this.#thread?.ended(isHasty ? hastyCloseMs : closeMs, isHasty);
  }

  #startOf(): ThreadStart {
    if (this.#far.length === 0) {
      [this.#near, this.#far] = channels(this.threads);
      this.onPorts(this.#near);
    }
    const ports = this.#far;
    this.#far = [];
    return { data: { ...this.data, ports } satisfies ControlThreadStart, ports };
  }
}

function channels(count: number): readonly [near: readonly MessagePort[], far: readonly MessagePort[]] {
  const made = Array.from({ length: count }, () => new MessageChannel());
  return [made.map(({ port1 }) => port1), made.map(({ port2 }) => port2)];
}
