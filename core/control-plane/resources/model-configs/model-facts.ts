// Known facts about a model: those of the price table, overridden by those of the integration through which the model is called.

import { noRates, priceTable, withOwnPrices, type PricedModel, type Rate, type Rates } from '../../../limits/prices.js';
import type { Registry } from '../../../registry/registry.js';
import { object } from '../../../storage/schema-parts.js';
import type { IntegrationRow } from '../../../storage/tables/integrations.js';
import { Type } from '../../../storage/type.js';

/** As clients know them. Those of the table's kinds that the list does not have are beside these, below `additional_units`. */
const tokenKinds = [
  'request_token', 'response_token', 'cache_write_input_token', 'cache_read_input_token', 'request_audio_token', 'response_audio_token', 'cache_read_audio_input_token',
  'request_image_token', 'response_image_token', 'cache_read_image_input_token', 'reasoning_token',
] as const;

const rateReply = object({ price: Type.Number({ description: 'US cents for one' }), tiers: Type.Optional(Type.Array(object({ above: Type.Integer(), price: Type.Number() }), { description: 'calls with more input tokens than above cost this instead' })) });
const optionalRate = () => Type.Optional(rateReply);
export const payAsYouGoReply = object({
  request_token: optionalRate(), response_token: optionalRate(), cache_write_input_token: optionalRate(), cache_read_input_token: optionalRate(), request_audio_token: optionalRate(),
  response_audio_token: optionalRate(), cache_read_audio_input_token: optionalRate(), request_image_token: optionalRate(), response_image_token: optionalRate(), cache_read_image_input_token: optionalRate(),
  reasoning_token: optionalRate(), additional_units: Type.Record(rateReply),
});

export interface ModelFacts {
  /** Null: the table does not have it. */
  readonly listed: PricedModel | null;
  readonly rates: Rates;
}

/** The name of a provider in the table: its plugin says it, or it is the same. */
export async function tableNameOf(registry: Registry, provider: string): Promise<string> {
  return (await registry.find('provider', provider).catch(() => undefined))?.priceTable ?? provider;
}

/** `row`: the integration that the model is called through; null: none. Undefined: nothing is known. */
export async function factsOf(table: string, model: string, row: IntegrationRow | null, nowMs: number): Promise<ModelFacts | undefined> {
  const prices = await priceTable();
  const own = row?.models.find(({ slug }) => slug === model);
  const listed = prices.find(table, model, nowMs) ?? (own?.base_model_slug == null ? undefined : prices.find(table, own.base_model_slug, nowMs)) ?? null;
  if (listed === null && own === undefined) return undefined;
  return { listed, rates: withOwnPrices(listed?.rates ?? noRates, own?.pricing_config ?? null) };
}

const rateShown = ({ price, tiers }: Rate): object => (tiers.length === 0 ? { price } : { price, tiers });

export function payAsYouGo({ tokens, units }: Rates): Readonly<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  for (const kind of tokenKinds) {
    const rate = tokens[kind];
    if (rate !== undefined) shown[kind] = rateShown(rate);
  }
  return { ...shown, additional_units: Object.fromEntries(Object.entries(units).map(([name, rate]) => [name, rateShown(rate)])) };
}

/** Capabilities beyond text, as far as the price table has a rate for them. */
export function capabilitiesOf({ tokens, units }: Rates): readonly string[] {
  const known: readonly (readonly [name: string, isKnown: boolean])[] = [
    ['prompt_caching', tokens.cache_read_input_token !== undefined], ['audio_input', tokens.request_audio_token !== undefined], ['audio_output', tokens.response_audio_token !== undefined],
    ['image_input', tokens.request_image_token !== undefined], ['image_output', tokens.response_image_token !== undefined], ['reasoning', tokens.reasoning_token !== undefined],
    ['web_search', units.web_search !== undefined], ['file_search', units.file_search !== undefined],
  ];
  return known.flatMap(([name, isKnown]) => (isKnown ? [name] : []));
}
