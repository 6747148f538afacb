// Threads beside those that serve calls, seen from the thread that starts them: what they say, why they end, and that they are started again. No call
// to a model needs them.

import { Worker, type MessagePort } from 'node:worker_threads';
import { fail, reasonOf } from './errors/gateway-error.js';
import type { Logger } from './telemetry/logger.js';
import { youngGeneration } from './workers/young-generation.js';

/** A thread that lived this long died for a reason of its own. */
const steadyMs = 60_000;

/** What each of them says of itself, beside what it is there for. */
export type ThreadNews =
  | { readonly kind: 'ready' }
  /** It does not come up. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'died'; readonly reason: string };

export interface ThreadStart {
  readonly data: object;
  /** Its own from now on; closed when it cannot be started. */
  readonly ports?: readonly MessagePort[];
}

interface StartedThreadOptions<Message> {
  readonly entry: URL;
  readonly youngGenerationMb: number;
  readonly onMessage: (message: Message) => void;
}

/** `onExit` is called once, with why it ended. Throws when there is no thread to be had. */
export function startThread<Message>({ data, ports = [] }: ThreadStart, { entry, youngGenerationMb, onMessage }: StartedThreadOptions<Message>, onExit: (reason: string) => void): Worker {
  let worker: Worker;
  try {
    worker = new Worker(entry, { workerData: data, transferList: [...ports], resourceLimits: youngGeneration(youngGenerationMb) });
  } catch (thrown) {
    for (const port of ports) port.close();
    throw thrown;
  }
  let reason = 'it ended by itself';
  worker.on('message', (news: ThreadNews) => { if (news.kind === 'failed' || news.kind === 'died') reason = news.reason; });
  worker.on('message', onMessage);
  worker.on('error', (thrown) => { reason = reasonOf(thrown); });
  worker.once('exit', () => onExit(reason));
  return worker;
}

export interface RestartedThreadOptions<Message> extends StartedThreadOptions<Message> {
  /** In the log: `the control thread`. */
  readonly name: string;
  /** From a death to the next start; doubled with each that follows soon. */
  readonly restartMs: number;
  readonly restartMsMax: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Called for each start. */
  readonly startOf: () => ThreadStart;
  readonly onDeath: (reason: string, restartInMs: number) => void;
}

export class RestartedThread<Message> {
  readonly #options: RestartedThreadOptions<Message>;
  #worker: Worker | null = null;
  #exited: Promise<void> = Promise.resolve();
  #startedAtMs = 0;
  #delayMs: number;
  #restart: NodeJS.Timeout | undefined = undefined;
  #isStopping = false;

  constructor(options: RestartedThreadOptions<Message>) {
    this.#options = options;
    this.#delayMs = options.restartMs;
  }

  /** False between a death and the next start. */
  get isThere(): boolean {
    return this.#worker !== null;
  }

  /** Resolves when it is ready. Rejects when it ends before that; then it is not tried again. */
  start(): Promise<void> {
    this.#startedAtMs = performance.now();
    return new Promise((resolve, reject) => {
      const options = this.#options;
      let isReady = false;
      let exited = (): void => {};
      const worker = startThread<Message>(options.startOf(), options, (reason) => {
        this.#worker = null;
        exited();
        if (!isReady) reject(fail('SETTINGS_INVALID', { reason }));
        else if (!this.#isStopping) this.#onDeath(reason);
      });
      worker.on('message', (news: ThreadNews) => {
        if (news.kind !== 'ready') return;
        isReady = true;
        resolve();
      });
      this.#worker = worker;
      this.#exited = new Promise((done) => { exited = done; });
    });
  }

  /** Returns at once. One that does not come up is tried again, like one that died. */
  keep(): void {
    this.start().catch((thrown: unknown) => { if (!this.#isStopping) this.#onDeath(reasonOf(thrown)); });
  }

  /** It gets nothing while it is not there. */
  post(message: Message): void {
    this.#worker?.postMessage(message);
  }

  /** It is not started again from now on. May be called again. */
  stop(message: Message): void {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.post(message);
  }

  /** After `stop`. Never rejects. One that has not ended by then is ended by force; with `isHasty` by the end of the process. */
  async ended(waitMs: number, isHasty: boolean): Promise<void> {
    let timer: NodeJS.Timeout | undefined = undefined;
    await Promise.race([this.#exited, new Promise<void>((resolve) => { timer = setTimeout(resolve, waitMs); })]);
    clearTimeout(timer);
    if (this.#worker === null || isHasty) return;
    const { logger, name } = this.#options;
    const told = (reason: string): void => logger.error('could not be closed', { what: name, reason });
    told(`not closed after ${waitMs} ms`);
    this.#worker.terminate().catch((thrown: unknown) => told(reasonOf(thrown)));
  }

  #onDeath(reason: string): void {
    const { restartMs, restartMsMax, onDeath } = this.#options;
    if (performance.now() - this.#startedAtMs >= steadyMs) this.#delayMs = restartMs;
    onDeath(reason, this.#delayMs);
    this.#restart = setTimeout(() => this.keep(), this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, restartMsMax);
  }
}
