import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const map = (stage: Stage, more: Readonly<Record<string, unknown>> = {}): Promise<StageReply> =>
  stage.made('POST', '/v1/scim/workspaces', { workspace_id: stage.workspace.slug, role: 'Member', scim_group_name: stage.unique('Engineers'), ...more });
const body = { workspace_id: 'first-workspace', role: 'member', scim_group_name: 'Engineers' };

export default resourceCases({
  resource: 'scim',
  operations: {
    list: {
      target: async (stage) => ({ query: `scim_group_id=${String((await map(stage)).body.scim_group_id)}&workspace_id=${stage.workspace.id}&role=MEMBER&page=0` }),
      check: ({ body: { mappings, total_count } }, stage) => assert.deepEqual([total_count, mappings[0].workspace_id, mappings[0].role], [1, stage.workspace.id, 'member']),
      bad: [{ query: 'role=owner', param: 'role' }, { query: 'page=-1', param: 'page' }, { query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
    },
    create: {
      target: (stage) => ({ body: { workspace_id: stage.workspace.id, role: 'MANAGER', scim_group_name: stage.unique('Managers') } }),
      check: ({ body: reply }, stage, { body: given }) => assert.deepEqual([reply.workspace_id, reply.role, reply.scim_group], [stage.workspace.id, 'manager', given?.scim_group_name]),
      bad: [
        { body: { role: 'member', scim_group_name: 'g' }, param: 'workspace_id' }, { body: { ...body, role: 'owner' }, param: 'role' }, { body: { workspace_id: 'first-workspace', scim_group_name: 'g' }, param: 'role' },
        { body: { workspace_id: 'first-workspace', role: 'member' }, param: 'scim_group_id' }, { body: { ...body, scim_group_id: 'x' }, param: 'scim_group_id' }, { body: { ...body, scim_group_name: 'ws-first-role-admin' }, param: 'scim_group_name' },
      ],
      conflict: async (stage) => ({ body: { workspace_id: stage.workspace.id, role: 'member', scim_group_id: (await map(stage)).body.scim_group_id } }),
    },
    remove: {
      target: async (stage): Promise<Target> => ({ params: { scimWorkspaceGroupId: String((await map(stage)).body.id) } }),
      check: ({ body: reply }) => assert.deepEqual(reply, { success: true }),
      bad: [],
      conflict: { none: 'nothing uses it' },
    },
    listGroups: {
      target: async (stage) => {
        await map(stage);
        return { query: 'startIndex=1&count=1' };
      },
      check: ({ body: reply }) => {
        assert.deepEqual([reply.schemas, reply.startIndex, reply.itemsPerPage, reply.Resources.length], [['urn:ietf:params:scim:api:messages:2.0:ListResponse'], 1, 1, 1]);
        assert.ok(reply.totalResults >= 1);
      },
      bad: [{ query: 'startIndex=0', param: 'startIndex' }, { query: 'count=1001', param: 'count' }],
      conflict: { none: 'it changes nothing' },
    },
    removeGroup: {
      target: async (stage): Promise<Target> => ({ params: { id: String((await map(stage)).body.scim_group_id) } }),
      status: 204,
      check: async (_reply, stage, { params }) => assert.equal((await stage.made('GET', `/v1/scim/workspaces?scim_group_id=${params?.id ?? ''}`)).body.total_count, 0),
      bad: [],
      conflict: { none: 'its mappings go with it' },
    },
  },
});
