import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object, timeMs } from '../schema-parts.js';

/** Groups of people, as the identity provider names them. */
export const scimGroups = defineTable({
  name: 'scim-group',
  format: 1,
  schema: object({ id: filledText(), organisationId: filledText(), name: filledText(), createdAtMs: timeMs(), updatedAtMs: timeMs() }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    name: { isUnique: true, of: (row) => [row.organisationId, row.name] },
  },
});
export type ScimGroupRow = RowOf<typeof scimGroups>;
