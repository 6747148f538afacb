// The question that a cache is asked for a call: keys that keep tenants, providers and parameters apart, and the text that a semantic cache compares.
// Made only for targets with a cache.

import { hasLongNumber, nameFault, type CachePrompt, type CacheQuestion, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { createHash } from 'node:crypto';
import { asBuffer } from '../../body/cursor.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { CachePlan, TargetPlan } from '../../plan/plan.js';
import type { PreparedRequest } from '../request/prepare.js';

/** Whose answers are worth keeping, beside those of a dialect: JSON, the same for the same request. Uploads, files, batches and sound are not. */
const cachedEndpoints: ReadonlySet<string> = new Set(['countTokens', 'embeddings', 'rerank', 'moderations', 'imageGenerations']);

/** Members that say how an answer comes, not what it is: a stream and a plain answer serve one another. */
const deliveryMembers: ReadonlySet<string> = new Set(['stream', 'stream_options']);

const keyHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);
/** Headers that carry a key, say how an answer comes, or name this very call: the answer is the same with others. */
const headersOfDelivery: ReadonlySet<string> = new Set([
  ...keyHeaders,
  'accept', 'accept-encoding', 'content-type', 'content-length', 'user-agent',
  'traceparent', 'tracestate', 'baggage', 'x-request-id', 'x-correlation-id', 'x-amzn-trace-id', 'idempotency-key',
]);
/** Headers in which client libraries tell of themselves and of their tries. */
const headersOfLibraries = 'x-stainless-';

export class CacheKey implements CacheQuestion {
  readonly partition: string;
  readonly key: string;
  readonly ageMsMax: number;
  readonly params: object;
  readonly #frameOf: (body: JsonObject) => string;
  #prompt: CachePrompt | null | undefined = undefined;

  constructor(readonly exchange: Exchange, target: TargetPlan, cache: CachePlan, prepared: PreparedRequest, readonly body: JsonObject) {
    const { principal, head } = exchange;
    // With a namespace the metadata does not count.
    const group = head.cacheNamespace === undefined ? ['metadata', head.metadata ?? ''] : ['namespace', head.cacheNamespace];
    this.partition = digest([principal.organisationId, principal.workspaceId, ...group]);
    const about = [
      this.partition, exchange.endpoint, target.provider.id, prepared.base.originUrl + prepared.base.path, prepared.cachePath ?? '', head.query, target.afterDigest,
      String(head.strict === undefined ? target.isStrict : head.strict !== 'false'), ...headersAsked(target, prepared), ...settingsAsked(target, prepared),
    ];
    // A note that a check took of this request may go into its answer: personal data put back where placeholders were. Such an answer is for those
    // alone who send the very same.
    if (target.after !== null && exchange.hasNotes) about.push(digestOfBytes(exchange.sentBytes ?? exchange.bytes));
    if (prepared.cacheBytes !== null && losesInParsing(prepared.cacheBytes)) about.push(digestOfBytes(prepared.cacheBytes));
    this.#frameOf = (given) => digest([...about, canonical(given)]);
    this.key = this.#frameOf(body);
    this.ageMsMax = cache.ageMsMax;
    this.params = cache.params;
  }

  /** The client reads the usage out of the answer. */
  get wantsUsage(): boolean {
    return this.exchange.json().stream !== true || includesUsage(this.exchange);
  }

  prompt(): CachePrompt | null {
    if (this.#prompt === undefined) {
      const found = answerDialect(this.exchange.route)?.lastPrompt(this.body) ?? null;
      this.#prompt = found === null ? null : { frame: this.#frameOf(found.rest), text: found.text };
    }
    return this.#prompt;
  }
}

export function cacheKeyOf(exchange: Exchange, target: TargetPlan, prepared: PreparedRequest): CacheKey | null {
  if (target.cache === null || prepared.cacheBody === null || exchange.suffix !== '' || (answerDialect(exchange.route) === null && !cachedEndpoints.has(exchange.route.name))) return null;
  // The operator's word against bodies in stores counts for this one, too.
  if (exchange.head.gatewayHeader('debug') === 'false') return null;
  return new CacheKey(exchange, target, target.cache, prepared, prepared.cacheBody);
}

/** Everything that goes up beside the body: headers the config forwards, versions, vendor organisation and project. */
function headersAsked({ provider }: TargetPlan, { request: { headers } }: PreparedRequest): string[] {
  const { auth } = provider.plugin;
  const keyHeader = auth.type === 'header' ? auth.name.toLowerCase() : '';
  const asked: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (name !== keyHeader && !headersOfDelivery.has(name) && !name.startsWith(headersOfLibraries)) asked.push(name, headers[index + 1] as string);
  }
  return asked;
}

/** Facts of the target that functions of the provider, and the signing, know: region, deployment, version, project. Not its secrets: callers share across keys. */
function settingsAsked({ provider }: TargetPlan, { call, keys }: PreparedRequest): string[] {
  const properties = provider.plugin.params.properties ?? {};
  const asked: string[] = [];
  for (const [name, value] of Object.entries(call === null ? keys.credentials : call.credentials)) {
    if (properties[name]?.secret !== true) asked.push(name, JSON.stringify(value) ?? '');
  }
  return asked;
}

export function includesUsage(exchange: Exchange): boolean {
  const options = exchange.json().stream_options;
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
}

/** Everything else that has to be the same for a call to stand for another that is on its way: a failure for want of a good key, or of time, is its caller's own. */
export function sharingKey(exchange: Exchange, { provider }: TargetPlan, { request, call, keys }: PreparedRequest): string {
  const { auth } = provider.plugin;
  const keyHeader = auth.type === 'header' ? auth.name.toLowerCase() : '';
  const own = [request.path, JSON.stringify(keys), JSON.stringify(call === null ? null : call.credentials), exchange.head.requestTimeout ?? ''];
  for (let index = 0; index < request.headers.length; index += 2) {
    const name = request.headers[index] as string;
    if (name === keyHeader || keyHeaders.has(name)) own.push(name, request.headers[index + 1] as string);
  }
  return digest(own);
}

/** A provider that reads the bytes may see more in them: the digits of long numbers, the first of two members with one name. */
function losesInParsing(bytes: Uint8Array): boolean {
  const text = asBuffer(bytes).toString('utf8');
  return hasLongNumber(text) || nameFault(text) !== undefined;
}

const digestOfBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

const digest = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

function canonical(body: JsonObject): string {
  const asked: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) if (!deliveryMembers.has(name)) asked[name] = value;
  return JSON.stringify(asked);
}
