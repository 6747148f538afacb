import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, timeMs } from '../schema-parts.js';
import { workspaceRoles } from './workspace-members.js';

/** The people of a group are members of a workspace. */
export const scimMappings = defineTable({
  name: 'scim-mapping',
  format: 1,
  schema: object({ id: filledText(), organisationId: filledText(), workspaceId: filledText(), groupId: filledText(), role: choice(workspaceRoles), createdAtMs: timeMs() }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    workspace: { of: (row) => [row.workspaceId] },
    group: { of: (row) => [row.groupId] },
    place: { isUnique: true, of: (row) => [row.workspaceId, row.groupId] },
  },
});
export type ScimMappingRow = RowOf<typeof scimMappings>;
