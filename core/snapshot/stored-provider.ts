// Integrations, providers, configs and guardrails as calls use them. Each is made anew when its row changes, so whoever holds one can tell by identity.

import { OpenIntegration, openConfig, openGuardrail } from '../storage/open-rows.js';
import { Secret, type Sealer } from '../storage/sealer.js';
import type { ConfigRow } from '../storage/tables/configs.js';
import type { GuardrailRow } from '../storage/tables/guardrails.js';
import { accessOf, type IntegrationRow } from '../storage/tables/integrations.js';
import type { ProviderRow } from '../storage/tables/providers.js';
import { accessId, limitSpecs, type LimitSpec } from './limit-specs.js';

/** A workspace's use of an integration: what `@slug` names. */
export interface StoredProvider {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly name: string;
  readonly status: ProviderRow['status'];
  /** Infinity when it does not expire. */
  readonly expiresAtMs: number;
  readonly integrationId: string;
  readonly createdAtMs: number;
  /** Its own; null: none. */
  readonly limits: readonly LimitSpec[] | null;
}

export interface StoredModel {
  readonly slug: string;
  readonly isEnabled: boolean;
  readonly isCustom: boolean;
  readonly customHost: string | null;
}

export class StoredIntegration {
  readonly #row: IntegrationRow;

  constructor(
    row: IntegrationRow,
    /** Its credentials; printed it says nothing. */
    readonly open: OpenIntegration,
    /** By their slugs. */
    readonly models: ReadonlyMap<string, StoredModel>,
  ) {
    this.#row = row;
    Object.freeze(this);
  }

  /** Of the plugin. */
  get pluginId(): string {
    return this.#row.aiProviderId;
  }

  /** Members whose values are those of secret references. */
  get mappings(): IntegrationRow['secretMappings'] {
    return this.#row.secretMappings;
  }

  get customHost(): string | null {
    return this.#row.customHost;
  }

  get allowsAllModels(): boolean {
    return this.#row.allowAllModels;
  }

  /** What it says of the prices of its models. */
  get pricing(): Pick<IntegrationRow, 'models' | 'pricingAdjustments'> {
    return this.#row;
  }

  get createdAtMs(): number {
    return this.#row.createdAtMs;
  }

  isOf(organisationId: string): boolean {
    return this.#row.organisationId === organisationId;
  }

  isOpenTo({ organisationId, workspaceId }: StoredProvider): boolean {
    return this.#row.organisationId === organisationId && accessOf(this.#row, workspaceId) !== undefined;
  }

  /** Of the integration in a workspace that may use it; null: none. */
  limitsIn(workspaceId: string): readonly LimitSpec[] | null {
    const access = accessOf(this.#row, workspaceId);
    if (access === undefined) return null;
    return limitSpecs('access', accessId(this.#row.id, workspaceId), this.#row.slug, access.rate_limits, access.usage_limits === null ? [] : [access.usage_limits]);
  }

  /** `model` without the slug of the provider before it. */
  allows(model: string): boolean {
    const known = this.models.get(model);
    return known === undefined ? this.allowsAllModels : known.isEnabled;
  }
}

export interface StoredConfig {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly versionId: string;
  readonly version: number;
  readonly isActive: boolean;
  /** JSON; it may hold keys. */
  readonly text: Secret;
}

export interface StoredGuardrail {
  readonly id: string;
  /** The id of the workspace that it belongs to, or of the organisation. */
  readonly workspaceId: string;
  readonly slug: string;
  readonly versionId: string;
  /** JSON of a GuardrailDefinition; it may hold keys. */
  readonly text: Secret;
}

export const providerOf = (row: ProviderRow): StoredProvider => Object.freeze({
  id: row.id, organisationId: row.organisationId, workspaceId: row.workspaceId, slug: row.slug, name: row.name, status: row.status,
  expiresAtMs: row.expiresAtMs ?? Infinity, integrationId: row.integrationId, createdAtMs: row.createdAtMs,
  limits: limitSpecs('provider', row.id, row.slug, row.rateLimits, row.usageLimits === null ? [] : [row.usageLimits]),
});

/** Throws SETTINGS_INVALID when its secrets do not open. */
export const integrationOf = (row: IntegrationRow, sealer: Sealer): StoredIntegration => new StoredIntegration(row, new OpenIntegration(row, sealer), new Map(
  row.models.map(({ slug, enabled, is_custom: isCustom, custom_host: customHost }) => [slug, Object.freeze({ slug, isEnabled: enabled, isCustom, customHost })]),
));

/** As integrationOf. */
export const configOf = (row: ConfigRow, sealer: Sealer): StoredConfig => Object.freeze({
  id: row.id, workspaceId: row.workspaceId, slug: row.slug, versionId: row.versionId, version: row.version, isActive: row.status === 'active', text: new Secret(openConfig(row, sealer)),
});

/** As integrationOf. */
export const guardrailOf = (row: GuardrailRow, sealer: Sealer): StoredGuardrail => Object.freeze({
  id: row.id, workspaceId: row.workspaceId ?? row.organisationId, slug: row.slug, versionId: row.versionId, text: new Secret(openGuardrail(row, sealer)),
});
