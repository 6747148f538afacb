// Hot: runs for each response.
// The response to the client. The one place that sends it, and that notes its status and when it began; who calls says what, and when.

import { fail, isGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import { errorBody } from '../../dialect/common/client-error.js';
import type { ClientError } from '../../dialect/dialect.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { HeaderList, Responder } from '../../exchange/responder.js';
import { withHookResults } from '../hooks/hook-result.js';
import type { ResponseHead } from './response-head.js';
import { responseHeaders } from './response-headers.js';

/** A client that has left before anything was sent to it (as nginx logs it). */
const clientGoneStatus = 499;
const jsonType = 'application/json';

/** The head of a response whose body follows. `head`, `type`: as of responseHeaders. `bodyBytes`: its announced length, -1 when unknown. */
export function beginResponse(exchange: Exchange, status: number, retryCount: number, head: ResponseHead | null, type: string, bodyBytes: number): void {
  beginAt(exchange, exchange.responder, status, responseHeaders(exchange, retryCount, head, type), bodyBytes);
}

/** The same at a client of its own: one of several that share the response. */
export function beginAt(exchange: Exchange, responder: Responder, status: number, headers: HeaderList, bodyBytes: number): void {
  exchange.status = status;
  exchange.firstByteAt = performance.now();
  responder.start(status, headers, bodyBytes);
}

/** False: no more until the responder's listener hears that there is room. */
export const writeResponse = (exchange: Exchange, chunk: Uint8Array): boolean => exchange.responder.write(chunk);

export const endResponse = (exchange: Exchange): void => exchange.responder.end();

/** The part that has gone out must not look whole. */
export const abortResponse = (exchange: Exchange): void => exchange.responder.abort();

/** A whole response. */
export function sendResponse(exchange: Exchange, status: number, retryCount: number, head: ResponseHead | null, type: string, body: string | Uint8Array): void {
  const contentType = type === '' && head !== null ? head.contentType : type;
  send(exchange, status, responseHeaders(exchange, retryCount, head, type), withHookResults(exchange, body, contentType));
}

/** An event stream that is whole already. */
export function sendEvents(exchange: Exchange, status: number, text: string): void {
  exchange.isStream = true;
  const headers = responseHeaders(exchange, 0, null, 'text/event-stream');
  headers.push('cache-control', 'no-cache');
  send(exchange, status, headers, text);
}

/** An error: of the gateway, or of the provider, in the dialect of the client. */
export function sendError(exchange: Exchange, error: GatewayError | ClientError, retryCount: number, head: ResponseHead | null): void {
  let shown = error;
  const headers = responseHeaders(exchange, retryCount, head, jsonType);
  if (isGatewayError(error)) {
    if (error.code === 'INTERNAL') shown = fail('INTERNAL', { id: exchange.id }, error.cause);
    if (error.status === 503) headers.push('retry-after', '1');
    else if (error.status === 429 && exchange.hold !== null) addRetryAfter(headers, exchange.hold.retryAfterSeconds);
  }
  send(exchange, error.status, headers, withHookResults(exchange, errorBody(shown, exchange.route.dialect), jsonType));
}

/** Official clients wait for as long as they are told, and be it days; beyond this they are told to leave it to their caller. */
const clientWaitSecondsMax = 60;

/** 0: it never opens by itself. */
function addRetryAfter(headers: HeaderList, seconds: number): void {
  if (seconds > 0) headers.push('retry-after', String(seconds));
  if (seconds === 0 || seconds > clientWaitSecondsMax) headers.push('x-should-retry', 'false');
}

function send(exchange: Exchange, status: number, headers: HeaderList, body: string | Uint8Array): void {
  exchange.status = status;
  exchange.firstByteAt = performance.now();
  exchange.responder.send(status, headers, body);
}

/** The client has left: where nothing was sent, there is a status for that. */
export function noteClientGone(exchange: Exchange): void {
  if (exchange.status === 0) exchange.status = clientGoneStatus;
}
