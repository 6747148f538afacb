import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { noUsage, type Usage } from '../../../core/exchange/usage.js';
import { adjustmentsOf, centsMax, costOf } from '../../../core/limits/cost.js';
import { noRates, priceTable, withOwnPrices, type Rates } from '../../../core/limits/prices.js';
import fc from '../../support/fast-check.js';

const atMs = Date.UTC(2026, 8, 1, 12);
const table = await priceTable();
const providers = ['anthropic', 'avian', 'aws', 'azure', 'cerebras', 'cohere', 'deepseek', 'fireworks', 'google', 'groq', 'huggingface_together', 'mistral', 'moonshotai', 'novita', 'openai', 'openrouter', 'ovhcloud', 'perplexity', 'together', 'voyageai', 'x-ai', 'zai', 'zhipuai'];
/** Some ids stand for several regions and are the name of no model. */
const models = providers.flatMap((provider) => table.modelsOf(provider).flatMap((model) => (table.find(provider, model, atMs) === undefined ? [] : [[provider, model] as const])));

const rate = (price: number): Rates['tokens']['request_token'] => ({ price, tiers: [] });
const use = (changes: Partial<Usage>): Usage => ({ ...noUsage, ...changes });
const near = (actual: number, expected: number, message?: string): void => assert.ok(Math.abs(actual - expected) < 1e-6, `${message ?? ''} ${actual} instead of ${expected}`);

/** Kinds that share no token, in the words of the package for what they are part of. */
const count = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300_000 }));
const kinds = fc.record({
  input: count, cached: count, cachedAudio: count, cachedImage: count, written: count, longWritten: count, audio: count, image: count, video: count,
  output: count, reasoning: count, outputAudio: count, outputImage: count, outputVideo: count, citation: count, webSearches: fc.nat(50), fileSearches: fc.nat(50), seconds: fc.integer({ min: 10, max: 9_999 }), pages: fc.nat(500),
});
type Kinds = typeof kinds extends fc.Arbitrary<infer Value> ? Value : never;

function usageOf(given: Kinds): Usage {
  return use({
    inputTokens: inputOf(given), outputTokens: outputOf(given), totalTokens: inputOf(given) + outputOf(given),
    cachedTokens: given.cached + given.cachedAudio + given.cachedImage, cacheWriteTokens: given.written + given.longWritten, inputAudioTokens: given.audio + given.cachedAudio,
    inputImageTokens: given.image + given.cachedImage, reasoningTokens: given.reasoning, outputAudioTokens: given.outputAudio, outputImageTokens: given.outputImage,
    units: {
      cache_read_audio_input_token: given.cachedAudio, cache_read_image_input_token: given.cachedImage, cache_write_1h_input_token: given.longWritten, request_video_token: given.video,
      response_video_token: given.outputVideo, citation_token: given.citation, web_search: given.webSearches, file_search: given.fileSearches, audio_hour: given.seconds / 3600, document_page: given.pages,
    },
  });
}
const inputOf = (given: Kinds): number => given.input + given.cached + given.cachedAudio + given.cachedImage + given.written + given.longWritten + given.audio + given.image + given.video;
const outputOf = (given: Kinds): number => given.output + given.reasoning + given.outputAudio + given.outputImage + given.outputVideo + given.citation;

/** What the package asks for the same, in cents. */
function recomputed(provider: string, model: string, given: Kinds): number {
  const found = findProvider({ providerId: provider });
  assert.ok(found);
  const price = calcPrice({
    input_tokens: inputOf(given), output_tokens: outputOf(given), cache_read_tokens: given.cached + given.cachedAudio + given.cachedImage, cache_audio_read_tokens: given.cachedAudio, cache_image_read_tokens: given.cachedImage,
    cache_write_tokens: given.written + given.longWritten, cache_write_1h_tokens: given.longWritten, input_audio_tokens: given.audio + given.cachedAudio, input_image_tokens: given.image + given.cachedImage, input_video_tokens: given.video,
    cache_video_read_tokens: 0, output_reasoning_tokens: given.reasoning, output_audio_tokens: given.outputAudio, output_image_tokens: given.outputImage, output_video_tokens: given.outputVideo, output_citation_tokens: given.citation,
    web_searches: given.webSearches, storage_searches: given.fileSearches, audio_seconds: given.seconds, input_audio_seconds: given.seconds, input_document_pages: given.pages,
  }, model, { provider: found, timestamp: new Date(atMs) });
  assert.ok(price);
  return price.total_price * 100;
}

describe('the cost of a call', () => {
  it('is what the package computes by itself, for every kind of token and unit, of any model', () => {
    assert.ok(models.length > 500, `${models.length} models`);
    fc.assert(fc.property(fc.nat(models.length - 1), kinds, (index, given) => {
      const [provider, model] = models[index] as (typeof models)[number];
      const rates = table.find(provider, model, atMs)?.rates;
      assert.ok(rates);
      const cents = costOf(rates, usageOf(given));
      // Dear models with much to pay for have no more digits.
      const expected = recomputed(provider, model, given);
      assert.ok(Math.abs(cents - expected) < Math.max(1e-6, expected * 1e-12), `${provider} ${model}: ${cents} instead of ${expected}`);
    }), { numRuns: 3_000 });
  });

  it('takes every rate of the table into account', () => {
    const none: Kinds = { input: 0, cached: 0, cachedAudio: 0, cachedImage: 0, written: 0, longWritten: 0, audio: 0, image: 0, video: 0, output: 0, reasoning: 0, outputAudio: 0, outputImage: 0, outputVideo: 0, citation: 0, webSearches: 0, fileSearches: 0, seconds: 10, pages: 0 };
    for (const [provider, model] of models) {
      const rates = table.find(provider, model, atMs)?.rates ?? noRates;
      for (const kind of Object.keys(none) as (keyof Kinds)[]) near(costOf(rates, usageOf({ ...none, [kind]: 1_000 })), recomputed(provider, model, { ...none, [kind]: 1_000 }), `${provider} ${model} ${kind}`);
    }
  });

  it('goes by the input for tiers, cached tokens included', () => {
    const rates: Rates = { tokens: { request_token: { price: 1, tiers: [{ above: 100, price: 2 }] }, cache_read_input_token: { price: 0.1, tiers: [{ above: 100, price: 0.5 }] }, response_token: { price: 10, tiers: [{ above: 100, price: 20 }] } }, units: {} };
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 50, outputTokens: 1 })), 50 + 5 + 10);
    near(costOf(rates, use({ inputTokens: 101, cachedTokens: 50, outputTokens: 1 })), 102 + 25 + 20);
  });

  it('falls back to the ordinary rates, and to nothing where there are none', () => {
    const rates: Rates = { tokens: { request_token: rate(1), response_token: rate(10) } as Rates['tokens'], units: {} };
    const all = use({ inputTokens: 100, cachedTokens: 10, cacheWriteTokens: 10, inputAudioTokens: 10, inputImageTokens: 10, outputTokens: 50, reasoningTokens: 10, outputAudioTokens: 10, outputImageTokens: 10, units: { web_search: 3, cache_write_1h_input_token: 5, citation_token: 2 } });
    near(costOf(rates, all), 100 + 500);
    near(costOf(noRates, all), 0);
    near(costOf(null, all), 0);
    near(costOf(rates, noUsage), 0);
  });

  it('never charges for less than nothing where the counts of a provider do not add up', () => {
    const rates: Rates = { tokens: { request_token: rate(1), cache_read_input_token: rate(0.1), response_token: rate(10), reasoning_token: rate(5) } as Rates['tokens'], units: {} };
    near(costOf(rates, use({ inputTokens: 5, cachedTokens: 10, outputTokens: 1, reasoningTokens: 4 })), 1 + 20);
    near(costOf(rates, use({ inputTokens: 5, cachedTokens: -1, outputTokens: -1 })), 5);
    near(costOf(rates, use({ totalTokens: 7 })), 7);
    near(costOf(rates, use({ totalTokens: 7, outputTokens: 2 })), 5 + 20);
  });

  it('takes sound and images that can only have come out of a cache for cached ones, so that none is paid for twice', () => {
    const rates: Rates = { tokens: { request_token: rate(1), request_audio_token: rate(100), request_image_token: rate(1_000), cache_read_input_token: rate(0.5), cache_read_audio_input_token: rate(10), cache_read_image_input_token: rate(20) } as Rates['tokens'], units: {} };
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 80, inputAudioTokens: 90 })), 70 * 10 + 10 * 0.5 + 20 * 100);
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 80, inputImageTokens: 90 })), 70 * 20 + 10 * 0.5 + 20 * 1_000);
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 100, inputAudioTokens: 60, inputImageTokens: 40 })), 60 * 10 + 40 * 20);
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 20, inputAudioTokens: 80 })), 20 * 0.5 + 80 * 100, 'they may have been text');
    near(costOf(rates, use({ inputTokens: 100, cachedTokens: 80, inputAudioTokens: 90, units: { cache_read_audio_input_token: 75 } })), 75 * 10 + 5 * 0.5 + 15 * 100 + 5);
  });

  it('is half in a batch, and for each request where the table says so', () => {
    const rates: Rates = { tokens: { request_token: rate(1) } as Rates['tokens'], units: { request: { price: 8, tiers: [] } } };
    near(costOf(rates, use({ inputTokens: 2 })), 10);
    near(costOf(rates, use({ inputTokens: 2 }), { isBatch: true }), 5);
    near(costOf(rates, noUsage), 0, 'an answer that told no usage');
  });

  it('is a number that the ledger can hold, whatever prices and factors are stated', () => {
    const use = { ...noUsage, inputTokens: 10, outputTokens: 20, totalTokens: 30 };
    const rates = withOwnPrices(noRates, { pay_as_you_go: { request_token: { price: 1e308 }, response_token: { price: 1e308 }, additional_units: { request: { price: 1e308 } } } });
    assert.equal(costOf(rates, use), centsMax);
    assert.equal(costOf(rates, use, { adjustments: adjustmentsOf({ multiplier: { default: 0 } }) }), 0);
    assert.equal(costOf(rates, use, { adjustments: adjustmentsOf({ multiplier: { default: 1e308 } }) }), centsMax);
    const free = withOwnPrices(noRates, { pay_as_you_go: { request_token: { price: 0 } } });
    assert.equal(costOf(free, use, { adjustments: adjustmentsOf({ multiplier: { default: Infinity } }) }), 0);
  });

  it('is adjusted kind by kind, the default for the others', () => {
    const rates: Rates = { tokens: { request_token: rate(1), cache_read_input_token: rate(1), response_token: rate(1), request_audio_token: rate(1) } as Rates['tokens'], units: { web_search: { price: 1, tiers: [] }, file_search: { price: 1, tiers: [] } } };
    const given = use({ inputTokens: 111, cachedTokens: 10, inputAudioTokens: 1, outputTokens: 1_000, units: { web_search: 10_000, file_search: 100_000 } });
    const cost = (multiplier: object): number => costOf(rates, given, { adjustments: adjustmentsOf({ multiplier }) });
    near(cost({ default: 2 }), 222_222);
    near(cost({ default: 2, cache_read_input_token: 0, additional_units: { web_search: 3 } }), 200 + 0 + 2 + 2_000 + 30_000 + 200_000);
    near(cost({ request_token: 5 }), 500 + 10 + 1 + 1_000 + 10_000 + 100_000);
    near(cost({ request_text_token: 5, response_text_token: 0, request_audio_token: null }), 500 + 10 + 1 + 10_000 + 100_000);
    near(cost({ default: 0 }), 0);
    for (const nothing of [null, {}, { multiplier: null }, { multiplier: {} }, { multiplier: { default: 1 } }, { multiplier: { request_token: null, additional_units: null } }]) assert.equal(adjustmentsOf(nothing), null, JSON.stringify(nothing));
  });

  it('goes by the prices of the operator, and by those of the table for other kinds', () => {
    const rates = withOwnPrices(table.find('openai', 'gpt-4o', atMs)?.rates ?? noRates, { pay_as_you_go: { request_token: { price: 1 } } });
    near(costOf(rates, use({ inputTokens: 10, cachedTokens: 4, outputTokens: 1 })), 6 + 4 * 0.000125 + 0.001);
  });
});
