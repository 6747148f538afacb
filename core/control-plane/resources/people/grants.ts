// Nobody grants more than they have. Only callers who could hand out all scopes of a role in keys may give that role, and a person gives no role above their own,
// nor changes or removes people who are above them.

import { scopesOfRole } from '../../../auth/roles.js';
import { scopesOfType } from '../../../auth/scopes.js';
import type { OrganisationRole } from '../../../storage/tables/users.js';
import type { WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import type { ControlContext } from '../../context.js';
import { checkHandOut } from '../api-keys/key-access.js';
import { checkRank } from '../api-keys/key-rank.js';

/** Throws SCOPE_MISSING, ROLE_MISSING, ACTION_FORBIDDEN. */
export function checkGrant(context: ControlContext, role: WorkspaceRole, settings: Readonly<Record<string, unknown>>): void {
  checkRank(context, role);
  checkHandOut(context, scopesOfRole(role, settings));
}

/** An admin of the organisation may all that there is. */
export function checkOrganisationGrant(context: ControlContext, role: OrganisationRole): void {
  if (role !== 'member') checkHandOut(context, scopesOfType['organisation-service']);
}
