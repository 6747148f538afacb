import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { putRows } from '../../support/rows.js';

const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const namesOf = ({ body }: TestReply): unknown[] => [body.total, ...(body.data as { readonly name: string }[]).map(({ name }) => name)];

async function made(control: TestControl, body: Record<string, unknown>): Promise<Record<string, any>> {
  const reply = await control.call('POST', '/v1/admin/workspaces', body);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

describe('a workspace', () => {
  it('is made, read and changed, below both of its paths', async () => {
    const control = await startControl();
    const whole = { description: 'd', icon: '*', defaults: { metadata: { team: 'red' } }, usage_limits: [{ credit_limit: 5 }], rate_limits: [{ type: 'tokens', unit: 'rpw', value: 0 }], users: [] };
    const workspace = await made(control, { name: 'Red team', ...whole });
    assert.match(workspace.slug, /^ws-red-team-[0-9a-f]{6}$/);
    const { users, ...read } = (await control.call('GET', `/v1/admin/workspaces/${workspace.slug}`)).body;
    assert.deepEqual([read, users], [workspace, []]);
    assert.deepEqual(workspace.defaults, { metadata: { team: 'red' }, input_guardrails: [], output_guardrails: [], user_api_key_config: null, is_default: 0, object: 'workspace' });
    assert.equal(workspace.usage_limits[0].credit_limit, 5);
    const guardrail = await control.call('POST', '/v1/guardrails', { name: 'Words', checks: [{ id: 'default.wordCount', parameters: { minWords: 1 } }], actions: {}, workspace_id: workspace.id });
    const g = guardrail.body.slug;
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/workspaces/first-workspace`, { defaults: { input_guardrails: [g] } })), [404, 'AB02', 'defaults.input_guardrails.0']);
    const change = { name: 'Blue team', description: null, rate_limits: null, usage_limits: null, reset_usage: true, defaults: { input_guardrails: [guardrail.body.id] } };
    assert.deepEqual((await control.call('PUT', `/v2/workspaces/${workspace.id}`, change)).body, {});
    const after = (await control.call('GET', `/workspaces/${workspace.id}`)).body as Record<string, any>;
    assert.deepEqual([after.name, after.slug, after.description, after.rate_limits, after.usage_limits, after.last_reset_at], ['Blue team', workspace.slug, null, [], [], '2030-01-15T12:00:00.000Z']);
    assert.deepEqual([after.defaults.metadata, after.defaults.input_guardrails], [{ team: 'red' }, [g]]);
    assert.deepEqual(control.faults, []);
  });

  it('has a name and a slug of its own', async () => {
    const control = await startControl();
    const { id } = await made(control, { name: 'Red', slug: 'red' });
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'Red' })), [409, 'AB07', 'name']);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'Other', slug: 'red' })), [409, 'AB07', 'slug']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/workspaces/${id}`, { name: 'First workspace' })), [409, 'AB07', 'name']);
    // Two at once, too.
    const replies = await Promise.all([control.call('POST', '/v1/workspaces', { name: 'Twin' }), control.call('POST', '/v1/workspaces', { name: 'Twin' })]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
    assert.deepEqual(control.faults, []);
  });

  it('says what is wrong with what it is given', async () => {
    const control = await startControl();
    const wrong: readonly [Record<string, unknown>, number, string, string][] = [
      [{ name: '' }, 400, 'AB01', 'name'], [{ name: 'x'.repeat(256) }, 400, 'AB01', 'name'], [{ name: undefined }, 400, 'AB01', 'name'], [{ slug: 'a b' }, 400, 'AB01', 'slug'],
      [{ users: ['somebody'] }, 404, 'AB02', 'users.0'], [{ usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }, 400, 'AB01', 'usage_limits'], [{ usage_limits: [{}] }, 400, 'AB01', 'usage_limits.0.credit_limit'],
      [{ rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }, 400, 'AB01', 'rate_limits.0.unit'], [{ defaults: { metadata: { a: null } } }, 400, 'AB01', 'defaults.metadata.a'],
      [{ defaults: { user_api_key_config: 'pc-none' } }, 404, 'AB02', 'defaults.user_api_key_config'], [{ colour: 'red' }, 400, 'AB01', 'colour'],
    ];
    for (const [more, ...expected] of wrong) assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'n', ...more })), expected, JSON.stringify(more));
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/workspaces/first-workspace', { slug: 'another' })), [400, 'AB01', 'slug']);
    assert.equal((await control.call('PUT', '/v1/workspaces/first-workspace', { slug: 'first-workspace' })).status, 200);
  });

  it('is listed by name and status; a key of a workspace sees its own', async () => {
    const control = await startControl();
    await made(control, { name: 'Red team' });
    const old = await made(control, { name: 'Old team' });
    assert.equal((await control.call('DELETE', `/v1/workspaces/${old.slug}`, { name: 'Old team' })).status, 200);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces')), [2, 'Red team', 'First workspace']);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces?name=TEAM&name_format=plain')), [1, 'Red team']);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces?exact_name=Red')), [0]);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces?status=active,archived&page_size=2')), [3, 'Old team', 'Red team']);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces?status=archived')), [1, 'Old team']);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/workspaces?status=gone')), [400, 'AB01', 'status']);
    assert.deepEqual(namesOf(await control.call('GET', '/v1/workspaces', undefined, { as: firstApiKey })), [1, 'First workspace']);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/workspaces?status=archived', undefined, { as: firstApiKey })).slice(0, 2), [403, 'AB03']);
  });

  it('of another is nothing for a key of a workspace, whether it exists or not', async () => {
    const control = await startControl();
    const { slug } = await made(control, { name: 'Red' });
    for (const id of [slug, 'nowhere']) {
      assert.deepEqual(errorOf(await control.call('GET', `/v1/workspaces/${id}`, undefined, { as: firstApiKey })), [403, 'AB03', null]);
      assert.deepEqual(errorOf(await control.call('PUT', `/v1/workspaces/${id}`, { name: 'x' }, { as: firstApiKey })), [403, 'AB03', null]);
    }
    assert.equal((await control.call('PUT', '/v1/workspaces/first-workspace', { description: 'mine' }, { as: firstApiKey })).status, 200);
    for (const [method, path] of [['POST', ''], ['DELETE', '/first-workspace']]) {
      assert.deepEqual(errorOf(await control.call(String(method), `/v1/workspaces${path}`, { name: 'x' }, { as: firstApiKey })), [403, 'AB03', null]);
    }
    assert.deepEqual(errorOf(await control.call('GET', '/v1/workspaces/nowhere')), [404, 'AB08', null]);
    // A workspace that is named beside the path counts as well.
    assert.deepEqual(errorOf(await control.call('GET', `/v1/workspaces/first-workspace?workspace_id=${slug}`, undefined, { as: firstApiKey })), [403, 'AB03', 'workspace_id']);
    assert.deepEqual(errorOf(await control.call('GET', `/v1/workspaces/first-workspace?workspace_id=${slug}`)), [400, 'AB01', 'workspace_id']);
    assert.deepEqual(errorOf(await control.call('GET', `/v1/workspaces?workspace_id=${slug}`, undefined, { as: firstApiKey })), [403, 'AB03', 'workspace_id']);
    assert.deepEqual(namesOf(await control.call('GET', `/v1/workspaces?workspace_id=${slug}`)), [1, 'Red']);
  });

  it('is archived when it is deleted, by its name, and only with force when it is in use; the first one stays', async () => {
    const control = await startControl();
    const { id, slug } = await made(control, { name: 'Red' });
    const key = await control.call('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: ['workspaces.read'], workspace_id: slug });
    assert.deepEqual(errorOf(await control.call('DELETE', `/v1/workspaces/${slug}`)), [400, 'AB01', 'name']);
    assert.deepEqual(errorOf(await control.call('DELETE', `/v1/workspaces/${slug}`, { name: 'Blue' })), [400, 'AB01', 'name']);
    const refusal = await control.call('DELETE', `/v1/workspaces/${slug}`, { name: 'Red' });
    assert.deepEqual([errorOf(refusal), /in use by 1 API key; /.test(String(refusal.body.message))], [[409, 'AB07', null], true]);
    assert.deepEqual((await control.call('DELETE', `/v1/workspaces/${slug}`, { name: 'Red', force_delete: true })).body, {});
    await assert.rejects(control.callerOf(String(key.body.key)));
    assert.equal((await control.call('GET', `/v1/workspaces/${id}`)).body.status, 'archived');
    assert.deepEqual(errorOf(await control.call('GET', `/v1/workspaces/${slug}`)), [404, 'AB08', null]);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/workspaces/${id}`, { name: 'x' })), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('DELETE', `/v1/workspaces/${id}`, { name: 'Red' })), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: [], workspace_id: id })), [404, 'AB02', 'workspace_id']);
    await made(control, { name: 'Red', slug });
    assert.deepEqual(errorOf(await control.call('DELETE', '/v1/workspaces/first-workspace', { name: 'First workspace', force_delete: true })), [400, 'AB01', 'workspaceId']);
    assert.equal((await control.repository.get(workspaces, id))?.row.status, 'archived');
    assert.deepEqual(control.faults, []);
  });

  it('keeps to the metadata schema of its organisation', async () => {
    const control = await startControl();
    const row = (await control.repository.get(organisations, (await control.callerOf(firstApiKey)).organisationId))?.row;
    assert.ok(row !== undefined);
    await putRows(control.repository, organisations, { ...row, settings: { workspace_metadata_schema: { type: 'object', required: ['cost'], properties: { cost: { type: 'string' } } } } });
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'n' })), [400, 'AB01', 'defaults.metadata.cost']);
    const { id } = await made(control, { name: 'n', defaults: { metadata: { cost: '1' } } });
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/workspaces/${id}`, { defaults: { metadata: {} } })), [400, 'AB01', 'defaults.metadata.cost']);
  });
});
