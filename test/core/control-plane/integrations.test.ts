import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenIntegration } from '../../../core/storage/open-rows.js';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { firstPerson, firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { putRows } from '../../support/rows.js';

const as = firstApiKey;
const key = 'sk-an-openai-key-of-the-test-0001';

const create = (control: TestControl, more: object = {}): Promise<TestReply> => control.call('POST', '/v1/integrations', { name: 'Open AI', ai_provider_id: 'openai', key, ...more });
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const pathOf = ({ body }: TestReply): string => `/v1/integrations/${String(body.slug)}`;
const members = (value: unknown): Record<string, unknown> => Object(value);

async function addWorkspace(control: TestControl, slug: string): Promise<string> {
  const [first] = await control.repository.list(workspaces, { limit: 1 });
  assert.ok(first);
  const id = `00000000-0000-7000-8000-${slug.padStart(12, '0').slice(-12).replace(/[^0-9a-f]/g, '0')}`;
  await putRows(control.repository, workspaces, { ...first.row, id, slug, name: slug, isDefault: false });
  return id;
}

describe('integrations', () => {
  it('hold models up to a bound, however many calls bring them', async () => {
    const control = await startControl();
    const path = `${pathOf(await create(control))}/models`;
    const replies: TestReply[] = [];
    for (let part = 0; part < 6; part += 1) {
      const models = Array.from({ length: 8 }, (_, index) => ({
        slug: `m-${part}-${index}`, enabled: true, is_custom: true, configurations: { custom_headers: Object.fromEntries(Array.from({ length: 14 }, (_unused, header) => [`x-${header}`, 'v'.repeat(8_000)])) },
      }));
      replies.push(await control.call('PUT', path, { models }));
    }
    assert.deepEqual(replies.map(({ status }) => status), [200, 200, 200, 200, 400, 400]);
    assert.deepEqual(errorOf(replies[5] ?? assert.fail()), [400, 'AB01', 'models']);
  });

  it('are created, read, listed, changed and deleted', async () => {
    const control = await startControl();
    const made = await create(control, { slug: 'main', description: 'the first', configurations: { openai_organization: 'org-1', custom_headers: { 'X-Team': 'blue' } } });
    assert.deepEqual([made.status, made.body.slug], [200, 'main'], JSON.stringify(made.body));
    const read = await control.call('GET', pathOf(made));
    const { id, created_at: _at, last_updated_at: _updated, organisation_id: _organisation, ...rest } = read.body;
    assert.equal(id, made.body.id);
    assert.deepEqual(rest, {
      workspace_id: null, type: 'organisation', ai_provider_id: 'openai', name: 'Open AI', slug: 'main', description: 'the first', status: 'active', tags: [], object: 'integration',
      masked_key: 'sk-****0001', configurations: { vendor_organization: 'org-1', custom_headers: { 'x-team': '****' } },
      global_workspace_access_settings: { enabled: false, usage_limits: null, rate_limits: null }, allow_all_models: true, workspace_count: 0, secret_mappings: [], pricing_adjustments: null,
    });
    const update = { name: 'Renamed', configurations: { vendor_project: 'p', openai_organization: null, custom_headers: { 'x-team': '****' } }, pricing_adjustments: { multiplier: { default: 1.5, image: { default: 2 } } } };
    assert.deepEqual((await control.call('PUT', pathOf(made), update)).body, {});
    const after = (await control.call('GET', pathOf(made))).body;
    assert.deepEqual([after.name, after.configurations, after.masked_key, members(after.pricing_adjustments).multiplier], ['Renamed', { vendor_project: 'p', custom_headers: { 'x-team': '****' } }, 'sk-****0001', update.pricing_adjustments.multiplier]);
    const stored = await control.repository.get(integrations, String(id));
    assert.ok(stored);
    const open = new OpenIntegration(stored.row, control.plane.services.sealer);
    assert.deepEqual([open.key?.reveal(), open.headers], [key, { 'x-team': 'blue' }]);
    assert.equal((await control.call('GET', '/v1/integrations')).body.total, 1);
    assert.deepEqual((await control.call('DELETE', pathOf(made))).body, {});
    assert.deepEqual(errorOf(await control.call('GET', pathOf(made))), [404, 'AB08', null]);
    const gone = await control.repository.get(integrations, String(id));
    assert.deepEqual([gone?.row.status, gone?.row.sealedKey, gone?.row.sealedHeaders], ['archived', null, null]);
    assert.deepEqual(control.faults, []);
  });

  it('take the members of their provider, by their own names and by those of other gateways', async () => {
    const control = await startControl();
    const account = { type: 'service_account', project_id: 'p', private_key: 'marked', client_email: 'a@b' };
    const good: readonly [string, object, Record<string, unknown>][] = [
      ['bedrock', { aws_auth_type: 'accessKey', aws_region: 'eu-central-1', aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'secretsecretsecretsecretsecret01' },
        { cloud1_auth_type: 'accessKey', cloud1_region: 'eu-central-1', masked_cloud1_access_key_id: '****', masked_cloud1_secret_access_key: 'sec****et01' }],
      ['vertex-ai', { vertex_auth_type: 'serviceAccount', vertex_region: 'us-central1', vertex_service_account_json: account }, { cloud2_auth_type: 'serviceAccount', cloud2_region: 'us-central1', masked_cloud2_service_account_json: '****' }],
      ['azure-openai', { azure_auth_mode: 'entra', azure_resource_name: 'mine', azure_entra_tenant_id: 't', azure_entra_client_id: 'c', azure_entra_client_secret: 's', azure_deployment_config: [{ azure_api_version: 'v1', azure_deployment_name: 'd', azure_model_slug: 'gpt-4o', is_default: true }] },
        { cloud3_auth_mode: 'entra', resource_name: 'mine', cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'c', masked_cloud3_entra_client_secret: '****', deployments: [{ api_version: 'v1', deployment_id: 'd', is_default: true, alias: 'gpt-4o' }] }],
      ['azure-ai', { azure_foundry_url: 'https://models.example.com', azure_entra_tenant_id: 't', azure_entra_client_id: 'c', azure_entra_client_secret: 's' }, { custom_host: 'https://models.example.com', cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'c', masked_cloud3_entra_client_secret: '****' }],
      ['openai', { custom_host: 'https://llm.example.com/v1', custom_headers: { authorization: 'Basic abcdefghijklmnopqrstuvwx' } }, { custom_host: 'https://llm.example.com/v1', custom_headers: { authorization: 'Bas****uvwx' } }],
      ['ollama', {}, {}],
    ];
    for (const [provider, configurations, shown] of good) {
      const made = await control.call('POST', '/v1/integrations', { name: provider, ai_provider_id: provider, configurations });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      const path = pathOf(made);
      const read = (await control.call('GET', path)).body;
      assert.deepEqual([read.configurations, read.masked_key], [shown, null]);
      // What was read may be sent back.
      assert.equal((await control.call('PUT', path, { configurations: read.configurations })).status, 200);
      assert.deepEqual((await control.call('GET', path)).body.configurations, shown);
    }
    const names = await control.call('POST', '/v1/integrations', { name: 'x', ai_provider_id: 'open-ai', key });
    assert.equal((await control.call('GET', pathOf(names))).body.ai_provider_id, 'openai');
    assert.deepEqual(control.faults, []);
  });

  it('are refused by name when they could not work', async () => {
    const control = await startControl();
    const bedrock = { ai_provider_id: 'bedrock', key: undefined };
    const azure = { ai_provider_id: 'azure-openai', configurations: { resource_name: 'mine' } };
    const refusals: readonly [object, number, string, string][] = [
      [{ ai_provider_id: 'opnai' }, 400, 'AB01', 'ai_provider_id'],
      [{ key: undefined }, 400, 'AB01', 'key'],
      [{ key: 'with\nbreak' }, 400, 'AB01', 'key'],
      [{ key: 'env:OPENAI_API_KEY' }, 400, 'AB01', 'key'],
      [{ key: ' sk-with-a-blank' }, 400, 'AB01', 'key'],
      [{ configurations: { vendor_project: 'env:PROJECT' } }, 400, 'AB01', 'configurations.vendor_project'],
      [{ key: firstApiKey }, 400, 'AB01', 'key'],
      [{ key: `Bearer ${firstApiKey}` }, 400, 'AB01', 'key'],
      [{ key: 'sk-****0001' }, 400, 'AB01', 'key'],
      [{ name: '' }, 400, 'AB01', 'name'],
      [{ slug: 'with blank' }, 400, 'AB01', 'slug'],
      [{ slug: 'taken' }, 409, 'AB07', 'slug'],
      [{ configurations: { vendor_organisation: 'x' } }, 400, 'AB01', 'configurations.vendor_organisation'],
      [{ configurations: { aws_region: 'eu-central-1' } }, 400, 'AB01', 'configurations.aws_region'],
      [{ configurations: { api_key: 'x' } }, 400, 'AB01', 'configurations.api_key'],
      [{ configurations: { vendor_project: 5 } }, 400, 'AB01', 'configurations.vendor_project'],
      [{ configurations: { vendor_project: 'a\r\nb: c' } }, 400, 'AB01', 'configurations.vendor_project'],
      [{ configurations: { vendor_project: 'a', openai_project: 'b' } }, 400, 'AB01', 'configurations.openai_project'],
      [{ configurations: { custom_host: 'ftp://x' } }, 400, 'AB01', 'configurations.custom_host'],
      [{ configurations: { custom_host: 'https://user:pass@x' } }, 400, 'AB01', 'configurations.custom_host'],
      [{ configurations: { custom_headers: JSON.parse('{"__proto__":"x"}') } }, 400, 'AB01', 'configurations.custom_headers.__proto__'],
      [{ configurations: { custom_headers: { host: 'x' } } }, 400, 'AB01', 'configurations.custom_headers.host'],
      [{ configurations: { custom_headers: { 'Transfer-Encoding': 'x' } } }, 400, 'AB01', 'configurations.custom_headers.Transfer-Encoding'],
      [{ configurations: { custom_headers: { 'x-gateway-config': 'x' } } }, 400, 'AB01', 'configurations.custom_headers.x-gateway-config'],
      [{ configurations: { custom_headers: { Authorization: 'x' } } }, 400, 'AB01', 'configurations.custom_headers.Authorization'],
      [{ configurations: { custom_headers: { 'x-a': 'a\nb' } } }, 400, 'AB01', 'configurations.custom_headers.x-a'],
      [{ configurations: { custom_headers: { 'x-a': firstApiKey } } }, 400, 'AB01', 'configurations.custom_headers.x-a'],
      [{ configurations: { custom_headers: ['x'] } }, 400, 'AB01', 'configurations.custom_headers'],
      [{ ...bedrock, configurations: { aws_region: 'eu-central-1' } }, 400, 'AB01', 'key'],
      [{ ...bedrock, configurations: { aws_secret_access_key: 's' } }, 400, 'AB01', 'configurations.cloud1_access_key_id'],
      [{ ...bedrock, configurations: { aws_access_key_id: 'a', aws_secret_access_key: 's', aws_region: 'a.b/c' } }, 400, 'AB01', 'configurations.cloud1_region'],
      [{ ...bedrock, configurations: { aws_auth_type: 'assumedRole', aws_role_arn: 'arn' } }, 400, 'AB01', 'configurations.aws_auth_type'],
      [{ ...azure, configurations: {} }, 400, 'AB01', 'configurations.resource_name'],
      [{ ...azure, configurations: { resource_name: 'mine', azure_deployment_config: [{ azure_api_version: 'v1', azure_model_slug: 'm' }] } }, 400, 'AB01', 'configurations.deployments.0'],
      [{ ai_provider_id: 'snowflake-cortex' }, 400, 'AB01', 'configurations.custom_host'],
      [{ secret_mappings: [{ target_field: 'key', secret_reference_id: 'nowhere' }] }, 404, 'AB02', 'secret_mappings.0.secret_reference_id'],
      [{ pricing_adjustments: { multiplier: { default: -1 } } }, 400, 'AB01', 'pricing_adjustments.multiplier.default'],
      [{ workspace_id: 'nowhere' }, 404, 'AB02', 'workspace_id'],
    ];
    assert.equal((await create(control, { slug: 'taken' })).status, 200);
    for (const [more, status, code, param] of refusals) {
      const reply = await create(control, more);
      assert.deepEqual(errorOf(reply), [status, code, param], `${JSON.stringify(more)} ${JSON.stringify(reply.body)}`);
    }
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/integrations/taken', { ai_provider_id: 'anthropic' })), [400, 'AB01', 'ai_provider_id']);
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/integrations/taken', { slug: 'other' })), [400, 'AB01', 'slug']);
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/integrations/taken', { key: null })), [400, 'AB01', 'key']);
    assert.deepEqual(control.faults, []);
  });

  it('belong to the organisation or to one workspace, and stand under the scopes of that', async () => {
    const control = await startControl();
    const shared = await create(control, { slug: 'same' });
    const own = await control.call('POST', '/v1/integrations', { name: 'Own', slug: 'same', ai_provider_id: 'openai', key }, { as });
    assert.equal(own.status, 200, JSON.stringify(own.body));
    const mine = await control.call('GET', '/v1/integrations', undefined, { as });
    assert.deepEqual([mine.body.total, members(members(mine.body.data)[0]).type], [1, 'workspace']);
    assert.equal((await control.call('GET', '/v1/integrations/same', undefined, { as })).body.id, own.body.id);
    assert.equal((await control.call('GET', '/v1/integrations/same')).body.id, shared.body.id);
    assert.equal((await control.call('GET', '/v1/integrations/same?workspace_id=first-workspace')).body.id, own.body.id);
    for (const type of ['workspace', 'organisation', 'all']) assert.equal((await control.call('GET', `/v1/integrations?type=${type}`)).body.total, type === 'all' ? 2 : 1);
    const given = await control.call('PUT', `/v1/integrations/${String(shared.body.id)}/workspaces`, { workspaces: [{ id: 'first-workspace', enabled: true }], create_default_provider: false });
    assert.deepEqual(given.body, {});
    assert.equal((await control.call('GET', '/v1/integrations', undefined, { as })).body.total, 2);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      assert.deepEqual(errorOf(await control.call(method, `/v1/integrations/${String(shared.body.id)}`, method === 'PUT' ? { name: 'x' } : undefined, { as })), [403, 'AB03', null], method);
    }
    const other = await addWorkspace(control, 'b');
    const foreign = await control.call('POST', '/v1/integrations', { name: 'Foreign', ai_provider_id: 'openai', key, workspace_id: other });
    assert.deepEqual(errorOf(await control.call('GET', `/v1/integrations/${String(foreign.body.id)}`, undefined, { as })), [403, 'AB03', null]);
    assert.deepEqual(errorOf(await control.call('GET', `/v1/integrations/${String(foreign.body.slug)}`, undefined, { as })), [404, 'AB08', null]);
  });

  it('whose secrets were left out of a backup are read, get them again, and are deleted', async () => {
    const control = await startControl();
    const made = await create(control, { configurations: { custom_headers: { 'x-team': 'blue' } } });
    const row = await control.repository.get(integrations, String(made.body.id));
    assert.ok(row);
    await putRows(control.repository, integrations, { ...row.row, sealedKey: null, sealedHeaders: null });
    const read = (await control.call('GET', pathOf(made))).body;
    assert.deepEqual([read.masked_key, read.configurations], [null, {}]);
    assert.equal((await control.call('PUT', pathOf(made), { name: 'Renamed' })).status, 200);
    assert.deepEqual(errorOf(await control.call('PUT', pathOf(made), { configurations: { vendor_project: 'p' } })), [400, 'AB01', 'key']);
    assert.deepEqual(errorOf(await control.call('PUT', pathOf(made), { key: 'sk-****0001' })), [400, 'AB01', 'key']);
    assert.equal((await control.call('PUT', pathOf(made), { key })).status, 200);
    assert.equal((await control.call('GET', pathOf(made))).body.masked_key, 'sk-****0001');
    assert.equal((await control.call('DELETE', pathOf(made))).status, 200);
    assert.deepEqual(control.faults, []);
  });

  it('named alike in several workspaces are told apart by the workspace', async () => {
    const control = await startControl();
    const other = await addWorkspace(control, 'b');
    for (const workspace_id of ['first-workspace', other]) assert.equal((await create(control, { slug: 'twin', workspace_id })).status, 200);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/integrations/twin')), [400, 'AB01', 'workspace_id']);
    assert.equal((await control.call('GET', '/v1/integrations/twin?workspace_id=b')).body.workspace_id, other);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/providers/twin')), [400, 'AB01', 'workspace_id']);
    assert.equal((await control.call('DELETE', '/v1/integrations/twin?workspace_id=b')).status, 200);
    assert.notEqual((await control.call('GET', '/v1/integrations/twin')).body.workspace_id, other);
  });

  it('have models: allowed, switched off, of the operator\'s own', async () => {
    const control = await startControl();
    const path = `${pathOf(await create(control))}/models`;
    const put = (models: unknown, more: object = {}): Promise<TestReply> => control.call('PUT', path, { models, ...more });
    assert.deepEqual((await put([
      { slug: 'gpt-4o', enabled: true },
      { slug: 'mine', enabled: true, is_custom: true, base_model_slug: 'gpt-4o', configurations: { custom_host: 'https://mine.example.com/v1', custom_headers: { 'x-k': 'marked-model-header-0000001' } }, pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: 0.1 } } } },
    ], { allow_all_models: false })).body, {});
    assert.equal((await put([{ slug: 'gpt-4o', enabled: false }, { slug: 'mine', enabled: true, configurations: { custom_host: 'https://mine.example.com/v2', custom_headers: { 'x-k': 'mar****0001' } } }])).status, 200);
    const list = (await control.call('GET', path.replace(/models$/, 'integration-models'))).body;
    assert.deepEqual([list.total, list.allow_all_models], [2, false]);
    assert.deepEqual(list.models, [
      { slug: 'gpt-4o', enabled: false, name: 'gpt-4o', is_custom: false, is_finetune: false, base_model_slug: null, pricing_config: null, configurations: {} },
      { slug: 'mine', enabled: true, name: 'mine', is_custom: true, is_finetune: false, base_model_slug: 'gpt-4o', pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: 0.1 } } }, configurations: { custom_host: 'https://mine.example.com/v2', custom_headers: { 'x-k': 'mar****0001' } } },
    ]);
    const refusals: readonly [unknown, string][] = [
      [[{ slug: 'a', enabled: true, configurations: {} }], 'models.0.configurations'],
      [[{ slug: 'a', enabled: true, configurations: { custom_host: '' } }], 'models.0.configurations.custom_host'],
      [[{ slug: 'a', enabled: true, configurations: { custom_host: 'nowhere' } }], 'models.0.configurations.custom_host'],
      [[{ slug: 'a', enabled: true, configurations: { custom_headers: { connection: 'x' } } }], 'models.0.configurations.custom_headers.connection'],
      [[{ slug: 'a', enabled: true }, { slug: 'a', enabled: true }], 'models.1.slug'],
      [[{ slug: 'a' }], 'models.0.enabled'],
      [{}, 'models'],
    ];
    for (const [models, param] of refusals) assert.deepEqual(errorOf(await put(models)), [400, 'AB01', param]);
    assert.deepEqual(errorOf(await control.call('DELETE', `${path}?slugs=gpt-4o`)), [400, 'AB01', 'slugs']);
    assert.deepEqual(errorOf(await control.call('DELETE', `${path}?slugs=mine,none`)), [404, 'AB02', 'slugs']);
    assert.deepEqual((await control.call('DELETE', `${path}?slugs=mine`)).body, {});
    assert.equal((await control.call('GET', path)).body.total, 1);
    assert.doesNotMatch(await everyByte(control.repository), /marked-model-header/);
  });

  it('are given to workspaces, with limits and providers', async () => {
    const control = await startControl();
    const [b, c] = [await addWorkspace(control, 'b'), await addWorkspace(control, 'c')];
    const made = await create(control, { slug: 'shared' });
    const path = `${pathOf(made)}/workspaces`;
    const put = (body: object): Promise<TestReply> => control.call('PUT', path, body);
    const slugs = async (workspace: string): Promise<unknown[]> => (await control.call('GET', `/v1/providers?workspace_id=${workspace}`)).body.data as unknown[];
    const limits = { usage_limits: [{ credit_limit: 5 }], rate_limits: { type: 'requests', unit: 'rpm', value: 10 } };
    assert.deepEqual((await put({ workspaces: [{ id: 'first-workspace', enabled: true, ...limits, default_provider_slug: 'chosen' }, { id: b, enabled: false }] })).body, {});
    const access = (await control.call('GET', path)).body;
    assert.deepEqual([access.total, members(members(access.workspaces)[0]).rate_limits, members(members(members(access.workspaces)[0]).usage_limits)[0]], [
      2, [{ type: 'requests', unit: 'rpm', value: 10 }], { credit_limit: 5, type: 'cost', alert_threshold: null, periodic_reset: null, periodic_reset_days: null, next_usage_reset_at: null },
    ]);
    assert.deepEqual([members((await slugs('first-workspace'))[0]).slug, (await slugs('b')).length], ['chosen', 0]);
    // Everybody else; who has a provider gets no second one.
    assert.equal((await put({ global_workspace_access: { enabled: true } })).status, 200);
    assert.deepEqual([(await slugs('first-workspace')).length, (await slugs('b')).length, members((await slugs('c'))[0]).slug], [1, 0, 'shared']);
    assert.equal((await control.call('GET', pathOf(made))).body.workspace_count, 2);
    assert.equal((await put({ global_workspace_access: { enabled: true }, override_existing_workspace_access: true })).status, 200);
    assert.deepEqual([(await control.call('GET', path)).body.total, (await slugs('b')).length], [0, 1]);
    const refusals: readonly [object, number, string, string][] = [
      [{ workspaces: [{ id: 'nowhere', enabled: true }] }, 404, 'AB02', 'workspaces.0.id'],
      [{ workspaces: [{ id: c, enabled: true }, { id: 'c', enabled: true }] }, 400, 'AB01', 'workspaces.1.id'],
      [{ workspaces: [{ id: c, enabled: true, usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }] }, 400, 'AB01', 'workspaces.0.usage_limits'],
      [{ workspaces: [{ id: c, enabled: true, rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }] }, 400, 'AB01', 'workspaces.0.rate_limits.0.unit'],
      [{ global_workspace_access: {} }, 400, 'AB01', 'global_workspace_access.enabled'],
    ];
    for (const [body, status, code, param] of refusals) assert.deepEqual(errorOf(await put(body)), [status, code, param], JSON.stringify(body));
    const own = await control.call('POST', '/v1/integrations', { name: 'Own', ai_provider_id: 'openai', key }, { as });
    assert.deepEqual(errorOf(await control.call('PUT', `${pathOf(own)}/workspaces`, { workspaces: [] }, { as })), [400, 'AB01', 'workspaces']);
    // What was made from it goes with it.
    assert.equal((await control.call('DELETE', pathOf(made))).status, 200);
    assert.deepEqual([(await slugs('b')).length, (await slugs('c')).length], [0, 0]);
    assert.deepEqual(control.faults, []);
  });

  it('keep what is secret in them to themselves', async () => {
    const control = await startControl();
    const secret = (name: string): string => `marked-secret-${name}-of-integration`;
    const account = { project_id: 'p', client_email: secret('e'), private_key: secret('f') };
    const bodies: readonly [string, object][] = [
      ['openai', { key: secret('a'), configurations: { custom_headers: { 'x-any': secret('b') } } }],
      ['bedrock', { configurations: { aws_access_key_id: secret('c'), cloud1_secret_access_key: secret('d'), cloud1_session_token: secret('g'), aws_region: 'eu-central-1' } }],
      ['vertex-ai', { configurations: { vertex_region: 'global', vertex_service_account_json: account } }],
      ['azure-openai', { configurations: { resource_name: 'r', cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'i', cloud3_entra_client_secret: secret('h') } }],
      ['azure-openai', { configurations: { resource_name: 'r', cloud3_ad_token: secret('i') } }],
    ];
    const replies: unknown[] = [];
    for (const [provider, body] of bodies) {
      const made = await control.call('POST', '/v1/integrations', { name: provider, ai_provider_id: provider, ...body });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      const path = pathOf(made);
      replies.push(made, await control.call('GET', path), await control.call('PUT', path, body), await control.call('PUT', path, { ...body, unknown: secret('j') }));
      replies.push(await control.call('PUT', path, { configurations: { unknown: secret('k') } }), await control.call('PUT', path, { configurations: { custom_host: secret('l') } }));
      replies.push(await control.call('PUT', path, { configurations: { custom_headers: { host: secret('m') } } }), await control.call('PUT', path, { key: `${secret('n')}\n` }));
    }
    const virtual = await control.call('POST', '/v1/virtual-keys', { name: 'Old', provider: 'bedrock', key: secret('o'), model_config: { aws_access_key_id: secret('p'), aws_secret_access_key: secret('q') } }, { as });
    assert.equal(virtual.status, 200, JSON.stringify(virtual.body));
    const path = `/v1/virtual-keys/${String(virtual.body.slug)}`;
    replies.push(virtual, await control.call('GET', path, undefined, { as }), await control.call('GET', '/v1/virtual-keys', undefined, { as }), await control.call('PUT', path, { key: secret('r') }, { as }), await control.call('PUT', path, { model_config: { x: secret('s') } }, { as }));
    replies.push(await control.call('GET', '/v1/integrations'), await control.call('GET', '/v1/providers'));
    const shown = JSON.stringify(replies);
    assert.match(shown, /mar\*\*\*\*tion/);
    assert.doesNotMatch(shown, /marked-secret/);
    const bytes = await everyByte(control.repository);
    assert.match(bytes, /azure-openai-[0-9a-f]{6}/);
    assert.doesNotMatch(bytes, /marked-secret/);
    assert.deepEqual(control.faults, []);
  });

  it('are not sent elsewhere by a person who may use them and not know them', async () => {
    const control = await startControl();
    const person = await control.call('POST', '/v1/api-keys/workspace/user', { name: 'a person', workspace_id: 'first-workspace', user_id: firstPerson, scopes: ['workspace_integrations.update', 'workspace_integrations.create'] });
    assert.equal(person.status, 200, JSON.stringify(person.body));
    const personally = { as: String(person.body.key) };
    const azure = { azure_auth_mode: 'default', azure_resource_name: 'ours', azure_deployment_config: [{ azure_api_version: '2024-06-01', azure_deployment_name: 'd', azure_model_slug: 'gpt' }] };
    for (const [provider, configurations, elsewhere] of [
      ['openai', {}, { custom_host: 'https://elsewhere.example/v1' }], ['openai', { custom_host: 'https://ours.example/v1' }, { custom_host: 'https://ours.example.evil/v1' }],
      ['azure-openai', azure, { azure_resource_name: 'theirs' }],
    ] as const) {
      const made = await create(control, { ai_provider_id: provider, configurations, workspace_id: 'first-workspace' });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      assert.deepEqual(errorOf(await control.call('PUT', pathOf(made), { configurations: elsewhere }, personally)), [400, 'AB01', 'key']);
      assert.deepEqual(errorOf(await control.call('PUT', pathOf(made), { key: 'sk-****0001', configurations: elsewhere }, personally)), [400, 'AB01', 'key']);
      assert.equal((await control.call('PUT', pathOf(made), { name: 'only the name', configurations }, personally)).status, 200);
      assert.deepEqual(errorOf(await control.call('PUT', `${pathOf(made)}/models`, { models: [{ slug: 'm', enabled: true, configurations: { custom_host: 'https://elsewhere.example/v1' } }] }, personally)).slice(0, 2), [403, 'AB03']);
      assert.equal((await control.call('PUT', pathOf(made), { key: 'sk-one-of-my-own-00000001', configurations: elsewhere }, personally)).status, 200);
      assert.equal((await control.call('PUT', pathOf(made), { configurations: elsewhere }, { as })).status, 200);
    }
  });
});
