import assert from 'node:assert/strict';
import { resourceCases, type Stage, type Target } from './cases.js';

/** Somebody who accepted an invite. */
export async function makeUser(stage: Stage): Promise<{ readonly id: string; readonly email: string }> {
  const email = `${stage.unique('person')}@example.com`;
  const { body } = await stage.made('POST', '/v1/admin/users/invites', { email, role: 'member', workspaces: [] });
  const token = new URL(String(body.invite_link)).hash.replace('#token=', '');
  const accepted = await stage.made('POST', `/v1/admin/users/invites/${String(body.id)}/accept`, { token, first_name: 'Ada', last_name: 'Person' }, { key: null });
  return { id: String(accepted.body.id), email };
}

const target = async (stage: Stage): Promise<Target> => ({ params: { userId: (await makeUser(stage)).id } });
const noConflict = { none: 'owners are refused with 403: test/core/control-plane/people.test.ts' };

export default resourceCases({
  resource: 'users',
  operations: {
    list: {
      target: async (stage) => ({ query: `email=${(await makeUser(stage)).email}&currentPage=0&pageSize=5` }),
      check: ({ body }, _stage, { query = '' }) => assert.deepEqual([body.object, body.total, body.data[0].first_name, query.includes(body.data[0].email)], ['list', 1, 'Ada', true]),
      bad: [{ query: 'role=root', param: 'role' }, { query: 'pageSize=0', param: 'page_size' }, { query: 'current_page=x', param: 'current_page' }],
      conflict: { none: 'it changes nothing' },
    },
    read: { target, check: ({ body }, _stage, { params }) => assert.deepEqual([body.object, body.id, body.role, body.workspace_ids], ['user', params?.userId, 'member', []]), bad: [], conflict: { none: 'it changes nothing' } },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { role: 'admin' } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', `/v1/users/${params?.userId ?? ''}`)).body.role, 'admin');
        // Another one, for the check that follows: the role that is held is refused.
        await stage.made('PUT', `/v1/users/${params?.userId ?? ''}`, { role: 'member' });
      },
      bad: [{ body: {}, param: 'role' }, { body: { role: 'owner' }, param: 'role' }, { body: { role: 'member' }, param: 'role' }, { body: { role: 'admin', email: 'a@b.c' }, param: 'email' }],
      conflict: noConflict,
    },
    remove: {
      target,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.call('GET', `/v1/users/${params?.userId ?? ''}`)).status, 404);
      },
      bad: [],
      conflict: noConflict,
    },
  },
});
