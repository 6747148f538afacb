import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { OpenIntegration, placeOf } from '../../../core/storage/open-rows.js';
import { Sealer } from '../../../core/storage/sealer.js';
import { accessOf, allowsModel, integrations, type IntegrationRow } from '../../../core/storage/tables/integrations.js';
import { providerStatus, type ProviderRow } from '../../../core/storage/tables/providers.js';

const sealer = new Sealer(Buffer.alloc(32, 1));
const seal = (text: string, member: string): string => sealer.seal(text, placeOf(integrations, 'i', member));

const row = (changes: Partial<IntegrationRow> = {}): IntegrationRow => ({
  id: 'i', organisationId: 'o', workspaceId: null, slug: 's', name: 'n', description: null, aiProviderId: 'openai', status: 'active', isPrivate: false, sealedKey: null, maskedKey: null,
  configurations: {}, sealedConfigurations: null, maskedConfigurations: {}, customHost: null, sealedHeaders: null, headerNames: [], allowAllModels: true, models: [], sealedModelHeaders: null,
  globalAccess: { enabled: false, usage_limits: null, rate_limits: [] }, workspaces: {}, pricingAdjustments: null, secretMappings: [], createdAtMs: 1, updatedAtMs: 1, ...changes,
});

test('what an integration holds sealed is opened for its user, and neither printed nor serialised', () => {
  const sealed = row({
    sealedKey: seal('the-key', 'sealedKey'), configurations: { region: 'r' }, sealedConfigurations: seal('{"secret":"the-secret"}', 'sealedConfigurations'),
    sealedHeaders: seal('{"x-a":"the-header"}', 'sealedHeaders'), sealedModelHeaders: seal('{"m":{"x-b":"the-model-header"}}', 'sealedModelHeaders'),
  });
  const open = new OpenIntegration(sealed, sealer);
  assert.equal(integrations.fault(sealed), undefined);
  assert.equal(open.key?.reveal(), 'the-key');
  assert.deepEqual(open.configurations, { region: 'r', secret: 'the-secret' });
  assert.deepEqual([open.headers, open.modelHeaders], [{ 'x-a': 'the-header' }, { m: { 'x-b': 'the-model-header' } }]);
  assert.doesNotMatch(inspect(open, { depth: 9, showHidden: true }) + JSON.stringify({ open }) + String(open), /the-/);
  assert.throws(() => new OpenIntegration({ ...sealed, id: 'j' }, sealer), /cannot be opened/);
});

test('a workspace may use what is its own, what is given to it, and what is given to all', () => {
  const limits = { usage_limits: null, rate_limits: [] };
  assert.equal(accessOf(row(), 'w'), undefined);
  assert.ok(accessOf(row({ workspaceId: 'w' }), 'w'));
  assert.equal(accessOf(row({ workspaceId: 'w' }), 'v'), undefined);
  assert.ok(accessOf(row({ globalAccess: { enabled: true, ...limits } }), 'w'));
  assert.equal(accessOf(row({ globalAccess: { enabled: true, ...limits }, workspaces: { w: { enabled: false, last_reset_at_ms: null, ...limits } } }), 'w'), undefined);
  assert.ok(accessOf(row({ workspaces: { w: { enabled: true, last_reset_at_ms: null, ...limits } } }), 'w'));
  assert.equal(accessOf(row({ workspaceId: 'w', status: 'archived' }), 'w'), undefined);
});

test('models are refused that are switched off, and those not named where not all are allowed', () => {
  const model = { slug: 'a', name: null, enabled: true, is_custom: false, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null };
  const models = [model, { ...model, slug: 'b', enabled: false }];
  assert.deepEqual(['a', 'b', 'c'].map((name) => allowsModel(row({ models }), name)), [true, false, true]);
  assert.deepEqual(['a', 'b', 'c'].map((name) => allowsModel(row({ models, allowAllModels: false }), name)), [true, false, false]);
});

test('a provider is expired from its time on', () => {
  const provider: ProviderRow = {
    id: 'p', organisationId: 'o', workspaceId: 'w', integrationId: 'i', slug: 's', name: 'n', note: null, isVirtualKey: false, status: 'active', usageLimits: null, rateLimits: [],
    expiresAtMs: 10, lastResetAtMs: null, createdAtMs: 1, updatedAtMs: 1,
  };
  assert.deepEqual([9, 10].map((nowMs) => providerStatus(provider, nowMs)), ['active', 'expired']);
  assert.equal(providerStatus({ ...provider, status: 'archived' }, 11), 'archived');
});
