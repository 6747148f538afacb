import assert from 'node:assert/strict';
import { resourceCases, type BadInput, type Stage, type Target } from './cases.js';

const conditions = [{ key: 'endpoint_type', value: ['chatComplete', 'embed'] }, { key: 'provider', value: 'openai' }];
const groupBy = [{ key: 'api_key' }];
const given = { name: 'Calls of a key', conditions, group_by: groupBy, type: 'requests', unit: 'rpm', value: 60 };
const ofTools = { conditions: [{ key: 'mcp_server', value: 'github' }, { key: 'mcp_tool', value: '*', excludes: ['search'] }], target: 'mcp_tools', type: 'requests', unit: 'rph', value: 5 };
const place = '/v1/policies/rate-limits';

const make = async (stage: Stage, changes: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  String((await stage.made('POST', place, { ...given, workspace_id: stage.workspace.id, ...changes })).body.id);
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly rateLimitsPolicyId: string } }> => ({ params: { rateLimitsPolicyId: await make(stage) } });
const none = { none: 'nothing is there only once' } as const;

const badShared: readonly BadInput[] = [
  { body: { conditions: [] }, param: 'conditions' },
  { body: { conditions: [{ key: 'endpoint_type', value: 'embedd' }] }, param: 'conditions.0.value' },
  { body: { conditions: [{ key: 'mcp_server', value: 'github' }] }, param: 'conditions.0.key' },
  { body: { value: 0 }, param: 'value' }, { body: { value: 1.5 }, param: 'value' }, { body: { unit: 'rps' }, param: 'unit' }, { body: { credit_limit: 5 }, param: 'credit_limit' },
];

export default resourceCases({
  resource: 'rate-limits-policies',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { ...given, workspace_id: stage.workspace.slug } }),
      check: async ({ body }, stage) => {
        // Clients of this API know a new one by this name.
        assert.equal(body.object, 'policy_usage_limits');
        const { body: read } = await stage.made('GET', `${place}/${String(body.id)}`);
        assert.deepEqual([read.object, read.conditions, read.group_by, read.type, read.unit, read.value, read.target, read.status], ['policy_rate_limits', conditions, groupBy, 'requests', 'rpm', 60, 'llm', 'active']);
        const tools = await stage.made('POST', place, { ...ofTools, workspace_id: stage.workspace.id });
        assert.deepEqual((await stage.made('GET', `${place}/${String(tools.body.id)}`)).body.group_by, []);
      },
      bad: [
        ...badShared.map(({ body, ...rest }) => ({ ...rest, body: { ...given, ...Object(body) } })),
        { body: { ...given, group_by: undefined }, param: 'group_by' }, { body: { ...given, type: 'cost' }, param: 'type' }, { body: { ...given, target: 'agents' }, param: 'target' },
        { body: { ...ofTools, type: 'tokens' }, param: 'type' }, { body: { ...ofTools, conditions }, param: 'conditions.0.key' }, { body: { ...ofTools, group_by: [{ key: 'model' }] }, param: 'group_by.0.key' },
      ],
      conflict: none,
    },
    list: {
      as: 'workspace',
      target: async (stage) => {
        for (const unit of ['rpd', 'rpw', 'rpw']) await make(stage, { name: `by ${unit}`, unit, type: 'tokens' });
        return { query: 'type=tokens&unit=rpw&page_size=1' };
      },
      check: async ({ body }, stage) => {
        assert.deepEqual([body.object, body.data.length, body.data[0].name, body.data[0].unit], ['list', 1, 'by rpw', 'rpw']);
        assert.ok(body.total >= 2);
        assert.ok((await stage.made('GET', `${place}?workspace_id=${stage.other.id}`)).body.data.every((each: { readonly workspace_id: string }) => each.workspace_id === stage.other.id));
      },
      bad: [{ query: 'unit=rps', param: 'unit' }, { query: 'type=cost', param: 'type' }, { query: 'status=none', param: 'status' }],
      conflict: none,
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      target,
      check: async (_, stage, { params }) => assert.equal((await stage.call('GET', `${place}/${params?.rateLimitsPolicyId ?? ''}?status=archived`)).status, 404),
      bad: [{ query: 'status=none', param: 'status' }],
      conflict: none,
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { name: 'Other', unit: 'rph', value: 7, conditions: [{ key: 'model', value: '*' }] } }),
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        const { body: read } = await stage.made('GET', `${place}/${params?.rateLimitsPolicyId ?? ''}`);
        assert.deepEqual([read.name, read.unit, read.value, read.conditions, read.group_by], ['Other', 'rph', 7, [{ key: 'model', value: '*' }], groupBy]);
        const { body: log } = await stage.made('GET', `/v1/audit-logs?page_size=20&start_time=${new Date(Date.now() - 600_000).toISOString()}&end_time=${new Date(Date.now() + 60_000).toISOString()}`);
        assert.ok(JSON.stringify(log).includes('model: *'), 'conditions are told in the audit log');
      },
      bad: [...badShared, { body: { type: 'tokens' }, param: 'type' }, { body: { group_by: [{ key: 'model' }] }, param: 'group_by' }, { body: { target: 'mcp_tools' }, param: 'target' }],
      conflict: none,
    },
    delete: {
      target,
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual(body, {});
        assert.equal((await stage.made('GET', `${place}/${params?.rateLimitsPolicyId ?? ''}?status=archived`)).body.status, 'archived');
      },
      bad: [],
      conflict: none,
    },
  },
});
