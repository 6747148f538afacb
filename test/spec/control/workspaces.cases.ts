import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

export default resourceCases({
  resource: 'workspaces',
  operations: {
    list: {
      target: () => ({ query: 'page_size=1' }),
      check: ({ body }, stage) => {
        assert.deepEqual([body.object, body.data.length], ['list', 1]);
        assert.ok(body.total >= 2);
        assert.equal(body.data[0].id, stage.other.id);
      },
      bad: [{ query: 'page_size=0', param: 'page_size' }, { query: 'page_size=x', param: 'page_size' }, { query: 'current_page=-1', param: 'current_page' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      target: (stage) => ({ params: { workspaceId: stage.workspace.slug } }),
      check: ({ body }, stage) => assert.equal(body.id, stage.workspace.id),
      bad: [],
      conflict: { none: 'it changes nothing' },
    },
    update: {
      target: (stage) => ({ params: { workspaceId: stage.workspace.id }, body: { name: stage.unique('Name') } }),
      check: async ({ body }, stage, target) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', `/v1/workspaces/${stage.workspace.id}`)).body.name, target.body?.name);
      },
      bad: [{ body: { name: 5 }, param: 'name' }, { body: { name: '' }, param: 'name' }, { body: [], param: 'body' }],
      conflict: async (stage, target) => ({ ...target, body: { name: (await stage.made('GET', `/v1/workspaces/${stage.other.id}`)).body.name } }),
    },
  },
});
