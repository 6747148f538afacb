// Integrations as paths and bodies name them, and who may touch which: those of a workspace stand under other scopes than those of the organisation.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { accessOf, integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { findRow, idCharsShown } from '../common/find-row.js';

export type Verb = 'create' | 'read' | 'update' | 'delete' | 'list';

export const scopesOf = (verb: Verb): readonly string[] => [`organisation_integrations.${verb}`, `workspace_integrations.${verb}`];

export const requireLevel = (context: ControlContext, workspaceId: string | null, verb: Verb): void => context.require(`${workspaceId === null ? 'organisation' : 'workspace'}_integrations.${verb}`);

const isThere = (row: IntegrationRow): boolean => row.status === 'active' && !row.isPrivate;

/** Throws ROW_UNKNOWN, WORKSPACE_FOREIGN, SCOPE_MISSING. */
export async function integrationOf(context: ControlContext, idOrSlug: string, verb: Verb): Promise<Stored<IntegrationRow>> {
  const { organisationId } = context.caller;
  const stored = await findRow(context, integrations, 'integration', idOrSlug, { isThere, slugParts: (workspaceId) => [organisationId, workspaceId], sharedParts: [organisationId, ''] });
  requireLevel(context, stored.row.workspaceId, verb);
  return stored;
}

/** The one that a body names, for use in a workspace. Throws REFERENCE_UNKNOWN, WORKSPACE_FOREIGN. */
export async function integrationForUse(context: ControlContext, idOrSlug: string, workspace: WorkspaceRow): Promise<Stored<IntegrationRow>> {
  const { repository } = context;
  const { organisationId } = workspace;
  const stored = await context.byId(integrations, idOrSlug);
  const found = stored ?? await repository.find(integrations, 'slug', [organisationId, workspace.id, idOrSlug]) ?? await repository.find(integrations, 'slug', [organisationId, '', idOrSlug]);
  const id = idOrSlug.slice(0, idCharsShown);
  if (found === undefined || !isThere(found.row)) throw fail('REFERENCE_UNKNOWN', { kind: 'integration', id, param: 'integration_id' });
  if (found.row.organisationId !== organisationId || accessOf(found.row, workspace.id) === undefined) throw fail('WORKSPACE_FOREIGN', { kind: 'integration', id, param: 'integration_id' });
  return found;
}
