import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PlanCache } from '../../../core/plan/plan-cache.js';
import type { Plan } from '../../../core/plan/plan.js';
import { exchangeOf } from '../exchange/fakes.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

/** What the strategy of the package did; it reaches it by a symbol that both sides know. */
interface Witness {
  made: number;
  closed: number;
  fail: boolean;
}
const witness: Witness = { made: 0, closed: 0, fail: false };
Object.defineProperty(globalThis, Symbol.for('test.witness'), { value: witness });

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['watched'] } },
  files: {
    'strategy/watched.js': `import { defineStrategy } from '@gateway/plugin-sdk';
const witness = globalThis[Symbol.for('test.witness')];
export default defineStrategy({ title: 'W', describe: 'W.', params: { type: 'object', properties: {} }, create: async () => {
  if (witness.fail) throw new Error('not now');
  witness.made += 1;
  return { next: () => 0, close: () => { witness.closed += 1; } };
} });`,
  },
});

let cache = new PlanCache(planServices([folder]));
beforeEach(() => {
  cache = new PlanCache(planServices([folder]));
  Object.assign(witness, { made: 0, closed: 0, fail: false });
});

const config = (changes: object = {}): string => JSON.stringify({ strategy: { mode: 'acme.watched' }, targets: [{ provider: 'openai', api_key: 'k' }], ...changes });

function ask(headers: Readonly<Record<string, string>>, workspaceId = 'w1'): Plan | Promise<Plan> {
  const exchange = exchangeOf({ headers });
  exchange.principal = { keyId: 'k', workspaceId, organisationId: 'o' };
  return cache.find(exchange);
}
const byConfig = (text = config(), workspaceId?: string): Plan | Promise<Plan> => ask({ 'x-gateway-config': text }, workspaceId);

describe('the plan cache', () => {
  it('compiles once, and a hit is the same object, at once', async () => {
    const first = byConfig();
    assert.ok(first instanceof Promise);
    const plan = await first;
    assert.equal(byConfig(), plan);
    assert.equal(byConfig(), plan);
    assert.equal(witness.made, 1);
  });

  it('compiles once for all who ask while it does', async () => {
    const asked = [byConfig(), byConfig(), byConfig()];
    assert.ok(asked.every((each) => each === asked[0]));
    const plans = await Promise.all(asked);
    assert.ok(plans.every((plan) => plan === plans[0]));
    assert.equal(witness.made, 1);
  });

  it('keeps apart what differs in workspace, config, provider, host or virtual key', async () => {
    const text = config();
    const plans = await Promise.all([
      byConfig(text), byConfig(text, 'w2'), byConfig(`${text} `), ask({ 'x-gateway-config': text, 'x-gateway-provider': 'groq' }),
      ask({ 'x-gateway-config': text, 'x-gateway-custom-host': 'http://x.example' }), ask({ 'x-gateway-config': text, 'x-gateway-virtual-key': 'v' }),
      ask({ 'x-gateway-provider': 'openai' }),
    ]);
    assert.equal(new Set(plans).size, plans.length);
    assert.equal(witness.made, 6);
    assert.equal(byConfig(text, 'w2'), plans[1]);
  });

  it('keeps apart what is as long and mostly the same, in any order of asking', async () => {
    const texts = Array.from({ length: 10 }, (_, digit) => JSON.stringify({ provider: 'openai', api_key: `key-${digit}`, request_timeout: 1000 }));
    const plans = await Promise.all(texts.map((text) => byConfig(text)));
    assert.equal(new Set(plans).size, texts.length);
    for (let round = 0; round < 3; round += 1) {
      for (const [index, text] of texts.entries()) {
        assert.equal(byConfig(text), plans[index]);
        assert.equal(byConfig(text), plans[index]);
        assert.notEqual(await byConfig(text, 'w2'), plans[index]);
      }
    }
  });

  it('keeps what is in use however many come and go', async () => {
    const plan = await byConfig();
    for (let index = 0; index < 2500; index += 1) {
      if (index % 4 === 0) for (let use = 0; use < 4; use += 1) assert.equal(byConfig(), plan);
      await byConfig(JSON.stringify({ provider: 'openai', api_key: `k${index}` }));
    }
    assert.equal(byConfig(), plan);
    assert.equal(plan.isRetired, false);
  });

  it('cannot be led to another\'s plan by line breaks in a header', async () => {
    const plan = await ask({ 'x-gateway-provider': 'openai', 'x-gateway-custom-host': 'http://a.example' });
    const other = ask({ 'x-gateway-provider': 'openai\nhttp://a.example' });
    assert.notEqual(other, plan);
    await assert.rejects(Promise.resolve(other), { code: 'PROVIDER_UNKNOWN' });
  });

  it('does not keep a config that failed: the next one asking has another go', async () => {
    witness.fail = true;
    const [first, second] = [byConfig(), byConfig()];
    assert.equal(first, second);
    await assert.rejects(Promise.resolve(first), { code: 'PLUGIN_FAILED' });
    witness.fail = false;
    const plan = await byConfig();
    assert.equal(witness.made, 1);
    assert.equal(byConfig(), plan);
  });

  it('rejects what is not a config with a client error, every time', async () => {
    for (const [headers, code] of [
      [{ 'x-gateway-config': '{"provider":' }, 'CONFIG_NOT_JSON'],
      [{ 'x-gateway-config': '{"provider":"openai","api_key":7}' }, 'CONFIG_INVALID'],
      [{ 'x-gateway-config': 'pc-stored-1' }, 'CONFIG_UNKNOWN'],
      [{ 'x-gateway-config': '{"provider":"nobody","api_key":"k"}' }, 'PROVIDER_UNKNOWN'],
      [{ 'x-gateway-provider': 'nobody' }, 'PROVIDER_UNKNOWN'],
      [{ 'x-gateway-virtual-key': 'vk-1' }, 'PROVIDER_SLUG_UNKNOWN'],
    ] as const) {
      for (let count = 0; count < 2; count += 1) await assert.rejects(async () => ask(headers), { code });
    }
    for (const headers of [{}, { 'x-gateway-provider': '' }]) assert.deepEqual((await ask(headers)).awaitsModel, { param: null });
  });
});

describe('strategies of a plan that is dropped', () => {
  it('are closed when no call walks it', async () => {
    await byConfig();
    assert.equal(witness.closed, 0);
    cache.clear();
    assert.equal(witness.closed, 1);
  });

  it('are closed after the last call that walks it, once', async () => {
    const plan = await byConfig();
    cache.acquire(plan);
    cache.acquire(plan);
    cache.clear();
    assert.equal(witness.closed, 0);
    cache.release(plan);
    assert.equal(witness.closed, 0);
    cache.release(plan);
    assert.equal(witness.closed, 1);
  });

  it('stay open while the plan is in use and in the cache', async () => {
    const plan = await byConfig();
    cache.acquire(plan);
    cache.release(plan);
    assert.equal(witness.closed, 0);
    assert.equal(byConfig(), plan);
  });

  it('are closed when newer plans push it out', async () => {
    const oldest = await byConfig();
    cache.acquire(oldest);
    await byConfig(config({ request_timeout: 1 }));
    const text = (index: number): string => JSON.stringify({ provider: 'openai', api_key: `k${index}` });
    for (let index = 0; index < 2000; index += 1) await byConfig(text(index));
    assert.equal(oldest.isRetired, true);
    assert.equal(witness.closed, 1);
    cache.release(oldest);
    assert.equal(witness.closed, 2);
    assert.ok(byConfig(text(1999)) instanceof Promise === false);
    assert.ok(byConfig() instanceof Promise);
    await byConfig();
  });

  it('are closed when the rest of their config turns out to be at fault', async () => {
    const inner = { strategy: { mode: 'acme.watched' }, targets: [{ provider: 'openai', api_key: 'k' }] };
    await assert.rejects(async () => byConfig(JSON.stringify({ strategy: { mode: 'fallback' }, targets: [inner, { provider: 'nobody', api_key: 'k' }] })), { code: 'PROVIDER_UNKNOWN' });
    assert.deepEqual([witness.made, witness.closed], [1, 1]);
  });

  it('are closed when large configs take the room of all', async () => {
    await byConfig();
    const large = (index: number): string => JSON.stringify({ provider: 'openai', api_key: 'k', override_params: { text: 'x'.repeat(60_000), index } });
    for (let index = 0; index < 290 && witness.closed === 0; index += 1) await byConfig(large(index));
    assert.equal(witness.closed, 1);
  });
});
