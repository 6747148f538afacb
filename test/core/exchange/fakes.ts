// An exchange without a socket: a head from a list of headers, a body that is already here, and a responder that remembers.

import { Readable } from 'node:stream';
import { parseJsonObject } from '../../../core/body/parse.js';
import { field } from '../../../core/body/scan.js';
import { dialects } from '../../../core/dialect/dialects.js';
import type { ClientBody } from '../../../core/exchange/client-body.js';
import type { EndpointDefinition } from '../../../core/exchange/endpoint.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import type { DrainListener, HeaderList, Responder } from '../../../core/exchange/responder.js';

export const chatEndpoint: EndpointDefinition = { name: 'chatCompletions', dialect: dialects.chat, scope: 'completions.write', body: 'json', validate: null, isSingleTarget: false };
export const proxyEndpoint: EndpointDefinition = { name: 'proxy', dialect: dialects.chat, scope: 'completions.write', body: 'any', validate: null, isSingleTarget: false };

export class RecordingResponder implements Responder {
  isOpen = true;
  isStarted = false;
  bytesSent = 0;
  drainListener: DrainListener | null = null;
  status = 0;
  headers: HeaderList = [];
  readonly chunks: Uint8Array[] = [];
  isEnded = false;
  isAborted = false;
  onClosed: (() => void) | null = null;

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.start(status, headers);
    this.write(typeof body === 'string' ? Buffer.from(body) : body);
    this.end();
  }

  start(status: number, headers: HeaderList): void {
    this.isStarted = true;
    this.status = status;
    this.headers = headers;
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(Buffer.from(chunk));
    this.bytesSent += chunk.length;
    return true;
  }

  end(): void {
    this.isEnded = true;
    this.isOpen = false;
    this.onClosed?.();
  }

  abort(): void {
    this.isAborted = true;
    this.isOpen = false;
    this.onClosed?.();
  }
}

export interface ExchangeParts {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly route?: EndpointDefinition;
  readonly suffix?: string;
  readonly responder?: Responder;
}

export function headOf(headers: Readonly<Record<string, string>>): RequestHead {
  const head = new RequestHead();
  for (const [name, value] of Object.entries(headers)) head.add(name, value);
  return head;
}

/** Names in lower case, as the edge gives them. The body is on the exchange as well as behind its ClientBody. */
export function exchangeOf(parts: ExchangeParts = {}): Exchange {
  const head = headOf({ ...(parts.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(parts.body)) }), ...parts.headers });
  head.method = parts.method ?? 'POST';
  head.path = parts.path ?? '/v1/chat/completions';
  head.query = parts.query ?? '';
  const bytes = Buffer.from(parts.body ?? '');
  const body: ClientBody = {
    collect: (onWhole) => onWhole(bytes),
    stream: () => Readable.from([bytes]),
    discard() {},
    letGo() {},
  };
  const exchange = new Exchange(head, parts.route ?? chatEndpoint, parts.suffix ?? '', body, parts.responder ?? new RecordingResponder(), { parse: parseJsonObject, field });
  exchange.bytes = bytes;
  return exchange;
}
