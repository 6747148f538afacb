// An invited person becomes a user: by the token of the invite, or by signing in with the address that was invited.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { invites, type InviteRow } from '../../../storage/tables/invites.js';
import { users, type UserRow } from '../../../storage/tables/users.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { settingsOf } from '../people/find-person.js';
import { hasOwnKey, join } from '../people/membership.js';
import type { MadeKey } from '../people/user-keys.js';

interface Names {
  readonly firstName: string;
  readonly lastName: string;
}

interface Accepted {
  readonly user: UserRow;
  readonly workspaceIds: readonly string[];
  readonly keys: readonly MadeKey[];
}

/** `identity`: of the sign-in; null: by the token, whose reply shows the keys. Throws ROW_EXISTS, ACTION_UNTIMELY. */
export async function acceptInvite(context: ControlContext, invite: Stored<InviteRow>, names: Names, identity: UserRow['identity']): Promise<Accepted> {
  const { nowMs, repository, change } = context;
  const { row } = invite;
  if (row.status !== 'pending') throw fail('ACTION_UNTIMELY', { reason: `the invite is ${row.status}` });
  if (row.expiresAtMs <= nowMs) throw fail('ACTION_UNTIMELY', { reason: 'the invite has expired; ask for it to be sent again' });
  if (await repository.find(users, 'email', [row.organisationId, row.email]) !== undefined) throw fail('ROW_EXISTS', { param: 'email', kind: 'user', id: row.email });
  const settings = await settingsOf(context, row.organisationId);
  const user: UserRow = {
    id: context.newId(), organisationId: row.organisationId, email: row.email, firstName: names.firstName, lastName: names.lastName, role: row.role, identity, createdAtMs: nowMs, updatedAtMs: nowMs,
  };
  change.insert(users, user);
  change.update(invite, { ...row, status: 'accepted', acceptedAtMs: nowMs, updatedAtMs: nowMs, userId: user.id });
  const keys: MadeKey[] = [];
  const workspaceIds: string[] = [];
  for (const { id, role } of row.workspaces) {
    // It may be gone since.
    if ((await repository.get(workspaces, id))?.row.status !== 'active') continue;
    workspaceIds.push(id);
    const key = join(context, settings, { user, workspaceId: id, role, origin: 'direct', keyScopes: row.keyScopes, hasKey: row.keyScopes !== null || hasOwnKey(settings, true), isShown: identity === null });
    if (key !== undefined) keys.push(key);
  }
  return { user, workspaceIds, keys };
}

/** The one that waits for this person; undefined: there is none, or its time is over. */
export async function waitingInvite({ repository, nowMs }: Pick<ControlContext, 'repository' | 'nowMs'>, organisationId: string, email: string): Promise<Stored<InviteRow> | undefined> {
  const stored = await repository.find(invites, 'pending', [organisationId, email]);
  return stored === undefined || stored.row.expiresAtMs <= nowMs ? undefined : stored;
}
