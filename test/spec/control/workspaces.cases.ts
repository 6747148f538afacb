import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const makeWorkspace = (stage: Stage): Promise<StageReply> => stage.made('POST', '/v1/workspaces', { name: stage.unique('Workspace') });
const badFields = [
  { body: { name: 5 }, param: 'name' }, { body: { name: '' }, param: 'name' }, { body: { name: 'n', description: 5 }, param: 'description' },
  { body: { name: 'n', usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }, param: 'usage_limits' }, { body: { name: 'n', rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }, param: 'rate_limits.0.unit' },
  { body: { name: 'n', defaults: { metadata: { a: 1 } } }, param: 'defaults.metadata.a' }, { body: [], param: 'body' },
];

export default resourceCases({
  resource: 'workspaces',
  operations: {
    create: {
      target: (stage) => ({ body: { name: stage.unique('Made by a case'), description: 'd', defaults: { metadata: { team: 'red' } }, usage_limits: [{ credit_limit: 5, type: 'tokens' }] } }),
      check: async ({ body }, stage, target) => {
        assert.deepEqual([body.name, body.description, body.defaults.metadata, body.defaults.is_default, body.usage_limits[0].type], [target.body?.name, 'd', { team: 'red' }, 0, 'tokens']);
        assert.equal((await stage.made('GET', `/v1/admin/workspaces/${String(body.slug)}`)).body.id, body.id);
      },
      bad: [...badFields, { body: {}, param: 'name' }, { body: { name: 'n', slug: 'a/b' }, param: 'slug' }],
      conflict: (stage) => ({ body: { name: stage.unique('Other'), slug: stage.workspace.slug } }),
    },
    list: {
      target: (stage) => ({ query: `exact_name=Other%20workspace&page_size=1&workspace_id=${stage.other.id}` }),
      check: ({ body }, stage) => assert.deepEqual([body.object, body.total, body.data.length, body.data[0].id], ['list', 1, 1, stage.other.id]),
      bad: [{ query: 'page_size=0', param: 'page_size' }, { query: 'page_size=x', param: 'page_size' }, { query: 'current_page=-1', param: 'current_page' }, { query: 'status=gone', param: 'status' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      target: (stage) => ({ params: { workspaceId: stage.workspace.slug } }),
      check: ({ body }, stage) => assert.deepEqual([body.id, body.defaults.is_default, body.users.map((user: Record<string, unknown>) => user.id).includes(stage.userId)], [stage.workspace.id, 1, true]),
      bad: [],
      conflict: { none: 'it changes nothing' },
    },
    update: {
      target: (stage) => ({ params: { workspaceId: stage.workspace.id }, body: { name: stage.unique('Name') } }),
      check: async ({ body }, stage, target) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', `/v1/workspaces/${stage.workspace.id}`)).body.name, target.body?.name);
      },
      bad: badFields,
      conflict: async (stage, target) => ({ ...target, body: { name: (await stage.made('GET', `/v1/workspaces/${stage.other.id}`)).body.name } }),
    },
    remove: {
      target: async (stage): Promise<Target> => {
        const { body } = await makeWorkspace(stage);
        return { params: { workspaceId: String(body.slug) }, body: { name: body.name } };
      },
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.call('GET', `/v1/workspaces/${params?.workspaceId ?? ''}`)).status, 404);
      },
      bad: [{ body: {}, param: 'name' }, { body: { name: 'Another' }, param: 'name' }, { body: { name: 'n', force_delete: 'yes' }, param: 'force_delete' }],
      conflict: async (stage) => {
        const { body } = await makeWorkspace(stage);
        await stage.made('POST', '/v1/api-keys/workspace/service', { name: 'k', scopes: [], workspace_id: body.id });
        return { params: { workspaceId: String(body.id) }, body: { name: body.name } };
      },
    },
  },
});
