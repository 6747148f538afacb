import type { CheckResult, HookDecision, Verdict } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hookResult } from '../../../core/pipeline/hooks/hook-result.js';
import type { CompiledHook } from '../../../core/plan/hooks.js';

const hookOf = (more: Partial<CompiledHook> = {}): CompiledHook => ({
  id: 'my "hook"', type: 'guardrail', stage: 'before', isAsync: false, hook: { order: 'together', decide: () => passed }, checks: [], steps: [], onSuccess: null, onFail: null, mayDeny: true, isSoft: false, stored: null, ...more,
});
const passed: HookDecision = { pass: true, deny: false };
const resultOf = (verdict: Verdict, more: Partial<CheckResult> = {}): CheckResult => ({ id: 'default.words', tookMs: 0.1234567, verdict, failOnError: false, ...more });
const said = (results: readonly CheckResult[], decision = passed, hook = hookOf(), tookMs = 1.5): any => JSON.parse(hookResult(hook, results, decision, tookMs).text);

describe('the result of a hook', () => {
  it('has its members and those of its checks in their order', () => {
    const { text } = hookResult(hookOf(), [resultOf({ pass: true, data: { words: 3 } }), resultOf({ pass: true }, { id: 'acme.other', tookMs: 0 })], passed, 12.00049);
    const at = /"created_at":"([^"]+)"/.exec(text)?.[1] ?? '';
    assert.equal(new Date(at).toISOString(), at);
    assert.equal(text, '{"verdict":true,"id":"my \\"hook\\"","transformed":false,"checks":['
      + `{"data":{"words":3},"verdict":true,"id":"default.words","execution_time":0.123,"transformed":false,"created_at":"${at}","log":null,"fail_on_error":false},`
      + `{"data":null,"verdict":true,"id":"acme.other","execution_time":0,"transformed":false,"created_at":"${at}","log":null,"fail_on_error":false}`
      + `],"feedback":null,"execution_time":12,"async":false,"type":"guardrail","created_at":"${at}","deny":false}`);
  });

  it('has times of three decimals at the most, whatever they are', () => {
    for (const [tookMs, shown] of [[0, 0], [0.0004, 0], [0.0005, 0.001], [0.05, 0.05], [0.9994, 0.999], [0.9995, 1], [1, 1], [1.0006, 1.001], [999.9999, 1000], [123456.789, 123456.789]] as const) {
      assert.equal(said([], passed, hookOf(), tookMs).execution_time, shown);
    }
  });

  it('says what each check says, though the same frozen verdict comes from several and again and again', () => {
    const verdict = Object.freeze({ pass: true, data: Object.freeze({ explanation: 'nothing found' }) });
    for (const id of ['a', 'a', 'b', 'a']) {
      const [check] = said([resultOf(verdict, { id, failOnError: id === 'b', tookMs: 2 })]).checks;
      assert.deepEqual([check.id, check.fail_on_error, check.data, check.execution_time], [id, id === 'b', { explanation: 'nothing found' }, 2]);
    }
    const failed = Object.freeze({ pass: false, why: 'found' });
    assert.deepEqual(said([resultOf(failed)]).checks[0].data, { explanation: 'found' });
    const errored = said([resultOf(verdict), { id: 'a', tookMs: 1, error: new Error('late'), failOnError: true }]).checks[1];
    assert.deepEqual([errored.verdict, errored.error], [false, { name: 'Check error', message: 'late' }]);
  });

  it('has the time at which it was made, of a hook and checks that were seen before', (context) => {
    let now = Date.parse('2026-01-02T03:04:05.006Z');
    context.mock.method(Date, 'now', () => now);
    const verdict = Object.freeze({ pass: true });
    const hook = hookOf();
    const other = hookOf({ id: 'other', isAsync: true });
    for (const stepMs of [0, 0, 1, 0, 86_400_000, -1]) {
      now += stepMs;
      const at = new Date(now).toISOString();
      for (const each of [hook, other, hook]) {
        const { id, async: isAsync, created_at, checks } = said([resultOf(verdict), resultOf(verdict, { failOnError: true }), resultOf(verdict)], passed, each);
        assert.deepEqual([id, isAsync, created_at, ...checks.map((check: { readonly created_at: string }) => check.created_at)], [each.id, each.isAsync, at, at, at, at]);
      }
    }
  });

  it('reads a verdict that is not frozen each time: its check may have changed it', () => {
    const verdict = { pass: true, data: { count: 1 } };
    assert.equal(said([resultOf(verdict)]).checks[0].data.count, 1);
    verdict.data.count = 2;
    assert.equal(said([resultOf(verdict)]).checks[0].data.count, 2);
  });

  it('says what changed and what errs, and is short for the log only where nothing did', () => {
    const quiet = hookResult(hookOf(), [resultOf({ pass: true, data: { words: 3 } })], passed, 0.5);
    assert.equal(quiet.logged, '{"verdict":true,"id":"my \\"hook\\"","execution_time":0.5}');
    const edits = [{ piece: 0, from: 0, to: 1, text: '' }];
    const loud: readonly [readonly CheckResult[], HookDecision, CompiledHook][] = [
      [[resultOf({ pass: true, edits })], passed, hookOf()],
      [[{ id: 'a', tookMs: 1, error: new Error('late'), failOnError: false }], passed, hookOf()],
      [[resultOf({ pass: false })], { pass: false, deny: false }, hookOf()],
      [[resultOf({ pass: true })], { pass: true, deny: true }, hookOf()],
      [[resultOf({ pass: true })], passed, hookOf({ onSuccess: { value: 1 } })],
    ];
    for (const [results, decision, hook] of loud) {
      const { text, logged } = hookResult(hook, results, decision, 1);
      assert.equal(logged, text);
    }
    const changed = said([resultOf({ pass: true, edits })]);
    assert.deepEqual([changed.transformed, changed.checks[0].transformed], [true, true]);
    const unheard = said([resultOf({ pass: true, edits })], { pass: true, deny: true }, hookOf({ isAsync: true }));
    assert.deepEqual([unheard.transformed, unheard.checks[0].transformed, unheard.async, unheard.deny], [false, false, true, false]);
  });

  it('of data that is not JSON says so', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const [check] = said([resultOf({ pass: true, data: circle as never })]).checks;
    assert.equal(check.data, null);
    assert.match(check.error.message, /^its data is not JSON: /);
  });
});
