import { randomBytes } from 'node:crypto';
import { hashKey } from '../../../auth/key.js';
import { sessions } from '../../../storage/tables/sessions.js';
import type { UserRow } from '../../../storage/tables/users.js';
import type { ControlContext } from '../../context.js';

const tokenBytes = 32;
/** Of one person at once; with one more the oldest ends. */
export const sessionsOfUserMax = 50;

/** Its token, which is stored nowhere. */
export async function addSession(context: ControlContext, user: UserRow, stateHash: string, lifeMs: number): Promise<{ readonly id: string; readonly token: string }> {
  const { repository, change, nowMs } = context;
  const before = await repository.list(sessions, { index: 'user', parts: [user.id], limit: sessionsOfUserMax });
  const [oldest] = before;
  if (before.length >= sessionsOfUserMax && oldest !== undefined) change.remove(oldest);
  const token = randomBytes(tokenBytes).toString('base64url');
  const id = context.newId();
  change.insert(sessions, { id, organisationId: user.organisationId, userId: user.id, tokenHash: hashKey(token), stateHash, createdAtMs: nowMs, expiresAtMs: nowMs + lifeMs, endedAtMs: null });
  return { id, token };
}
