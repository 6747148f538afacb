// Groups of the identity provider, and the workspaces that their people are members of. A sign-in names the groups of a person by id or name.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { object } from '../../../storage/schema-parts.js';
import { scimGroups, type ScimGroupRow } from '../../../storage/tables/scim-groups.js';
import { scimMappings, type ScimMappingRow } from '../../../storage/tables/scim-mappings.js';
import { workspaceRoles, type WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, named, time, timeText } from '../../envelope.js';
import { pageQuery, pageSizeDefault } from '../../paging.js';
import { settingsOf } from '../people/find-person.js';
import { checkGrant } from '../people/grants.js';

const groupsMax = 10_000;
const mappingsOfGroupMax = 10_000;
const countMax = 1_000;
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** Older clients write Admin, or ADMIN. */
const anyCase = (description?: string) => Type.String({ pattern: `^(?:${workspaceRoles.map((role) => [...role].map((char) => `[${char}${char.toUpperCase()}]`).join('')).join('|')})$`, examples: ['member'], ...(description === undefined ? {} : { description }) });
const groupName = () => Type.String({ minLength: 1, maxLength: 255 });

// `workspace_id` is taken out of query and body of every operation.
const createFields = object({ role: anyCase('admin, manager or member, in upper or lower case'), scim_group_id: Type.Optional(groupName()), scim_group_name: Type.Optional(groupName()) });
const listQuery = object({ ...pageQuery(), page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })), scim_group_id: Type.Optional(groupName()), role: Type.Optional(anyCase()) });
const groupsQuery = object({ startIndex: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })), count: Type.Optional(Type.Integer({ minimum: 0, maximum: countMax })) });

const mappingMembers = { id: idText(), workspace_id: idText(), scim_group: Type.String(), scim_group_id: idText(), role: Type.String({ enum: [...workspaceRoles] }) };
const mappingReply = named('ScimWorkspaceMapping', object(mappingMembers));
const groupsReply = object({
  schemas: Type.Array(Type.String()), totalResults: Type.Integer(), startIndex: Type.Integer(), itemsPerPage: Type.Integer(),
  Resources: Type.Array(object({
    schemas: Type.Array(Type.String()), id: idText(), displayName: Type.String(), meta: object({ resourceType: Type.Literal('Group'), created: timeText(), lastModified: timeText() }),
  })),
});

const roleFrom = (text: string): WorkspaceRole => workspaceRoles.find((role) => role === text.toLowerCase()) ?? 'member';

const mappingView = (row: ScimMappingRow, group: ScimGroupRow): Reply => ({ id: row.id, workspace_id: row.workspaceId, scim_group: group.name, scim_group_id: group.id, role: row.role });

async function groupById(context: ControlContext, id: string): Promise<Stored<ScimGroupRow> | undefined> {
  const stored = await context.byId(scimGroups, id);
  return stored?.row.organisationId === context.caller.organisationId ? stored : undefined;
}

/** Names of this form are those of groups that a workspace makes by itself. */
const automaticName = /^ws-.+-role-.+$/i;

async function groupOf(context: ControlContext, { scim_group_id: id, scim_group_name: name }: Static<typeof createFields>): Promise<{ readonly row: ScimGroupRow; readonly isNew: boolean }> {
  if ((id === undefined) === (name === undefined)) throw fail('FIELD_INVALID', { param: 'scim_group_id', reason: 'or scim_group_name is required, and only one of them' });
  const { repository, caller, nowMs } = context;
  if (id !== undefined) {
    const stored = await groupById(context, id);
    if (stored === undefined) throw fail('REFERENCE_UNKNOWN', { param: 'scim_group_id', kind: 'group', id: id.slice(0, 64) });
    refuseAutomatic(stored.row.name, 'scim_group_id');
    return { row: stored.row, isNew: false };
  }
  refuseAutomatic(name ?? '', 'scim_group_name');
  const known = await repository.find(scimGroups, 'name', [caller.organisationId, name ?? '']);
  if (known !== undefined) return { row: known.row, isNew: false };
  if (await repository.count(scimGroups, 'organisation', [caller.organisationId]) >= groupsMax) throw fail('ACTION_UNTIMELY', { reason: `there are ${groupsMax} groups already; delete some first` });
  return { row: { id: context.newId(), organisationId: caller.organisationId, name: name ?? '', createdAtMs: nowMs, updatedAtMs: nowMs }, isNew: true };
}

function refuseAutomatic(name: string, param: string): void {
  if (automaticName.test(name)) throw fail('FIELD_INVALID', { param, reason: 'is the name of a group that is made automatically (ws-...-role-...), and belongs to its workspace' });
}

const mappingsOf = ({ repository }: ControlContext, groupId: string): Promise<Stored<ScimMappingRow>[]> => repository.list(scimMappings, { index: 'group', parts: [groupId], limit: mappingsOfGroupMax });

async function createMapping(context: ControlContext, body: Static<typeof createFields>): Promise<Reply> {
  const workspace = await context.workspace();
  const role = roleFrom(body.role);
  checkGrant(context, role, await settingsOf(context, workspace.organisationId));
  const { row: group, isNew } = await groupOf(context, body);
  for (const { row } of isNew ? [] : await mappingsOf(context, group.id)) {
    if (row.role !== role) throw fail('FIELD_INVALID', { param: 'role', reason: `is not that which this group has elsewhere, which is ${row.role}; a group has one role` });
    if (row.workspaceId === workspace.id) throw fail('ROW_EXISTS', { param: 'workspace_id', kind: 'mapping', id: `of this group to ${workspace.slug}` });
  }
  const mapping: ScimMappingRow = { id: context.newId(), organisationId: workspace.organisationId, workspaceId: workspace.id, groupId: group.id, role, createdAtMs: context.nowMs };
  if (isNew) context.change.insert(scimGroups, group);
  else await hold(context, group);
  context.change.insert(scimMappings, mapping);
  return mappingView(mapping, group);
}

/** Two mappings of a group at the same time see each other. */
async function hold({ repository, change, nowMs }: ControlContext, { id }: ScimGroupRow): Promise<void> {
  const stored = await repository.get(scimGroups, id);
  if (stored !== undefined) change.update(stored, { ...stored.row, updatedAtMs: nowMs });
}

async function listMappings(context: ControlContext, workspace: WorkspaceRow | undefined, { page, current_page, page_size = pageSizeDefault, scim_group_id: groupId, role }: Static<typeof listQuery>): Promise<Reply> {
  const { repository, caller } = context;
  const first = (page ?? current_page ?? 0) * page_size;
  const wanted = role === undefined ? undefined : roleFrom(role);
  const at = workspace === undefined ? { index: 'organisation', parts: [caller.organisationId] } : { index: 'workspace', parts: [workspace.id] };
  const mappings: Reply[] = [];
  let total = 0;
  for await (const { row } of repository.each(scimMappings, { ...at, reverse: true })) {
    if ((groupId !== undefined && row.groupId !== groupId) || (wanted !== undefined && row.role !== wanted)) continue;
    const group = total >= first && total < first + page_size ? await repository.get(scimGroups, row.groupId) : undefined;
    if (group !== undefined) mappings.push(mappingView(row, group.row));
    total += 1;
  }
  return { mappings, total_count: total };
}

async function removeMapping(context: ControlContext, id: string): Promise<Reply> {
  const stored = await context.byId(scimMappings, id);
  if (stored === undefined || stored.row.organisationId !== context.caller.organisationId) throw fail('ROW_UNKNOWN', { kind: 'mapping', id: id.slice(0, 64) });
  const workspace = await context.workspaceIfNamed();
  if (workspace !== undefined && workspace.id !== stored.row.workspaceId) throw fail('WORKSPACE_FOREIGN', { kind: 'mapping', id });
  context.subject = stored;
  context.change.remove(stored);
  return { success: true };
}

async function listGroups({ repository, caller }: ControlContext, { startIndex = 1, count = 100 }: Static<typeof groupsQuery>): Promise<Reply> {
  const at = { index: 'organisation', parts: [caller.organisationId] };
  const rows = count === 0 ? [] : await repository.list(scimGroups, { ...at, limit: count, offset: startIndex - 1 });
  return {
    schemas: [listSchema], totalResults: await repository.count(scimGroups, at.index, at.parts), startIndex, itemsPerPage: rows.length,
    Resources: rows.map(({ row }) => ({ schemas: [groupSchema], id: row.id, displayName: row.name, meta: { resourceType: 'Group', created: time(row.createdAtMs), lastModified: time(row.updatedAtMs) } })),
  };
}

async function removeGroup(context: ControlContext, id: string): Promise<Reply> {
  const stored = await groupById(context, id);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'group', id: id.slice(0, 64) });
  context.subject = stored;
  context.change.remove(stored);
  for (const mapping of await mappingsOf(context, id)) context.change.remove(mapping);
  // RFC 7644, section 3.6.
  context.answer.status = 204;
  return {};
}

export const scimResource = defineResource({
  name: 'scim',
  kind: 'scim-mapping',
  operations: {
    list: operation({
      method: 'GET', path: '/scim/workspaces', scope: 'organisation_users.list', query: listQuery, reply: object({ mappings: Type.Array(mappingReply), total_count: Type.Integer() }),
      handle: async (context, { query }) => listMappings(context, await context.workspaceIfNamed(), query),
    }),
    create: operation({
      method: 'POST', path: '/scim/workspaces', scope: 'organisation_users.create', action: 'created', isAlone: countsRows, body: createFields, reply: mappingReply,
      handle: (context, { body }) => createMapping(context, body),
    }),
    remove: operation({
      method: 'DELETE', path: '/scim/workspaces/{scimWorkspaceGroupId}', scope: 'organisation_users.delete', action: 'deleted', reply: object({ success: Type.Literal(true) }),
      handle: (context, { params }) => removeMapping(context, params.scimWorkspaceGroupId ?? ''),
    }),
    listGroups: operation({
      method: 'GET', path: '/scim/Groups', scope: 'organisation_users.list', query: groupsQuery, reply: groupsReply,
      handle: (context, { query }) => listGroups(context, query),
    }),
    removeGroup: operation({
      method: 'DELETE', path: '/scim/Groups/{id}', scope: 'organisation_users.delete', action: 'deleted', status: 204, reply: object({}),
      handle: (context, { params }) => removeGroup(context, params.id ?? ''),
    }),
  },
});
