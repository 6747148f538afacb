import type { CheckResult, Verdict } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { Subject } from '../../../core/pipeline/hooks/check-run.js';
import { HookRun } from '../../../core/pipeline/hooks/hook-run.js';
import type { CompiledCheck, CompiledHook } from '../../../core/plan/hooks.js';

function runOf(): HookRun {
  const exchange = new Exchange(new RequestHead(), chatCompletions, '', {} as never, {} as never, { parse: (bytes) => JSON.parse(Buffer.from(bytes).toString()), field: () => undefined });
  const body = { messages: [{ role: 'user', content: 'hi' }] };
  exchange.parsed = body;
  return new HookRun(new Subject('before', exchange, body, 0));
}

function hookOf(evaluates: readonly (() => Verdict)[], seen: (results: readonly CheckResult[]) => void): CompiledHook {
  const checks: CompiledCheck[] = evaluates.map((evaluate, index) => ({
    id: `check${index}`, check: { evaluate }, missing: null, timeoutMs: 60_000, failOnError: false, changes: false, streams: false, lookBackMax: 0, runs: 'loop', pooled: null, when: null, budget: null,
  }));
  const decide: CompiledHook['hook']['decide'] = (results) => {
    seen(results);
    return { pass: true, deny: false };
  };
  return { id: 'h', type: 'guardrail', stage: 'before', isAsync: false, hook: { order: 'together', decide }, checks, steps: [checks], onSuccess: null, onFail: null, mayDeny: true, isSoft: false, stored: null };
}

/** Until the clock says that so much has passed, however busy the machine. */
const busy = (milliseconds: number) => (): Verdict => {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
  return { pass: true };
};

describe('a run of many checks', () => {
  it('stays in one turn as long as it is short, without a promise', (context) => {
    let results: readonly CheckResult[] = [];
    // A busy machine may take the processor away in the middle of a turn.
    const now = performance.now();
    context.mock.method(performance, 'now', () => now);
    const quick = (): Verdict => ({ pass: true });
    assert.equal(runOf().run([hookOf([quick, quick, quick], (all) => { results = all; })]), undefined);
    assert.equal(results.length, 3);
  });

  it('leaves the loop to others between checks that take long, and keeps their order', async () => {
    const turnOfCheck: number[] = [];
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const slow = (): Verdict => {
      turnOfCheck.push(turns);
      return busy(25)();
    };
    let results: readonly CheckResult[] = [];
    try {
      await runOf().run([hookOf([slow, slow, slow, slow], (all) => { results = all; }), hookOf([slow], () => undefined)]);
    } finally {
      isDone = true;
    }
    assert.deepEqual(results.map(({ id }) => id), ['check0', 'check1', 'check2', 'check3']);
    assert.equal(new Set(turnOfCheck).size, 5, turnOfCheck.join());
  });
});
