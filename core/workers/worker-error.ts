// Why a call of the worker pool gave no value. The code says whose fault it was, so that a caller can treat each in its own way.

import { reasonOf } from '../errors/gateway-error.js';

/**
 * `timeout`: it ran for too long, and its worker was ended. `saturated`: the pool had no room, or no worker was free in time. `crashed`: the
 * worker ended over it. `out-of-memory`: it filled the heap. `threw`: the function itself threw. `unloadable`: there is no such module or
 * function. `uncloneable`: an argument or the result cannot cross. `too-large`: the result is larger than allowed. `interrupted`: calls beside it
 * ended its worker again and again. `refused`: calls of this module ended too many workers of late. `aborted`: the caller left. `closed`: the
 * pool is closed.
 */
export type WorkerErrorCode =
  | 'timeout' | 'saturated' | 'crashed' | 'out-of-memory' | 'threw' | 'unloadable' | 'uncloneable' | 'too-large' | 'interrupted' | 'refused'
  | 'aborted' | 'closed';

const marker = Symbol.for('gateway.worker-error');

/** The part of an error that crosses from a worker. */
export interface Fault {
  readonly code: 'threw' | 'unloadable' | 'uncloneable' | 'too-large';
  /** Class of what was thrown. */
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
}

export class WorkerError extends Error {
  readonly [marker] = true;

  constructor(readonly code: WorkerErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'WorkerError';
  }
}

/** Known by its marker, not its class: two copies of the module agree. */
export const isWorkerError = (value: unknown): value is WorkerError => typeof value === 'object' && value !== null && marker in value;

/** What a function threw keeps its own name and message. */
export function errorOfFault(fault: Fault): WorkerError {
  const error = new WorkerError(fault.code, fault.message);
  if (fault.code !== 'threw') return error;
  if (fault.name !== undefined) error.name = fault.name;
  if (fault.stack !== undefined) error.stack = fault.stack;
  return error;
}

/** The module is refused by the breaker. */
export const refusal = (module: string, refusedForMs: number): WorkerError =>
  new WorkerError('refused', `${module} ended too many workers; it is refused for another ${Math.ceil(refusedForMs / 1000)} s`);

/** Of a call whose worker ended of itself. */
export function errorOfDeath(reason: unknown, heapMegabytesMax: number): WorkerError {
  const code: WorkerErrorCode = reason instanceof Error && 'code' in reason && reason.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out-of-memory' : 'crashed';
  if (code === 'out-of-memory') return new WorkerError(code, `out of memory: the worker's heap of ${heapMegabytesMax} MB was full`, reason);
  return new WorkerError(code, `the worker ended: ${reasonOf(reason)}`, reason);
}
