import { actsEverywhere } from '../../../auth/roles.js';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { users, type UserRow } from '../../../storage/tables/users.js';
import { memberId, workspaceMembers, type WorkspaceMemberRow, type WorkspaceRole } from '../../../storage/tables/workspace-members.js';
import type { ControlContext } from '../../context.js';

/** Of the caller's organisation; undefined: there is none. */
export async function userById(context: ControlContext, id: string): Promise<Stored<UserRow> | undefined> {
  const stored = await context.byId(users, id);
  return stored?.row.organisationId === context.caller.organisationId ? stored : undefined;
}

/** Of the path. Throws ROW_UNKNOWN. */
export async function userAt(context: ControlContext, id: string): Promise<Stored<UserRow>> {
  const stored = await userById(context, id);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'user', id: id.slice(0, 64) });
  context.subject = stored;
  return stored;
}

/** Named in a body. Throws REFERENCE_UNKNOWN. */
export async function namedUser(context: ControlContext, id: string, param: string): Promise<Stored<UserRow>> {
  const stored = await userById(context, id);
  if (stored === undefined) throw fail('REFERENCE_UNKNOWN', { param, kind: 'user', id: id.slice(0, 64) });
  return stored;
}

export const membershipOf = ({ repository }: ControlContext, workspaceId: string, userId: string): Promise<Stored<WorkspaceMemberRow> | undefined> =>
  repository.get(workspaceMembers, memberId(workspaceId, userId));

/** Settings of an organisation, in the words of the wire. */
export const settingsOf = async ({ repository }: ControlContext, organisationId: string): Promise<Readonly<Record<string, unknown>>> => (await repository.get(organisations, organisationId))?.row.settings ?? {};

/** Adds the row to the change unchanged: if another call changes it before the commit, the handler runs again. */
export function hold(context: ControlContext, stored: Stored<UserRow> | Stored<WorkspaceMemberRow>): void {
  if (!context.change.rows.some(({ table, id }) => table.name === stored.table.name && id === stored.row.id)) context.change.rows.push({ table: stored.table, id: stored.row.id, before: stored, after: stored.row });
}

/** In a workspace; null: no member of it. */
export const roleOf = (user: UserRow, member: WorkspaceMemberRow | undefined): WorkspaceRole | null => (actsEverywhere(user.role) ? 'admin' : member?.role ?? null);
