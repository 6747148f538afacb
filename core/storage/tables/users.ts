import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';

export const organisationRoles = ['owner', 'admin', 'member'] as const;
export type OrganisationRole = (typeof organisationRoles)[number];

/** People of the organisation. */
export const users = defineTable({
  name: 'user',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    /** In lower case. */
    email: filledText(),
    firstName: Type.String(),
    lastName: Type.String(),
    role: choice(organisationRoles),
    /** Who this is to the identity provider, since the first sign-in. */
    identity: orNull(object({ issuer: filledText(), subject: filledText() })),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    role: { of: (row) => [row.organisationId, row.role] },
    email: { isUnique: true, of: (row) => [row.organisationId, row.email] },
    identity: { isUnique: true, of: (row) => (row.identity === null ? null : [row.organisationId, row.identity.issuer, row.identity.subject]) },
  },
});
export type UserRow = RowOf<typeof users>;
