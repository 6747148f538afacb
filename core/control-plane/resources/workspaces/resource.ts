import { users } from '../../../storage/tables/users.js';
import { workspaceMembers } from '../../../storage/tables/workspace-members.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { object } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, nothing } from '../../envelope.js';
import { slugFrom } from '../../slugs.js';
import { hold, namedUser, settingsOf } from '../people/find-person.js';
import { checkGrant } from '../people/grants.js';
import { hasOwnKey, join } from '../people/membership.js';
import { memberView } from '../people/person-view.js';
import { deleteFields, deleteWorkspace } from './delete-workspace.js';
import { listQuery, listWorkspaces } from './list-workspaces.js';
import { activeWorkspaceAt, workspaceAt } from './workspace-access.js';
import { createFields, noDefaults, sharedMembers, updateFields } from './workspace-fields.js';
import { workspaceSchema, workspaceView } from './workspace-view.js';

async function createWorkspace(context: ControlContext, body: Static<typeof createFields>): Promise<Reply> {
  const { nowMs } = context;
  const members = await sharedMembers(context, body, { description: null, icon: null, defaults: noDefaults, usageLimits: [], rateLimits: [] }, null);
  const row: WorkspaceRow = {
    id: context.newId(), organisationId: context.caller.organisationId, slug: body.slug ?? slugFrom(body.name, { prefix: 'ws' }), name: body.name, status: 'active', isDefault: false,
    createdAtMs: nowMs, updatedAtMs: nowMs, ...members,
  };
  context.change.insert(workspaces, row);
  await addFirstMembers(context, row, body.users ?? []);
  return workspaceView(context, { row });
}

async function addFirstMembers(context: ControlContext, { id, organisationId }: WorkspaceRow, given: readonly string[]): Promise<void> {
  if (given.length === 0) return;
  const settings = await settingsOf(context, organisationId);
  checkGrant(context, 'member', settings);
  for (const [index, userId] of given.entries()) {
    const user = await namedUser(context, userId, `users.${index}`);
    hold(context, user);
    join(context, settings, { user: user.row, workspaceId: id, role: 'member', origin: 'direct', keyScopes: null, hasKey: hasOwnKey(settings, false), isShown: false });
  }
}

/** Longer lists are read by pages, from /workspaces/{id}/users. */
const membersShown = 1_000;

async function readWorkspace(context: ControlContext, idOrSlug: string): Promise<Reply> {
  const stored = await workspaceAt(context, idOrSlug);
  const { repository } = context;
  const settings = await settingsOf(context, stored.row.organisationId);
  const shown = [];
  for await (const { row } of repository.page(workspaceMembers, { index: 'workspace', parts: [stored.row.id], limit: membersShown, reverse: true })) {
    const user = await repository.get(users, row.userId);
    if (user !== undefined) shown.push(memberView(user.row, row, settings));
  }
  return { ...workspaceView(context, stored), users: shown };
}

async function updateWorkspace(context: ControlContext, idOrSlug: string, body: Static<typeof updateFields>): Promise<Reply> {
  const stored = await activeWorkspaceAt(context, idOrSlug);
  const { row } = stored;
  const { nowMs } = context;
  const members = await sharedMembers(context, body, row, row.id);
  context.change.update(stored, { ...row, ...members, name: body.name ?? row.name, updatedAtMs: nowMs, ...(body.reset_usage === true ? { lastResetAtMs: nowMs } : {}) });
  return {};
}

export const workspacesResource = defineResource({
  name: 'workspaces',
  kind: 'workspace',
  operations: {
    create: operation({
      method: 'POST', path: '/workspaces', aliases: ['/admin/workspaces'], scope: 'workspaces.create', action: 'created', body: createFields, reply: workspaceSchema,
      handle: (context, { body }) => createWorkspace(context, body),
    }),
    list: operation({
      method: 'GET', path: '/workspaces', aliases: ['/admin/workspaces'], scope: 'workspaces.list', query: listQuery, reply: listOf(workspaceSchema),
      handle: (context, { query }) => listWorkspaces(context, query),
    }),
    read: operation({
      method: 'GET', path: '/workspaces/{workspaceId}', aliases: ['/admin/workspaces/{workspaceId}'], scope: 'workspaces.read',
      reply: object({ ...workspaceSchema.properties, users: Type.Array(Type.Unknown()) }),
      handle: (context, { params }) => readWorkspace(context, params.workspaceId ?? ''),
    }),
    update: operation({
      method: 'PUT', path: '/workspaces/{workspaceId}', aliases: ['/admin/workspaces/{workspaceId}'], scope: 'workspaces.update', action: 'updated', body: updateFields, reply: nothing,
      handle: (context, { params, body }) => updateWorkspace(context, params.workspaceId ?? '', body),
    }),
    remove: operation({
      method: 'DELETE', path: '/workspaces/{workspaceId}', aliases: ['/admin/workspaces/{workspaceId}'], scope: 'workspaces.delete', action: 'deleted', body: deleteFields, reply: nothing,
      handle: (context, { params, body }) => deleteWorkspace(context, params.workspaceId ?? '', body),
    }),
  },
});
