// Hot: runs for each call.
// The edge of one thread: a uWebSockets.js app on the shared port. Copies the head while the library still holds it, attaches the body and
// the abort handler before anything can wait, and hands a finished Exchange to the pipeline. Answers health, readiness and unknown routes
// itself: they have no key, no route and no log record.

import { fail, type GatewayError } from '../errors/gateway-error.js';
import { errorBody } from '../dialect/common/client-error.js';
import { dialects } from '../dialect/dialects.js';
import type { PromptAction } from '../exchange/endpoint.js';
import { Exchange, type BodyReader } from '../exchange/exchange.js';
import { RequestHead } from '../exchange/request-head.js';
import { checkPath, matchRoute } from '../router/match.js';
import { BusyPoll } from './busy-poll.js';
import { checkHead } from './check-head.js';
import { addressText, ClientConnections, type ConnectionLimits, type ConnectionReport } from './client-connections.js';
import type { ControlEdge } from './control-edge.js';
import type { MetricsEdge } from './metrics-edge.js';
import { Cors } from './cors.js';
import { isDescriptorFree } from './descriptors.js';
import { RequestBody, type BodyLimits } from './request-body.js';
import { ResponseWriter, type WriterOwner } from './response-writer.js';
import type { HeldBytes } from '../body/held-bytes.js';
import type { Uws, UwsApp, UwsListenSocket, UwsRequest, UwsResponse } from './uws.js';

export interface ExchangeHandler {
  handle(exchange: Exchange): void;
  /** A call whose body is made of a stored prompt. `id`: as it stands in the path. */
  handlePrompt(exchange: Exchange, action: PromptAction, id: string): void;
  onClientGone(exchange: Exchange): void;
}

export interface ListenerSettings {
  readonly tls: { readonly keyFile: string; readonly certFile: string } | undefined;
  readonly limits: BodyLimits;
  readonly held: HeldBytes;
  readonly version: string;
  /** How long to stay awake for the next event; 0: not at all. */
  readonly spinMs: number;
  readonly connections: ConnectionLimits;
  /** Of the process; undefined: not known. */
  readonly descriptorsMax: number | undefined;
  /** Web pages that may call; none: no answer speaks of it. */
  readonly corsOrigins: readonly string[];
}

export interface ListenerReport extends ConnectionReport {
  /** There is no descriptor left for a connection; or there is again. */
  paused(isPaused: boolean): void;
}

/** How often it is looked whether descriptors are left. */
const descriptorsEveryMs = 500;

const readHead = { head: new RequestHead() };
const collectHeader = (name: string, value: string): void => { readHead.head.add(name, value); };

export class Listener {
  isDraining = false;
  /** Calls accepted and not yet answered, health checks included. */
  open = 0;
  onIdle: (() => void) | null = null;
  readonly busyPoll: BusyPoll;
  readonly connections: ClientConnections;
  readonly cors: Cors | null;
  readonly #app: UwsApp;
  #socket: UwsListenSocket | null = null;
  #place: { readonly host: string; readonly port: number } | null = null;
  #watch: NodeJS.Timeout | null = null;

  constructor(readonly uws: Uws, readonly settings: ListenerSettings, readonly handler: ExchangeHandler, readonly reader: BodyReader, readonly control: Pick<ControlEdge, 'serve'>, readonly metrics: Pick<MetricsEdge, 'serve'>, readonly report: ListenerReport) {
    const { tls } = settings;
    this.busyPoll = new BusyPoll(settings.spinMs);
    this.#app = tls === undefined ? uws.App() : uws.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
    this.cors = settings.corsOrigins.length === 0 ? null : new Cors(settings.corsOrigins);
    this.connections = new ClientConnections(settings.connections, report);
    this.#app.filter((connection, change) => {
      if (change < 0) this.connections.onClosed();
      else if (!this.connections.onOpened(() => new Uint8Array(connection.getRemoteAddress()))) connection.close();
    });
    this.#app.any('/*', (response, request) => this.#onRequest(response, request));
  }

  /** Resolves with the port. The port is shared: other threads listen on it too. */
  async listen(host: string, port: number): Promise<number> {
    const socket = await listenOn(this.#app, host, port, 0);
    if (socket === false) throw portFault(host, port);
    this.#socket = socket;
    const bound = this.uws.us_socket_local_port(socket);
    this.connections.port = bound;
    this.#place = { host, port: bound };
    const { descriptorsMax } = this.settings;
    if (descriptorsMax !== undefined) this.#watch = setInterval(() => this.#lookAtDescriptors(descriptorsMax), descriptorsEveryMs).unref();
    return bound;
  }

  /** Without a descriptor no connection can be accepted, and the socket that waits would keep the thread busy with that. */
  #lookAtDescriptors(descriptorsMax: number): void {
    const isFree = isDescriptorFree(descriptorsMax);
    if (isFree === (this.#socket !== null) || this.#place === null || this.isDraining) return;
    if (!isFree) {
      if (this.#socket !== null) this.uws.us_listen_socket_close(this.#socket);
      this.#socket = null;
      this.report.paused(true);
      return;
    }
    const { host, port } = this.#place;
    this.#app.listen(host, port, 0, (socket) => {
      // Not to be had now: tried again.
      if (socket === false) return;
      this.#socket = socket;
      this.report.paused(false);
    });
  }

  stopListening(): void {
    this.isDraining = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) this.uws.us_listen_socket_close(socket);
  }

  /** Closes every connection, open answers included. The thread must not end before this. */
  close(): void {
    this.stopListening();
    this.connections.close();
    this.#app.close();
  }

  #onRequest(response: UwsResponse, request: UwsRequest): void {
    const head = new RequestHead();
    head.method = request.getCaseSensitiveMethod();
    head.path = request.getUrl();
    head.query = request.getQuery() ?? '';
    readHead.head = head;
    request.forEach(collectHeader);
    this.open += 1;
    this.busyPoll.touch(this.open);
    new ServedCall(this, response, head).begin();
  }
}

/** One request on the wire: keeps library objects, body, writer and exchange in step. */
class ServedCall implements WriterOwner {
  readonly body: RequestBody;
  readonly writer: ResponseWriter;
  #exchange: Exchange | null = null;
  #isFramingBroken = false;
  #isOver = false;

  constructor(readonly listener: Listener, readonly response: UwsResponse, readonly head: RequestHead) {
    this.body = new RequestBody(response, listener.settings.limits, listener.settings.held, head.hasBody, head.contentLength);
    this.writer = new ResponseWriter(response, this);
    response.onAborted(() => this.#onAborted());
  }

  get mustClose(): boolean {
    return this.#isFramingBroken || this.listener.isDraining || this.isBodyUnread;
  }

  get isBodyUnread(): boolean {
    return !this.body.isComplete && !this.body.endsSoon && !this.#isFramingBroken;
  }

  begin(): void {
    const { listener, head } = this;
    if (listener.cors !== null) this.writer.ownHeaders = listener.cors.headersFor(head);
    const fault = checkHead(head, listener.settings.limits.bodyBytesMax);
    if (fault !== undefined) {
      // A body that is too long is framed well: its client should see the answer.
      this.#isFramingBroken = fault.code !== 'BODY_TOO_LARGE';
      this.#refuse(fault);
      return;
    }
    const preflight = listener.cors === null ? undefined : listener.cors.preflight(head);
    if (preflight !== undefined) {
      this.body.discard();
      this.writer.ownHeaders = [...this.writer.ownHeaders ?? [], ...preflight];
      this.writer.start(204, [], -1);
      this.writer.end();
      return;
    }
    const route = matchRoute(head.method, head.path);
    switch (route.kind) {
      case 'endpoint':
      case 'proxy': {
        const reason = checkPath(head.path);
        if (reason !== undefined) {
          this.#refuse(fail('PATH_INVALID', { reason, param: 'path' }));
          return;
        }
        const exchange = new Exchange(head, route.endpoint, route.suffix, this.body, this.writer, listener.reader);
        this.#exchange = exchange;
        listener.handler.handle(exchange);
        return;
      }
      case 'prompt': {
        const reason = checkPath(head.path);
        if (reason !== undefined) {
          this.#refuse(fail('PATH_INVALID', { reason, param: 'path' }));
          return;
        }
        this.#exchange = new Exchange(head, route.action.endpoint, '', this.body, this.writer, listener.reader);
        listener.handler.handlePrompt(this.#exchange, route.action, route.id);
        return;
      }
      case 'control': listener.control.serve(head, this.body, this.writer, addressText(new Uint8Array(this.response.getRemoteAddress()))); return;
      case 'metrics': {
        const address = new Uint8Array(this.response.getRemoteAddress());
        listener.metrics.serve(head, this.body, this.writer, addressText(address), listener.connections.isTrusted(address)).catch(() => this.writer.abort());
        return;
      }
      case 'health': this.#answer(200, JSON.stringify({ status: 'success', message: 'Server is healthy', version: listener.settings.version })); return;
      case 'ready': this.#answer(listener.isDraining ? 503 : 200, JSON.stringify({ status: listener.isDraining ? 'draining' : 'ready' })); return;
      case 'methodNotAllowed': this.#refuse(fail('METHOD_NOT_ALLOWED', { method: head.method, allowed: route.allowed }), ['allow', route.allowed]); return;
      case 'unknown': this.#refuse(fail('ROUTE_UNKNOWN', { method: head.method, path: head.path.slice(0, 200) })); return;
    }
  }

  onAnswered(): void {
    this.#end();
    this.body.release();
  }

  onAnsweredEarly(): void {
    this.#end();
    this.body.linger();
  }

  #onAborted(): void {
    if (this.#isOver) {
      this.body.release();
      return;
    }
    this.#end();
    this.writer.onGone();
    this.body.release();
    if (this.#exchange !== null) this.listener.handler.onClientGone(this.#exchange);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { listener } = this;
    listener.open -= 1;
    listener.busyPoll.touch(listener.open);
    if (listener.open === 0 && listener.onIdle !== null) listener.onIdle();
  }

  #refuse(error: GatewayError, headers: string[] = []): void {
    this.#answer(error.status, errorBody(error, dialects.chat), headers);
  }

  #answer(status: number, body: string, headers: string[] = []): void {
    const { writer } = this;
    headers.push('content-type', 'application/json');
    // A client that asked with HEAD takes body bytes for the next answer.
    const told = this.head.method === 'HEAD' ? '' : body;
    // After broken framing nothing that follows can be trusted to be this request's body. Not within the library's callback: a request that
    // came in the same read would be served next, and the connection stay open. Unanswered, it makes the library close instead.
    if (this.#isFramingBroken) setImmediate(() => writer.send(status, headers, told));
    else {
      this.body.discard();
      writer.send(status, headers, told);
    }
  }
}

/** Finds out whether the port is free, and which it is when 0 was asked for. Threads share ports silently, so this must come first. */
export async function reservePort(uws: Uws, host: string, port: number): Promise<number> {
  const app = uws.App();
  const socket = await listenOn(app, host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT);
  if (socket === false) throw portFault(host, port);
  const found = uws.us_socket_local_port(socket);
  uws.us_listen_socket_close(socket);
  app.close();
  return found;
}

const listenOn = (app: UwsApp, host: string, port: number, options: number): Promise<UwsListenSocket | false> =>
  new Promise((resolve) => { app.listen(host, port, options, resolve); });

const portFault = (host: string, port: number): GatewayError =>
  fail('SETTINGS_INVALID', { reason: `cannot listen on ${host}:${port}; the port is in use, or the address is not this machine's; choose another with GATEWAY_PORT or GATEWAY_HOST` });
