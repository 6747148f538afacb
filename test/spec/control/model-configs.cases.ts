import assert from 'node:assert/strict';
import { resourceCases } from './cases.js';

const none = { none: 'it changes nothing' } as const;
const foreign = { none: 'it is for everybody' } as const;

export default resourceCases({
  resource: 'model-configs',
  operations: {
    pricing: {
      target: () => ({ params: { provider: 'openai', model: 'gpt-4o' } }),
      check: async ({ body }, stage) => {
        assert.deepEqual(body.pay_as_you_go.request_token, { price: 0.00025 });
        assert.deepEqual(body.pay_as_you_go.additional_units.web_search, { price: 1 });
        assert.equal(body.currency, 'USD');
        assert.deepEqual(body.calculate.response.operands, [{ operation: 'multiply', operands: [{ value: 'output_tokens' }, { value: 'rates.response_token' }] }]);
        const open = await stage.made('GET', '/v1/model-configs/pricing/vertex-ai/gemini-2.5-pro', undefined, { key: null });
        assert.deepEqual(open.body.pay_as_you_go.request_token, { price: 0.000125, tiers: [{ above: 200_000, price: 0.00025 }] });
        await stage.made('GET', '/v1/model-configs/pricing/together-ai/meta-llama/Llama-3.3-70B-Instruct-Turbo', undefined, { key: null });
        await stage.made('GET', `/v1/model-configs/pricing/together-ai/${encodeURIComponent('meta-llama/Llama-3.3-70B-Instruct-Turbo')}`, undefined, { key: null });
      },
      bad: [],
      conflict: none,
      foreign,
      isConditional: false,
    },
    general: {
      as: 'workspace',
      target: async (stage) => {
        const slug = stage.unique('priced');
        const { body } = await stage.made('POST', '/v1/integrations', { name: slug, ai_provider_id: 'openai', key: 'sk-of-a-case-0123456789', workspace_id: stage.workspace.id });
        const integration = String(body.slug);
        await stage.made('PUT', `/v1/integrations/${integration}/models`, { models: [{ slug: 'ours', enabled: true, is_custom: true, base_model_slug: 'gpt-4o', pricing_config: { pay_as_you_go: { request_token: { price: 5 } } } }] });
        const provider = await stage.made('POST', '/v1/providers', { name: slug, integration_id: integration, slug, workspace_id: stage.workspace.id });
        return { params: { provider: `@${String(provider.body.slug)}`, model: 'ours' } };
      },
      check: async ({ body }, stage, { params }) => {
        assert.deepEqual([body.provider, body.model, body.canonical_slug, body.context_length, body.is_deprecated], ['openai', 'ours', 'gpt-4o', 128_000, false]);
        assert.ok(body.capabilities.includes('prompt_caching') && body.endpoints.includes('chatCompletions'));
        const price = await stage.made('GET', `/v1/model-configs/pricing/${params?.provider ?? ''}/ours`, undefined, { key: stage.keys.workspace });
        assert.deepEqual([price.body.pay_as_you_go.request_token, price.body.pay_as_you_go.response_token], [{ price: 5 }, { price: 0.001 }]);
        assert.equal((await stage.call('GET', `/v1/model-configs/pricing/${params?.provider ?? ''}/ours`, undefined, { key: null })).status, 401);
      },
      bad: [],
      conflict: none,
      foreign,
      isConditional: false,
    },
  },
});
