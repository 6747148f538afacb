// What a plugin would have run in the pool, and what it should not have.

import { threadId } from 'node:worker_threads';

export const add = (left: number, right: number): number => left + right;

export const later = async (value: string): Promise<string> => {
  await new Promise((resolve) => { setImmediate(resolve); });
  return value.toUpperCase();
};

export const whereAmI = (): number => threadId;

let calls = 0;
export const countCalls = (): number => calls += 1;

export const refuse = (reason: string): never => { throw new RangeError(reason); };

export const refuseLater = async (reason: string): Promise<never> => {
  await Promise.resolve();
  throw new Error(reason);
};

/** Not inside the call: nobody is there to catch it. */
export const breakThread = (): Promise<never> => new Promise(() => {
  setImmediate(() => { throw new Error('from nowhere'); });
});

export const leave = (): never => process.exit(3);

export const change = (list: number[]): number => list.push(99);

/** Resolves when the first number of the shared memory is no longer 0. */
export const waitFor = async (shared: SharedArrayBuffer): Promise<void> => {
  const view = new Int32Array(shared);
  while (Atomics.load(view, 0) === 0) await new Promise((resolve) => { setTimeout(resolve, 1); });
};

export const notAFunction = 7;
