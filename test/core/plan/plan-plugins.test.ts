import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PlanCache } from '../../../core/plan/plan-cache.js';
import { usesAny } from '../../../core/plan/plan-plugins.js';
import type { Plan } from '../../../core/plan/plan.js';
import { exchangeOf } from '../exchange/fakes.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

/** Reached by the package through a symbol that both sides know. */
const witness = { made: 0, closed: 0, onMake: (): void => undefined };
Object.defineProperty(globalThis, Symbol.for('test.plan-plugins'), { value: witness });
const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['watched'] } },
  files: {
    'strategy/watched.js': `import { defineStrategy } from '@gateway/plugin-sdk';
const witness = globalThis[Symbol.for('test.plan-plugins')];
export default defineStrategy({ title: 'W', describe: 'W.', params: { type: 'object', properties: {} }, create: async () => {
  witness.made += 1;
  witness.onMake();
  return { next: () => 0, close: () => { witness.closed += 1; } };
} });`,
  },
});

let cache = new PlanCache(planServices([folder]));
beforeEach(() => {
  cache = new PlanCache(planServices([folder]));
  Object.assign(witness, { made: 0, closed: 0, onMake: () => undefined });
});

function planOf(config: object): Plan | Promise<Plan> {
  const exchange = exchangeOf({ headers: { 'x-gateway-config': JSON.stringify(config) } });
  exchange.principal = { keyId: 'k', workspaceId: 'w', organisationId: 'o' };
  return cache.find(exchange);
}
const target = { provider: 'openai', api_key: 'k' };
const watched = { strategy: { mode: 'acme.watched' }, targets: [target] };

describe('the plugins of a plan', () => {
  it('are its strategies, providers, caches, hook types and checks, those that are missing too', async () => {
    const plan = await planOf({
      strategy: { mode: 'fallback' },
      targets: [
        { ...watched, input_guardrails: [{ 'default.wordCount': { minWords: 1, maxWords: 9 } }] },
        { provider: 'groq', api_key: 'k', cache: { mode: 'simple' }, output_guardrails: [{ 'elsewhere.later': {} }, { async: true, 'default.characterCount': { minCharacters: 0, maxCharacters: 9 } }] },
      ],
    });
    for (const plugin of [
      'strategy/fallback', 'strategy/acme.watched', 'provider/openai', 'provider/groq', 'cache/simple', 'hook/guardrail', 'guardrail/default.wordCount', 'guardrail/elsewhere.later',
      'guardrail/default.characterCount',
    ]) assert.ok(usesAny(plan, new Set([plugin])), plugin);
    for (const plugin of ['strategy/loadbalance', 'provider/anthropic', 'cache/semantic', 'hook/mutator', 'guardrail/wordCount', 'guardrail/default.contains', 'provider/fallback']) {
      assert.ok(!usesAny(plan, new Set([plugin])), plugin);
    }
  });
});

describe('plugins that change', () => {
  it('take the plans that use them out of the cache, and leave the others', async () => {
    const [using, other] = [await planOf(watched), await planOf(target)];
    cache.dropUsing(new Set(['strategy/acme.watched']));
    assert.ok(using.isRetired && !other.isRetired);
    assert.equal(witness.closed, 1);
    assert.equal(planOf(target), other);
    assert.notEqual(await planOf(watched), using);
  });

  it('leave open calls on the plan they are on, which closes with the last of them', async () => {
    const plan = await planOf(watched);
    cache.acquire(plan);
    cache.acquire(plan);
    cache.dropUsing(new Set(['strategy/acme.watched']));
    assert.equal(witness.closed, 0);
    cache.release(plan);
    assert.equal(witness.closed, 0);
    cache.release(plan);
    assert.equal(witness.closed, 1);
  });

  it('while a plan is compiled have it compiled again', async () => {
    witness.onMake = () => { if (witness.made === 1) cache.dropUsing(new Set(['strategy/acme.watched'])); };
    const plan = await planOf(watched);
    assert.deepEqual([witness.made, witness.closed], [2, 1]);
    assert.ok(!plan.isRetired);
    assert.equal(planOf(watched), plan);
  });

  it('for ever do not keep a call waiting for ever', async () => {
    witness.onMake = () => cache.dropUsing(new Set(['strategy/acme.watched']));
    const plan = await planOf(watched);
    assert.deepEqual([witness.made, witness.closed], [5, 4]);
    assert.ok(!plan.isRetired);
  });
});
