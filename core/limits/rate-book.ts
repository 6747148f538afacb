// Rates of models on a thread that serves calls, where the table of prices is never loaded. A known model is found at once; an unknown one is asked once of the control
// thread, and kept. Prices of integrations are in the rows that the thread has anyway, so a changed row counts with the next look.

import { LRUCache } from 'lru-cache';
import type { Exchange } from '../exchange/exchange.js';
import type { StoredIntegration } from '../snapshot/stored-provider.js';
import type { View } from '../snapshot/view.js';
import { callPrice, namesOf, ownModel, type CallPrice } from './call-price.js';
import type { Rates } from './prices.js';

/** The entry of the table for a name. */
export interface ListedRates {
  /** Null: nothing. */
  readonly rates: Rates | null;
  /** They depend on the time of day, and hold for a minute. */
  readonly isTimely: boolean;
}

/** A call whose price is wanted. */
export interface PricedCall {
  /** Id of the plugin. */
  readonly provider: string;
  /** Null: the call goes through none. */
  readonly integration: StoredIntegration | null;
  /** The model in the answer, and in the request; empty when unknown. */
  readonly answered: string;
  readonly asked: string;
  /** On whose account the control thread is asked. */
  readonly keyId: string;
}

export interface RateBookOptions {
  /** Undefined: it cannot be said now. */
  readonly ask: (provider: string, model: string, keyId: string) => Promise<ListedRates | undefined>;
  readonly now: () => number;
}

/** Names that are kept, of clients and providers: some 300 bytes each. */
const namesMax = 8_192;
/** Prices of calls that are kept, of names up to so many characters. */
const foundMax = 2_048;
const foundCharsMax = 512;
const minuteMs = 60_000;
/** Longer names are those of no model; clients send what they like. */
const modelCharsMax = 256;
/** The table changes with the version of the gateway only; names that it does not have may be anything. */
const unlistedMs = 600_000;

interface Entry extends ListedRates {
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number;
}

interface Found {
  readonly integration: StoredIntegration | null;
  readonly price: CallPrice;
  readonly untilMs: number;
}

const unlisted: ListedRates = Object.freeze({ rates: null, isTimely: false });
const noModel: Entry = Object.freeze({ ...unlisted, untilMs: Infinity });

export class RateBook {
  readonly #entries = new LRUCache<string, Entry>({ max: namesMax });
  /** By what calls say of their model: one look for each call that comes again. */
  readonly #found = new LRUCache<string, Found>({ max: foundMax });
  readonly #asking = new Map<string, Promise<void>>();

  constructor(readonly options: RateBookOptions) {}

  /** Undefined: the control thread has to be asked first. */
  look(call: PricedCall): CallPrice | undefined {
    const { provider, integration, answered, asked } = call;
    const nowMs = this.options.now();
    const key = `${provider}\n${answered}\n${asked}`;
    const found = this.#found.get(key);
    // Of a changed row there is another object.
    if (found !== undefined && found.integration === integration && nowMs < found.untilMs) return found.price;
    return this.#find(call, key, nowMs);
  }

  /** `look` finds the price after it, unless the control thread gave no answer. Never rejects. */
  async load({ provider, integration, answered, asked, keyId }: PricedCall): Promise<void> {
    const nowMs = this.options.now();
    const own = integration === null ? undefined : ownModel(integration.pricing, answered, asked);
    const missing = namesOf(answered, asked, own).filter((model) => this.#entry(provider, model, nowMs) === undefined);
    await Promise.all(missing.map((model) => this.#ask(provider, model, keyId)));
  }

  #find({ provider, integration, answered, asked }: PricedCall, key: string, nowMs: number): CallPrice | undefined {
    let untilMs = Infinity;
    const price = callPrice(answered, asked, integration === null ? null : integration.pricing, (model) => {
      const entry = this.#entry(provider, model, nowMs);
      if (entry === undefined) return undefined;
      untilMs = Math.min(untilMs, entry.untilMs);
      return entry.rates;
    });
    if (price !== undefined && key.length <= foundCharsMax) this.#found.set(key, { integration, price, untilMs });
    return price;
  }

  #entry(provider: string, model: string, nowMs: number): Entry | undefined {
    if (model.length > modelCharsMax) return noModel;
    const entry = this.#entries.get(`${provider}\n${model}`);
    return entry === undefined || nowMs >= entry.untilMs ? undefined : entry;
  }

  #ask(provider: string, model: string, keyId: string): Promise<void> {
    const key = `${provider}\n${model}`;
    const under = this.#asking.get(key);
    if (under !== undefined) return under;
    const asking = this.options.ask(provider, model, keyId).then((listed) => {
      this.#asking.delete(key);
      if (listed !== undefined) this.#keep(key, listed);
    }, () => { this.#asking.delete(key); });
    this.#asking.set(key, asking);
    return asking;
  }

  #keep(key: string, { rates, isTimely }: ListedRates): void {
    const nowMs = this.options.now();
    const untilMs = isTimely ? (Math.floor(nowMs / minuteMs) + 1) * minuteMs : rates === null ? nowMs + unlistedMs : Infinity;
    this.#entries.set(key, { ...(rates === null ? unlisted : { rates, isTimely }), untilMs });
  }
}

/** `answered`: the model that the answer names; empty before there is one. */
export function pricedCallOf(exchange: Exchange, view: View, answered: string): PricedCall {
  const { provider, providerSlug, principal } = exchange;
  const stored = providerSlug === '' ? undefined : view.provider(principal.workspaceId, providerSlug);
  return { provider, integration: stored === undefined ? null : view.integration(stored.integrationId) ?? null, answered, asked: askedModel(exchange), keyId: principal.keyId };
}

/** The model that the request names; empty when unknown. */
export function askedModel(exchange: Exchange): string {
  const asked = exchange.parsed === undefined ? exchange.model : exchange.parsed.model;
  return typeof asked === 'string' ? asked : '';
}
