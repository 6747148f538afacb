import type { Static } from '../../../storage/type.js';
import { actsEverywhere } from '../../../auth/roles.js';
import { fail } from '../../../errors/gateway-error.js';
import { makeKey } from '../../../auth/key.js';
import { apiKeys, keyTypes, type ApiKeyRow, type KeyType } from '../../../storage/tables/api-keys.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { hold, membershipOf, namedUser, roleOf } from '../people/find-person.js';
import { checkScopes, scopeOf } from './key-access.js';
import { checkRank } from './key-rank.js';
import { enforcedPeriod, noDefaults, sharedMembers, type createFields } from './key-fields.js';
import { checkedPolicy } from './rotation-policy.js';
import { secretMembers } from './rotate-key.js';

export async function createKey(context: ControlContext, params: Readonly<Record<string, string>>, body: Static<typeof createFields>): Promise<Reply> {
  const type = typeOfPath(params);
  context.require(scopeOf(type, 'create'));
  const workspaceId = await workspaceOf(context, type);
  const userId = await userOf(context, type, body.user_id ?? null, workspaceId);
  checkScopes(context, type, body.scopes);
  const { nowMs } = context;
  const start = { description: null, rateLimits: [], usageLimits: null, defaults: noDefaults, alertEmails: [], expiresAtMs: null };
  const members = await sharedMembers(context, body, start, { type, workspaceId }, true);
  const rotationPolicy = checkedPolicy(body.rotation_policy, null, await enforcedPeriod(context, type), nowMs);
  const key = makeKey();
  const row: ApiKeyRow = {
    id: context.newId(), name: body.name, type, organisationId: context.caller.organisationId, workspaceId, userId, scopes: body.scopes, ...secretMembers(key), previous: null,
    status: 'active', creationMode: 'api', createdAtMs: nowMs, updatedAtMs: nowMs, lastResetAtMs: null, ...members, rotationPolicy,
  };
  context.change.insert(apiKeys, row);
  context.auditDetails.api_key_id = row.id;
  return { id: row.id, key, object: 'api-key' };
}

function typeOfPath(params: Readonly<Record<string, string>>): KeyType {
  const [first = '', second = ''] = [params.type, params.sub_type];
  const type = keyTypes.find((each) => each === `${first}-${second}`);
  if (type !== undefined) return type;
  if (first !== 'organisation' && first !== 'workspace') throw fail('FIELD_INVALID', { param: 'type', reason: 'must be organisation or workspace' });
  if (second !== 'user' && second !== 'service') throw fail('FIELD_INVALID', { param: 'sub-type', reason: 'must be service or user' });
  throw fail('FIELD_INVALID', { param: 'sub-type', reason: 'must be service: users have keys of a workspace' });
}

async function workspaceOf(context: ControlContext, type: KeyType): Promise<string | null> {
  if (type !== 'organisation-service') return (await context.workspace()).id;
  if (context.workspaceId !== undefined) throw fail('FIELD_INVALID', { param: 'workspace_id', reason: 'is nothing for a key of the organisation; leave it out' });
  return null;
}

async function userOf(context: ControlContext, type: KeyType, userId: string | null, workspaceId: string | null): Promise<string | null> {
  if (type !== 'workspace-user') {
    if (userId !== null) throw fail('FIELD_INVALID', { param: 'user_id', reason: 'is nothing for a service key; leave it out' });
    return null;
  }
  if (userId === null || workspaceId === null) throw fail('FIELD_INVALID', { param: 'user_id', reason: 'is required: a key of type workspace-user acts for a user' });
  const user = await namedUser(context, userId, 'user_id');
  const member = await membershipOf(context, workspaceId, userId);
  if (member === undefined && !actsEverywhere(user.row.role)) throw fail('FIELD_INVALID', { param: 'user_id', reason: 'names a user who is no member of this workspace; add the user first' });
  checkRank(context, roleOf(user.row, member?.row));
  // Nobody who leaves meanwhile keeps a key.
  hold(context, user);
  if (member !== undefined) hold(context, member);
  return userId;
}
