import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object, orNull, timeMs } from '../schema-parts.js';

const hash = () => Type.String({ pattern: '^[0-9a-f]{64}$' });

const timeDigits = 16;

/** People who are signed in. */
export const sessions = defineTable({
  name: 'session',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    userId: filledText(),
    /** SHA-256 of the token in lower-case hex. The token itself is stored nowhere. */
    tokenHash: hash(),
    /** Of the sign-in that it began with: no sign-in begins two. */
    stateHash: hash(),
    createdAtMs: timeMs(),
    expiresAtMs: timeMs(),
    /** When the person signed out. */
    endedAtMs: orNull(timeMs()),
  }),
  indexes: {
    user: { of: (row) => [row.userId] },
    token: { isUnique: true, of: (row) => [row.tokenHash] },
    state: { isUnique: true, of: (row) => [row.stateHash] },
    expiry: { of: (row) => [String(row.expiresAtMs).padStart(timeDigits, '0')] },
  },
});
export type SessionRow = RowOf<typeof sessions>;
