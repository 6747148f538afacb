import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../../core/auth/key.js';
import { scopesOfType } from '../../../core/auth/scopes.js';
import { apiKeys, type ApiKeyRow } from '../../../core/storage/tables/api-keys.js';
import { configs, type ConfigRow } from '../../../core/storage/tables/configs.js';
import { organisations } from '../../../core/storage/tables/organisations.js';
import { providers, type ProviderRow } from '../../../core/storage/tables/providers.js';
import { firstPerson as person, firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { putRows } from '../../support/rows.js';

const workspace = 'first-workspace';
const minuteMs = 60_000;
const dayMs = 86_400_000;

const made = async (control: TestControl, path: string, body: Record<string, unknown>, as?: string): Promise<{ readonly id: string; readonly key: string }> => {
  const reply = await control.call('POST', `/v1/api-keys/${path}`, body, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return { id: String(reply.body.id), key: String(reply.body.key) };
};
const madeService = (control: TestControl, more: Record<string, unknown> = {}, as?: string): Promise<{ readonly id: string; readonly key: string }> =>
  made(control, 'workspace/service', { name: 'service', scopes: ['completions.write'], workspace_id: workspace, ...more }, as);
const rowOf = async (control: TestControl, id: string): Promise<ApiKeyRow> => {
  const row = (await control.repository.get(apiKeys, id))?.row;
  assert.ok(row !== undefined);
  return row;
};
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const read = async (control: TestControl, id: string): Promise<Record<string, any>> => (await control.call('GET', `/v1/api-keys/${id}`)).body;

async function setSettings(control: TestControl, settings: Record<string, unknown>): Promise<void> {
  const row = (await control.repository.get(organisations, (await control.callerOf(firstApiKey)).organisationId))?.row;
  assert.ok(row !== undefined);
  await putRows(control.repository, organisations, { ...row, settings });
}

describe('an API key', () => {
  it('is made of each type, its secret shown once, and found by its hash', async () => {
    const control = await startControl();
    const service = await madeService(control);
    assert.match(service.key, /^gw_[A-Za-z0-9_-]{43}$/);
    await made(control, 'workspace/user', { name: 'user', scopes: ['completions.write'], workspace_id: workspace, user_id: person });
    const admin = await made(control, 'organisation/service', { name: 'admin', scopes: ['workspaces.list'] });
    assert.equal((await control.call('GET', '/v1/workspaces', undefined, { as: admin.key })).status, 200);
    const shown = await read(control, service.id);
    const expected = {
      id: service.id, object: 'api-key', key: `${service.key.slice(0, 7)}****${service.key.slice(-4)}`, name: 'service', description: null, type: 'workspace-service', user_id: null,
      status: 'active', creation_mode: 'api', rate_limits: [], usage_limits: null, reset_usage: 0, scopes: ['completions.write'], alert_emails: [], expires_at: null, rotation_policy: null,
      defaults: { metadata: {}, config_id: null, provider: null, allow_config_override: true }, allow_config_override: 1, key_transition_expires_at: null,
    };
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(shown[name], value, name);
    assert.equal((await control.repository.find(apiKeys, 'hash', [hashKey(service.key)]))?.row.id, service.id);
    const everything = [];
    for await (const row of control.repository.store.range({ from: '', to: '\uffff', limit: 10_000 })) everything.push(Buffer.from(row.value).toString('latin1'));
    assert.ok(everything.every((text) => !text.includes(service.key)));
  });

  it('keeps what it is given, and says what of it is wrong', async () => {
    const control = await startControl();
    const whole = {
      description: 'd', rate_limits: [{ type: 'requests', unit: 'rps', value: 3 }], usage_limits: { credit_limit: 10, type: 'tokens', alert_threshold: 5, periodic_reset: 'monthly' },
      defaults: { metadata: { team: 'x' }, provider: 'openai', allow_config_override: false }, alert_emails: ['a@example.com'], expires_at: '2031-01-01T00:00:00.000Z',
    };
    const { id } = await madeService(control, whole);
    const shown = await read(control, id);
    assert.deepEqual(shown.defaults, { metadata: { team: 'x' }, config_id: null, provider: 'openai', allow_config_override: false });
    assert.deepEqual([shown.rate_limits, shown.alert_emails, shown.expires_at, shown.allow_config_override], [whole.rate_limits, whole.alert_emails, whole.expires_at, 0]);
    assert.deepEqual(shown.usage_limits, { credit_limit: 10, type: 'tokens', alert_threshold: 5, periodic_reset: 'monthly', periodic_reset_days: null, next_usage_reset_at: null });
    const wrong: readonly [Record<string, unknown>, number, string, string][] = [
      [{ name: '' }, 400, 'AB01', 'name'], [{ name: undefined }, 400, 'AB01', 'name'], [{ scopes: undefined }, 400, 'AB01', 'scopes'], [{ scope: [] }, 400, 'AB01', 'scope'],
      [{ scopes: ['completions.write', 'audit_logs.list'] }, 400, 'AB01', 'scopes.1'], [{ workspace_id: undefined }, 400, 'AB01', 'workspace_id'], [{ workspace_id: 'nowhere' }, 404, 'AB02', 'workspace_id'],
      [{ user_id: person }, 400, 'AB01', 'user_id'], [{ expires_at: '2029-01-01T00:00:00Z' }, 400, 'AB01', 'expires_at'], [{ expires_at: 'tomorrow' }, 400, 'AB01', 'expires_at'],
      [{ rate_limits: [{ type: 'requests', unit: 'rpx', value: 1 }] }, 400, 'AB01', 'rate_limits.0.unit'], [{ rate_limits: [{ type: 'requests', unit: 'rpm', value: -1 }] }, 400, 'AB01', 'rate_limits.0.value'],
      [{ usage_limits: { credit_limit: 0 } }, 400, 'AB01', 'usage_limits.credit_limit'], [{ usage_limits: {} }, 400, 'AB01', 'usage_limits.credit_limit'],
      [{ defaults: { metadata: { a: 1 } } }, 400, 'AB01', 'defaults.metadata.a'], [{ defaults: { metadata: { a: 'x'.repeat(129) } } }, 400, 'AB01', 'defaults.metadata.a'],
      [{ defaults: { config_id: 'pc-none' } }, 404, 'AB02', 'defaults.config_id'], [{ defaults: { provider: '@none' } }, 404, 'AB02', 'defaults.provider'],
      [{ defaults: { provider: 'opneai' } }, 400, 'AB01', 'defaults.provider'], [{ defaults: { model: 'x' } }, 400, 'AB01', 'defaults.model'],
      [{ alert_emails: ['nobody'] }, 400, 'AB01', 'alert_emails.0'], [{ alert_emails: Array.from({ length: 51 }, (_, index) => `a${index}@example.com`) }, 400, 'AB01', 'alert_emails'],
      [{ rotation_policy: {} }, 400, 'AB01', 'rotation_policy'], [{ rotation_policy: { rotation_period: 'daily' } }, 400, 'AB01', 'rotation_policy.rotation_period'],
      [{ rotation_policy: { rotation_period: 'weekly', rotation_period_days: 7 } }, 400, 'AB01', 'rotation_policy.rotation_period_days'],
      [{ rotation_policy: { rotation_period_days: 366 } }, 400, 'AB01', 'rotation_policy.rotation_period_days'],
      [{ rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 1_799_999 } }, 400, 'AB01', 'rotation_policy.key_transition_period_ms'],
      [{ rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 7 * dayMs } }, 400, 'AB01', 'rotation_policy.key_transition_period_ms'],
      [{ rotation_policy: { next_rotation_at: '2030-01-15T23:00:00Z' } }, 400, 'AB01', 'rotation_policy.next_rotation_at'],
      // A leap second is a time that no clock here has.
      [{ rotation_policy: { next_rotation_at: '2030-06-30T23:59:60Z' } }, 400, 'AB01', 'rotation_policy.next_rotation_at'], [{ expires_at: '2030-06-30T23:59:60Z' }, 400, 'AB01', 'expires_at'],
      [{ usage_limits: { credit_limit: 1, periodic_reset: 'weekly', next_usage_reset_at: '2030-06-30T23:59:60Z' } }, 400, 'AB01', 'usage_limits.next_usage_reset_at'],
      [{ defaults: { metadata: { ['x'.repeat(129)]: 'v' } } }, 400, 'AB01', 'defaults.metadata'], [{ name: 'n', description: 'x'.repeat(1001) }, 400, 'AB01', 'description'],
    ];
    for (const [more, ...expected] of wrong) {
      const reply = await control.call('POST', '/v1/api-keys/workspace/service', { name: 'n', scopes: ['completions.write'], workspace_id: workspace, ...more });
      assert.deepEqual(errorOf(reply), expected, JSON.stringify([more, reply.body]));
    }
    for (const [path, param] of [['organisation/user', 'sub-type'], ['workspace/other', 'sub-type'], ['team/service', 'type']]) {
      assert.deepEqual(errorOf(await control.call('POST', `/v1/api-keys/${path}`, { name: 'n', scopes: [] })), [400, 'AB01', param], path);
    }
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/workspace/user', { name: 'n', scopes: [], workspace_id: workspace })), [400, 'AB01', 'user_id']);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/organisation/service', { name: 'n', scopes: [], workspace_id: workspace })), [400, 'AB01', 'workspace_id']);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/organisation/service', { name: 'n', scopes: [], defaults: { provider: 'openai' } })), [400, 'AB01', 'defaults.provider']);
    assert.deepEqual(control.faults, []);
  });

  it('takes a config and a provider of its own workspace as defaults, and no others', async () => {
    const control = await startControl();
    const { organisationId, workspaceId } = await control.callerOf(firstApiKey);
    const common = { organisationId, createdAtMs: 1, updatedAtMs: 1 };
    const config = (slug: string, at: string, status: 'active' | 'archived' = 'active'): ConfigRow =>
      ({ id: `${slug}-id`, ...common, workspaceId: at, slug, name: slug, isDefault: false, status, versionId: 'v', version: 1, providers: [], guardrails: [], sealedConfig: 'x', ownerId: 'k', updatedBy: null });
    const provider = (slug: string, at: string): ProviderRow =>
      ({ id: `${slug}-id`, ...common, workspaceId: at, integrationId: 'i', slug, name: slug, note: null, isVirtualKey: false, status: 'active', usageLimits: null, rateLimits: [], expiresAtMs: null, lastResetAtMs: null });
    await putRows(control.repository, configs, config('pc-own', workspaceId), config('pc-other', 'w2'), config('pc-old', workspaceId, 'archived'));
    await putRows(control.repository, providers, provider('own', workspaceId), provider('other', 'w2'));
    const { id } = await madeService(control, { defaults: { config_id: 'pc-own', provider: '@own' } });
    assert.deepEqual((await read(control, id)).defaults, { metadata: {}, config_id: 'pc-own', provider: '@own', allow_config_override: true });
    for (const [name, value] of [['config_id', 'pc-other'], ['config_id', 'pc-old'], ['provider', '@other']]) {
      assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { defaults: { [String(name)]: value } })), [404, 'AB02', `defaults.${name}`], value);
    }
  });

  it('is changed member by member: what is absent stays, null takes away', async () => {
    const control = await startControl();
    const { id } = await madeService(control, {
      description: 'd', rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }], usage_limits: { credit_limit: 10 }, expires_at: '2031-01-01T00:00:00Z',
      defaults: { metadata: { team: 'x' }, provider: 'openai' }, rotation_policy: { rotation_period: 'monthly' }, alert_emails: ['a@example.com'],
    });
    const before = await read(control, id);
    const update = async (body: Record<string, unknown>): Promise<Record<string, any>> => {
      const reply = await control.call('PUT', `/v1/api-keys/${id}`, body);
      assert.deepEqual([reply.status, reply.body], [200, {}], JSON.stringify(reply.body));
      return read(control, id);
    };
    assert.deepEqual({ ...await update({ name: 'renamed' }), last_updated_at: '' }, { ...before, name: 'renamed', last_updated_at: '' });
    assert.deepEqual((await update({ defaults: { allow_config_override: false } })).defaults, { metadata: { team: 'x' }, config_id: null, provider: 'openai', allow_config_override: false });
    const cleared = await update({ rate_limits: null, usage_limits: null, expires_at: null, rotation_policy: null, alert_emails: null, description: null, defaults: { provider: null } });
    assert.deepEqual([cleared.rate_limits, cleared.usage_limits, cleared.expires_at, cleared.rotation_policy, cleared.alert_emails, cleared.description, cleared.defaults.provider], [[], null, null, null, [], null, null]);
    assert.equal((await update({ reset_usage: true })).last_reset_at, '2030-01-15T12:00:00.000Z');
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { type: 'workspace-user' })), [400, 'AB01', 'type']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { user_id: person })), [400, 'AB01', 'user_id']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { scopes: ['plugins.list'] })), [400, 'AB01', 'scopes.0']);
    assert.equal((await control.call('PUT', `/v1/api-keys/${id}`, { name: 'late' }, { ifMatch: '"1"' })).status, 412);
  });

  it('is listed page by page, newest first, to those who may list its type', async () => {
    const control = await startControl();
    const ids = [];
    for (let index = 0; index < 4; index += 1) ids.push((await madeService(control, { name: `k${index}` })).id);
    const other = String((await control.call('POST', '/v1/api-keys/organisation/service', { name: 'o', scopes: ['workspace_service_api_keys.list'] })).body.key);
    const idsOf = (reply: TestReply): unknown[] => [reply.body.total, ...(reply.body.data as { readonly id: string }[]).map(({ id }) => id)];
    assert.deepEqual(idsOf(await control.call('GET', '/v1/api-keys?page_size=2')), [7, (await control.callerOf(other)).keyId, ids[3]]);
    assert.deepEqual(idsOf(await control.call('GET', `/v1/api-keys?page_size=2&current_page=1&workspace_id=${workspace}`)).slice(0, 3), [5, ids[1], ids[0]]);
    assert.deepEqual(idsOf(await control.call('GET', '/v1/api-keys?page_size=2&current_page=1', undefined, { as: other })), [5, ids[1], ids[0]]);
    assert.deepEqual(idsOf(await control.call('GET', '/v1/api-keys', undefined, { as: firstApiKey }))[0], 5);
    assert.deepEqual(idsOf(await control.call('GET', `/v1/api-keys?ids=${ids[0]},nothing,${ids[2]},${(await control.callerOf(other)).keyId}`, undefined, { as: firstApiKey })), [2, ids[2], ids[0]]);
    const narrow = await madeService(control, { scopes: ['workspace_user_api_keys.list'] });
    const user = await made(control, 'workspace/user', { name: 'user', scopes: [], workspace_id: workspace, user_id: person });
    assert.deepEqual(idsOf(await control.call('GET', '/v1/api-keys', undefined, { as: narrow.key })), [1, user.id]);
    const two = await made(control, 'organisation/service', { name: 't', scopes: ['workspace_user_api_keys.list', 'organisation_service_api_keys.list'] });
    assert.deepEqual(idsOf(await control.call('GET', '/v1/api-keys', undefined, { as: two.key })).slice(0, 3), [4, two.id, user.id]);
    const unable = await madeService(control);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/api-keys', undefined, { as: unable.key })), [403, 'AB03', null]);
  });

  it('is nothing for callers of other workspaces, and unknown ids are told apart', async () => {
    const control = await startControl();
    const admin = (await control.call('GET', '/v1/api-keys')).body.data as { readonly id: string; readonly type: string }[];
    const adminId = admin.find(({ type }) => type === 'organisation-service')?.id ?? '';
    for (const [method, path] of [['GET', ''], ['PUT', ''], ['DELETE', ''], ['POST', '/rotate']]) {
      assert.deepEqual(errorOf(await control.call(String(method), `/v1/api-keys/${adminId}${path}`, undefined, { as: firstApiKey })).slice(0, 2), [403, 'AB03'], method);
      for (const id of [person, 'x', 'ü'.repeat(500)]) assert.deepEqual(errorOf(await control.call(String(method), `/v1/api-keys/${id}${path}`)).slice(0, 2), [404, 'AB08'], method);
    }
    assert.deepEqual(control.faults, []);
  });

  it('hands out no scope that its maker lacks, and is taken over by nobody who may less', async () => {
    const control = await startControl();
    const maker = await madeService(control, { scopes: ['workspace_service_api_keys.create', 'workspace_service_api_keys.update', 'workspace_service_api_keys.rotate', 'workspace_service_api_keys.delete', 'completions.write'] });
    const refused = [403, 'AB03', null];
    const body = { name: 'n', scopes: ['logs.write'] };
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/workspace/service', body, { as: maker.key })), refused);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/workspace/user', { ...body, scopes: ['completions.write'], user_id: person }, { as: maker.key })), refused);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/organisation/service', { ...body, scopes: [] }, { as: maker.key })), refused);
    const child = await madeService(control, {}, maker.key);
    assert.equal((await rowOf(control, child.id)).workspaceId, (await rowOf(control, maker.id)).workspaceId);
    // Itself, too.
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${maker.id}`, { scopes: [...scopesOfType['workspace-service']] }, { as: maker.key })), refused);
    const strong = await madeService(control, { scopes: ['logs.write', 'configs.read'] });
    assert.deepEqual(errorOf(await control.call('POST', `/v1/api-keys/${strong.id}/rotate`, undefined, { as: maker.key })), refused);
    assert.equal((await control.call('PUT', `/v1/api-keys/${strong.id}`, { scopes: ['configs.read'] }, { as: maker.key })).status, 200);
    assert.equal((await control.call('DELETE', `/v1/api-keys/${strong.id}`, undefined, { as: maker.key })).status, 200);
    // An organisation key gives what organisation keys cannot have, but of theirs only its own.
    const deputy = await made(control, 'organisation/service', { name: 'deputy', scopes: ['workspace_service_api_keys.create', 'organisation_service_api_keys.create'] });
    await madeService(control, { scopes: ['completions.write', 'logs.write'] }, deputy.key);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/workspace/service', { name: 'n', scopes: ['configs.create'], workspace_id: workspace }, { as: deputy.key })), refused);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/api-keys/organisation/service', { name: 'n', scopes: ['audit_logs.list'] }, { as: deputy.key })), refused);
  });

  it('is gone at once when it is removed, with the secret before; the last that administers stays', async () => {
    const control = await startControl();
    const { id, key } = await madeService(control);
    await control.call('POST', `/v1/api-keys/${id}/rotate`);
    assert.equal((await control.call('DELETE', `/v1/api-keys/${id}`)).status, 200);
    await assert.rejects(control.callerOf(key));
    assert.equal((await control.call('GET', `/v1/api-keys/${id}`)).status, 404);
    const { keyId } = await control.callerOf('control-test-admin-key');
    assert.deepEqual(errorOf(await control.call('DELETE', `/v1/api-keys/${keyId}`)), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${keyId}`, { scopes: ['workspaces.list'] })), [409, 'AB07', null]);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${keyId}`, { expires_at: '2030-01-15T12:00:01Z' })), [409, 'AB07', null]);
    // One that can do less is no replacement: it could hand out nothing else.
    const weak = await made(control, 'organisation/service', { name: 'weak', scopes: ['organisation_service_api_keys.create', 'organisation_service_api_keys.update', 'organisation_service_api_keys.delete'] });
    for (const change of [{ scopes: [] }, { scopes: ['organisation_service_api_keys.create'] }, { expires_at: '2030-01-15T12:00:01Z' }]) {
      assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${keyId}`, change, { as: weak.key })), [409, 'AB07', null], JSON.stringify(change));
    }
    const refused = await control.call('DELETE', `/v1/api-keys/${keyId}`, undefined, { as: weak.key });
    assert.match(String(refused.body.message), /this is the last key of the organisation that can hand out \w+\.\w+ and does not expire; make another one first$/);
    // Each removes the other: one of them stays.
    const second = await made(control, 'organisation/service', { name: 'second', scopes: [...scopesOfType['organisation-service']] });
    const replies = await Promise.all([control.call('DELETE', `/v1/api-keys/${second.id}`), control.call('DELETE', `/v1/api-keys/${keyId}`, undefined, { as: second.key })]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409]);
    assert.deepEqual(control.faults, []);
  });

  it('gets a new secret, the one before is valid until the transition ends, and no second one meanwhile', async () => {
    const control = await startControl();
    const { id, key } = await madeService(control, { rotation_policy: { rotation_period_days: 30, key_transition_period_ms: 60 * minuteMs } });
    assert.deepEqual((await read(control, id)).rotation_policy, { rotation_period: null, rotation_period_days: 30, next_rotation_at: '2030-02-14T00:00:00.000Z', key_transition_period_ms: 60 * minuteMs, status: 'ACTIVE' });
    control.clock.nowMs += dayMs;
    assert.deepEqual(errorOf(await control.call('POST', `/v1/api-keys/${id}/rotate`, { key_transition_period_ms: 1 })), [400, 'AB01', 'key_transition_period_ms']);
    assert.deepEqual(errorOf(await control.call('POST', `/v1/api-keys/${id}/rotate`, { key_transition_period_ms: 30 * dayMs })), [400, 'AB01', 'key_transition_period_ms']);
    const reply = await control.call('POST', `/v1/api-keys/${id}/rotate`);
    assert.deepEqual([reply.status, reply.body.id, reply.body.key_transition_expires_at], [200, id, '2030-01-16T13:00:00.000Z']);
    const row = await rowOf(control, id);
    assert.deepEqual([row.keyHash, row.previous?.keyHash, row.previous?.expiresAtMs], [hashKey(String(reply.body.key)), hashKey(key), control.clock.nowMs + 60 * minuteMs]);
    const shown = await read(control, id);
    assert.deepEqual([shown.key_transition_expires_at, shown.rotation_policy.next_rotation_at, shown.last_rotated_at], ['2030-01-16T13:00:00.000Z', '2030-02-15T00:00:00.000Z', '2030-01-16T12:00:00.000Z']);
    assert.deepEqual(errorOf(await control.call('POST', `/v1/api-keys/${id}/rotate`)), [409, 'AB07', null]);
    control.clock.nowMs += 60 * minuteMs;
    assert.equal((await read(control, id)).key_transition_expires_at, null);
    const again = await control.call('POST', `/v1/api-keys/${id}/rotate`, { key_transition_period_ms: 30 * minuteMs });
    assert.deepEqual([again.status, again.body.key_transition_expires_at], [200, '2030-01-16T13:30:00.000Z']);
    const details = [];
    for await (const { record } of control.repository.audit()) if (record.action === 'rotated' && record.response_status_code === 200) details.push(record.details);
    assert.deepEqual(details[0], { api_key_id: id, rotation_mode: 'manual', old_key: `${key.slice(0, 7)}****${key.slice(-4)}`, key_transition_expires_at: '2030-01-16T13:00:00.000Z' });
    assert.ok(!JSON.stringify(details).includes(String(again.body.key)));
  });

  it('keeps to the rotation period and the metadata schema of its organisation', async () => {
    const control = await startControl();
    await setSettings(control, { user_api_key_rotation_period: 'weekly', api_key_metadata_schema: { type: 'object', required: ['team'], properties: { team: { type: 'string', pattern: '^[a-z]+$' }, stage: { type: 'string', default: 'test' } } } });
    const body = { name: 'user', scopes: ['completions.write'], workspace_id: workspace, user_id: person, defaults: { metadata: { team: 'red' } } };
    const post = (more: Record<string, unknown>): Promise<TestReply> => control.call('POST', '/v1/api-keys/workspace/user', { ...body, ...more });
    const { id } = await made(control, 'workspace/user', body);
    const shown = await read(control, id);
    // Tuesday, the 15th; Monday is the 21st.
    assert.deepEqual([shown.rotation_policy.rotation_period, shown.rotation_policy.next_rotation_at, shown.defaults.metadata], ['weekly', '2030-01-21T00:00:00.000Z', { team: 'red', stage: 'test' }]);
    assert.equal((await post({ rotation_policy: { rotation_period_days: 7, key_transition_period_ms: 90 * minuteMs } })).status, 200);
    assert.deepEqual(errorOf(await post({ rotation_policy: { rotation_period: 'monthly' } })), [400, 'AB01', 'rotation_policy.rotation_period']);
    assert.deepEqual(errorOf(await post({ rotation_policy: { rotation_period_days: 8 } })), [400, 'AB01', 'rotation_policy.rotation_period_days']);
    assert.deepEqual(errorOf(await post({ rotation_policy: { next_rotation_at: '2030-03-01T00:00:00Z' } })), [400, 'AB01', 'rotation_policy.next_rotation_at']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { rotation_policy: null })), [400, 'AB01', 'rotation_policy']);
    assert.equal((await control.call('PUT', `/v1/api-keys/${id}`, { rotation_policy: shown.rotation_policy.status === 'ACTIVE' ? { rotation_period: 'weekly', next_rotation_at: shown.rotation_policy.next_rotation_at } : {} })).status, 200);
    assert.deepEqual(errorOf(await post({ defaults: {} })), [400, 'AB01', 'defaults.metadata.team']);
    assert.deepEqual(errorOf(await post({ defaults: undefined })), [400, 'AB01', 'defaults.metadata.team']);
    assert.deepEqual(errorOf(await post({ defaults: { metadata: { team: 'Red' } } })), [400, 'AB01', 'defaults.metadata.team']);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/api-keys/${id}`, { defaults: { metadata: {} } })), [400, 'AB01', 'defaults.metadata.team']);
    // Keys that no user owns are free of the period.
    await madeService(control, { defaults: { metadata: { team: 'red' } }, rotation_policy: { rotation_period: 'monthly' } });
  });
});
