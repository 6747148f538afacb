// How replies show people.

import { organisationRoles, type UserRow } from '../../../storage/tables/users.js';
import { scopesOfRole } from '../../../auth/roles.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { workspaceRoles, type WorkspaceMemberRow } from '../../../storage/tables/workspace-members.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { named, time, timeText } from '../../envelope.js';
import { membershipsOf } from './membership.js';

export const userReply = named('User', object({
  object: choice(['user']), id: Type.String(), first_name: Type.String(), last_name: Type.String(), role: choice(organisationRoles), email: Type.String(), created_at: timeText(), last_updated_at: timeText(),
  workspace_ids: Type.Array(Type.String()),
}));

export const memberReply = named('WorkspaceMember', object({
  object: choice(['workspace-user']), id: Type.String(), first_name: Type.String(), last_name: Type.String(), org_role: choice(organisationRoles), role: choice(workspaceRoles), created_at: timeText(),
  last_updated_at: timeText(), status: choice(['active']), workspace_id: Type.String(), email: Type.String(), scopes: Type.Array(Type.String()), settings: Type.Null(),
}));

export async function userView(context: Pick<ControlContext, 'repository'>, row: UserRow): Promise<Reply> {
  return {
    object: 'user', id: row.id, first_name: row.firstName, last_name: row.lastName, role: row.role, email: row.email, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs),
    workspace_ids: (await membershipsOf(context, row.id)).map((each) => each.row.workspaceId),
  };
}

/** `settings` of the organisation. */
export const memberView = (user: UserRow, member: WorkspaceMemberRow, settings: Readonly<Record<string, unknown>>): Reply => ({
  object: 'workspace-user', id: user.id, first_name: user.firstName, last_name: user.lastName, org_role: user.role, role: member.role, created_at: time(member.createdAtMs),
  last_updated_at: time(member.updatedAtMs), status: 'active', workspace_id: member.workspaceId, email: user.email, scopes: scopesOfRole(user.role === 'member' ? member.role : 'admin', settings), settings: null,
});
