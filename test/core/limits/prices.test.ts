import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { noRates, priceAt, priceTable, withOwnPrices } from '../../../core/limits/prices.js';

import { Registry } from '../../../core/registry/registry.js';

const atMs = Date.UTC(2026, 8, 1, 12);
const table = await priceTable();

describe('the table of prices', () => {
  it('is loaded once, and fetches nothing', async () => {
    const { fetch } = globalThis;
    globalThis.fetch = () => assert.fail('something was fetched');
    try {
      assert.equal(await priceTable(), table);
      assert.ok(table.find('openai', 'gpt-4o', atMs));
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('has cents for each token, context length, and what is counted otherwise', () => {
    const model = table.find('openai', 'gpt-4o-2024-08-06', atMs);
    assert.ok(model);
    assert.deepEqual([model.id, model.contextLength, model.isDeprecated], ['gpt-4o', 128_000, false]);
    const { tokens, units } = model.rates;
    assert.deepEqual([tokens.request_token, tokens.response_token, tokens.cache_read_input_token], [{ price: 0.00025, tiers: [] }, { price: 0.001, tiers: [] }, { price: 0.000125, tiers: [] }]);
    assert.deepEqual([units.web_search, units.file_search], [{ price: 1, tiers: [] }, { price: 0.25, tiers: [] }]);
  });

  it('has tiers by the input of a call', () => {
    const rate = table.find('google', 'gemini-2.5-pro', atMs)?.rates.tokens.request_token;
    assert.deepEqual(rate, { price: 0.000125, tiers: [{ above: 200_000, price: 0.00025 }] });
    assert.deepEqual([0, 200_000, 200_001].map((tokens) => priceAt(rate, tokens)), [0.000125, 0.000125, 0.00025]);
  });

  it('knows prices by their time', () => {
    const found = ['2026-09-01T00:40:00Z', '2026-09-01T20:00:00Z'].map((time) => table.modelsOf('deepseek').map((model) => table.find('deepseek', model, Date.parse(time))?.rates.tokens.request_token?.price));
    assert.notDeepEqual(found[0], found[1], 'no model costs another price at another time of day');
    // The same time again gives the same, from memory.
    assert.deepEqual(table.modelsOf('deepseek').map((model) => table.find('deepseek', model, Date.parse('2026-09-01T00:40:00Z'))?.rates.tokens.request_token?.price), found[0]);
  });

  it('has no provider under a name that only holds its name, and no model that it does not know', () => {
    assert.equal(table.find('my-openai', 'gpt-4o', atMs), undefined);
    assert.equal(table.find('openai', 'no-such-model', atMs), undefined);
    assert.equal(table.find('openai', 'x'.repeat(10_000), atMs), undefined);
    for (const odd of ['', '__proto__', 'constructor', '(', '\n']) assert.equal(table.find(odd, odd, atMs), undefined, odd);
    assert.deepEqual(table.modelsOf('nobody'), []);
  });

  it('finds a model that it has been asked for in no time', () => {
    table.find('anthropic', 'claude-sonnet-4-5', atMs);
    const started = process.cpuUsage().user;
    for (let index = 0; index < 10_000; index += 1) table.find('anthropic', 'claude-sonnet-4-5', atMs);
    // 100 us each without its memory.
    const tookMs = (process.cpuUsage().user - started) / 1000;
    assert.ok(tookMs < 500, `${tookMs} ms`);
  });

  it('gives way to prices of the operator, kind by kind', () => {
    const rates = table.find('openai', 'gpt-4o', atMs)?.rates ?? noRates;
    const own = withOwnPrices(rates, { pay_as_you_go: { request_token: { price: 0.5 }, response_token: null, additional_units: { web_search: { price: 7 }, seat: { price: 1 } } } });
    assert.deepEqual([own.tokens.request_token?.price, own.tokens.response_token?.price, own.units.web_search?.price, own.units.seat?.price, own.units.file_search?.price], [0.5, 0.001, 7, 1, 0.25]);
    assert.deepEqual(withOwnPrices(noRates, null), noRates);
  });
});

it('has every provider under the name that its plugin says', async () => {
  const registry = new Registry({ packages: [], fromFolder: process.cwd(), hostOf: () => fakeHost() });
  const named: string[] = [];
  for (const id of registry.list('provider')) {
    const name = (await registry.find('provider', id))?.priceTable;
    if (name === undefined) continue;
    named.push(id);
    assert.ok(table.modelsOf(name).length > 0, `${id}: the table has no provider ${name}`);
    assert.deepEqual(table.modelsOf(id), [], `${id} needs no other name`);
  }
  assert.ok(named.length >= 10, named.join(', '));
});
