// Hot: runs for each target tried.
// Client request + target -> upstream request. Parts that nothing on the target touches go up as they came: the body's bytes, the query, the path.

import type { EndpointSpec, JsonObject, SigningKeys } from '@gateway/plugin-sdk';
import type { Readable } from 'node:stream';
import { isStackOverflow, levelsMax } from '../../body/depth.js';
import type { Translation } from '../../dialect/dialect.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import { addressChanged } from '../../plan/compile.js';
import type { Base, TargetPlan } from '../../plan/plan.js';
import type { UpstreamRequest } from '../../upstream/client.js';
import { chooseEndpoint, type EndpointChoice } from './choose-endpoint.js';
import { authorise, signingKeys, withHeaderCredentials } from './credentials.js';
import { UpstreamBody, editedJson, editedMultipart } from './upstream-body.js';
import { forwardedHeaders, targetHeaders, proxyHeaders, specHeaders, storedHeaders, templateHeaders, wireValue } from './outgoing-headers.js';
import { checkedSegment } from './parameter-fault.js';
import { allowedModel, relayedModel } from './stored-model.js';
import type { ProviderCall } from './provider-call.js';

export interface PreparedRequest {
  readonly base: Base;
  /** Without its body as long as that is put off. */
  request: UpstreamRequest;
  /** Asks the provider's function for the body, for targets with a cache, which may know the answer; null when there is no such function. Throws as prepare() does. */
  putOff: (() => Uint8Array | null) | null;
  /** Bodies to be sent in calls of their own, in place of the request's; null for the usual single call. */
  readonly parts: readonly Uint8Array[] | null;
  /** The endpoint's entry in the provider, with its transforms; null on the proxy route. */
  readonly spec: EndpointSpec | null;
  /** For the provider's functions; null when it has none here. */
  readonly call: ProviderCall | null;
  /** Turns the answer, which is a chat completion, into the client's dialect; null when it is in it. */
  readonly translation: Translation | null;
  /** The client did not ask for the usage of its stream; the gateway did. */
  readonly hidesUsage: boolean;
  /** For signing. */
  readonly keys: SigningKeys;
  /** The answer, when no provider has to be asked. */
  readonly ownAnswer: string | null;
  /** For targets with a cache: the client's body as the config edited it, read and as bytes, and the path of its plain answer; null elsewhere. */
  readonly cacheBody: JsonObject | null;
  readonly cacheBytes: Uint8Array | null;
  readonly cachePath: string | null;
}

/** For an endpoint with functions. */
export function callOf(prepared: PreparedRequest): ProviderCall {
  if (prepared.call === null) throw new Error('an endpoint with functions was prepared without a call');
  return prepared.call;
}

/** The body is needed after all. */
export function buildBody(prepared: PreparedRequest): void {
  const { putOff } = prepared;
  if (putOff === null) return;
  prepared.putOff = null;
  prepared.request = { ...prepared.request, body: putOff() };
}

/** Throws a client error when the provider cannot take this call. */
export function prepare(exchange: Exchange, target: TargetPlan, upload: Readable | null): PreparedRequest {
  const { head, route } = exchange;
  const credentials = target.provider.credentialNames.length > 0 && head.gatewayHeaders.length > 0 ? withHeaderCredentials(exchange, target) : target.credentials;
  if (credentials !== target.credentials && target.kept !== null && target.baseOf(null, credentials) !== target.base) throw addressChanged('headers');
  if (target.stored !== null) target.stored.checkUse(Date.now());
  if (route.name === 'proxy') return prepareProxy(exchange, target, upload, credentials);
  const draft = new UpstreamBody(exchange, target, credentials);
  const model = target.stored === null ? '' : allowedModel(draft, target.stored);
  const choice = chooseEndpoint(draft);
  const { spec } = choice;
  const made = target.cache !== null && exchange.isJson && spec.isFanOut !== true ? spec.request : undefined;
  const bodies = upload === null ? bodiesOf(draft, choice, made !== undefined) : null;
  const body = upload ?? (bodies === null ? null : bodies[0] ?? null);
  const headers: string[] = [];
  if (body !== null || made !== undefined) headers.push('content-type', head.contentType === '' || choice.isRewritten ? 'application/json' : wireValue('content-type', head.contentType));
  if (upload !== null && head.contentLength >= 0) headers.push('content-length', String(head.contentLength));
  forwardedHeaders(exchange, target, headers);
  targetHeaders(target, headers, false);
  if (credentials !== target.credentials) templateHeaders(target, credentials, headers);
  if (spec.headers !== undefined) specHeaders(spec.headers, draft, headers);
  if (target.stored !== null) storedHeaders(target.stored.headersFor(model), headers);
  const base = (target.stored === null ? null : target.stored.baseFor(model)) ?? baseOf(target, spec.baseUrl ?? null, credentials);
  const own = endpointPath(draft, spec, spec.streamPath !== undefined && draft.isStream);
  const at = own.indexOf('?');
  const suffix = choice.translation === null ? exchange.suffix : '';
  let path = base.path + (at === -1 ? own + suffix : own.slice(0, at) + suffix + own.slice(at));
  if (head.query !== '' && choice.translation === null) path += `${at === -1 ? '?' : '&'}${checkedQuery(head.query)}`;
  path = authorise(exchange, target, headers, path);
  return {
    base,
    request: { method: head.method, path: path === '' ? '/' : path, headers, body, caller: exchange.principal.workspaceId },
    putOff: made === undefined ? null : () => madeBody(draft, spec, made),
    parts: spec.isFanOut === true ? bodies : null,
    spec,
    // Functions that only look at the answer need it as well.
    call: spec.response !== undefined || spec.stream !== undefined || choice.translation !== null ? draft.call : draft.madeCall,
    translation: choice.translation,
    hidesUsage: draft.hidesUsage,
    keys: signingKeys(exchange, target, target.kept ?? credentials),
    ownAnswer: choice.ownAnswer,
    cacheBody: target.cache === null || !exchange.isJson ? null : draft.client,
    cacheBytes: target.cache === null || !exchange.isJson ? null : draft.edited,
    cachePath: target.cache === null ? null : endpointPath(draft, spec, false),
  };
}

function bodiesOf(draft: UpstreamBody, choice: EndpointChoice, isPutOff: boolean): readonly Uint8Array[] | null {
  try {
    return draft.bodies(choice, isPutOff);
  } catch (thrown) {
    throw depthFault(thrown) ?? thrown;
  }
}

function madeBody(draft: UpstreamBody, spec: EndpointSpec, request: NonNullable<EndpointSpec['request']>): Uint8Array | null {
  try {
    return draft.made(spec, request)[0] ?? null;
  } catch (thrown) {
    throw depthFault(thrown) ?? thrown;
  }
}

const depthFault = (thrown: unknown): Error | undefined =>
  (isStackOverflow(thrown) || isStackOverflow(causeOf(thrown)) ? fail('BODY_TOO_DEEP', { maximum: levelsMax, param: 'body' }) : undefined);

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined);

function prepareProxy(exchange: Exchange, target: TargetPlan, upload: Readable | null, credentials: Readonly<Record<string, unknown>>): PreparedRequest {
  const { head } = exchange;
  const body = upload ?? proxyBody(exchange, target);
  const model = target.stored === null ? '' : relayedModel(exchange, target.stored, body);
  const headers: string[] = [];
  // On the proxy route every header travels that may.
  proxyHeaders(exchange, headers);
  if (upload !== null && head.contentLength >= 0) headers.push('content-length', String(head.contentLength));
  targetHeaders(target, headers, true);
  if (credentials !== target.credentials) templateHeaders(target, credentials, headers);
  if (target.stored !== null) storedHeaders(target.stored.headersFor(model), headers);
  const base = (target.stored === null ? null : target.stored.baseFor(model)) ?? baseOf(target, null, credentials);
  let path = base.path + withoutVersion(base.path, exchange.suffix);
  if (head.query !== '') path += `?${checkedQuery(head.query)}`;
  path = authorise(exchange, target, headers, path);
  return {
    base, request: { method: head.method, path: path === '' ? '/' : path, headers, body, caller: exchange.principal.workspaceId }, putOff: null, parts: null, spec: null, call: null, translation: null, hidesUsage: false,
    keys: signingKeys(exchange, target, target.kept ?? credentials), ownAnswer: null, cacheBody: null, cacheBytes: null, cachePath: null,
  };
}

/** Clients of other APIs begin with the version that the base URL ends in, or with its whole path: it is meant once. */
function withoutVersion(basePath: string, suffix: string): string {
  const version = basePath.slice(basePath.lastIndexOf('/'));
  if (!/^\/v\d/.test(version)) return suffix;
  if (beginsWith(suffix, basePath)) return suffix.slice(basePath.length);
  return beginsWith(suffix, version) ? suffix.slice(version.length) : suffix;
}

const beginsWith = (path: string, segments: string): boolean => path.startsWith(segments) && (path.length === segments.length || path.charCodeAt(segments.length) === 0x2f);

/** Credentials of the request may complete the address, or change it. */
const baseOf = (target: TargetPlan, template: string | null, credentials: Readonly<Record<string, unknown>>): Base =>
  (template === null && target.base !== null && credentials === target.credentials ? target.base : target.baseOf(template, credentials));

function proxyBody(exchange: Exchange, target: TargetPlan): Uint8Array | null {
  const { bytes } = exchange;
  if (bytes.length === 0) return null;
  if (!exchange.isJson) return editedMultipart(exchange, target, bytes);
  return editedJson(target, bytes);
}

function endpointPath(draft: UpstreamBody, spec: EndpointSpec, isStream: boolean): string {
  const path = spec.streamPath !== undefined && isStream ? spec.streamPath : spec.path;
  if (!path.includes('{')) return path;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'model') {
      const { model } = draft;
      if (model === '') throw fail('BODY_INVALID', { param: 'model', reason: 'must be a string; it is part of the provider\'s path' });
      return checkedSegment(model, name, draft.target);
    }
    const value = draft.credentials[name];
    if (typeof value !== 'string' || value === '') throw fail('CREDENTIAL_MISSING', { provider: draft.target.provider.id, name, param: name });
    return checkedSegment(value, name, draft.target);
  });
}

function checkedQuery(query: string): string {
  if (/[^\x21-\x7e]/.test(query)) throw fail('PATH_INVALID', { reason: 'the query holds a character that must be percent-encoded', param: 'query' });
  return query;
}
