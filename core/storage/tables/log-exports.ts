import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { anyObject, choice, filledText, object, orNull, timeMs } from '../schema-parts.js';

export const exportStates = ['draft', 'in_progress', 'success', 'failed', 'stopped'] as const;

/** Jobs that write logs into files. */
export const logExports = defineTable({
  name: 'log-export',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    status: choice(exportStates),
    description: Type.String(),
    /** In the words of the wire. */
    filters: anyObject(),
    requestedData: Type.Array(filledText()),
    createdBy: filledText(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
    /** The last run; null: there was none. */
    run: orNull(object({
      id: filledText(),
      /** JSON of the filter for the reader of records, with the names of the wire resolved. */
      filter: filledText(),
      /** What the one who started it may see; nobody who may see less gets the file. */
      seesBodies: Type.Boolean(),
      seesMetadata: Type.Boolean(),
      /** Address of the gateway, for addresses in the file. */
      origin: Type.String(),
      /** The last sign of life of whoever runs it. */
      aliveAtMs: timeMs(),
      endedAtMs: orNull(timeMs()),
      rows: Type.Integer({ minimum: 0 }),
      bytes: Type.Integer({ minimum: 0 }),
      /** There were more than one file takes. */
      isCut: Type.Boolean(),
      /** Why it failed; empty: it did not. */
      fault: Type.String(),
      /** The file was removed, since it was too old. */
      isRemoved: Type.Boolean(),
    })),
  }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    workspace: { of: (row) => [row.workspaceId] },
    running: { of: (row) => (row.status === 'in_progress' ? [] : null) },
    /** Those that have a file. */
    filed: { of: (row) => (row.status === 'success' && row.run?.isRemoved === false ? [] : null) },
  },
});
export type LogExportRow = RowOf<typeof logExports>;
export type LogExportRun = NonNullable<LogExportRow['run']>;
