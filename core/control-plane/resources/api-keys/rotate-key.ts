// A new secret for a key: the id, and all that hangs on it, stays. The secret before is valid until the transition ends. A rotation by policy makes a
// secret that nobody sees, since there is nobody to show it to and a key is stored as its hash alone: it takes the old one out of use in time. Whoever
// rotates the key next claims it: gets the secret that counts from then on, while the end of the transition stays as it is.

import type { Static } from '../../../storage/type.js';
import { hashKey, makeKey, maskedKey, prefixOf } from '../../../auth/key.js';
import { fail } from '../../../errors/gateway-error.js';
import { object } from '../../../storage/schema-parts.js';
import type { ApiKeyRow } from '../../../storage/tables/api-keys.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { time } from '../../envelope.js';
import { checkTakeOver, managedKey } from './key-access.js';
import { checkKeyRank } from './key-rank.js';
import { checkTransition, rotatedPolicy, transitionField, transitionMsMin } from './rotation-policy.js';

export const rotateFields = object({ key_transition_period_ms: transitionField() });

export const secretMembers = (key: string): Pick<ApiKeyRow, 'keyHash' | 'keyPrefix' | 'keyMasked'> => ({ keyHash: hashKey(key), keyPrefix: prefixOf(key), keyMasked: maskedKey(key) });

/** The audit details of a rotation. */
export const rotationDetails = (row: ApiKeyRow, mode: 'manual' | 'auto', oldKey: string): Readonly<Record<string, unknown>> =>
  ({ api_key_id: row.id, rotation_mode: mode, old_key: oldKey, key_transition_expires_at: row.previous === null ? null : time(row.previous.expiresAtMs) });

/** The row with the new secret `key`, and the one that it had valid until the transition ends. */
export function rotated(row: ApiKeyRow, key: string, transitionMs: number, nowMs: number): ApiKeyRow {
  const { keyHash, keyPrefix, keyMasked } = row;
  return {
    ...row, ...secretMembers(key), previous: { keyHash, keyPrefix, keyMasked, expiresAtMs: nowMs + transitionMs }, isUnclaimed: false,
    rotationPolicy: rotatedPolicy(row.rotationPolicy, nowMs), lastRotatedAtMs: nowMs, updatedAtMs: nowMs,
  };
}

export async function rotateKey(context: ControlContext, id: string, body: Static<typeof rotateFields>): Promise<Reply> {
  const { nowMs } = context;
  const stored = await managedKey(context, id, 'rotate');
  const { row } = stored;
  checkTakeOver(context, row);
  await checkKeyRank(context, row);
  if (row.expiresAtMs !== null && row.expiresAtMs <= nowMs) throw fail('ACTION_UNTIMELY', { reason: 'the key has expired; give it another expires_at first' });
  const previous = row.previous === null || row.previous.expiresAtMs <= nowMs ? null : row.previous;
  const key = makeKey();
  let after: ApiKeyRow;
  if (row.isUnclaimed === true) {
    after = { ...row, ...secretMembers(key), previous, isUnclaimed: false, rotationPolicy: rotatedPolicy(row.rotationPolicy, nowMs), updatedAtMs: nowMs };
  } else {
    if (previous !== null) throw fail('ACTION_UNTIMELY', { reason: `the key was rotated already; its secret before that is valid until ${time(previous.expiresAtMs)}, and only then it can be rotated again` });
    const transitionMs = body.key_transition_period_ms ?? row.rotationPolicy?.key_transition_period_ms ?? transitionMsMin;
    checkTransition(transitionMs, row.rotationPolicy, 'key_transition_period_ms');
    after = rotated(row, key, transitionMs, nowMs);
  }
  context.change.update(stored, after);
  Object.assign(context.auditDetails, rotationDetails(after, 'manual', row.isUnclaimed === true ? after.previous?.keyMasked ?? row.keyMasked : row.keyMasked));
  return { id: row.id, key, key_transition_expires_at: after.previous === null ? null : time(after.previous.expiresAtMs) };
}
