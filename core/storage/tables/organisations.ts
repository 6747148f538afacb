import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { anyObject, filledText, object, textMap, timeMs } from '../schema-parts.js';

export const organisations = defineTable({
  name: 'organisation',
  format: 2,
  schema: object({
    id: filledText(),
    name: Type.String(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
    /** In the words of the wire. */
    settings: anyObject(),
    defaults: object({ metadata: textMap(), input_guardrails: Type.Array(Type.String()), output_guardrails: Type.Array(Type.String()) }),
    /** Workspaces that the organisation's guardrails leave out. */
    exclusions: object({ input_guardrails: Type.Array(Type.String()), output_guardrails: Type.Array(Type.String()) }),
  }),
  upgrades: {
    1: (row) => ({
      ...row, updatedAtMs: row.createdAtMs, settings: {},
      defaults: { metadata: {}, input_guardrails: [], output_guardrails: [] }, exclusions: { input_guardrails: [], output_guardrails: [] },
    }),
  },
});
export type OrganisationRow = RowOf<typeof organisations>;
