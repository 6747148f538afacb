import type { Maybe } from './shared.js';
import type { Store } from './store.js';

/** All a plugin may touch outside its own module. Given to `create()`; faked by the testing kit. */
export interface Host {
  readonly log: Log;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  /** An outbound HTTP call through the host's connection pools, deadlines and address policy. Redirects are not followed. */
  fetch(request: OutboundRequest): Promise<OutboundResponse>;
  /** An ordered key-value store of the plugin's own. */
  store(name: string): Promise<Store>;
  /** Addresses that the host's resolver gives for a name; empty when it has none, rejected when too many are looked up already. Says nothing about whether they may be called. */
  resolve(name: string): Promise<readonly string[]>;
  /**
   * The exported functions of `module`, run in the worker pool. Arguments and results are cloned. A call rejects when its time is over, when the
   * pool has no room, and when the worker broke down over it.
   */
  worker<M>(module: URL, options?: WorkerOptions): WorkerOf<M>;
  /** Resolves a secret reference of the operator (`env:NAME`); rejects when it does not exist. */
  secret(reference: string): Promise<string>;
  /** Adds to a counter, named below the plugin's id. */
  count(metric: string, by?: number): void;
  /** Runs `work` periodically, never overlapping; stopped by the host at close. */
  every(periodMs: number, work: () => Maybe<void>): void;
}

export interface WorkerOptions {
  /** Milliseconds for one call, waiting included; default 5000. What runs longer is ended by force. */
  readonly timeoutMs?: number;
}

export type WorkerOf<M> = {
  readonly [K in keyof M as M[K] extends (...a: never[]) => unknown ? K : never]:
    M[K] extends (...a: infer A) => infer R ? (...a: A) => Promise<Awaited<R>> : never;
};

/** The gateway's log. Never pass a secret or a body. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Milliseconds for the whole call, body included. */
  readonly timeoutMs: number;
  /** Largest answer accepted, in bytes (default 1 MiB). */
  readonly bytesMax?: number;
  /** The status is what counts: once it is there, a body that is larger than `bytesMax`, takes too long, breaks off or is aborted is given as far as it came, in place of a rejection. */
  readonly isHeadEnough?: boolean;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  header(name: string): string | undefined;
  bytes(): Promise<Uint8Array>;
}
