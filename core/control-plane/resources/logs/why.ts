// Why a call went as it did: what its records say was decided, with the names of what they point to, and its price reckoned again.

import type { LogRecord } from '@gateway/plugin-sdk';
import { callPrice, noPrice, ownModel, type PricedIntegration } from '../../../limits/call-price.js';
import { costOf } from '../../../limits/cost.js';
import { readPriceNote } from '../../../limits/price-note.js';
import { priceTable } from '../../../limits/prices.js';
import { countedPerUnit } from '../../../snapshot/limit-specs.js';
import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { apiKeys } from '../../../storage/tables/api-keys.js';
import { configs } from '../../../storage/tables/configs.js';
import { configVersions } from '../../../storage/tables/config-versions.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { prompts, promptVersions } from '../../../storage/tables/prompts.js';
import { providers } from '../../../storage/tables/providers.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type TSchema } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { named, time, timeText } from '../../envelope.js';
import { tableNameOf } from '../model-configs/model-facts.js';
import type { LogSight } from '../common/log-services.js';

/** Records of a trace that are told of; one that many calls share has more. */
const recordsMax = 200;

const text = () => Type.String();
const count = () => Type.Integer({ minimum: 0 });
const number = () => Type.Number();
const tried = (): TSchema => object({
  log_id: text(), path: text(), provider: text(), provider_slug: text(), model: text(), status: count(), error_code: text(), retries: count(), attempts: count(), took_ms: number(), upstream_ms: number(),
  cost: orNull(number()), is_final: Type.Boolean({ description: 'false: left for the next one' }),
});
const check = () => object({ id: text(), verdict: orNull(Type.Boolean()), transformed: Type.Boolean(), error: orNull(text()), execution_time: number() });
const hook = () => object({ id: text(), stage: text(), verdict: Type.Boolean(), denied: Type.Boolean(), transformed: Type.Boolean(), execution_time: number(), checks: Type.Array(check()) });

const counted = () => orNull(choice(['requests', 'tokens', 'cost'], { description: 'what the figures are; of cost US dollars; null: older calls do not say' }));

export const whySchema = named('LogWhy', object({
  object: Type.Literal('log.why'), id: text(), trace_id: text(), created_at: timeText(), status: count(), ended: text(), error_code: text(), endpoint: text(), method: text(), path: text(), source: text(),
  key: orNull(object({ id: text(), name: orNull(text()), type: orNull(text()) })),
  workspace: orNull(object({ id: text(), slug: orNull(text()), name: orNull(text()) })),
  config: orNull(object({ id: text(), slug: orNull(text()), version_id: text(), version: orNull(count()) })),
  prompt: orNull(object({ id: text(), slug: text(), version_id: text(), version: orNull(count()) })),
  targets: Type.Array(tried(), { description: 'those that were tried, in order; the last one is the final one' }),
  passed_over: Type.Array(object({ path: text(), provider: text(), provider_slug: text(), status: count(), code: text(), reason: text() }), { description: 'targets that were not tried, and why' }),
  strategies: Type.Array(object({
    path: text(), mode: text(), chosen: count(), of: count(), turn: count(), breakers_open: Type.Array(count(), { description: 'indexes of targets whose circuit breaker was open' }), ground: Type.Unknown(),
  }), { description: 'what each strategy chose, in order' }),
  hooks: Type.Array(hook()),
  cache: object({ status: text(), mode: orNull(text()), key: orNull(text()) }),
  limits: Type.Array(object({ counter: text(), counted: counted(), before: number(), after: number(), maximum: orNull(number()) })),
  refused_by: Type.Array(object({ counter: text(), counted: counted(), before: number(), needed: number(), maximum: number() })),
  retries: object({ count: count(), attempts: count(), waits: Type.Array(object({ path: text(), status: count(), wait_ms: number() })) }),
  timing: object({ total_ms: number(), first_byte_ms: orNull(number()), upstream_ms: number(), gateway_ms: orNull(Type.Number({ description: 'to the first byte, without the upstream' })), streaming_ms: orNull(number()) }),
  tokens: object({
    input: orNull(count()), output: orNull(count()), total: orNull(count()), cached: orNull(count()), cache_write: orNull(count()), input_audio: orNull(count()), input_image: orNull(count()), reasoning: orNull(count()),
    output_audio: orNull(count()), output_image: orNull(count()),
  }),
  price: object({
    cost: orNull(Type.Number({ description: 'US cents; null: not priced yet' })), cost_currency: Type.Literal('USD'), is_priced: Type.Boolean(), saved: number(),
    rates: orNull(anyObject()), is_own: Type.Boolean({ description: 'the integration has a price of its own for the model' }), is_adjusted: Type.Boolean({ description: 'the integration has factors on prices' }),
    cost_now: orNull(Type.Number({ description: 'the same by these rates, which are those of now' })),
  }),
  more: Type.Array(anyObject(), { description: 'whatever else was decided' }),
}));

/** `record`: the one that is asked about; `records`: all of its trace. */
export async function whyView(context: ControlContext, record: LogRecord, records: readonly LogRecord[], sight: LogSight): Promise<Reply> {
  const decisions = decisionsOf(record.decision);
  const ofCall = recordsOfCall(record, records);
  const about = (name: string): readonly Readonly<Record<string, unknown>>[] => decisions.filter((each) => each.about === name);
  const cache = about('cache').at(-1);
  return {
    object: 'log.why', id: record.id, trace_id: record.traceId, created_at: time(record.startedAtMs), status: whole(record.status), ended: record.ended, error_code: record.errorCode, endpoint: record.endpoint, method: record.method,
    path: record.path, source: record.source,
    ...await rowsOf(context, record),
    targets: ofCall.filter(({ provider, attempts, cacheStatus }) => provider !== '' && (attempts > 0 || isCached(cacheStatus))).map((each) => targetView(each, attemptsAt(each, ofCall))),
    passed_over: about('target').map((each) => ({ path: textOf(each.path), provider: textOf(each.provider), provider_slug: textOf(each.slug), status: whole(each.status), code: textOf(each.code), reason: textOf(each.reason) })),
    strategies: about('strategy').map((each) => ({
      path: textOf(each.at), mode: textOf(each.mode), chosen: whole(each.chosen), of: whole(each.of), turn: whole(each.turn), breakers_open: Array.isArray(each.breakersOpen) ? each.breakersOpen.map(whole) : [], ground: each.ground ?? null,
    })),
    hooks: hooksOf(record.hookResults),
    cache: { status: record.cacheStatus, mode: cache === undefined ? null : textOf(cache.mode), key: cache === undefined || !sight.metadata ? null : textOf(cache.key) },
    limits: about('limit').flatMap((each): readonly unknown[] => (Array.isArray(each.limits) ? each.limits : [])).map((each) => limitView(Object(each), sight)),
    refused_by: about('limit').filter((each) => typeof each.refusedBy === 'string').map((each) => refusalView(each, sight)),
    retries: { count: whole(record.retries), attempts: whole(record.attempts), waits: about('retry').map((each) => ({ path: textOf(each.path), status: whole(each.status), wait_ms: numberOf(each.waitMs) })) },
    timing: timingOf(record),
    tokens: {
      input: known(record.inputTokens), output: known(record.outputTokens), total: known(record.totalTokens), cached: known(record.cachedTokens), cache_write: known(record.cacheWriteTokens), input_audio: known(record.inputAudioTokens),
      input_image: known(record.inputImageTokens), reasoning: known(record.reasoningTokens), output_audio: known(record.outputAudioTokens), output_image: known(record.outputImageTokens),
    },
    price: await priceOf(context, record),
    more: decisions.filter((each) => !told.has(textOf(each.about))),
  };
}

/** A policy that groups by metadata has their values in its counters. */
function counterOf(counter: unknown, { metadata: isMetadataSeen }: LogSight): string {
  const text = textOf(counter);
  const at = isMetadataSeen ? -1 : text.indexOf(metadataLabel);
  return at === -1 ? text : `${text.slice(0, at)}${metadataLabel}…`;
}

const metadataLabel = 'metadata.';
const limitView = ({ counter, counted: of, before, after, maximum }: Readonly<Record<string, unknown>>, sight: LogSight): Reply =>
  ({ counter: counterOf(counter, sight), counted: countedOf(of), before: amountOf(of, before), after: amountOf(of, after), maximum: typeof maximum === 'number' ? amountOf(of, maximum) : null });
const refusalView = ({ refusedBy, counted: of, before, needed, maximum }: Readonly<Record<string, unknown>>, sight: LogSight): Reply =>
  ({ counter: counterOf(refusedBy, sight), counted: countedOf(of), before: amountOf(of, before), needed: amountOf(of, needed), maximum: amountOf(of, maximum) });
const countedOf = (of: unknown): string | null => (of === 'requests' || of === 'tokens' || of === 'cost' ? of : null);
const amountOf = (of: unknown, amount: unknown): number => numberOf(amount) / countedPerUnit(textOf(of));

const told: ReadonlySet<string> = new Set(['target', 'strategy', 'cache', 'limit', 'retry', 'price']);
const isCached = (status: string): boolean => status === 'SHARED' || status.endsWith('HIT');

/** The record and those of targets that the same call left: their span is below its own. Clients may give one trace to many calls. */
function recordsOfCall(record: LogRecord, records: readonly LogRecord[]): readonly LogRecord[] {
  if (!record.isFinal) return [record];
  const left = records.filter((each) => !each.isFinal && each.parentSpanId === record.spanId && each.startedAtMs >= record.startedAtMs - 1 && each.startedAtMs <= record.startedAtMs + record.tookMs + 1);
  return [...left.sort((one, other) => one.targetIndex - other.targetIndex).slice(0, recordsMax), record];
}

/** The final record counts the calls to all targets; its own are what those that were left did not make. Records of theirs may be gone, so it is not more than its retries say. */
function attemptsAt(record: LogRecord, ofCall: readonly LogRecord[]): number {
  if (!record.isFinal) return whole(record.attempts);
  if (isCached(record.cacheStatus)) return 0;
  const before = ofCall.reduce((sum, each) => (each.isFinal ? sum : sum + whole(each.attempts)), 0);
  return Math.max(0, Math.min(whole(record.attempts) - before, whole(record.retries) + 1));
}

const targetView = (record: LogRecord, attempts: number): Reply => ({
  log_id: record.id, path: record.targetPath, provider: record.provider, provider_slug: record.providerSlug, model: record.model, status: whole(record.status), error_code: record.errorCode, retries: whole(record.retries),
  attempts, took_ms: numberOf(record.tookMs), upstream_ms: Math.max(0, numberOf(record.upstreamMs)), cost: record.cost < 0 ? null : record.cost, is_final: record.isFinal,
});

function timingOf({ tookMs, firstByteMs, upstreamMs }: LogRecord): Reply {
  const hasBegun = firstByteMs >= 0;
  return {
    total_ms: tookMs, first_byte_ms: hasBegun ? firstByteMs : null, upstream_ms: Math.max(0, upstreamMs), gateway_ms: hasBegun ? Math.max(0, firstByteMs - Math.max(0, upstreamMs)) : null,
    streaming_ms: hasBegun ? Math.max(0, tookMs - firstByteMs) : null,
  };
}

/** What its ids stand for now; what is gone has no name. */
async function rowsOf({ repository }: ControlContext, { keyId, workspaceId, configId, configVersionId, promptId, promptSlug, promptVersionId }: LogRecord): Promise<Reply> {
  const key = keyId === '' ? undefined : (await repository.get(apiKeys, keyId))?.row;
  const workspace = workspaceId === '' ? undefined : (await repository.get(workspaces, workspaceId))?.row;
  const config = configId === '' ? undefined : (await repository.get(configs, configId))?.row;
  const version = configVersionId === '' ? undefined : (await repository.get(configVersions, configVersionId))?.row;
  const prompt = promptId === '' ? undefined : (await repository.get(prompts, promptId))?.row;
  const promptVersion = promptVersionId === '' ? undefined : (await repository.get(promptVersions, promptVersionId))?.row;
  return {
    key: keyId === '' ? null : { id: keyId, name: key?.name ?? null, type: key?.type ?? null },
    workspace: workspaceId === '' ? null : { id: workspaceId, slug: workspace?.slug ?? null, name: workspace?.name ?? null },
    config: configId === '' ? null : { id: configId, slug: config?.slug ?? null, version_id: configVersionId, version: version?.number ?? null },
    prompt: promptId === '' ? null : { id: promptId, slug: prompt?.slug ?? promptSlug, version_id: promptVersionId, version: promptVersion?.number ?? null },
  };
}

async function priceOf(context: ControlContext, record: LogRecord): Promise<Reply> {
  const note = readPriceNote(record.decision);
  const integration = await integrationOf(context, record);
  const price = record.provider === '' ? noPrice : await priceNow(context, record, note.asked, integration);
  const { rates } = price;
  const isBatch = note.isBatch || record.endpoint === 'batches';
  return {
    cost: record.cost < 0 ? null : record.cost, cost_currency: 'USD', is_priced: record.isPriced && record.cost >= 0, saved: Math.max(0, record.saved),
    rates: rates === null ? null : { ...rates }, is_own: integration !== null && (ownModel(integration, record.model, note.asked)?.pricing_config ?? null) !== null, is_adjusted: price.adjustments !== null,
    cost_now: rates === null ? null : costOf(rates, { ...record, units: note.units }, { isBatch, adjustments: price.adjustments }),
  };
}

async function priceNow({ services: { registry } }: ControlContext, record: LogRecord, asked: string, integration: PricedIntegration | null): Promise<typeof noPrice> {
  const table = await tableNameOf(registry, record.provider);
  const prices = await priceTable();
  return callPrice(record.model, asked, integration, (model) => prices.find(table, model, record.startedAtMs)?.rates ?? null) ?? noPrice;
}

async function integrationOf({ repository }: ControlContext, { workspaceId, providerSlug }: LogRecord): Promise<PricedIntegration | null> {
  const provider = providerSlug === '' ? undefined : (await repository.find(providers, 'slug', [workspaceId, providerSlug]))?.row;
  return provider === undefined ? null : (await repository.get(integrations, provider.integrationId))?.row ?? null;
}

/** Of a record; nothing of one that was cut. */
function decisionsOf(json: string): readonly Readonly<Record<string, unknown>>[] {
  const list = parsed(json);
  return Array.isArray(list) ? list.map((each: unknown) => Object(each)) : [];
}

const stages = [['before_request_hooks', 'before'], ['after_request_hooks', 'after'], ['async_hooks', 'async']] as const;

/** Verdicts, without what the checks say of the texts that they judged. */
function hooksOf(json: string): readonly Reply[] {
  const log: Readonly<Record<string, unknown>> = Object(parsed(json));
  return stages.flatMap(([name, stage]) => {
    const list = log[name];
    return Array.isArray(list) ? list.map((each: unknown) => hookView(Object(each), stage)) : [];
  });
}

function hookView(said: Readonly<Record<string, unknown>>, stage: string): Reply {
  return {
    id: textOf(said.id), stage, verdict: said.verdict === true, denied: said.deny === true, transformed: said.transformed === true, execution_time: numberOf(said.execution_time),
    checks: Array.isArray(said.checks) ? said.checks.map((each: unknown) => checkView(Object(each))) : [],
  };
}

const checkView = (said: Readonly<Record<string, unknown>>): Reply => ({
  id: textOf(said.id), verdict: typeof said.verdict === 'boolean' ? said.verdict : null, transformed: said.transformed === true,
  error: said.error === undefined || said.error === null ? null : textOf(Object(said.error).name) || 'error', execution_time: numberOf(said.execution_time),
});

function parsed(json: string): unknown {
  if (json === '') return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const whole = (value: unknown): number => Math.max(0, Math.round(numberOf(value)));
const known = (tokens: number): number | null => (tokens < 0 ? null : whole(tokens));
