// Filters of logs: the members of queries and of export jobs, and what they ask of the reader of records.

import type { Bounds, LogFilter, LogScope } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { choice } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { providers } from '../../../storage/tables/providers.js';
import { configs } from '../../../storage/tables/configs.js';
import type { ControlContext } from '../../context.js';

const listCharsMax = 8_192;
/** Values that one list of a filter names. */
const listMax = 500;
const valueCharsMax = 256;
const metadataMax = 20;

const texts = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: listCharsMax, description: `${description}; several separated by commas` }));
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));
const cents = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
const score = () => Type.Optional(Type.Number({ minimum: -10, maximum: 10, description: 'mean of value times weight of the feedback on the trace' }));

/** Members that queries and export jobs have. */
export const commonFilterFields = {
  time_of_generation_min: Type.Optional(Type.String({ format: 'date-time', description: 'calls that began then or later' })),
  time_of_generation_max: Type.Optional(Type.String({ format: 'date-time', description: 'calls that began then or earlier' })),
  total_units_min: count('tokens in all, at least'), total_units_max: count('tokens in all, at most'),
  cost_min: cents('US cents, at least'), cost_max: cents('US cents, at most'),
  prompt_token_min: count('input tokens, at least'), prompt_token_max: count('input tokens, at most'),
  completion_token_min: count('output tokens, at least'), completion_token_max: count('output tokens, at most'),
  status_code: texts('status codes'), weighted_feedback_min: score(), weighted_feedback_max: score(),
  virtual_keys: texts('slugs of stored providers'), configs: texts('ids or slugs of configs'), api_key_ids: texts('ids of API keys'), prompt_slug: texts('slugs of prompts'),
  trace_id: texts('ids of traces'), span_id: texts('ids of spans'), ai_org_model: texts('provider and model, as provider__model'), ai_model: texts('models'), ai_org: texts('providers'),
  workspace_slug: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'id or slug of a workspace, as workspace_id' })),
};

/** Members that a viewer needs besides. */
export const viewerFilterFields = {
  records: Type.Optional(choice(['final', 'all'], { default: 'final', description: '`all`: the targets that were left for another one, too' })),
  is_success: Type.Optional(Type.Boolean()), error_code: texts('error codes of the gateway'), cache_status: texts('cache statuses, as HIT'), endpoint: texts('endpoints, as chatCompletions'),
  response_time_min: count('milliseconds, at least'), response_time_max: count('milliseconds, at most'),
};

interface GivenFilter {
  readonly [name: string]: unknown;
}

/** Filters on metadata are a way to read it. */
export interface FilterRights {
  readonly metadata: boolean;
}

/** `metadata` as an object, or as its JSON. Throws FIELD_INVALID, ACTION_FORBIDDEN. */
export async function logFilter(context: ControlContext, scope: LogScope, given: GivenFilter, rights: FilterRights, place = ''): Promise<LogFilter> {
  const at = (name: string): string => (place === '' ? name : `${place}.${name}`);
  const list = (name: string): readonly string[] | undefined => listOf(given[name], at(name));
  const bounds = (name: string, minimum: string, maximum: string): Readonly<Record<string, Bounds>> => {
    const [min, max] = [given[minimum], given[maximum]];
    if (typeof min === 'number' && typeof max === 'number' && max < min) throw fail('FIELD_INVALID', { param: at(maximum), reason: `must not be less than ${minimum}` });
    const found = { ...(typeof min === 'number' ? { min } : {}), ...(typeof max === 'number' ? { max } : {}) };
    return Object.keys(found).length === 0 ? {} : { [name]: found };
  };
  const [fromMs, toMs] = [timeOf(given.time_of_generation_min), timeOf(given.time_of_generation_max)];
  if (fromMs !== undefined && toMs !== undefined && toMs < fromMs) throw fail('FIELD_INVALID', { param: at('time_of_generation_max'), reason: 'must not be before time_of_generation_min' });
  const metadata = metadataOf(given.metadata, at('metadata'));
  if (metadata !== undefined && !rights.metadata) throw fail('ACTION_FORBIDDEN', { reason: 'the settings of the organisation do not show you metadata of calls, so they are no filter either' });
  const configNames = list('configs');
  const slugs = list('virtual_keys');
  return withoutAbsent({
    scope, fromMs, toMs, metadata,
    records: given.records === 'all' ? 'all' : undefined,
    isSuccess: typeof given.is_success === 'boolean' ? given.is_success : undefined,
    statuses: statusesOf(list('status_code'), at('status_code')),
    providers: list('ai_org'), models: list('ai_model'), providerModels: list('ai_org_model'), keyIds: list('api_key_ids'), promptSlugs: list('prompt_slug'), traceIds: list('trace_id'), spanIds: list('span_id'),
    endpoints: list('endpoint'), cacheStatuses: list('cache_status'), errorCodes: list('error_code'),
    configIds: configNames === undefined ? undefined : await configIds(context, scope, configNames),
    providerSlugs: slugs === undefined ? undefined : await providerSlugs(context, scope, slugs),
    ...bounds('cost', 'cost_min', 'cost_max'), ...bounds('totalTokens', 'total_units_min', 'total_units_max'), ...bounds('inputTokens', 'prompt_token_min', 'prompt_token_max'),
    ...bounds('outputTokens', 'completion_token_min', 'completion_token_max'), ...bounds('tookMs', 'response_time_min', 'response_time_max'),
    ...bounds('weightedFeedback', 'weighted_feedback_min', 'weighted_feedback_max'),
  });
}

/** The members of the filter that are there. */
function withoutAbsent(filter: { readonly [K in keyof LogFilter]: LogFilter[K] | undefined } & { readonly scope: LogScope }): LogFilter {
  const { scope, ...others } = filter;
  return { scope, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)) };
}

const timeOf = (given: unknown): number | undefined => (typeof given === 'string' ? Date.parse(given) : undefined);

function listOf(given: unknown, param: string): readonly string[] | undefined {
  if (typeof given !== 'string') return undefined;
  const values = [...new Set(given.split(',').map((each) => each.trim()).filter((each) => each !== ''))];
  if (values.length === 0) throw fail('FIELD_INVALID', { param, reason: 'names nothing' });
  if (values.length > listMax) throw fail('FIELD_INVALID', { param, reason: `must name at most ${listMax} values` });
  return values;
}

function statusesOf(list: readonly string[] | undefined, param: string): readonly number[] | undefined {
  if (list?.some((each) => !/^[1-9]\d{2}$/.test(each)) === true) throw fail('FIELD_INVALID', { param, reason: 'must be status codes such as 200,429' });
  return list?.map(Number);
}

function metadataOf(given: unknown, param: string): Readonly<Record<string, string>> | undefined {
  let value: unknown = given;
  if (typeof given === 'string') {
    try {
      value = JSON.parse(given);
    } catch {
      throw fail('FIELD_INVALID', { param, reason: 'must be a JSON object such as {"team":"search"}' });
    }
  }
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fail('FIELD_INVALID', { param, reason: 'must be an object of names and texts' });
  // Calls may have numbers in their metadata, and what is true or false.
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [name, typeof each === 'number' || typeof each === 'boolean' ? JSON.stringify(each) : each]);
  if (entries.length > metadataMax) throw fail('FIELD_INVALID', { param, reason: `must have at most ${metadataMax} members` });
  for (const [name, each] of entries) if (typeof each !== 'string' || each.length > valueCharsMax || name.length > valueCharsMax) throw fail('FIELD_INVALID', { param, reason: `must have names and texts of at most ${valueCharsMax} characters` });
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([name, each]) => [name, String(each)]));
}

/** Records know configs by their ids. Names that there are not stay as they are, and match nothing. */
async function configIds({ repository }: ControlContext, { organisationId, workspaceIds }: LogScope, names: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [...names];
  for (const name of names) {
    const found = await repository.list(configs, { index: 'organisation-slug', parts: [organisationId, name], limit: listMax });
    ids.push(...found.flatMap(({ row }) => (workspaceIds === null || workspaceIds.includes(row.workspaceId) ? [row.id] : [])));
  }
  return ids;
}

/** Records know stored providers by their slugs. */
async function providerSlugs(context: ControlContext, scope: LogScope, names: readonly string[]): Promise<readonly string[]> {
  const slugs: string[] = [];
  for (const name of names) {
    const row = (await context.byId(providers, name))?.row;
    const isSeen = row !== undefined && row.organisationId === scope.organisationId && (scope.workspaceIds === null || scope.workspaceIds.includes(row.workspaceId));
    slugs.push(isSeen ? row.slug : name.replace(/^@/, ''));
  }
  return slugs;
}
