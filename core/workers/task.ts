// One call of the pool, from the moment it is asked for until it is settled. It may be in several workers one after the other.

export interface CallOptions {
  /** Milliseconds for the whole call, waiting included. */
  readonly timeoutMs: number;
  /** The module that is to blame when the call ends its worker; default the called one. */
  readonly blame?: string;
  /** Aborted: the call rejects at once. One that has begun is left to its end or its timeout, since ending a worker costs more. */
  readonly signal?: AbortSignal;
  /** Does not keep the process alive. */
  readonly isUnreferenced?: boolean;
}

export class Task<Worker> {
  /** Where it is: in no worker while it waits. */
  worker: Worker | undefined = undefined;
  cell = 0;
  ticket = 0;
  postedAtMs = 0;
  readonly askedAtMs = performance.now();
  timer: NodeJS.Timeout | undefined = undefined;
  /** Nobody waits for it any more. */
  isSettled = false;
  /** Its worker ended of itself while it ran: the next time nothing else is in its worker. */
  isAlone = false;
  /** Workers that ended under it because of another call. */
  interruptions = 0;
  /** Calls with the same signal. */
  group: Set<Task<Worker>> | undefined = undefined;

  constructor(
    readonly module: string,
    readonly name: string,
    readonly args: readonly unknown[],
    readonly blame: string,
    readonly timeoutMs: number,
    readonly resolve: (value: unknown) => void,
    readonly reject: (error: Error) => void,
  ) {}
}
