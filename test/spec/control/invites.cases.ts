import assert from 'node:assert/strict';
import { resourceCases, type Stage, type Target } from './cases.js';

interface Made {
  readonly id: string;
  readonly token: string;
  readonly email: string;
}

async function invite(stage: Stage): Promise<Made> {
  const email = `${stage.unique('invited')}@example.com`;
  const { body } = await stage.made('POST', '/v1/users/invites', { email, role: 'member', workspaces: [{ id: stage.workspace.slug, role: 'member' }] });
  return { id: String(body.id), token: new URL(String(body.invite_link)).hash.replace('#token=', ''), email };
}

const target = async (stage: Stage): Promise<Target> => ({ params: { inviteId: (await invite(stage)).id } });
const accepted = async (stage: Stage): Promise<Target> => {
  const { id, token } = await invite(stage);
  await stage.made('POST', `/v1/users/invites/${id}/accept`, { token }, { key: null });
  return { params: { inviteId: id } };
};
const noOne = { email: 'someone@example.com', role: 'member', workspaces: [] };

export default resourceCases({
  resource: 'invites',
  operations: {
    create: {
      target: (stage) => ({ body: { email: `${stage.unique('new')}@Example.com`, role: 'member', workspaces: [{ id: stage.workspace.id, role: 'manager' }], workspace_api_key_details: { scopes: ['completions.write'] } } }),
      check: async ({ body }, stage, { body: given }) => {
        assert.deepEqual(Object.keys(body), ['id', 'invite_link']);
        assert.ok(String(body.invite_link).startsWith(`${stage.url}/v1/admin/users/invites/${String(body.id)}/accept#token=`));
        assert.equal((await stage.made('GET', `/v1/users/invites/${String(body.id)}`)).body.email, String(given?.email).toLowerCase());
      },
      bad: [
        { body: { ...noOne, email: 'nobody' }, param: 'email' }, { body: { ...noOne, role: 'owner' }, param: 'role' }, { body: { email: 'a@example.com', role: 'member' }, param: 'workspaces' },
        { body: { ...noOne, workspaces: [{ id: 'first-workspace', role: 'owner' }] }, param: 'workspaces.0.role' }, { body: { ...noOne, workspace_api_key_details: { scopes: ['audit_logs.list'] } }, param: 'scopes.0' },
      ],
      conflict: async (stage) => ({ body: { ...noOne, email: (await invite(stage)).email } }),
    },
    list: {
      target: async (stage) => ({ query: `email=${(await invite(stage)).email}&status=pending&pageSize=5` }),
      check: ({ body }) => assert.deepEqual([body.object, body.total, body.data[0].status], ['list', 1, 'pending']),
      bad: [{ query: 'status=gone', param: 'status' }, { query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
    },
    read: { target, check: ({ body }, _stage, { params }) => assert.deepEqual([body.object, body.id, body.accepted_at], ['invite', params?.inviteId, null]), bad: [], conflict: { none: 'it changes nothing' } },
    cancel: {
      target,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', `/v1/users/invites/${params?.inviteId ?? ''}`)).body.status, 'cancelled');
      },
      bad: [],
      conflict: accepted,
    },
    resend: {
      target,
      check: ({ body }, _stage, { params }) => assert.match(String(body.inviteLink), new RegExp(`${params?.inviteId ?? ''}/accept#token=`)),
      bad: [],
      conflict: accepted,
    },
    accept: {
      target: async (stage) => {
        const { id, token } = await invite(stage);
        return { params: { inviteId: id }, body: { token, first_name: 'Ada', last_name: 'Person' } };
      },
      check: ({ body }, stage) => assert.deepEqual([body.object, body.role, body.workspace_ids, body.api_keys], ['user', 'member', [stage.workspace.id], []]),
      bad: [{ body: {}, param: 'token' }, { body: { token: 5 }, param: 'token' }, { body: { token: 'x', first_name: 5 }, param: 'first_name' }],
      conflict: async (stage) => {
        const { id, token } = await invite(stage);
        await stage.made('POST', `/v1/users/invites/${id}/accept`, { token }, { key: null });
        return { params: { inviteId: id }, body: { token } };
      },
      foreign: { none: 'the token is what counts' },
      isConditional: false,
    },
  },
});
