import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object, timeMs } from '../schema-parts.js';

export const configVersions = defineTable({
  name: 'config-version',
  format: 1,
  schema: object({
    id: filledText(),
    configId: filledText(),
    workspaceId: filledText(),
    /** From 1, in the order of their making. */
    number: Type.Integer({ minimum: 1 }),
    sealedConfig: filledText(),
    createdBy: filledText(),
    createdAtMs: timeMs(),
  }),
  indexes: {
    config: { of: (row) => [row.configId] },
    number: { isUnique: true, of: (row) => [row.configId, String(row.number)] },
  },
  secrets: ['sealedConfig'],
});
export type ConfigVersionRow = RowOf<typeof configVersions>;
