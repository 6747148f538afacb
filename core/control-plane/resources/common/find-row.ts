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

export const idCharsShown = 64;

export interface FindOptions<R> {
  isThere?(row: R): boolean;
  /** Before the slug, in the index `slug`. */
  slugParts?(workspaceId: string): readonly string[];
  /** The same for rows that belong to no workspace, if there are such. */
  readonly sharedParts?: readonly string[];
}

/**
 * The row, noted as what the call is about. The table has the indexes `slug` and `organisation-slug`. Throws
 * ROW_UNKNOWN, WORKSPACE_FOREIGN, WORKSPACE_MISSING.
 */
export async function findRow<R extends Owned>(
  context: ControlContext, table: Table<R>, kind: string, idOrSlug: string,
  { isThere = () => true, slugParts = (workspaceId) => [workspaceId], sharedParts }: FindOptions<R> = {},
): Promise<Stored<R>> {
  const { caller, repository } = context;
  const shown = idOrSlug.slice(0, idCharsShown);
  const workspace = await context.workspaceIfNamed();
  let stored = await context.byId(table, idOrSlug);
  if (stored === undefined && workspace !== undefined) {
    stored = await repository.find(table, 'slug', [...slugParts(workspace.id), idOrSlug]);
  }
  if (stored === undefined && sharedParts !== undefined) stored = await repository.find(table, 'slug', [...sharedParts, idOrSlug]);
  if (stored === undefined && workspace === undefined) {
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

const slugTriesMax = 20;

/** A slug that nothing has yet: the client's own, or one that is made. Throws ROW_EXISTS. */
export async function freeSlug(context: ControlContext, table: Table, kind: string, parts: readonly string[], given: string | undefined, make: () => string, param = 'slug'): Promise<string> {
  if (given !== undefined) {
    if (await context.repository.find(table, 'slug', [...parts, given]) !== undefined) throw fail('ROW_EXISTS', { kind, id: given.slice(0, idCharsShown), param });
    return given;
  }
  for (let tries = 1; ; tries += 1) {
    const slug = make();
    if (tries === slugTriesMax || await context.repository.find(table, 'slug', [...parts, slug]) === undefined) return slug;
  }
}
