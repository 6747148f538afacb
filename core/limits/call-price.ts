// The price of the model of a call: the rates that the table has for the name in the answer, or else in the request, and what the integration of the call says of them.

import type { IntegrationRow } from '../storage/tables/integrations.js';
import { adjustmentsOf, type Adjustments } from './cost.js';
import { noRates, withOwnPrices, type Rates } from './prices.js';

export interface CallPrice {
  /** Null: the model has no price. */
  readonly rates: Rates | null;
  readonly adjustments: Adjustments | null;
}

export const noPrice: CallPrice = Object.freeze({ rates: null, adjustments: null });

/** Of a row of an integration. */
export type PricedIntegration = Pick<IntegrationRow, 'models' | 'pricingAdjustments'>;
type PricedModelRow = PricedIntegration['models'][number];

/** The rates of the table for a name: null when it has none for it, undefined when that is not known yet. */
export type LookUp = (model: string) => Rates | null | undefined;

/** Undefined: `lookUp` did not know. `answered`, `asked`: the model in the answer and in the request; empty when unknown. */
export function callPrice(answered: string, asked: string, integration: PricedIntegration | null, lookUp: LookUp): CallPrice | undefined {
  const own = integration === null ? undefined : ownModel(integration, answered, asked);
  const adjustments = integration === null || integration.pricingAdjustments === null ? null : adjustmentsOf(integration.pricingAdjustments);
  const listed = listedRates(namesOf(answered, asked, own), lookUp);
  if (listed === undefined) return undefined;
  const config = own === undefined ? null : own.pricing_config;
  if (config === null) return listed === null ? noPrice : { rates: listed, adjustments };
  const rates = withOwnPrices(listed ?? noRates, config);
  return rates === noRates ? noPrice : { rates, adjustments };
}

/** Those under which the table may have the model of a call, best first. */
export function namesOf(answered: string, asked: string, own: PricedModelRow | undefined): readonly string[] {
  const names = new Set<string>();
  for (const name of [answered, asked, own === undefined ? null : own.base_model_slug]) {
    if (name === null || name === '') continue;
    names.add(name);
    names.add(undated(name));
  }
  return [...names];
}

/** The prices of an integration for a model: under the name that was asked for, that of the answer, or that without its date. */
export function ownModel({ models }: PricedIntegration, answered: string, asked: string): PricedModelRow | undefined {
  let found: PricedModelRow | undefined = undefined;
  for (const model of models) {
    const { slug } = model;
    if (slug === asked) return model;
    if (slug === answered || (slug === undated(answered) && found === undefined)) found = model;
  }
  return found;
}

/** Providers answer with the version that an alias stood for: gpt-4o-2024-08-06, claude-sonnet-4-5-20250929, gpt-4-0613, gemini-2.5-flash-001. */
export const undated = (model: string): string => model.replace(dated, '');
const dated = /(?:[-@](?:20\d{2}-?\d{2}-?\d{2}|\d{4}|00\d)|[-:]latest)$/;

function listedRates(names: readonly string[], lookUp: LookUp): Rates | null | undefined {
  for (const name of names) {
    const rates = lookUp(name);
    if (rates !== null) return rates;
  }
  return null;
}
