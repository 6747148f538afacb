import { plainEmail } from '../../../auth/email.js';
import { hashKey } from '../../../auth/key.js';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { formerUsers } from '../../../storage/tables/former-users.js';
import { invites } from '../../../storage/tables/invites.js';
import { sessions } from '../../../storage/tables/sessions.js';
import { organisationRoles, users, type UserRow } from '../../../storage/tables/users.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, listReply, nothing } from '../../envelope.js';
import { pageOf, pageQuery } from '../../paging.js';
import { hold, membershipOf, userAt } from '../people/find-person.js';
import { checkOrganisationGrant } from '../people/grants.js';
import { membershipsOf } from '../people/membership.js';
import { userReply, userView } from '../people/person-view.js';
import { removeUserKeys } from '../people/user-keys.js';

const listQuery = object({ ...pageQuery(), role: Type.Optional(choice(organisationRoles)), email: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })) });
const updateFields = object({ role: choice(['admin', 'member']) });

/** Sessions and invites of one person that are ended in one change. */
const rowsMax = 10_000;

async function listUsers(context: ControlContext, { role, email, ...page }: Static<typeof listQuery>): Promise<Reply> {
  const { repository, caller } = context;
  if (email !== undefined) {
    const found = await repository.find(users, 'email', [caller.organisationId, plainEmail(email)]);
    const isWanted = found !== undefined && (role === undefined || found.row.role === role);
    return listReply(isWanted ? 1 : 0, isWanted && (page.current_page ?? 0) === 0 ? [await userView(context, found.row)] : []);
  }
  const at = role === undefined ? { index: 'organisation', parts: [caller.organisationId] } : { index: 'role', parts: [caller.organisationId, role] };
  return pageOf(context, users, at, page, ({ row }) => userView(context, row));
}

/** Throws ACTION_FORBIDDEN for an owner, unless another owner asks and one is left; that one is there still when the change is written. */
async function checkOwner(context: ControlContext, { row }: Stored<UserRow>): Promise<void> {
  if (row.role !== 'owner') return;
  const others = (await context.repository.list(users, { index: 'role', parts: [row.organisationId, 'owner'], limit: 2 })).filter((each) => each.row.id !== row.id);
  const [other] = others;
  if (context.caller.person?.role !== 'owner') throw fail('ACTION_FORBIDDEN', { reason: 'an owner of the organisation is changed and removed by owners alone' });
  if (other === undefined) throw fail('ACTION_FORBIDDEN', { reason: 'this is the last owner of the organisation' });
  hold(context, other);
}

async function updateUser(context: ControlContext, id: string, { role }: Static<typeof updateFields>): Promise<Reply> {
  const stored = await userAt(context, id);
  const { row } = stored;
  await checkOwner(context, stored);
  if (row.role === role) throw fail('FIELD_INVALID', { param: 'role', reason: 'is the role that this user has' });
  checkOrganisationGrant(context, role);
  context.change.update(stored, { ...row, role, updatedAtMs: context.nowMs });
  if (role === 'member') {
    // An admin needs no membership for a key; a member does.
    await removeUserKeys(context, row.id, async (workspaceId) => await membershipOf(context, workspaceId, row.id) === undefined);
    await cancelInvites(context, row.id);
  }
  context.auditDetails.role_before = row.role;
  return {};
}

/** Cancels the invites that a user has sent, when the user may not invite any more. */
async function cancelInvites({ repository, change, nowMs }: ControlContext, userId: string): Promise<void> {
  for (const invite of await repository.list(invites, { index: 'inviter', parts: [userId], limit: rowsMax })) change.update(invite, { ...invite.row, status: 'cancelled', updatedAtMs: nowMs });
}

async function removeUser(context: ControlContext, id: string): Promise<Reply> {
  const stored = await userAt(context, id);
  await checkOwner(context, stored);
  const { repository, change } = context;
  const { row } = stored;
  change.remove(stored);
  change.insert(formerUsers, { id: row.id, organisationId: row.organisationId, emailHash: hashKey(row.email), removedAtMs: context.nowMs });
  for (const member of await membershipsOf(context, row.id)) change.remove(member);
  await removeUserKeys(context, row.id, () => true);
  for (const session of await repository.list(sessions, { index: 'user', parts: [row.id], limit: rowsMax })) change.remove(session);
  await cancelInvites(context, row.id);
  context.auditDetails.email = row.email;
  return {};
}

export const usersResource = defineResource({
  name: 'users',
  kind: 'user',
  operations: {
    list: operation({
      method: 'GET', path: '/admin/users', aliases: ['/users'], scope: 'organisation_users.list', query: listQuery, reply: listOf(userReply),
      handle: (context, { query }) => listUsers(context, query),
    }),
    read: operation({
      method: 'GET', path: '/admin/users/{userId}', aliases: ['/users/{userId}'], scope: 'organisation_users.read', reply: userReply,
      handle: async (context, { params }) => userView(context, (await userAt(context, params.userId ?? '')).row),
    }),
    update: operation({
      method: 'PUT', path: '/admin/users/{userId}', aliases: ['/users/{userId}'], scope: 'organisation_users.update', action: 'updated', body: updateFields, reply: nothing,
      handle: (context, { params, body }) => updateUser(context, params.userId ?? '', body),
    }),
    remove: operation({
      method: 'DELETE', path: '/admin/users/{userId}', aliases: ['/users/{userId}'], scope: 'organisation_users.delete', action: 'deleted', reply: nothing,
      handle: (context, { params }) => removeUser(context, params.userId ?? ''),
    }),
  },
});
