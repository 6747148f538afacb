import assert from 'node:assert/strict';
import { resourceCases, type Stage, type Target } from './cases.js';

const verbs = ['organisation_service', 'workspace_service', 'workspace_user'];
const scopesOf = (verb: string): readonly string[] => verbs.map((type) => `${type}_api_keys.${verb}`);
const makeKey = async (stage: Stage, more: Readonly<Record<string, unknown>> = {}): Promise<{ readonly id: string; readonly key: string }> => {
  const { body } = await stage.made('POST', '/v1/api-keys/workspace/service', { name: stage.unique('Key'), scopes: ['completions.write'], workspace_id: stage.workspace.id, ...more });
  return { id: String(body.id), key: String(body.key) };
};
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly id: string } }> => ({ params: { id: (await makeKey(stage)).id } });
/** Keys of the stage that administer the organisation are many. */
const isLastAlone = { none: 'only the last key that administers is refused: test/core/control-plane/api-keys.test.ts' };
const badFields = [
  { body: { name: '', scopes: [] }, param: 'name' }, { body: { name: 'n', scopes: ['audit_logs.list'] }, param: 'scopes.0' }, { body: { name: 'n', scopes: 'all' }, param: 'scopes' },
  { body: { name: 'n', scopes: [], expires_at: '2020-01-01T00:00:00Z' }, param: 'expires_at' }, { body: { name: 'n', scopes: [], rate_limits: [{ type: 'requests', unit: 'rpx', value: 1 }] }, param: 'rate_limits.0.unit' },
  { body: { name: 'n', scopes: [], usage_limits: { credit_limit: 0 } }, param: 'usage_limits.credit_limit' }, { body: { name: 'n', scopes: [], defaults: { metadata: { a: 1 } } }, param: 'defaults.metadata.a' },
  { body: { name: 'n', scopes: [], alert_emails: ['nobody'] }, param: 'alert_emails.0' }, { body: { name: 'n', scopes: [], rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 1 } }, param: 'rotation_policy.key_transition_period_ms' },
];

export default resourceCases({
  resource: 'api-keys',
  operations: {
    create: {
      scopes: scopesOf('create'),
      target: (stage) => ({
        params: { type: 'workspace', 'sub-type': 'service' },
        body: { name: stage.unique('Key'), scopes: ['completions.write'], workspace_id: stage.workspace.slug, defaults: { provider: 'mock', metadata: { team: 'red' } }, rotation_policy: { rotation_period: 'monthly' } },
      }),
      check: async ({ body }, stage, { body: given }) => {
        assert.deepEqual(Object.keys(body), ['id', 'key', 'object']);
        const read = (await stage.made('GET', `/v1/api-keys/${String(body.id)}`)).body;
        assert.deepEqual([read.name, read.workspace_id, read.defaults.provider, read.rotation_policy.rotation_period, read.creation_mode], [given?.name, stage.workspace.id, 'mock', 'monthly', 'api']);
        assert.ok(read.key.includes('****') && read.key !== body.key);
      },
      bad: badFields.map(({ body, param }) => ({ body: { workspace_id: 'first-workspace', ...body }, param })),
      conflict: { none: 'names of keys may be the same' },
      unknown: { none: 'it names no row' },
      isConditional: false,
    },
    list: {
      scopes: scopesOf('list'),
      target: async (stage) => ({ query: `ids=${(await makeKey(stage)).id}&workspace_id=${stage.workspace.id}` }),
      check: ({ body }, _stage, { query = '' }) => assert.deepEqual([body.object, body.total, query.includes(body.data[0].id), body.data[0].object], ['list', 1, true, 'api-key']),
      bad: [{ query: 'page_size=1001', param: 'page_size' }, { query: 'current_page=x', param: 'current_page' }, { query: 'ids=', param: 'ids' }],
      conflict: { none: 'it changes nothing' },
    },
    read: { scopes: scopesOf('read'), target, check: ({ body }, _stage, { params }) => assert.deepEqual([body.id, body.status], [params?.id, 'active']), bad: [], conflict: { none: 'it changes nothing' } },
    update: {
      scopes: scopesOf('update'),
      target: async (stage) => ({ ...await target(stage), body: { name: 'Changed', rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }] } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        const read = (await stage.made('GET', `/v1/api-keys/${params?.id ?? ''}`)).body;
        assert.deepEqual([read.name, read.rate_limits], ['Changed', [{ type: 'requests', unit: 'rps', value: 5 }]]);
      },
      bad: [...badFields, { body: { type: 'workspace-user' }, param: 'type' }, { body: { user_id: '01890000-0000-7000-8000-000000000001' }, param: 'user_id' }, { body: { reset_usage: 'yes' }, param: 'reset_usage' }],
      conflict: isLastAlone,
    },
    remove: {
      scopes: scopesOf('delete'),
      target,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.call('GET', `/v1/api-keys/${params?.id ?? ''}`)).status, 404);
      },
      bad: [],
      conflict: isLastAlone,
    },
    rotate: {
      scopes: scopesOf('rotate'),
      target: async (stage) => ({ ...await target(stage), body: { key_transition_period_ms: 3_600_000 } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual([Object.keys(body), body.id], [['id', 'key', 'key_transition_expires_at'], params?.id]);
        assert.equal((await stage.made('GET', `/v1/api-keys/${params?.id ?? ''}`)).body.key_transition_expires_at, body.key_transition_expires_at);
      },
      bad: [{ body: { key_transition_period_ms: 1_799_999 }, param: 'key_transition_period_ms' }, { body: { key_transition_period_ms: '1h' }, param: 'key_transition_period_ms' }],
      conflict: async (stage) => {
        const { id } = await makeKey(stage);
        await stage.made('POST', `/v1/api-keys/${id}/rotate`);
        return { params: { id } };
      },
    },
  },
});
