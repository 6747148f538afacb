// Collections of prompts. Each workspace has a default one, from the start: its id is that of the workspace, and it is in no row until somebody names it.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { promptCollections, type PromptCollectionRow } from '../../../storage/tables/prompts.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { findRow, idCharsShown } from '../common/find-row.js';

export const defaultSlug = 'default';

interface FoundCollection {
  readonly row: PromptCollectionRow;
  /** Null: the default one, which is in no row yet. */
  readonly stored: Stored<PromptCollectionRow> | null;
}

export const isDefault = (row: PromptCollectionRow): boolean => row.id === row.workspaceId;

export const defaultCollection = ({ id, organisationId, createdAtMs }: WorkspaceRow): PromptCollectionRow =>
  ({ id, organisationId, workspaceId: id, slug: defaultSlug, name: 'Default', parentId: null, createdBy: 'gateway', createdAtMs, updatedAtMs: createdAtMs });

const defaultOf = async (context: ControlContext, workspace: WorkspaceRow): Promise<FoundCollection> => {
  const stored = await context.repository.get(promptCollections, workspace.id);
  return stored === undefined ? { row: defaultCollection(workspace), stored: null } : { row: stored.row, stored };
};

/** One that a path names, by its id or slug. Throws as findRow. */
export async function collectionAt(context: ControlContext, idOrSlug: string): Promise<FoundCollection> {
  const workspace = await context.workspaceIfNamed() ?? (await context.repository.get(workspaces, idOrSlug))?.row;
  const isOwn = workspace?.organisationId === context.caller.organisationId;
  if (workspace !== undefined && isOwn && (idOrSlug === workspace.id || idOrSlug === defaultSlug)) {
    const found = await defaultOf(context, workspace);
    context.subject = found.stored;
    return found;
  }
  if ((await context.repository.get(workspaces, idOrSlug)) !== undefined) throw fail('WORKSPACE_FOREIGN', { kind: 'collection', id: idOrSlug.slice(0, idCharsShown) });
  const stored = await findRow(context, promptCollections, 'collection', idOrSlug);
  return { row: stored.row, stored };
}

/** One that a body names, by its id or slug; the default one when it names none. Throws REFERENCE_UNKNOWN. */
export async function collectionNamed(context: ControlContext, workspace: WorkspaceRow, idOrSlug: string | null | undefined, param: string): Promise<PromptCollectionRow> {
  if (idOrSlug === undefined || idOrSlug === null || idOrSlug === workspace.id || idOrSlug === defaultSlug) return (await defaultOf(context, workspace)).row;
  const stored = await context.byIdOrSlug(promptCollections, idOrSlug, [workspace.id]);
  if (stored === undefined || stored.row.workspaceId !== workspace.id) throw fail('REFERENCE_UNKNOWN', { param, kind: 'collection', id: `${idOrSlug.slice(0, idCharsShown)} in this workspace` });
  return stored.row;
}
