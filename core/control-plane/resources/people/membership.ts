// How people come into workspaces and leave them, whoever decides it: a caller, an invite, or the groups of a sign-in.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import type { UserRow } from '../../../storage/tables/users.js';
import { memberId, workspaceMembers, type WorkspaceMemberRow, type WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import type { ControlContext } from '../../context.js';
import { addUserKey, removeUserKeys, type MadeKey } from './user-keys.js';

/** Workspaces of one person. */
export const membershipsMax = 10_000;

interface Joining {
  readonly user: UserRow;
  readonly workspaceId: string;
  readonly role: WorkspaceRole;
  readonly origin: WorkspaceMemberRow['origin'];
  /** Of the key that is made with it; null: all that a key of a person can have. */
  readonly keyScopes: readonly string[] | null;
  readonly hasKey: boolean;
  /** The reply shows the key. */
  readonly isShown: boolean;
}

export function join(context: ControlContext, settings: Readonly<Record<string, unknown>>, { user, workspaceId, role, origin, keyScopes, hasKey, isShown }: Joining): MadeKey | undefined {
  const { nowMs } = context;
  context.change.insert(workspaceMembers, { id: memberId(workspaceId, user.id), organisationId: user.organisationId, workspaceId, userId: user.id, role, origin, createdAtMs: nowMs, updatedAtMs: nowMs });
  return hasKey ? addUserKey(context, settings, user, workspaceId, keyScopes, isShown) : undefined;
}

/** Whether somebody who is added to a workspace gets a key of it. `joins`: to the organisation at the same time. */
export const hasOwnKey = (settings: Readonly<Record<string, unknown>>, joins: boolean): boolean =>
  settings.default_workspace_user_api_key_auto_create === true || (joins && settings.user_api_key_auto_create === true);

export async function leave(context: ControlContext, stored: Stored<WorkspaceMemberRow>): Promise<void> {
  const { workspaceId, userId } = stored.row;
  context.change.remove(stored);
  await removeUserKeys(context, userId, (of) => of === workspaceId);
}

export async function membershipsOf({ repository }: Pick<ControlContext, 'repository'>, userId: string): Promise<Stored<WorkspaceMemberRow>[]> {
  const rows = await repository.list(workspaceMembers, { index: 'user', parts: [userId], limit: membershipsMax + 1 });
  if (rows.length > membershipsMax) throw fail('ROW_IN_USE', { kind: 'user', id: userId, users: `more than ${membershipsMax} workspaces`, advice: 'remove the user from some of them first' });
  return rows;
}
