// Hot: runs for each response.
// Headers of a response to the client: the gateway's own, each exactly once, and what the provider sent, without what belongs to its connection.

import type { Exchange } from '../../exchange/exchange.js';
import type { HeaderList } from '../../exchange/responder.js';
import { connectionNames } from '../request/outgoing-headers.js';
import type { ResponseHead } from './response-head.js';

/** Not relayed from upstream: about its connection, written by the edge itself, or about its own address (alt-svc). */
const dropped: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'content-length',
  'date', 'alt-svc', 'server-timing',
]);

/** Cookies of people who are signed in here (control-plane/cookies.ts): no provider signs somebody in. Browsers take one without a name for what its value begins with. */
const ownCookie = /^[\s=]*(?:__Host-)?gateway_(?:session|sign_in)\s*=/i;

/** `head`: of the provider, or null for a response of our own. `type`: of the content, in the place of the provider's; empty leaves that. */
export function responseHeaders(exchange: Exchange, retryCount: number, head: ResponseHead | null, type: string): HeaderList {
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
  const { hold } = exchange;
  if (hold !== null) hold.addHeaders(headers);
  const hidesRates = hold !== null && hold.hasRates;
  if (exchange.shownCost !== '') headers.push('x-gateway-cost', exchange.shownCost);
  let timing = serverTiming(exchange);
  if (head !== null) {
    const given = head.headers;
    const ofThatHop = head.namesHeaders ? connectionNames(given) : null;
    for (let index = 0; index < given.length; index += 2) {
      const name = given[index] as string;
      if (ofThatHop !== null && ofThatHop.has(name)) continue;
      if (dropped.has(name)) {
        if (name === 'server-timing') timing += `, ${given[index + 1] as string}`;
        continue;
      }
      if (name.charCodeAt(0) === 120 /* x */ && name.startsWith('x-gateway-')) continue;
      if (hidesRates && (name.startsWith('x-ratelimit-') || name.startsWith('anthropic-ratelimit-'))) continue;
      if (name === 'set-cookie' && ownCookie.test(given[index + 1] as string)) continue;
      if (type !== '' && name === 'content-type') continue;
      headers.push(name, given[index + 1] as string);
    }
  }
  headers.push('server-timing', timing);
  if (type !== '') headers.push('content-type', type);
  return headers;
}

/** The edge decodes what clients send as UTF-8; a header list holds bytes, or a character could turn into a line break on the wire. */
const asBytes = (text: string): string => (/[^\x00-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text);

/** `gateway` is our own share of the time to the first byte, `upstream` the wait for providers, both in milliseconds. */
function serverTiming(exchange: Exchange): string {
  const totalMs = performance.now() - exchange.startedAt;
  const gatewayMs = totalMs - exchange.upstreamMs;
  return `gateway;dur=${inMs(gatewayMs)}, upstream;dur=${inMs(exchange.upstreamMs)}`;
}

/** Three decimals, from two whole numbers: writing a fraction takes five times as long. */
function inMs(ms: number): string {
  const us = Math.max(0, Math.round(ms * 1000));
  const rest = us % 1000;
  return `${(us - rest) / 1000}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`;
}
