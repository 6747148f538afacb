// Records of calls that did not come through the gateway, from what their clients tell of them (`POST /v1/logs`).

import { endpointNames, type EndpointName, type LogBodies, type LogRecord } from '@gateway/plugin-sdk';
import { object } from '../../../storage/schema-parts.js';
import { Type, type Static } from '../../../storage/type.js';
import { UsageTap } from '../../../stream/usage-tap.js';
import type { Usage } from '../../../exchange/usage.js';
import { limitRecord } from '../../../telemetry/record-limits.js';
import { maskedHeaders, withoutCredential, withoutCredentials, withoutNamedCredentials } from '../../audit-mask.js';

/** Entries of one call. */
export const customLogsMax = 100;
const metadataMax = 100;
const bodyCharsMax = 256 * 1024;

const body = () => Type.Unsafe<unknown>({ type: ['object', 'array', 'string', 'null'], description: 'in the shape of the API that was called: model and tokens are read from it' });
const headers = () => Type.Optional(Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', maxProperties: 200, additionalProperties: { type: 'string', maxLength: 8192 } }));
const milliseconds = () => Type.Optional(Type.Number({ minimum: 0, maximum: 86_400_000, description: 'milliseconds' }));

export const customLogFields = object({
  request: object({
    url: Type.String({ minLength: 1, maxLength: 2048 }), method: Type.Optional(Type.String({ pattern: '^[A-Za-z]{1,32}$' })), provider: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })), headers: headers(), body: body(),
  }),
  response: object({ status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })), headers: headers(), body: body(), response_time: milliseconds(), responseTime: milliseconds() }),
  metadata: Type.Optional(Type.Unsafe<Readonly<Record<string, string | number | boolean>>>({
    type: 'object', maxProperties: metadataMax, propertyNames: { maxLength: 128 }, additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 1024 },
    description: 'trace_id, span_id, span_name and parent_span_id say where the call belongs, also as trace-id or traceId; anything else is kept as it is',
  })),
});

export interface CustomLogOrigin {
  readonly id: string;
  /** For one that names no trace. */
  readonly traceId: string;
  readonly spanId: string;
  readonly nowMs: number;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly keyId: string;
}

export interface ToldCall {
  /** Not priced yet. */
  readonly record: LogRecord;
  readonly usage: Usage;
  /** The model of the request. */
  readonly asked: string;
}

export function toldCallOf({ request, response, metadata = {} }: Static<typeof customLogFields>, { id, traceId, spanId, nowMs, organisationId, workspaceId, keyId }: CustomLogOrigin): ToldCall {
  const [known, others] = placesOf(metadata);
  const text = response.body === null ? '' : JSON.stringify(response.body);
  const tap = new UsageTap(false);
  tap.push(Buffer.from(text));
  const usage = tap.read();
  const tookMs = Math.round(response.response_time ?? response.responseTime ?? 0);
  const endpoint = endpointOf(request.url);
  const model: unknown = Object(request.body).model;
  const asked = typeof model === 'string' ? model : '';
  const { inputTokens, outputTokens, totalTokens, cachedTokens, cacheWriteTokens, inputAudioTokens, inputImageTokens, reasoningTokens, outputAudioTokens, outputImageTokens, finishReason } = usage;
  const record = limitRecord({
    inputTokens, outputTokens, totalTokens, cachedTokens, cacheWriteTokens, inputAudioTokens, inputImageTokens, reasoningTokens, outputAudioTokens, outputImageTokens, finishReason,
    id, traceId: known.trace_id ?? traceId, spanId: known.span_id ?? spanId, parentSpanId: known.parent_span_id ?? '', spanName: known.span_name ?? '', organisationId, workspaceId, keyId,
    endpoint, method: (request.method ?? 'POST').toUpperCase(), path: pathOf(request.url), provider: request.provider ?? '', model: usage.model === '' ? asked : usage.model,
    providerSlug: '', configId: '', configVersionId: '', promptSlug: '', promptId: '', promptVersionId: '', targetPath: '', isFinal: true, targetIndex: 0, retries: 0,
    status: response.status ?? 200, ended: 'complete', errorCode: '', isStream: Object(request.body).stream === true, attempts: 1, cacheStatus: '', cost: -1, saved: 0, isPriced: false,
    requestBytes: Buffer.byteLength(request.body === null ? '' : JSON.stringify(request.body)), responseBytes: Buffer.byteLength(text), startedAtMs: nowMs - tookMs, firstByteMs: -1, tookMs, upstreamMs: -1,
    metadata: Object.keys(others).length === 0 ? '' : JSON.stringify(others), hookResults: '', decision: '', source: 'insert',
    bodies: bodiesOf(request, response),
  }, false);
  return { record, usage, asked };
}

const placeNames = ['trace_id', 'span_id', 'span_name', 'parent_span_id'] as const;
type Places = Partial<Record<(typeof placeNames)[number], string>>;

/** Members that say where the call belongs, in any spelling, and the others as texts. */
function placesOf(metadata: Readonly<Record<string, string | number | boolean>>): readonly [places: Places, others: Readonly<Record<string, string>>] {
  const places: Places = {};
  const others: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata)) {
    const plain = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');
    const place = placeNames.find((each) => each === plain);
    if (place === undefined) others[name] = withoutCredentials(String(withoutCredential(name, value)));
    else if (String(value) !== '') places[place] ??= String(value);
  }
  return [places, others];
}

/** The last steps of a path, the longer ones first. */
const endpointPaths: readonly (readonly [path: string, endpoint: EndpointName])[] = [
  ['/chat/completions', 'chatCompletions'], ['/completions', 'completions'], ['/messages', 'messages'], ['/responses', 'responses'], ['/embeddings', 'embeddings'], ['/images/generations', 'imageGenerations'],
  ['/images/edits', 'imageEdits'], ['/images/variations', 'imageVariations'], ['/audio/speech', 'speech'], ['/audio/transcriptions', 'transcriptions'], ['/audio/translations', 'translations'], ['/moderations', 'moderations'], ['/rerank', 'rerank'],
];
const otherEndpoint = endpointNames.find((name) => name === 'proxy') ?? endpointNames[0];

function endpointOf(url: string): EndpointName {
  const path = url.replace(/[?#].*$/s, '');
  return endpointPaths.find(([end]) => path.endsWith(end))?.[1] ?? otherEndpoint;
}

/** Without what could be a secret: user, query, fragment. */
function pathOf(url: string): string {
  if (!URL.canParse(url)) return withoutCredentials(url.replace(/[?#].*$/s, ''));
  const { origin, protocol, pathname } = new URL(url);
  return (origin === 'null' ? protocol : origin) + pathname;
}

type Given = Static<typeof customLogFields>;

/** Credentials that clients send along are not kept. */
function bodiesOf(request: Given['request'], response: Given['response']): LogBodies {
  const text = (given: unknown): string => (given === null ? '' : withoutCredentials(typeof given === 'string' ? withoutNamedCredentials(given) : JSON.stringify(given, withoutCredential)).slice(0, bodyCharsMax));
  const flat = (given: Readonly<Record<string, string>> | undefined): string => (given === undefined ? '' : maskedHeaders(Object.entries(given).flatMap(([name, value]) => [name.toLowerCase(), value])));
  return { requestHeaders: flat(request.headers), request: text(request.body), upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: flat(response.headers), response: text(response.body) };
}
