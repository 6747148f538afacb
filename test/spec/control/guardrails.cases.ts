import assert from 'node:assert/strict';
import { resourceCases, type BadInput, type Stage, type StageReply, type Target } from './cases.js';

const checks = [{ id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true } }, { id: 'default.webhook', parameters: { webhookURL: 'https://judge.example', headers: { authorization: 'Bearer a-secret-of-the-judge-0001' } } }];
const actions = { on_fail: 'deny', on_success: 'continue', sequential: true, soft_deny_200: true };

const make = async (stage: Stage): Promise<StageReply> => stage.made('POST', '/v1/guardrails', { name: 'No bad words', checks, actions, workspace_id: stage.workspace.id });
const target = async (stage: Stage): Promise<Target> => ({ params: { guardrailId: String((await make(stage)).body.id) } });
const none = { none: 'it changes nothing that others name' } as const;

const bad: readonly BadInput[] = [
  { body: { name: 'Bad', checks: [], actions }, param: 'checks' },
  { body: { name: 'Bad', checks: [{ parameters: {} }], actions }, param: 'checks.0.id' },
  { body: { name: 'Bad', checks: [checks[0], { id: 'default.regexMatch', parameters: { rule: 5 } }], actions }, param: 'checks[1].parameters.rule' },
  { body: { name: 'Bad', checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://judge.example', forwardHeaders: ['x-fine', 'cookie'] } }], actions }, param: 'checks[0].parameters.forwardHeaders[1]' },
  { body: { name: 'Bad', checks: [{ id: 'default.nothing', parameters: {} }], actions }, param: 'checks[0].id' },
  { body: { name: 'Bad', checks, actions: { on_fail: 'explode' } }, param: 'actions.on_fail' },
  { body: { name: 'Bad', checks, actions: { deny: false, on_fail: 'deny' } }, param: 'actions.on_fail' },
  { body: { name: '', checks, actions }, param: 'name' },
];

export default resourceCases({
  resource: 'guardrails',
  operations: {
    create: {
      as: 'workspace',
      scopes: ['guardrails.create'],
      target: (stage) => ({ body: { name: 'No bad words', checks, actions, workspace_id: stage.workspace.slug } }),
      check: ({ body }, stage) => {
        assert.match(body.slug, /^pg-no-bad-[0-9a-f]{6}$/);
        assert.deepEqual(Object.keys(body).sort(), ['id', 'object', 'slug', 'version_id']);
        assert.ok(stage.workspace.id);
      },
      bad,
      conflict: async (stage) => {
        const slug = stage.unique('pg-own');
        await stage.made('POST', '/v1/guardrails', { name: 'Own', slug, checks, actions, workspace_id: stage.workspace.id });
        return { body: { name: 'Own', slug, checks, actions, workspace_id: stage.workspace.id } };
      },
    },
    list: {
      as: 'workspace',
      scopes: ['guardrails.list'],
      target: async (stage) => {
        const [first, second] = [await make(stage), await make(stage)];
        return { query: `ids=${String(first.body.id)},${String(second.body.slug)}&page_size=1` };
      },
      check: ({ body }, stage) => {
        assert.deepEqual([body.object, body.total, body.data.length], ['list', 2, 1]);
        assert.deepEqual([body.data[0].status, body.data[0].workspace_id, body.data[0].checks], ['active', stage.workspace.id, undefined]);
      },
      bad: [{ query: 'page_size=1001', param: 'page_size' }, { query: 'ids=', param: 'ids' }],
      conflict: none,
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      scopes: ['guardrails.read'],
      target,
      check: ({ body }) => {
        assert.deepEqual(body.checks, [
          { ...checks[0], is_enabled: true },
          { id: 'default.webhook', parameters: { webhookURL: 'https://judge.example', headers: { authorization: 'Bea****0001' } }, is_enabled: true },
        ]);
        assert.deepEqual(body.actions, {
          deny: true, async: false, sequential: true, soft_deny_200: true,
          on_success: { feedback: { value: 5, weight: 1, metadata: {} }, deny: false }, on_fail: { feedback: { value: -5, weight: 1, metadata: {} } },
        });
      },
      bad: [],
      conflict: none,
    },
    update: {
      scopes: ['guardrails.update'],
      target: async (stage) => {
        const { params } = await target(stage);
        const { body } = await stage.made('GET', `/v1/guardrails/${params?.guardrailId ?? ''}`);
        return { params: params ?? {}, body: { name: 'Other', checks: body.checks, actions: { deny: false, on_fail: { feedback: { value: -1, metadata: 'why' } } } } };
      },
      check: async ({ body }, stage) => {
        const read = await stage.made('GET', `/v1/guardrails/${String(body.id)}`);
        assert.deepEqual([read.body.name, read.body.version_id, read.body.version, read.body.actions.deny], ['Other', body.version_id, 2, false]);
        assert.deepEqual(read.body.actions.on_fail.feedback, { value: -1, weight: 1, metadata: { comment: 'why' } });
        assert.equal(read.body.checks[1].parameters.headers.authorization, 'Bea****0001');
      },
      bad: [
        ...bad.map(({ body, ...rest }) => ({ body, ...rest })),
        // A masked secret goes where the stored one went, and nowhere else.
        { body: { checks: [checks[0], { id: 'default.webhook', parameters: { webhookURL: 'https://elsewhere.example', headers: { authorization: 'Bea****0001' } } }] }, param: 'checks[1].parameters.headers.authorization' },
      ],
      conflict: async (stage, { params }) => {
        await stage.made('POST', '/v1/configs', { workspace_id: stage.workspace.id, config: { provider: 'mock', api_key: 'k', input_guardrails: [params?.guardrailId] } });
        return { params: params ?? {}, body: { checks: [{ id: 'default.jsonKeys', parameters: { keys: ['a'] } }] } };
      },
    },
    invoke: {
      as: 'workspace',
      target: async (stage) => {
        const { body } = await stage.made('POST', '/v1/guardrails', { name: 'Words', checks: [checks[0]], actions, workspace_id: stage.workspace.id });
        return { params: { guardrailId: String(body.id) }, body: { text: 'a forbidden word' } };
      },
      check: ({ body }) => {
        assert.deepEqual([body.verdict, body.status, body.hook_results.after_request_hooks], [false, 200, []]);
        const [hook] = body.hook_results.before_request_hooks;
        assert.deepEqual([hook.deny, hook.id, hook.checks[0].id, hook.checks[0].verdict], [true, body.slug, 'default.regexMatch', false]);
      },
      bad: [
        { body: {}, param: 'text' }, { body: { text: 'x', request: {} }, param: 'text' }, { body: { text: 5 }, param: 'text' }, { body: { request: {}, stage: 'input' }, param: 'stage' },
        { body: { text: 'x', stage: 'middle' }, param: 'stage' }, { body: { request: {}, endpoint: 'proxy' }, param: 'endpoint' },
      ],
      conflict: none,
    },
    delete: {
      scopes: ['guardrails.delete'],
      target,
      check: ({ body }) => assert.deepEqual(body, {}),
      bad: [],
      conflict: async (stage) => {
        const made = await make(stage);
        await stage.made('PUT', `/v1/workspaces/${stage.workspace.id}`, { defaults: { output_guardrails: [made.body.slug] } });
        const other = await make(stage);
        await stage.made('PUT', `/v1/workspaces/${stage.workspace.id}`, { defaults: { output_guardrails: [other.body.id] } });
        return { params: { guardrailId: String(other.body.slug) } };
      },
    },
  },
});
