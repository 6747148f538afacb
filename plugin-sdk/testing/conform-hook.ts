import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckResult, Hook, HookPlugin } from '../src/kinds/hook.js';
import { fakeExchange } from './fake-exchange.js';
import { fakeHost } from './fake-host.js';
import { withDefaults } from './schema-defaults.js';

export interface HookCase {
  readonly params?: Readonly<Record<string, unknown>>;
  /** One for each check: passed, failed, errored, or errored where errors count as failures. */
  readonly results: readonly ('pass' | 'fail' | 'error' | 'error that counts')[];
  readonly pass: boolean;
  readonly deny: boolean;
}

/** Registers the tests that every hook type has to pass, and its cases. */
export function conformHook(plugin: HookPlugin, cases: readonly HookCase[]): void {
  const make = async (params: Readonly<Record<string, unknown>> = {}): Promise<Hook> => await plugin.create(withDefaults(plugin.params, params), fakeHost());

  describe(`hook plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description, an object schema and stages', () => {
      assert.equal(plugin.kind, 'hook');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
      assert.ok(plugin.stages.length > 0);
    });

    it('says in what order its checks run', async () => {
      const hook = await make();
      assert.ok(hook.order === 'together' || hook.order === 'inTurn');
      await hook.close?.();
      await hook.close?.();
    });

    it('decides without results, changes none of them, and decides alike each time', async () => {
      const hook = await make();
      for (const stage of plugin.stages) {
        const results = Object.freeze([resultOf('fail', 0), resultOf('pass', 1)].map((result) => Object.freeze(result)));
        const first = hook.decide(results, stage, fakeExchange());
        assert.equal(typeof first.pass, 'boolean');
        assert.equal(typeof first.deny, 'boolean');
        assert.deepEqual(hook.decide(results, stage, fakeExchange()), first);
        assert.equal(typeof hook.decide([], stage, fakeExchange()).pass, 'boolean');
      }
    });

    for (const { params, results, pass, deny } of cases) {
      it(`${pass ? 'passes' : 'fails'}${deny ? ' and denies' : ''} with ${JSON.stringify(params ?? {})} when its checks say ${results.join(', ') || 'nothing'}`, async () => {
        const hook = await make(params);
        for (const stage of plugin.stages) assert.deepEqual(hook.decide(results.map(resultOf), stage, fakeExchange()), { pass, deny });
      });
    }
  });
}

function resultOf(outcome: HookCase['results'][number], index: number): CheckResult {
  const base = { id: `default.check${index}`, tookMs: 0.1, failOnError: outcome === 'error that counts' };
  return outcome === 'pass' || outcome === 'fail' ? { ...base, verdict: { pass: outcome === 'pass' } } : { ...base, error: new Error('out of order') };
}
