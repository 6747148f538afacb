import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const makeLabel = async (stage: Stage): Promise<StageReply & { readonly name: string }> => {
  const name = stage.unique('label');
  return { ...await stage.made('POST', '/v1/labels', { name, description: 'tried', color_code: '#fff', workspace_id: stage.workspace.id }), name };
};
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly labelId: string } }> => ({ params: { labelId: String((await makeLabel(stage)).body.id) } });
const badNames = ['latest', 'default', '12', 'two words', 'a@b', ''].map((name) => ({ body: { name }, param: 'name' }));

export default resourceCases({
  resource: 'labels',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { name: stage.unique('made'), workspace_id: stage.workspace.id } }),
      check: async ({ body }, stage) => assert.equal((await stage.made('GET', `/v1/labels/${String(body.id)}`)).body.is_universal, false),
      bad: badNames,
      conflict: async (stage) => ({ body: { name: (await makeLabel(stage)).name, workspace_id: stage.workspace.id } }),
    },
    list: {
      as: 'workspace',
      target: async (stage) => ({ query: `search=${(await makeLabel(stage)).name}` }),
      check: async ({ body }, stage) => {
        assert.deepEqual([body.total, body.data[0].description], [1, 'tried']);
        const { body: all } = await stage.made('GET', `/v1/labels?workspace_id=${stage.workspace.id}`);
        assert.deepEqual(all.data.filter((each: StageReply['body']) => each.is_universal).map((each: StageReply['body']) => each.name), ['production', 'staging', 'development']);
      },
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: { target, check: ({ body }) => assert.deepEqual([body.color_code, body.status], ['#fff', 'active']), bad: [], conflict: { none: 'it changes nothing' } },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { name: stage.unique('renamed') } }),
      check: async (_, stage, { params, body }) => assert.equal((await stage.made('GET', `/v1/labels/${params?.labelId ?? ''}`)).body.name, body?.name),
      bad: badNames,
      conflict: async (stage, { params = {} }) => ({ params, body: { name: (await makeLabel(stage)).name } }),
    },
    delete: {
      target,
      check: async (_, stage, { params }) => {
        assert.equal((await stage.call('GET', `/v1/labels/${params?.labelId ?? ''}`)).status, 404);
        assert.equal((await stage.call('DELETE', '/v1/labels/production')).status, 403);
      },
      bad: [],
      conflict: { none: 'a label that is in use goes as well' },
    },
  },
});
