import assert from 'node:assert/strict';
import { resourceCases, type OperationCase } from './cases.js';

const none = { none: 'there is one organisation, and its settings stand for themselves' };

const exclusions = (side: 'input' | 'output'): { readonly list: OperationCase; readonly update: OperationCase } => ({
  list: { target: () => ({}), check: ({ body }) => assert.deepEqual([body.object, Array.isArray(body.data)], ['list', true]), bad: [], conflict: none },
  update: {
    target: (stage) => ({ body: { workspaces: [stage.other.slug] } }),
    check: async ({ body }, stage) => {
      assert.deepEqual(body, {});
      assert.deepEqual((await stage.made('GET', `/v1/workspace-exclusions/${side}-guardrails`)).body.data, [stage.other.id]);
    },
    bad: [{ body: {}, param: 'workspaces' }, { body: { workspaces: 'all' }, param: 'workspaces' }, { body: { workspaces: [''] }, param: 'workspaces.0' }],
    conflict: none,
    isConditional: true,
  },
});
const [input, output] = [exclusions('input'), exclusions('output')];

export default resourceCases({
  resource: 'organisation',
  operations: {
    read: { target: () => ({}), check: ({ body }) => assert.deepEqual([body.object, typeof body.settings], ['organisation', 'object']), bad: [], conflict: none, isConditional: true },
    update: {
      target: () => ({ body: { settings: { cache_max_ttl: 60, user_api_key_rotation_period: 'monthly' } } }),
      check: async ({ body }, stage) => {
        assert.deepEqual(body, {});
        const { settings } = (await stage.made('GET', '/v1/organisation/settings')).body;
        assert.deepEqual([settings.cache_max_ttl, settings.user_api_key_rotation_period], [60, 'monthly']);
        // Other cases make keys of users.
        await stage.made('PUT', '/v1/admin/organisation', { settings: { user_api_key_rotation_period: null } });
      },
      bad: [
        { body: { settings: { enforce_saved_configs: 1 } }, param: 'settings.enforce_saved_configs' }, { body: { settings: { no_such: 1 } }, param: 'settings.no_such' },
        { body: { settings: { api_key_metadata_schema: { type: 'list' } } }, param: 'settings.api_key_metadata_schema.type' }, { body: { settings: { user_api_key_rotation_period: 0 } }, param: 'settings.user_api_key_rotation_period' },
        { body: { name: '' }, param: 'name' },
      ],
      conflict: none,
      isConditional: true,
    },
    readDefaults: { target: () => ({}), check: ({ body }) => assert.deepEqual(Object.keys(body).sort(), ['input_guardrails', 'metadata', 'object', 'output_guardrails']), bad: [], conflict: none, isConditional: true },
    updateDefaults: {
      target: () => ({ body: { input_guardrails: null, output_guardrails: null, metadata: null } }),
      check: async ({ body }, stage) => {
        assert.deepEqual(body, {});
        assert.deepEqual((await stage.made('GET', '/v1/admin/organisation/defaults')).body.metadata, {});
      },
      bad: [{ body: { metadata: { a: 1 } }, param: 'metadata.a' }, { body: { input_guardrails: 'g' }, param: 'input_guardrails' }],
      conflict: none,
      isConditional: true,
    },
    listInputExclusions: { ...input.list, isConditional: true },
    updateInputExclusions: input.update,
    listOutputExclusions: { ...output.list, isConditional: true },
    updateOutputExclusions: output.update,
  },
});
