import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object, orNull, timeMs } from '../schema-parts.js';

/** Checks that configs and defaults name by a slug, of a workspace or of the whole organisation. */
export const guardrails = defineTable({
  name: 'guardrail',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    /** Null: of the organisation. */
    workspaceId: orNull(filledText()),
    slug: filledText(),
    name: Type.String(),
    /** Another one after each change. */
    versionId: filledText(),
    version: Type.Integer({ minimum: 1 }),
    /** JSON of a GuardrailDefinition: parameters of checks may be secrets. Opened by openGuardrail. */
    sealedDefinition: filledText(),
    /** Keys that made it and changed it last. */
    ownerId: filledText(),
    updatedBy: orNull(filledText()),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    /** Empty in place of a workspace: of the organisation. */
    workspace: { of: (row) => [row.organisationId, row.workspaceId ?? ''] },
    slug: { isUnique: true, of: (row) => [row.organisationId, row.workspaceId ?? '', row.slug] },
    'organisation-slug': { of: (row) => [row.organisationId, row.slug] },
  },
  secrets: ['sealedDefinition'],
});
export type GuardrailRow = RowOf<typeof guardrails>;
