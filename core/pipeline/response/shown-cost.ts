// The cost of a call in a header of its answer, where the settings ask for it: of answers that are whole before their head goes. Nobody waits for it: where the
// rates of the model are not known yet they are asked for, and this answer goes without.

import type { Exchange } from '../../exchange/exchange.js';
import type { Usage } from '../../exchange/usage.js';
import { costOf, tellsUsage } from '../../limits/cost.js';
import { pricedCallOf, type RateBook } from '../../limits/rate-book.js';
import type { View } from '../../snapshot/view.js';

/** To the millionth of a cent. */
const digits = 6;
/** Of an answer that another call has paid for. */
export const noCost = (0).toFixed(digits);

/** The record of the call says the same. */
export function showCost(exchange: Exchange, usage: Usage, rates: RateBook, view: View): void {
  // What is stored tells its usage whenever it is looked at, and is counted once (limits/record-pricer.ts).
  if (exchange.endpoint === 'batches' || exchange.head.method === 'GET' || !tellsUsage(usage)) return;
  const call = pricedCallOf(exchange, view, usage.model);
  const price = rates.look(call);
  if (price === undefined) {
    // Never rejects.
    rates.load(call).catch(ignore);
    return;
  }
  if (price.rates === null) return;
  exchange.cost = costOf(price.rates, usage, { isBatch: usage.isBatch, adjustments: price.adjustments });
  exchange.isPriced = true;
  exchange.shownCost = exchange.cost.toFixed(digits);
}

const ignore = (): void => {};
