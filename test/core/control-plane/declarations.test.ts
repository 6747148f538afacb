import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { readDocuments } from '../../../core/declare/read-documents.js';
import { absentSecret } from '../../../core/storage/sealer.js';
import { configs } from '../../../core/storage/tables/configs.js';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { firstApiKey, startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { putRows } from '../../support/rows.js';

const file = {
  integrations: [
    { slug: 'east', ai_provider_id: 'mock', key: 'east-key-0123456789-marked' },
    { slug: 'west', ai_provider_id: 'openai', key: 'west-key-0123456789-marked', configurations: { custom_headers: { 'x-west': 'header-0123456789-marked' } } },
  ],
  configs: [{ slug: 'main', config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@east' }, { provider: '@west' }] } }],
  api_keys: [{ name: 'app', key: 'app-key-0123456789-marked', defaults: { config_id: 'main' } }],
};

type Document = Readonly<Record<string, unknown>>;

const apply = (control: TestControl, documents: Document | readonly Document[], more: object = {}): Promise<TestReply> =>
  control.call('POST', '/v1/declarations/apply', { documents: Array.isArray(documents) ? documents : [documents], ...more });

async function applied(control: TestControl, documents: Document | readonly Document[], more: object = {}): Promise<Record<string, any>> {
  const { status, body } = await apply(control, documents, more);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(control.faults, []);
  return body;
}

const changesOf = ({ changes }: Record<string, any>): string[] => changes.map((each: any) => `${each.action} ${each.section} ${each.name}${each.is_drift ? ' (drift)' : ''}`);
const membersOf = ({ changes }: Record<string, any>): string[] => changes.flatMap((each: any) => each.members.map((member: any) => `${each.name}.${member.member}: ${member.before} -> ${member.after}`));
const refusal = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).param, body.message];

describe('declared files', () => {
  it('make what they name in the order of its references, in one commit, and nothing the second time', async () => {
    const control = await startControl();
    const backwards = { api_keys: file.api_keys, configs: file.configs, integrations: file.integrations };
    const sequence = await control.repository.sequence();
    const first = await applied(control, backwards);
    assert.deepEqual([...changesOf(first)].sort(), [
      'create api_keys app', 'create configs main', 'create integrations east', 'create integrations west', 'create providers east', 'create providers west',
    ]);
    assert.equal(await control.repository.sequence(), sequence + 1);
    const before = await everyStored(control);
    const again = await applied(control, file);
    assert.deepEqual([changesOf(again), again.unchanged, again.keys], [[], 6, []]);
    assert.deepEqual(await everyStored(control), before);
    const config = await control.call('GET', '/v1/configs/main');
    assert.deepEqual([config.status, config.body.version], [200, 1]);
  });

  it('show what is stored to nobody who may not read it', async () => {
    const control = await startControl();
    await applied(control, file);
    const { body } = await control.call('POST', '/v1/api-keys/organisation/service', { name: 'writer', scopes: ['organisation_settings.update', 'configs.create', 'configs.update', 'configs.delete'] });
    const as = String(body.key);
    const probe = (documents: readonly Document[], more: object): Promise<TestReply> => control.call('POST', '/v1/declarations/apply', { documents, ...more }, { as });
    for (const [documents, more] of [
      [[{ configs: [{ slug: 'main', config: { retry: { attempts: 1 } } }] }], { dry_run: true }], [[{ configs: file.configs }], { dry_run: true }], [[], { dry_run: true, prune: true }],
    ] as const) {
      const reply = await probe(documents, more);
      assert.deepEqual([reply.status, Object(reply.body.error).code, JSON.stringify(reply.body).includes('fallback')], [403, 'AB03', false], JSON.stringify(reply.body));
    }
    assert.equal((await probe([{ configs: [{ slug: 'own', config: { retry: { attempts: 1 } } }] }], { source: 'own' })).status, 200, 'what is made anew shows nothing');
  });

  it('are told as they would be by a dry run, which writes nothing', async () => {
    const control = await startControl();
    const before = await everyStored(control);
    const reply = await applied(control, file, { dry_run: true });
    assert.equal(reply.dry_run, true);
    assert.equal(changesOf(reply).length, 6);
    assert.deepEqual(await everyStored(control), before);
    assert.doesNotMatch(JSON.stringify(reply), /marked/);
    assert.deepEqual(changesOf(await applied(control, file)), changesOf(reply));
  });

  it('change what is edited, by its members, and show no secret', async () => {
    const control = await startControl();
    await applied(control, file);
    const edited = { ...file, integrations: [{ ...file.integrations[0], key: 'other-key-0123456789-marked', description: 'the east' }, file.integrations[1]] };
    const reply = await applied(control, edited);
    assert.deepEqual(changesOf(reply), ['update integrations east']);
    assert.deepEqual(membersOf(reply), ['east.description: null -> "the east"', 'east.key: "(secret)" -> "(secret)"']);
    assert.deepEqual(changesOf(await applied(control, edited)), []);
    // What is taken out of the file again is as if it had never been in it.
    assert.deepEqual(membersOf(await applied(control, { ...edited, integrations: file.integrations })), ['east.description: "the east" -> null', 'east.key: "(secret)" -> "(secret)"']);
    assert.doesNotMatch(await everyByte(control.repository), /-marked/);
  });

  it('put right what somebody changed, and say so', async () => {
    const control = await startControl();
    await applied(control, file);
    assert.equal((await control.call('PUT', '/v1/configs/main', { config: { provider: '@east' } })).status, 200);
    const dry = await applied(control, file, { dry_run: true });
    assert.deepEqual(changesOf(dry), ['update configs main (drift)']);
    assert.deepEqual(changesOf(await applied(control, file)), ['update configs main (drift)']);
    assert.equal(Object((await control.call('GET', '/v1/configs/main')).body.config).targets.length, 2);
    assert.deepEqual(changesOf(await applied(control, file)), []);
  });

  it('remove with prune what they made and have no more, and nothing else', async () => {
    const control = await startControl();
    assert.equal((await control.call('POST', '/v1/integrations', { slug: 'own', name: 'own', ai_provider_id: 'mock', workspace_id: 'first-workspace' })).status, 200);
    const own = { slug: 'own', ai_provider_id: 'mock' };
    await applied(control, { ...file, integrations: [...file.integrations, own] });
    const kept = await applied(control, { integrations: [file.integrations[0]] });
    assert.deepEqual(changesOf(kept), []);
    assert.deepEqual(kept.left.map(({ name }: any) => name).sort(), ['app', 'main', 'west', 'west']);
    const dry = await applied(control, { integrations: [file.integrations[0]] }, { prune: true, dry_run: true });
    const pruned = await applied(control, { integrations: [file.integrations[0]] }, { prune: true });
    assert.deepEqual([...changesOf(pruned)].sort(), ['remove api_keys app', 'remove configs main', 'remove integrations west', 'remove providers west']);
    assert.deepEqual(changesOf(dry), changesOf(pruned));
    assert.deepEqual([pruned.left, changesOf(await applied(control, { integrations: [file.integrations[0]] }, { prune: true }))], [[], []]);
    assert.equal((await control.call('GET', '/v1/integrations/own')).status, 200);
    assert.equal((await control.call('GET', '/v1/integrations/west')).status, 404);
    // What files of another name made is theirs.
    assert.deepEqual(changesOf(await applied(control, {}, { prune: true, source: 'others' })), []);
  });

  it('take over what files of another name made', async () => {
    const control = await startControl();
    await applied(control, file, { source: 'old' });
    assert.deepEqual(changesOf(await applied(control, file, { source: 'new' })), []);
    assert.deepEqual(changesOf(await applied(control, {}, { source: 'old', prune: true })), []);
    assert.equal(changesOf(await applied(control, {}, { source: 'new', prune: true })).length, 6);
  });

  it('are applied once when several apply them at the same time', async () => {
    const control = await startControl();
    const replies = await Promise.all(Array.from({ length: 4 }, () => apply(control, file)));
    assert.deepEqual(replies.map(({ status }) => status), [200, 200, 200, 200], JSON.stringify(replies.map(({ body }) => body.message)));
    assert.equal(replies.flatMap(({ body }) => changesOf(body)).length, 6);
    assert.deepEqual(control.faults, []);
  });

  it('refuse a prune of what is in use by something else, whole', async () => {
    const control = await startControl();
    await applied(control, file);
    const made = await control.call('POST', '/v1/api-keys/workspace/service', { name: 'hand-made', scopes: [], workspace_id: 'first-workspace', defaults: { config_id: 'main' } });
    assert.equal(made.status, 200);
    const before = await everyRow(control);
    const refused = await apply(control, { integrations: file.integrations }, { prune: true });
    assert.equal(refused.status, 409);
    assert.match(String(refused.body.message), /^config main is in use by the API key hand-made/);
    assert.deepEqual(await everyRow(control), before);
  });

  it('say which entry and member is at fault, and nothing is made', async () => {
    const control = await startControl();
    const rows = await everyRow(control);
    const bad = async (document: Document, param: string, message: RegExp): Promise<void> => {
      const reply = await apply(control, { ...file, ...document });
      assert.deepEqual(refusal(reply).slice(0, 2), [400, param], JSON.stringify(reply.body));
      assert.match(String(reply.body.message), message);
    };
    await bad({ confgis: [] }, 'documents.0.confgis', /^confgis is not known here; did you mean configs\?$/);
    await bad({ configs: [{ slug: 'main', confg: {} }] }, 'documents.0.configs.0.confg', /^config main: confg is not known here; did you mean config\?$/);
    await bad({ configs: [{ slug: 'main', config: { provider: 'mock', retry: {} } }] }, 'documents.0.configs.0.config.retry.attempts', /^config main: /);
    await bad({ configs: [{ slug: 'main', config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@north' }] } }] }, 'documents.0.configs.0.config.targets.0.provider', /^config main: config\.?.*there is no provider @north/);
    await bad({ configs: [{ config: {} }] }, 'documents.0.configs.0.slug', /slug is required/);
    await bad({ configs: [file.configs[0], file.configs[0]] }, 'documents.0.configs.1', /^config main is given more than once in the workspace first-workspace$/);
    await bad({ configs: [{ slug: 'one', workspace_id: 'nowhere', config: { provider: 'mock' } }] }, 'documents.0.configs.0.workspace_id', /no workspace nowhere, and the files make none/);
    await bad({ configs: 5 }, 'documents.0.configs', /must be a list/);
    await bad({ api_keys: [{ name: 'app', key: 'aaaaaaaaaaaaaaaaaaaa' }] }, 'documents.0.api_keys.0.key', /can be guessed/);
    await bad({ api_keys: [{ name: 'app', key: 'short' }] }, 'documents.0.api_keys.0.key', /16 to 256/);
    await bad({ api_keys: [{ name: 'app', key: firstApiKey }] }, 'documents.0.api_keys.0.key', /is the one of another API key/);
    assert.deepEqual(await everyRow(control), rows);
  });

  it('make a workspace with what it names of its own, and take it away again', async () => {
    const control = await startControl();
    const document = {
      workspace_id: 'team', workspaces: [{ slug: 'team', name: 'Team', defaults: { user_api_key_config: 'main', metadata: { team: 'a' } } }],
      integrations: [{ slug: 'shared', workspace_id: null, ai_provider_id: 'mock', workspaces: [{ id: 'team', enabled: true }], models: [{ slug: 'mock-1', enabled: true }], allow_all_models: false }],
      virtual_keys: [{ slug: 'old', provider: 'mock', key: 'old-key-0123456789' }],
      configs: [{ slug: 'main', config: { provider: '@shared' } }, { slug: 'older', config: { virtual_key: 'old' } }],
      organisation: { settings: { enforce_saved_configs: true }, defaults: { metadata: { by: 'file' } }, exclusions: { input_guardrails: ['team'] } },
    };
    const first = await applied(control, document);
    assert.deepEqual([...changesOf(first)].sort(), [
      'create configs main', 'create configs older', 'create integrations shared', 'create providers shared', 'create virtual_keys old', 'create workspaces team', 'update organisation ',
    ]);
    assert.deepEqual(changesOf(await applied(control, document)), []);
    const exported = (await control.call('GET', '/v1/declarations/export')).body;
    const second = await startControl();
    const settled = (given: any): any => JSON.parse(JSON.stringify(given).replace(/\$\{env:(\w+)\}/g, 'value-of-the-variable-$1'));
    await applied(second, settled(exported.documents));
    assert.deepEqual((await second.call('GET', '/v1/declarations/export')).body, exported);
    assert.deepEqual(changesOf(await applied(second, settled(exported.documents))), []);
    // One workspace, with what it stands on of the organisation's own.
    const [shared, own] = Object((await control.call('GET', '/v1/declarations/export?workspace_id=team')).body.documents);
    assert.deepEqual([shared.workspace_id, shared.workspaces.map(({ slug }: any) => slug), shared.integrations, own.workspace_id], [null, ['team'], [{
      slug: 'shared', ai_provider_id: 'mock', allow_all_models: false, models: [{ slug: 'mock-1', enabled: true }], workspaces: [{ id: 'team', enabled: true }],
    }], 'team']);
    assert.deepEqual(Object((await control.call('GET', '/v1/declarations/export?workspace_id=first-workspace')).body.documents).length, 1);
    assert.deepEqual(changesOf(await applied(control, {}, { prune: true })).filter((each) => each.startsWith('remove')).length, 6);
  });

  it('are exported so that texts which look like variables stay texts, and keys that are rotated get a secret of their own', async () => {
    const control = await startControl();
    const string = 'Not a variable: ${env:ADMIN_KEY}, $${env:TWICE}, {{>tone}}';
    const document = {
      prompt_partials: [{ slug: 'tone', string: '${env:TONE}' }], prompts: [{ slug: 'asked', string, model: 'm', virtual_key: 'east' }], integrations: [{ slug: 'east', ai_provider_id: 'mock' }],
      api_keys: [{ name: 'turning', rotation_policy: { rotation_period: 'weekly' } }],
    };
    await applied(control, document);
    const exported = (await control.call('GET', '/v1/declarations/export')).body;
    const { documents } = readDocuments([{ name: 'exported.yaml', text: JSON.stringify(Object(exported.documents).at(-1)) }], {});
    assert.equal(Object(documents[0]).prompts[0].string, string);
    const second = await startControl();
    assert.deepEqual(changesOf(await applied(second, documents as readonly Document[])).sort(), ['create api_keys turning', 'create integrations east', 'create prompt_partials tone', 'create prompts asked', 'create providers east']);
    assert.deepEqual(changesOf(await applied(control, documents as readonly Document[])), []);
    assert.deepEqual(exported.variables, []);
  });

  it('are exported without what is archived, which would be in use where they are applied', async () => {
    const control = await startControl();
    const more = { configs: [...file.configs, { slug: 'spare', config: { provider: 'mock' } }], prompt_partials: [{ slug: 'tone', string: 'x' }] };
    await applied(control, { ...file, ...more });
    const exportedSlugs = async (): Promise<unknown[]> => {
      const { configs: listed, prompt_partials: partials = [] } = Object(Object((await control.call('GET', '/v1/declarations/export')).body.documents).at(-1));
      return [...listed, ...partials].map(({ slug }: any) => slug);
    };
    assert.deepEqual(await exportedSlugs(), ['main', 'spare', 'tone']);
    for (const path of ['/v1/configs/spare', '/v1/prompts/partials/tone']) assert.equal((await control.call('PUT', path, { status: 'archived' })).status, 200);
    assert.deepEqual(await exportedSlugs(), ['main']);
  });

  it('leave limits of a provider that came with an integration, and refuse one that is another\'s', async () => {
    const control = await startControl();
    await applied(control, file);
    assert.equal((await control.call('PUT', '/v1/providers/east', { note: 'ours' })).status, 200);
    assert.deepEqual(changesOf(await applied(control, file)), []);
    assert.equal((await control.call('GET', '/v1/providers/east')).body.note, 'ours');
    assert.equal((await control.call('POST', '/v1/providers', { name: 'north', slug: 'north', integration_id: 'west', workspace_id: 'first-workspace' })).status, 200);
    const refused = await apply(control, { integrations: [{ slug: 'north', ai_provider_id: 'mock' }] });
    assert.deepEqual(refusal(refused), [400, 'documents.0.integrations.0', 'provider north would be made with it, and is there already with another integration_id; choose another slug, or make it in providers yourself']);
  });

  it('say a workspace by its slug, by its id or not at all, and mean the same', async () => {
    const control = await startControl();
    const [first] = Object((await control.call('GET', '/v1/workspaces')).body.data);
    const providers = [{ slug: 'east', integration_id: 'east', note: 'ours', workspace_id: first.slug }];
    assert.equal(changesOf(await applied(control, { ...file, providers })).length, 6);
    assert.deepEqual(changesOf(await applied(control, { ...file, workspace_id: first.id, providers })), []);
    const refused = await apply(control, [file, { workspace_id: first.id, configs: file.configs }]);
    assert.deepEqual(refusal(refused), [400, 'documents.1.configs.0', 'config main is given more than once in the workspace first-workspace']);
  });

  it('bring back secrets that a backup left out', async () => {
    const control = await startControl();
    await applied(control, file);
    for (const { row } of await control.repository.list(integrations, { limit: 10 })) {
      await putRows(control.repository, integrations, { ...row, sealedKey: absentSecret, sealedHeaders: row.sealedHeaders === null ? null : absentSecret });
    }
    for (const { row } of await control.repository.list(configs, { limit: 10 })) await putRows(control.repository, configs, { ...row, sealedConfig: absentSecret });
    assert.deepEqual(changesOf(await applied(control, file)).sort(), ['update configs main (drift)', 'update integrations east (drift)', 'update integrations west (drift)']);
    assert.deepEqual(changesOf(await applied(control, file)), []);
    assert.equal((await control.call('GET', '/v1/integrations/east')).body.masked_key, 'eas****rked');
  });

  it('give a key that the file has none for, once', async () => {
    const control = await startControl();
    const document = { api_keys: [{ name: 'made' }, { name: 'deploys', workspace_id: null, scopes: ['organisation_settings.read'] }] };
    assert.deepEqual((await applied(control, document, { dry_run: true })).keys, []);
    const { keys } = await applied(control, document);
    assert.deepEqual(keys.map(({ name, workspace }: any) => [name, workspace]), [['made', 'first-workspace'], ['deploys', null]]);
    assert.equal((await control.callerOf(keys[0].key)).keyType, 'workspace-service');
    assert.deepEqual((await applied(control, document)).keys, []);
  });

  it('are exported without secrets, as they were written', async () => {
    const control = await startControl();
    await applied(control, file);
    const { status, body } = await control.call('GET', '/v1/declarations/export?workspace_id=first-workspace');
    assert.equal(status, 200);
    const [shared, own] = body.documents as any[];
    assert.deepEqual(shared, { workspaces: [{ slug: 'first-workspace', name: 'First workspace' }] });
    assert.deepEqual(own, {
      workspace_id: 'first-workspace',
      integrations: [
        { slug: 'east', ai_provider_id: 'mock', key: '${env:EAST_KEY}' },
        { slug: 'west', ai_provider_id: 'openai', key: '${env:WEST_KEY}', configurations: { custom_headers: { 'x-west': '${env:WEST_HEADER_X_WEST}' } } },
      ],
      configs: file.configs,
      api_keys: [{ name: 'app', key: '${env:APP_KEY}', scopes: ['completions.write'], defaults: { config_id: 'main' } }],
    });
    assert.deepEqual((body.variables as any[]).map(({ name }) => name), ['EAST_KEY', 'WEST_KEY', 'WEST_HEADER_X_WEST', 'APP_KEY']);
  });

  it('are noted in the audit log object by object, without their values', async () => {
    const control = await startControl();
    await applied(control, file);
    await applied(control, file);
    await applied(control, file, { dry_run: true });
    const reply = await control.call('GET', '/v1/audit-logs?start_time=2030-01-01T00:00:00Z&end_time=2030-02-01T00:00:00Z');
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    const data: any = reply.body.records;
    assert.deepEqual(data.map((each: any) => `${each.resource_type} ${each.action}`).sort(), [
      'api-key created', 'config created', 'declaration applied', 'integration created', 'integration created', 'provider created', 'provider created',
    ]);
    assert.doesNotMatch(JSON.stringify(data), /marked/);
  });
});

async function everyStored({ repository: { store } }: TestControl): Promise<string[]> {
  const rows: string[] = [];
  for await (const { key, value, version } of store.range({ from: '', to: '\uffff', limit: 1_000_000 })) rows.push(`${key} ${version} ${createHash('sha256').update(value).digest('hex').slice(0, 8)}`);
  return rows;
}

/** Without what a refusal leaves in the audit log. */
const everyRow = async (control: TestControl): Promise<string[]> => (await everyStored(control)).filter((each) => !/^(?:audit|head|writer)/.test(each));
