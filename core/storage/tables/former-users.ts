import { defineTable } from '../define-table.js';
import { filledText, object, timeMs } from '../schema-parts.js';

/** People who were removed, by the ids that they had: what others say of them, such as tokens of an identity provider, counts no more. */
export const formerUsers = defineTable({
  name: 'former-user',
  format: 1,
  // SHA-256 of the address, which is not kept.
  schema: object({ id: filledText(), organisationId: filledText(), emailHash: filledText(), removedAtMs: timeMs() }),
  indexes: { email: { of: (row) => [row.organisationId, row.emailHash] } },
});
