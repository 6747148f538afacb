// Prices and context lengths of models, from the table of a package: (provider, model, time) -> rates. The table is part of the package and is
// never fetched. Loading takes a tenth of a second, so it is loaded when first needed, and never in a thread that serves calls.

import { LRUCache } from 'lru-cache';

/** Kinds of tokens that have rates. */
type TokenKind =
  | 'request_token' | 'response_token' | 'cache_write_input_token' | 'cache_read_input_token' | 'request_audio_token' | 'response_audio_token' | 'cache_read_audio_input_token'
  | 'request_image_token' | 'response_image_token' | 'cache_read_image_input_token' | 'reasoning_token';

/** Price in US cents for one unit. */
export interface Rate {
  readonly price: number;
  /** For calls with more than `above` input tokens, the price of all of their tokens. Of several that apply, the last counts. */
  readonly tiers: readonly { readonly above: number; readonly price: number }[];
}

export interface Rates {
  readonly tokens: { readonly [K in TokenKind]?: Rate };
  /** Rates by the name of the unit: `web_search`. */
  readonly units: Readonly<Record<string, Rate>>;
}

export interface PricedModel {
  /** The table's id of the model; several names of models may lead to it. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** In tokens; null: not known. */
  readonly contextLength: number | null;
  readonly isDeprecated: boolean;
  /** The rates depend on the time; they hold for a minute. */
  readonly isTimely: boolean;
  readonly rates: Rates;
}

/** The part of the package's types that is used here. */
interface TablePrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}
interface TableModel {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly context_window?: number;
  readonly deprecated?: boolean;
  readonly prices: unknown;
}
interface TableProvider {
  readonly id: string;
  readonly models: readonly TableModel[];
}
interface Found {
  readonly model: TableModel;
  readonly model_price: Readonly<Record<string, number | TablePrice | undefined>>;
}
interface Package<P extends TableProvider> {
  findProvider(options: { providerId: string }): P | undefined;
  calcPrice(usage: Record<string, number>, model: string, options: { provider: P; timestamp: Date }): Found | null;
}

const centsPerDollar = 100;
/** Names in the table -> our names, and the number of units that a price in the table is for. */
const tokenKinds: Readonly<Record<string, TokenKind>> = {
  input_mtok: 'request_token', output_mtok: 'response_token', cache_write_mtok: 'cache_write_input_token', cache_read_mtok: 'cache_read_input_token', input_audio_mtok: 'request_audio_token',
  output_audio_mtok: 'response_audio_token', cache_audio_read_mtok: 'cache_read_audio_input_token', input_image_mtok: 'request_image_token', output_image_mtok: 'response_image_token',
  cache_image_read_mtok: 'cache_read_image_input_token', output_reasoning_mtok: 'reasoning_token',
};
const unitKinds: Readonly<Record<string, readonly [name: string, per: number]>> = {
  cache_write_1h_mtok: ['cache_write_1h_input_token', 1e6], output_citation_mtok: ['citation_token', 1e6], input_video_mtok: ['request_video_token', 1e6], output_video_mtok: ['response_video_token', 1e6],
  web_searches_kcount: ['web_search', 1e3], storage_searches_kcount: ['file_search', 1e3], rerank_searches_kcount: ['search_unit', 1e3], requests_kcount: ['request', 1e3], input_text_messages_kcount: ['text_message', 1e3],
  input_document_kpages: ['document_page', 1e3], input_annotated_document_kpages: ['annotated_document_page', 1e3], audio_hours: ['audio_hour', 1], input_audio_hours: ['request_audio_hour', 1],
};
const tokensPerPrice = 1e6;

/** Models that are kept in memory with their rates; the table has some 1,500. */
const knownMax = 4_096;
/** Names of models come from clients and may have any length. */
const modelCharsMax = 256;
/** Prices of some models depend on the time of day, to the half hour. */
const steadyMs = 60_000;

interface Known {
  readonly model: PricedModel | null;
  /** The minute, counted from the Unix epoch, that the rates are for; null: they do not depend on the time. */
  readonly minute: number | null;
}

export class PriceTable {
  readonly #known = new LRUCache<string, Known>({ max: knownMax });
  readonly #providers = new Map<string, TableProvider | undefined>();

  private constructor(readonly library: Package<TableProvider>) {}

  static async load(): Promise<PriceTable> {
    const library = await import('@pydantic/genai-prices');
    return new PriceTable({
      findProvider: (options) => library.findProvider(options),
      // The provider is one that findProvider returned.
      calcPrice: (usage, model, { provider, timestamp }) => library.calcPrice(usage, model, { provider: library.findProvider({ providerId: provider.id }) ?? fail(), timestamp }),
    });
  }

  /** `provider` by its name in the table. Undefined: it has no such model. */
  find(provider: string, model: string, atMs: number): PricedModel | undefined {
    if (model.length > modelCharsMax) return undefined;
    const key = `${provider}\n${model}`;
    const minute = Math.floor(atMs / steadyMs);
    const known = this.#known.get(key);
    if (known !== undefined && (known.minute === null || known.minute === minute)) return known.model ?? undefined;
    const table = this.#provider(provider);
    const found = table === undefined ? null : this.library.calcPrice({}, model, { provider: table, timestamp: new Date(atMs) });
    const priced = found === null ? null : pricedModel(found);
    this.#known.set(key, { model: priced, minute: priced?.isTimely === true ? minute : null });
    return priced ?? undefined;
  }

  /** Ids of the models that a provider has today. */
  modelsOf(provider: string): readonly string[] {
    return this.#provider(provider)?.models.flatMap(({ id, deprecated }) => (deprecated === true ? [] : [id])) ?? [];
  }

  /** The package also matches names that merely contain the name of a provider; those are refused here. */
  #provider(name: string): TableProvider | undefined {
    if (!this.#providers.has(name) && this.#providers.size < knownMax) {
      const found = this.library.findProvider({ providerId: name });
      this.#providers.set(name, found?.id === name ? found : undefined);
    }
    return this.#providers.get(name);
  }
}

let loading: Promise<PriceTable> | undefined;

/** The one of this thread. */
export function priceTable(): Promise<PriceTable> {
  loading ??= PriceTable.load().catch((thrown: unknown) => {
    loading = undefined;
    throw thrown;
  });
  return loading;
}

/** Price of one unit, in US cents, in a call with so many input tokens. */
export function priceAt({ price, tiers }: Rate, inputTokens: number): number {
  let cents = price;
  for (const tier of tiers) if (inputTokens > tier.above) cents = tier.price;
  return cents;
}

/** Applies prices that an operator has set (`pricing_config`): they replace those of the table, kind by kind. */
export function withOwnPrices(rates: Rates, own: Readonly<Record<string, unknown>> | null): Rates {
  const given: Readonly<Record<string, unknown>> = Object(Object(own).pay_as_you_go);
  const tokens: Record<string, Rate> = { ...rates.tokens };
  const units: Record<string, Rate> = { ...rates.units };
  const put = (into: Record<string, Rate>, name: string, value: unknown): void => {
    const { price }: { readonly price?: unknown } = Object(value);
    if (typeof price === 'number' && price >= 0) into[name] = Object.freeze({ price, tiers: [] });
  };
  for (const [name, value] of Object.entries(given)) if (name !== 'additional_units') put(tokens, name, value);
  for (const [name, value] of Object.entries(Object(given.additional_units))) put(units, name, value);
  return Object.freeze({ tokens, units });
}

export const noRates: Rates = Object.freeze({ tokens: {}, units: {} });

function pricedModel({ model, model_price: prices }: Found): PricedModel {
  const tokens: { [K in TokenKind]?: Rate } = {};
  const units: Record<string, Rate> = {};
  for (const [name, price] of Object.entries(prices)) {
    if (price === undefined) continue;
    const kind = tokenKinds[name];
    const unit = unitKinds[name];
    if (kind !== undefined) tokens[kind] = rateOf(price, tokensPerPrice);
    else if (unit !== undefined) units[unit[0]] = rateOf(price, unit[1]);
  }
  return Object.freeze({
    id: model.id, name: model.name ?? model.id, description: model.description ?? null, contextLength: model.context_window ?? null, isDeprecated: model.deprecated === true, isTimely: isTimely(model), rates: Object.freeze({ tokens, units }),
  });
}

/** A list of prices means that they depend on the time. */
const isTimely = ({ prices }: TableModel): boolean => Array.isArray(prices);

function rateOf(price: number | TablePrice, per: number): Rate {
  if (typeof price === 'number') return Object.freeze({ price: cents(price, per), tiers: [] });
  const tiers = price.tiers.map((tier) => ({ above: tier.start, price: cents(tier.price, per) })).toSorted((left, right) => left.above - right.above);
  return Object.freeze({ price: cents(price.base, per), tiers });
}

/** Rounds errors of binary fractions away: 0.00025, not 0.00025000000000000006. */
const cents = (dollars: number, per: number): number => Number((dollars * centsPerDollar / per).toPrecision(12));

const fail = (): never => { throw new TypeError('the table of prices has lost a provider'); };
