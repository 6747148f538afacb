// Hot: runs for each answer.
// Headers of an answer: the gateway's own, each exactly once, and what the provider sent, without what belongs to its connection.

import type { Exchange } from '../../exchange/exchange.js';
import type { HeaderList } from '../../exchange/responder.js';
import { connectionNames } from '../request/outgoing-headers.js';

/** Not relayed from upstream: about its connection, written by the edge itself, or about its own address (alt-svc). */
const dropped: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'content-length',
  'date', 'alt-svc', 'server-timing',
]);

/** Starts a list with the gateway's headers. `upstream` is the provider's list or null for an answer of our own. */
export function answerHeaders(exchange: Exchange, retryCount: number, upstream: readonly string[] | null): HeaderList {
  const headers: HeaderList = [
    'x-gateway-trace-id', asBytes(exchange.traceId),
    'x-gateway-span-id', asBytes(exchange.spanId),
    'x-gateway-cache-status', exchange.cacheStatus,
    'x-gateway-retry-attempt-count', String(retryCount),
  ];
  if (exchange.targetPath !== '') {
    headers.push('x-gateway-last-used-option-index', exchange.targetPath, 'x-gateway-provider', exchange.provider);
  }
  if (exchange.unsupported.length > 0) headers.push('x-gateway-unsupported-params', exchange.unsupported.join(','));
  let timing = serverTiming(exchange);
  if (upstream !== null) {
    const ofThatHop = connectionNames(upstream);
    for (let index = 0; index < upstream.length; index += 2) {
      const name = upstream[index] as string;
      if (ofThatHop !== null && ofThatHop.has(name)) continue;
      if (dropped.has(name)) {
        if (name === 'server-timing') timing += `, ${upstream[index + 1] as string}`;
        continue;
      }
      if (name.charCodeAt(0) === 120 /* x */ && name.startsWith('x-gateway-')) continue;
      headers.push(name, upstream[index + 1] as string);
    }
  }
  headers.push('server-timing', timing);
  return headers;
}

/** The edge decodes what clients send as UTF-8; a header list holds bytes, or a character could turn into a line break on the wire. */
const asBytes = (text: string): string => (/[^\x00-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text);

/** `gateway` is our own share of the time to the first byte, `upstream` the wait for providers, both in milliseconds. */
function serverTiming(exchange: Exchange): string {
  const totalMs = performance.now() - exchange.startedAt;
  const gatewayMs = totalMs - exchange.upstreamMs;
  return `gateway;dur=${Math.round(gatewayMs * 1000) / 1000}, upstream;dur=${Math.round(exchange.upstreamMs * 1000) / 1000}`;
}

/** Replaces what the provider sent. */
export function setHeader(headers: HeaderList, name: string, value: string): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) if (headers[index] === name) headers.splice(index, 2);
  headers.push(name, value);
}

export function headerOf(headers: readonly string[], nameLowerCase: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === nameLowerCase) return headers[index + 1];
  return undefined;
}
