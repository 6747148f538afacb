// Hot: runs for each target tried.
// Client request + leaf -> upstream request. What nothing on the leaf touches goes up as it came: the body's bytes, the query, the path.

import type { EndpointSpec, Json } from '@gateway/plugin-sdk';
import type { Readable } from 'node:stream';
import { editMultipart, multipartBoundary } from '../body/multipart.js';
import { dropPaths, spliceObject } from '../body/splice.js';
import { fail, isGatewayError } from '../errors/gateway-error.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Leaf } from '../plan/plan.js';
import type { UpstreamRequest } from '../upstream/client.js';

/** Never sent upstream on any route: hop-by-hop (RFC 9110, section 7.6.1), what the HTTP client writes itself, and what names the client. */
const droppedHeaders: ReadonlySet<string> = new Set([
  'host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding',
  'upgrade', 'content-length', 'expect', 'http2-settings', 'authorization',
  'cookie', 'forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip',
  'x-original-url', 'x-rewrite-url', 'x-original-host', 'x-envoy-external-address',
]);

const isDropped = (name: string): boolean => droppedHeaders.has(name) || name.startsWith('x-forwarded-') || name.startsWith('x-gateway-');

/** Where a provider's key may be besides Authorization; on the proxy route the gateway writes the credential itself. */
const credentialHeaders: ReadonlySet<string> = new Set(['x-api-key', 'api-key', 'x-goog-api-key']);

export interface Prepared {
  readonly request: UpstreamRequest;
  /** The endpoint's entry in the provider, with its transforms; null on the proxy route. */
  readonly spec: EndpointSpec | null;
}

/** Throws a client error when the provider cannot take this call. */
export function prepare(exchange: Exchange, leaf: Leaf, upload: Readable | null): Prepared {
  const { head, route } = exchange;
  const isProxy = route.name === 'proxy';
  let spec: EndpointSpec | null = null;
  if (!isProxy) {
    spec = leaf.provider.endpoints.get(route.name) ?? null;
    if (spec === null) {
      throw fail('ENDPOINT_UNSUPPORTED', { provider: leaf.provider.id, endpoint: route.name, path: head.path.slice(3), param: 'provider' });
    }
  }
  const body = upload ?? prepareBody(exchange, leaf, spec);
  const headers: string[] = [];
  if (isProxy) proxyHeaders(exchange, headers);
  else if (head.contentType !== '' && body !== null) headers.push('content-type', wireValue('content-type', head.contentType));
  else if (body !== null) headers.push('content-type', 'application/json');
  if (upload !== null && head.contentLength >= 0) headers.push('content-length', String(head.contentLength));
  // On the proxy route every header travels that may.
  if (!isProxy) forward(exchange, leaf, headers);
  for (let index = 0; index < leaf.headers.length; index += 2) {
    const name = leaf.headers[index] as string;
    // On the proxy route the client's own user agent or version header is the better one.
    if (!isProxy || !hasHeader(headers, name)) headers.push(name, leaf.headers[index + 1] as string);
  }
  if (leaf.provider.credentialNames.length > 0 && head.gatewayHeaders.length > 0) credentialsFromHead(exchange, leaf, headers);
  let path = isProxy ? leaf.basePath + exchange.suffix : leaf.basePath + endpointPath(exchange, leaf, spec?.path ?? '') + exchange.suffix;
  if (head.query !== '') path += `?${checkedQuery(head.query)}`;
  path = authorise(exchange, leaf, headers, path);
  return { request: { method: head.method, path: path === '' ? '/' : path, headers, body }, spec };
}

function prepareBody(exchange: Exchange, leaf: Leaf, spec: EndpointSpec | null): Uint8Array | null {
  const { bytes, route } = exchange;
  if (bytes.length === 0) return null;
  const params = leaf.paramsByEndpoint.size === 0 ? undefined : leaf.paramsByEndpoint.get(route.name);
  const hasEdits = leaf.edits.length > 0 || leaf.dropPaths.length > 0;
  if (!hasEdits && params === undefined && spec?.request === undefined) return bytes;
  if (!exchange.isJson) {
    const boundary = multipartBoundary(exchange.head.contentType);
    return boundary === undefined || leaf.fieldEdits.length === 0 ? bytes : editMultipart(bytes, boundary, leaf.fieldEdits);
  }
  let edited = hasEdits && leaf.edits.length > 0 ? spliceObject(bytes, leaf.edits) : bytes;
  if (leaf.dropPaths.length > 0) edited = dropPaths(edited, leaf.dropPaths);
  if (params !== undefined) {
    for (const { name, rule } of params.checks) {
      const value = exchange.json()[name];
      if (value === undefined || value === null) continue;
      const place = { provider: leaf.provider.id, param: name };
      if (rule.refuse !== undefined) throw fail('BODY_INVALID', { ...place, reason: `${leaf.provider.id} does not take it: ${rule.refuse}` });
      if (typeof value !== 'number') continue;
      if (rule.min !== undefined && value < rule.min) throw fail('BODY_INVALID', { ...place, reason: `${leaf.provider.id} takes ${rule.min} or more` });
      if (rule.max !== undefined && value > rule.max) throw fail('BODY_INVALID', { ...place, reason: `${leaf.provider.id} takes ${rule.max} or less` });
    }
    if (params.edits.length > 0) edited = spliceObject(edited, params.edits);
  }
  if (spec?.request === undefined) return edited;
  const parsed = edited === bytes ? exchange.json() : exchange.reader.parse(edited);
  try {
    return Buffer.from(JSON.stringify(spec.request(parsed as Json, exchange)));
  } catch (thrown) {
    if (isGatewayError(thrown)) throw thrown;
    // Its own message may quote the body; the log has it.
    throw fail('PLUGIN_FAILED', { plugin: `provider/${leaf.provider.id}`, reason: 'its request function could not take this body' }, thrown);
  }
}

function endpointPath(exchange: Exchange, leaf: Leaf, path: string): string {
  if (!path.includes('{model}')) return path;
  let { model } = exchange.json();
  // The model that goes up, where the config sets one.
  for (let index = 0; index < leaf.fieldEdits.length; index += 1) {
    const edit = leaf.fieldEdits[index] as Leaf['fieldEdits'][number];
    if (edit.name === 'model' && (edit.kind === 'set' || model === undefined)) model = edit.value;
  }
  if (typeof model !== 'string' || model === '') throw fail('BODY_INVALID', { param: 'model', reason: 'must be a string; it is part of the provider\'s path' });
  return path.replace('{model}', encodeURIComponent(model));
}

function proxyHeaders(exchange: Exchange, headers: string[]): void {
  const given = exchange.head.headers;
  const ofThisHop = connectionNames(given);
  for (let index = 0; index < given.length; index += 2) {
    const name = given[index] as string;
    if (!isDropped(name) && ofThisHop?.has(name) !== true) headers.push(name, wireValue(name, given[index + 1] as string));
  }
}

/** What Connection names besides its two usual words: headers that end here as well (RFC 9110, section 7.6.1). */
function connectionNames(given: readonly string[]): ReadonlySet<string> | null {
  let names: Set<string> | null = null;
  for (let index = 0; index < given.length; index += 2) {
    if (given[index] !== 'connection') continue;
    const value = given[index + 1] as string;
    if (value === 'keep-alive' || value === 'close') continue;
    names ??= new Set();
    for (const name of value.toLowerCase().split(',')) names.add(name.trim());
  }
  return names;
}

/** The edge decodes values as UTF-8 and the HTTP client writes Latin-1: these are the client's bytes again. */
function wireValue(name: string, value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value;
  if (value.includes('\x7f')) throw fail('HEADER_INVALID', { name, reason: 'holds a control character', param: name });
  return Buffer.from(value).toString('latin1');
}

function checkedQuery(query: string): string {
  if (/[^\x21-\x7e]/.test(query)) throw fail('PATH_INVALID', { reason: 'the query holds a character that must be percent-encoded', param: 'query' });
  return query;
}

function forward(exchange: Exchange, leaf: Leaf, headers: string[]): void {
  const named = exchange.head.forwardHeaders;
  const names = named === undefined ? leaf.forwardHeaders : named.split(',').map((name) => name.trim().toLowerCase());
  for (const name of names) {
    if (isDropped(name) || name === '' || hasHeader(headers, name)) continue;
    const value = exchange.head.header(name);
    if (value !== undefined) headers.push(name, wireValue(name, value));
  }
}

function credentialsFromHead(exchange: Exchange, leaf: Leaf, headers: string[]): void {
  const templates = leaf.provider.plugin.headers ?? {};
  for (const credential of leaf.provider.credentialNames) {
    if (leaf.credentials[credential] !== undefined) continue;
    const value = exchange.head.gatewayHeader(credential.replaceAll('_', '-'));
    if (value === undefined) continue;
    for (const [name, template] of Object.entries(templates)) {
      if (template === `{${credential}}`) headers.push(name.toLowerCase(), wireValue(name.toLowerCase(), value));
    }
  }
}

/** Writes the credential; the last thing done to a request. Returns the path, which carries it for some providers. */
function authorise(exchange: Exchange, leaf: Leaf, headers: string[], path: string): string {
  const { auth } = leaf.provider.plugin;
  if (auth.type === 'none' || auth.type === 'signed') return path;
  const given = leaf.apiKey ?? clientKey(exchange, auth.type === 'header' ? auth.name : '');
  if (given === undefined) {
    if (leaf.needsApiKey) throw fail('PROVIDER_KEY_MISSING', { provider: leaf.provider.id });
    return path;
  }
  const key = leaf.apiKey ?? wireValue('authorization', given);
  const own = auth.type === 'header' ? auth.name.toLowerCase() : '';
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const name = headers[index] as string;
    if (name === own || credentialHeaders.has(name)) headers.splice(index, 2);
  }
  switch (auth.type) {
    case 'bearer': headers.push('authorization', `Bearer ${key}`); return path;
    case 'header': headers.push(own, (auth.prefix ?? '') + key); return path;
    default: return `${path}${path.includes('?') ? '&' : '?'}${auth.name}=${encodeURIComponent(key)}`;
  }
}

/** The provider key the client sent: Authorization (a gateway key was taken out before), or the header the provider itself expects. */
function clientKey(exchange: Exchange, providerHeader: string): string | undefined {
  const { authorization } = exchange.head;
  if (authorization !== undefined) return /^bearer\s+/i.test(authorization) ? authorization.replace(/^bearer\s+/i, '') : authorization;
  return providerHeader === '' ? undefined : exchange.head.header(providerHeader.toLowerCase());
}

function hasHeader(headers: readonly string[], name: string): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return true;
  return false;
}
