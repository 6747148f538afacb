// People decide about nobody who is above them in the workspace: not about the role, and not about the keys.

import { isAbove } from '../../../auth/roles.js';
import { fail } from '../../../errors/gateway-error.js';
import type { ApiKeyRow, KeyType } from '../../../storage/tables/api-keys.js';
import type { WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import type { ControlContext, Person } from '../../context.js';
import { membershipOf, roleOf, userById } from '../people/find-person.js';

/** Null: a service, which its scopes alone limit. */
function rankOf(person: Person | undefined): WorkspaceRole | null {
  if (person === undefined) return null;
  if (person.role === 'owner') return 'admin';
  return person.role === 'none' ? 'member' : person.role;
}

/** Throws ACTION_FORBIDDEN when somebody of this role is above the caller; null is nobody's. */
export function checkRank({ caller }: ControlContext, role: WorkspaceRole | null): void {
  const own = rankOf(caller.person);
  if (own !== null && role !== null && isAbove(role, own)) throw fail('ACTION_FORBIDDEN', { reason: `a ${own} of the workspace decides about no ${role} of it` });
}

/** Whoever reads the secret of a key can act for its user. */
export async function checkKeyRank(context: ControlContext, { userId, workspaceId }: ApiKeyRow): Promise<void> {
  if (userId === null || workspaceId === null || userId === context.caller.person?.userId) return;
  const user = await userById(context, userId);
  if (user !== undefined) checkRank(context, roleOf(user.row, (await membershipOf(context, workspaceId, userId))?.row));
}

const peopleScopes: readonly string[] = ['workspace_users.create', 'workspace_users.update', 'workspace_users.delete', 'workspace_user_api_keys.create', 'workspace_user_api_keys.rotate'];

/** A service has no rank: with such a key, whoever made it could make an admin of himself, or a key that acts for one. Throws ACTION_FORBIDDEN. */
export function checkServiceRank({ caller }: ControlContext, type: KeyType, scopes: readonly string[]): void {
  const own = rankOf(caller.person);
  if (type !== 'workspace-service' || own === null || !isAbove('admin', own)) return;
  const scope = scopes.find((each) => peopleScopes.includes(each));
  if (scope !== undefined) throw fail('ACTION_FORBIDDEN', { reason: `a ${own} of the workspace gives no key of a service the scope ${scope}, which decides about admins` });
}
