import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const key = 'sk-key-of-a-case-0123456789-0001';

const make = (stage: Stage): Promise<StageReply> => stage.made('POST', '/v1/virtual-keys', { name: 'Key', slug: stage.unique('virtual-key'), provider: 'openai', key, workspace_id: stage.workspace.id });
const named = async (stage: Stage): Promise<Target & { readonly params: { readonly slug: string } }> => ({ params: { slug: String((await make(stage)).body.id) } });
const changesNothing = { none: 'it changes nothing' };

export default resourceCases({
  resource: 'virtual-keys',
  operations: {
    list: {
      target: async (stage) => {
        await make(stage);
        return { query: `page_size=1&workspace_id=${stage.workspace.slug}` };
      },
      check: ({ body }) => {
        assert.deepEqual([body.object, body.data.length, body.data[0].object, body.data[0].masked_key], ['list', 1, 'virtual-key', 'sk-****0001']);
      },
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: changesNothing,
    },
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { name: 'Made by a case', provider: 'azure-openai', key, resourceName: 'mine', slug: stage.unique('virtual-key'), workspace_id: stage.workspace.id } }),
      check: async ({ body }, stage) => {
        assert.equal(body.data.slug, body.slug);
        assert.deepEqual((await stage.made('GET', `/v1/virtual-keys/${String(body.slug)}`)).body.model_config, { resource_name: 'mine' });
      },
      bad: [{ body: { key }, param: 'provider' }, { body: { provider: 'opnai', key }, param: 'provider' }, { body: { provider: 'openai' }, param: 'key' }, { body: { provider: 'openai', key, model_config: { x: 1 } }, param: 'model_config.x' }],
      conflict: async (stage, target) => ({ body: { ...target.body, slug: (await make(stage)).body.slug } }),
    },
    read: { target: named, check: ({ body }) => assert.deepEqual([body.object, body.provider, body.status], ['virtual-key', 'openai', 'active']), bad: [], conflict: changesNothing },
    update: {
      target: async (stage) => ({ ...await named(stage), body: { key: 'sk-another-key-of-a-case-000-0002', note: 'noted' } }),
      check: async (_, stage, target) => {
        const { body } = await stage.made('GET', `/v1/virtual-keys/${String(target.params?.slug)}`);
        assert.deepEqual([body.masked_key, body.note], ['sk-****0002', 'noted']);
      },
      bad: [{ body: { key: null }, param: 'key' }, { body: { rate_limits: { type: 'requests', unit: 'rpm', value: -1 } }, param: 'rate_limits.value' }],
      conflict: { none: 'its slug stays' },
    },
    delete: {
      target: named,
      check: ({ body }) => assert.deepEqual(body, {}),
      bad: [],
      conflict: async (stage) => {
        const { body } = await make(stage);
        await stage.made('POST', '/v1/configs', { config: { virtual_key: body.slug }, workspace_id: stage.workspace.id });
        return { params: { slug: String(body.id) } };
      },
    },
  },
});
