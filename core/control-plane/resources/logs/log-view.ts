// A record of a call in the words of the wire: the entry of a list, the whole of one with what was kept of its bodies, and the row of an export.

import type { LogBodies, LogRecord } from '@gateway/plugin-sdk';
import { object, orNull, textMap } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import type { Reply } from '../../define-resource.js';
import { named, time, timeText } from '../../envelope.js';
import type { LogSight } from '../common/log-services.js';

/** What a view says beside the record: names of the rows that it has ids of. */
export interface LogNames {
  readonly origin: string;
  readonly organisationName: string;
  /** Slug by id; null for what is gone. */
  workspaceSlug(id: string): string | null;
  configSlug(id: string): string;
  /** Its values say metadata of a call. */
  isMetadataHeader(name: string): boolean;
}

const text = () => Type.String();
const milliseconds = () => Type.Integer({ minimum: 0 });
const tokens = () => Type.Integer({ minimum: 0 });

const metricMembers = {
  id: text(), organisation_id: text(), organisation_name: text(), workspace_slug: orNull(text()), prompt_id: text(), prompt_version_id: text(), prompt_slug: text(), config: text(), config_id: text(), config_version_id: text(),
  created_at: timeText(), is_success: Type.Boolean(), ai_org: text(), ai_model: text(), req_units: tokens(), res_units: tokens(), total_units: tokens(),
  cost: Type.Number({ minimum: 0, description: 'US cents' }), cost_currency: Type.Literal('USD'), request_url: text(), request_method: text(), response_status_code: Type.Integer({ minimum: 0 }), response_time: milliseconds(),
  is_proxy_call: Type.Boolean(), cache_status: orNull(text()), cache_type: orNull(text()), stream_mode: orNull(Type.Integer({ minimum: 0, maximum: 1 })), retry_success_count: Type.Integer({ minimum: 0 }),
  trace_id: text(), span_id: text(), span_name: text(), parent_span_id: text(), mode: text(), virtual_key: text(), source: text(), runtime: text(), runtime_version: text(), sdk_version: text(),
  internal_trace_id: text(), last_used_option_index: Type.Integer({ minimum: 0 }), log_store_file_path_format: text(),
  'metadata.key': Type.Array(orNull(text())), 'metadata.value': Type.Array(orNull(text())), api_key_id: text(),
  request_parsing_time: milliseconds(), pre_processing_time: milliseconds(), cache_processing_time: milliseconds(), response_parsing_time: milliseconds(), gateway_processing_time: milliseconds(), upstream_response_time: milliseconds(),
};
/** Members of ours. */
const ownMembers = {
  workspace_id: text(), is_final: Type.Boolean({ description: 'false: the target was left for another one' }), attempts: Type.Integer({ minimum: 0 }), endpoint: text(), error_code: text(), ended: text(), finish_reason: text(),
  is_priced: Type.Boolean({ description: 'false: the model has no price, or nobody has priced the call yet' }), saved: Type.Number({ minimum: 0, description: 'US cents that an answer out of a cache would have cost' }),
  cached_units: tokens(), cache_write_units: tokens(), reasoning_units: tokens(), time_to_first_byte: orNull(milliseconds()), request_bytes: Type.Integer({ minimum: 0 }), response_bytes: Type.Integer({ minimum: 0 }),
};
export const logEntrySchema = named('LogEntry', object({ ...metricMembers, ...ownMembers, object: Type.Literal('log') }));

/** JSON as it was sent; a text where it is not JSON, or was cut. */
const body = () => Type.Optional(Type.Unknown({ description: 'JSON as it was sent; a text where it is not JSON, or was cut' }));
const sent = () => object({ body: body(), headers: Type.Optional(textMap()), url: Type.Optional(text()), method: Type.Optional(text()) });
export const logSchema = named('Log', object({
  _id: orNull(text()),
  request: object({ url: text(), method: text(), headers: Type.Optional(textMap()), body: body(), gatewayHeaders: textMap() }),
  response: object({ status: Type.Integer({ minimum: 0 }), headers: Type.Optional(textMap()), body: body(), responseTime: milliseconds(), lastUsedOptionJsonPath: text() }),
  organisation_id: orNull(text()), created_at: orNull(timeText()),
  metrics: object({ ...metricMembers, ...ownMembers }),
  finalUntransformedRequest: sent(), originalResponse: sent(), transformedRequest: sent(),
}));

const counted = (value: number): number => Math.max(0, Math.round(value));
const priced = (value: number): number => Math.max(0, value);
export const isSuccess = ({ status }: Pick<LogRecord, 'status'>): boolean => status > 0 && status < 400;

function cacheType(status: string): string | null {
  if (status.includes('SEMANTIC')) return 'semantic';
  return status === '' || status === 'DISABLED' ? null : 'simple';
}

/** Inserted records may name an address of their own. */
const urlOf = (path: string, origin: string): string => (path.startsWith('/') ? origin + path : path);

export function metadataOf(record: LogRecord): Readonly<Record<string, string>> {
  const parsed = parsedOr(record.metadata, undefined);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return {};
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** Of one that was cut, what is there is not JSON. */
function parsedOr<T>(json: string, otherwise: T): unknown {
  if (json === '') return otherwise;
  try {
    return JSON.parse(json);
  } catch {
    return otherwise;
  }
}

/** `sight`: what the caller may see of it. */
export function metricsView(record: LogRecord, names: LogNames, { metadata: isMetadataSeen }: Pick<LogSight, 'metadata'>): Reply {
  const metadata = isMetadataSeen ? metadataOf(record) : {};
  const headers = textsOf(record.bodies?.requestHeaders ?? '');
  return {
    id: record.id, organisation_id: record.organisationId, organisation_name: names.organisationName, workspace_slug: names.workspaceSlug(record.workspaceId), prompt_id: record.promptId,
    prompt_version_id: record.promptVersionId, prompt_slug: record.promptSlug, config: record.configId === '' ? '' : names.configSlug(record.configId), config_id: record.configId, config_version_id: record.configVersionId,
    created_at: time(record.startedAtMs), is_success: isSuccess(record), ai_org: record.provider, ai_model: record.model,
    req_units: counted(record.inputTokens), res_units: counted(record.outputTokens), total_units: counted(record.totalTokens), cost: priced(record.cost), cost_currency: 'USD',
    request_url: urlOf(record.path, names.origin), request_method: record.method, response_status_code: record.status, response_time: counted(record.tookMs), is_proxy_call: record.endpoint === 'proxy',
    cache_status: record.cacheStatus === '' ? null : record.cacheStatus, cache_type: cacheType(record.cacheStatus), stream_mode: record.isStream ? 1 : 0, retry_success_count: isSuccess(record) ? record.retries : 0,
    trace_id: record.traceId, span_id: record.spanId, span_name: record.spanName, parent_span_id: record.parentSpanId, mode: record.targetPath.includes('targets[') ? 'strategy' : 'single', virtual_key: record.providerSlug,
    source: record.source, runtime: headers['x-stainless-runtime'] ?? '', runtime_version: headers['x-stainless-runtime-version'] ?? '', sdk_version: headers['x-stainless-package-version'] ?? '',
    internal_trace_id: record.traceId, last_used_option_index: record.targetIndex, log_store_file_path_format: '',
    'metadata.key': Object.keys(metadata), 'metadata.value': Object.values(metadata), api_key_id: record.keyId,
    request_parsing_time: 0, pre_processing_time: 0, cache_processing_time: 0, response_parsing_time: 0,
    gateway_processing_time: record.firstByteMs < 0 ? 0 : counted(record.firstByteMs - Math.max(0, record.upstreamMs)), upstream_response_time: counted(record.upstreamMs),
    workspace_id: record.workspaceId, is_final: record.isFinal, attempts: record.attempts, endpoint: record.endpoint, error_code: record.errorCode, ended: record.ended, finish_reason: record.finishReason,
    is_priced: record.isPriced && record.cost >= 0, saved: priced(record.saved), cached_units: counted(record.cachedTokens), cache_write_units: counted(record.cacheWriteTokens), reasoning_units: counted(record.reasoningTokens),
    time_to_first_byte: record.firstByteMs < 0 ? null : counted(record.firstByteMs), request_bytes: counted(record.requestBytes), response_bytes: counted(record.responseBytes),
  };
}

export const entryView = (record: LogRecord, names: LogNames, sight: LogSight): Reply => ({ ...metricsView(record, names, sight), object: 'log' });

/** Undefined where nothing was kept. */
const bodyOf = (kept: string): unknown => (kept === '' ? undefined : parsedOr(kept, kept));

function textsOf(json: string): Readonly<Record<string, string>> {
  const parsed = parsedOr(json, {});
  return typeof parsed === 'object' && parsed !== null ? Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name.toLowerCase(), String(value)])) : {};
}

const gatewayPrefix = 'x-gateway-';

/** Those that say metadata are seen by who sees metadata. */
function headersOf(json: string, names: LogNames, isMetadataSeen: boolean): Readonly<Record<string, string>> {
  const headers = textsOf(json);
  return isMetadataSeen ? headers : Object.fromEntries(Object.entries(headers).filter(([name]) => !names.isMetadataHeader(name)));
}

/** The members `request` and `response`. */
export function exchangeView(record: LogRecord, names: LogNames, { bodies: isSeen, metadata: isMetadataSeen }: LogSight): { readonly request: Reply; readonly response: Reply } {
  const bodies: LogBodies | null = isSeen ? record.bodies : null;
  const headers = Object.entries(headersOf(bodies?.requestHeaders ?? '', names, isMetadataSeen));
  return {
    request: {
      url: urlOf(record.path, names.origin), method: record.method, ...(bodies === null ? {} : { headers: Object.fromEntries(headers.filter(([name]) => !name.startsWith(gatewayPrefix))) }),
      body: bodyOf(bodies?.request ?? ''), gatewayHeaders: Object.fromEntries(headers.filter(([name]) => name.startsWith(gatewayPrefix))),
    },
    response: {
      status: record.status, ...(bodies === null ? {} : { headers: textsOf(bodies.responseHeaders) }), body: bodyOf(bodies?.response ?? ''), responseTime: counted(record.tookMs), lastUsedOptionJsonPath: record.targetPath,
    },
  };
}

export function logView(record: LogRecord, names: LogNames, sight: LogSight): Reply {
  const bodies = sight.bodies ? record.bodies : null;
  const { request, response } = exchangeView(record, names, sight);
  const { method } = record;
  return {
    _id: record.id, request, response, organisation_id: record.organisationId, created_at: time(record.startedAtMs), metrics: metricsView(sight.bodies ? record : { ...record, bodies: null }, names, sight),
    finalUntransformedRequest: bodies === null ? {} : { body: bodyOf(bodies.request), headers: request.headers, url: request.url, method },
    transformedRequest: bodies === null || bodies.upstreamUrl === '' ? {} : { body: bodyOf(bodies.upstreamRequest), headers: headersOf(bodies.upstreamHeaders, names, sight.metadata), url: bodies.upstreamUrl, method },
    originalResponse: bodies === null || bodies.upstreamResponse === '' ? {} : { body: bodyOf(bodies.upstreamResponse), headers: textsOf(bodies.responseHeaders), url: bodies.upstreamUrl, method },
  };
}
