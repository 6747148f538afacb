import type { AnswerEvent, Check, Verdict } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dialects } from '../../../core/dialect/dialects.js';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { ResponseHooks, backgroundMax, runInBackground } from '../../../core/pipeline/hooks/response-hooks.js';
import { Subject } from '../../../core/pipeline/hooks/check-run.js';
import type { CompiledHook } from '../../../core/plan/hooks.js';

// Nothing here reads a body or answers a client.
const exchangeOf = (): Exchange => new Exchange(new RequestHead(), chatCompletions, '', {} as never, {} as never, { parse: () => ({}), field: () => undefined });

function hookOf(check: Check, more: { readonly deny?: boolean; readonly failOnError?: boolean; readonly changes?: boolean } = {}): CompiledHook {
  const { deny = false, failOnError = false, changes = false } = more;
  const checks = [{
    id: 'acme.check', check, missing: null, timeoutMs: 60_000, failOnError, changes, streams: true, lookBackMax: 4, runs: 'loop' as const, pooled: null, when: null, budget: null,
  }];
  const decide: CompiledHook['hook']['decide'] = (results) => {
    const pass = results.every((result) => (result.verdict === undefined ? !result.failOnError : result.verdict.pass));
    return { pass, deny: deny && !pass };
  };
  return { id: 'hook', type: 'guardrail', stage: 'after', isAsync: false, hook: { order: 'together', decide }, checks, steps: [checks], onSuccess: null, onFail: null, mayDeny: deny, isSoft: false, stored: null };
}

describe('a check that throws in the middle of a stream', () => {
  const broken: Check = {
    evaluate: () => ({ pass: true }),
    stream: () => ({ push: () => { throw new Error('out of order'); }, verdict: () => ({ pass: true }) }),
  };
  const written = (failOnError: boolean): { readonly text: string; readonly denials: number; readonly exchange: Exchange } => {
    const exchange = exchangeOf();
    const phase = new ResponseHooks(exchange, { judging: [hookOf(broken, { deny: true, failOnError })], background: [] });
    const events: AnswerEvent[] = [];
    let denials = 0;
    const [stage] = phase.stages(dialects.chat, () => { denials += 1; });
    const out = { write: (event: AnswerEvent) => { events.push(event); }, end: () => undefined, fail: (error: Error) => { throw error; } };
    stage!.push({ event: undefined, data: { choices: [{ index: 0, delta: { content: 'secret words' } }] } }, out);
    return { text: JSON.stringify(events), denials, exchange };
  };

  it('lets the stream pass, unless the config says otherwise', () => {
    const { text, denials } = written(false);
    assert.match(text, /secret words/);
    assert.equal(denials, 0);
  });

  it('ends it at once when errors are failures and the hook denies: nothing unjudged goes', () => {
    const { text, denials, exchange } = written(true);
    assert.doesNotMatch(text, /secret/);
    assert.equal(denials, 1);
    assert.match(exchange.hooks!.text(), /"error":\{"name":"Check error","message":"out of order"\}.*"deny":true/);
  });
});

describe('a check whose edits of a stream cannot be made', () => {
  it('ends it, though its hook does not deny', () => {
    const overlapping: Check = {
      evaluate: () => ({ pass: true }),
      stream: () => ({ push: ({ text }) => ({ release: text.length, edits: [{ from: 0, to: 4, text: '' }, { from: 2, to: 6, text: '' }] }), verdict: () => ({ pass: true }) }),
    };
    const exchange = exchangeOf();
    const phase = new ResponseHooks(exchange, { judging: [hookOf(overlapping, { changes: true })], background: [] });
    const events: AnswerEvent[] = [];
    let denials = 0;
    const [stage] = phase.stages(dialects.chat, () => { denials += 1; });
    stage!.push({ event: undefined, data: { choices: [{ index: 0, delta: { content: 'secret words' } }] } }, { write: (event) => { events.push(event); }, end: () => undefined, fail: (error) => { throw error; } });
    assert.deepEqual([events, denials], [[], 1]);
    assert.match(exchange.hooks!.text(), /"verdict":false.*its changes cannot be made: the edits overlap.*"deny":true/);
  });
});

describe('hooks in the background', () => {
  it('are left out beyond a limit, which the log says, and run again when others have ended', async () => {
    const ends: ((verdict: Verdict) => void)[] = [];
    const hook = hookOf({ evaluate: () => new Promise((resolve) => { ends.push(resolve); }) });
    const start = (): Exchange => {
      const exchange = exchangeOf();
      runInBackground(exchange, [hook], new Subject('after', exchange, {}, 200));
      return exchange;
    };
    const running = Array.from({ length: backgroundMax }, start);
    const left = start();
    assert.equal(left.hooks!.pending.length, 0);
    assert.match(left.hooks!.logged(), /left out: the hooks of 5000 calls are in the background/);
    // Where beginning so many takes long, some begin in a later turn.
    while (ends.length < backgroundMax) await new Promise((resolve) => { setImmediate(resolve); });
    for (const end of ends) end({ pass: true });
    await Promise.all(running.flatMap((exchange) => exchange.hooks!.pending));
    const next = start();
    await new Promise((resolve) => { setImmediate(resolve); });
    ends.at(-1)!({ pass: true });
    await Promise.all(next.hooks!.pending);
    assert.equal(next.hooks!.background.length, 1);
    assert.doesNotMatch(next.hooks!.logged(), /left out/);
  });
});
