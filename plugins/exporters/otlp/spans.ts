// Log records as spans of the official SDK, made after the fact: a finished call is a span, and each target that was left before is one below it.

import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime, type SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { isObject, type LogRecord } from '@gateway/plugin-sdk';
import { attribute, errorOf, operationOf, providerOf } from './conventions.js';
import { spanIdOf, traceIdOf } from './ids.js';

const msOfSecond = 1000;
const nanosecondsOfMs = 1e6;
const metadataMax = 64;

export interface SpanOptions {
  readonly resource: Resource;
  readonly scope: ReadableSpan['instrumentationScope'];
  /** Whether metadata of calls go along. */
  readonly hasMetadata: boolean;
}

export function spanOf(record: LogRecord, { resource, scope, hasMetadata }: SpanOptions): ReadableSpan {
  const context: SpanContext = { traceId: traceIdOf(record.traceId), spanId: spanIdOf(record.spanId === '' ? record.id : record.spanId), traceFlags: TraceFlags.SAMPLED };
  const error = errorOf(record);
  const operation = operationOf(record);
  return {
    name: record.model === '' ? operation : `${operation} ${record.model}`,
    kind: SpanKind.CLIENT,
    spanContext: () => context,
    // The parent of a final one is the client's, if it named any; that of a target that was left is the final one.
    ...(record.parentSpanId === '' ? {} : { parentSpanContext: { traceId: context.traceId, spanId: spanIdOf(record.parentSpanId), traceFlags: TraceFlags.SAMPLED, isRemote: record.isFinal } }),
    startTime: timeOf(record.startedAtMs),
    endTime: timeOf(record.startedAtMs + Math.max(0, record.tookMs)),
    duration: timeOf(Math.max(0, record.tookMs)),
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: attributesOf(record, operation, error, hasMetadata),
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / msOfSecond);
  return [seconds, Math.round((ms - seconds * msOfSecond) * nanosecondsOfMs)];
}

/**
 * The library writes whole numbers as integers, and a receiver may give an attribute the type that it saw first: fractions would be cut off. So a number that may be
 * a fraction is never whole: the next larger one stands for it.
 */
function fraction(value: number): number {
  if (!Number.isInteger(value)) return value;
  return value === 0 ? Number.MIN_VALUE : value * (1 + Number.EPSILON);
}

function attributesOf(record: LogRecord, operation: string, error: string | undefined, hasMetadata: boolean): Attributes {
  const attributes: Attributes = { [attribute.operation]: operation, [attribute.status]: record.status };
  const text = (name: string, value: string): void => { if (value !== '') attributes[name] = value; };
  const count = (name: string, value: number): void => { if (value >= 0) attributes[name] = value; };
  text(attribute.provider, providerOf(record));
  text(attribute.requestModel, record.model);
  if (record.isStream) {
    attributes[attribute.isStream] = true;
    if (record.firstByteMs >= 0) attributes[attribute.timeToFirstChunk] = fraction(record.firstByteMs / msOfSecond);
  }
  if (record.status >= 200 && record.status < 300) text(attribute.responseModel, record.model);
  if (record.finishReason !== '') attributes[attribute.finishReasons] = [record.finishReason];
  count(attribute.inputTokens, record.inputTokens);
  count(attribute.outputTokens, record.outputTokens);
  count(attribute.cachedTokens, record.cachedTokens);
  count(attribute.cacheWriteTokens, record.cacheWriteTokens);
  count(attribute.reasoningTokens, record.reasoningTokens);
  text(attribute.promptName, record.promptSlug);
  if (error !== undefined) attributes[attribute.errorType] = error;
  addServer(record, attributes);
  addOwn(record, text, count);
  if (hasMetadata) addMetadata(record.metadata, text);
  return attributes;
}

/** Known only where the bodies of the call were kept. */
function addServer({ bodies }: LogRecord, attributes: Attributes): void {
  if (bodies === null || !URL.canParse(bodies.upstreamUrl)) return;
  const { protocol, hostname, port } = new URL(bodies.upstreamUrl);
  attributes[attribute.serverAddress] = hostname;
  attributes[attribute.serverPort] = port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
}

type Add<V> = (name: string, value: V) => void;

function addOwn(record: LogRecord, text: Add<string>, count: Add<number>): void {
  text('gateway.request.id', record.id);
  if (traceIdOf(record.traceId) !== record.traceId) text('gateway.trace.id', record.traceId);
  text('gateway.span.name', record.spanName);
  text('gateway.organisation.id', record.organisationId);
  text('gateway.workspace.id', record.workspaceId);
  text('gateway.key.id', record.keyId);
  text('gateway.provider.slug', record.providerSlug);
  text('gateway.config.id', record.configId);
  text('gateway.config.version_id', record.configVersionId);
  text('gateway.target.path', record.targetPath);
  text('gateway.cache.status', record.cacheStatus);
  text('gateway.ended', record.ended);
  count('gateway.target.index', record.targetIndex);
  count('gateway.retries', record.retries);
  count('gateway.attempts', record.attempts);
  count('gateway.cost.usd', record.cost < 0 ? -1 : fraction(record.cost / 100));
  count('gateway.upstream.duration', record.upstreamMs < 0 ? -1 : fraction(record.upstreamMs / msOfSecond));
}

/** One that is too long for a record is cut, and no JSON any more. */
function addMetadata(metadata: string, text: Add<string>): void {
  if (metadata === '') return;
  let values: unknown;
  try {
    values = JSON.parse(metadata);
  } catch {
    text('gateway.metadata', metadata);
    return;
  }
  if (!isObject(values)) return;
  for (const [name, value] of Object.entries(values).slice(0, metadataMax)) text(`gateway.metadata.${name}`, typeof value === 'string' ? value : JSON.stringify(value) ?? '');
}
