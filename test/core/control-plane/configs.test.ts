import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { absentSecret } from '../../../core/storage/sealer.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { configVersions } from '../../../core/storage/tables/config-versions.js';
import { configs } from '../../../core/storage/tables/configs.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { keyRow, putRows, removeRows } from '../../support/rows.js';

const as = firstApiKey;
const mock = { provider: 'mock', api_key: 'mock-key-of-the-first-target-0001' };

const create = (control: TestControl, config: unknown, more: object = {}): Promise<TestReply> => control.call('POST', '/v1/configs', { name: 'Main', config, ...more }, { as });
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).code, Object(body.error).param];
const slugOf = ({ body }: TestReply): string => String(body.slug);

describe('configs', () => {
  it('are listed with their versions as far as one reply can hold them', async () => {
    const control = await startControl();
    const config = (version: number): unknown => ({ provider: 'mock', override_params: { text: 'x'.repeat(900_000) + String(version) } });
    const path = `/v1/configs/${slugOf(await create(control, config(0)))}`;
    for (let version = 1; version < 12; version += 1) assert.equal((await control.call('PUT', path, { config: config(version) }, { as })).status, 200);
    const refused = await control.call('GET', `${path}/versions?page_size=100`, undefined, { as });
    assert.deepEqual(errorOf(refused), [400, 'AB01', 'page_size']);
    assert.match(String(refused.body.message), /^page_size asks for more than 8 MiB of rows at once; these are large, so ask for at most 9$/);
    const page = await control.call('GET', `${path}/versions?page_size=9&current_page=1`, undefined, { as });
    assert.deepEqual([page.status, page.body.total, Object(page.body.data).length], [200, 12, 3]);
    assert.deepEqual(control.faults, []);
  });

  it('are refused when their text nests too deep', async () => {
    const control = await startControl();
    for (const text of [`{"override_params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`, `${'{"strategy":{"mode":"single"},"targets":['.repeat(9_000)}${']}'.repeat(9_000)}`]) {
      assert.deepEqual(errorOf(await create(control, text)), [400, 'AB01', 'config']);
    }
    assert.deepEqual(control.faults, []);
  });

  it('are created, read, listed, changed with versions, and deleted, in both shapes of reply', async () => {
    const control = await startControl();
    const made = await create(control, { ...mock, retry: { attempts: 1 } }, { isDefault: 1 });
    assert.deepEqual([made.status, made.body.success, made.body.object], [200, true, 'config'], JSON.stringify(made.body));
    assert.match(slugOf(made), /^pc-main-[0-9a-f]{6}$/);
    assert.deepEqual(made.body.data, { id: made.body.id, version_id: made.body.version_id, slug: made.body.slug, object: 'config' });
    const path = `/v1/configs/${slugOf(made)}`;
    const read = await control.call('GET', path, undefined, { as });
    assert.deepEqual([read.body.name, read.body.is_default, read.body.status, read.body.format, read.body.type], ['Main', 1, 'active', 'json', 'ORG_CONFIG']);
    assert.deepEqual(read.body.config, { provider: 'mock', api_key: 'moc****0001', retry: { attempts: 1 } });
    assert.deepEqual(Object(read.body.data).config, read.body.config);
    const changed = await control.call('PUT', path, { config: JSON.stringify({ ...mock, retry: { attempts: 2 } }), name: 'Other' }, { as });
    assert.deepEqual([changed.status, changed.body.version_id === made.body.version_id], [200, false], JSON.stringify(changed.body));
    assert.equal((await control.call('PUT', path, { name: 'Third' }, { as })).body.version_id, changed.body.version_id);
    for (const [version, attempts] of [['1', 1], ['2', 2], [String(made.body.version_id), 1]] as const) {
      const { body } = await control.call('GET', `${path}?version=${version}`, undefined, { as });
      assert.equal(Object(Object(body.config).retry).attempts, attempts, version);
    }
    assert.deepEqual(errorOf(await control.call('GET', `${path}?version=3`, undefined, { as })), [404, 'AB08', null]);
    const versions = await control.call('GET', `${path}/versions`, undefined, { as });
    const [newest, oldest] = Object(versions.body.data);
    assert.deepEqual([versions.body.total, newest.version, typeof newest.config, JSON.parse(oldest.config).retry.attempts], [2, 2, 'string', 1]);
    const list = await control.call('GET', '/v1/configs?search=thi', undefined, { as });
    assert.deepEqual([list.body.success, list.body.total, Object(list.body.data)[0].name], [true, 1, 'Third']);
    assert.equal((await control.call('GET', '/v1/configs?search=main-nothing', undefined, { as })).body.total, 0);
    assert.equal((await control.call('PUT', path, { status: 'archived' }, { as })).status, 200);
    assert.equal((await control.call('GET', '/v1/configs', undefined, { as })).body.total, 0);
    assert.equal((await control.call('GET', '/v1/configs?status=archived', undefined, { as })).body.total, 1);
    assert.deepEqual((await control.call('DELETE', path, undefined, { as })).body, {});
    assert.deepEqual(errorOf(await control.call('GET', path, undefined, { as })), [404, 'AB08', null]);
    assert.equal(await control.repository.count(configVersions), 0);
    assert.deepEqual(control.faults, []);
  });

  it('are refused with the place when they could never work', async () => {
    const control = await startControl();
    const strategy = { mode: 'fallback' };
    const refusals: readonly [unknown, number, string, string][] = [
      [{ provider: 'mock', retry: { attempts: 'x' } }, 400, 'AB01', 'config.retry.attempts'],
      ['{"provider":', 400, 'AB01', 'config'],
      [[], 400, 'AB01', 'config'],
      [{ strategy, targets: [mock, { ...mock, provider: 'moock' }] }, 400, 'AB01', 'config.targets[1].provider'],
      [{ strategy, targets: [mock, { provider: '@nowhere' }] }, 404, 'AB02', 'config.targets[1].provider'],
      [{ virtual_key: 'nowhere' }, 404, 'AB02', 'config.virtual_key'],
      [{ strategy: { mode: 'falback' }, targets: [mock] }, 400, 'AB01', 'config.strategy.mode'],
      [{ strategy: { mode: 'conditional', conditions: [{ query: { x: { $like: 1 } }, then: 'a' }], default: 'a' }, targets: [{ ...mock, name: 'a' }] }, 400, 'AB01', 'config.strategy.conditions[0].query.x'],
      [{ ...mock, input_guardrails: [{ 'default.regexMatch': { rule: '(' } }] }, 400, 'AB01', 'config.input_guardrails[0]["default.regexMatch"].rule'],
      [{ ...mock, input_guardrails: ['pg-none'] }, 404, 'AB02', 'config.input_guardrails[0]'],
      [{ ...mock, after_request_hooks: [{ id: 'pg-none' }] }, 404, 'AB02', 'config.after_request_hooks[0]'],
      [{ ...mock, cache: { mode: 'simpel' } }, 400, 'AB01', 'config.cache.mode'],
      [{ ...mock, drop_params: ['a..b'] }, 400, 'AB01', 'config.drop_params[0]'],
      [{ provider: 'openai', api_key: 'k', custom_host: 'ftp://x' }, 400, 'AB01', 'config.custom_host'],
      [{ strategy, targets: [mock, { provider: 'openai', api_key: 'k', custom_host: 'https://x?y' }] }, 400, 'AB01', 'config.targets[1].custom_host'],
      [{ custom_host: 'https://x?y', strategy, targets: [mock] }, 400, 'AB01', 'config.custom_host'],
      [{ strategy, targets: [{ provider: 'bedrock', api_key: 'k', cloud1_region: 'a/b' }] }, 400, 'AB01', 'config.targets[0].cloud1_region'],
      [{ provider: 'openai', api_key: firstApiKey }, 400, 'AB01', 'config.api_key'],
      [{ provider: 'openai', api_key: 'abc****defg' }, 400, 'AB01', 'config.api_key'],
      [{ ...mock, override_params: { note: 'x'.repeat(1024 * 1024) } }, 400, 'AB01', 'config'],
    ];
    for (const [config, status, code, param] of refusals) {
      const reply = await create(control, config);
      assert.deepEqual(errorOf(reply), [status, code, param], JSON.stringify(reply.body));
    }
    const made = await create(control, mock);
    assert.deepEqual(errorOf(await control.call('PUT', `/v1/configs/${slugOf(made)}`, { config: { provider: '@nowhere' } }, { as })), [404, 'AB02', 'config.provider']);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/configs', { config: mock })), [400, 'AB01', 'workspace_id']);
    assert.deepEqual(errorOf(await create(control, mock, { workspace_id: 'another' })), [403, 'AB03', 'workspace_id']);
    assert.deepEqual(control.faults, []);
  });

  it('may leave the provider to the call', async () => {
    const control = await startControl();
    for (const config of [{ retry: { attempts: 2 } }, { cache: { mode: 'simple' } }, { strategy: { mode: 'loadbalance' }, targets: [{ passthrough: true }, mock] }, { input_guardrails: [{ 'default.wordCount': { minWords: 1 }, deny: true }] }]) {
      const reply = await create(control, config);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    }
    assert.deepEqual(control.faults, []);
  });

  it('keep what is secret in them to themselves', async () => {
    const control = await startControl();
    const secret = (name: string): string => `marked-secret-${name}-of-a-config`;
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: secret('a') },
        { provider: 'bedrock', cloud1_access_key_id: secret('b'), cloud1_secret_access_key: secret('c'), cloud1_session_token: secret('d'), cloud1_region: 'eu-central-1' },
        { provider: 'vertex-ai', cloud2_region: 'global', cloud2_service_account_json: { client_email: secret('e'), private_key: secret('f'), project_id: secret('g') } },
        { provider: 'azure-openai', resource_name: 'r', cloud3_entra_tenant_id: 't', cloud3_entra_client_id: 'i', cloud3_entra_client_secret: secret('h') },
        { provider: 'azure-openai', resource_name: 'r', cloud3_ad_token: secret('i') },
        { provider: 'openai', api_key: secret('j'), override_params: { tools: [{ type: 'mcp', headers: { 'x-any': secret('k') }, authorization: secret('l') }] } },
      ],
      input_guardrails: [{ 'default.webhook': { webhookURL: 'https://hooks.example.com', headers: { 'x-any': secret('m') } } }],
      after_request_hooks: [{ id: 'h', checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://hooks.example.com', headers: `{"x-any":"${secret('n')}"}` } }] }],
    };
    const made = await create(control, config);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const path = `/v1/configs/${slugOf(made)}`;
    const read = await control.call('GET', path, undefined, { as });
    const versions = await control.call('GET', `${path}/versions`, undefined, { as });
    const refused = await control.call('PUT', path, { config: { ...config, cache: { mode: 'none' } } }, { as });
    assert.equal(refused.status, 400);
    // What was read goes back, and means what is stored.
    const back = await control.call('PUT', path, { config: read.body.config }, { as });
    assert.deepEqual([back.status, back.body.version_id], [200, made.body.version_id], JSON.stringify(back.body));
    const shown = JSON.stringify([made, read, versions, refused, back, await control.call('GET', '/v1/configs', undefined, { as })]);
    assert.doesNotMatch(shown, /marked-secret/);
    assert.match(shown, /mar\*\*\*\*nfig/);
    const bytes = await everyByte(control.repository);
    assert.match(bytes, /pc-main-/);
    assert.doesNotMatch(bytes, /marked-secret/);
  });

  it('keep a masked secret only where it was sent before', async () => {
    const control = await startControl();
    const targets = [mock, { provider: 'openai', api_key: 'openai-key-of-the-second-target-2', custom_host: 'https://one.example.com' }] as const;
    const made = await create(control, { strategy: { mode: 'fallback' }, targets });
    const path = `/v1/configs/${slugOf(made)}`;
    const { config } = (await control.call('GET', path, undefined, { as })).body;
    const [first, second]: readonly object[] = Object(config).targets;
    const swapped = await control.call('PUT', path, { config: { ...Object(config), targets: [second, first] } }, { as });
    assert.equal(swapped.status, 200, JSON.stringify(swapped.body));
    const elsewhere = { ...second, custom_host: 'https://two.example.com' };
    assert.deepEqual(errorOf(await control.call('PUT', path, { config: { ...Object(config), targets: [elsewhere, first] } }, { as })), [400, 'AB01', 'config.targets[0].api_key']);
    assert.deepEqual(errorOf(await control.call('PUT', path, { config: { ...Object(config), custom_host: 'https://two.example.com', targets: [second, first] } }, { as })), [400, 'AB01', 'config.targets[1].api_key']);
  });

  it('keep a masked secret of a plugin, and one below an empty host, only where they were sent before', async () => {
    const control = await startControl();
    const key = 'embedding-key-that-nobody-shows-1';
    const made = await create(control, { ...mock, cache: { mode: 'semantic', embedding: { url: 'https://one.example.com/v1/embeddings', model: 'm', api_key: key } } });
    const path = `/v1/configs/${slugOf(made)}`;
    const { config } = (await control.call('GET', path, undefined, { as })).body;
    const { cache } = Object(config);
    assert.match(cache.embedding.api_key, /\*{4}/, JSON.stringify(made.body));
    const put = (embedding: object): Promise<TestReply> => control.call('PUT', path, { config: { ...Object(config), cache: { ...cache, embedding: { ...cache.embedding, ...embedding } } } }, { as });
    assert.equal((await put({ model: 'other' })).status, 200);
    assert.deepEqual(errorOf(await put({ url: 'https://two.example.com/v1/embeddings' })), [400, 'AB01', 'config.cache.embedding.api_key']);

    const below = await create(control, { strategy: { mode: 'single' }, custom_host: 'https://one.example.com', targets: [{ provider: 'openai', api_key: key, custom_host: '' }] });
    const belowPath = `/v1/configs/${slugOf(below)}`;
    const given = Object((await control.call('GET', belowPath, undefined, { as })).body.config);
    assert.equal((await control.call('PUT', belowPath, { config: { ...given, retry: { attempts: 1 } } }, { as })).status, 200);
    assert.deepEqual(errorOf(await control.call('PUT', belowPath, { config: { ...given, custom_host: 'https://two.example.com' } }, { as })), [400, 'AB01', 'config.targets[0].api_key']);
  });

  it('say the whole address of what they hold a key for', async () => {
    const control = await startControl();
    const open = { provider: 'azure-openai', api_key: 'azure-key-without-its-resource-01' };
    assert.deepEqual(errorOf(await create(control, open)), [400, 'AB01', 'config.resource_name']);
    assert.deepEqual(errorOf(await create(control, { strategy: { mode: 'fallback' }, targets: [mock, open] })), [400, 'AB01', 'config.targets[1].resource_name']);
    assert.equal((await create(control, { ...open, resource_name: 'r' })).status, 200);
  });

  it('are one default in a workspace at most', async () => {
    const control = await startControl();
    const [one, two] = [await create(control, mock, { is_default: 1 }), await create(control, mock, { is_default: true })];
    const defaults = async (): Promise<unknown[]> => [one, two].reduce<Promise<unknown[]>>(async (before, made) => [...await before, (await control.call('GET', `/configs/${slugOf(made)}`, undefined, { as })).body.is_default], Promise.resolve([]));
    assert.deepEqual(await defaults(), [0, 1]);
    assert.equal((await control.call('PUT', `/configs/${slugOf(one)}`, { is_default: 1 }, { as })).status, 200);
    assert.deepEqual(await defaults(), [1, 0]);
  });

  it('are not deleted while keys or the workspace have them as default, which is told', async () => {
    const control = await startControl();
    const made = await create(control, mock);
    const path = `/v1/configs/${slugOf(made)}`;
    const { workspaceId, organisationId } = await control.callerOf(as);
    const defaults = { metadata: {}, config_id: slugOf(made), provider: null, allow_config_override: true };
    await putRows(control.repository, apiKeys, keyRow('a', { workspaceId, organisationId, name: 'the user', defaults }));
    const byKey = await control.call('DELETE', path, undefined, { as });
    assert.deepEqual(errorOf(byKey), [409, 'AB07', null]);
    assert.match(String(byKey.body.message), /in use by the API key the user \(a\); give/);
    await putRows(control.repository, apiKeys, keyRow('a', { workspaceId, organisationId, defaults: { ...defaults, config_id: String(made.body.id) } }));
    assert.equal((await control.call('DELETE', path, undefined, { as })).status, 409);
    await removeRows(control.repository, apiKeys, 'a');
    const workspace = await control.repository.get(workspaces, workspaceId);
    assert.ok(workspace !== undefined);
    await putRows(control.repository, workspaces, { ...workspace.row, defaults: { ...workspace.row.defaults, user_api_key_config: slugOf(made) } });
    assert.match(String((await control.call('DELETE', path, undefined, { as })).body.message), /the workspace first-workspace \(user_api_key_config\)/);
    await putRows(control.repository, workspaces, workspace.row);
    assert.equal((await control.call('DELETE', path, undefined, { as })).status, 200);
  });

  it('whose text was left out of a backup are listed, renamed, stored again and deleted', async () => {
    const control = await startControl();
    const [kept, gone] = [await create(control, mock), await create(control, mock)];
    for (const made of [kept, gone]) {
      const row = await control.repository.get(configs, String(made.body.id));
      const version = await control.repository.get(configVersions, String(made.body.version_id));
      assert.ok(row !== undefined && version !== undefined);
      await putRows(control.repository, configs, { ...row.row, sealedConfig: absentSecret });
      await putRows(control.repository, configVersions, { ...version.row, sealedConfig: absentSecret });
    }
    const path = `/v1/configs/${slugOf(kept)}`;
    const read = await control.call('GET', path, undefined, { as });
    assert.deepEqual(errorOf(read), [409, 'AB07', null]);
    assert.match(String(read.body.message), /left out of a backup.*PUT/);
    assert.equal((await control.call('GET', '/v1/configs', undefined, { as })).body.total, 2);
    assert.equal((await control.call('PUT', path, { name: 'Renamed' }, { as })).status, 200);
    assert.deepEqual(errorOf(await control.call('PUT', path, { config: { ...mock, api_key: 'moc****0001' } }, { as })), [400, 'AB01', 'config.api_key']);
    assert.equal((await control.call('PUT', path, { config: mock }, { as })).status, 200);
    assert.equal((await control.call('GET', path, undefined, { as })).body.version, 2);
    const { data } = (await control.call('GET', `${path}/versions`, undefined, { as })).body;
    assert.deepEqual([typeof Object(data)[0].config, Object(data)[1].config], ['string', null]);
    assert.equal((await control.call('DELETE', `/v1/configs/${slugOf(gone)}`, undefined, { as })).status, 200);
    assert.deepEqual(control.faults, []);
  });

  it('are found by an organisation key by id, or by a slug that is unique', async () => {
    const control = await startControl();
    const made = await create(control, mock);
    for (const name of [made.body.id, made.body.slug]) assert.equal((await control.call('GET', `/v1/configs/${String(name)}`)).status, 200);
    assert.equal((await control.call('GET', '/v1/configs')).body.total, 1);
    assert.equal((await control.call('GET', '/v1/configs?workspace_id=first-workspace')).body.total, 1);
    assert.deepEqual(errorOf(await control.call('GET', '/v1/configs?workspace_id=another')), [404, 'AB02', 'workspace_id']);
  });
});
