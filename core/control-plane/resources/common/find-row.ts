// A row that a path names: by its id anywhere, by its slug in the workspace that the key or the call says, or, for an organisation key that says none,
// by a slug that only one row of the organisation has.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import type { Row, Table } from '../../../storage/define-table.js';
import type { ControlContext } from '../../context.js';

export interface Owned extends Row {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
}

const idShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const idCharsShown = 64;

/**
 * The row, noted as what the call is about. The table has the indexes `slug` (`partsOfSlug` says of which parts) and `organisation-slug`. Throws
 * ROW_UNKNOWN, WORKSPACE_FOREIGN, WORKSPACE_MISSING.
 */
export async function findRow<R extends Owned>(
  context: ControlContext, table: Table<R>, kind: string, idOrSlug: string,
  { isThere, slugParts = (workspaceId) => [workspaceId] }: { readonly isThere: (row: R) => boolean; readonly slugParts?: (workspaceId: string) => readonly string[] },
): Promise<Stored<R>> {
  const { caller, repository } = context;
  const shown = idOrSlug.slice(0, idCharsShown);
  const workspace = await context.workspaceIfNamed();
  let stored = idShape.test(idOrSlug) ? await repository.get(table, idOrSlug) : undefined;
  if (stored === undefined && workspace !== undefined) {
    stored = await repository.find(table, 'slug', [...slugParts(workspace.id), idOrSlug]);
  } else if (stored === undefined) {
    const [first, second] = await repository.list(table, { index: 'organisation-slug', parts: [caller.organisationId, idOrSlug], limit: 2 });
    if (second !== undefined) throw fail('FIELD_INVALID', { param: 'workspace_id', reason: `is needed: more than one workspace has a ${kind} ${shown}` });
    stored = first;
  }
  if (stored === undefined || !isThere(stored.row)) throw fail('ROW_UNKNOWN', { kind, id: shown });
  const { organisationId, workspaceId } = stored.row;
  const isForeign = organisationId !== caller.organisationId || (workspace !== undefined && workspaceId !== null && workspaceId !== workspace.id);
  if (isForeign) throw fail('WORKSPACE_FOREIGN', { kind, id: shown });
  context.subject = stored;
  return stored;
}
