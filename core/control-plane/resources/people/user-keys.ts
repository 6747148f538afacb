// Keys that are made by themselves for people who join, and removed when they leave.

import { makeKey } from '../../../auth/key.js';
import { scopesOfType } from '../../../auth/scopes.js';
import { fail } from '../../../errors/gateway-error.js';
import { apiKeys, type ApiKeyRow } from '../../../storage/tables/api-keys.js';
import type { UserRow } from '../../../storage/tables/users.js';
import type { ControlContext } from '../../context.js';
import { noDefaults, periodOf } from '../api-keys/key-fields.js';
import { secretMembers } from '../api-keys/rotate-key.js';
import { enforcedPolicy } from '../api-keys/rotation-policy.js';

export interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly workspace_id: string;
}

type Settings = Readonly<Record<string, unknown>>;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** Keys of one person that are removed in one change. */
const keysMax = 10_000;

/** `user_api_key_ttl` in milliseconds; null: without an end. */
function keyLifeMs({ user_api_key_ttl: ttl }: Settings): number | null {
  if (typeof ttl === 'number') return ttl * 1000;
  const parts = typeof ttl === 'string' ? /^(\d+)([smhdw])$/.exec(ttl) : null;
  return parts === null ? null : Number(parts[1]) * (unitMs[parts[2] ?? ''] ?? 0);
}

/** The config of the workspace for such keys is looked up in each call. `isShown` false: nobody is told the secret; who rotates the key gets one. */
export function addUserKey(context: ControlContext, settings: Settings, user: UserRow, workspaceId: string, scopes: readonly string[] | null, isShown: boolean): MadeKey {
  const { nowMs } = context;
  const key = makeKey();
  const lifeMs = keyLifeMs(settings);
  const period = periodOf(settings);
  const row: ApiKeyRow = {
    id: context.newId(), name: user.email, description: null, type: 'workspace-user', organisationId: user.organisationId, workspaceId, userId: user.id,
    scopes: scopes ?? scopesOfType['workspace-user'], ...secretMembers(key), previous: null, status: 'active', creationMode: 'auto', createdAtMs: nowMs, updatedAtMs: nowMs, lastResetAtMs: null,
    expiresAtMs: lifeMs === null ? null : nowMs + lifeMs, defaults: noDefaults, usageLimits: null, rateLimits: [], alertEmails: [],
    rotationPolicy: period === null ? null : enforcedPolicy(period, nowMs), ...(isShown ? {} : { isUnclaimed: true }),
  };
  context.change.insert(apiKeys, row);
  return { id: row.id, key, workspace_id: workspaceId };
}

/** Those for which `isOver` says so, by their workspace. */
export async function removeUserKeys(context: ControlContext, userId: string, isOver: (workspaceId: string) => boolean | Promise<boolean>): Promise<void> {
  const keys = await context.repository.list(apiKeys, { index: 'user', parts: [userId], limit: keysMax + 1 });
  if (keys.length > keysMax) throw fail('ROW_IN_USE', { kind: 'user', id: userId, users: `more than ${keysMax} API keys`, advice: 'remove some of them first' });
  for (const stored of keys) if (await isOver(stored.row.workspaceId ?? '')) context.change.remove(stored);
}
