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

export const change = (list: number[]): number => list.push(99);

/** Takes its thread for so long. */
export const spinFor = (durationMs: number): void => {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
};

export const notAFunction = 7;
