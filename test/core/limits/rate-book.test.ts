import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredIntegration } from '../../../core/snapshot/stored-provider.js';
import { callPrice, undated, type PricedIntegration } from '../../../core/limits/call-price.js';
import { noRates, priceTable, type Rates } from '../../../core/limits/prices.js';
import { RateBook, type ListedRates, type PricedCall } from '../../../core/limits/rate-book.js';

const ratesOf = (price: number): Rates => ({ tokens: { request_token: { price, tiers: [] } }, units: {} });
const model = (slug: string, changes: object = {}): PricedIntegration['models'][number] =>
  ({ slug, name: null, enabled: true, is_custom: false, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null, ...changes });
const ownPrice = (price: number): object => ({ pricing_config: { pay_as_you_go: { request_token: { price } } } });
const integration = (models: PricedIntegration['models'], pricingAdjustments: Readonly<Record<string, unknown>> | null = null): PricedIntegration => ({ models, pricingAdjustments });

const listed: Readonly<Record<string, Rates>> = { 'gpt-4o': ratesOf(2), 'gpt-4o-mini': ratesOf(1), 'o9': ratesOf(9) };
const lookUp = (name: string): Rates | null => listed[name] ?? null;
const priceOf = (answered: string, asked: string, of: PricedIntegration | null = null): number | undefined => callPrice(answered, asked, of, lookUp)?.rates?.tokens.request_token?.price;

describe('the price of a call', () => {
  it('is that of the model as answered, else as requested, dated or not', () => {
    assert.equal(priceOf('gpt-4o', 'gpt-4o-mini'), 2);
    assert.equal(priceOf('something', 'gpt-4o-mini'), 1);
    assert.equal(priceOf('gpt-4o-2031-01-02', 'something'), 2);
    assert.equal(priceOf('', 'gpt-4o-latest'), 2);
    assert.equal(priceOf('something', ''), undefined);
    assert.equal(callPrice('something', '', null, lookUp)?.rates, null);
    assert.deepEqual(['gpt-4o-2024-08-06', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4@20250514', 'gpt-4-0613', 'gemini-2.5-flash-001', 'x:latest', 'gpt-4', 'gpt-3.5-turbo', 'o1-2', 'qwen-72'].map(undated),
      ['gpt-4o', 'claude-sonnet-4-5', 'claude-sonnet-4', 'gpt-4', 'gemini-2.5-flash', 'x', 'gpt-4', 'gpt-3.5-turbo', 'o1-2', 'qwen-72']);
  });

  it('is the operator\'s where the integration states one, by either name or that without a date', () => {
    const own = integration([model('ours', { base_model_slug: 'o9' }), model('gpt-4o', ownPrice(7)), model('deployed', ownPrice(5))]);
    assert.equal(priceOf('gpt-4o-2024-08-06', 'gpt-4o', own), 7);
    assert.equal(priceOf('gpt-4o-2024-08-06', 'something', own), 7);
    assert.equal(priceOf('gpt-4o-2024-08-06', 'deployed', own), 5);
    assert.equal(priceOf('unheard-of', 'ours', own), 9);
    assert.equal(priceOf('gpt-4o-mini', 'gpt-4o-mini', own), 1);
    assert.equal(priceOf('nothing', 'nothing', integration([model('nothing', ownPrice(0.5))])), 0.5);
  });

  it('comes with the adjustments of the integration', () => {
    const price = callPrice('gpt-4o', 'gpt-4o', integration([], { multiplier: { default: 3 } }), lookUp);
    assert.deepEqual([price?.rates, price?.adjustments?.others], [listed['gpt-4o'], 3]);
    assert.equal(callPrice('gpt-4o', 'gpt-4o', integration([]), lookUp)?.adjustments, null);
  });

  it('is found for the names that the providers of the table answer with', async () => {
    const table = await priceTable();
    const find = (provider: string) => (name: string): Rates | null => table.find(provider, name, Date.UTC(2026, 8, 1))?.rates ?? null;
    for (const [provider, answered] of [['openai', 'gpt-4o-mini-2024-07-18'], ['anthropic', 'claude-sonnet-4-5-20250929'], ['google', 'gemini-2.5-flash'], ['aws', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'], ['azure', 'gpt-4.1-mini-2025-04-14'], ['mistral', 'mistral-large-latest'], ['deepseek', 'deepseek-chat'], ['x-ai', 'grok-4-0709'], ['groq', 'llama-3.3-70b-versatile']] as const) {
      assert.ok(callPrice(answered, '', null, find(provider))?.rates, `${provider} ${answered}`);
    }
  });
});

function setUp(answer: (provider: string, model: string) => Promise<ListedRates | undefined>) {
  const clock = { nowMs: Date.UTC(2026, 8, 1, 12, 0, 30) };
  const asked: string[] = [];
  const book = new RateBook({ now: () => clock.nowMs, ask: (provider, name, keyId) => { asked.push(`${provider} ${name} ${keyId}`); return answer(provider, name); } });
  return { clock, asked, book };
}
const callOf = (answered: string, asked = '', of: PricedIntegration | null = null): PricedCall =>
  // The book looks at nothing else of it.
  ({ provider: 'openai', integration: of === null ? null : { pricing: of } as StoredIntegration, answered, asked, keyId: 'k1' });

describe('the book of rates', () => {
  it('asks once for what it does not know, however many calls wait', async () => {
    const { asked, book } = setUp(async (_, name) => ({ rates: lookUp(name), isTimely: false }));
    const call = callOf('gpt-4o', 'odd');
    assert.equal(book.look(call), undefined);
    await Promise.all(Array.from({ length: 50 }, () => book.load(call)));
    assert.deepEqual(asked.toSorted(), ['openai gpt-4o k1', 'openai odd k1']);
    assert.equal(book.look(call)?.rates, listed['gpt-4o']);
    await book.load(call);
    assert.equal(asked.length, 2);
  });

  it('remembers that a model has no price, and asks again after a while', async () => {
    const { clock, asked, book } = setUp(async () => ({ rates: null, isTimely: false }));
    await book.load(callOf('none'));
    assert.deepEqual(book.look(callOf('none')), { rates: null, adjustments: null });
    clock.nowMs += 599_999;
    assert.ok(book.look(callOf('none')));
    clock.nowMs += 1;
    assert.equal(book.look(callOf('none')), undefined);
    assert.equal(asked.length, 1);
    assert.equal(book.look(callOf('x'.repeat(10_000)))?.rates, null);
  });

  it('holds rates that depend on the time for their minute', async () => {
    const { clock, book } = setUp(async () => ({ rates: noRates, isTimely: true }));
    await book.load(callOf('m'));
    clock.nowMs += 29_999;
    assert.ok(book.look(callOf('m')));
    clock.nowMs += 1;
    assert.equal(book.look(callOf('m')), undefined);
  });

  it('obeys another row at once, and knows the base of a model of the operator', async () => {
    const { asked, book } = setUp(async (_, name) => ({ rates: lookUp(name), isTimely: false }));
    const of = (...models: PricedIntegration['models']): PricedCall => callOf('', 'ours', integration(models));
    await book.load(of(model('ours', { base_model_slug: 'o9' })));
    assert.deepEqual(asked, ['openai ours k1', 'openai o9 k1']);
    assert.equal(book.look(of(model('ours', { base_model_slug: 'o9' })))?.rates, listed.o9);
    assert.equal(book.look(of(model('ours', ownPrice(3))))?.rates?.tokens.request_token?.price, 3);
    assert.equal(book.look(callOf('', 'ours'))?.rates, null);
  });

  it('has nothing while the control thread does not answer, and asks again', async () => {
    let isThere = false;
    const { asked, book } = setUp(async () => {
      if (asked.length === 1) throw new Error('gone');
      return isThere ? { rates: noRates, isTimely: false } : undefined;
    });
    for (let count = 1; count <= 2; count += 1) {
      await book.load(callOf('m'));
      assert.equal(book.look(callOf('m')), undefined);
    }
    isThere = true;
    await book.load(callOf('m'));
    assert.equal(book.look(callOf('m'))?.rates, noRates);
    assert.equal(asked.length, 3);
  });
});
