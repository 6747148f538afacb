// Hot: runs for each call.
// An origin: its connections, those that are idle last in, first out, and what a fault of one of them is called. A connection is counted from
// the moment it is begun.

import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import type { SendWatcher, Trust, UpstreamOrigin, UpstreamRequest } from '../client.js';
import type { Connect, ConnectTarget } from '../egress.js';
import type { TimerWheel } from '../timer-wheel.js';
import { Call, isSocketFault, type CallOwner } from './call.js';
import { Connection, ConnectionFault, type ConnectionOwner } from './connection.js';
import { RequestHead, RequestHeads } from './request-head.js';

/** How long an unused connection is kept. Shorter than the 60 s after which common load balancers close theirs. */
const keepAliveMs = 50_000;
/** A streamed body cannot be sent again: it is not trusted to a connection that had no time to show that the server closes it. */
const settledMs = 2;

/** What the origins of one client share. */
export class OriginGroup {
  /** Those with connections. Plans hold on to their origins, so one that is no longer found by its name may connect again. */
  readonly connected = new Set<Origin>();
  /** The client was closed: no connection is kept for another call. */
  isClosed = false;
}

export interface OriginOptions {
  readonly dial: Connect;
  readonly timers: TimerWheel;
  readonly connectionsMax: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  onThrown(thrown: unknown): void;
}

export class Origin implements UpstreamOrigin, ConnectionOwner, CallOwner {
  readonly host: string;
  readonly target: ConnectTarget;
  readonly #heads: RequestHeads;
  readonly #idle: Connection[] = [];
  #open = 0;

  constructor(url: URL, readonly trust: Trust, readonly options: OriginOptions, readonly group: OriginGroup) {
    this.host = url.host;
    this.target = { protocol: url.protocol, hostname: url.hostname, port: url.port };
    this.#heads = new RequestHeads(url.host);
  }

  get isUnused(): boolean {
    return this.#open === 0;
  }

  send(request: UpstreamRequest, listener: UpstreamListener, watcher: SendWatcher | null = null): UpstreamCall {
    const head = this.#heads.of(request);
    if (!(head instanceof RequestHead)) return new RefusedCall(listener, head);
    let connection = this.#takeIdle(request);
    if (connection === null) {
      const maximum = this.options.connectionsMax;
      if (this.#open >= maximum) return new RefusedCall(listener, fail('UPSTREAM_BUSY', { host: this.host, maximum }));
      connection = this.connect();
    }
    const call = new Call(this, request, head, listener, watcher, connection);
    call.dispatch();
    return call;
  }

  // ---- for connections and calls ----

  get dial(): Connect {
    return this.options.dial;
  }

  get timers(): TimerWheel {
    return this.options.timers;
  }

  get firstByteTimeoutMs(): number {
    return this.options.firstByteTimeoutMs;
  }

  get idleTimeoutMs(): number {
    return this.options.idleTimeoutMs;
  }

  connect(): Connection {
    this.#open += 1;
    this.group.connected.add(this);
    return new Connection(this);
  }

  release(connection: Connection, keepMs: number): void {
    if (connection.isDropped) return;
    if (this.group.isClosed) {
      this.drop(connection);
      return;
    }
    const now = Date.now();
    connection.idleSince = now;
    connection.idleUntil = now + Math.min(keepMs, keepAliveMs);
    this.#idle.push(connection);
  }

  drop(connection: Connection): void {
    if (connection.isDropped) return;
    connection.isDropped = true;
    this.#open -= 1;
    const index = connection.idleSince === 0 ? -1 : this.#idle.lastIndexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    connection.close();
  }

  onThrown(thrown: unknown): void {
    this.options.onThrown(thrown);
  }

  /** Closes idle connections that are not to be used at `now` any more. */
  sweep(now: number): void {
    for (const connection of this.#idle.slice()) if (connection.idleUntil <= now) this.drop(connection);
  }

  #takeIdle(request: UpstreamRequest): Connection | null {
    const now = Date.now();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.idleUntil <= now) {
        this.drop(connection);
        continue;
      }
      const isStream = request.body !== null && !(request.body instanceof Uint8Array);
      if (isStream && now - connection.idleSince < settledMs && this.#open < this.options.connectionsMax) {
        this.#idle.push(connection);
        return this.#takeSettled(now);
      }
      connection.idleSince = 0;
      return connection;
    }
    return null;
  }

  /** Of those that became idle earlier than the last one: without it, each stream that follows a call would leave one more connection. */
  #takeSettled(now: number): Connection | null {
    for (let index = this.#idle.length - 1; index >= 0; index -= 1) {
      const connection = this.#idle[index] as Connection;
      if (now - connection.idleSince < settledMs) continue;
      this.#idle.splice(index, 1);
      if (connection.idleUntil > now) {
        connection.idleSince = 0;
        return connection;
      }
      this.drop(connection);
    }
    return null;
  }

  faultOf(thrown: Error, isHeadSeen: boolean): GatewayError {
    if (isGatewayError(thrown)) return thrown;
    const { host } = this;
    if (thrown instanceof ConnectionFault) {
      switch (thrown.kind) {
        case 'headTimeout': return fail('UPSTREAM_IDLE', { provider: host, timeoutMs: this.firstByteTimeoutMs }, thrown);
        case 'bodyTimeout': return fail('UPSTREAM_IDLE', { provider: host, timeoutMs: this.idleTimeoutMs }, thrown);
        case 'invalid':
          if (!isHeadSeen) return fail('UPSTREAM_INVALID', { provider: host, reason: thrown.message }, thrown);
          break;
        case 'closed': break;
        default: thrown.kind satisfies never;
      }
    }
    const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
    // Node's own messages name addresses: `connect ECONNREFUSED 10.0.0.7:80`. The code says enough.
    const reason = code === '' ? reasonOf(thrown) : code;
    if (isHeadSeen) return fail('UPSTREAM_BROKE', { provider: host, reason }, thrown);
    if (isSocketFault(thrown)) return fail('UPSTREAM_RESET', { provider: host, reason }, thrown);
    return fail('UPSTREAM_UNREACHABLE', { host, reason }, thrown);
  }
}

/** Nothing was sent. Told as all faults are, after send() has returned. */
class RefusedCall implements UpstreamCall {
  #isOver = false;

  constructor(listener: UpstreamListener, fault: GatewayError) {
    queueMicrotask(() => {
      if (!this.#isOver) listener.onError(fault);
    });
  }

  pause(): void {}
  resume(): void {}
  cancel(): void { this.#isOver = true; }
}
