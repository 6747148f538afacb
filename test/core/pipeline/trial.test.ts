import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Check, CheckInput } from '@gateway/plugin-sdk';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { tryHooks, type TrialCall } from '../../../core/pipeline/hooks/trial.js';
import type { CompiledCheck, CompiledHook } from '../../../core/plan/hooks.js';

const call: TrialCall = {
  endpoint: 'chatCompletions', request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, response: { choices: [{ message: { role: 'assistant', content: 'there' } }] },
  metadata: { team: 'red' }, provider: 'openai', principal: { keyId: 'k', workspaceId: 'w', organisationId: 'o' },
};

function hookOf(stage: 'before' | 'after', check: Check, timeoutMs = 60_000): CompiledHook {
  const compiled: CompiledCheck = { id: 'acme.check', check, missing: null, timeoutMs, failOnError: false, changes: false, streams: false, lookBackMax: 0, runs: 'loop', pooled: null, when: null, budget: null };
  const decide: CompiledHook['hook']['decide'] = (results) => {
    const pass = results.every(({ verdict }) => verdict?.pass !== false);
    return { pass, deny: !pass };
  };
  return { id: 'h', type: 'guardrail', stage, isAsync: false, hook: { order: 'together', decide }, checks: [compiled], steps: [[compiled]], onSuccess: null, onFail: null, mayDeny: true, isSoft: false, stored: null };
}

describe('a trial of hooks', () => {
  it('shows checks what a call would show them', async () => {
    const seen: unknown[] = [];
    const look: Check = { evaluate: ({ stage, text, exchange, status }) => {
      seen.push([stage, text(), status, exchange.endpoint, exchange.metadata, exchange.target.provider, exchange.principal.workspaceId, exchange.request.json()]);
      return { pass: true };
    } };
    const { before, after } = await tryHooks([hookOf('before', look)], [hookOf('after', look)], call);
    assert.deepEqual([before.hasFailed, after.hasFailed, before.results.length, after.results.length], [false, false, 1, 1]);
    const common = ['chatCompletions', { team: 'red' }, 'openai', 'w', call.request];
    assert.deepEqual(seen, [['input', ['hi'], 0, ...common], ['output', ['there'], 200, ...common]]);
  });

  it('ends where a call would: a denied request has no answer to judge', async () => {
    const { before, after } = await tryHooks([hookOf('before', { evaluate: () => ({ pass: false }) })], [hookOf('after', { evaluate: () => ({ pass: true }) })], call);
    assert.deepEqual([before.isDenied, after.results], [true, []]);
  });

  it('waits so long and no longer, and tells the checks that nobody waits', async () => {
    let input: CheckInput | undefined;
    const never: Check = { evaluate: (given) => {
      input = given;
      assert.equal(given.signal.aborted, false);
      return new Promise(() => {});
    } };
    await assert.rejects(tryHooks([hookOf('before', never, 50)], [], call, 5), (thrown) => isGatewayError(thrown) && thrown.code === 'ACTION_UNTIMELY');
    assert.equal(input?.exchange.signal.aborted, true);
  });
});
