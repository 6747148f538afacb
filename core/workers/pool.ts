// The worker pool for CPU-heavy plugin code, one for each data thread: a call never has to cross the loop of another thread. The workers of all
// pools of a process are bounded together (`workersMaxOf`). A worker is started when it is needed, keeps the modules it has loaded, and is ended
// when it was idle for long.
//
// What can go wrong inside a worker costs the call that did it, and no other: a call that runs over its time, ends its worker or fills its heap
// gets its error, and what was beside it in that worker is given to another one. Functions must therefore be repeatable.
//
// One piscina with its own queue and one call a worker is as fast for short calls, and half as long. But calls that did nothing wrong fail in it: one
// that is given to a thread which an earlier call left blocked waits there until its time is over, since piscina cannot take it back; one in a thread
// that an earlier call's remains end gets their error, and its module the blame.

import type { WorkerOf, WorkerOptions } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';
import { timerMs } from '../settings/timer-limit.js';
import { WorkerBreaker } from './worker-breaker.js';
import type { WorkerOutcome } from './entry.js';
import { defaults, workersMaxOf, type WorkerPoolOptions, type WorkerPoolState } from './pool-options.js';
import { PoolWorker, type PoolTask, type PoolWorkerEvents } from './pool-worker.js';
import { Task, type CallOptions } from './task.js';
import { errorOfDeath, errorOfFault, refusal, WorkerError } from './worker-error.js';

export { workersMaxOf, type WorkerPoolOptions, type WorkerPoolState } from './pool-options.js';

const timeoutMsDefault = 5000;
const warmTimeoutMs = 30_000;
/** A call that waits for so long starts another worker, and is taken back from one that is busy. */
const patienceMs = 10;
const interruptionsMax = 2;
const printedBytesMax = 64 * 1024;
/** Old versions of modules in a worker, which only its end frees. */
const versionsMax = 8;
/** The last calls' share in the mean. */
const meanWeight = 1 / 8;

export class WorkerPool implements PoolWorkerEvents {
  readonly workersMax: number;
  readonly #options: Required<WorkerPoolOptions>;
  readonly #breaker: WorkerBreaker;
  readonly #workers = new Set<PoolWorker>();
  /** In the order of their coming. */
  readonly #queue = new Set<PoolTask>();
  /** Go before the queue: they were in a worker already. */
  readonly #again = new Set<PoolTask>();
  /** Were in a worker that ended of itself: each gets a new worker of its own. */
  readonly #suspects = new Set<PoolTask>();
  readonly #warmed = new Set<string>();
  readonly #bySignal = new WeakMap<AbortSignal, Set<PoolTask>>();
  #watch: NodeJS.Timeout | undefined = undefined;
  #sweep: NodeJS.Timeout | undefined = undefined;
  #meanRunMs = 0;
  #isClosed = false;
  #completed = 0;
  #crashed = 0;
  #timedOut = 0;
  #saturated = 0;

  /** `dataThreads`: how many threads of this process have a pool. */
  constructor(dataThreads: number, options: WorkerPoolOptions = {}) {
    this.#options = { ...defaults, workersMax: workersMaxOf(dataThreads), ...options };
    this.workersMax = Math.max(1, this.#options.workersMax);
    this.#breaker = new WorkerBreaker(this.#options.breaker);
  }

  /** The exported functions of `module`, each as a promise of the pool. A worker is started and loads the module before the first call. */
  proxy<M>(module: URL, { timeoutMs = timeoutMsDefault }: WorkerOptions = {}): WorkerOf<M> {
    this.warm(module);
    const options: CallOptions = { timeoutMs };
    const functions = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    const target: object = {};
    // The exports are known only inside the worker: each name becomes a function when it is asked for.
    return new Proxy(target, {
      get: (_, name) => {
        // A proxy with `then` would be taken for a promise.
        if (typeof name !== 'string' || name === 'then') return undefined;
        let made = functions.get(name);
        if (made === undefined) functions.set(name, made = (...args) => this.call(module, name, args, options));
        return made;
      },
    }) as WorkerOf<M>;
  }

  /** Loads `module` ahead of its first call, once. A fault shows at the call. */
  warm(module: URL): void {
    if (this.#isClosed || this.#warmed.has(module.href)) return;
    this.#warmed.add(module.href);
    this.call(module, '', [], { timeoutMs: warmTimeoutMs, isUnreferenced: true }).catch(() => undefined);
  }

  /** Calls `name` of `module` in a worker. `args` are cloned when a worker takes the call: do not change them before it is settled. Rejects with a WorkerError. */
  call(module: URL, name: string, args: readonly unknown[], options: CallOptions): Promise<unknown> {
    const { timeoutMs, signal } = options;
    const blame = options.blame ?? module.href;
    const fault = this.#refusal(blame, timeoutMs, signal);
    if (fault !== undefined) return Promise.reject(fault);
    return new Promise((resolve, reject) => {
      const task = new Task<PoolWorker>(module.href, name, args, blame, timeoutMs, resolve, reject);
      task.timer = setTimeout(this.#onTimeout, timerMs(timeoutMs), task);
      if (options.isUnreferenced === true) task.timer.unref();
      if (signal !== undefined) this.#listen(task, signal);
      this.#queue.add(task);
      this.#dispatch();
    });
  }

  state(): WorkerPoolState {
    let running = 0;
    for (const worker of this.#workers) running += worker.tasks.size;
    return {
      workers: this.#workers.size, running, queued: this.#queuedCount, completed: this.#completed, crashed: this.#crashed, timedOut: this.#timedOut,
      saturated: this.#saturated,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#watch);
    clearTimeout(this.#sweep);
    const workers = [...this.#workers];
    this.#workers.clear();
    const closed = new WorkerError('closed', 'the worker pool is closed');
    for (const task of [...this.#waiting(), ...workers.flatMap((worker) => [...worker.tasks.values()])]) this.#reject(task, closed);
    for (const tasks of [this.#queue, this.#again, this.#suspects]) tasks.clear();
    await Promise.all(workers.map((worker) => worker.end()));
  }

  onReady(worker: PoolWorker): void {
    // Its time may have been over before the worker was up.
    if (worker.reservedFor?.isSettled === true) worker.reservedFor = undefined;
    // Its last calls were taken back.
    if (worker.isDraining && worker.tasks.size === 0) this.#end(worker);
    this.#dispatch();
  }

  onOutcome(worker: PoolWorker, task: PoolTask, outcome: WorkerOutcome): void {
    this.#completed += 1;
    if (outcome !== undefined) {
      this.#meanRunMs += (outcome.runMs - this.#meanRunMs) * meanWeight;
      if ('fault' in outcome) this.#reject(task, errorOfFault(outcome.fault));
      else this.#resolve(task, outcome.value);
    }
    this.#onRoom(worker);
  }

  onUncloneable(worker: PoolWorker, task: PoolTask, reason: Error): void {
    this.#reject(task, new WorkerError('uncloneable', `an argument cannot be cloned: ${reason.message}`, reason));
    this.#onRoom(worker);
  }

  onDeath(worker: PoolWorker, reason: unknown): void {
    if (!this.#workers.delete(worker)) return;
    this.#crashed += 1;
    const { begun, waiting } = worker.takeAll();
    for (const task of waiting) (task.isAlone ? this.#suspects : this.#again).add(task);
    const isStillborn = !worker.isReady;
    // Without a call in it, a worker ends by what earlier calls left behind.
    if (!isStillborn) this.#breaker.blame(begun.length > 0 ? new Set(begun.map(({ blame }) => blame)) : worker.modules, performance.now());
    const error = errorOfDeath(reason, this.#options.heapMegabytesMax);
    for (const task of begun) {
      if (task.isSettled) clearTimeout(task.timer);
      else if (task.isAlone) this.#reject(task, error);
      else {
        // In the order in which they began: the last one is the likeliest culprit, and should cost the others no time.
        task.isAlone = true;
        this.#suspects.add(task);
      }
    }
    if (isStillborn) this.#onStillborn(worker, error);
    this.#dispatch();
  }

  get #queuedCount(): number {
    return this.#queue.size + this.#again.size + this.#suspects.size;
  }

  #waiting(): PoolTask[] {
    return [...this.#suspects, ...this.#again, ...this.#queue];
  }

  #refusal(blame: string, timeoutMs: number, signal: AbortSignal | undefined): WorkerError | undefined {
    if (this.#isClosed) return new WorkerError('closed', 'the worker pool is closed');
    if (signal?.aborted === true) return new WorkerError('aborted', 'the caller left');
    const refusedForMs = this.#breaker.refusedForMs(blame, performance.now());
    if (refusedForMs > 0) return refusal(blame, refusedForMs);
    const queued = this.#queuedCount;
    if (queued >= this.#options.queuedMax) {
      this.#saturated += 1;
      return new WorkerError('saturated', `the worker pool is full: ${queued} calls wait; try again`);
    }
    const waitMs = (queued * this.#meanRunMs) / this.workersMax;
    if (waitMs <= timeoutMs) return undefined;
    this.#saturated += 1;
    return new WorkerError('saturated', `the worker pool is full: the wait would be about ${Math.round(waitMs)} ms, and the call may take ${timeoutMs} ms; try again`);
  }

  #dispatch(): void {
    if (this.#isClosed) return;
    this.#placeSuspects();
    for (const tasks of [this.#again, this.#queue]) {
      for (const task of tasks) {
        if (this.#isRefused(task)) continue;
        const worker = this.#freest();
        if (worker === undefined) {
          if (this.#workers.size === 0) this.#start();
          this.#watchOver();
          return;
        }
        tasks.delete(task);
        this.#post(worker, task);
      }
    }
    this.#watchOver();
  }

  /** Its module was let in, and has ended too many workers since. */
  #isRefused(task: PoolTask): boolean {
    const refusedForMs = this.#breaker.refusedForMs(task.blame, performance.now());
    if (refusedForMs === 0) return false;
    this.#reject(task, refusal(task.blame, refusedForMs));
    return true;
  }

  /** The ready worker with the fewest calls in it. */
  #freest(): PoolWorker | undefined {
    let freest: PoolWorker | undefined = undefined;
    let fewest = Infinity;
    for (const worker of this.#workers) {
      if (!worker.isReady || worker.isDead || worker.stuckSinceMs > 0 || worker.isDraining || worker.reservedFor !== undefined || !worker.hasRoom) continue;
      if (worker.tasks.size >= fewest) continue;
      fewest = worker.tasks.size;
      freest = worker;
    }
    return freest;
  }

  #post(worker: PoolWorker, task: PoolTask): void {
    if (!worker.modules.has(task.blame)) {
      worker.modules.add(task.blame);
      worker.addresses.add(task.blame.split('?', 1)[0] ?? '');
      if (worker.modules.size - worker.addresses.size >= versionsMax) worker.isDraining = true;
    }
    worker.post(task);
  }

  #start(reservedFor?: PoolTask): void {
    const { callsPerWorker, heapMegabytesMax, resultBytesMax } = this.#options;
    try {
      const worker = new PoolWorker({ callsMax: callsPerWorker, heapMegabytesMax, resultBytesMax, printedBytesMax }, this);
      worker.reservedFor = reservedFor;
      this.#workers.add(worker);
    } catch (thrown) {
      this.#failAll(new WorkerError('crashed', `no worker can be started: ${reasonOf(thrown)}`, thrown));
    }
  }

  /** No call is in it, and still it does not get to any: it is held up by what earlier ones left behind. */
  #onSilence(worker: PoolWorker): void {
    this.#crashed += 1;
    this.#breaker.blame(worker.modules, performance.now());
    this.#end(worker);
  }

  /** A worker that ends before it is up would be started for ever. */
  #onStillborn(worker: PoolWorker, error: WorkerError): void {
    if (worker.reservedFor !== undefined) this.#reject(worker.reservedFor, error);
    if (this.#workers.size === 0) this.#failAll(new WorkerError('crashed', `no worker can be started: ${error.message}`, error));
  }

  #failAll(error: WorkerError): void {
    for (const task of this.#waiting()) this.#reject(task, error);
  }

  /** Gives each suspect a new worker of its own, and leaves one worker to the others where there are two. */
  #placeSuspects(): void {
    if (this.#suspects.size === 0) return;
    let reserved = 0;
    const placed = new Set<PoolTask>();
    for (const worker of this.#workers) {
      const task = worker.reservedFor;
      if (task === undefined) continue;
      reserved += 1;
      placed.add(task);
      if (!worker.isReady || worker.tasks.size > 0) continue;
      if (this.#suspects.delete(task)) this.#post(worker, task);
    }
    for (const task of this.#suspects) {
      if (placed.has(task) || this.#isRefused(task)) continue;
      if (reserved >= Math.max(1, this.workersMax - 1)) return;
      if (this.#workers.size >= this.workersMax && !this.#makeRoom()) return;
      reserved += 1;
      this.#start(task);
    }
  }

  /** Ends an idle worker, or lets the least busy one run empty. */
  #makeRoom(): boolean {
    let leastBusy: PoolWorker | undefined = undefined;
    for (const worker of this.#workers) {
      if (worker.reservedFor !== undefined || !worker.isReady) continue;
      if (worker.isDraining) return false;
      if (leastBusy === undefined || worker.tasks.size < leastBusy.tasks.size) leastBusy = worker;
    }
    if (leastBusy === undefined) return false;
    leastBusy.isDraining = true;
    if (leastBusy.tasks.size > 0) return false;
    this.#end(leastBusy);
    return true;
  }

  #onRoom(worker: PoolWorker): void {
    if (worker.tasks.size === 0) {
      worker.reservedFor = undefined;
      if (worker.isDraining) this.#end(worker);
      else this.#sweepLater();
    }
    this.#dispatch();
  }

  #end(worker: PoolWorker): void {
    this.#workers.delete(worker);
    // It gets no call any more, whether its thread ends well or badly.
    worker.end().catch(() => undefined);
  }

  /** While calls wait or run, looks at the workers again and again: what is stuck behind a long call goes elsewhere. */
  #watchOver(): void {
    if (this.#watch !== undefined || !this.#hasWaiting()) return;
    this.#watch = setTimeout(() => {
      this.#watch = undefined;
      const nowMs = performance.now();
      const beforeMs = nowMs - patienceMs;
      for (const worker of this.#workers) {
        // Its call is to run there and nowhere else.
        if (worker.reservedFor !== undefined) continue;
        if (worker.stuckSinceMs > 0 && worker.stuckSinceMs <= nowMs - this.#options.silentMs && worker.tasks.size === 0) this.#onSilence(worker);
        for (const task of worker.tasks.values()) {
          if (task.postedAtMs > beforeMs || !worker.takeBack(task)) continue;
          if (worker.stuckSinceMs === 0) worker.stuckSinceMs = nowMs;
          if (task.isSettled) clearTimeout(task.timer);
          else this.#again.add(task);
        }
      }
      this.#dispatch();
      const isLate = isOlder(this.#again, beforeMs) || isOlder(this.#queue, beforeMs);
      const isStarting = [...this.#workers].some((worker) => !worker.isReady);
      if (isLate && !isStarting && this.#workers.size < this.workersMax) this.#start();
    }, patienceMs);
    this.#watch.unref();
  }

  #hasWaiting(): boolean {
    if (this.#again.size > 0 || this.#queue.size > 0) return true;
    for (const worker of this.#workers) if (worker.tasks.size > 0) return true;
    return false;
  }

  /** Ends workers that were idle for long; the last one stays. */
  #sweepLater(): void {
    if (this.#sweep !== undefined || this.#workers.size < 2) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      const beforeMs = performance.now() - this.#options.idleMs;
      for (const worker of this.#workers) {
        if (this.#workers.size < 2) return;
        if (worker.isReady && worker.tasks.size === 0 && worker.reservedFor === undefined && worker.idleSinceMs <= beforeMs) this.#end(worker);
      }
      this.#sweepLater();
    }, this.#options.idleMs);
    this.#sweep.unref();
  }

  readonly #onTimeout = (task: PoolTask): void => {
    const { worker } = task;
    if (worker === undefined || worker.takeBack(task)) {
      this.#saturated += 1;
      this.#reject(task, new WorkerError('saturated', `no worker was free within ${task.timeoutMs} ms; try again`));
      return;
    }
    this.#timedOut += 1;
    const { begun, waiting } = worker.takeAll();
    this.#end(worker);
    this.#breaker.blame(new Set([task.blame]), performance.now());
    this.#reject(task, new WorkerError('timeout', `timed out after ${task.timeoutMs} ms`));
    for (const other of waiting) this.#again.add(other);
    for (const other of begun) if (other !== task) this.#interrupt(other);
    this.#dispatch();
  };

  /** Its worker was ended because of another call. */
  #interrupt(task: PoolTask): void {
    task.interruptions += 1;
    if (task.isSettled) clearTimeout(task.timer);
    else if (task.interruptions <= interruptionsMax) this.#again.add(task);
    else this.#reject(task, new WorkerError('interrupted', `its worker was ended ${task.interruptions} times because of other calls`));
  }

  /** One listener for all calls with the same signal. */
  #listen(task: PoolTask, signal: AbortSignal): void {
    let group = this.#bySignal.get(signal);
    if (group === undefined) {
      const tasks = group = new Set<PoolTask>();
      this.#bySignal.set(signal, tasks);
      signal.addEventListener('abort', () => {
        for (const each of tasks) this.#onAbort(each);
      }, { once: true });
    }
    group.add(task);
    task.group = group;
  }

  #onAbort(task: PoolTask): void {
    if (task.isSettled) return;
    const error = new WorkerError('aborted', 'the caller left');
    const { worker } = task;
    if (worker === undefined || worker.takeBack(task)) {
      this.#reject(task, error);
      return;
    }
    // It has begun: its timer still ends it.
    task.isSettled = true;
    task.group?.delete(task);
    task.reject(error);
  }

  #resolve(task: PoolTask, value: unknown): void {
    this.#settle(task);
    task.resolve(value);
  }

  #reject(task: PoolTask, error: Error): void {
    this.#settle(task);
    task.reject(error);
  }

  #settle(task: PoolTask): void {
    task.isSettled = true;
    clearTimeout(task.timer);
    task.group?.delete(task);
    if (task.worker !== undefined) return;
    this.#queue.delete(task);
    this.#again.delete(task);
    this.#suspects.delete(task);
  }
}

/** The first of them, that is. */
function isOlder(tasks: ReadonlySet<PoolTask>, beforeMs: number): boolean {
  for (const task of tasks) return task.askedAtMs <= beforeMs;
  return false;
}
