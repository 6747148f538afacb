// GET /v1/models for a call that names no provider: the models that its workspace may call, page by page. The path is one of the call path, where a header can send the call
// to a provider; serving threads hand it on when it is meant for the gateway. So this resource is not among those that clients reach directly.

import { fail } from '../../../errors/gateway-error.js';
import { priceTable } from '../../../limits/prices.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { accessOf, integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { providers, providerStatus, type ProviderRow } from '../../../storage/tables/providers.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { nextTurn } from '../../next-turn.js';
import { capabilitiesOf, factsOf, payAsYouGo, payAsYouGoReply, tableNameOf } from '../model-configs/model-facts.js';

/** In one reply. */
const pageMax = 1_000;
/** Of a workspace that are looked at. */
const modelsMax = 100_000;
/** Other control calls get their turn after so many. */
const sliceMax = 50;

const listQuery = object({
  ai_service: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'id of the provider behind it: openai' })),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'a stored provider, with @ or without' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageMax })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  sort: Type.Optional(choice(['name', 'provider', 'ai_service'])),
  order: Type.Optional(choice(['asc', 'desc'])),
});
type Query = Static<typeof listQuery>;

const modelReply = object({
  id: Type.String(), slug: Type.String(), canonical_slug: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String(), provider: Type.String(), ai_service: Type.String(),
  name: Type.String(), is_custom: Type.Boolean(), context_length: orNull(Type.Integer()), pricing: Type.Union([object({ currency: choice(['USD']), pay_as_you_go: payAsYouGoReply }), Type.Null()]), capabilities: Type.Array(Type.String()),
});

interface Use {
  readonly provider: ProviderRow;
  readonly integration: IntegrationRow;
  /** Of the integration's provider, in the table. */
  readonly table: string;
}

interface Listed {
  readonly slug: string;
  readonly use: Use;
}

/** The integration that a provider of the workspace may use now; undefined: none. */
async function useOf(context: ControlContext, provider: ProviderRow): Promise<Use | undefined> {
  if (providerStatus(provider, context.nowMs) !== 'active') return undefined;
  const integration = (await context.repository.get(integrations, provider.integrationId))?.row;
  if (integration === undefined || integration.organisationId !== provider.organisationId || accessOf(integration, provider.workspaceId) === undefined) return undefined;
  return { provider, integration, table: await tableNameOf(context.services.registry, integration.aiProviderId) };
}

/** Those that its integration lists and, where all may be called at the provider itself, those of the table. */
async function modelsOf({ integration: { models, allowAllModels, customHost }, table }: Use): Promise<readonly string[]> {
  const own = models.flatMap(({ slug, enabled }) => (enabled ? [slug] : []));
  if (!allowAllModels || customHost !== null) return own;
  const known = new Set(models.map(({ slug }) => slug));
  return [...own, ...(await priceTable()).modelsOf(table).filter((slug) => !known.has(slug))];
}

async function view(context: ControlContext, { slug, use: { provider, integration, table } }: Listed): Promise<Reply> {
  const own = integration.models.find((model) => model.slug === slug);
  const facts = await factsOf(table, slug, integration, context.nowMs);
  const isPriced = facts !== undefined && (Object.keys(facts.rates.tokens).length > 0 || Object.keys(facts.rates.units).length > 0);
  return {
    id: `@${provider.slug}/${slug}`, slug, canonical_slug: facts?.listed?.id ?? slug, object: 'model', created: Math.floor(provider.createdAtMs / 1000), owned_by: integration.aiProviderId,
    provider: `@${provider.slug}`, ai_service: integration.aiProviderId, name: own?.name ?? facts?.listed?.name ?? slug, is_custom: own?.is_custom ?? false, context_length: facts?.listed?.contextLength ?? null,
    pricing: isPriced ? { currency: 'USD', pay_as_you_go: payAsYouGo(facts.rates) } : null, capabilities: facts === undefined ? [] : capabilitiesOf(facts.rates),
  };
}

const sortedBy: Readonly<Record<NonNullable<Query['sort']>, (model: Listed) => string>> = {
  name: ({ slug }) => slug, provider: ({ use }) => use.provider.slug, ai_service: ({ use }) => use.integration.aiProviderId,
};

async function list(context: ControlContext, { ai_service: service, provider: named, limit = pageMax, offset = 0, sort, order }: Query): Promise<Reply> {
  const workspace = await context.workspace();
  const slug = named?.replace(/^@/, '');
  const found: Listed[] = [];
  for await (const { row } of context.repository.each(providers, { index: 'workspace', parts: [workspace.id] })) {
    if ((slug !== undefined && row.slug !== slug) || found.length >= modelsMax) continue;
    const use = await useOf(context, row);
    if (use === undefined || (service !== undefined && use.integration.aiProviderId !== service)) continue;
    for (const model of await modelsOf(use)) if (found.length < modelsMax) found.push({ slug: model, use });
    await nextTurn();
  }
  if (sort !== undefined || order !== undefined) {
    const keyOf = sortedBy[sort ?? 'name'];
    const sign = order === 'desc' ? -1 : 1;
    found.sort((left, right) => {
      const [one, other] = [keyOf(left), keyOf(right)];
      return one === other ? (left.slug < right.slug ? -1 : 1) : (one < other ? -sign : sign);
    });
  }
  const data: Reply[] = [];
  for (const model of found.slice(offset, offset + limit)) {
    data.push(await view(context, model));
    if (data.length % sliceMax === 0) await nextTurn();
  }
  return { object: 'list', data, total: found.length, total_count: found.length };
}

/** `id` is `@provider/model`. Throws MODEL_UNKNOWN. */
async function read(context: ControlContext, id: string): Promise<Reply> {
  const workspace = await context.workspace();
  const [, slug = '', model = ''] = /^@([^/]+)\/(.+)$/s.exec(id) ?? [];
  const provider = slug === '' ? undefined : await context.repository.find(providers, 'slug', [workspace.id, slug]);
  const use = provider === undefined ? undefined : await useOf(context, provider.row);
  if (use === undefined || !(await modelsOf(use)).includes(model)) throw fail('MODEL_UNKNOWN', { model: id.slice(0, 128), param: 'model' });
  return view(context, { slug: model, use });
}

const scope = ['completions.write', 'virtual_keys.list', 'models.list'];

export const modelsResource = defineResource({
  name: 'models',
  kind: 'model',
  operations: {
    list: operation({
      method: 'GET', path: '/models', scope, query: listQuery, reply: object({ object: Type.Literal('list'), data: Type.Array(modelReply), total: Type.Integer(), total_count: Type.Integer() }),
      handle: (context, { query }) => list(context, query),
    }),
    read: operation({ method: 'GET', path: '/models/{id}', scope, reply: modelReply, handle: (context, { params }) => read(context, params.id ?? '') }),
  },
});
