// Hot: runs for each call and each chunk.
// The HTTP client: undici's Client, one for a connection, kept in a last-in-first-out list for each origin, because undici's Pool searches
// its clients one by one. undici 7 speaks its older handler shape inside (onConnect, onHeaders, onData ...); it is used directly, since the
// newer one parses every header into an object first.

import { Client } from 'undici';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../errors/gateway-error.js';
import type { SendWatcher, Trust, UpstreamClient, UpstreamOrigin, UpstreamRequest } from './client.js';
import type { Egress } from './egress.js';

export interface UndiciSettings {
  readonly egress: Egress;
  readonly connectionsMax: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** How long an unused connection is kept. Shorter than the 60 s after which common load balancers close theirs. */
const keepAliveMs = 50_000;
const sweepMs = 10_000;
/**
 * A request that crosses the close of an idle connection fails within one round trip. What fails later may have been worked on, and nobody here
 * may decide that it is done twice.
 */
const idleFaultMsMax = 100;

/** One connection, reconnected by undici when the server closed it. */
class Connection {
  /** Answers received over the present socket: above 0, a failure may be the server's idle close crossing our request. */
  served = 0;
  usedAtMs = 0;
  isDropped = false;
  /** Who sends over it at present. */
  caller = '';
  #socket: Socket | null = null;
  readonly client: Client;

  constructor(origin: Origin) {
    const connect = origin.settings.egress.connector(origin.trust);
    this.client = new Client(origin.url.origin, {
      connect: (target, callback) => connect(target, (fault: Error | null, socket: Socket | null) => {
        this.served = 0;
        this.#socket = socket;
        if (socket === null) callback(fault ?? new Error('no connection'), null);
        else callback(null, socket);
      }, this.caller),
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    });
  }

  /** Over the present socket, or the one that was closed last. */
  get bytesRead(): number {
    return this.#socket === null ? 0 : this.#socket.bytesRead;
  }
}

class Call implements UpstreamCall {
  #isPaused = false;
  #isHeadSeen = false;
  #isOver = false;
  #isRepeated = false;
  #abort: ((reason?: Error) => void) | null = null;
  #resume: (() => void) | null = null;
  #connection: Connection;
  #sentAt = 0;
  #bytesReadBefore = 0;

  constructor(readonly origin: Origin, readonly request: UpstreamRequest, readonly listener: UpstreamListener, readonly watcher: SendWatcher | null, connection: Connection) {
    this.#connection = connection;
  }

  dispatch(): void {
    const { request, origin } = this;
    this.#connection.caller = request.caller ?? '';
    if (this.#connection.served > 0) {
      this.#sentAt = performance.now();
      this.#bytesReadBefore = this.#connection.bytesRead;
    }
    this.#connection.client.dispatch({
      path: request.path,
      method: request.method as 'POST',
      headers: request.headers,
      body: request.body as Buffer | Readable | null,
      headersTimeout: origin.settings.firstByteTimeoutMs,
      bodyTimeout: origin.settings.idleTimeoutMs,
    }, this);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Outside undici's own callbacks only: it asserts that its parser is not running.
    const resume = this.#resume;
    if (resume !== null) resume();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const abort = this.#abort;
    // Before the connection stands there is nothing to abort but the connection itself.
    if (abort === null) this.origin.drop(this.#connection);
    else abort();
  }

  // ---- undici's handler ----

  onConnect(abort: (reason?: Error) => void): void {
    if (this.#isOver) abort();
    else this.#abort = abort;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200 || this.#isOver) return true;
    this.#isHeadSeen = true;
    this.#resume = resume;
    const headers: string[] = new Array<string>(rawHeaders.length);
    for (let index = 0; index < rawHeaders.length; index += 2) {
      headers[index] = lowerCaseName(rawHeaders[index] as Buffer);
      const value = rawHeaders[index + 1] as Buffer;
      headers[index + 1] = value.toString('latin1');
    }
    this.listener.onHead(status, headers);
    return !this.#isPaused;
  }

  onData(chunk: Buffer): boolean {
    if (!this.#isOver) this.listener.onChunk(chunk);
    return !this.#isPaused;
  }

  onComplete(): void {
    this.#connection.served += 1;
    this.origin.release(this.#connection);
    if (this.#isOver) return;
    this.#isOver = true;
    this.listener.onEnd();
  }

  onError(thrown: Error): void {
    const connection = this.#connection;
    const wasClosedIdle = connection.served > 0 && isSocketFault(thrown) && !this.#isHeadSeen
      && connection.bytesRead === this.#bytesReadBefore && performance.now() - this.#sentAt <= idleFaultMsMax;
    this.origin.drop(connection);
    if (this.#isOver) return;
    if (wasClosedIdle && !this.#isRepeated && !isStream(this.request.body)) {
      this.#isRepeated = true;
      this.watcher?.onRepeat();
      this.#abort = null;
      this.#connection = this.origin.connect();
      this.dispatch();
      return;
    }
    this.#isOver = true;
    this.listener.onError(this.origin.faultOf(thrown, this.#isHeadSeen));
  }
}

class Origin implements UpstreamOrigin {
  readonly host: string;
  readonly #idle: Connection[] = [];
  #open = 0;

  constructor(readonly url: URL, readonly trust: Trust, readonly settings: UndiciSettings, readonly connected: Set<Origin>) {
    this.host = url.host;
  }

  get isUnused(): boolean {
    return this.#open === 0;
  }

  send(request: UpstreamRequest, listener: UpstreamListener, watcher: SendWatcher | null = null): UpstreamCall {
    let connection = this.#idle.pop();
    if (connection === undefined) {
      if (this.#open >= this.settings.connectionsMax) {
        queueMicrotask(() => listener.onError(fail('UPSTREAM_BUSY', { host: this.host, maximum: this.settings.connectionsMax })));
        return noCall;
      }
      connection = this.connect();
    }
    const call = new Call(this, request, listener, watcher, connection);
    call.dispatch();
    return call;
  }

  connect(): Connection {
    this.#open += 1;
    this.connected.add(this);
    return new Connection(this);
  }

  release(connection: Connection): void {
    if (connection.isDropped) return;
    connection.usedAtMs = Date.now();
    this.#idle.push(connection);
  }

  drop(connection: Connection): void {
    if (connection.isDropped) return;
    connection.isDropped = true;
    this.#open -= 1;
    // A connection that cannot be closed is gone already.
    if (!connection.client.destroyed) connection.client.destroy().catch(() => undefined);
  }

  /** Closes connections unused since `beforeMs`; the oldest are at the front of the list. */
  sweep(beforeMs: number): void {
    let count = 0;
    while (count < this.#idle.length && (this.#idle[count] as Connection).usedAtMs < beforeMs) count += 1;
    for (const connection of this.#idle.splice(0, count)) this.drop(connection);
  }

  faultOf(thrown: Error, isHeadSeen: boolean): GatewayError {
    if (isGatewayError(thrown)) return thrown;
    const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
    const { host } = this;
    switch (code) {
      case 'UND_ERR_HEADERS_TIMEOUT': return fail('UPSTREAM_IDLE', { provider: host, timeoutMs: this.settings.firstByteTimeoutMs }, thrown);
      case 'UND_ERR_BODY_TIMEOUT': return fail('UPSTREAM_IDLE', { provider: host, timeoutMs: this.settings.idleTimeoutMs }, thrown);
      case 'UND_ERR_CONNECT_TIMEOUT': return fail('UPSTREAM_UNREACHABLE', { host, reason: 'connect timeout' }, thrown);
      case 'UND_ERR_INVALID_ARG': return requestFault(thrown);
      case 'UND_ERR_HEADERS_OVERFLOW': return fail('UPSTREAM_INVALID', { provider: host, reason: 'response headers too large' }, thrown);
      default: break;
    }
    if (isHeadSeen) return fail('UPSTREAM_BROKE', { provider: host, reason: plainReason(thrown, code) }, thrown);
    if (thrown.name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return fail('UPSTREAM_INVALID', { provider: host, reason: thrown.message }, thrown);
    if (isSocketFault(thrown)) return fail('UPSTREAM_RESET', { provider: host, reason: plainReason(thrown, code) }, thrown);
    return fail('UPSTREAM_UNREACHABLE', { host, reason: plainReason(thrown, code) }, thrown);
  }
}

/** Every way to an upstream server; one in each thread. */
export class UndiciClient implements UpstreamClient {
  readonly #origins = new Map<string, Origin>();
  /** Origins with connections. Plans hold on to theirs, so one that is no longer found by its name may connect again. */
  readonly #connected = new Set<Origin>();
  readonly #timer: NodeJS.Timeout;

  constructor(readonly settings: UndiciSettings) {
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }

  origin(url: URL, trust: Trust): UpstreamOrigin {
    // A connection opened for the operator must never serve an address that a request supplied: trust is part of the name.
    const key = `${trust} ${url.origin}`;
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = new Origin(url, trust, this.settings, this.#connected);
      this.#origins.set(key, origin);
    }
    return origin;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const origin of this.#connected) origin.sweep(Number.POSITIVE_INFINITY);
  }

  #sweep(): void {
    const beforeMs = Date.now() - keepAliveMs;
    for (const origin of this.#connected) {
      origin.sweep(beforeMs);
      if (origin.isUnused) this.#connected.delete(origin);
    }
    for (const [key, origin] of this.#origins) if (origin.isUnused) this.#origins.delete(key);
  }
}

const noCall: UpstreamCall = { pause() {}, resume() {}, cancel() {} };

const isStream = (body: UpstreamRequest['body']): body is Readable => body !== null && !(body instanceof Uint8Array);

const isSocketFault = (thrown: Error): boolean => {
  const code = 'code' in thrown ? thrown.code : '';
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
};

/** undici would not write the request: `invalid authorization header` for a key that ends in a line break. Nothing was sent. */
function requestFault(thrown: Error): GatewayError {
  const name = /^invalid (\S+) header$/.exec(thrown.message)?.[1];
  if (name !== undefined) return fail('HEADER_INVALID', { name, param: name, reason: 'holds a character that no header can carry, such as a line break; check the API key, where this header takes it' }, thrown);
  return /path/.test(thrown.message) ? fail('PATH_INVALID', { reason: 'it holds a character that must be percent-encoded' }, thrown) : fail('INTERNAL', { id: 'unknown' }, thrown);
}

/** Node's own messages name addresses: `connect ECONNREFUSED 10.0.0.7:80`. The code says enough. */
const plainReason = (thrown: Error, code: string): string => (code === '' || code === 'UND_ERR_SOCKET' ? reasonOf(thrown) : code);

const knownNames = new Map<string, string>();
const knownNamesMax = 1000;

function lowerCaseName(raw: Buffer): string {
  const name = raw.toString('latin1');
  let lower = knownNames.get(name);
  if (lower === undefined) {
    lower = name.toLowerCase();
    if (knownNames.size < knownNamesMax) knownNames.set(name, lower);
  }
  return lower;
}
