// What a pool may use, and what it tells about itself.

import { availableParallelism } from 'node:os';
import type { WorkerBreakerLimits } from './worker-breaker.js';

export interface WorkerPoolOptions {
  readonly workersMax?: number;
  /** Calls that are given to a worker before the first of them is done. */
  readonly callsPerWorker?: number;
  /** Calls that may wait for a worker. */
  readonly queuedMax?: number;
  readonly heapMegabytesMax?: number;
  readonly resultBytesMax?: number;
  readonly idleMs?: number;
  /** A worker without a call in it that does not begin one for so long is ended. */
  readonly silentMs?: number;
  readonly breaker?: WorkerBreakerLimits;
}

export interface WorkerPoolState {
  readonly workers: number;
  /** Calls that are in a worker. */
  readonly running: number;
  readonly queued: number;
  readonly completed: number;
  /** Workers that ended of themselves, or were held up by what a call had left behind. */
  readonly crashed: number;
  readonly timedOut: number;
  /** Calls for which there was no room, or no worker in time. */
  readonly saturated: number;
}

export const defaults = {
  callsPerWorker: 4, queuedMax: 1000, heapMegabytesMax: 256, resultBytesMax: 16 * 1024 * 1024, idleMs: 30_000, silentMs: 2000,
  breaker: { endedMax: 6, windowMs: 60_000, refusedMs: 30_000 },
} as const satisfies WorkerPoolOptions;

const workersOfPoolMax = 8;

/** Two at least, so that one endless loop does not hold up everything until its time is over; the second is only started when the first is busy. */
export const workersMaxOf = (dataThreads: number): number => Math.min(workersOfPoolMax, Math.max(2, Math.floor(availableParallelism() / Math.max(1, dataThreads))));
