// Stored rows for tests of what calls see of them: written into a data directory before a gateway starts on it, or beside one that runs, as another
// process would.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { bootstrap } from '../../core/auth/bootstrap.js';
import { hashKey, maskedKey, prefixOf } from '../../core/auth/key.js';
import { readSettings } from '../../core/settings/read.js';
import { placeOf } from '../../core/storage/open-rows.js';
import { prepareStore } from '../../core/storage/prepare-store.js';
import { Repository } from '../../core/storage/repository.js';
import { Sealer } from '../../core/storage/sealer.js';
import { apiKeys, type ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import { bootstraps } from '../../core/storage/tables/bootstraps.js';
import { configs, type ConfigRow } from '../../core/storage/tables/configs.js';
import { tables } from '../../core/storage/tables/index.js';
import { integrations, type IntegrationRow } from '../../core/storage/tables/integrations.js';
import { providers, type ProviderRow } from '../../core/storage/tables/providers.js';
import { controlStore, ThreadServices } from '../../core/thread-services.js';
import { adminKey, apiKey } from './gateway.js';
import { keyRow, putRows } from './rows.js';

export interface IntegrationSecrets {
  readonly key?: string;
  readonly configurations?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly modelHeaders?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Rows of the first organisation and its first workspace. */
export class StoredRows {
  readonly #sealer: Sealer;

  constructor(readonly repository: Repository, masterKey: Uint8Array, readonly organisationId: string, readonly workspaceId: string) {
    this.#sealer = new Sealer(masterKey);
  }

  integrationRow(id: string, secrets: IntegrationSecrets, changes: Partial<IntegrationRow> = {}): IntegrationRow {
    const sealed = (member: string, value: unknown): string | null =>
      (value === undefined ? null : this.#sealer.seal(typeof value === 'string' ? value : JSON.stringify(value), placeOf(integrations, id, member)));
    return {
      id, organisationId: this.organisationId, workspaceId: null, slug: id, name: id, description: null, aiProviderId: 'openai', status: 'active', isPrivate: false,
      sealedKey: sealed('sealedKey', secrets.key), maskedKey: null, configurations: {}, sealedConfigurations: sealed('sealedConfigurations', secrets.configurations), maskedConfigurations: {},
      customHost: null, sealedHeaders: sealed('sealedHeaders', secrets.headers), headerNames: [], allowAllModels: true, models: [],
      sealedModelHeaders: sealed('sealedModelHeaders', secrets.modelHeaders), globalAccess: { enabled: true, usage_limits: null, rate_limits: [] }, workspaces: {},
      pricingAdjustments: null, secretMappings: [], createdAtMs: 1, updatedAtMs: 1, ...changes,
    };
  }

  providerRow(slug: string, integrationId: string, changes: Partial<ProviderRow> = {}): ProviderRow {
    return {
      id: `id-of-${slug}`, organisationId: this.organisationId, workspaceId: this.workspaceId, integrationId, slug, name: slug, note: null, isVirtualKey: false, status: 'active',
      usageLimits: null, rateLimits: [], expiresAtMs: null, lastResetAtMs: null, createdAtMs: 1, updatedAtMs: 1, ...changes,
    };
  }

  configRow(slug: string, config: object, changes: Partial<ConfigRow> = {}): ConfigRow {
    const id = changes.id ?? `id-of-${slug}`;
    return {
      id, organisationId: this.organisationId, workspaceId: this.workspaceId, slug, name: slug, isDefault: false, status: 'active', versionId: `${id}-1`, version: 1,
      sealedConfig: this.#sealer.seal(JSON.stringify(config), placeOf(configs, id, 'sealedConfig')), providers: [], guardrails: [], ownerId: 'owner', updatedBy: null, createdAtMs: 1, updatedAtMs: 1, ...changes,
    };
  }

  keyRow(key: string, changes: Partial<ApiKeyRow> = {}): ApiKeyRow {
    return keyRow('k', {
      id: `id-of-${key}`, organisationId: this.organisationId, workspaceId: this.workspaceId, keyHash: hashKey(key), keyPrefix: prefixOf(key), keyMasked: maskedKey(key), ...changes,
    });
  }

  integration(id: string, secrets: IntegrationSecrets, changes: Partial<IntegrationRow> = {}): Promise<void> {
    return putRows(this.repository, integrations, this.integrationRow(id, secrets, changes));
  }

  provider(slug: string, integrationId: string, changes: Partial<ProviderRow> = {}): Promise<void> {
    return putRows(this.repository, providers, this.providerRow(slug, integrationId, changes));
  }

  config(slug: string, config: object, changes: Partial<ConfigRow> = {}): Promise<void> {
    return putRows(this.repository, configs, this.configRow(slug, config, changes));
  }

  /** `key` has at least 16 characters. */
  key(key: string, changes: Partial<ApiKeyRow> = {}): Promise<void> {
    return putRows(this.repository, apiKeys, this.keyRow(key, changes));
  }
}

export const noDefaults: ApiKeyRow['defaults'] = { metadata: {}, config_id: null, provider: null, allow_config_override: true };

export interface StoredData {
  readonly rows: StoredRows;
  /** For startTestGateway. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A data directory with the first rows; removed after the test file. Call it at the top level of the file. */
export async function storedData(environment: Readonly<Record<string, string>> = {}): Promise<StoredData> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stored-'));
  const masterKey = randomBytes(32);
  const all = { ...environment, GATEWAY_DATA_DIR: dataDir, GATEWAY_MASTER_KEY: masterKey.toString('hex') };
  const services = new ThreadServices(readSettings(all, dataDir));
  const storage = await services.openStorage();
  const repository = new Repository(await storage.open(controlStore));
  after(async () => {
    await services.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  await prepareStore(repository, tables);
  await bootstrap(repository, { adminKey, apiKey });
  const first = await repository.get(bootstraps, 'first');
  if (first === undefined) throw new Error('the first rows are missing');
  return { rows: new StoredRows(repository, masterKey, first.row.organisationId, first.row.workspaceId), environment: all };
}
