// The person for whom a call is made, read from the rows: the one behind a key of type workspace-user or behind a session. The role of the person limits the
// scopes of the key. Read for each call, so that a lost role counts at once. Keys of services have no person and stay as they are.

import { plainEmail } from '../auth/email.js';
import { hashKey } from '../auth/key.js';
import { actsEverywhere, ownKeyScopes, scopesOfRole } from '../auth/roles.js';
import { scopesOfType } from '../auth/scopes.js';
import { parseJsonObject } from '../body/parse.js';
import { fail, isGatewayError } from '../errors/gateway-error.js';
import type { Stored } from '../storage/change.js';
import type { Repository } from '../storage/repository.js';
import { apiKeys } from '../storage/tables/api-keys.js';
import { formerUsers } from '../storage/tables/former-users.js';
import { organisations } from '../storage/tables/organisations.js';
import { sessions } from '../storage/tables/sessions.js';
import { users, type UserRow } from '../storage/tables/users.js';
import { memberId, workspaceMembers, type WorkspaceRole } from '../storage/tables/workspace-members.js';
import { workspaces } from '../storage/tables/workspaces.js';
import { hasEnded } from '../snapshot/session-age.js';
import type { Caller } from './context.js';
import type { ControlCall } from './control-call.js';
import type { ControlRoute } from './router.js';

/** Workspaces of one person that are looked at to find the only one. */
const membershipsSeen = 2;

/** Throws SESSION_INVALID; WORKSPACE_MISSING and WORKSPACE_FOREIGN for a person who is signed in and acts in one of several workspaces. */
export async function actingCaller(call: ControlCall, route: ControlRoute, repository: Repository, nowMs: number): Promise<Caller> {
  const { caller } = call;
  if (caller.keyType === 'workspace-user') return keyHolder(caller, repository);
  if (caller.keyType !== 'session') return caller;
  const settings = await settingsOf(repository, caller.organisationId);
  const session = await repository.get(sessions, caller.keyId);
  const user = session === undefined ? undefined : await repository.get(users, session.row.userId);
  if (session === undefined || user === undefined || hasEnded(session.row, settings, nowMs)) throw fail('SESSION_INVALID');
  const { row } = user;
  if (actsEverywhere(row.role)) {
    return { ...caller, scopes: scopesOfType['organisation-service'], person: { userId: row.id, role: row.role, withheld: [] } };
  }
  const workspaceId = await workspaceOf(call, route, row, repository);
  // Public operations (GET /auth/session) are served before a workspace is chosen.
  if (workspaceId === undefined) {
    if (!route.operation.isPublic) throw fail('WORKSPACE_MISSING', { param: 'workspace_id' });
    return { ...caller, workspaceId: nowhere, person: { userId: row.id, role: 'member', withheld: [] } };
  }
  const role = await roleIn(repository, workspaceId, row);
  if (role === undefined) throw fail('WORKSPACE_FOREIGN', { kind: 'workspace', id: workspaceId, param: 'workspace_id' });
  const scopes = scopesOfRole(role, settings);
  const hasOwnKeysAlone = !ownKeyScopes.some((scope) => scopes.includes(scope));
  return {
    ...caller, workspaceId, scopes: hasOwnKeysAlone ? [...scopes, ...ownKeyScopes] : scopes,
    person: { userId: row.id, role, withheld: [...scopesOfType['organisation-service'], ...scopesOfType['workspace-service']], hasOwnKeysAlone },
  };
}

/** Workspace of a person who has chosen none. Not empty, since that stands for the organisation. */
const nowhere = '-';

async function keyHolder(caller: Caller, repository: Repository): Promise<Caller> {
  const userId = caller.token === undefined ? (await repository.get(apiKeys, caller.keyId))?.row.userId ?? null : caller.token.userId;
  const user = userId === null ? undefined : await personNamed(repository, caller.organisationId, userId);
  // For people whom the gateway does not know, the scopes of the token count; for removed people they do not.
  if (caller.token !== undefined && user === undefined && (userId === null || !await wasRemoved(repository, caller.organisationId, userId))) return caller;
  const role = user === undefined ? undefined : await roleIn(repository, caller.workspaceId, user.row);
  if (user === undefined || role === undefined) return { ...caller, scopes: [], person: { userId: userId ?? '', role: 'none', withheld: caller.scopes } };
  const allowed = scopesOfRole(role, await settingsOf(repository, caller.organisationId));
  const scopes = caller.scopes.filter((scope) => allowed.includes(scope));
  return { ...caller, scopes, person: { userId: user.row.id, role, withheld: caller.scopes.filter((scope) => !scopes.includes(scope)) } };
}

/** A token may name its person by the address. */
async function personNamed(repository: Repository, organisationId: string, name: string): Promise<Stored<UserRow> | undefined> {
  const stored = await repository.get(users, name) ?? await repository.find(users, 'email', [organisationId, plainEmail(name)]);
  return stored?.row.organisationId === organisationId ? stored : undefined;
}

async function wasRemoved(repository: Repository, organisationId: string, name: string): Promise<boolean> {
  const former = await repository.get(formerUsers, name);
  if (former !== undefined) return former.row.organisationId === organisationId;
  return await repository.count(formerUsers, 'email', [organisationId, hashKey(plainEmail(name))]) > 0;
}

/** Undefined: no member. */
async function roleIn(repository: Repository, workspaceId: string, user: UserRow): Promise<WorkspaceRole | undefined> {
  if (actsEverywhere(user.role)) return 'admin';
  return (await repository.get(workspaceMembers, memberId(workspaceId, user.id)))?.row.role;
}

const settingsOf = async (repository: Repository, organisationId: string): Promise<Readonly<Record<string, unknown>>> => (await repository.get(organisations, organisationId))?.row.settings ?? {};

/** The workspace that the call names, in its path, query or body; else the only one of the person. */
async function workspaceOf(call: ControlCall, { operation, params }: ControlRoute, user: UserRow, repository: Repository): Promise<string | undefined> {
  const named = (operation.path.includes('/workspaces/{') ? params.workspaceId : undefined) ?? namedIn(call);
  if (named !== undefined) {
    const found = (await repository.get(workspaces, named)) ?? await repository.find(workspaces, 'slug', [user.organisationId, named]);
    // The same error for unknown workspaces, so that members do not learn which others exist.
    if (found === undefined || found.row.organisationId !== user.organisationId) throw fail('WORKSPACE_FOREIGN', { kind: 'workspace', id: named.slice(0, 64), param: 'workspace_id' });
    return found.row.id;
  }
  const [first, ...others] = await repository.list(workspaceMembers, { index: 'user', parts: [user.id], limit: membershipsSeen });
  return others.length === 0 ? first?.row.workspaceId : undefined;
}

/** `workspace_id` of query or body. Faults of either are ignored here; checking the input reports them. */
function namedIn({ query, body }: ControlCall): string | undefined {
  const inQuery = new URLSearchParams(query).get('workspace_id');
  if (inQuery !== null && inQuery !== '') return inQuery;
  if (body.length === 0) return undefined;
  try {
    const inBody = parseJsonObject(body).workspace_id;
    return typeof inBody === 'string' && inBody !== '' ? inBody : undefined;
  } catch (thrown) {
    if (isGatewayError(thrown)) return undefined;
    throw thrown;
  }
}
