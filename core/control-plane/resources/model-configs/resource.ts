import { fail } from '../../../errors/gateway-error.js';
import type { Rates } from '../../../limits/prices.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { providers } from '../../../storage/tables/providers.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { capabilitiesOf, factsOf, payAsYouGo, payAsYouGoReply, tableNameOf, type ModelFacts } from './model-facts.js';

interface Named extends ModelFacts {
  /** Id of the plugin. */
  readonly service: string;
  readonly model: string;
}

/** `@slug` is a provider of the caller's workspace: then what its integration says of the model counts. Throws KEY_MISSING, ROW_UNKNOWN. */
async function namedModel(context: ControlContext, { provider = '', vendor, model = '' }: Readonly<Record<string, string>>): Promise<Named> {
  // Names of models may hold one slash: meta-llama/Llama-3.
  const name = vendor === undefined ? model : `${vendor}/${model}`;
  const row = provider.startsWith('@') ? await integrationOf(context, provider.slice(1)) : null;
  const service = row?.aiProviderId ?? provider;
  const facts = await factsOf(await tableNameOf(context.services.registry, service), name, row, context.nowMs);
  if (facts === undefined) throw fail('ROW_UNKNOWN', { kind: 'model', id: `${name.slice(0, 128)} of ${provider.slice(0, 64)} in the table` });
  return { ...facts, service, model: name };
}

async function integrationOf(context: ControlContext, slug: string): Promise<IntegrationRow> {
  if (context.caller.keyType === 'none') throw fail('KEY_MISSING');
  const workspace = await context.workspace();
  const stored = await context.repository.find(providers, 'slug', [workspace.id, slug]);
  const integration = stored === undefined ? undefined : await context.repository.get(integrations, stored.row.integrationId);
  if (integration === undefined || integration.row.status === 'archived') throw fail('ROW_UNKNOWN', { kind: 'provider', id: `@${slug.slice(0, 64)}` });
  return integration.row;
}

const term = object({ operation: Type.Literal('multiply'), operands: Type.Array(object({ value: Type.String() })) });
const calculation = object({ operation: Type.Literal('sum'), operands: Type.Array(term) });

/** Name in the answer -> rate in the price table. `input_tokens` are those that are neither cached nor of another kind. */
const sides = {
  request: {
    input_tokens: 'request_token', cache_write_input_tokens: 'cache_write_input_token', cache_read_input_tokens: 'cache_read_input_token', request_audio_tokens: 'request_audio_token',
    cache_read_audio_input_tokens: 'cache_read_audio_input_token', request_image_tokens: 'request_image_token', cache_read_image_input_tokens: 'cache_read_image_input_token',
  },
  response: { output_tokens: 'response_token', response_audio_tokens: 'response_audio_token', response_image_tokens: 'response_image_token', reasoning_tokens: 'reasoning_token' },
} as const;

const sumOf = (kinds: Readonly<Record<string, keyof Rates['tokens']>>, { tokens }: Rates): Reply => ({
  operation: 'sum',
  operands: Object.entries(kinds).flatMap(([counted, kind]) => (tokens[kind] === undefined ? [] : [{ operation: 'multiply', operands: [{ value: counted }, { value: `rates.${kind}` }] }])),
});

const aliasesOf = (part: string): readonly string[] => [`/model-configs/${part}/{provider}/{vendor}/{model}`];

export const modelConfigsResource = defineResource({
  name: 'model-configs',
  kind: 'model',
  operations: {
    pricing: operation({
      method: 'GET', path: '/model-configs/pricing/{provider}/{model}', aliases: aliasesOf('pricing'), scope: null, isPublic: true,
      reply: object({
        provider: Type.String(), model: Type.String(), pay_as_you_go: payAsYouGoReply, calculate: object({ request: calculation, response: calculation }), currency: choice(['USD']),
      }),
      handle: async (context, { params }) => {
        const { service, model, rates } = await namedModel(context, params);
        return { provider: service, model, pay_as_you_go: payAsYouGo(rates), calculate: { request: sumOf(sides.request, rates), response: sumOf(sides.response, rates) }, currency: 'USD' };
      },
    }),
    general: operation({
      method: 'GET', path: '/model-configs/general/{provider}/{model}', aliases: aliasesOf('general'), scope: null, isPublic: true,
      reply: object({
        provider: Type.String(), model: Type.String(), canonical_slug: Type.String(), name: Type.String(), description: orNull(Type.String()), context_length: orNull(Type.Integer()), is_deprecated: Type.Boolean(),
        capabilities: Type.Array(Type.String(), { description: 'as far as they are charged for' }), endpoints: Type.Array(Type.String(), { description: 'of the provider' }),
      }),
      handle: async (context, { params }) => {
        const { service, model, listed, rates } = await namedModel(context, params);
        const plugin = await context.services.registry.find('provider', service).catch(() => undefined);
        return {
          provider: service, model, canonical_slug: listed?.id ?? model, name: listed?.name ?? model, description: listed?.description ?? null, context_length: listed?.contextLength ?? null,
          is_deprecated: listed?.isDeprecated ?? false, capabilities: capabilitiesOf(rates), endpoints: Object.keys(plugin?.endpoints ?? {}),
        };
      },
    }),
  },
});
