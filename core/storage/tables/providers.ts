import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';
import { rateLimit, usageLimits } from './limits.js';

/** A workspace's use of an integration, called as `@slug`. A virtual key is one whose integration is its own. */
export const providers = defineTable({
  name: 'provider',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    integrationId: filledText(),
    slug: filledText(),
    name: Type.String(),
    note: orNull(Type.String()),
    isVirtualKey: Type.Boolean(),
    /** Whether it is expired is a matter of the time. */
    status: choice(['active', 'exhausted', 'archived']),
    usageLimits: orNull(usageLimits),
    /** A value of 0 switches it off. */
    rateLimits: Type.Array(rateLimit),
    expiresAtMs: orNull(timeMs()),
    /** Usage before it does not count. */
    lastResetAtMs: orNull(timeMs()),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    workspace: { of: (row) => (row.status === 'archived' ? null : [row.workspaceId]) },
    'virtual-key': { of: (row) => (row.status === 'archived' || !row.isVirtualKey ? null : [row.workspaceId]) },
    organisation: { of: (row) => (row.status === 'archived' ? null : [row.organisationId]) },
    'organisation-virtual-key': { of: (row) => (row.status === 'archived' || !row.isVirtualKey ? null : [row.organisationId]) },
    integration: { of: (row) => (row.status === 'archived' ? null : [row.integrationId]) },
    slug: { isUnique: true, of: (row) => (row.status === 'archived' ? null : [row.workspaceId, row.slug]) },
    'organisation-slug': { of: (row) => (row.status === 'archived' ? null : [row.organisationId, row.slug]) },
  },
});
export type ProviderRow = RowOf<typeof providers>;

export type ProviderStatus = 'active' | 'exhausted' | 'expired' | 'archived';

export const providerStatus = (row: ProviderRow, nowMs: number): ProviderStatus => (row.status !== 'archived' && row.expiresAtMs !== null && row.expiresAtMs <= nowMs ? 'expired' : row.status);
