import assert from 'node:assert/strict';
import { resourceCases, type BadInput, type Stage, type Target } from './cases.js';

const conditions = [{ key: 'metadata.team', value: ['red', 'blue'], excludes: 'green' }];
const groupBy = [{ key: 'metadata._user' }, { key: 'api_key' }];
const given = { name: 'Users of two teams', conditions, group_by: groupBy, type: 'cost', credit_limit: 12.5, alert_threshold: 10 };
const place = '/v1/policies/usage-limits';

const make = async (stage: Stage, changes: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  String((await stage.made('POST', place, { ...given, workspace_id: stage.workspace.id, ...changes })).body.id);
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly policyUsageLimitsId: string } }> => ({ params: { policyUsageLimitsId: await make(stage) } });
const none = { none: 'nothing is there only once' } as const;
const later = new Date(Date.now() + 10 * 86_400_000).toISOString();

/** Refused for new ones and for changes alike. */
const badShared: readonly BadInput[] = [
  { body: { conditions: [] }, param: 'conditions' },
  { body: { conditions: [{ key: 'team', value: 'red' }] }, param: 'conditions.0.key' },
  { body: { conditions: [conditions[0], { key: 'metadata.', value: 'red' }] }, param: 'conditions.1.key' },
  { body: { conditions: [{ key: 'endpoint_type', value: 'embed' }] }, param: 'conditions.0.key' },
  { body: { conditions: [{ key: 'mcp_tool', value: 'search' }] }, param: 'conditions.0.key' },
  { body: { conditions: [{ key: 'metadata.team' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'metadata.team', value: [] }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'metadata.team', value: 'red', exclude: 'blue' }] }, param: 'conditions.0.exclude' },
  { body: { conditions: [{ key: 'api_key', value: 'a name' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'provider', value: ['openai', 'opneai'] }] }, param: 'conditions.0.value.1' },
  { body: { conditions: [{ key: 'model', value: 'gpt-4*' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'model', value: '*', excludes: ['@prov'] }] }, param: 'conditions.0.excludes.0' },
  { body: { conditions: [{ key: 'config', value: 'two words' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'organisation_id', value: 'another' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'workspace_id', value: 'other-workspace' }] }, param: 'conditions.0.value' },
  { body: { credit_limit: 0.5, alert_threshold: null }, param: 'credit_limit' },
  { body: { credit_limit: -1 }, param: 'credit_limit' },
  { body: { alert_threshold: 12.5 }, param: 'alert_threshold' },
  { body: { periodic_reset: 'weekly', periodic_reset_days: 3 }, param: 'periodic_reset_days' },
  { body: { periodic_reset_days: 366 }, param: 'periodic_reset_days' },
  { body: { periodic_reset: 'daily' }, param: 'periodic_reset' },
  { body: { next_usage_reset_at: later }, param: 'next_usage_reset_at' },
  { body: { periodic_reset_days: 7, next_usage_reset_at: later }, param: 'next_usage_reset_at' },
  { body: { periodic_reset_days: 3, next_usage_reset_at: new Date().toISOString() }, param: 'next_usage_reset_at' },
  { body: { name: 'x'.repeat(256) }, param: 'name' },
];

export default resourceCases({
  resource: 'usage-limits-policies',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { ...given, workspace_id: stage.workspace.slug, periodic_reset_days: 30, next_usage_reset_at: later } }),
      check: async ({ body }, stage) => {
        assert.deepEqual(Object.keys(body).sort(), ['id', 'object']);
        assert.equal(body.object, 'policy_usage_limits');
        const { body: read } = await stage.made('GET', `${place}/${String(body.id)}`);
        assert.deepEqual(
          [read.conditions, read.group_by, read.credit_limit, read.alert_threshold, read.periodic_reset, read.periodic_reset_days, read.status, read.workspace_id, read.object],
          [conditions, groupBy, 12.5, 10, null, 30, 'active', stage.workspace.id, 'policy_usage_limits'],
        );
        assert.equal(read.next_usage_reset_at, `${later.slice(0, 10)}T00:00:00.000Z`);
        assert.equal(read.last_reset_at, null);
        // Of the organisation, for calls of more than one workspace.
        const shared = await stage.made('POST', place, { ...given, conditions: [{ key: 'workspace_id', value: [stage.workspace.slug, stage.other.id] }], group_by: [{ key: 'workspace_id' }] });
        assert.equal((await stage.made('GET', `${place}/${String(shared.body.id)}`)).body.workspace_id, null);
        assert.equal((await stage.call('GET', `${place}/${String(shared.body.id)}`, undefined, { key: stage.keys.workspace })).status, 403);
        for (const [type, credit_limit] of [['tokens', 99], ['tokens', 100.5], ['requests', 0]]) {
          const { status, body: refused } = await stage.call('POST', place, { ...given, alert_threshold: null, type, credit_limit, workspace_id: stage.workspace.id });
          assert.deepEqual([status, refused.error.code, refused.error.param], [400, 'AB01', 'credit_limit']);
        }
      },
      bad: [
        ...badShared.map(({ body, ...rest }) => ({ ...rest, body: { ...given, ...Object(body) } })),
        { body: { ...given, group_by: undefined }, param: 'group_by' }, { body: { ...given, group_by: [] }, param: 'group_by' }, { body: { ...given, group_by: [{ key: 'api_key' }, { key: 'api_key' }] }, param: 'group_by' },
        { body: { ...given, group_by: [{ key: 'endpoint_type' }] }, param: 'group_by.0.key' }, { body: { ...given, type: 'seconds' }, param: 'type' }, { body: { ...given, credit_limit: undefined }, param: 'credit_limit' },
      ],
      conflict: none,
    },
    list: {
      as: 'workspace',
      target: async (stage) => {
        await make(stage, { name: 'first' });
        const id = await make(stage, { name: 'archived', type: 'tokens', credit_limit: 100 });
        await stage.made('DELETE', `${place}/${id}`);
        await make(stage, { name: 'last', type: 'tokens', credit_limit: 100 });
        return { query: 'type=tokens&page_size=1' };
      },
      check: async ({ body }, stage) => {
        assert.deepEqual([body.object, body.data.length, body.data[0].name], ['list', 1, 'last']);
        const archived = await stage.made('GET', `${place}?status=archived&type=tokens&workspace_id=${stage.workspace.id}`);
        assert.equal(archived.body.data[0].name, 'archived');
        assert.ok((await stage.made('GET', place)).body.total >= 2);
      },
      bad: [{ query: 'page_size=0', param: 'page_size' }, { query: 'status=gone', param: 'status' }, { query: 'type=calls', param: 'type' }],
      conflict: none,
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      target: async (stage) => ({ ...await target(stage), query: 'include_usage=true' }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual([body.name, body.value_key_usage_map, body.periodic_reset], ['Users of two teams', {}, null]);
        const path = `${place}/${params?.policyUsageLimitsId ?? ''}`;
        assert.equal((await stage.call('GET', `${path}?status=archived`)).status, 404);
        assert.equal((await stage.made('GET', path)).body.value_key_usage_map, undefined);
      },
      bad: [{ query: 'include_usage=perhaps', param: 'include_usage' }, { query: 'status=gone', param: 'status' }],
      conflict: none,
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { name: 'Other', description: 'why', credit_limit: 20, alert_threshold: null, periodic_reset: 'monthly', type: 'cost', group_by: groupBy, reset_usage_for_value: 'metadata._user:bob-api_key:k' } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        const path = `${place}/${params?.policyUsageLimitsId ?? ''}`;
        const { body: read } = await stage.made('GET', path);
        assert.deepEqual([read.name, read.description, read.credit_limit, read.alert_threshold, read.periodic_reset, read.conditions], ['Other', 'why', 20, null, 'monthly', conditions]);
        assert.match(read.next_usage_reset_at, /-01T00:00:00.000Z$/);
        await stage.made('PUT', path, { periodic_reset_days: 30, conditions: [{ key: 'model', value: '@prov/*' }], status: 'archived' });
        const { body: archived } = await stage.made('GET', `${path}?status=archived`);
        assert.deepEqual([archived.periodic_reset, archived.periodic_reset_days, archived.conditions], [null, 30, [{ key: 'model', value: '@prov/*' }]]);
        await stage.made('PUT', path, { status: 'active', periodic_reset_days: null });
        assert.equal((await stage.made('GET', path)).body.next_usage_reset_at, null);
        assert.equal((await stage.call('PUT', path, { reset_usage_for_value: 'metadata._user:bob' })).status, 404);
      },
      bad: [...badShared, { body: { type: 'tokens' }, param: 'type' }, { body: { group_by: [{ key: 'api_key' }] }, param: 'group_by' }, { body: { status: 'exhausted' }, param: 'status' }],
      conflict: none,
    },
    delete: {
      target,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        const path = `${place}/${params?.policyUsageLimitsId ?? ''}`;
        assert.deepEqual([(await stage.call('GET', path)).status, (await stage.call('DELETE', path)).status], [404, 404]);
        assert.equal((await stage.made('GET', `${path}?status=archived`)).body.status, 'archived');
      },
      bad: [],
      conflict: none,
    },
    entities: {
      target: async (stage) => ({ ...await target(stage), query: 'search=bob&status=active&page_size=10' }),
      check: ({ body }) => assert.deepEqual(body, { object: 'list', total: 0, data: [] }),
      bad: [{ query: 'page_size=101', param: 'page_size' }, { query: 'status=archived', param: 'status' }],
      conflict: none,
    },
    resetEntity: {
      target: async (stage) => ({ params: { policyUsageLimitsId: await make(stage), entityId: Buffer.from('metadata._user:bob-api_key:k').toString('base64url') } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        const path = `${place}/${params?.policyUsageLimitsId ?? ''}/entities`;
        await stage.made('PUT', `${path}/${encodeURIComponent('metadata._user:bob-api_key:k')}/reset`);
        assert.equal((await stage.call('PUT', `${path}/${encodeURIComponent('metadata._user:bob')}/reset`)).status, 404);
      },
      bad: [],
      conflict: none,
    },
  },
});
