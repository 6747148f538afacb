// The expected and the real cost of calls under a limit of cost, by the rates that the thread has.

import type { Exchange } from '../exchange/exchange.js';
import { noUsage, type Usage } from '../exchange/usage.js';
import type { View } from '../snapshot/view.js';
import { noPrice } from './call-price.js';
import { costOf } from './cost.js';
import type { CallCost, Prices } from './hold.js';
import { pricedCallOf, type RateBook } from './rate-book.js';

export class CallPrices implements Prices {
  constructor(readonly book: RateBook, readonly view: () => View) {}

  cost(exchange: Exchange, usage: Usage): CallCost {
    const call = pricedCallOf(exchange, this.view(), usage.model);
    // Where nobody could be asked for the model of the answer, that of the request counts.
    const { rates, adjustments } = this.book.look(call) ?? this.book.look({ ...call, answered: '' }) ?? noPrice;
    return { cents: costOf(rates, usage, { isBatch: usage.isBatch, adjustments }), isPriced: rates !== null };
  }

  expected(exchange: Exchange, inputTokens: number, outputTokens: number): number | undefined {
    const price = this.book.look(pricedCallOf(exchange, this.view(), ''));
    return price === undefined ? undefined : costOf(price.rates, { ...noUsage, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }, { adjustments: price.adjustments });
  }

  load(exchange: Exchange, model: string): Promise<void> | null {
    const call = pricedCallOf(exchange, this.view(), model);
    return this.book.look(call) === undefined ? this.book.load(call) : null;
  }
}
