import type { Check, Json, Verdict } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { runBefore } from '../../../core/pipeline/hooks/before.js';
import type { CompiledHook } from '../../../core/plan/hooks.js';

const body: Readonly<Record<string, Json>> = { model: 'm', messages: [{ role: 'user', content: 'pin 1234' }] };

function exchangeOf(given: Readonly<Record<string, unknown>> = body): Exchange {
  const exchange = new Exchange(new RequestHead(), chatCompletions, '', {} as never, {} as never, { parse: (bytes) => JSON.parse(Buffer.from(bytes).toString()), field: () => undefined });
  exchange.bytes = Buffer.from('the bytes of the client');
  exchange.parsed = given;
  return exchange;
}

function hookOf(evaluate: Check['evaluate'], more: { readonly id?: string; readonly changes?: boolean; readonly isAsync?: boolean } = {}): CompiledHook {
  const { id = 'hook', changes = true, isAsync = false } = more;
  const checks = [{
    id: 'acme.check', check: { evaluate }, missing: null, timeoutMs: 60_000, failOnError: false, changes, streams: false, lookBackMax: 0, runs: 'loop' as const, pooled: null, when: null, budget: null,
  }];
  // Never denies by itself: what it cannot redact has to end the call all the same.
  const decide: CompiledHook['hook']['decide'] = (results) => ({ pass: results.every(({ verdict }) => verdict === undefined || verdict.pass), deny: false });
  return { id, type: 'mutator', stage: 'before', isAsync, hook: { order: 'inTurn', decide }, checks, steps: [checks], onSuccess: null, onFail: null, mayDeny: false, isSoft: false, stored: null };
}

const run = async (exchange: Exchange, hooks: readonly CompiledHook[]): Promise<'passed' | 'denied'> => runBefore(exchange, hooks);
/** Nothing that JSON can say. */
const unwritable = { ...body, messages: [{ role: 'user', content: 'pin ****', at: 1n }] } as unknown as Json;
const redacts = (): Verdict => ({ pass: true, edits: [{ piece: 0, from: 4, to: 8, text: '****' }] });

describe('a hook that changes the request', () => {
  it('has done so when it counts as done: all targets after it get what it made', async () => {
    const exchange = exchangeOf();
    const hook = hookOf(redacts);
    await run(exchange, [hook]);
    assert.equal(Buffer.from(exchange.bytes).toString(), JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'pin ****' }] }));
    assert.match(exchange.hooks!.text(), /"transformed":true/);
    await run(exchange, [hook]);
    assert.equal(exchange.hooks!.before.length, 1);
  });

  const faults: Readonly<Record<string, () => Verdict | Promise<Verdict>>> = {
    'whose body cannot be written': () => ({ pass: true, body: unwritable }),
    'whose body cannot be written, told later': async () => ({ pass: true, body: unwritable }),
    'whose body is not an object': () => ({ pass: true, body: 'pin ****' }),
    'whose edits lie outside of the text': () => ({ pass: true, edits: [{ piece: 0, from: 4, to: 80, text: '****' }] }),
    'whose edits name no text': () => ({ pass: true, edits: [{ piece: 7, from: 0, to: 1, text: '****' }] }),
  };
  for (const [name, evaluate] of Object.entries(faults)) {
    it(`${name} ends the call, for every target, though neither it nor its hook denies`, async () => {
      const exchange = exchangeOf();
      const hook = hookOf(evaluate);
      assert.equal(await run(exchange, [hook]), 'denied');
      assert.match(exchange.hooks!.text(), /"verdict":false.*its changes cannot be made.*"deny":true/);
      assert.doesNotMatch(exchange.hooks!.text(), /"transformed":true/);
      // The next target inherits it: the client's own text must not go there.
      assert.equal(await run(exchange, [hook, hookOf(() => ({ pass: true }))]), 'denied');
      assert.equal(exchange.parsed, body);
      assert.equal(Buffer.from(exchange.bytes).toString(), 'the bytes of the client');
    });
  }

  it('and does not declare it ends the call too: what it meant to redact is still there', async () => {
    for (const evaluate of [redacts, (): Verdict => ({ pass: true, body: {} })]) {
      const exchange = exchangeOf();
      assert.equal(await run(exchange, [hookOf(evaluate, { changes: false })]), 'denied');
      assert.match(exchange.hooks!.text(), /does not declare that it changes/);
    }
  });

  it('does not say so where nobody waits for it, for the body stays', async () => {
    const exchange = exchangeOf();
    await run(exchange, [hookOf(redacts, { isAsync: true })]);
    await Promise.all(exchange.hooks!.pending);
    assert.equal(exchange.parsed, body);
    assert.equal(exchange.hooks!.background.length, 1);
    assert.doesNotMatch(exchange.hooks!.background[0]!.text, /"transformed":true/);
  });
});

describe('a hook that several targets inherit', () => {
  it('runs for the next one when a denial before it kept it from running', async () => {
    const exchange = exchangeOf();
    const inherited = hookOf(redacts, { id: 'inherited' });
    const denying: CompiledHook = { ...hookOf(() => ({ pass: true })), hook: { order: 'inTurn', decide: () => ({ pass: false, deny: true }) } };
    assert.equal(await run(exchange, [denying, inherited]), 'denied');
    await run(exchange, [inherited]);
    assert.match(Buffer.from(exchange.bytes).toString(), /pin \*{4}/);
  });

  it('runs again when it broke before it had spoken', async () => {
    const exchange = exchangeOf();
    let calls = 0;
    const hook = hookOf(() => {
      calls += 1;
      return redacts();
    });
    const broken: CompiledHook = { ...hookOf(() => ({ pass: true })), checks: [], get steps(): never { throw new Error('out of order'); } };
    await assert.rejects(run(exchange, [broken, hook]), /out of order/);
    await run(exchange, [hook]);
    assert.equal(calls, 1);
    assert.match(Buffer.from(exchange.bytes).toString(), /pin \*{4}/);
  });
});

describe('what a check says of its verdict', () => {
  it('is an error where it is not JSON, and the call goes on', async () => {
    const exchange = exchangeOf();
    await run(exchange, [hookOf(() => ({ pass: true, data: 1n as unknown as Json }), { changes: false })]);
    assert.match(exchange.hooks!.text(), /"data":null.*its data is not JSON/);
  });
});
