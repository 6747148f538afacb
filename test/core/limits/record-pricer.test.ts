import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleLogRecord } from '@gateway/plugin-sdk/testing';
import type { LogRecord } from '@gateway/plugin-sdk';
import { DecisionLog } from '../../../core/exchange/decision-log.js';
import { priceTable } from '../../../core/limits/prices.js';
import { readPriceNote } from '../../../core/limits/price-note.js';
import { RecordPricer, type Pricing, type RecordPricerOptions } from '../../../core/limits/record-pricer.js';

const recordOf = (changes: Partial<LogRecord>): LogRecord => ({
  ...sampleLogRecord(), provider: 'openai', providerSlug: '', workspaceId: 'w', model: 'gpt-4o', status: 200, cost: -1, saved: 0, isPriced: false, cacheStatus: 'DISABLED', endpoint: 'chatCompletions', decision: '', startedAtMs: Date.UTC(2026, 8, 1),
  inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100, cachedTokens: -1, cacheWriteTokens: -1, inputAudioTokens: -1, inputImageTokens: -1, reasoningTokens: -1, outputAudioTokens: -1, outputImageTokens: -1, ...changes,
});
const plain = 0.25 + 0.1;

function setUp(changes: Partial<RecordPricerOptions> = {}) {
  const clock = { nowMs: 1_000_000, revision: 1 };
  const asked: string[] = [];
  const pricer = new RecordPricer({
    loadTable: priceTable, tableName: async (provider) => provider, revision: () => clock.revision, onFault: (thrown) => asked.push(String(thrown)), now: () => clock.nowMs,
    integration: async (workspaceId, slug) => { asked.push(`${workspaceId}/${slug}`); return { models: [], pricingAdjustments: { multiplier: { default: 2 } } }; }, ...changes,
  });
  const priceOf = async (record: LogRecord): Promise<Pricing | undefined> => {
    for (let tries = 0; tries < 3; tries += 1) {
      const pricing = pricer.price(record);
      if (pricing !== undefined) return pricing;
      await pricer.load();
    }
    return undefined;
  };
  return { clock, asked, pricer, priceOf };
}
const near = (pricing: Pricing | undefined, cost: number, saved = 0, isPriced = true): void => {
  assert.ok(pricing);
  assert.ok(Math.abs(pricing.cost - cost) < 1e-6 && Math.abs(pricing.saved - saved) < 1e-6 && pricing.isPriced === isPriced, JSON.stringify(pricing));
};

describe('the pricer of records', () => {
  it('reads an integration once, until rows change or a while has passed', async () => {
    const { clock, asked, priceOf } = setUp();
    const record = recordOf({ providerSlug: 'main' });
    near(await priceOf(record), 2 * plain);
    near(await priceOf(record), 2 * plain);
    assert.deepEqual(asked, ['w/main']);
    clock.revision += 1;
    await priceOf(record);
    assert.equal(asked.length, 2);
    clock.nowMs += 5_000;
    await priceOf(record);
    assert.equal(asked.length, 3);
  });

  it('leaves what was priced before as it is, and asks nothing for calls that cost nothing', async () => {
    const { asked, pricer } = setUp({ loadTable: () => assert.fail('the table was loaded') });
    assert.deepEqual(pricer.price(recordOf({ cost: 5, saved: 0, isPriced: true })), { cost: 5, saved: 0, isPriced: true });
    const nothing = { inputTokens: -1, outputTokens: -1, totalTokens: -1 };
    near(pricer.price(recordOf({ provider: '' })), 0);
    near(pricer.price(recordOf({ model: '', ...nothing })), 0);
    near(pricer.price(recordOf({ status: 429, ...nothing })), 0);
    near(pricer.price(recordOf({ model: '' })), 0, 0, false);
    assert.deepEqual(asked, []);
  });

  it('counts a batch and a stored response once, however often they are read', async () => {
    const { priceOf } = setUp();
    const read = (endpoint: LogRecord['endpoint'], path: string): Promise<Pricing | undefined> => priceOf(recordOf({ endpoint, path }));
    near(await read('batches', '/v1/batches/b1'), plain / 2);
    near(await read('batches', '/v1/batches/b1?again=1'), 0);
    near(await read('responses', '/v1/responses/r1'), plain);
    near(await read('responses', '/v1/responses/r1?stream=true'), 0);
    near(await read('responses', '/v1/responses/r1/cancel'), 0);
    near(await read('responses', '/v1/responses/r2'), plain);
    for (let call = 0; call < 2; call += 1) near(await read('responses', '/v1/responses'), plain);
  });

  it('counts what is read through the proxy once as well, and no list of such objects', async () => {
    const { priceOf } = setUp();
    const read = (endpoint: LogRecord['endpoint'], path: string, method = 'GET'): Promise<Pricing | undefined> => priceOf(recordOf({ endpoint, path, method }));
    near(await read('batches', '/v1/batches'), 0);
    near(await read('batches', '/v1/batches?limit=2'), 0);
    near(await read('batches', '/v1/batches/b1'), plain / 2);
    for (const list of ['/v1/proxy/v1/batches', '/v1/proxy/batches?limit=1', '/v1/proxy/v1/chat/completions?limit=1', '/v1/proxy/v1/messages/batches/']) near(await read('proxy', list), 0);
    near(await read('proxy', '/v1/proxy/v1/batches/b1'), 0, 0);
    near(await read('proxy', '/v1/proxy/v1/batches/b2'), plain / 2);
    near(await read('proxy', '/v1/proxy/v1/batches/b2', 'HEAD'), 0);
    near(await read('proxy', '/v1/proxy/v1/chat/completions/c1'), plain);
    near(await read('proxy', '/v1/proxy/v1/chat/completions/c1', 'DELETE'), 0);
    for (let call = 0; call < 2; call += 1) near(await read('proxy', '/v1/proxy/v1/chat/completions', 'POST'), plain);
  });

  it('leaves records unpriced while rows cannot be read, and tries again', async () => {
    let isBroken = true;
    const { clock, asked, pricer, priceOf } = setUp({ integration: async () => { if (isBroken) throw new Error('damaged'); return null; } });
    const record = recordOf({ providerSlug: 'main' });
    near(await priceOf(record), -1, 0, false);
    near(pricer.price(record), -1, 0, false);
    assert.deepEqual(asked, ['Error: damaged']);
    near(await priceOf(recordOf({})), plain);
    isBroken = false;
    clock.nowMs += 1_000;
    near(await priceOf(record), plain);
  });

  it('goes by what is said of the price beside: another name, units, a batch', async () => {
    const { priceOf } = setUp();
    const decided = (decision: object): string => {
      const log = new DecisionLog();
      log.add({ about: 'target', why: 'it says "about":"price"' });
      log.add({ about: 'price', ...decision });
      return log.logged();
    };
    near(await priceOf(recordOf({ model: 'their-name', decision: decided({ asked: 'gpt-4o' }) })), plain);
    near(await priceOf(recordOf({ decision: decided({ units: { web_search: 2 } }) })), plain + 2);
    near(await priceOf(recordOf({ decision: decided({ isBatch: true }) })), plain / 2);
    near(await priceOf(recordOf({ cacheStatus: 'SHARED', decision: decided({ units: { web_search: 2 } }) })), 0, plain + 2);
    for (const odd of ['', '[', '{"about":"price"}', '[{"about":"price","units":[],"asked":5}]', '[{"about":"price","units":{"web_search":"2"}}]', '[null,{"about":"price"}]']) assert.deepEqual(readPriceNote(odd), { asked: '', units: null, isBatch: false }, odd);
  });
});
