import { defineTable } from '../define-table.js';
import { filledText, object, orNull, timeMs } from '../schema-parts.js';
import { Type } from '../type.js';

/** Replies to creates that their client may ask for again, by the hash of who asked for what under which key. */
export const idempotency = defineTable({
  name: 'idempotency',
  format: 1,
  schema: object({
    id: filledText(),
    /** Of query and body. */
    requestHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** Sealed: it may hold a secret that is shown once. */
    reply: filledText(),
    version: orNull(Type.Integer()),
    expiresAtMs: timeMs(),
  }),
  secrets: ['reply'],
  indexes: { expiry: { of: (row) => [String(row.expiresAtMs).padStart(16, '0')] } },
});
