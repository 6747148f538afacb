import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, timeMs } from '../schema-parts.js';

export const workspaceRoles = ['admin', 'manager', 'member'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/** There is one row for a user in a workspace. */
export const memberId = (workspaceId: string, userId: string): string => `${workspaceId}.${userId}`;

const timeDigits = 16;
const timePart = (ms: number): string => String(ms).padStart(timeDigits, '0');

export const workspaceMembers = defineTable({
  name: 'workspace-member',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    userId: filledText(),
    role: choice(workspaceRoles),
    /** By the sign-in, from the groups that the identity provider told; such a row follows them, others do not. */
    origin: choice(['direct', 'groups']),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    workspace: { of: (row) => [row.workspaceId, timePart(row.createdAtMs)] },
    user: { of: (row) => [row.userId] },
  },
});
export type WorkspaceMemberRow = RowOf<typeof workspaceMembers>;
