import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';

/** Of the path: id or slug. A key of a workspace reaches its own alone. Throws ROW_UNKNOWN, WORKSPACE_FOREIGN. */
export async function workspaceAt(context: ControlContext, idOrSlug: string): Promise<Stored<WorkspaceRow>> {
  const { caller } = context;
  const stored = await context.byIdOrSlug(workspaces, idOrSlug, [caller.organisationId]);
  const named = { kind: 'workspace', id: idOrSlug.slice(0, 64) };
  const isOurs = stored !== undefined && stored.row.organisationId === caller.organisationId;
  // Which others there are is nothing that a locked key learns.
  if (!context.isOrganisationKey && (!isOurs || stored.row.id !== caller.workspaceId)) throw fail('WORKSPACE_FOREIGN', named);
  if (!isOurs) throw fail(stored === undefined ? 'ROW_UNKNOWN' : 'WORKSPACE_FOREIGN', named);
  const other = context.workspaceId === undefined ? undefined : await context.workspace();
  if (other !== undefined && other.id !== stored.row.id) throw fail('FIELD_INVALID', { param: 'workspace_id', reason: 'is not the workspace that the path names' });
  context.subject = stored;
  return stored;
}

/** The same; an archived one is there to be read, no more. */
export async function activeWorkspaceAt(context: ControlContext, idOrSlug: string): Promise<Stored<WorkspaceRow>> {
  const stored = await workspaceAt(context, idOrSlug);
  if (stored.row.status === 'archived') throw fail('ACTION_UNTIMELY', { reason: `the workspace ${stored.row.slug} is archived, and nothing about it can be changed` });
  return stored;
}
