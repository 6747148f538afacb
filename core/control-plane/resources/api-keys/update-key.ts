import type { Static } from '../../../storage/type.js';
import type { ApiKeyRow } from '../../../storage/tables/api-keys.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { checkScopes, keepAdministered, managedKey } from './key-access.js';
import { enforcedPeriod, sharedMembers, type updateFields } from './key-fields.js';
import { checkedPolicy, rotatedPolicy } from './rotation-policy.js';

export async function updateKey(context: ControlContext, id: string, body: Static<typeof updateFields>): Promise<Reply> {
  const { nowMs } = context;
  const stored = await managedKey(context, id, 'update');
  const { row } = stored;
  const { scopes = row.scopes } = body;
  // Scopes that the key already has are not handed out again, but must still be ones that its type can have.
  if (body.scopes !== undefined) checkScopes(context, row.type, scopes, row.scopes);
  const members = await sharedMembers(context, body, row, row, false);
  // The rotation of an expired key has stopped; an update starts it again.
  const held = row.rotationPolicy?.next_rotation_at === null ? rotatedPolicy(row.rotationPolicy, nowMs) : row.rotationPolicy;
  const rotationPolicy = body.rotation_policy === undefined ? held : checkedPolicy(body.rotation_policy, held, await enforcedPeriod(context, row.type), nowMs);
  const after: ApiKeyRow = {
    ...row, ...members, name: body.name ?? row.name, scopes, rotationPolicy, updatedAtMs: nowMs,
    ...(body.reset_usage === true ? { status: 'active', lastResetAtMs: nowMs } : {}),
  };
  await keepAdministered(context, stored, after);
  context.change.update(stored, after);
  return {};
}
