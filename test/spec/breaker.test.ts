// Circuit breakers over HTTP. The clock is the test's: cooldowns are half a minute and more.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { deadAddress } from '../support/dead-address.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { answerChat, sendJson, startUpstream, type Answer, type TestUpstream } from '../support/upstream.js';

// Taken over before the gateway starts, for it keeps the function.
const realNow = Date.now;
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

const left = await startUpstream();
const right = await startUpstream();
const gateway = await startTestGateway();
const gone = await deadAddress();

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
const cooldownMs = 30_000;
const breaker = { failure_threshold: 2, cooldown_interval: cooldownMs };
const target = (to: Pick<TestUpstream, 'url'>, more: Record<string, unknown> = {}): Record<string, unknown> =>
  ({ provider: 'openai', api_key: 'sk', custom_host: `${to.url}/v1`, ...more });

const answerWith = (status: number): Answer => (_, response) => sendJson(response, status, { error: { message: `status ${status}` } });

/** A config that no other test has: breakers belong to a config. */
let configs = 0;
const fallback = (targets: unknown[], more: Record<string, unknown> = {}): Record<string, unknown> => {
  configs += 1;
  return { strategy: { mode: 'fallback' }, targets, cb_config: breaker, name: `config ${configs}`, ...more };
};

async function call(config: unknown): Promise<{ readonly status: number; readonly option: string | null; readonly body: string }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config) }, body: chat,
  });
  return { status: response.status, option: response.headers.get('x-gateway-last-used-option-index'), body: await response.text() };
}

function setAnswers(forLeft: Answer, forRight: Answer = answerChat): void {
  left.answer = forLeft;
  right.answer = forRight;
  left.received.length = 0;
  right.received.length = 0;
}

const counts = (): number[] => [left.received.length, right.received.length];

describe('a circuit breaker', () => {
  it('opens after the threshold: the target is passed over and another answers', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 5; index += 1) {
      const result = await call(config);
      assert.equal(result.status, 200);
      assert.equal(result.option, 'config.targets[1]');
    }
    assert.deepEqual(counts(), [2, 5]);
  });

  it('leaves a target alone while it is well', async () => {
    setAnswers(answerChat);
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 5; index += 1) assert.equal((await call(config)).option, 'config.targets[0]');
    assert.deepEqual(counts(), [5, 0]);
  });

  it('counts answers of 500 and above when no statuses are listed', async () => {
    for (const status of [400, 404, 429]) {
      setAnswers(answerWith(status));
      const config = fallback([target(left), target(right)]);
      for (let index = 0; index < 4; index += 1) await call(config);
      assert.deepEqual(counts(), [4, 4], `status ${status}`);
    }
  });

  it('counts the listed statuses only', async () => {
    const listed = { cb_config: { ...breaker, failure_status_codes: [429] } };
    setAnswers(answerWith(429));
    const limited = fallback([target(left), target(right)], listed);
    for (let index = 0; index < 4; index += 1) await call(limited);
    assert.deepEqual(counts(), [2, 4]);
    setAnswers(answerWith(500));
    const failing = fallback([target(left), target(right)], listed);
    for (let index = 0; index < 4; index += 1) await call(failing);
    assert.deepEqual(counts(), [4, 4]);
  });

  it('counts connections that cannot be made', async () => {
    setAnswers(answerChat, answerChat);
    const config = fallback([target(gone), target(right)]);
    for (let index = 0; index < 2; index += 1) assert.equal((await call(config)).option, 'config.targets[1]');
    // The address comes to life: if it were still tried, it would answer.
    const revived = createServer((_, response) => { response.end('{}'); });
    await new Promise<void>((resolve) => { revived.listen(gone.port, '127.0.0.1', resolve); });
    try {
      assert.equal((await call(config)).option, 'config.targets[1]');
    } finally {
      revived.closeAllConnections();
      revived.close();
    }
  });

  it('counts time-outs when 408 is listed', async () => {
    setAnswers(() => {});
    const config = fallback([target(left, { request_timeout: 40 }), target(right)], { cb_config: { ...breaker, failure_status_codes: [408, 500] } });
    for (let index = 0; index < 2; index += 1) assert.equal((await call(config)).option, 'config.targets[1]');
    // On a busy machine the time of one may be over before it is there.
    const [tried = 3] = counts();
    assert.ok(tried <= 2);
    for (let index = 0; index < 2; index += 1) assert.equal((await call(config)).option, 'config.targets[1]');
    assert.deepEqual(counts(), [tried, 4]);
  });

  it('counts each try of a retry', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left), target(right)], { retry: { attempts: 1 } });
    await call(config);
    assert.deepEqual(counts(), [2, 1]);
    await call(config);
    assert.deepEqual(counts(), [2, 2]);
  });

  it('keeps a target out of a load balance too', async () => {
    setAnswers(answerWith(500));
    configs += 1;
    const config = { strategy: { mode: 'loadbalance' }, targets: [target(left), target(right)], cb_config: breaker, name: `config ${configs}` };
    for (let index = 0; index < 60 && left.received.length < 2; index += 1) await call(config);
    assert.equal(left.received.length, 2, 'drawn at least twice in 60 calls');
    for (let index = 0; index < 20; index += 1) assert.equal((await call(config)).option, 'config.targets[1]');
    assert.equal(left.received.length, 2);
  });

  it('that is open everywhere hinders nobody: the targets are tried all the same', async () => {
    setAnswers(answerWith(500), answerWith(502));
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 2; index += 1) assert.equal((await call(config)).status, 502);
    assert.deepEqual(counts(), [2, 2]);
    const third = await call(config);
    assert.equal(third.status, 502);
    assert.deepEqual(counts(), [3, 3]);
    setAnswers(answerChat);
    const fourth = await call(config);
    assert.equal(fourth.status, 200);
    assert.equal(fourth.option, 'config.targets[0]');
  });

  it('of the only target hinders nobody either', async () => {
    setAnswers(answerWith(503));
    configs += 1;
    const config = { ...target(left), cb_config: breaker, name: `config ${configs}` };
    for (let index = 0; index < 4; index += 1) assert.equal((await call(config)).status, 503);
    assert.deepEqual(counts(), [4, 0]);
    setAnswers(answerChat);
    assert.equal((await call(config)).status, 200);
  });

  it('is each target\'s own, even where two have the same address', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left, { cb_config: { ...breaker, failure_threshold: 1 } }), target(left, { cb_config: { ...breaker, failure_threshold: 3 } }), target(right)]);
    await call(config);
    assert.deepEqual(counts(), [2, 1]);
    await call(config);
    assert.deepEqual(counts(), [3, 2]);
    await call(config);
    assert.deepEqual(counts(), [4, 3]);
    await call(config);
    assert.deepEqual(counts(), [4, 4]);
  });

  it('is each config\'s own', async () => {
    setAnswers(answerWith(500));
    const opened = fallback([target(left), target(right)]);
    for (let index = 0; index < 3; index += 1) await call(opened);
    assert.deepEqual(counts(), [2, 3]);
    await call(fallback([target(left), target(right)]));
    assert.deepEqual(counts(), [3, 4]);
  });

  it('of a nested group leaves out the group when all in it are out', async () => {
    setAnswers(answerWith(500));
    const inner = { strategy: { mode: 'fallback' }, targets: [target(left), target(left, { weight: 2 })] };
    const config = fallback([inner, target(right)]);
    for (let index = 0; index < 2; index += 1) await call(config);
    assert.deepEqual(counts(), [4, 2]);
    const result = await call(config);
    assert.equal(result.option, 'config.targets[1]');
    assert.deepEqual(counts(), [4, 3]);
  });

  it('lets one call through after the cooldown, and closes when that one goes well', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 3; index += 1) await call(config);
    assert.deepEqual(counts(), [2, 3]);
    aheadMs += cooldownMs - 5_000;
    await call(config);
    assert.deepEqual(counts(), [2, 4], 'still resting');
    aheadMs += 6_000;
    left.answer = answerChat;
    assert.equal((await call(config)).option, 'config.targets[0]');
    for (let index = 0; index < 3; index += 1) assert.equal((await call(config)).option, 'config.targets[0]');
    assert.deepEqual(counts(), [6, 4]);
  });

  it('rests again when the call it let through fails', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 3; index += 1) await call(config);
    aheadMs += cooldownMs + 1000;
    assert.equal((await call(config)).option, 'config.targets[1]');
    assert.deepEqual(counts(), [3, 4], 'one probe');
    for (let index = 0; index < 3; index += 1) assert.equal((await call(config)).option, 'config.targets[1]');
    assert.deepEqual(counts(), [3, 7]);
  });

  it('lets exactly one of many calls probe', async () => {
    setAnswers(answerWith(500));
    const config = fallback([target(left), target(right)]);
    for (let index = 0; index < 2; index += 1) await call(config);
    aheadMs += cooldownMs + 1000;
    left.received.length = 0;
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => { release = resolve; });
    left.answer = (received, response, request) => { void released.then(() => answerChat(received, response, request)); };
    const calls = Array.from({ length: 10 }, () => call(config));
    // Nine of them end without the probe.
    let ended = 0;
    await new Promise<void>((resolve) => {
      for (const one of calls) void one.then(() => { ended += 1; if (ended === 9) resolve(); });
    });
    assert.equal(left.received.length, 1);
    release();
    const options = (await Promise.all(calls)).map((result) => result.option);
    assert.equal(options.filter((option) => option === 'config.targets[0]').length, 1);
  });
});
