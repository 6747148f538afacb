// The forms that clients of older gateways of this kind write and read: each stands for the same call, and is answered with what its readers look for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminKey } from '../support/gateway.js';
import type { StageReply } from './control/cases.js';
import { startStage } from './control/stage.js';

const stage = await startStage([]);
const { workspace, made, call, unique } = stage;
const config = { provider: 'mock', api_key: 'key-of-the-mock-provider-0009' };
const inWorkspace = `workspace_id=${workspace.id}`;
const made1 = async (path: string, body: Readonly<Record<string, unknown>>): Promise<StageReply['body']> => (await made('POST', path, { workspace_id: workspace.id, ...body })).body;
const makeConfig = (): Promise<StageReply['body']> => made1('/v1/configs', { name: unique('Forms'), config });
const makeVirtualKey = (more: Readonly<Record<string, unknown>> = {}): Promise<StageReply['body']> => made1('/v1/virtual-keys', { name: unique('Forms'), provider: 'mock', key: 'key-of-the-mock-provider-0009', ...more });

describe('paths', () => {
  it('are the same below /v1, /v2 and the root', async () => {
    const { slug } = await makeConfig();
    for (const prefix of ['/v1', '/v2', '']) assert.equal((await made('GET', `${prefix}/configs/${slug}`)).body.slug, slug, prefix);
  });

  it('have other names', async () => {
    const integration = (await made('POST', '/v1/integrations', { name: unique('Forms'), ai_provider_id: 'mock', key: 'key-of-the-mock-provider-0009' })).body;
    const pairs: readonly (readonly [string, string])[] = [
      ['/v1/admin/workspaces', '/v1/workspaces'], [`/v1/admin/workspaces/${workspace.slug}`, `/v1/workspaces/${workspace.slug}`], ['/v1/admin/users', '/v1/users'],
      [`/v1/integrations/${integration.slug}/models`, `/v1/integrations/${integration.slug}/integration-models`], ['/v1/admin/users/invites', '/v1/users/invites'],
      [`/v1/prompts/partials?${inWorkspace}`, `/v1/prompt-partials?${inWorkspace}`], [`/v1/admin/workspaces/${workspace.id}/users`, `/v1/workspaces/${workspace.id}/users`], ['/v1/admin/organisation', '/v1/organisation/settings'],
    ];
    for (const [one, other] of pairs) assert.deepEqual((await made('GET', one)).body, (await made('GET', other)).body, one);
  });

  it('take an id or a slug, and @ before the slug of a provider', async () => {
    const stored = await makeConfig();
    assert.equal((await made('GET', `/v1/configs/${stored.id}`)).body.slug, stored.slug);
    assert.equal((await made('GET', `/v1/workspaces/${workspace.id}`)).body.slug, workspace.slug);
    const key = await makeVirtualKey();
    for (const name of [key.id, key.slug, `@${key.slug}`]) assert.equal((await made('GET', `/v1/providers/${encodeURIComponent(name)}`)).body.slug, key.slug, name);
    const guardrail = await made1('/v1/guardrails', { name: unique('Forms'), checks: [{ id: 'default.regexMatch', parameters: { rule: 'x' } }], actions: { deny: false, async: false, on_success: { feedback: { value: 5, weight: 1, metadata: '' } }, on_fail: { feedback: { value: -5, weight: 1, metadata: '' } } } });
    for (const name of [guardrail.id, guardrail.slug]) assert.equal((await made('GET', `/v1/guardrails/${name}`)).body.id, guardrail.id);
  });
});

describe('keys', () => {
  it('come in x-gateway-api-key or in authorization, or in both', async () => {
    const bearer = { authorization: `Bearer ${adminKey}` };
    for (const headers of [bearer, { ...bearer, 'x-gateway-api-key': adminKey }]) assert.equal((await call('GET', '/v1/workspaces', undefined, { key: null, headers })).status, 200);
    assert.equal((await call('GET', '/v1/workspaces', undefined, { key: adminKey })).status, 200);
  });
});

describe('the workspace', () => {
  it('is named in query or body, by id or slug', async () => {
    for (const [path, body] of [['/v1/configs', { workspace_id: workspace.slug }], ['/v1/configs', { workspace_id: workspace.id }], [`/v1/configs?workspace_id=${workspace.slug}`, {}], [`/v1/configs?${inWorkspace}`, { workspace_id: workspace.id }]] as const) {
      assert.equal((await made('POST', path, { config, ...body })).body.object, 'config');
    }
    const { id } = await makeConfig();
    assert.equal((await call('DELETE', `/v1/configs/${id}`, { workspace_id: workspace.id })).status, 200);
  });

  it('is needed where a slug alone does not tell, and not where it does', async () => {
    const slug = 'in-two-workspaces';
    for (const workspace_id of [workspace.id, stage.other.id]) await made('POST', '/v1/virtual-keys', { name: 'Twice', slug, provider: 'mock', key: 'key-of-the-mock-provider-0009', workspace_id });
    const { status, body } = await call('GET', `/v1/virtual-keys/${slug}`);
    assert.deepEqual([status, body.error.param], [400, 'workspace_id']);
    assert.equal((await made('GET', `/v1/virtual-keys/${slug}?${inWorkspace}`)).body.workspace_id, workspace.id);
    const one = await makeVirtualKey();
    assert.equal((await made('GET', `/v1/virtual-keys/${one.slug}`)).body.id, one.id);
  });
});

describe('names of members', () => {
  it('are in snake case, or in the camel case of before', async () => {
    const first = await made1('/v1/configs', { config, isDefault: 1 });
    const second = await made1('/v1/configs', { config, is_default: true });
    assert.deepEqual([(await made('GET', `/v1/configs/${first.slug}`)).body.is_default, (await made('GET', `/v1/configs/${second.slug}`)).body.is_default], [0, 1]);
    const cloud = { provider: 'azure-openai', key: 'key-of-the-cloud-provider-0001' };
    const old = await makeVirtualKey({ ...cloud, resourceName: 'res', deploymentConfig: [{ apiVersion: '2024-06-01', alias: 'gpt', deploymentName: 'dep', is_default: true }] });
    const today = await makeVirtualKey({ ...cloud, resource_name: 'res', deployment_config: [{ api_version: '2024-06-01', alias: 'gpt', deployment_name: 'dep', is_default: true }] });
    const read = async (slug: string): Promise<unknown> => (await made('GET', `/v1/virtual-keys/${slug}`)).body.model_config;
    assert.deepEqual(await read(old.slug), await read(today.slug));
    assert.equal((await call('POST', '/v1/configs', { config, isDefault: 1, is_default: 1, workspace_id: workspace.id })).status, 400);
  });

  it('of pages are in snake case, and of users and invites in camel case as well', async () => {
    for (const path of ['/v1/admin/users', '/v1/admin/users/invites']) {
      for (const query of ['pageSize=1&currentPage=0', 'page_size=1&current_page=0']) assert.ok((await made('GET', `${path}?${query}`)).body.data.length <= 1, `${path} ${query}`);
      assert.deepEqual((await made('GET', `${path}?pageSize=5&currentPage=50`)).body.data, []);
    }
  });

  it('of a link to an invite are as they were', async () => {
    const invite = (await made('POST', '/v1/admin/users/invites', { email: 'forms@example.com', role: 'member', workspaces: [{ id: workspace.id, role: 'member' }] })).body;
    assert.deepEqual([typeof invite.id, typeof invite.invite_link], ['string', 'string']);
    assert.equal(typeof (await made('POST', `/v1/admin/users/invites/${invite.id}/resend`)).body.inviteLink, 'string');
  });

  it('that the path has already may be repeated, when they say the same', async () => {
    const { id, slug } = await makeConfig();
    for (const [path, body] of [[slug, { slug }], [id, { id }]] as const) assert.equal((await call('PUT', `/v1/configs/${path}`, { name: 'Repeated', ...body })).status, 200);
    const { status, body } = await call('PUT', `/v1/configs/${slug}`, { name: 'Repeated', slug: 'another' });
    assert.deepEqual([status, body.error.param], [400, 'slug']);
    const key = { name: 'Repeated', scopes: [], workspace_id: workspace.id };
    assert.equal((await call('POST', '/v1/api-keys/workspace/service', { ...key, type: 'workspace', 'sub-type': 'service' })).status, 200);
    assert.equal((await call('POST', '/v1/api-keys/workspace/service', { ...key, type: 'organisation' })).status, 400);
  });
});

describe('pages', () => {
  it('begin with 0, newest first, and know how many there are', async () => {
    const names = [unique('page'), unique('page'), unique('page')];
    for (const name of names) await made1('/v1/configs', { name: `forms-${name}`, config });
    const page = async (number: number): Promise<StageReply['body']> => (await made('GET', `/v1/configs?${inWorkspace}&search=forms-page&page_size=2&current_page=${number}`)).body;
    const [first, second, third] = [await page(0), await page(1), await page(2)];
    assert.deepEqual([first.object, first.total, second.total, first.data.length, second.data.length, third.data.length], ['list', 3, 3, 2, 1, 0]);
    assert.deepEqual([...first.data, ...second.data].map(({ name }) => name), names.reverse().map((name) => `forms-${name}`));
  });

  it('of groups begin with 0 too, by another name, and are called mappings', async () => {
    const { body } = await made('GET', '/v1/scim/workspaces?page=0&page_size=5');
    assert.deepEqual([Array.isArray(body.mappings), body.total_count], [true, 0]);
    assert.deepEqual((await made('GET', '/v1/scim/workspaces?page=1')).body.mappings, []);
  });

  it('out of their range are refused by name', async () => {
    for (const query of ['page_size=0', 'page_size=1001', 'current_page=-1']) {
      const { status, body } = await call('GET', `/v1/configs?${query}`);
      assert.deepEqual([status, body.data.errorCode, body.error.param], [400, 'AB01', query.split('=')[0]]);
    }
  });
});

describe('replies', () => {
  it('about configs have their members at the top and below data', async () => {
    const written = await makeConfig();
    assert.deepEqual([written.success, written.data], [true, { id: written.id, slug: written.slug, version_id: written.version_id, object: 'config' }]);
    const { success, data, ...top } = (await made('GET', `/v1/configs/${written.slug}`)).body;
    assert.deepEqual([success, data], [true, top]);
    const changed = (await made('PUT', `/v1/configs/${written.slug}`, { name: 'Other' })).body;
    assert.deepEqual([changed.data.version_id, changed.success], [changed.version_id, true]);
  });

  it('about virtual keys have both as well', async () => {
    const { id, slug, success, data } = await makeVirtualKey();
    assert.deepEqual([success, data], [true, { id, slug }]);
  });

  it('of lists have data and total, and those that were bare lists too', async () => {
    const prompt = await made1('/v1/prompts', { name: unique('Forms'), collection_id: workspace.id, string: '[{"role":"user","content":"x"}]', parameters: {}, virtual_key: (await makeVirtualKey()).slug, model: 'm' });
    const partial = await made1('/v1/prompts/partials', { name: unique('Forms'), string: 'x' });
    for (const path of [`/v1/prompts/${prompt.id}/versions`, `/v1/prompts/partials/${partial.id}/versions`, `/v1/prompts/partials?${inWorkspace}`]) {
      const { body } = await made('GET', path);
      assert.deepEqual([body.object, Array.isArray(body.data), body.total >= 1], ['list', true, true], path);
    }
    const models = (await made('GET', `/v1/integrations/${(await made('POST', '/v1/integrations', { name: unique('Forms'), ai_provider_id: 'mock', key: 'key-of-the-mock-provider-0009' })).body.slug}/models`)).body;
    assert.deepEqual([models.total, models.models], [0, []]);
    const audit = (await made('GET', '/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2090-01-01T00:00:00Z')).body;
    assert.deepEqual([audit.object, Array.isArray(audit.records), audit.total > 0], ['list', true, true]);
  });

  it('to changes and removals are an empty object, with status 200', async () => {
    const key = (await made('POST', '/v1/api-keys/workspace/service', { name: 'Forms', scopes: [], workspace_id: workspace.id })).body;
    assert.deepEqual((await made('PUT', `/v1/api-keys/${key.id}`, { name: 'Other' })).body, {});
    assert.deepEqual((await made('DELETE', `/v1/api-keys/${key.id}`)).body, {});
  });

  it('that refuse can be read in any of the three forms', async () => {
    const { status, body } = await call('GET', '/v1/configs/no-such-config');
    assert.deepEqual([status, body.success, body.status, body.data.errorCode, body.error.code, body.error.param], [404, false, 'failure', 'AB08', 'AB08', null]);
    assert.deepEqual([body.message, body.data.message], [body.error.message, body.error.message]);
  });

  it('take null for what is to be cleared, and leave alone what is not named', async () => {
    const key = (await made('POST', '/v1/api-keys/workspace/service', { name: 'Forms', description: 'kept', scopes: [], workspace_id: workspace.id, expires_at: '2090-01-01T00:00:00.000Z', rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }] })).body;
    await made('PUT', `/v1/api-keys/${key.id}`, { expires_at: null, rate_limits: null });
    const { expires_at, rate_limits, description } = (await made('GET', `/v1/api-keys/${key.id}`)).body;
    assert.deepEqual([expires_at, rate_limits, description], [null, [], 'kept']);
  });

  it('have times in ISO 8601 with milliseconds', async () => {
    const { slug } = await makeConfig();
    assert.match((await made('GET', `/v1/configs/${slug}`)).body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('lists of logs and feedback', () => {
  const key = stage.keys.workspace;
  const log = { request: { url: '/v1/chat/completions', body: { model: 'm' } }, response: { body: {} }, metadata: { trace_id: 'forms' } };

  it('are one object, a list, or an object of items by their numbers', async () => {
    for (const [path, item, ids] of [['/v1/logs', log, 'ids'], ['/v1/feedback', { trace_id: 'forms', value: 1 }, 'feedback_ids']] as const) {
      for (const [body, count] of [[item, 1], [[item, item], 2], [{ 0: item, 1: item, 2: item }, 3]] as const) {
        assert.equal((await made('POST', path, body, { key })).body[ids].length, count, path);
      }
      const { status, body } = await call('POST', path, { 0: item, 1: { ...item, no_such_field: 1 } }, { key });
      assert.deepEqual([status, body.error.param], [400, '1.no_such_field'], 'the item at fault is named by its number');
    }
  });

  it('name the workspace in the query or in each item, the same one', async () => {
    const { id } = workspace;
    await made('POST', `/v1/logs?workspace_id=${id}`, [log], { key });
    await made('POST', '/v1/logs', [{ ...log, workspace_id: id }, { ...log, workspace_id: id }], { key });
    for (const second of [log, { ...log, workspace_id: stage.other.id }]) {
      const { status, body } = await call('POST', '/v1/logs', [{ ...log, workspace_id: id }, second], { key });
      assert.deepEqual([status, body.error.param], [400, 'workspace_id']);
    }
  });

  it('are of other operations no body', async () => {
    const { status, body } = await call('POST', '/v1/labels', [{ name: 'x' }], { key });
    assert.deepEqual([status, body.error.param], [400, 'body']);
  });
});

describe('exports of logs', () => {
  it('repeat the id of the path in the body, and write members in camel case', async () => {
    const { id } = await made1('/v1/logs/exports', { filters: { trace_id: 'none' }, requestedData: ['id'] });
    for (const name of ['exportId', 'export_id', 'id']) assert.equal((await call('PUT', `/v1/logs/exports/${id}`, { [name]: id, filters: {}, requested_data: ['id'] })).status, 200, name);
    const { status, body } = await call('PUT', `/v1/logs/exports/${id}`, { exportId: 'another', filters: {} });
    assert.deepEqual([status, body.error.param], [400, 'exportId']);
    assert.equal((await call('POST', `/v1/logs/exports/${id}/start`, { exportId: id })).status, 200);
  });
});

describe('slugs that are made', () => {
  it('begin as clients know them', async () => {
    assert.match((await makeConfig()).slug, /^pc-forms-[0-9a-f]{6}$/);
    assert.match((await made('POST', '/v1/workspaces', { name: unique('Forms') })).body.slug, /^ws-forms-\d+-[0-9a-f]{6}$/);
    assert.match((await made1('/v1/prompts/partials', { name: 'Forms', string: 'x' })).slug, /^pp-forms-[0-9a-f]{6}$/);
    assert.match((await makeVirtualKey()).slug, /^forms(?:-\d*)?-[0-9a-f]{6}$/);
  });
});
