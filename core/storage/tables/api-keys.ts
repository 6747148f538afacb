import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, textMap, timeMs } from '../schema-parts.js';
import { duePart, nextDueMs } from './key-due.js';
import { rateLimit, usageLimits } from './limits.js';

export const keyTypes = ['organisation-service', 'workspace-service', 'workspace-user'] as const;
export type KeyType = (typeof keyTypes)[number];

/** SHA-256 of the key in lower-case hex. The key itself is stored nowhere. */
const keyHash = () => Type.String({ pattern: '^[0-9a-f]{64}$' });

const told = () => orNull(object({ atMs: timeMs(), beforeMs: timeMs() }));

export const apiKeys = defineTable({
  name: 'api-key',
  format: 2,
  schema: object({
    id: filledText(),
    name: Type.String(),
    description: orNull(Type.String()),
    type: choice(keyTypes),
    organisationId: filledText(),
    /** Null for a key of the organisation. */
    workspaceId: orNull(filledText()),
    /** Whom a key of type workspace-user acts for. */
    userId: orNull(filledText()),
    scopes: Type.Array(Type.String()),
    keyHash: keyHash(),
    /** The first characters of the key, to tell keys apart by eye and to know at once what is none. */
    keyPrefix: filledText(),
    /** The first and last characters, as replies show it. */
    keyMasked: filledText(),
    /** The key before the last rotation, while both are valid. */
    previous: orNull(object({ keyHash: keyHash(), keyPrefix: filledText(), keyMasked: filledText(), expiresAtMs: timeMs() })),
    /** An exhausted key still identifies its owner; the budget check refuses the call. */
    status: choice(['active', 'exhausted']),
    creationMode: choice(['ui', 'api', 'auto']),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
    lastResetAtMs: orNull(timeMs()),
    lastRotatedAtMs: Type.Optional(orNull(timeMs())),
    /** Its policy rotated it, and nobody has asked for the new secret yet. */
    isUnclaimed: Type.Optional(Type.Boolean()),
    /** Which notices about its times were given. */
    told: Type.Optional(object({ expiry: told(), rotation: told() })),
    expiresAtMs: orNull(timeMs()),
    defaults: object({ metadata: textMap(), config_id: orNull(Type.String()), provider: orNull(Type.String()), allow_config_override: Type.Boolean() }),
    usageLimits: orNull(usageLimits),
    rateLimits: Type.Array(rateLimit),
    alertEmails: Type.Array(Type.String()),
    rotationPolicy: orNull(object({
      rotation_period: Type.Optional(orNull(choice(['weekly', 'monthly']))),
      rotation_period_days: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 365 }))),
      next_rotation_at: Type.Optional(orNull(Type.String())),
      key_transition_period_ms: Type.Optional(Type.Integer({ minimum: 1_800_000 })),
    })),
  }),
  shared: ['scopes'],
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    type: { of: (row) => [row.organisationId, row.type] },
    workspace: { of: (row) => (row.workspaceId === null ? null : [row.workspaceId]) },
    'workspace-type': { of: (row) => (row.workspaceId === null ? null : [row.workspaceId, row.type]) },
    config: { of: (row) => (row.defaults.config_id === null ? null : [row.workspaceId ?? '', row.defaults.config_id]) },
    /** By the slug of a provider of the workspace; an id of the catalogue is none. */
    provider: { of: (row) => (row.defaults.provider?.startsWith('@') === true ? [row.workspaceId ?? '', row.defaults.provider.slice(1)] : null) },
    user: { of: (row) => (row.userId === null ? null : [row.userId]) },
    name: { of: (row) => [row.organisationId, row.workspaceId ?? '', row.name] },
    hash: { isUnique: true, of: (row) => [row.keyHash] },
    due: {
      of: (row) => {
        const dueMs = nextDueMs(row);
        return dueMs === null ? null : [duePart(dueMs)];
      },
    },
  },
  upgrades: {
    1: (row) => ({
      ...row, description: null, userId: null, keyMasked: `${String(row.keyPrefix)}****`, previous: null, creationMode: 'auto', updatedAtMs: row.createdAtMs, lastResetAtMs: null,
      defaults: { metadata: {}, config_id: null, provider: null, allow_config_override: true }, usageLimits: null, rateLimits: [], alertEmails: [], rotationPolicy: null,
    }),
  },
});
export type ApiKeyRow = RowOf<typeof apiKeys>;
