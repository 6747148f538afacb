import { plainEmail } from '../../../auth/email.js';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { users } from '../../../storage/tables/users.js';
import { workspaceMembers, workspaceRoles, type WorkspaceMemberRow } from '../../../storage/tables/workspace-members.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, listReply, nothing } from '../../envelope.js';
import { PageRows, pageQuery } from '../../paging.js';
import { checkRank } from '../api-keys/key-rank.js';
import { hold, membershipOf, namedUser, settingsOf, userById } from '../people/find-person.js';
import { checkGrant } from '../people/grants.js';
import { hasOwnKey, join, leave } from '../people/membership.js';
import { memberReply, memberView } from '../people/person-view.js';
import { activeWorkspaceAt, workspaceAt } from '../workspaces/workspace-access.js';

const usersMax = 500;
const pageSize = 50;

const addFields = object({
  users: Type.Array(object({ id: Type.String({ format: 'uuid' }), role: choice(workspaceRoles) }), { minItems: 1, maxItems: usersMax }),
});
const updateFields = object({ role: choice(workspaceRoles) });
const listQuery = object({ ...pageQuery(pageSize), role: Type.Optional(choice(workspaceRoles)), email: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })) });

async function addMembers(context: ControlContext, workspaceId: string, given: Static<typeof addFields>): Promise<Reply> {
  const { row: workspace } = await activeWorkspaceAt(context, workspaceId);
  context.subject = null;
  const settings = await settingsOf(context, workspace.organisationId);
  const seen = new Set<string>();
  for (const [index, { id, role }] of given.users.entries()) {
    const param = `users.${index}.id`;
    if (seen.has(id)) throw fail('FIELD_INVALID', { param, reason: 'names a user twice' });
    seen.add(id);
    checkGrant(context, role, settings);
    const user = await namedUser(context, id, param);
    if (await membershipOf(context, workspace.id, user.row.id) !== undefined) throw fail('ROW_EXISTS', { param, kind: 'member', id: user.row.email });
    hold(context, user);
    join(context, settings, { user: user.row, workspaceId: workspace.id, role, origin: 'direct', keyScopes: null, hasKey: hasOwnKey(settings, false), isShown: false });
  }
  context.auditDetails.workspace_id = workspace.id;
  return {};
}

async function listMembers(context: ControlContext, workspaceId: string, { role, email, current_page = 0, page_size = pageSize }: Static<typeof listQuery>): Promise<Reply> {
  const workspace = await workspaceAt(context, workspaceId);
  context.subject = null;
  const { repository } = context;
  const settings = await settingsOf(context, workspace.row.organisationId);
  const shown = new PageRows();
  const show = async (member: WorkspaceMemberRow): Promise<void> => {
    const user = await repository.get(users, member.userId);
    if (user !== undefined) shown.add(memberView(user.row, member, settings));
  };
  if (email !== undefined) {
    const user = await repository.find(users, 'email', [workspace.row.organisationId, plainEmail(email)]);
    const member = user === undefined ? undefined : await membershipOf(context, workspace.row.id, user.row.id);
    const isWanted = member !== undefined && (role === undefined || member.row.role === role);
    if (isWanted && current_page === 0) await show(member.row);
    return listReply(isWanted ? 1 : 0, shown.rows);
  }
  const at = { index: 'workspace', parts: [workspace.row.id] };
  const first = current_page * page_size;
  if (role === undefined) {
    for await (const { row } of repository.page(workspaceMembers, { ...at, limit: page_size, offset: first, reverse: true })) await show(row);
    return listReply(await repository.count(workspaceMembers, at.index, at.parts), shown.rows);
  }
  let total = 0;
  for await (const { row } of repository.each(workspaceMembers, { ...at, reverse: true })) {
    if (row.role !== role) continue;
    if (total >= first && total < first + page_size) await show(row);
    total += 1;
  }
  return listReply(total, shown.rows);
}

/** Of the path. Throws ROW_UNKNOWN for who is no member. */
async function memberAt(context: ControlContext, workspaceId: string, userId: string, find: (context: ControlContext, id: string) => Promise<Stored<WorkspaceRow>>): Promise<Stored<WorkspaceMemberRow>> {
  const workspace = await find(context, workspaceId);
  const user = await userById(context, userId);
  const member = user === undefined ? undefined : await membershipOf(context, workspace.row.id, user.row.id);
  if (member === undefined) throw fail('ROW_UNKNOWN', { kind: 'member', id: userId.slice(0, 64) });
  context.subject = member;
  return member;
}

async function readMember(context: ControlContext, workspaceId: string, userId: string): Promise<Reply> {
  const { row } = await memberAt(context, workspaceId, userId, workspaceAt);
  const user = await namedUser(context, row.userId, 'userId');
  return memberView(user.row, row, await settingsOf(context, row.organisationId));
}

async function updateMember(context: ControlContext, workspaceId: string, userId: string, { role }: Static<typeof updateFields>): Promise<Reply> {
  const stored = await memberAt(context, workspaceId, userId, activeWorkspaceAt);
  checkRank(context, stored.row.role);
  checkGrant(context, role, await settingsOf(context, stored.row.organisationId));
  // Somebody decided: from now on the groups of a sign-in do not.
  context.change.update(stored, { ...stored.row, role, origin: 'direct', updatedAtMs: context.nowMs });
  context.auditDetails.role_before = stored.row.role;
  return {};
}

async function removeMember(context: ControlContext, workspaceId: string, userId: string): Promise<Reply> {
  const stored = await memberAt(context, workspaceId, userId, workspaceAt);
  checkRank(context, stored.row.role);
  await leave(context, stored);
  return {};
}

const paths = (rest: string): { readonly path: string; readonly aliases: readonly string[] } => ({ path: `/admin/workspaces/{workspaceId}/users${rest}`, aliases: [`/workspaces/{workspaceId}/users${rest}`] });

export const workspaceMembersResource = defineResource({
  name: 'workspace-members',
  kind: 'member',
  operations: {
    add: operation({
      method: 'POST', ...paths(''), scope: 'workspace_users.create', action: 'created', body: addFields, reply: nothing,
      handle: (context, { params, body }) => addMembers(context, params.workspaceId ?? '', body),
    }),
    list: operation({
      method: 'GET', ...paths(''), scope: 'workspace_users.list', query: listQuery, reply: listOf(memberReply),
      handle: (context, { params, query }) => listMembers(context, params.workspaceId ?? '', query),
    }),
    read: operation({
      method: 'GET', ...paths('/{userId}'), scope: 'workspace_users.read', reply: memberReply,
      handle: (context, { params }) => readMember(context, params.workspaceId ?? '', params.userId ?? ''),
    }),
    update: operation({
      method: 'PUT', ...paths('/{userId}'), scope: 'workspace_users.update', action: 'updated', body: updateFields, reply: nothing,
      handle: (context, { params, body }) => updateMember(context, params.workspaceId ?? '', params.userId ?? '', body),
    }),
    remove: operation({
      method: 'DELETE', ...paths('/{userId}'), scope: 'workspace_users.delete', action: 'deleted', reply: nothing,
      handle: (context, { params }) => removeMember(context, params.workspaceId ?? '', params.userId ?? ''),
    }),
  },
});
