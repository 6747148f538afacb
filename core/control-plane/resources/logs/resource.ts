import type { LogRecord } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { randomHex, uuid } from '../../../exchange/trace.js';
import { callPrice, noPrice } from '../../../limits/call-price.js';
import { costOf } from '../../../limits/cost.js';
import { priceTable } from '../../../limits/prices.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { pageQuery } from '../../paging.js';
import { commonFilterFields, logFilter, viewerFilterFields } from '../common/log-filter.js';
import { logReader, logScope, logSight } from '../common/log-services.js';
import { tableNameOf } from '../model-configs/model-facts.js';
import { customLogFields, customLogsMax, toldCallOf, type ToldCall } from './custom-log.js';
import { KnownNames } from './log-names.js';
import { entryView, logEntrySchema, logSchema, logView } from './log-view.js';
import { whySchema, whyView } from './why.js';

const pageSizeDefault = 50;
/** Records before a page that is named by its number: all of them have to be found first. */
const offsetMax = 10_000;
const cursorCharsMax = 2048;
const signatureChars = 43;
/** What cursors are signed for: those of one list are of no use to another. */
const ofLists = 'cursor of a list of logs';
const ofFollowers = 'place in the logs';
const spanIdBytes = 8;
const noHeaders: ReadonlySet<string> = new Set();

const filters = { ...commonFilterFields, ...viewerFilterFields, metadata: Type.Optional(Type.String({ minLength: 2, maxLength: 8192, description: 'JSON object: members that must be there, with these values' })) };
const listQuery = object({
  ...filters, ...pageQuery(pageSizeDefault),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: cursorCharsMax, description: '`next_cursor` of the page before; the filters stay the same' })),
  include_total: Type.Optional(Type.Boolean({ default: false, description: 'also count all that match' })),
});
const followQuery = object({
  ...filters, after: Type.Optional(Type.String({ minLength: 1, maxLength: cursorCharsMax, description: '`after` of the reply before; without one, the place of now is told' })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
});

/** Opaque to clients. What they made up themselves, or have of another list, is refused and reaches no reader. */
const sealed = ({ services: { sealer } }: ControlContext, purpose: string, cursor: string): string => sealer.sign(purpose, cursor) + Buffer.from(cursor).toString('base64url');

function opened({ services: { sealer } }: ControlContext, purpose: string, given: string | undefined, param: string): string | undefined {
  if (given === undefined) return undefined;
  const cursor = Buffer.from(given.slice(signatureChars), 'base64url').toString();
  if (!sealer.isSigned(purpose, cursor, given.slice(0, signatureChars))) throw fail('FIELD_INVALID', { param, reason: 'is not what a reply to the same call gave; begin without one' });
  return cursor;
}

async function namesFor(context: ControlContext, records: readonly LogRecord[]): Promise<KnownNames> {
  const names = await KnownNames.of(context.repository, context.caller.organisationId, context.origin, context.services.metadataHeaders ?? noHeaders);
  await names.learn(records);
  return names;
}

async function list(context: ControlContext, query: Static<typeof listQuery>): Promise<Reply> {
  const { cursor, current_page: page = 0, page_size: limit = pageSizeDefault, include_total: isCounted = false, ...given } = query;
  if (cursor !== undefined && page > 0) throw fail('FIELD_INVALID', { param: 'current_page', reason: 'does not go with a cursor; give one of them' });
  if (page * limit > offsetMax) throw fail('FIELD_INVALID', { param: 'current_page', reason: `leads behind the first ${offsetMax} logs; go on with next_cursor, or ask for a shorter time` });
  const reader = logReader(context);
  const sight = await logSight(context);
  const filter = await logFilter(context, await logScope(context, query.workspace_slug), given, sight);
  const purpose = ofLists + JSON.stringify(filter);
  const from = opened(context, purpose, cursor, 'cursor');
  const found = await reader.page(filter, { limit, isCounted, ...(from === undefined ? { offset: page * limit } : { cursor: from }) });
  const names = await namesFor(context, found.records);
  return {
    object: 'list', data: found.records.map((record) => entryView(record, names, sight)), total: isCounted ? found.total ?? 0 : null, has_more: found.cursor !== null,
    next_cursor: found.cursor === null ? null : sealed(context, purpose, found.cursor),
  };
}

async function follow(context: ControlContext, { after, page_size: limit = 200, ...given }: Static<typeof followQuery>): Promise<Reply> {
  const reader = logReader(context);
  if (reader.follow === undefined) throw fail('ACTION_UNTIMELY', { reason: 'the exporter that keeps the records cannot be followed' });
  const sight = await logSight(context);
  const filter = await logFilter(context, await logScope(context, given.workspace_slug), given, sight);
  const tail = await reader.follow(filter, opened(context, ofFollowers, after, 'after') ?? null, limit);
  const names = await namesFor(context, tail.records);
  return { object: 'list', data: tail.records.map((record) => entryView(record, names, sight)), has_more: tail.hasMore, after: sealed(context, ofFollowers, tail.after) };
}

async function read(context: ControlContext, id: string): Promise<Reply> {
  const sight = await logSight(context);
  const record = recordOf(await logReader(context).read(await logScope(context), id), id);
  return logView(record, await namesFor(context, [record]), sight);
}

/** Throws ROW_UNKNOWN. */
function recordOf(records: readonly LogRecord[], id: string): LogRecord {
  // By the id of a trace: its last word.
  const record = records.find((each) => each.id === id) ?? records.findLast((each) => each.isFinal) ?? records.at(-1);
  if (record === undefined) throw fail('ROW_UNKNOWN', { kind: 'log', id: id.slice(0, 64) });
  return record;
}

async function why(context: ControlContext, id: string): Promise<Reply> {
  const sight = await logSight(context);
  const reader = logReader(context);
  const scope = await logScope(context);
  const found = await reader.read(scope, id);
  const record = recordOf(found, id);
  // The other targets of the call have other ids, and the same trace.
  return whyView(context, record, record.traceId === id ? found : await reader.read(scope, record.traceId), sight);
}

/** As calls through the gateway are, by the table of prices. */
async function priced({ services: { registry } }: ControlContext, { record, usage, asked }: ToldCall): Promise<LogRecord> {
  if (record.provider === '') return { ...record, cost: 0 };
  const table = await tableNameOf(registry, record.provider);
  const prices = await priceTable();
  const { rates } = callPrice(usage.model, asked, null, (model) => prices.find(table, model, record.startedAtMs)?.rates ?? null) ?? noPrice;
  return { ...record, cost: costOf(rates, usage, { isBatch: usage.isBatch }), isPriced: rates !== null };
}

async function insert(context: ControlContext, given: readonly Static<typeof customLogFields>[]): Promise<Reply> {
  context.require('logs.write');
  context.isUnrecorded = true;
  const workspace = await context.workspace();
  const { organisationId, keyId } = context.caller;
  const records: LogRecord[] = [];
  for (const each of given) records.push(await priced(context, toldCallOf(each, { id: context.newId(), traceId: uuid(), spanId: randomHex(spanIdBytes), nowMs: context.nowMs, organisationId, workspaceId: workspace.id, keyId })));
  await logReader(context).insert(records);
  return { status: 'success', message: records.length === 1 ? 'the log is stored' : `${records.length} logs are stored`, ids: records.map(({ id }) => id) };
}

export const logsResource = defineResource({
  name: 'logs',
  kind: 'log',
  operations: {
    list: operation({
      method: 'GET', path: '/logs', scope: 'logs.list', query: listQuery,
      reply: object({ object: Type.Literal('list'), data: Type.Array(logEntrySchema), total: orNull(Type.Integer({ minimum: 0, description: 'null: not asked for' })), has_more: Type.Boolean(), next_cursor: orNull(Type.String()) }),
      handle: (context, { query }) => list(context, query),
    }),
    // Before the names of logs, which it looks like.
    live: operation({
      method: 'GET', path: '/logs/live', scope: 'logs.list', query: followQuery,
      reply: object({ object: Type.Literal('list'), data: Type.Array(logEntrySchema, { description: 'in the order of their arrival' }), has_more: Type.Boolean({ description: 'more are there already' }), after: Type.String() }),
      handle: (context, { query }) => follow(context, query),
    }),
    // Nothing that is managed changes, and what clients call each other is nothing for the audit log.
    create: operation({
      method: 'POST', path: '/logs', scope: 'completions.write', body: customLogFields, listMax: customLogsMax,
      reply: object({ status: choice(['success']), message: Type.String(), ids: Type.Array(Type.String()) }),
      handle: (context, { bodies }) => insert(context, bodies),
    }),
    read: operation({
      method: 'GET', path: '/logs/{logId}', scope: ['logs.read', 'logs.view', 'logs.write', 'completions.write'], params: { logId: Type.String({ description: 'id of the log, or of its trace' }) }, reply: logSchema,
      handle: (context, { params }) => read(context, params.logId ?? ''),
    }),
    why: operation({
      method: 'GET', path: '/logs/{logId}/why', scope: ['logs.read', 'logs.view', 'logs.write', 'completions.write'], params: { logId: Type.String({ description: 'id of the log, or of its trace' }) }, reply: whySchema,
      handle: (context, { params }) => why(context, params.logId ?? ''),
    }),
  },
});
