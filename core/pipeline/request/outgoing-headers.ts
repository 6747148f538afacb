// Hot: runs for each target tried.
// Which headers travel upstream: the client's on the proxy route, those it names on the others, the provider's own.

import type { EndpointSpec } from '@gateway/plugin-sdk';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { TargetPlan } from '../../plan/plan.js';
import type { UpstreamBody } from './upstream-body.js';

/** Never sent upstream on any route: hop-by-hop (RFC 9110, section 7.6.1), what the HTTP client writes itself, and what names the client. */
const droppedHeaders: ReadonlySet<string> = new Set([
  'host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding',
  'upgrade', 'content-length', 'expect', 'http2-settings', 'authorization',
  'cookie', 'forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip',
  'x-original-url', 'x-rewrite-url', 'x-original-host', 'x-envoy-external-address',
]);

const isDropped = (name: string): boolean => droppedHeaders.has(name) || name.startsWith('x-forwarded-') || name.startsWith('x-gateway-');

export function targetHeaders(target: TargetPlan, headers: string[], isProxy: boolean): void {
  for (let index = 0; index < target.headers.length; index += 2) {
    const name = target.headers[index] as string;
    // On the proxy route the client's own user agent or version header is the better one.
    if (!isProxy || !hasHeader(headers, name)) headers.push(name, target.headers[index + 1] as string);
  }
}

/** Of the integration: they take the place of what others say under the same names. */
export function storedHeaders(stored: readonly string[], headers: string[]): void {
  for (let at = 0; at < stored.length; at += 2) {
    const name = stored[at] as string;
    for (let index = headers.length - 2; index >= 0; index -= 2) if (headers[index] === name) headers.splice(index, 2);
    headers.push(name, wireValue(name, stored[at + 1] as string));
  }
}

export function specHeaders(given: NonNullable<EndpointSpec['headers']>, draft: UpstreamBody, headers: string[]): void {
  for (const [name, value] of Object.entries(typeof given === 'function' ? headersBy(given, draft) : given)) {
    for (let index = headers.length - 2; index >= 0; index -= 2) if (headers[index] === name) headers.splice(index, 2);
    headers.push(name, wireValue(name, value));
  }
}

function headersBy(given: (call: UpstreamBody['call']) => Readonly<Record<string, string>>, draft: UpstreamBody): Readonly<Record<string, string>> {
  const { call, target } = draft;
  try {
    const made = atOnce(given(call));
    for (const value of Object.values(made)) if (typeof value !== 'string') throw new TypeError('gave a header that is not text');
    return made;
  } catch (thrown) {
    if (isGatewayError(thrown)) throw thrown;
    throw fail('PLUGIN_FAILED', { plugin: `provider/${target.provider.id}`, reason: 'its headers function failed' }, thrown);
  }
}

export function proxyHeaders(exchange: Exchange, headers: string[]): void {
  const given = exchange.head.headers;
  const ofThisHop = connectionNames(given);
  for (let index = 0; index < given.length; index += 2) {
    const name = given[index] as string;
    if (!isDropped(name) && ofThisHop?.has(name) !== true) headers.push(name, wireValue(name, given[index + 1] as string));
  }
}

/** Headers that Connection names besides its two usual words: they end here as well (RFC 9110, section 7.6.1). */
export function connectionNames(given: readonly string[]): ReadonlySet<string> | null {
  let names: Set<string> | null = null;
  for (let index = 0; index < given.length; index += 2) {
    if (given[index] !== 'connection') continue;
    const value = given[index + 1] as string;
    if (value === 'keep-alive' || value === 'close' || value === 'Keep-Alive' || value === 'Close') continue;
    names ??= new Set();
    for (const name of value.toLowerCase().split(',')) names.add(name.trim());
  }
  return names;
}

/** The edge decodes values as UTF-8 and the HTTP client writes Latin-1: these are the client's bytes again. */
export function wireValue(name: string, value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value;
  if (value.includes('\x7f')) throw fail('HEADER_INVALID', { name, reason: 'holds a control character', param: name });
  return Buffer.from(value).toString('latin1');
}

export function forwardedHeaders(exchange: Exchange, target: TargetPlan, headers: string[]): void {
  const named = exchange.head.forwardHeaders;
  const names = named === undefined ? target.forwardHeaders : named.split(',').map((name) => name.trim().toLowerCase());
  if (names.length === 0) return;
  const ofThisHop = connectionNames(exchange.head.headers);
  for (const name of names) {
    if (isDropped(name) || name === '' || hasHeader(headers, name) || ofThisHop?.has(name) === true) continue;
    const value = exchange.head.header(name);
    if (value !== undefined) headers.push(name, wireValue(name, value));
  }
}

/** The provider's header templates, where headers of the request brought what the config lacks. */
export function templateHeaders(target: TargetPlan, credentials: Readonly<Record<string, unknown>>, headers: string[]): void {
  for (const [given, template] of Object.entries(target.provider.plugin.headers ?? {})) {
    const name = given.toLowerCase();
    if (hasHeader(headers, name)) continue;
    let isWhole = true;
    const value = template.replace(/\{(\w+)\}/g, (_, credential: string) => {
      const filled = credentials[credential];
      if (typeof filled !== 'string') isWhole = false;
      return String(filled);
    });
    if (isWhole) headers.push(name, wireValue(name, value));
  }
}

function hasHeader(headers: readonly string[], name: string): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return true;
  return false;
}
