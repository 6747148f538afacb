import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { filledText, object, orNull, timeMs } from '../schema-parts.js';

/** The objects that the files of one source declared at the last apply. Tells which of them the files do not have any more, and drift. */
export const declarations = defineTable({
  name: 'declaration',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    source: filledText(),
    changedAtMs: timeMs(),
    objects: Type.Array(object({
      section: filledText(),
      /** Of its row. */
      id: filledText(),
      name: Type.String(),
      workspaceId: orNull(filledText()),
      /** False: it was there before, and stays. */
      isMade: Type.Boolean(),
      /** Of its row when it was last written from the files: with another one somebody else has changed it. */
      version: Type.Integer({ minimum: 1 }),
    })),
  }),
  indexes: { organisation: { of: (row) => [row.organisationId] } },
});
export type DeclarationRow = RowOf<typeof declarations>;
export type DeclaredObject = DeclarationRow['objects'][number];
