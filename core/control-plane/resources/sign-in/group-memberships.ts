// Updates the workspaces of a person from the groups that the identity provider named at the sign-in. Memberships that came from groups follow the groups;
// memberships and roles that somebody has set stay.

import { isAbove } from '../../../auth/roles.js';
import { scimGroups } from '../../../storage/tables/scim-groups.js';
import { scimMappings } from '../../../storage/tables/scim-mappings.js';
import type { UserRow } from '../../../storage/tables/users.js';
import type { WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { hasOwnKey, join, leave, membershipsMax, membershipsOf } from '../people/membership.js';

/** `taken`: workspaces that the person joins with this change already. */
export async function followGroups(
  context: ControlContext, settings: Readonly<Record<string, unknown>>, user: UserRow, groups: readonly string[], isNew: boolean, taken: readonly string[],
): Promise<void> {
  const wanted = await rolesBy(context, user.organisationId, groups);
  for (const id of taken) wanted.delete(id);
  for (const stored of isNew ? [] : await membershipsOf(context, user.id)) {
    const { workspaceId, origin, role: before } = stored.row;
    const role = wanted.get(workspaceId);
    wanted.delete(workspaceId);
    if (origin === 'direct') continue;
    if (role === undefined) await leave(context, stored);
    else if (role !== before) context.change.update(stored, { ...stored.row, role, updatedAtMs: context.nowMs });
  }
  for (const [workspaceId, role] of wanted) {
    if ((await context.repository.get(workspaces, workspaceId))?.row.status !== 'active') continue;
    join(context, settings, { user, workspaceId, role, origin: 'groups', keyScopes: null, hasKey: hasOwnKey(settings, isNew), isShown: false });
  }
}

/** The highest role of each workspace. */
async function rolesBy(context: ControlContext, organisationId: string, groups: readonly string[]): Promise<Map<string, WorkspaceRole>> {
  const { repository } = context;
  const roles = new Map<string, WorkspaceRole>();
  for (const name of groups) {
    const byId = await context.byId(scimGroups, name);
    const group = byId?.row.organisationId === organisationId ? byId : await repository.find(scimGroups, 'name', [organisationId, name]);
    if (group === undefined) continue;
    for (const { row } of await repository.list(scimMappings, { index: 'group', parts: [group.row.id], limit: membershipsMax })) {
      const before = roles.get(row.workspaceId);
      if (before === undefined || isAbove(row.role, before)) roles.set(row.workspaceId, row.role);
    }
  }
  return roles;
}
