import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';
import { workspaceRoles } from './workspace-members.js';

export const inviteStatuses = ['pending', 'cancelled', 'accepted', 'expired'] as const;
export type InviteStatus = (typeof inviteStatuses)[number];

export const invites = defineTable({
  name: 'invite',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    /** In lower case. */
    email: filledText(),
    role: choice(['admin', 'member']),
    workspaces: Type.Array(object({ id: filledText(), role: choice(workspaceRoles) })),
    /** Of the key that is made in each of the workspaces; null: as the settings of the organisation say. */
    keyScopes: orNull(Type.Array(Type.String())),
    /** SHA-256 of the token in lower-case hex. The token itself is stored nowhere. */
    tokenHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** One whose time is over may be called pending still. */
    status: choice(inviteStatuses),
    /** A user, or the key of a service. */
    invitedBy: filledText(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
    expiresAtMs: timeMs(),
    acceptedAtMs: orNull(timeMs()),
    /** Who came of it. */
    userId: orNull(filledText()),
  }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    pending: { isUnique: true, of: (row) => (row.status === 'pending' ? [row.organisationId, row.email] : null) },
    inviter: { of: (row) => (row.status === 'pending' ? [row.invitedBy] : null) },
  },
});
export type InviteRow = RowOf<typeof invites>;
