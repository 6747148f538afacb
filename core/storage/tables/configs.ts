import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';
import { slugIndexes } from './slug-indexes.js';

/** A config that calls name by its slug, as it is now. What it was before is in the versions. */
export const configs = defineTable({
  name: 'config',
  format: 2,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    slug: filledText(),
    name: Type.String(),
    isDefault: Type.Boolean(),
    /** Deleted ones are removed; an archived one is kept, and no call may use it. */
    status: choice(['active', 'archived']),
    /** Id and number of the row of versions with the same config. */
    versionId: filledText(),
    version: Type.Integer({ minimum: 1 }),
    /** Its text, JSON: it may hold keys. Opened by openConfig. */
    sealedConfig: filledText(),
    /** Ids of the providers that it names. */
    providers: Type.Array(filledText()),
    /** Ids of the stored guardrails that it names. */
    guardrails: Type.Array(filledText()),
    /** Keys that made it and changed it last. */
    ownerId: filledText(),
    updatedBy: orNull(filledText()),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    ...slugIndexes,
    default: { of: (row) => (row.isDefault ? [row.workspaceId] : null) },
  },
  secrets: ['sealedConfig'],
  // There were none to name.
  upgrades: { 1: (row) => ({ ...row, guardrails: [] }) },
});
export type ConfigRow = RowOf<typeof configs>;
