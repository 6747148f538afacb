// The models of an integration: which may be called, which are the operator's own, and where those are.

import { fail } from '../../../errors/gateway-error.js';
import { OpenIntegration, placeOf } from '../../../storage/open-rows.js';
import { object, orNull, textMap } from '../../../storage/schema-parts.js';
import { integrations, type IntegrationModel, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { named } from '../../envelope.js';
import { refuseGatewayKeys } from '../common/secret-text.js';
import { checkedHost, isPersonal, providerPlugin } from './credentials.js';
import { checkedHeaders, maskedHeaders } from './headers.js';

const modelsMax = 2_000;
const slugCharsMax = 255;
/** Of all models of an integration with their headers: each change writes them anew, and every thread holds them. */
const modelsCharsMax = 4 * 1024 * 1024;

const price = () => Type.Optional(orNull(object({ price: Type.Number({ minimum: 0 }) })));
/** Prices in cents for a token, as clients state them. */
const pricingConfig = Type.Unsafe<Readonly<Record<string, unknown>>>(named('ModelPricing', object({
  type: Type.Optional(Type.String({ maxLength: 32 })),
  pay_as_you_go: Type.Optional(orNull(object({
    request_token: price(), response_token: price(), cache_write_input_token: price(), cache_read_input_token: price(), request_audio_token: price(), response_audio_token: price(), cache_read_audio_input_token: price(),
    additional_units: Type.Optional(orNull(Type.Record(object({ price: Type.Number({ minimum: 0 }) })))),
  }))),
})));

export const modelsBody = object({
  models: Type.Array(object({
    slug: Type.String({ minLength: 1, maxLength: slugCharsMax }),
    name: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
    enabled: Type.Boolean(),
    is_custom: Type.Optional(orNull(Type.Boolean())),
    is_finetune: Type.Optional(orNull(Type.Boolean())),
    base_model_slug: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: slugCharsMax }))),
    configurations: Type.Optional(orNull(object({ custom_host: Type.Optional(orNull(Type.String())), custom_headers: Type.Optional(orNull(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }))) }))),
    pricing_config: Type.Optional(orNull(pricingConfig)),
  }), { maxItems: modelsMax }),
  allow_all_models: Type.Optional(Type.Boolean()),
});
type Given = Static<typeof modelsBody>;

const plainModel: Omit<IntegrationModel, 'slug'> = {
  name: null, enabled: true, is_custom: false, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null,
};

type ModelMembers = Pick<IntegrationRow, 'models' | 'sealedModelHeaders' | 'allowAllModels'>;

/** The models with `given` put in by their slugs. Throws FIELD_INVALID. */
export async function withModels(context: ControlContext, row: IntegrationRow, given: Given): Promise<ModelMembers> {
  const plugin = await providerPlugin(context.services.registry, row.aiProviderId);
  const models = new Map(row.models.map((model) => [model.slug, model]));
  const headers = new Map(Object.entries(new OpenIntegration(row, context.sealer).modelHeaders));
  const seen = new Set<string>();
  const hasSecret = row.sealedKey !== null || row.sealedConfigurations !== null;
  for (const [index, { configurations, ...members }] of given.models.entries()) {
    const place = `models.${index}`;
    if (seen.has(members.slug)) throw fail('FIELD_INVALID', { param: `${place}.slug`, reason: 'is given more than once' });
    seen.add(members.slug);
    const before = models.get(members.slug) ?? { ...plainModel, slug: members.slug };
    const custom_host = configurations === undefined ? before.custom_host : hostOf(configurations, `${place}.configurations`);
    if (custom_host !== null && custom_host !== before.custom_host && hasSecret && isPersonal(context)) {
      throw fail('ACTION_FORBIDDEN', { reason: 'with a key of type workspace-user the stored credentials are sent to no other address than they were stored for; use a service key', param: `${place}.configurations.custom_host` });
    }
    const own = headers.get(members.slug) ?? {};
    const ownHeaders = configurations === undefined || configurations?.custom_headers === undefined && configurations !== null ? own
      : checkedHeaders(configurations?.custom_headers ?? {}, own, plugin.auth, hasSecret, `${place}.configurations.custom_headers`);
    await refuseGatewayKeys(context, Object.entries(ownHeaders).map(([name, value]) => [`${place}.configurations.custom_headers.${name}`, value] as const));
    models.set(members.slug, {
      slug: members.slug, enabled: members.enabled, name: members.name === undefined ? before.name : members.name,
      is_custom: members.is_custom ?? before.is_custom, is_finetune: members.is_finetune ?? before.is_finetune,
      base_model_slug: members.base_model_slug === undefined ? before.base_model_slug : members.base_model_slug,
      pricing_config: members.pricing_config === undefined ? before.pricing_config : members.pricing_config,
      custom_host, header_names: Object.keys(ownHeaders),
    });
    if (Object.keys(ownHeaders).length === 0) headers.delete(members.slug);
    else headers.set(members.slug, ownHeaders);
  }
  const characters = JSON.stringify([[...models.values()], Object.fromEntries(headers)]).length;
  if (characters > modelsCharsMax) throw fail('FIELD_INVALID', { param: 'models', reason: `would be more than ${modelsCharsMax} characters in this integration; headers for all models are given once, as custom_headers of its configurations` });
  if (models.size > modelsMax) throw fail('FIELD_INVALID', { param: 'models', reason: `would be more than ${modelsMax} in this integration; delete some` });
  return { models: [...models.values()], sealedModelHeaders: sealedHeaders(context, row.id, headers), allowAllModels: given.allow_all_models ?? row.allowAllModels };
}

/** Without those that `slugs` names, a list with commas. Throws FIELD_INVALID, REFERENCE_UNKNOWN. */
export function withoutModels(context: ControlContext, row: IntegrationRow, slugs: string): Pick<ModelMembers, 'models' | 'sealedModelHeaders'> {
  const names = new Set(slugs.split(',').map((slug) => slug.trim()).filter((slug) => slug !== ''));
  if (names.size === 0) throw fail('FIELD_INVALID', { param: 'slugs', reason: 'must name at least one model; several are parted by commas' });
  for (const name of names) {
    const model = row.models.find(({ slug }) => slug === name);
    if (model === undefined) throw fail('REFERENCE_UNKNOWN', { param: 'slugs', kind: 'model', id: name.slice(0, 64) });
    if (!model.is_custom && !model.is_finetune) throw fail('FIELD_INVALID', { param: 'slugs', reason: `names ${name.slice(0, 64)}, which is not a custom model: switch it off with enabled: false` });
  }
  const headers = Object.entries(new OpenIntegration(row, context.sealer).modelHeaders).filter(([slug]) => !names.has(slug));
  return { models: row.models.filter(({ slug }) => !names.has(slug)), sealedModelHeaders: sealedHeaders(context, row.id, new Map(headers)) };
}

export const modelsSchema = object({
  object: Type.Literal('list'), total: Type.Integer({ minimum: 0 }),
  models: Type.Array(named('IntegrationModel', object({
    slug: Type.String(), name: Type.String(), enabled: Type.Boolean(), is_custom: Type.Boolean(), is_finetune: Type.Boolean(), base_model_slug: orNull(Type.String()), pricing_config: orNull(pricingConfig),
    configurations: object({ custom_host: Type.Optional(Type.String()), custom_headers: Type.Optional(textMap()) }),
  }))),
  allow_all_models: Type.Boolean(),
});

export function modelsReply(context: ControlContext, row: IntegrationRow): Reply {
  const headers = new OpenIntegration(row, context.sealer).modelHeaders;
  const models = row.models.map(({ custom_host: host, header_names: _names, ...model }) => ({
    ...model, name: model.name ?? model.slug,
    configurations: { ...(host === null ? {} : { custom_host: host }), ...(Object.hasOwn(headers, model.slug) ? { custom_headers: maskedHeaders(headers[model.slug] ?? {}) } : {}) },
  }));
  return { object: 'list', total: models.length, models, allow_all_models: row.allowAllModels };
}

function hostOf(configurations: NonNullable<Given['models'][number]['configurations']> | null, place: string): string | null {
  if (configurations === null) return null;
  if (Object.keys(configurations).length === 0) throw fail('FIELD_INVALID', { param: place, reason: 'must not be empty: give custom_host or custom_headers, or null for none' });
  const { custom_host: host } = configurations;
  if (host === undefined || host === null) return null;
  return checkedHost(host, `${place}.custom_host`);
}

function sealedHeaders({ sealer }: ControlContext, id: string, headers: ReadonlyMap<string, unknown>): string | null {
  return headers.size === 0 ? null : sealer.seal(JSON.stringify(Object.fromEntries(headers)), placeOf(integrations, id, 'sealedModelHeaders'));
}
