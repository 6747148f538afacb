import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object } from '../schema-parts.js';

/** Which rows the first start made; there is one, under the id `first`. */
export const bootstraps = defineTable({
  name: 'bootstrap',
  format: 1,
  schema: object({ id: filledText(), organisationId: filledText(), workspaceId: filledText(), adminKeyId: filledText(), apiKeyId: filledText() }),
});
export type BootstrapRow = RowOf<typeof bootstraps>;
