// One worker thread: a piscina of one. Piscina starts the thread and carries calls and results; which call goes where is decided in pool.ts,
// because piscina takes one abortable call for each worker, cannot take back what it has given to a worker, and does not say what was in a worker
// that ended.

import { Piscina } from 'piscina';
import type { WorkerCall, WorkerOutcome, WorkerShare } from './entry.js';
import type { Task } from './task.js';
import { youngGeneration } from './young-generation.js';

export interface PoolWorkerOptions {
  readonly callsMax: number;
  readonly heapMegabytesMax: number;
  readonly resultBytesMax: number;
  readonly printedBytesMax: number;
}

export interface PoolWorkerEvents {
  /** It is up, or was stuck and is no more. */
  onReady(worker: PoolWorker): void;
  onOutcome(worker: PoolWorker, task: PoolTask, outcome: WorkerOutcome): void;
  /** The task's arguments cannot cross. It is in the worker no more. */
  onUncloneable(worker: PoolWorker, task: PoolTask, reason: Error): void;
  /** The worker ended of itself; its tasks are still in `tasks`. */
  onDeath(worker: PoolWorker, reason: unknown): void;
}

const entry = new URL('./entry.js', import.meta.url).href;
/**
 * piscina tries `require` before `import`. A thread that is ended while `require` loads an ES module takes the process with it (an assertion of Node's), so
 * threads have no such `require`; ending one that is in `import` is safe.
 */
const requireFlag = '--experimental-require-module';
const workerFlags: string[] = process.allowedNodeEnvironmentFlags.has(requireFlag) ? ['--no-experimental-require-module'] : [];
/** Most for objects that die young, in megabytes; a quarter of a small heap. */
const youngMegabytesMax = 32;
const stackMegabytes = 4;
const ticketMax = 0x7fff_ffff;

/** A call in one of these workers, or on its way there. */
export type PoolTask = Task<PoolWorker>;

export class PoolWorker {
  /** By cell. */
  readonly tasks = new Map<number, PoolTask>();
  /** Modules whose calls it has got, and their addresses without the version. */
  readonly modules = new Set<string>();
  readonly addresses = new Set<string>();
  isReady = false;
  isDead = false;
  /** Since when it has not got to calls that were given to it; it gets nothing new until it does. 0: it is not stuck. */
  stuckSinceMs = 0;
  /** Gets nothing new: it is ended when it is empty. */
  isDraining = false;
  /** Started for this task only. */
  reservedFor: PoolTask | undefined = undefined;
  idleSinceMs: number;

  readonly #piscina: Piscina<WorkerCall, WorkerOutcome>;
  readonly #cells: Int32Array;
  readonly #freeCells: number[];
  readonly #events: PoolWorkerEvents;
  #ticket = 0;

  /** Throws when the machine has no room for another thread. */
  constructor(options: PoolWorkerOptions, events: PoolWorkerEvents) {
    this.#events = events;
    this.idleSinceMs = performance.now();
    // The last cell is for the call that tells when the thread is up.
    this.#cells = new Int32Array(new SharedArrayBuffer((options.callsMax + 1) * Int32Array.BYTES_PER_ELEMENT));
    this.#freeCells = Array.from({ length: options.callsMax }, (_, index) => index);
    const share: WorkerShare = { cells: this.#cells, resultBytesMax: options.resultBytesMax, printedBytesMax: options.printedBytesMax };
    this.#piscina = new Piscina<WorkerCall, WorkerOutcome>({
      filename: entry,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Infinity,
      // Calls that were taken back are still in the thread's port; how many calls may be in it is counted by `freeCells`.
      concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER,
      // Each result wakes the loop for itself, and what a module does between its calls goes on.
      atomics: 'disabled',
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytesMax, ...youngGeneration(Math.min(youngMegabytesMax, options.heapMegabytesMax / 4)), stackSizeMb: stackMegabytes },
      workerData: share,
      execArgv: workerFlags,
    });
    // Comes in the middle of the end of a thread: told now, piscina starts no other one.
    this.#piscina.on('workerDestroy', () => {
      if (this.isDead) return;
      this.isDead = true;
      // What ends badly has ended as well: of its calls each is told by its own error.
      this.#piscina.destroy().catch(() => undefined);
      // With calls in it, their errors tell why.
      if (this.tasks.size === 0 && this.isReady) events.onDeath(this, undefined);
    });
    // An error while no call is in the thread; the event above has told of its end.
    this.#piscina.on('error', () => undefined);
    const hello = options.callsMax;
    Atomics.store(this.#cells, hello, 1);
    this.#piscina.run({ cell: hello, ticket: 1, module: '', name: '', args: [] }).then(() => {
      this.isReady = true;
      events.onReady(this);
    }, (thrown: unknown) => {
      if (!this.#isEnded) events.onDeath(this, thrown);
    });
  }

  #isEnded = false;

  get hasRoom(): boolean {
    return this.#freeCells.length > 0;
  }

  post(task: PoolTask): void {
    const cell = this.#freeCells.pop();
    if (cell === undefined) throw new RangeError('the worker has no room');
    const ticket = this.#ticket = this.#ticket === ticketMax ? 1 : this.#ticket + 1;
    task.worker = this;
    task.cell = cell;
    task.ticket = ticket;
    task.postedAtMs = performance.now();
    this.tasks.set(cell, task);
    Atomics.store(this.#cells, cell, ticket);
    this.#piscina.run({ cell, ticket, module: task.module, name: task.name, args: task.args }).then(
      (outcome) => {
        if (this.isDead) return;
        this.stuckSinceMs = 0;
        // What was taken back is not here any more, but the thread has come to where it was.
        if (task.worker !== this || task.ticket !== ticket) {
          this.#events.onReady(this);
          return;
        }
        this.#remove(task);
        if (this.tasks.size === 0) this.idleSinceMs = performance.now();
        this.#events.onOutcome(this, task, outcome);
      },
      (thrown: unknown) => {
        if (task.worker !== this || task.ticket !== ticket) return;
        if (this.isDead) {
          this.#events.onDeath(this, thrown);
          return;
        }
        this.#remove(task);
        this.#events.onUncloneable(this, task, thrown instanceof Error ? thrown : new Error(String(thrown)));
      },
    );
  }

  hasBegun(task: PoolTask): boolean {
    return Atomics.load(this.#cells, task.cell) === -task.ticket;
  }

  /** False when it has begun. */
  takeBack(task: PoolTask): boolean {
    if (Atomics.compareExchange(this.#cells, task.cell, task.ticket, 0) !== task.ticket) return false;
    this.#remove(task);
    return true;
  }

  /** Empties `tasks`; in the order in which they were given to the thread. */
  takeAll(): { readonly begun: PoolTask[]; readonly waiting: PoolTask[] } {
    const all = [...this.tasks.values()].sort((left, right) => left.ticket - right.ticket);
    const begun = all.filter((task) => this.hasBegun(task));
    const waiting = all.filter((task) => !begun.includes(task));
    for (const task of all) this.#remove(task);
    return { begun, waiting };
  }

  /** Ends the thread, whatever it does. Its tasks must have been taken. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.isDead = true;
    await this.#piscina.destroy();
  }

  #remove(task: PoolTask): void {
    this.tasks.delete(task.cell);
    this.#freeCells.push(task.cell);
    task.worker = undefined;
  }
}
