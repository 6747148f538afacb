import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startControl, type TestControl } from '../../support/control.js';

async function done(control: TestControl, method: string, path: string, body?: unknown): Promise<any> {
  const reply = await control.call(method, path, body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  assert.deepEqual(control.faults, []);
  return reply.body;
}
const refused = async (control: TestControl, method: string, path: string, body?: unknown): Promise<unknown[]> => {
  const reply = await control.call(method, path, body);
  return [reply.status, Object(reply.body.error).param, reply.body.message];
};

async function withProvider(): Promise<TestControl> {
  const control = await startControl();
  await done(control, 'POST', '/v1/virtual-keys', { name: 'Main', slug: 'main', provider: 'mock', key: 'key-of-the-mock-provider-0003', workspace_id: 'first-workspace' });
  return control;
}
const fields = { parameters: {}, virtual_key: 'main', model: 'm', workspace_id: 'first-workspace' };
const partial = (control: TestControl, slug: string, string: string): Promise<any> => done(control, 'POST', '/v1/prompts/partials', { name: slug, slug, string, workspace_id: 'first-workspace' });

describe('prompts', () => {
  it('name only what is there: a provider, by key or model, and partials with their versions', async () => {
    const control = await withProvider();
    await partial(control, 'pp-a', 'x');
    for (const [members, status, param] of [
      [{ virtual_key: 'none' }, 404, 'virtual_key'], [{ virtual_key: '@main' }, 200, undefined], [{ virtual_key: undefined, model: '@main/m' }, 200, undefined], [{ virtual_key: undefined, model: '@none/m' }, 404, 'model'],
      [{ virtual_key: undefined }, 400, 'virtual_key'], [{ string: '{{>pp-a}} {{>pp-a@1}} {{>pp-a@latest}}' }, 200, undefined], [{ string: '{{>pp-a@2}}' }, 404, 'string'], [{ string: '{{>pp-none}}' }, 404, 'string'],
      [{ collection_id: 'none' }, 404, 'collection_id'],
    ] as const) {
      const reply = await control.call('POST', '/v1/prompts', { name: 'P', string: 'x', ...fields, ...members });
      assert.deepEqual([reply.status, reply.status === 200 ? undefined : Object(reply.body.error).param], [status, param], JSON.stringify([members, reply.body]));
      if (status === 404) assert.equal(Object(reply.body.error).code, 'AB02');
    }
  });

  it('hold the partials of their published, newest and labelled versions, and no others', async () => {
    const control = await withProvider();
    await partial(control, 'pp-a', 'x');
    await done(control, 'POST', '/v1/prompts', { name: 'P', slug: 'pp-p', string: '{{>pp-a}}', ...fields });
    const path = '/v1/prompts/pp-p';
    const remove = (): Promise<unknown[]> => refused(control, 'DELETE', '/v1/prompts/partials/pp-a');
    const held = (version: string): unknown[] => [409, null, `partial pp-a is in use by the prompt pp-p (version ${version}); publish versions without it first`];
    assert.deepEqual(await remove(), held('1'));
    await done(control, 'PUT', path, { patch: true, string: 'without' });
    assert.deepEqual(await remove(), held('1'));
    await done(control, 'PUT', `${path}/versions/1`, { label_id: 'production' });
    await done(control, 'PUT', `${path}/makeDefault`, { version: 2 });
    assert.deepEqual(await remove(), held('1'));
    await done(control, 'PUT', `${path}/versions/1`, { label_id: null });
    await done(control, 'DELETE', '/v1/prompts/partials/pp-a');
    // What it names is gone, so it cannot be published again.
    assert.deepEqual((await refused(control, 'PUT', `${path}/makeDefault`, { version: 1 })).slice(0, 2), [404, 'string']);
  });

  it('hold the provider of their published version', async () => {
    const control = await withProvider();
    const { id } = await done(control, 'POST', '/v1/prompts', { name: 'P', slug: 'pp-p', string: 'x', ...fields });
    const held = [409, null, 'virtual key main is in use by the prompt pp-p; change them first'];
    assert.deepEqual(await refused(control, 'DELETE', '/v1/virtual-keys/main'), held);
    await done(control, 'PUT', `/v1/prompts/${id}`, { patch: true, virtual_key: null, model: '@main/m', publish: true });
    assert.deepEqual(await refused(control, 'DELETE', '/v1/virtual-keys/main'), held);
    await done(control, 'DELETE', `/v1/prompts/${id}`);
    await done(control, 'DELETE', '/v1/virtual-keys/main');
  });

  it('have partials that stand in no circle', async () => {
    const control = await withProvider();
    await partial(control, 'pp-a', 'x');
    await partial(control, 'pp-b', '{{>pp-a}}');
    await partial(control, 'pp-c', '{{>pp-b}}');
    for (const string of ['{{>pp-a}}', '{{>pp-b@latest}}', '{{>pp-c}}']) {
      assert.deepEqual(await refused(control, 'PUT', '/v1/prompts/partials/pp-a', { string }), [400, 'string', 'string names pp-a itself, or partials that do: partials cannot stand in a circle']);
    }
    await done(control, 'PUT', '/v1/prompts/partials/pp-c', { string: '{{>pp-a}} {{>pp-b}}' });
  });

  it('keep 100 versions, and among them those that are published or labelled', async () => {
    const control = await withProvider();
    const { id } = await done(control, 'POST', '/v1/prompts', { name: 'P', string: '1', ...fields });
    await done(control, 'PUT', `/v1/prompts/${id}`, { patch: true, string: '2' });
    await done(control, 'PUT', `/v1/prompts/${id}/versions/2`, { label_id: 'staging' });
    for (let number = 3; number <= 103; number += 1) await done(control, 'PUT', `/v1/prompts/${id}`, { patch: true, string: String(number) });
    const { total, data } = await done(control, 'GET', `/v1/prompts/${id}/versions?page_size=100`);
    assert.deepEqual([total, data.map((each: any) => each.prompt_version).slice(-3), data[0].prompt_version], [100, [6, 2, 1], 103]);
    assert.equal((await done(control, 'GET', `/v1/prompts/${id}@staging`)).string, '2');
    assert.equal((await control.call('GET', `/v1/prompts/${id}@5`)).status, 404);
    await done(control, 'DELETE', `/v1/prompts/${id}`);
  });

  it('keep the version of a partial that a template in use names by its number', async () => {
    const control = await withProvider();
    await partial(control, 'pp-a', '1');
    const path = '/v1/prompts/partials/pp-a';
    for (const string of ['2', '3']) await done(control, 'PUT', path, { string });
    await done(control, 'POST', '/v1/prompts', { name: 'P', slug: 'pp-p', string: '{{>pp-a@2}}', ...fields });
    for (let number = 4; number <= 103; number += 1) await done(control, 'PUT', path, { string: String(number) });
    assert.deepEqual(await Promise.all([1, 2, 3, 5].map(async (version) => (await control.call('GET', `${path}?version=${version}`)).status)), [200, 200, 404, 404]);
    await done(control, 'PUT', '/v1/prompts/pp-p', { string: 'without', parameters: {}, model: 'm', virtual_key: 'main', publish: true });
    await done(control, 'PUT', path, { string: '104' });
    assert.equal((await control.call('GET', `${path}?version=2`)).status, 404);
  });

  it('are published with their new version where the caller says so', async () => {
    const control = await withProvider();
    const { id } = await done(control, 'POST', '/v1/prompts', { name: 'P', string: '1', ...fields });
    await done(control, 'PUT', `/v1/prompts/${id}`, { patch: true, string: '2', publish: true });
    assert.deepEqual((({ string, prompt_version: version }) => [string, version])(await done(control, 'GET', `/v1/prompts/${id}`)), ['2', 2]);
    assert.deepEqual((await refused(control, 'PUT', `/v1/prompts/${id}`, { name: 'Q', publish: true })).slice(0, 2), [400, 'publish']);
  });
});

describe('prompts in files', () => {
  const file = {
    virtual_keys: [{ slug: 'main', provider: 'mock', key: 'key-of-the-mock-provider-0003' }],
    prompts: [{ slug: 'pp-help', string: 'Be {{>pp-tone}}. {{question}}', virtual_key: 'main', model: 'm', parameters: { temperature: 0 }, collection_id: 'support', is_raw_template: false }],
    prompt_partials: [{ slug: 'pp-tone', string: 'kind' }],
    collections: [{ slug: 'support', name: 'Support' }],
  };
  const apply = (control: TestControl, document: object, more: object = {}): Promise<any> => done(control, 'POST', '/v1/declarations/apply', { documents: [document], ...more });
  const changesOf = ({ changes }: any): string[] => changes.map((each: any) => `${each.action} ${each.section} ${each.name}`);

  it('are made in the order of their references, published when they are edited, exported and pruned', async () => {
    const control = await startControl();
    assert.deepEqual(changesOf(await apply(control, file)).filter((each) => !each.includes('integrations')).sort(), ['create collections support', 'create prompt_partials pp-tone', 'create prompts pp-help', 'create virtual_keys main']);
    assert.deepEqual(changesOf(await apply(control, file)), []);
    const edited = { ...file, prompts: [{ ...file.prompts[0], string: 'Be {{>pp-tone}}! {{question}}' }], prompt_partials: [{ slug: 'pp-tone', string: 'very kind' }] };
    assert.deepEqual(changesOf(await apply(control, edited)).sort(), ['update prompt_partials pp-tone', 'update prompts pp-help']);
    assert.deepEqual(changesOf(await apply(control, edited)), []);
    const prompt = await done(control, 'GET', '/v1/prompts/pp-help');
    assert.deepEqual([prompt.prompt_version, prompt.prompt_version_status, prompt.string, prompt.parameters], [2, 'active', 'Be {{>pp-tone}}! {{question}}', { temperature: 0 }]);
    const exported = await done(control, 'GET', '/v1/declarations/export');
    const shown = exported.documents.find((each: any) => each.prompts !== undefined);
    assert.deepEqual(shown.prompts, edited.prompts.map(({ is_raw_template: _, ...rest }) => rest));
    assert.deepEqual([shown.prompt_partials, shown.collections], [edited.prompt_partials, file.collections]);
    // A draft that nobody published is not what the file speaks of.
    await done(control, 'PUT', '/v1/prompts/pp-help', { patch: true, string: 'a draft' });
    assert.deepEqual(changesOf(await apply(control, edited)), []);
    assert.deepEqual(changesOf(await apply(control, { virtual_keys: file.virtual_keys }, { prune: true })).sort(), ['remove collections support', 'remove prompt_partials pp-tone', 'remove prompts pp-help']);
  });
});
