// Times longer than a timer of Node.js can wait would fire at once: what clients and settings give is refused beyond that, and waits below.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Subject, runCheck } from '../../core/pipeline/hooks/check-run.js';
import type { CompiledCheck } from '../../core/plan/hooks.js';
import { readSettings } from '../../core/settings/read.js';
import { timerMsMax } from '../../core/settings/timer-limit.js';
import { exchangeOf } from '../core/exchange/fakes.js';
import { temporaryFolder } from '../support/child-gateway.js';
import { routed, startTestGateway } from '../support/gateway.js';
import { answerChat, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream((received, response, request) => { setTimeout(() => answerChat(received, response, request), 20); });
const gateway = await startTestGateway();

async function ask(config: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; message: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, config), ...headers }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
  });
  const { error } = await answer.json() as { error?: { message: string } };
  return { status: answer.status, message: error?.message ?? '' };
}

it('a request timeout in a config waits up to the limit and is refused beyond it', async () => {
  assert.equal((await ask({ request_timeout: timerMsMax })).status, 200);
  const { status, message } = await ask({ request_timeout: timerMsMax + 1 });
  assert.equal(status, 400);
  assert.match(message, /request_timeout: must be at most 2147483647/);
});

it('a request timeout in a header waits up to the limit and is refused beyond it', async () => {
  assert.equal((await ask({}, { 'x-gateway-request-timeout': String(timerMsMax) })).status, 200);
  for (const given of [String(timerMsMax + 1), '9999999999', '99999999999']) {
    const { status, message } = await ask({}, { 'x-gateway-request-timeout': given });
    assert.equal(status, 400);
    assert.match(message, /x-gateway-request-timeout: must be a whole number of milliseconds from 1 to 2147483647/);
  }
});

it('a check may take longer than a timer can wait', async () => {
  const check = {
    id: 'acme.slow', check: { evaluate: () => new Promise((resolve) => { setTimeout(resolve, 20, { pass: true }); }) }, missing: null, timeoutMs: 2 ** 31, failOnError: true,
    changes: false, streams: false, lookBackMax: 0, runs: 'loop', pooled: null, when: null, budget: null,
  } as unknown as CompiledCheck;
  const result = await runCheck(check, new Subject('after', exchangeOf(), {}, 200), false);
  assert.deepEqual(result.verdict, { pass: true });
});

it('settings refuse what a timer cannot wait', () => {
  const folder = temporaryFolder();
  const fault = (name: string, value: string): string => {
    try {
      readSettings({ [name]: value }, folder);
      return '';
    } catch (thrown) {
      return (thrown as Error).message;
    }
  };
  for (const name of ['GATEWAY_IDLE_TIMEOUT_MS', 'GATEWAY_FIRST_BYTE_TIMEOUT_MS', 'GATEWAY_CONNECT_TIMEOUT_MS', 'GATEWAY_BODY_TIMEOUT_MS', 'GATEWAY_BODY_DEADLINE_MS', 'GATEWAY_RETRY_DELAY_MS']) {
    assert.equal(fault(name, String(timerMsMax)), '');
    assert.match(fault(name, String(timerMsMax + 1)), /2147483647/);
  }
  // Other times are added to this one.
  assert.match(fault('GATEWAY_SHUTDOWN_DEADLINE_MS', String(timerMsMax)), /86400000/);
});
