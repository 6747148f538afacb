import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const key = 'sk-key-of-a-case-0123456789-0001';

const make = (stage: Stage, more: object = {}): Promise<StageReply> => stage.made('POST', '/v1/integrations', { name: stage.unique('Integration'), ai_provider_id: 'openai', key, ...more });
const named = async (stage: Stage, more: object = {}): Promise<Target & { readonly params: { readonly slug: string } }> => ({ params: { slug: String((await make(stage, more)).body.id) } });
/** Of one workspace: keys of another one are refused because of it, not for want of a scope. */
const owned = (stage: Stage): Promise<Target & { readonly params: { readonly slug: string } }> => named(stage, { workspace_id: stage.workspace.id });
const changesNothing = { none: 'it changes nothing' };
const isEmpty = ({ body }: StageReply): void => assert.deepEqual(body, {});

export default resourceCases({
  resource: 'integrations',
  operations: {
    list: {
      target: async (stage) => {
        await make(stage);
        return { query: 'page_size=1&type=all' };
      },
      check: ({ body }) => {
        assert.deepEqual([body.object, body.data.length, body.data[0].object], ['list', 1, 'integration']);
        assert.equal(JSON.stringify(body).includes(key), false);
      },
      bad: [{ query: 'type=none', param: 'type' }, { query: 'page_size=1001', param: 'page_size' }],
      conflict: changesNothing,
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    create: {
      target: (stage) => ({ body: { name: 'Made by a case', slug: stage.unique('integration'), ai_provider_id: 'openai', key, workspace_id: stage.workspace.id, default_provider_slug: stage.unique('default') } }),
      check: async ({ body }, stage, target) => {
        assert.equal(body.slug, target.body?.slug);
        assert.equal((await stage.made('GET', `/v1/integrations/${String(body.id)}`)).body.masked_key, 'sk-****0001');
        assert.equal((await stage.made('GET', `/v1/providers/${String(target.body?.default_provider_slug)}`)).body.integration_id, body.id);
      },
      bad: [
        { body: { name: 'Bad', ai_provider_id: 'opnai', key }, param: 'ai_provider_id' },
        { body: { name: 'Bad', ai_provider_id: 'openai' }, param: 'key' },
        { body: { ai_provider_id: 'openai', key }, param: 'name' },
        { body: { name: 'Bad', ai_provider_id: 'openai', key, configurations: { nothing: 1 } }, param: 'configurations.nothing' },
        { body: { name: 'Bad', ai_provider_id: 'openai', key, configurations: { custom_host: 'nowhere' } }, param: 'configurations.custom_host' },
      ],
      conflict: async (stage, target) => {
        const { body } = await make(stage, { slug: stage.unique('taken'), workspace_id: stage.workspace.id });
        return { body: { ...target.body, slug: body.slug } };
      },
    },
    read: {
      target: owned,
      check: ({ body }) => assert.deepEqual([body.object, body.ai_provider_id, body.allow_all_models, body.workspace_count], ['integration', 'openai', true, 1]),
      bad: [],
      conflict: changesNothing,
    },
    update: {
      target: async (stage) => ({ ...await owned(stage), body: { name: 'Renamed', configurations: { openai_project: 'p' } } }),
      check: async (_, stage, target) => assert.deepEqual((await stage.made('GET', `/v1/integrations/${String(target.params?.slug)}`)).body.configurations, { vendor_project: 'p' }),
      bad: [{ body: { ai_provider_id: 'anthropic' }, param: 'ai_provider_id' }, { body: { configurations: { region: 'x' } }, param: 'configurations.region' }, { body: { key: 'sk-****0001' + '\n' }, param: 'key' }],
      conflict: { none: 'its slug stays' },
    },
    delete: {
      target: owned, check: isEmpty, bad: [],
      conflict: async (stage) => {
        const slug = stage.unique('named');
        const target = await named(stage, { workspace_id: stage.workspace.id, default_provider_slug: slug });
        await stage.made('POST', '/v1/configs', { name: slug, config: { provider: `@${slug}` }, workspace_id: stage.workspace.id });
        return target;
      },
    },
    models: { target: owned, check: ({ body }) => assert.deepEqual([body.total, body.models], [0, []]), bad: [], conflict: changesNothing },
    updateModels: {
      target: async (stage) => ({ ...await owned(stage), body: { models: [{ slug: 'gpt-4o', enabled: true }], allow_all_models: false } }),
      check: async (_, stage, target) => assert.equal((await stage.made('GET', `/v1/integrations/${String(target.params?.slug)}/integration-models`)).body.total, 1),
      bad: [{ body: {}, param: 'models' }, { body: { models: [{ slug: 'a', enabled: true, configurations: {} }] }, param: 'models.0.configurations' }],
      conflict: { none: 'models are put in by their slugs' },
    },
    deleteModels: {
      target: async (stage) => {
        const target = await owned(stage);
        await stage.made('PUT', `/v1/integrations/${target.params.slug}/models`, { models: [{ slug: 'mine', enabled: true, is_custom: true, base_model_slug: 'gpt-4o' }, { slug: 'gpt-4o', enabled: true }] });
        return { ...target, query: 'slugs=mine' };
      },
      check: isEmpty,
      bad: [{ query: 'slugs=', param: 'slugs' }, { query: 'slugs=gpt-4o', param: 'slugs' }, { query: '', param: 'slugs' }],
      conflict: { none: 'models are in use by nobody' },
    },
    workspaces: {
      target: (stage) => named(stage),
      check: ({ body }) => assert.deepEqual([body.total, body.workspaces, body.global_workspace_access.enabled], [0, [], false]),
      bad: [],
      conflict: changesNothing,
    },
    updateWorkspaces: {
      target: async (stage) => ({ ...await named(stage), body: { workspaces: [{ id: stage.workspace.slug, enabled: true, rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }] }] } }),
      check: async (_, stage, target) => assert.equal((await stage.made('GET', `/v1/integrations/${String(target.params?.slug)}/workspaces`)).body.workspaces[0].id, stage.workspace.id),
      bad: [{ body: { workspaces: [{ id: 'first-workspace' }] }, param: 'workspaces.0.enabled' }, { body: { global_workspace_access: { enabled: 1 } }, param: 'global_workspace_access.enabled' }],
      conflict: async (stage, target) => {
        const taken = stage.unique('taken');
        await make(stage, { workspace_id: stage.workspace.id, default_provider_slug: taken });
        return { ...target, body: { workspaces: [{ id: stage.workspace.id, enabled: true, default_provider_slug: taken }] } };
      },
    },
  },
});
