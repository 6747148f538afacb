import assert from 'node:assert/strict';
import { resourceCases, type Stage, type Target } from './cases.js';
import { makeUser } from './users.cases.js';

const addMember = async (stage: Stage): Promise<Target & { readonly params: { readonly workspaceId: string; readonly userId: string } }> => {
  const { id } = await makeUser(stage);
  await stage.made('POST', `/v1/workspaces/${stage.workspace.id}/users`, { users: [{ id, role: 'member' }] });
  return { params: { workspaceId: stage.workspace.slug, userId: id } };
};
const place = (params: Target['params']): string => `/v1/admin/workspaces/${params?.workspaceId ?? ''}/users/${params?.userId ?? ''}`;

export default resourceCases({
  resource: 'workspace-members',
  operations: {
    add: {
      as: 'workspace',
      target: async (stage) => ({ params: { workspaceId: stage.workspace.id }, body: { users: [{ id: (await makeUser(stage)).id, role: 'manager' }] } }),
      check: async ({ body }, stage, target) => {
        assert.deepEqual(body, {});
        const [{ id }] = Object(target.body).users;
        assert.equal((await stage.made('GET', place({ workspaceId: stage.workspace.id, userId: String(id) }))).body.role, 'manager');
      },
      bad: [{ body: {}, param: 'users' }, { body: { users: [{ id: 'x', role: 'member' }] }, param: 'users.0.id' }, { body: { users: [{ id: '01890000-0000-7000-8000-000000000000', role: 'owner' }] }, param: 'users.0.role' }],
      conflict: async (stage) => ({ params: { workspaceId: stage.workspace.id }, body: { users: [{ id: (await addMember(stage)).params.userId, role: 'member' }] } }),
      unknown: { none: 'an unknown user is named in the body (AB02): test/core/control-plane/people.test.ts' },
      isConditional: false,
    },
    list: {
      as: 'workspace',
      target: async (stage) => ({ params: { workspaceId: stage.workspace.id }, query: `email=${(await makeUser(stage)).email}` }),
      check: async (_reply, stage) => {
        const { params } = await addMember(stage);
        const { body } = await stage.made('GET', `/v1/admin/workspaces/${params.workspaceId}/users?page_size=1`);
        assert.deepEqual([body.object, body.data.length, body.data[0].id, body.data[0].object, body.data[0].status], ['list', 1, params.userId, 'workspace-user', 'active']);
      },
      bad: [{ query: 'role=owner', param: 'role' }, { query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
      unknown: { none: 'which other workspaces there are is nothing that a locked key learns' },
      isConditional: false,
    },
    read: {
      as: 'workspace', target: addMember, check: ({ body }, stage, { params }) => assert.deepEqual([body.id, body.role, body.org_role, body.workspace_id], [params?.userId, 'member', 'member', stage.workspace.id]),
      bad: [], conflict: { none: 'it changes nothing' },
    },
    update: {
      as: 'workspace',
      target: async (stage) => ({ ...await addMember(stage), body: { role: 'manager' } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', place(params))).body.role, 'manager');
      },
      bad: [{ body: {}, param: 'role' }, { body: { role: 'owner' }, param: 'role' }],
      conflict: { none: 'a role can always be another one' },
    },
    remove: {
      as: 'workspace',
      target: addMember,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.call('GET', place(params))).status, 404);
      },
      bad: [],
      conflict: { none: 'whoever is a member can leave' },
    },
  },
});
