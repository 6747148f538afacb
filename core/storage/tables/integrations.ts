import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { anyObject, choice, filledText, object, orNull, textMap, timeMs } from '../schema-parts.js';
import { rateLimit, usageLimits } from './limits.js';

const limitMembers = { usage_limits: orNull(usageLimits), rate_limits: Type.Array(rateLimit) };

/** Stored credentials of a provider, of the organisation or of one workspace. What is sealed is opened by open-integration.ts. */
export const integrations = defineTable({
  name: 'integration',
  format: 2,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    /** Null: of the organisation; which workspaces may use it is said below. */
    workspaceId: orNull(filledText()),
    slug: filledText(),
    name: Type.String(),
    description: orNull(Type.String()),
    /** Id of the provider plugin. */
    aiProviderId: filledText(),
    status: choice(['active', 'archived']),
    /** Belongs to a virtual key, and is nowhere to be seen but through it. */
    isPrivate: Type.Boolean(),
    /** The API key. */
    sealedKey: orNull(filledText()),
    maskedKey: orNull(Type.String()),
    /** Members of the provider's parameters that are not secrets, by its names. */
    configurations: anyObject(),
    /** JSON of an object: the members that are. */
    sealedConfigurations: orNull(filledText()),
    /** How replies show those. */
    maskedConfigurations: textMap(),
    customHost: orNull(filledText()),
    /** JSON of an object: names in lower case. */
    sealedHeaders: orNull(filledText()),
    headerNames: Type.Array(filledText()),
    /** False: only models that are enabled below. */
    allowAllModels: Type.Boolean(),
    models: Type.Array(object({
      slug: filledText(),
      name: orNull(Type.String()),
      enabled: Type.Boolean(),
      is_custom: Type.Boolean(),
      is_finetune: Type.Boolean(),
      base_model_slug: orNull(Type.String()),
      custom_host: orNull(filledText()),
      header_names: Type.Array(filledText()),
      pricing_config: Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
    })),
    /** JSON of an object: headers of single models, by their slugs. */
    sealedModelHeaders: orNull(filledText()),
    /** For workspaces that are not named below. */
    globalAccess: object({ enabled: Type.Boolean(), ...limitMembers }),
    /** By their ids. */
    workspaces: Type.Unsafe<Readonly<Record<string, WorkspaceAccess>>>({
      type: 'object', additionalProperties: object({ enabled: Type.Boolean(), ...limitMembers, last_reset_at_ms: orNull(timeMs()) }),
    }),
    /** Members whose values are those of secret references. */
    secretMappings: Type.Array(object({
      /** `key`, or `configurations.` and the name of a parameter. */
      target_field: filledText(),
      secret_reference_id: filledText(),
      secret_key: orNull(filledText()),
      value_format: orNull(choice(['json', 'string'])),
    })),
    pricingAdjustments: Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'] }),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    /** Those of virtual keys and archived ones as well. */
    'of-workspace': { of: (row) => (row.workspaceId === null ? null : [row.workspaceId]) },
    organisation: { of: (row) => (row.isPrivate || row.status === 'archived' ? null : [row.organisationId]) },
    /** Empty in place of a workspace: of the organisation. */
    slug: { isUnique: true, of: (row) => (row.isPrivate || row.status === 'archived' ? null : [row.organisationId, row.workspaceId ?? '', row.slug]) },
    'organisation-slug': { of: (row) => (row.isPrivate || row.status === 'archived' ? null : [row.organisationId, row.slug]) },
  },
  upgrades: { 1: (row) => ({ ...row, secretMappings: [] }) },
  secrets: ['sealedKey', 'sealedConfigurations', 'sealedHeaders', 'sealedModelHeaders'],
});
export type IntegrationRow = RowOf<typeof integrations>;
export type SecretMapping = IntegrationRow['secretMappings'][number];
export type IntegrationModel = IntegrationRow['models'][number];

/** One workspace's access to an integration of the organisation. */
export interface WorkspaceAccess {
  readonly enabled: boolean;
  readonly usage_limits: Readonly<Record<string, unknown>> | null;
  readonly rate_limits: readonly Readonly<Record<string, unknown>>[];
  readonly last_reset_at_ms: number | null;
}

/** The access of a workspace; undefined: it may not use the integration. */
export function accessOf(row: IntegrationRow, workspaceId: string): Omit<WorkspaceAccess, 'last_reset_at_ms'> | undefined {
  if (row.status === 'archived') return undefined;
  if (row.workspaceId !== null) return row.workspaceId === workspaceId ? unlimited : undefined;
  const access = Object.hasOwn(row.workspaces, workspaceId) ? row.workspaces[workspaceId] : row.globalAccess;
  return access?.enabled === true ? access : undefined;
}

const unlimited = Object.freeze({ enabled: true, usage_limits: null, rate_limits: [] });

/** Whether calls for a model may go through; `model` without the slug of the provider before it. */
export function allowsModel(row: IntegrationRow, model: string): boolean {
  const own = row.models.find(({ slug }) => slug === model);
  return own === undefined ? row.allowAllModels : own.enabled;
}
