import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const make = async (stage: Stage): Promise<StageReply> => {
  const integration = await integrate(stage);
  return stage.made('POST', '/v1/providers', { name: 'Provider', slug: stage.unique('provider'), integration_id: integration, workspace_id: stage.workspace.id });
};
const integrate = async (stage: Stage): Promise<string> =>
  String((await stage.made('POST', '/v1/integrations', { name: stage.unique('Integration'), ai_provider_id: 'openai', key: 'sk-key-of-a-case-0123456789-0001', workspace_id: stage.workspace.id, create_default_provider: false })).body.id);
const named = async (stage: Stage): Promise<Target & { readonly params: { readonly slug: string } }> => ({ params: { slug: String((await make(stage)).body.id) } });
const changesNothing = { none: 'it changes nothing' };

export default resourceCases({
  resource: 'providers',
  operations: {
    list: {
      target: async (stage) => {
        await make(stage);
        return { query: `page_size=1&workspace_id=${stage.workspace.slug}` };
      },
      check: ({ body }) => assert.deepEqual([body.object, body.data.length, body.data[0].object], ['list', 1, 'provider']),
      bad: [{ query: 'page_size=x', param: 'page_size' }],
      conflict: changesNothing,
    },
    create: {
      as: 'workspace',
      target: async (stage) => ({
        body: { name: 'Made by a case', integration_id: await integrate(stage), slug: stage.unique('provider'), workspace_id: stage.workspace.id, usage_limits: { credit_limit: 5 }, rate_limits: { type: 'requests', unit: 'rpm', value: 0 }, note: null },
      }),
      check: async ({ body }, stage) => assert.deepEqual((await stage.made('GET', `/v1/providers/${String(body.slug)}`)).body.rate_limits, [{ type: 'requests', unit: 'rpm', value: 0 }]),
      bad: [
        { body: { name: 'Bad' }, param: 'integration_id' },
        { body: { integration_id: 'x' }, param: 'name' },
        { body: { name: 'Bad', integration_id: 'x', usage_limits: { credit_limit: 'much' } }, param: 'usage_limits.credit_limit' },
        { body: { name: 'Bad', integration_id: 'x', rate_limits: { type: 'requests', unit: 'rps', value: 1 } }, param: 'rate_limits.unit' },
      ],
      conflict: async (stage, target) => ({ body: { ...target.body, slug: (await make(stage)).body.slug } }),
    },
    read: { target: named, check: ({ body }) => assert.deepEqual([body.object, body.status, body.ai_provider_id], ['provider', 'active', 'openai']), bad: [], conflict: changesNothing },
    update: {
      target: async (stage) => ({ ...await named(stage), body: { note: 'noted', reset_usage: true } }),
      check: async ({ body }, stage) => assert.equal((await stage.made('GET', `/v1/providers/${String(body.id)}`)).body.note, 'noted'),
      bad: [{ body: { name: '' }, param: 'name' }, { body: { expires_at: '2000-01-01T00:00:00Z' }, param: 'expires_at' }],
      conflict: { none: 'its slug stays' },
    },
    delete: {
      target: named,
      check: ({ body }) => assert.deepEqual(body, {}),
      bad: [],
      conflict: async (stage) => {
        const { body } = await make(stage);
        await stage.made('POST', '/v1/configs', { config: { provider: `@${String(body.slug)}` }, workspace_id: stage.workspace.id });
        return { params: { slug: String(body.id) } };
      },
    },
  },
});
