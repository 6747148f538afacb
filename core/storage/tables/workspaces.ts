import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, textMap, timeMs } from '../schema-parts.js';
import { logBodySettings } from './log-body-settings.js';
import { rateLimit, usageLimits } from './limits.js';

export const workspaces = defineTable({
  name: 'workspace',
  format: 2,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    slug: Type.String(),
    name: Type.String(),
    description: orNull(Type.String()),
    icon: orNull(Type.String()),
    status: choice(['active', 'archived']),
    /** There from the start, and there to stay. */
    isDefault: Type.Boolean(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
    /** Usage before it does not count. */
    lastResetAtMs: Type.Optional(orNull(timeMs())),
    defaults: object({
      metadata: textMap(), input_guardrails: Type.Array(Type.String()), output_guardrails: Type.Array(Type.String()), user_api_key_config: orNull(Type.String()),
    }),
    usageLimits: Type.Array(usageLimits),
    rateLimits: Type.Array(rateLimit),
    /** Absent: as the organisation has it. */
    logBodies: Type.Optional(orNull(logBodySettings)),
    /** An archived one, of which nothing else is left to be found. */
    isEmptied: Type.Optional(Type.Literal(true)),
  }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    slug: { isUnique: true, of: (row) => (row.status === 'archived' ? null : [row.organisationId, row.slug]) },
    name: { isUnique: true, of: (row) => (row.status === 'archived' ? null : [row.organisationId, row.name]) },
    'to-empty': { of: (row) => (row.status === 'archived' && row.isEmptied !== true ? [] : null) },
  },
  upgrades: {
    // Before this format there was one workspace, made at the first start.
    1: (row) => ({
      ...row, description: null, icon: null, status: 'active', isDefault: true, updatedAtMs: row.createdAtMs,
      defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [],
    }),
  },
});
export type WorkspaceRow = RowOf<typeof workspaces>;
