import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { exportStates, logExports, type LogExportRow } from '../../../storage/tables/log-exports.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, time, timeText, timeTextOrNull } from '../../envelope.js';
import { inReach, pageOf, pageQuery } from '../../paging.js';
import { commonFilterFields, logFilter } from '../common/log-filter.js';
import { logReader, logSight, logWorkspace, organisationSettings, scopeOf, type LogSight } from '../common/log-services.js';
import { linkTo } from './export-file.js';
import { deniedFieldsOf, exportFields, needsBodies, needsMetadata } from './export-row.js';
import { exportDaysMax, exportRowsMax, isDead, rangeOf } from './export-runner.js';

const descriptionCharsMax = 1000;
/** Of one workspace, under way or waiting: they run one after the other, and others have exports, too. */
const workspaceExportsMax = 10;
/** More are never under way or waiting, but for those of processes that died. */
const runningMax = 1000;

const filterFields = named('LogExportFilters', object({
  ...commonFilterFields, metadata: Type.Optional(Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', maxProperties: 20, additionalProperties: { type: 'string', maxLength: 256 } })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: exportRowsMax, description: 'rows of the file, at most' })), current_page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'how many such pages are left out first, of the oldest' })),
}));
const requestedField = () => Type.Array(choice(exportFields), { minItems: 1, uniqueItems: true });
const description = () => Type.Optional(Type.String({ maxLength: descriptionCharsMax }));

const exportSchema = named('LogExport', object({
  id: idText(), organisation_id: idText(), workspace_id: idText(), filters: filterFields, requested_data: Type.Array(Type.String()), status: choice(exportStates), description: Type.String(),
  created_at: timeText(), last_updated_at: timeText(), created_by: idText(), total_records: Type.Integer({ minimum: 0, description: 'rows written so far' }), bytes: Type.Integer({ minimum: 0 }),
  is_cut: Type.Boolean({ description: 'there were more than one file takes' }), expires_at: timeTextOrNull(), fault: Type.String({ description: 'why it failed' }), object: Type.Literal('export'),
}));
const madeSchema = object({ id: idText(), total: Type.Integer({ minimum: 0, description: 'rows that the file would have now' }), object: Type.Literal('export') });
const toldSchema = object({ message: Type.String(), object: Type.Literal('export') });

/** A job of a process that died has failed, also before somebody has written that down. */
const statusOf = (row: LogExportRow, nowMs: number): LogExportRow['status'] => (isDead(row, nowMs) ? 'failed' : row.status);

const dayMs = 86_400_000;

function view(row: LogExportRow, nowMs: number): Reply {
  const { run } = row;
  const status = statusOf(row, nowMs);
  return {
    id: row.id, organisation_id: row.organisationId, workspace_id: row.workspaceId, filters: row.filters, requested_data: row.requestedData, status, description: row.description,
    created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), created_by: row.createdBy, total_records: run?.rows ?? 0, bytes: run?.bytes ?? 0, is_cut: run?.isCut ?? false,
    expires_at: status === 'success' && run !== null && run.endedAtMs !== null ? time(run.endedAtMs + exportDaysMax * dayMs) : null, fault: status === 'failed' ? run?.fault ?? '' : '', object: 'export',
  };
}

/** Throws ROW_UNKNOWN, WORKSPACE_FOREIGN. */
async function exportAt(context: ControlContext, id: string): Promise<Stored<LogExportRow>> {
  const shown = { kind: 'export', id: id.slice(0, 64) };
  const workspace = await context.workspaceIfNamed();
  const stored = await context.byId(logExports, id);
  if (stored === undefined) throw fail('ROW_UNKNOWN', shown);
  const { organisationId, workspaceId } = stored.row;
  if (organisationId !== context.caller.organisationId || (workspace !== undefined && workspace.id !== workspaceId)) throw fail('WORKSPACE_FOREIGN', shown);
  context.subject = stored;
  return stored;
}

/** Nobody exports what settings hide from them. */
function requireSight({ bodies, metadata }: LogSight, fields: readonly string[]): void {
  if (!bodies && needsBodies(fields)) throw fail('ACTION_FORBIDDEN', { reason: 'the settings of the organisation do not show you what was asked and answered; leave request and response out' });
  if (!metadata && fields.includes('metadata')) throw fail('ACTION_FORBIDDEN', { reason: 'the settings of the organisation do not show you metadata of calls; leave metadata out' });
}

type Filters = Static<typeof filterFields>;

async function counted(context: ControlContext, workspaceId: string, filters: Filters, sight: LogSight): Promise<number> {
  const filter = await logFilter(context, scopeOf(context, { id: workspaceId }), filters, sight, 'filters');
  const { total } = await logReader(context).page(filter, { limit: 1, isCounted: true });
  const { from, to } = rangeOf(filters);
  return Math.max(0, Math.min(total ?? 0, to) - from);
}

interface Given {
  readonly filters: Filters;
  readonly requested_data: readonly string[];
  readonly description?: string;
}

async function create(context: ControlContext, { filters, requested_data, description: text = '' }: Given): Promise<Reply> {
  const workspace = await logWorkspace(context, filters.workspace_slug) ?? await context.workspace();
  const sight = await logSight(context);
  requireSight(sight, requested_data);
  const total = await counted(context, workspace.id, filters, sight);
  const row: LogExportRow = {
    id: context.newId(), organisationId: workspace.organisationId, workspaceId: workspace.id, status: 'draft', description: text, filters, requestedData: [...requested_data], createdBy: context.actorId,
    createdAtMs: context.nowMs, updatedAtMs: context.nowMs, run: null,
  };
  context.change.insert(logExports, row);
  return { id: row.id, total, object: 'export' };
}

async function update(context: ControlContext, id: string, { filters, requested_data, description: text }: Omit<Given, 'requested_data'> & Partial<Given>): Promise<Reply> {
  const stored = await exportAt(context, id);
  const { row } = stored;
  const sight = await logSight(context);
  requireSight(sight, requested_data ?? row.requestedData);
  if (row.status !== 'draft') throw fail('ACTION_UNTIMELY', { reason: `the export is ${statusOf(row, context.nowMs)}; only drafts are changed, so make another one` });
  const named = await logWorkspace(context, filters.workspace_slug);
  if (named !== undefined && named.id !== row.workspaceId) throw fail('FIELD_INVALID', { param: 'filters.workspace_slug', reason: 'is not the workspace of the export' });
  const total = await counted(context, row.workspaceId, filters, sight);
  context.change.update(stored, { ...row, filters, requestedData: [...requested_data ?? row.requestedData], description: text ?? row.description, updatedAtMs: context.nowMs });
  return { id: row.id, total, object: 'export' };
}

async function begin(context: ControlContext, id: string): Promise<Reply> {
  const stored = await exportAt(context, id);
  const { row } = stored;
  const { exports } = context.services;
  const sight = await logSight(context);
  requireSight(sight, row.requestedData);
  logReader(context);
  const status = statusOf(row, context.nowMs);
  const isGone = status === 'success' && row.run?.isRemoved === true;
  if ((status === 'success' && !isGone) || status === 'in_progress') throw fail('ACTION_UNTIMELY', { reason: status === 'success' ? 'the export is done; fetch its file, or make another one' : 'the export is in progress already' });
  const running = await context.repository.list(logExports, { index: 'running', limit: runningMax });
  if (running.filter((each) => each.row.workspaceId === row.workspaceId && !isDead(each.row, context.nowMs)).length >= workspaceExportsMax) {
    throw fail('ACTION_UNTIMELY', { reason: `${workspaceExportsMax} exports of the workspace run or wait for their turn already; start it again later` });
  }
  if (exports === undefined || exports.isFull) throw fail('ACTION_UNTIMELY', { reason: 'too many exports wait for their turn; start it again later' });
  const filter = await logFilter(context, scopeOf(context, { id: row.workspaceId }), row.filters, sight, 'filters');
  const runId = context.newId();
  context.change.update(stored, {
    ...row, status: 'in_progress', updatedAtMs: context.nowMs,
    run: {
      id: runId, filter: JSON.stringify(filter), seesBodies: sight.bodies, seesMetadata: sight.metadata, origin: context.origin, aliveAtMs: context.nowMs, endedAtMs: null, rows: 0, bytes: 0, isCut: false, fault: '',
      isRemoved: false,
    },
  });
  context.afterCommit.push(() => exports.begin(row.id, runId));
  return { message: 'the export is started', object: 'export' };
}

async function cancel(context: ControlContext, id: string): Promise<Reply> {
  const stored = await exportAt(context, id);
  const { row } = stored;
  await logSight(context);
  const status = statusOf(row, context.nowMs);
  if (status !== 'in_progress' || row.run === null) throw fail('ACTION_UNTIMELY', { reason: `the export is ${status}; only one that is in progress is stopped` });
  context.change.update(stored, { ...row, status: 'stopped', updatedAtMs: context.nowMs, run: { ...row.run, endedAtMs: context.nowMs } });
  context.afterCommit.push(() => context.services.exports?.cancel(row.id));
  return { message: 'the export is stopped', object: 'export' };
}

async function download(context: ControlContext, id: string): Promise<Reply> {
  const { row } = await exportAt(context, id);
  const sight = await logSight(context);
  const status = statusOf(row, context.nowMs);
  if (status !== 'success' || row.run === null) throw fail('ACTION_UNTIMELY', { reason: `the export is ${status}, and has no file; ${status === 'in_progress' ? 'wait until it is done' : 'start it'}` });
  const { seesBodies, seesMetadata, isRemoved } = row.run;
  if (isRemoved) throw fail('ACTION_UNTIMELY', { reason: `the file was removed: files are kept for ${exportDaysMax} days, as long as there is room; start the export again` });
  // It may have been made by somebody who sees more.
  if ((seesBodies && !sight.bodies && needsBodies(row.requestedData)) || (seesMetadata && !sight.metadata && needsMetadata(row.requestedData))) {
    throw fail('ACTION_FORBIDDEN', { reason: 'the file has more than the settings of the organisation show you' });
  }
  return { signed_url: linkTo(row.id, row.run.id, context.origin, context.services.sealer, context.nowMs) };
}

const at = (path: string): string => `/logs/exports/{exportId}${path}`;

export const logExportsResource = defineResource({
  name: 'log-exports',
  kind: 'log-export',
  operations: {
    list: operation({
      method: 'GET', path: '/logs/exports', scope: ['logs.list', 'logs.export'], query: object(pageQuery()), reply: listOf(exportSchema),
      handle: async (context, { query }) => {
        await logSight(context);
        return pageOf(context, logExports, inReach(context, await context.workspaceIfNamed()), query, ({ row }) => view(row, context.nowMs));
      },
    }),
    create: operation({
      method: 'POST', path: '/logs/exports', scope: 'logs.export', action: 'created', body: object({ filters: filterFields, requested_data: requestedField(), description: description() }), reply: madeSchema,
      handle: (context, { body }) => create(context, body),
    }),
    fieldRestrictions: operation({
      method: 'GET', path: '/logs/exports/field-restrictions', scope: ['logs.list', 'logs.export'],
      reply: object({ object: Type.Literal('export-field-restrictions'), deniedFields: Type.Array(Type.String()), denied_fields: Type.Array(Type.String({ description: 'the same' })) }),
      handle: async (context) => {
        const denied = deniedFieldsOf(await organisationSettings(context));
        return { object: 'export-field-restrictions', deniedFields: denied, denied_fields: denied };
      },
    }),
    read: operation({
      method: 'GET', path: at(''), scope: 'logs.export', reply: exportSchema,
      handle: async (context, { params }) => {
        const { row } = await exportAt(context, params.exportId ?? '');
        await logSight(context);
        return view(row, context.nowMs);
      },
    }),
    update: operation({
      method: 'PUT', path: at(''), scope: 'logs.export', action: 'updated', body: object({ filters: filterFields, requested_data: Type.Optional(requestedField()), description: description() }), reply: madeSchema,
      handle: (context, { params, body }) => update(context, params.exportId ?? '', body),
    }),
    start: operation({ method: 'POST', path: at('/start'), scope: 'logs.export', action: 'updated', isAlone: countsRows, reply: toldSchema, handle: (context, { params }) => begin(context, params.exportId ?? '') }),
    cancel: operation({ method: 'POST', path: at('/cancel'), scope: 'logs.export', action: 'updated', reply: toldSchema, handle: (context, { params }) => cancel(context, params.exportId ?? '') }),
    download: operation({
      method: 'GET', path: at('/download'), scope: 'logs.export', reply: object({ signed_url: Type.String({ format: 'uri', description: 'of the file, as JSON Lines, without a key; good for 15 minutes' }) }),
      handle: (context, { params }) => download(context, params.exportId ?? ''),
    }),
  },
});
