import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';

const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const put = (control: TestControl, settings: unknown): Promise<TestReply> => control.call('PUT', '/v1/admin/organisation', { settings });
const settingsOf = async (control: TestControl): Promise<unknown> => (await control.call('GET', '/organisation/settings')).body.settings;

describe('the organisation', () => {
  it('has settings that change one by one; null takes one away', async () => {
    const control = await startControl();
    const whole = {
      user_api_key_auto_create: true, default_workspace_user_api_key_auto_create: false, user_api_key_ttl: '90d', user_api_key_rotation_period: 30, session_settings: { max_session_ttl: 900 }, allow_subdomains: true,
      api_key_metadata_schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { team: { type: 'string', enum: ['red', 'blue'] } }, additionalProperties: true },
      workspace_metadata_schema: { type: 'object' }, enforce_saved_configs: true, enforce_saved_providers: true, enforce_saved_custom_hosts: true, enforce_saved_provider_urls: true, enforce_saved_forward_headers: true,
      export_settings: { deniedFields: ['request'] }, cache_max_ttl: 3600, membersViewLogs: false, membersViewLogBodies: false, membersViewMetadata: false, managersViewLogs: true, managersViewLogBodies: true, managersViewMetadata: true,
    };
    assert.deepEqual((await put(control, whole)).body, {});
    assert.deepEqual(await settingsOf(control), whole);
    await put(control, { user_api_key_ttl: null, user_api_key_rotation_period: 'weekly' });
    const { user_api_key_ttl, ...others } = whole;
    assert.deepEqual([await settingsOf(control), user_api_key_ttl], [{ ...others, user_api_key_rotation_period: 'weekly' }, '90d']);
    assert.equal((await control.call('PUT', '/organisation/settings', { name: 'Ours' })).status, 200);
    const { body } = await control.call('GET', '/v1/admin/organisation');
    assert.deepEqual([body.name, body.object, Object.keys(body)], ['Ours', 'organisation', ['id', 'object', 'name', 'created_at', 'last_updated_at', 'settings', 'defaults']]);
  });

  it('takes no setting that it does not know, and none that it could not keep', async () => {
    const control = await startControl();
    const wrong: readonly [Record<string, unknown>, string][] = [
      [{ enforce_saved_config: true }, 'settings.enforce_saved_config'], [{ enforce_saved_configs: 'yes' }, 'settings.enforce_saved_configs'], [{ session_settings: { max_session_ttl: 899 } }, 'settings.session_settings.max_session_ttl'],
      [{ user_api_key_rotation_period: 366 }, 'settings.user_api_key_rotation_period'], [{ user_api_key_rotation_period: 'daily' }, 'settings.user_api_key_rotation_period'], [{ user_api_key_rotation_period: 1.5 }, 'settings.user_api_key_rotation_period'],
      [{ user_api_key_ttl: '0d' }, 'settings.user_api_key_ttl'], [{ user_api_key_ttl: 0 }, 'settings.user_api_key_ttl'], [{ cache_max_ttl: 0 }, 'settings.cache_max_ttl'],
      [{ api_key_metadata_schema: { type: 'string' } }, 'settings.api_key_metadata_schema.type'], [{ api_key_metadata_schema: { type: 'object', required: 'team' } }, 'settings.api_key_metadata_schema'],
      [{ api_key_metadata_schema: { type: 'object', properties: { team: { type: 'number' } } } }, 'settings.api_key_metadata_schema.properties.team.type'],
      [{ api_key_metadata_schema: { type: 'object', propreties: {} } }, 'settings.api_key_metadata_schema'], [{ workspace_metadata_schema: { type: 'object', properties: { a: { pattern: '(?=a)' } } } }, 'settings.workspace_metadata_schema'],
      [{ workspace_metadata_schema: { type: 'object', properties: { a: { pattern: '((a{99}){99}){99}' } } } }, 'settings.workspace_metadata_schema'],
      [{ workspace_metadata_schema: { type: 'object', $ref: 'http://127.0.0.1/schema' } }, 'settings.workspace_metadata_schema'], [{ workspace_metadata_schema: { type: 'object', description: 'x'.repeat(40_000) } }, 'settings.workspace_metadata_schema'],
      [{ workspace_metadata_schema: { $async: true, type: 'object', required: ['team'] } }, 'settings.workspace_metadata_schema.$async'],
      [{ export_settings: { deniedFields: [1] } }, 'settings.export_settings.deniedFields.0'],
    ];
    for (const [settings, param] of wrong) assert.deepEqual(errorOf(await put(control, settings)), [400, 'AB01', param], JSON.stringify(settings).slice(0, 100));
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/admin/organisation', { enforce_saved_configs: true })), [400, 'AB01', 'enforce_saved_configs']);
    assert.deepEqual(await settingsOf(control), {});
    assert.deepEqual(control.faults, []);
  });

  it('matches metadata against patterns in linear time', async () => {
    const control = await startControl();
    await put(control, { workspace_metadata_schema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } });
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'n', defaults: { metadata: { a: `${'a'.repeat(120)}!` } } })), [400, 'AB01', 'defaults.metadata.a']);
  });

  it('takes no metadata schema that is not a check, or never ends', async () => {
    const control = await startControl();
    const pairs = (count: number): Record<string, unknown> => Object.fromEntries(Array.from({ length: count }, (_, index) => {
      const next = { $ref: `#/definitions/d${index + 1}` };
      return [`d${index}`, index === count - 1 ? { type: 'object' } : { allOf: [next, next] }];
    }));
    const wrong: readonly Record<string, unknown>[] = [
      { type: 'object', allOf: [{ $ref: '#' }] },
      { type: 'object', definitions: { a: { $ref: '#/definitions/b' }, b: { anyOf: [{ $ref: '#/definitions/a' }] } }, allOf: [{ $ref: '#/definitions/a' }] },
      { type: 'object', definitions: pairs(40), allOf: [{ $ref: '#/definitions/d0' }] },
      { type: 'object', definitions: { a: { $id: '#here', type: 'object' } }, allOf: [{ $ref: '#here' }] },
      { type: 'object', patternProperties: Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`^(a|b){1,20}x${index}`, { type: 'string' }])) },
    ];
    for (const schema of wrong) {
      assert.deepEqual(errorOf(await put(control, { api_key_metadata_schema: schema })), [400, 'AB01', 'settings.api_key_metadata_schema'], JSON.stringify(schema).slice(0, 80));
      assert.deepEqual(errorOf(await put(control, { workspace_metadata_schema: schema })), [400, 'AB01', 'settings.workspace_metadata_schema'], JSON.stringify(schema).slice(0, 80));
    }
    const later = { $async: true, type: 'object', required: ['a'], properties: { a: { type: 'string' } } };
    assert.deepEqual(errorOf(await put(control, { api_key_metadata_schema: later })), [400, 'AB01', 'settings.api_key_metadata_schema.$async']);
    const shared = { type: 'object', definitions: { short: { type: 'string', maxLength: 3 } }, properties: { a: { $ref: '#/definitions/short' }, b: { $ref: '#/definitions/short' }, $ref: { type: 'string' } } };
    assert.equal((await put(control, { workspace_metadata_schema: shared })).status, 200);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'n', defaults: { metadata: { b: 'long' } } })), [400, 'AB01', 'defaults.metadata.b']);
    await put(control, { workspace_metadata_schema: { type: 'object', properties: { a: { type: 'string', default: 'x'.repeat(129) } } } });
    assert.deepEqual(errorOf(await control.call('POST', '/v1/workspaces', { name: 'n' })), [400, 'AB01', 'defaults.metadata.a']);
    assert.deepEqual(control.faults, []);
  });

  it('has defaults, and workspaces that its guardrails leave out', async () => {
    const control = await startControl();
    assert.deepEqual((await control.call('PUT', '/v1/admin/organisation/defaults', { metadata: { team: 'red' } })).body, {});
    const made = await control.call('POST', '/v1/guardrails', { name: 'Words', checks: [{ id: 'default.wordCount', parameters: { minWords: 1 } }], actions: {} });
    const { slug } = made.body;
    await control.call('PUT', '/v1/admin/organisation/defaults', { input_guardrails: [made.body.id] });
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/admin/organisation/defaults', { input_guardrails: [slug, 'g1'] })), [404, 'AB02', 'input_guardrails.1']);
    await control.call('PUT', '/v1/admin/organisation/defaults', { input_guardrails: null, output_guardrails: [slug] });
    assert.deepEqual((await control.call('GET', '/v1/admin/organisation/defaults')).body, { metadata: { team: 'red' }, input_guardrails: [], output_guardrails: [slug], object: 'organisation-defaults' });
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/admin/organisation/defaults', { metadata: { a: 'x'.repeat(129) } })), [400, 'AB01', 'metadata.a']);
    const { workspaceId } = await control.callerOf(firstApiKey);
    assert.deepEqual((await control.call('PUT', '/v1/workspace-exclusions/input-guardrails', { workspaces: ['first-workspace', workspaceId] })).body, {});
    assert.deepEqual((await control.call('GET', '/v1/workspace-exclusions/input-guardrails')).body, { object: 'list', total: 1, data: [workspaceId], workspaces: [workspaceId] });
    assert.deepEqual((await control.call('GET', '/v1/workspace-exclusions/output-guardrails')).body.data, []);
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/workspace-exclusions/output-guardrails', { workspaces: ['nowhere'] })), [404, 'AB02', 'workspaces.0']);
    assert.deepEqual(errorOf(await control.call('PUT', '/v1/workspace-exclusions/output-guardrails', {})), [400, 'AB01', 'workspaces']);
  });

  it('is nothing for keys of a workspace', async () => {
    const control = await startControl();
    for (const path of ['/v1/admin/organisation', '/organisation/settings', '/v1/admin/organisation/defaults', '/v1/workspace-exclusions/input-guardrails', '/v1/workspace-exclusions/output-guardrails']) {
      for (const method of ['GET', 'PUT']) assert.deepEqual(errorOf(await control.call(method, path, undefined, { as: firstApiKey })), [403, 'AB03', null], `${method} ${path}`);
    }
  });
});
