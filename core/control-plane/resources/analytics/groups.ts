// Groups: one row for each value of a field, with the figures that are asked for.

import type { LogAggregateRow, LogGroup, LogMeasure } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { configs } from '../../../storage/tables/configs.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type Properties, type TSchema } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { operation, type Operation, type Reply } from '../../define-resource.js';
import { listReply, time, timeText } from '../../envelope.js';
import { analyticsFields, percent, Question, ratio } from './question.js';

const pageSizeDefault = 50;
const pageSizeMax = 1000;

/** What may be grouped by. */
const groupings = {
  ai_service: 'provider', model: 'model', status_code: 'status', api_key: 'keyId', config: 'configId', workspace: 'workspaceId', provider: 'providerSlug', prompt: 'promptSlug', workspaces: 'workspaceId',
} as const satisfies Readonly<Record<string, LogGroup>>;
type Grouping = keyof typeof groupings;
const isGrouping = (name: string): name is Grouping => Object.hasOwn(groupings, name);

interface ColumnRule {
  readonly measures: readonly LogMeasure[];
  /** Of the values of its measures, and of how many requests. */
  readonly of: (values: readonly number[], requests: number) => number;
  readonly isTime?: boolean;
}

const sum = (measure: LogMeasure): ColumnRule => ({ measures: [measure], of: ([value = 0]) => value });
const mean = (measure: LogMeasure): ColumnRule => ({ measures: [measure], of: ([value], requests) => ratio(value, requests) });
const share = (measure: LogMeasure): ColumnRule => ({ measures: [measure], of: ([value], requests) => percent(value, requests) });

const columns = {
  cost: sum('cost'), total_tokens: sum('totalTokens'), avg_tokens: mean('totalTokens'), avg_input_tokens: mean('inputTokens'), avg_output_tokens: mean('outputTokens'), avg_latency: mean('tookMsSum'),
  p95_latency: sum('tookMsP95'), p99_latency: sum('tookMsP99'), success_rate: share('successes'), error_count: sum('errors'), cache_hit_rate: share('cacheHits'),
  last_seen: { ...sum('lastSeenMs'), isTime: true }, first_seen: { ...sum('firstSeenMs'), isTime: true },
} as const satisfies Readonly<Record<string, ColumnRule>>;
type Column = keyof typeof columns;
const columnNames = Object.keys(columns);
const isColumn = (name: string): name is Column => Object.hasOwn(columns, name);
const ruleOf = (name: Column): ColumnRule => columns[name];

const pages = {
  current_page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  page_size: Type.Optional(Type.Integer({ minimum: 0, maximum: pageSizeMax, default: pageSizeDefault })),
};
const list = (row: Properties) => object({ object: Type.Literal('list'), total: Type.Integer({ minimum: 0, description: 'of all pages' }), data: Type.Array(object({ ...row, object: Type.Literal('analytics-group') })) });

interface Paged {
  readonly current_page?: number;
  readonly page_size?: number;
}

/** The page of what is sorted. */
function page<T>(rows: readonly T[], { current_page: number = 0, page_size: size = pageSizeDefault }: Paged): readonly T[] {
  return rows.slice(number * size, (number + 1) * size);
}

/** Most requests first. */
const byRequests = (left: LogAggregateRow, right: LogAggregateRow): number => (right.values[0] ?? 0) - (left.values[0] ?? 0) || compareText(left.group, right.group);
const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** One of the groups with a shape of its own, most requests first; records that have nothing there are in none. `count` is the first of the measures. */
function namedGroups(path: string, row: Properties, groupOf: (params: Readonly<Record<string, string>>) => LogGroup, measures: readonly LogMeasure[], view: (row: LogAggregateRow) => Reply): Operation {
  return operation({
    method: 'GET', path: `/analytics/groups/${path}`, aliases: [`/logs/groups/${path}`], scope: 'analytics.view', query: object({ ...analyticsFields, ...pages }), reply: list(row),
    handle: async (context, { query: { current_page: number, page_size: size, ...filter }, params }) => {
      const { rows } = await (await Question.of(context, filter)).ask({ bucket: null, groupBy: groupOf(params), measures: ['count', ...measures] });
      const named = rows.filter(({ group }) => group !== '').sort(byRequests);
      return listReply(named.length, page(named, { ...(number === undefined ? {} : { current_page: number }), ...(size === undefined ? {} : { page_size: size }) }).map((each) => ({ ...view(each), object: 'analytics-group' })));
    },
  });
}

const texts = (...names: readonly string[]): Properties => Object.fromEntries(names.map((name) => [name, Type.String()]));
const numbers = (...names: readonly string[]): Properties => Object.fromEntries(names.map((name) => [name, Type.Number()]));

/** Throws FIELD_INVALID. */
function columnsOf(given: string | undefined): readonly Column[] {
  const names = [...new Set((given ?? '').split(',').map((each) => each.trim()).filter((each) => each !== ''))];
  return names.map((name) => {
    if (!isColumn(name)) throw fail('FIELD_INVALID', { param: 'columns', reason: `names ${JSON.stringify(name.slice(0, 64))}, which is no column; there are ${columnNames.join(', ')}` });
    return name;
  });
}

/** What clients know a stored row by; what is gone keeps its id. Calls that have none of it, such as a list of models, are counted all the same. */
async function nameOf(context: ControlContext, grouping: Grouping, group: string): Promise<string | number | null> {
  if (group === '') return null;
  if (groupings[grouping] === 'status') return Number(group);
  const table = grouping === 'config' ? configs : groupings[grouping] === 'workspaceId' ? workspaces : undefined;
  const row = table === undefined ? undefined : (await context.byId<{ readonly id: string; readonly slug: string; readonly organisationId: string }>(table, group))?.row;
  return row === undefined || row.organisationId !== context.caller.organisationId ? group : row.slug;
}

export const groups: Readonly<Record<string, Operation>> = {
  groupUsers: namedGroups('users', texts('user', 'requests', 'cost'), () => 'user', ['cost'], ({ group, values: [requests, cost] }) => ({ user: group, requests: String(requests), cost: String(cost) })),
  groupAiModels: namedGroups('ai-models', texts('ai_model', 'requests'), () => 'model', [], ({ group, values: [requests] }) => ({ ai_model: group, requests: String(requests) })),
  groupMetadata: namedGroups(
    'metadata/{metadataKey}', { ...texts('metadata_value'), ...numbers('requests', 'cost', 'avg_tokens', 'avg_weighted_feedback', 'requests_with_feedback'), last_seen: timeText() },
    ({ metadataKey = '' }) => `metadata.${metadataKey}`, ['cost', 'totalTokens', 'weightedFeedbackSum', 'feedbackCount', 'requestsWithFeedback', 'lastSeenMs'],
    ({ group, values: [requests = 0, cost, tokens, weighted, feedback, withFeedback, lastMs = 0] }) => ({
      metadata_value: group, requests, cost, avg_tokens: ratio(tokens, requests), avg_weighted_feedback: ratio(weighted, feedback), requests_with_feedback: withFeedback, last_seen: time(lastMs),
    }),
  ),
  groupBy: operation({
    method: 'GET', path: '/analytics/groups/{groupBy}', aliases: ['/logs/groups/{groupBy}'], scope: 'analytics.view',
    params: { groupBy: choice(Object.keys(groupings)) },
    query: object({
      ...analyticsFields, ...pages,
      columns: Type.Optional(Type.String({ maxLength: 512, description: `figures beside the number of requests, separated by commas: ${columnNames.join(', ')}` })),
      order_by: Type.Optional(Type.String({ maxLength: 64, description: '`requests`, or one of the columns' })), order: Type.Optional(choice(['asc', 'desc'], { default: 'desc' })),
    }),
    reply: list({
      ...Object.fromEntries(Object.keys(groupings).map((name): [string, TSchema] => [name, name === 'status_code' ? Type.Optional(Type.Integer()) : Type.Optional(orNull(Type.String({ description: 'null: of calls without one' })))])),
      requests: Type.Integer({ minimum: 0 }),
      ...Object.fromEntries(columnNames.map((name): [string, TSchema] => [name, isColumn(name) && ruleOf(name).isTime === true ? Type.Optional(timeText()) : Type.Optional(Type.Number())])),
    }),
    handle: async (context, { query: { columns: given, order_by: orderBy = 'requests', order = 'desc', current_page: number = 0, page_size: size = pageSizeDefault, ...filter }, params: { groupBy = '' } }) => {
      if (!isGrouping(groupBy)) throw fail('FIELD_INVALID', { param: 'groupBy', reason: `must be one of ${Object.keys(groupings).join(', ')}, users, ai-models, metadata/{key}` });
      const wanted = columnsOf(given);
      if (orderBy !== 'requests' && !isColumn(orderBy)) throw fail('FIELD_INVALID', { param: 'order_by', reason: `must be requests or one of ${columnNames.join(', ')}` });
      const asked = orderBy === 'requests' || wanted.includes(orderBy) ? wanted : [...wanted, orderBy];
      const measures = asked.flatMap((name) => ruleOf(name).measures);
      const { rows } = await (await Question.of(context, filter, groupings[groupBy] === 'workspaceId')).ask({ bucket: null, groupBy: groupings[groupBy], measures: ['count', ...measures] });
      const made = rows.map(({ group, values: [requests = 0, ...values] }) => ({ group, requests, figures: new Map<string, number>(asked.map((name, index) => [name, ruleOf(name).of(values.slice(index), requests)])) }));
      const keyOf = (row: (typeof made)[number]): number => (orderBy === 'requests' ? row.requests : row.figures.get(orderBy) ?? 0);
      made.sort((left, right) => (order === 'asc' ? keyOf(left) - keyOf(right) : keyOf(right) - keyOf(left)) || compareText(left.group, right.group));
      const shown = await Promise.all(page(made, { current_page: number, page_size: size }).map(async ({ group, requests, figures }) => ({
        [groupBy]: await nameOf(context, groupBy, group), requests,
        ...Object.fromEntries(wanted.map((name) => [name, ruleOf(name).isTime === true ? time(figures.get(name) ?? 0) : figures.get(name) ?? 0])),
        object: 'analytics-group',
      })));
      return listReply(made.length, shown);
    },
  }),
};
