// The worker pool for CPU-heavy plugin code: piscina, started on first use, with a bounded queue and a bounded heap for each worker. What
// crosses is cloned. A full queue is an error at once, never a wait without end.

import { Piscina } from 'piscina';
import type { WorkerOf } from '@gateway/plugin-sdk';
import type { WorkerTask } from './entry.js';

const queuedMax = 1000;
const heapMegabytesMax = 512;
const idleTimeoutMs = 30_000;

export class WorkerPool {
  #pool: Piscina | undefined = undefined;

  constructor(readonly threadsMax: number) {}

  /** The exported functions of `module`, each as a promise of the pool. */
  proxy<M>(module: URL): WorkerOf<M> {
    const call = (name: string, args: readonly unknown[]): Promise<unknown> => this.#run({ module: module.href, name, args });
    const functions = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    const target: object = {};
    // The exports are known only inside the worker: each name becomes a function when it is asked for.
    return new Proxy(target, {
      get: (_, name) => {
        // A proxy with `then` would be taken for a promise.
        if (typeof name !== 'string' || name === 'then') return undefined;
        let made = functions.get(name);
        if (made === undefined) functions.set(name, made = (...args) => call(name, args));
        return made;
      },
    }) as WorkerOf<M>;
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  #run(task: WorkerTask): Promise<unknown> {
    this.#pool ??= new Piscina({
      filename: new URL('./entry.js', import.meta.url).href,
      minThreads: 1,
      maxThreads: this.threadsMax,
      maxQueue: queuedMax,
      concurrentTasksPerWorker: 4,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    return this.#pool.run(task);
  }
}
