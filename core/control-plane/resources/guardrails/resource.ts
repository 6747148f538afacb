import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../../errors/gateway-error.js';
import type { GuardrailDefinition } from '../../../plan/guardrail-definition.js';
import type { Stored } from '../../../storage/change.js';
import { placeOf } from '../../../storage/open-rows.js';
import { object } from '../../../storage/schema-parts.js';
import { guardrails, type GuardrailRow } from '../../../storage/tables/guardrails.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { time } from '../../envelope.js';
import { filteredPage, pageOf, pageQuery } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { findRow, freeSlug } from '../common/find-row.js';
import { checkedChecks, definitionOf, shownChecks } from './check-guardrail.js';
import { actionsField, actionsOf, actionsReply, checksField, checksReply, summaryMembers } from './guardrail-fields.js';
import { invokeFields, invokeGuardrail, invokeReply } from './invoke.js';
import { sidesOfChecks, usersOf } from './guardrail-users.js';

const slugNameChars = 6;
const idsMax = 100;
const writtenReply = object({ id: Type.String(), slug: Type.String(), version_id: Type.String(), object: Type.Literal('guardrail') });

type Verb = 'create' | 'list' | 'read' | 'update' | 'delete';

/** One of the organisation is a matter of other scopes. Throws SCOPE_MISSING. */
const requireFor = (context: ControlContext, workspaceId: string | null, verb: Verb): void => context.require(`${workspaceId === null ? 'organisation_guardrails' : 'guardrails'}.${verb}`);

async function guardrailOf(context: ControlContext, idOrSlug: string): Promise<Stored<GuardrailRow>> {
  const { organisationId } = context.caller;
  return findRow(context, guardrails, 'guardrail', idOrSlug, { slugParts: (workspaceId) => [organisationId, workspaceId], sharedParts: [organisationId, ''] });
}

async function guardrailFor(context: ControlContext, idOrSlug: string, verb: Verb): Promise<Stored<GuardrailRow>> {
  const stored = await guardrailOf(context, idOrSlug);
  requireFor(context, stored.row.workspaceId, verb);
  return stored;
}

const summary = (row: GuardrailRow): Reply => ({
  id: row.id, object: 'guardrail', name: row.name, slug: row.slug, organisation_id: row.organisationId, workspace_id: row.workspaceId, status: 'active', version_id: row.versionId, version: row.version,
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), owner_id: row.ownerId, updated_by: row.updatedBy,
});
const written = (row: GuardrailRow): Reply => ({ id: row.id, slug: row.slug, version_id: row.versionId, object: 'guardrail' });
const sealed = (context: ControlContext, id: string, definition: GuardrailDefinition): string => context.sealer.seal(JSON.stringify(definition), placeOf(guardrails, id, 'sealedDefinition'));

/** A side that has lost its last check would refuse the calls of whoever names the guardrail there. Throws ROW_IN_USE. */
async function refuseLostSide(context: ControlContext, row: GuardrailRow, before: GuardrailDefinition | null, after: GuardrailDefinition): Promise<void> {
  const { registry } = context.services;
  const left = await sidesOfChecks(after.checks, registry);
  if ([...await sidesOfChecks(before?.checks ?? [], registry)].every((side) => left.has(side))) return;
  const users = await usersOf(context, row);
  if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'guardrail', id: row.slug, users: users.join(', '), advice: 'keep a check for each side, input and output, that it had one for, or change them first', param: 'checks' });
}

export const guardrailsResource = defineResource({
  name: 'guardrails',
  kind: 'guardrail',
  operations: {
    create: operation({
      method: 'POST', path: '/guardrails', scope: null, action: 'created', body: object({ name: nameField(), slug: Type.Optional(slugField()), checks: checksField, actions: actionsField }), reply: writtenReply,
      handle: async (context, { body }) => {
        const workspaceId = (await context.workspaceIfNamed())?.id ?? null;
        requireFor(context, workspaceId, 'create');
        const definition = { checks: await checkedChecks(context, body.checks, null), actions: actionsOf(body.actions) };
        const { organisationId } = context.caller;
        // It would run in place of the organisation's wherever that is named by its slug, in the workspace's own defaults too.
        if (workspaceId !== null && body.slug !== undefined && await context.repository.find(guardrails, 'slug', [organisationId, '', body.slug]) !== undefined) throw fail('ROW_EXISTS', { kind: 'guardrail of the organisation', id: body.slug, param: 'slug' });
        const slug = await freeSlug(context, guardrails, 'guardrail', [organisationId, workspaceId ?? ''], body.slug, () => slugFrom(body.name, { prefix: 'pg', nameCharsMax: slugNameChars }));
        const id = context.newId();
        const row: GuardrailRow = {
          id, organisationId, workspaceId, slug, name: body.name, versionId: context.newId(), version: 1, sealedDefinition: sealed(context, id, definition),
          ownerId: context.actorId, updatedBy: null, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        context.change.insert(guardrails, row);
        return written(row);
      },
    }),
    list: operation({
      method: 'GET', path: '/guardrails', scope: null, reply: object({ object: Type.Literal('list'), total: Type.Integer(), data: Type.Array(object(summaryMembers)) }),
      query: object({ ...pageQuery(), ids: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000, description: 'ids or slugs, parted by commas' })) }),
      handle: async (context, { query: { ids, ...page } }) => {
        const workspaceId = (await context.workspaceIfNamed())?.id ?? null;
        requireFor(context, workspaceId, 'list');
        const at = { index: 'workspace', parts: [context.caller.organisationId, workspaceId ?? ''] };
        if (ids === undefined) return pageOf(context, guardrails, at, page, ({ row }) => summary(row));
        const wanted = new Set(ids.split(',').map((id) => id.trim()).filter((id) => id !== ''));
        if (wanted.size > idsMax) throw fail('FIELD_INVALID', { param: 'ids', reason: `names more than ${idsMax}` });
        return filteredPage(context, guardrails, at, page, ({ id, slug }) => wanted.has(id) || wanted.has(slug), ({ row }) => summary(row));
      },
    }),
    read: operation({
      method: 'GET', path: '/guardrails/{guardrailId}', scope: null, reply: object({ ...summaryMembers, checks: checksReply, actions: actionsReply }),
      handle: async (context, { params }) => {
        const { row } = await guardrailFor(context, params.guardrailId ?? '', 'read');
        const definition = definitionOf(context, row);
        if (definition === null) throw fail('ACTION_UNTIMELY', { reason: `the checks of guardrail ${row.slug} were left out of a backup or given up, since they may hold secrets; store them again with PUT` });
        return { ...summary(row), checks: await shownChecks(context, definition.checks), actions: definition.actions };
      },
    }),
    update: operation({
      method: 'PUT', path: '/guardrails/{guardrailId}', scope: null, action: 'updated', reply: writtenReply,
      body: object({ name: Type.Optional(nameField()), checks: Type.Optional(checksField), actions: Type.Optional(actionsField) }),
      handle: async (context, { params, body }) => {
        const stored = await guardrailFor(context, params.guardrailId ?? '', 'update');
        const { row } = stored;
        const before = definitionOf(context, row);
        if (before === null && (body.checks === undefined || body.actions === undefined)) throw fail('ACTION_UNTIMELY', { reason: `the checks of guardrail ${row.slug} were left out of a backup or given up; give checks and actions` });
        const definition: GuardrailDefinition = {
          checks: body.checks === undefined ? before?.checks ?? [] : await checkedChecks(context, body.checks, before?.checks ?? null),
          actions: body.actions === undefined && before !== null ? before.actions : actionsOf(body.actions ?? {}),
        };
        if (body.checks !== undefined) await refuseLostSide(context, row, before, definition);
        const isSame = isDeepStrictEqual(definition, before) && (body.name ?? row.name) === row.name;
        const after: GuardrailRow = {
          ...row, name: body.name ?? row.name, updatedBy: context.actorId, updatedAtMs: context.nowMs,
          ...(isSame ? {} : { versionId: context.newId(), version: row.version + 1, sealedDefinition: sealed(context, row.id, definition) }),
        };
        context.change.update(stored, after);
        return written(after);
      },
    }),
    invoke: operation({
      method: 'POST', path: '/guardrails/{guardrailId}/invoke', scope: 'guardrails.invoke', body: invokeFields, reply: invokeReply,
      handle: async (context, { params, body }) => invokeGuardrail(context, (await guardrailOf(context, params.guardrailId ?? '')).row, body),
    }),
    delete: operation({
      method: 'DELETE', path: '/guardrails/{guardrailId}', scope: null, action: 'deleted', reply: object({}),
      handle: async (context, { params }) => {
        const stored = await guardrailFor(context, params.guardrailId ?? '', 'delete');
        const users = await usersOf(context, stored.row);
        if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'guardrail', id: stored.row.slug, users: users.join(', '), advice: 'change them first' });
        context.change.remove(stored);
        return {};
      },
    }),
  },
});
