import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenIntegration } from '../../../core/storage/open-rows.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { providers } from '../../../core/storage/tables/providers.js';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { keyRow, putRows, removeRows } from '../../support/rows.js';

const as = firstApiKey;
const key = 'sk-an-openai-key-of-the-test-0001';

const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const integrate = (control: TestControl, slug = 'main'): Promise<TestReply> => control.call('POST', '/v1/integrations', { name: 'Main', slug, ai_provider_id: 'openai', key, create_default_provider: false }, { as });
const create = (control: TestControl, more: object = {}): Promise<TestReply> => control.call('POST', '/v1/providers', { name: 'Production', integration_id: 'main', ...more }, { as });
const pathOf = ({ body }: TestReply): string => `/v1/providers/${String(body.slug)}`;
const usage = { credit_limit: 10, type: 'cost', alert_threshold: null, periodic_reset: null, periodic_reset_days: null, next_usage_reset_at: null };

describe('providers', () => {
  it('are created, read, listed, changed and deleted', async () => {
    const control = await startControl();
    const integration = await integrate(control);
    const expires = new Date(control.clock.nowMs + 60_000).toISOString();
    const made = await create(control, { note: 'ours', usage_limits: { credit_limit: 10 }, rate_limits: [{ type: 'requests', unit: 'rpm', value: 0 }], expires_at: expires });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.match(String(made.body.slug), /^produc-[0-9a-f]{6}$/);
    const read = (await control.call('GET', pathOf(made), undefined, { as })).body;
    assert.deepEqual(
      [read.id, read.name, read.integration_id, read.note, read.status, read.usage_limits, read.rate_limits, read.expires_at, read.object, read.ai_provider_id],
      [made.body.id, 'Production', integration.body.id, 'ours', 'active', usage, [{ type: 'requests', unit: 'rpm', value: 0 }], expires, 'provider', 'openai'],
    );
    assert.deepEqual((await control.call('PUT', pathOf(made), { name: 'P', rate_limits: null, usage_limits: [{ credit_limit: 20 }] }, { as })).body, { id: made.body.id, slug: made.body.slug });
    const changed = (await control.call('GET', `/v1/providers/@${String(made.body.slug)}`, undefined, { as })).body;
    assert.deepEqual([changed.name, changed.rate_limits, changed.usage_limits, changed.note], ['P', null, { ...usage, credit_limit: 20 }, 'ours']);
    control.clock.nowMs += 60_000;
    assert.equal((await control.call('GET', pathOf(made), undefined, { as })).body.status, 'expired');
    assert.equal((await control.call('PUT', pathOf(made), { expires_at: null }, { as })).status, 200);
    assert.deepEqual([(await control.call('GET', pathOf(made), undefined, { as })).body.status, (await control.call('GET', '/v1/providers', undefined, { as })).body.total], ['active', 1]);
    assert.deepEqual((await control.call('DELETE', pathOf(made), undefined, { as })).body, {});
    assert.deepEqual([(await control.call('GET', '/v1/providers', undefined, { as })).body.total, (await control.call('GET', pathOf(made), undefined, { as })).status], [0, 404]);
    // The slug is free again.
    assert.equal((await create(control, { slug: made.body.slug })).status, 200);
    assert.deepEqual(control.faults, []);
  });

  it('that are exhausted are looked at anew when usage is reset or has other limits', async () => {
    const control = await startControl();
    await integrate(control);
    for (const update of [{ reset_usage: true }, { usage_limits: { credit_limit: 20 } }]) {
      const made = await create(control, { usage_limits: { credit_limit: 10 } });
      const stored = await control.repository.get(providers, String(made.body.id));
      assert.ok(stored);
      await putRows(control.repository, providers, { ...stored.row, status: 'exhausted' });
      const status = async (): Promise<unknown> => (await control.call('GET', pathOf(made), undefined, { as })).body.status;
      assert.equal((await control.call('PUT', pathOf(made), { name: 'Same' }, { as })).status, 200);
      assert.equal(await status(), 'exhausted');
      assert.equal((await control.call('PUT', pathOf(made), update, { as })).status, 200);
      assert.equal(await status(), 'active');
      assert.equal((await control.repository.get(providers, String(made.body.id)))?.row.lastResetAtMs, 'reset_usage' in update ? control.clock.nowMs : null);
    }
  });

  it('are refused with the member at fault', async () => {
    const control = await startControl();
    await integrate(control);
    const shared = await control.call('POST', '/v1/integrations', { name: 'Shared', slug: 'shared', ai_provider_id: 'openai', key });
    assert.equal(shared.status, 200);
    assert.equal((await create(control, { slug: 'taken' })).status, 200);
    const refusals: readonly [object, number, string, string][] = [
      [{ integration_id: undefined }, 400, 'AB01', 'integration_id'],
      [{ integration_id: 'nowhere' }, 404, 'AB02', 'integration_id'],
      [{ integration_id: 'shared' }, 403, 'AB03', 'integration_id'],
      [{ name: '' }, 400, 'AB01', 'name'],
      [{ slug: 'with blank' }, 400, 'AB01', 'slug'],
      [{ slug: 'taken' }, 409, 'AB07', 'slug'],
      [{ usage_limits: { credit_limit: 0 } }, 400, 'AB01', 'usage_limits.credit_limit'],
      [{ usage_limits: [{ credit_limit: 1 }, { credit_limit: 1 }] }, 400, 'AB01', 'usage_limits'],
      [{ usage_limits: 5 }, 400, 'AB01', 'usage_limits'],
      [{ rate_limits: { type: 'requests', unit: 'rps', value: 1 } }, 400, 'AB01', 'rate_limits.unit'],
      [{ rate_limits: [{ type: 'requests', unit: 'rpm', value: -1 }] }, 400, 'AB01', 'rate_limits.0.value'],
      [{ expires_at: 'tomorrow' }, 400, 'AB01', 'expires_at'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 400, 'AB01', 'expires_at'],
    ];
    for (const [more, status, code, param] of refusals) {
      const reply = await create(control, more);
      assert.deepEqual(errorOf(reply), [status, code, param], JSON.stringify(reply.body));
    }
    assert.deepEqual(errorOf(await control.call('POST', '/v1/providers', { name: 'x', integration_id: 'main' })), [400, 'AB01', 'workspace_id']);
    assert.deepEqual(control.faults, []);
  });

  it('are not deleted while keys or configs name them, which is told; nor is an integration, which takes them along', async () => {
    const control = await startControl();
    const integration = await integrate(control);
    const made = await create(control, { slug: 'used' });
    const { workspaceId, organisationId } = await control.callerOf(as);
    const defaults = { metadata: {}, config_id: null, provider: '@used', allow_config_override: true };
    await putRows(control.repository, apiKeys, keyRow('a', { workspaceId, organisationId, name: 'the user', defaults }));
    const byKey = await control.call('DELETE', pathOf(made), undefined, { as });
    assert.deepEqual(errorOf(byKey), [409, 'AB07', null]);
    assert.match(String(byKey.body.message), /in use by the API key the user \(a\)/);
    // A provider of the gateway's own with the same name is another one.
    await putRows(control.repository, apiKeys, keyRow('a', { workspaceId, organisationId, defaults: { ...defaults, provider: 'used' } }));
    const config = await control.call('POST', '/v1/configs', { config: { strategy: { mode: 'single' }, targets: [{ provider: '@used' }] } }, { as });
    assert.equal(config.status, 200, JSON.stringify(config.body));
    assert.match(String((await control.call('DELETE', pathOf(made), undefined, { as })).body.message), new RegExp(`in use by the config ${String(config.body.slug)};`));
    assert.equal((await control.call('DELETE', `/v1/configs/${String(config.body.slug)}`, undefined, { as })).status, 200);
    assert.equal((await control.call('DELETE', pathOf(made), undefined, { as })).status, 200);
    await removeRows(control.repository, apiKeys, 'a');
    assert.equal((await create(control, { slug: 'used' })).status, 200);
    const user = await control.call('POST', '/v1/configs', { config: { provider: '@used' } }, { as });
    assert.equal(user.status, 200);
    const ofIntegration = `/v1/integrations/${String(integration.body.slug)}`;
    const refused = await control.call('DELETE', ofIntegration, undefined, { as });
    assert.deepEqual(errorOf(refused), [409, 'AB07', null]);
    assert.match(String(refused.body.message), new RegExp(`^integration main is in use by its provider @used, which is named by the config ${String(user.body.slug)};`));
    assert.equal((await control.call('GET', '/v1/providers/used', undefined, { as })).status, 200);
    // One that was left behind by a deleted workspace is in nobody's way.
    const elsewhere = await control.call('POST', '/v1/workspaces', { name: 'Elsewhere' });
    const shared = await control.call('POST', '/v1/integrations', { name: 'Shared', slug: 'shared', ai_provider_id: 'openai', key: 'sk-0123456789012345678901234' });
    assert.equal((await control.call('PUT', '/v1/integrations/shared/workspaces', { workspaces: [{ id: elsewhere.body.id, enabled: true }] })).status, 200, JSON.stringify(shared.body));
    assert.equal((await control.call('POST', '/v1/configs', { config: { provider: '@shared' }, workspace_id: elsewhere.body.id })).status, 200);
    assert.equal((await control.call('DELETE', '/v1/integrations/shared')).status, 409);
    assert.equal((await control.call('DELETE', `/v1/workspaces/${String(elsewhere.body.id)}`, { name: 'Elsewhere', force_delete: true })).status, 200);
    assert.equal((await control.call('DELETE', '/v1/integrations/shared')).status, 200);
    assert.equal((await control.call('DELETE', `/v1/configs/${String(user.body.slug)}`, undefined, { as })).status, 200);
    assert.equal((await control.call('DELETE', ofIntegration, undefined, { as })).status, 200);
    assert.equal((await control.call('GET', '/v1/providers/used', undefined, { as })).status, 404);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/configs', { config: { provider: '@used' } }, { as })), [404, 'AB02', 'config.provider']);
  });

  it('and the places of stored credentials are checked in configs that name them', async () => {
    const control = await startControl();
    await integrate(control);
    await create(control, { slug: 'mine' });
    const post = (config: object): Promise<TestReply> => control.call('POST', '/v1/configs', { config }, { as });
    for (const config of [{ provider: '@mine' }, { virtual_key: 'mine' }, { virtual_key: '@mine', retry: { attempts: 1 } }]) assert.equal((await post(config)).status, 200);
    const refusals: readonly [object, string][] = [
      [{ provider: '@mine', custom_host: 'https://elsewhere.example.com' }, 'config.custom_host'],
      [{ custom_host: 'https://elsewhere.example.com', strategy: { mode: 'single' }, targets: [{ provider: '@mine' }] }, 'config.targets[0].custom_host'],
      [{ custom_host: 'https://elsewhere.example.com', override_params: { model: '@mine/gpt-4o' }, retry: { attempts: 1 } }, 'config.custom_host'],
    ];
    for (const [config, param] of refusals) assert.deepEqual(errorOf(await post(config)), [400, 'AB01', param]);
    const byModel = await post({ override_params: { model: '@mine/gpt-4o' } });
    assert.equal(byModel.status, 200, JSON.stringify(byModel.body));
    assert.match(String((await control.call('DELETE', '/v1/providers/mine', undefined, { as })).body.message), new RegExp(`the config ${String(byModel.body.slug)}`));
    assert.equal((await post({ override_params: { model: '@cf/meta/llama' }, retry: { attempts: 1 } })).status, 200);
    const shown = JSON.stringify((await control.call('GET', `/v1/configs/${String((await post({ provider: '@mine' })).body.slug)}`, undefined, { as })).body);
    assert.doesNotMatch(shown, /sk-an-openai/);
    assert.match(shown, /"provider":"@mine"/);
  });
});

describe('virtual keys', () => {
  it('are providers with an integration of their own, which is nowhere else to be seen', async () => {
    const control = await startControl();
    const made = await control.call('POST', '/v1/virtual-keys', { name: 'Azure', provider: 'azure-openai', key: 'an-azure-key-of-the-test-0000001', resourceName: 'mine', apiVersion: '2024-10-21', deploymentConfig: [{ apiVersion: '2024-10-21', alias: 'gpt', deploymentName: 'd', is_default: true }], note: null, usage_limits: { credit_limit: 10 } }, { as });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.deepEqual([made.body.success, Object(made.body.data).slug], [true, made.body.slug]);
    assert.match(String(made.body.slug), /^azure-[0-9a-f]{6}$/);
    const path = `/v1/virtual-keys/${String(made.body.slug)}`;
    const read = (await control.call('GET', path, undefined, { as })).body;
    assert.deepEqual([read.name, read.note, read.status, read.usage_limits, read.object, read.provider, read.masked_key, read.secret_mappings], ['Azure', null, 'active', usage, 'virtual-key', 'azure-openai', 'an-****0001', []]);
    assert.deepEqual(read.model_config, { resource_name: 'mine', api_version: '2024-10-21', deployments: [{ api_version: '2024-10-21', alias: 'gpt', deployment_id: 'd', is_default: true }] });
    const asProvider = (await control.call('GET', `/v1/providers/${String(made.body.slug)}`, undefined, { as })).body;
    assert.equal(asProvider.id, made.body.id);
    for (const [name, caller] of [[asProvider.integration_id, as], [asProvider.integration_id, undefined], [made.body.slug, as]] as const) {
      assert.equal((await control.call('GET', `/v1/integrations/${String(name)}`, undefined, caller === undefined ? {} : { as: caller })).status, 404);
    }
    assert.equal((await control.call('GET', '/v1/integrations')).body.total, 0);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/providers', { name: 'x', integration_id: asProvider.integration_id }, { as })), [404, 'AB02', 'integration_id']);
    assert.deepEqual((await control.call('PUT', path, { key: 'another-azure-key-of-the-test-02', name: 'Other', rate_limits: { type: 'tokens', unit: 'rpd', value: 5 }, model_config: { resource_name: 'yours' } }, { as })).body, {});
    const after = (await control.call('GET', path, undefined, { as })).body;
    assert.deepEqual([after.name, after.masked_key, after.rate_limits, Object(after.model_config).resource_name, Object(after.model_config).api_version], ['Other', 'ano****t-02', [{ type: 'tokens', unit: 'rpd', value: 5 }], 'yours', '2024-10-21']);
    const stored = await control.repository.get(integrations, String(asProvider.integration_id));
    assert.ok(stored);
    assert.equal(new OpenIntegration(stored.row, control.plane.services.sealer).key?.reveal(), 'another-azure-key-of-the-test-02');
    assert.deepEqual([(await control.call('GET', '/v1/virtual-keys', undefined, { as })).body.total, (await control.call('GET', '/v1/virtual-keys')).body.total, (await control.call('GET', '/v1/providers', undefined, { as })).body.total], [1, 1, 1]);
    assert.equal((await control.call('POST', '/v1/configs', { config: { virtual_key: made.body.slug } }, { as })).status, 200);
    assert.deepEqual(errorOf(await control.call('DELETE', path, undefined, { as })), [409, 'AB07', null]);
    assert.equal((await control.call('DELETE', `/v1/configs/${String(Object(Object((await control.call('GET', '/v1/configs', undefined, { as })).body.data)[0]).slug)}`, undefined, { as })).status, 200);
    assert.deepEqual((await control.call('DELETE', path, undefined, { as })).body, {});
    assert.deepEqual([(await control.call('GET', path, undefined, { as })).status, (await control.repository.get(integrations, String(asProvider.integration_id)))?.row.sealedKey], [404, null]);
    assert.deepEqual(control.faults, []);
  });

  it('are refused with the member at fault', async () => {
    const control = await startControl();
    const refusals: readonly [object, number, string, string][] = [
      [{ provider: 'opnai', key }, 400, 'AB01', 'provider'],
      [{ key }, 400, 'AB01', 'provider'],
      [{ provider: 'openai' }, 400, 'AB01', 'key'],
      [{ provider: 'openai', key, resourceName: 'x' }, 400, 'AB01', 'model_config.resource_name'],
      [{ provider: 'azure-openai', key, resourceName: 'x', deploymentConfig: [5] }, 400, 'AB01', 'deployment_config.0'],
      [{ provider: 'openai', key, model_config: { x: 1 } }, 400, 'AB01', 'model_config.x'],
      [{ provider: 'openai', key, secret_mappings: [{ target_field: 'key', secret_reference_id: 'x' }] }, 404, 'AB02', 'secret_mappings.0.secret_reference_id'],
    ];
    for (const [body, status, code, param] of refusals) {
      const reply = await control.call('POST', '/v1/virtual-keys', body, { as });
      assert.deepEqual(errorOf(reply), [status, code, param], JSON.stringify(reply.body));
    }
    await integrate(control);
    const plain = await create(control);
    assert.equal((await control.call('GET', `/v1/virtual-keys/${String(plain.body.slug)}`, undefined, { as })).status, 404);
    assert.deepEqual(control.faults, []);
  });
});
