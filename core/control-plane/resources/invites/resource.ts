// Invites: no e-mail is sent. Whoever invites gets a link with a token, hands it on, and the person who brings the token back becomes a user.

import { plainEmail } from '../../../auth/email.js';
import { randomBytes } from 'node:crypto';
import { hashKey } from '../../../auth/key.js';
import { fail } from '../../../errors/gateway-error.js';
import { Change, type Stored } from '../../../storage/change.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { inviteStatuses, invites, type InviteRow, type InviteStatus } from '../../../storage/tables/invites.js';
import { users } from '../../../storage/tables/users.js';
import { workspaceRoles } from '../../../storage/tables/workspace-members.js';
import { Type, type Static } from '../../../storage/type.js';
import { nobody, type ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, named, nothing, time, timeText, timeOrNull } from '../../envelope.js';
import { isCommitted } from '../../jobs.js';
import { filteredPage, pageQuery } from '../../paging.js';
import { checkScopes } from '../api-keys/key-access.js';
import { settingsOf } from '../people/find-person.js';
import { checkGrant, checkOrganisationGrant } from '../people/grants.js';
import { acceptInvite } from './accept-invite.js';

const lifeMs = 7 * 86_400_000;
const tokenBytes = 32;
const workspacesMax = 100;
const scopesMax = 500;
const invitedRoles = ['admin', 'member'] as const;

const name = () => Type.Optional(Type.String({ maxLength: 255, default: '' }));
const createFields = object({
  email: Type.String({ format: 'email', maxLength: 320 }),
  role: choice(invitedRoles),
  workspaces: Type.Array(object({ id: Type.String({ minLength: 1, maxLength: 255, description: 'id or slug' }), role: choice(workspaceRoles) }), { maxItems: workspacesMax }),
  workspace_api_key_details: Type.Optional(orNull(object({ scopes: Type.Array(Type.String(), { maxItems: scopesMax, uniqueItems: true, description: 'of the key that is made in each of the workspaces' }) }))),
});
const acceptFields = object({ token: Type.String({ minLength: 1, maxLength: 255 }), first_name: name(), last_name: name() });
const listQuery = object({ ...pageQuery(), role: Type.Optional(choice(invitedRoles)), email: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })), status: Type.Optional(choice(inviteStatuses)) });

const inviteReply = named('Invite', object({
  object: choice(['invite']), id: Type.String(), email: Type.String(), role: choice(invitedRoles), created_at: timeText(), expires_at: timeText(), accepted_at: orNull(timeText()), status: choice(inviteStatuses),
  invited_by: Type.String(), workspaces: Type.Array(object({ id: Type.String(), role: choice(workspaceRoles) })),
}));
const acceptReply = object({
  object: choice(['user']), id: Type.String(), email: Type.String(), role: choice(invitedRoles), workspace_ids: Type.Array(Type.String()),
  api_keys: Type.Array(object({ id: Type.String(), key: Type.String(), workspace_id: Type.String() })),
});

const statusOf = ({ status, expiresAtMs }: InviteRow, nowMs: number): InviteStatus => (status === 'pending' && expiresAtMs <= nowMs ? 'expired' : status);

const view = (row: InviteRow, nowMs: number): Reply => ({
  object: 'invite', id: row.id, email: row.email, role: row.role, created_at: time(row.createdAtMs), expires_at: time(row.expiresAtMs), accepted_at: timeOrNull(row.acceptedAtMs), status: statusOf(row, nowMs),
  invited_by: row.invitedBy, workspaces: row.workspaces,
});

const makeToken = (): string => randomBytes(tokenBytes).toString('base64url');
/** The token is in the fragment, which browsers send to no server. */
const linkOf = (context: ControlContext, id: string, token: string): string => `${context.origin}/v1/admin/users/invites/${id}/accept#token=${token}`;

/** Of the path. Throws ROW_UNKNOWN. */
async function inviteAt(context: ControlContext, id: string): Promise<Stored<InviteRow>> {
  const stored = await context.byId(invites, id);
  if (stored === undefined || stored.row.organisationId !== context.caller.organisationId) throw fail('ROW_UNKNOWN', { kind: 'invite', id: id.slice(0, 64) });
  context.subject = stored;
  return stored;
}

async function createInvite(context: ControlContext, { email: given, role, workspaces: wanted, workspace_api_key_details }: Static<typeof createFields>): Promise<Reply> {
  const { repository, caller, nowMs } = context;
  const email = plainEmail(given);
  const settings = await settingsOf(context, caller.organisationId);
  checkOrganisationGrant(context, role);
  const places = new Map<string, InviteRow['workspaces'][number]>();
  for (const [index, each] of wanted.entries()) {
    const param = `workspaces.${index}.id`;
    const workspace = await context.namedWorkspace(each.id, param);
    if (places.has(workspace.id)) throw fail('FIELD_INVALID', { param, reason: 'names a workspace twice' });
    checkGrant(context, each.role, settings);
    places.set(workspace.id, { id: workspace.id, role: each.role });
  }
  const keyScopes = workspace_api_key_details?.scopes ?? null;
  if (keyScopes !== null) checkScopes(context, 'workspace-user', keyScopes);
  if (await repository.find(users, 'email', [caller.organisationId, email]) !== undefined) throw fail('ROW_EXISTS', { param: 'email', kind: 'user', id: email });
  const before = await repository.find(invites, 'pending', [caller.organisationId, email]);
  if (before !== undefined) {
    if (before.row.expiresAtMs > nowMs) throw fail('ROW_EXISTS', { param: 'email', kind: 'invite', id: `for ${email}` });
    const expiry = new Change();
    expiry.update(before, { ...before.row, status: 'expired', updatedAtMs: nowMs });
    // First, since no batch frees an entry of an index and takes it.
    await isCommitted(repository, expiry);
  }
  const token = makeToken();
  const row: InviteRow = {
    id: context.newId(), organisationId: caller.organisationId, email, role, workspaces: [...places.values()], keyScopes, tokenHash: hashKey(token), status: 'pending', invitedBy: context.actorId,
    createdAtMs: nowMs, updatedAtMs: nowMs, expiresAtMs: nowMs + lifeMs, acceptedAtMs: null, userId: null,
  };
  context.change.insert(invites, row);
  context.auditDetails.invite_id = row.id;
  return { id: row.id, invite_link: linkOf(context, row.id, token) };
}

async function resendInvite(context: ControlContext, id: string): Promise<Reply> {
  const stored = await inviteAt(context, id);
  const { row } = stored;
  const { nowMs } = context;
  if (row.status !== 'pending' && row.status !== 'expired') throw fail('ACTION_UNTIMELY', { reason: `the invite is ${row.status}` });
  // Sending an invite again grants its roles again, so the caller must be allowed to.
  const settings = await settingsOf(context, row.organisationId);
  checkOrganisationGrant(context, row.role);
  for (const { role } of row.workspaces) checkGrant(context, role, settings);
  if (row.keyScopes !== null) checkScopes(context, 'workspace-user', row.keyScopes);
  if (await context.repository.find(users, 'email', [row.organisationId, row.email]) !== undefined) throw fail('ROW_EXISTS', { param: 'email', kind: 'user', id: row.email });
  const token = makeToken();
  context.change.update(stored, { ...row, tokenHash: hashKey(token), status: 'pending', invitedBy: context.actorId, expiresAtMs: nowMs + lifeMs, updatedAtMs: nowMs });
  return { inviteLink: linkOf(context, row.id, token) };
}

async function cancelInvite(context: ControlContext, id: string): Promise<Reply> {
  const stored = await inviteAt(context, id);
  if (stored.row.status === 'accepted') throw fail('ACTION_UNTIMELY', { reason: 'the invite is accepted; remove the user instead' });
  context.change.update(stored, { ...stored.row, status: 'cancelled', updatedAtMs: context.nowMs });
  return {};
}

async function accept(context: ControlContext, id: string, { token, first_name = '', last_name = '' }: Static<typeof acceptFields>): Promise<Reply> {
  const stored = await context.byId(invites, id);
  // Who has no token learns nothing of the invite.
  if (stored === undefined || stored.row.tokenHash !== hashKey(token)) throw fail('ROW_UNKNOWN', { kind: 'invite with this token', id: id.slice(0, 64) });
  context.actor = { ...nobody, organisationId: stored.row.organisationId };
  const { user, workspaceIds, keys } = await acceptInvite(context, stored, { firstName: first_name, lastName: last_name }, null);
  context.auditDetails.user_id = user.id;
  return { object: 'user', id: user.id, email: user.email, role: user.role, workspace_ids: workspaceIds, api_keys: keys };
}

const paths = (rest: string): { readonly path: string; readonly aliases: readonly string[] } => ({ path: `/admin/users/invites${rest}`, aliases: [`/users/invites${rest}`] });

export const invitesResource = defineResource({
  name: 'invites',
  kind: 'invite',
  operations: {
    create: operation({
      method: 'POST', ...paths(''), scope: 'organisation_users.create', action: 'created', body: createFields, reply: object({ id: Type.String(), invite_link: Type.String({ format: 'uri' }) }),
      handle: (context, { body }) => createInvite(context, body),
    }),
    list: operation({
      method: 'GET', ...paths(''), scope: 'organisation_users.list', query: listQuery, reply: listOf(inviteReply),
      handle: (context, { query: { role, email, status, ...page } }) => filteredPage(
        context, invites, { index: 'organisation', parts: [context.caller.organisationId] }, page,
        (row) => (role === undefined || row.role === role) && (email === undefined || row.email === plainEmail(email)) && (status === undefined || statusOf(row, context.nowMs) === status),
        ({ row }) => view(row, context.nowMs),
      ),
    }),
    read: operation({
      method: 'GET', ...paths('/{inviteId}'), scope: 'organisation_users.read', reply: inviteReply,
      handle: async (context, { params }) => view((await inviteAt(context, params.inviteId ?? '')).row, context.nowMs),
    }),
    cancel: operation({
      method: 'DELETE', ...paths('/{inviteId}'), scope: 'organisation_users.delete', action: 'deleted', reply: nothing,
      handle: (context, { params }) => cancelInvite(context, params.inviteId ?? ''),
    }),
    resend: operation({
      method: 'POST', ...paths('/{inviteId}/resend'), scope: 'organisation_users.create', action: 'updated', reply: object({ inviteLink: Type.String({ format: 'uri' }) }),
      handle: (context, { params }) => resendInvite(context, params.inviteId ?? ''),
    }),
    accept: operation({
      method: 'POST', ...paths('/{inviteId}/accept'), scope: null, isPublic: true, action: 'updated', body: acceptFields, reply: acceptReply,
      handle: (context, { params, body }) => accept(context, params.inviteId ?? '', body),
    }),
  },
});
