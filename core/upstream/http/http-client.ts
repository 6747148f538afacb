// Every way to an upstream server, one of these in each thread: origins by name and trust, and the sweep of connections that nobody uses.

import type { Trust, UpstreamClient, UpstreamOrigin } from '../client.js';
import type { Egress } from '../egress.js';
import { TimerWheel } from '../timer-wheel.js';
import { Origin, OriginGroup } from './origin.js';

export interface HttpClientOptions {
  readonly egress: Egress;
  readonly connectionsMax: number;
  /** From the request to the head of its answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two reads of an answer. */
  readonly idleTimeoutMs: number;
  readonly timers?: TimerWheel;
  /** A listener threw when it was told of its call's fault. */
  readonly onThrown?: (thrown: unknown) => void;
}

const sweepMs = 10_000;

export class HttpClient implements UpstreamClient {
  readonly #origins = new Map<string, Origin>();
  readonly #group = new OriginGroup();
  readonly #timers: TimerWheel;
  readonly #sweeper: NodeJS.Timeout;

  constructor(readonly options: HttpClientOptions) {
    this.#timers = options.timers ?? new TimerWheel();
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs);
    this.#sweeper.unref();
  }

  origin(url: URL, trust: Trust): UpstreamOrigin {
    // A connection opened for the operator must never serve an address that a request supplied: trust is part of the name.
    const key = `${trust} ${url.origin}`;
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      const { egress, connectionsMax, firstByteTimeoutMs, idleTimeoutMs, onThrown } = this.options;
      origin = new Origin(url, trust, {
        dial: egress.connector(trust), timers: this.#timers, connectionsMax, firstByteTimeoutMs, idleTimeoutMs,
        onThrown: onThrown ?? rethrow,
      }, this.#group);
      this.#origins.set(key, origin);
    }
    return origin;
  }

  /** Closes what is idle, and the other connections as their calls end: those are their callers' to cancel. */
  close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#group.isClosed = true;
    for (const origin of this.#group.connected) origin.sweep(Number.POSITIVE_INFINITY);
    return Promise.resolve();
  }

  #sweep(): void {
    const now = Date.now();
    const { connected } = this.#group;
    for (const origin of connected) {
      origin.sweep(now);
      if (origin.isUnused) connected.delete(origin);
    }
    for (const [key, origin] of this.#origins) if (origin.isUnused) this.#origins.delete(key);
  }
}

/** Not on the stack of the connection. */
function rethrow(thrown: unknown): void {
  process.nextTick(() => { throw thrown; });
}
