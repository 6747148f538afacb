import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply } from './cases.js';

const config = { provider: 'mock', api_key: 'key-of-the-mock-provider-0001', retry: { attempts: 1 } };

const makeConfig = async (stage: Stage): Promise<StageReply> => stage.made('POST', '/v1/configs', { name: stage.unique('Config'), config, workspace_id: stage.workspace.id });
const target = async (stage: Stage): Promise<{ readonly params: { readonly slug: string } }> => ({ params: { slug: String((await makeConfig(stage)).body.id) } });
const badConfigs = [
  { body: { config: { provider: 'mock', retry: {} } }, param: 'config.retry.attempts' },
  { body: { config: { strategy: { mode: 'single' }, targets: [{ provider: 'mcok', api_key: 'k' }] } }, param: 'config.targets[0].provider' },
  { body: { config: 5 }, param: 'config' },
  { body: { config: '{' }, param: 'config' },
];

export default resourceCases({
  resource: 'configs',
  operations: {
    list: {
      as: 'workspace',
      target: async (stage) => {
        const { body } = await makeConfig(stage);
        return { query: `search=${String(body.slug)}&page_size=5` };
      },
      check: ({ body }) => {
        assert.deepEqual([body.success, body.object, body.total, body.data[0].status], [true, 'list', 1, 'active']);
        assert.equal(body.data[0].config, undefined);
      },
      bad: [{ query: 'page_size=1001', param: 'page_size' }, { query: 'status=gone', param: 'status' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { name: 'Made by a case', config, isDefault: 0, workspace_id: stage.workspace.slug } }),
      check: async ({ body }, stage) => {
        assert.deepEqual(body.data, { id: body.id, version_id: body.version_id, slug: body.slug, object: 'config' });
        assert.deepEqual((await stage.made('GET', `/v1/configs/${String(body.slug)}`)).body.config, { ...config, api_key: 'key****0001' });
      },
      bad: [...badConfigs.map(({ body, param }) => ({ body: { name: 'Bad', ...body }, param })), { body: { name: 'Without' }, param: 'config' }, { body: { name: '', config }, param: 'name' }, { body: { config, slug: 'no blanks' }, param: 'slug' }],
      conflict: async (stage) => ({ body: { config, slug: (await makeConfig(stage)).body.slug, workspace_id: stage.workspace.slug } }),
    },
    read: {
      target,
      check: ({ body }) => assert.deepEqual([body.object, body.version, body.data.id], ['config', 1, body.id]),
      bad: [{ query: 'version=', param: 'version' }],
      conflict: { none: 'it changes nothing' },
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { config: { ...config, retry: { attempts: 2 } } } }),
      check: async ({ body }, stage) => assert.equal((await stage.made('GET', `/v1/configs/${String(body.slug)}`)).body.version, 2),
      bad: [...badConfigs, { body: { status: 'gone' }, param: 'status' }, { body: { name: '' }, param: 'name' }],
      conflict: { none: 'names may be the same' },
    },
    delete: {
      target,
      check: ({ body }) => assert.deepEqual(body, {}),
      bad: [],
      conflict: async (stage) => {
        const made = await makeConfig(stage);
        await stage.made('POST', '/v1/api-keys/workspace/service', { name: stage.unique('Key'), scopes: [], workspace_id: stage.workspace.id, defaults: { config_id: made.body.slug } });
        return { params: { slug: String(made.body.id) } };
      },
    },
    versions: {
      target,
      check: ({ body }) => {
        assert.deepEqual([body.object, body.total, body.data.length], ['list', 1, 1]);
        assert.equal(JSON.parse(body.data[0].config).provider, 'mock');
      },
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
    },
  },
});
