import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { CheckInput, Json } from '@gateway/plugin-sdk';
import { bodyWithText, fakeCheckInput, fakeExchange, fakeHost } from '@gateway/plugin-sdk/testing';
import { PoolCheck } from '../../../core/workers/check-runner.js';
import { WorkerPool } from '../../../core/workers/pool.js';
import { isWorkerError } from '../../../core/workers/worker-error.js';
import plugin from './check-plugin.js';

const pluginModule = new URL('./check-plugin.js', import.meta.url);
const longMs = 30_000;
const shortMs = 200;
const request = bodyWithText('chatCompletions', 'a secret word');
const answer = bodyWithText('chatCompletions', 'the answer', 'output');
const input = fakeCheckInput({ endpoint: 'chatCompletions', body: request });

const pool = new WorkerPool(1, { workersMax: 1, breaker: { endedMax: 1, windowMs: 60_000, refusedMs: 60_000 } });
after(() => pool.close());

const check = (params: object, own: WorkerPool = pool, timeoutMs = longMs): PoolCheck => new PoolCheck(own, pluginModule, params, timeoutMs);

describe('a check in the pool', () => {
  it('gives the verdict that it gives on the loop', async () => {
    for (const [params, judged] of [
      [{ word: 'secret' }, input],
      [{ word: 'absent' }, input],
      [{ word: 'answer' }, fakeCheckInput({ endpoint: 'chatCompletions', body: request, answer })],
      [{ ask: 'body' }, fakeCheckInput({ endpoint: 'chatCompletions', body: request, answer })],
    ] as const) {
      const onLoop = await plugin.create(params, fakeHost());
      assert.deepEqual(await check(params).evaluate(judged), await onLoop.evaluate(judged), JSON.stringify(params));
    }
  });

  it('is made once for the same parameters', async () => {
    const counts = async (number: number): Promise<{ readonly made: number; readonly number: number }> =>
      (await check({ ask: 'count', number }).evaluate(input)).data as { made: number; number: number };
    const first = await counts(1);
    const again = await counts(1);
    const other = await counts(2);
    assert.deepEqual([again.made, again.number], [first.made, 1]);
    assert.deepEqual([other.made, other.number], [first.made + 1, 2]);
  });

  it('is closed when many others came after it', async () => {
    const closedSoFar = async (number: number): Promise<number> => ((await check({ ask: 'count', number }).evaluate(input)).data as { closed: number }).closed;
    const before = await closedSoFar(0);
    for (let number = 1000; number < 1300; number += 1) await closedSoFar(number);
    assert.ok(await closedSoFar(0) - before >= 300 - 256);
  });

  it('is given a copy of the exchange', async () => {
    const exchange = fakeExchange({
      endpoint: 'chatCompletions', body: request, path: '/v1/chat/completions', headers: { 'x-test': 'here' }, metadata: { user: 'u' },
    });
    for (const stage of ['input', 'output'] as const) {
      const judged = fakeCheckInput({ exchange, stage, body: request, answer });
      const { data } = await check({ ask: 'view' }).evaluate(judged);
      const { id, traceId, endpoint, startedAtMs, principal, metadata, target } = exchange;
      assert.deepEqual(data, {
        text: [stage === 'input' ? 'a secret word' : 'the answer'], json: stage === 'input' ? request : answer, status: stage === 'input' ? 0 : 200, aborted: false,
        id, traceId, endpoint, startedAtMs, principal, metadata, target, method: 'POST', path: '/v1/chat/completions', header: null, model: 'mock-1', list: null, body: request, notes: 1,
      });
      assert.equal(exchange.notes.size, 0);
    }
  });

  it('says what is not there', async () => {
    for (const name of ['fetch', 'store', 'resolve', 'secret', 'worker', 'every']) {
      await assert.rejects(check({ ask: name }).evaluate(input), { code: 'threw', message: `host.${name} is not there in the worker pool; a plugin that needs it must run on the loop` });
    }
    await assert.rejects(check({ ask: 'bytes' }).evaluate(input), { message: /^the bytes of the request are not sent to the worker pool/ });
  });

  it('reads no body when none is sent, and none is asked for', async () => {
    const own = new PoolCheck(pool, pluginModule, { ask: 'find', word: 'secret' }, longMs, { sendsJson: false });
    const unread: CheckInput = { ...input, json: (): Json => assert.fail('read') };
    assert.equal((await own.evaluate(unread)).pass, false);
    const reading = new PoolCheck(pool, pluginModule, { ask: 'body' }, longMs, { sendsJson: false });
    await assert.rejects(reading.evaluate(input), { message: 'the judged body is not sent to the worker pool for this check' });
  });

  it('whose route does not read the request has the answer alone', async () => {
    const judged = fakeCheckInput({ endpoint: 'chatCompletions', body: request, answer });
    const exchange = { ...judged.exchange, request: { ...judged.exchange.request, method: 'POST', path: '/', json: (): Json => { throw new Error('not read'); } } };
    const without: CheckInput = { ...judged, exchange };
    assert.deepEqual((await check({ ask: 'body' }).evaluate(without)).body, answer);
    await assert.rejects(check({ ask: 'view' }).evaluate(without), { message: 'the request body is not sent to the worker pool for this check' });
  });

  it('rejects with what it throws, and with what its parameters are refused for', async () => {
    await assert.rejects(check({ ask: 'throw' }).evaluate(input), { code: 'threw', name: 'RangeError', message: 'cannot judge' });
    await assert.rejects(check({ ask: 'function' }).evaluate(input), { code: 'uncloneable' });
    await assert.rejects(check({ word: 'invalid' }).prepare(), { code: 'threw', name: 'ParameterError', message: 'must not be invalid' });
    await assert.rejects(check({ word: 'invalid' }).evaluate(input), { name: 'ParameterError' });
    await check({ word: 'fine' }).prepare();
  });

  it('rejects when the module is not a guardrail', async () => {
    const wrong = (name: string): PoolCheck => new PoolCheck(pool, new URL(name, import.meta.url), {}, longMs);
    await assert.rejects(wrong('./task-module.js').evaluate(input), { message: /task-module\.js is not a guardrail plugin/ });
    await assert.rejects(wrong('./no-such-plugin.js').evaluate(input), { message: /Cannot find module/ });
  });

  it('is not heard any more when the client has left', async () => {
    const leaving = new AbortController();
    const call = check({ ask: 'find', word: 'secret' }).evaluate({ ...input, signal: leaving.signal });
    leaving.abort();
    await assert.rejects(call, { code: 'aborted' });
  });

  it('that never ends is ended, and its plugin alone is to blame', async () => {
    const own = new WorkerPool(1, { workersMax: 1, breaker: { endedMax: 1, windowMs: 60_000, refusedMs: 60_000 } });
    try {
      const spinning = check({ ask: 'spin' }, own, shortMs);
      await check({ word: 'secret' }, own).evaluate(input);
      const faultOf = async (): Promise<unknown> => spinning.evaluate(input).catch((thrown: unknown) => thrown);
      let fault = await faultOf();
      // On a busy machine its time may be over before it has begun.
      while (isWorkerError(fault) && fault.code === 'saturated') fault = await faultOf();
      assert.ok(isWorkerError(fault));
      assert.deepEqual([fault.code, fault.message], ['timeout', `timed out after ${shortMs} ms`]);
      await assert.rejects(spinning.evaluate(input), { code: 'refused' });
      const next = new PoolCheck(own, new URL(`${pluginModule.href}?v=2`), { word: 'secret' }, longMs);
      assert.equal((await next.evaluate(input)).pass, false);
    } finally {
      await own.close();
    }
  });
});
