import { ProviderError, type AnswerEvent, type EndpointSpec, type EventStage } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fail } from '../../../../core/errors/gateway-error.js';
import type { ResponseHooks } from '../../../../core/pipeline/hooks/response-hooks.js';
import { ResponseContext } from '../../../../core/pipeline/response/response-context.js';
import { ResponseHead } from '../../../../core/pipeline/response/response-head.js';
import { TransformHandler } from '../../../../core/pipeline/response/transform-handler.js';
import { FakeOwner } from '../pipeline-fakes.js';

type Stage = EventStage<AnswerEvent>;
const loud: Stage = { push: (event, out) => out.write({ event: event.event, data: typeof event.data === 'string' ? event.data.toUpperCase() : event.data }), end() {} };
const failing = (error: Error): Stage => ({ push: () => { throw error; }, end() {} });
const end = 'data: [DONE]\n\n';

interface Options {
  readonly stage?: Stage | null;
  readonly hooks?: Partial<ResponseHooks>;
  readonly isHeld?: boolean;
  readonly startsLate?: boolean;
  readonly triesAgain?: boolean;
}

function begun({ stage = loud, hooks, isHeld = false, startsLate = false, triesAgain = false }: Options = {}): { readonly owner: FakeOwner; readonly handler: TransformHandler; readonly push: (text: string) => void } {
  const owner = new FakeOwner();
  owner.triesAgain = triesAgain;
  const spec: EndpointSpec = stage === null ? { path: '/c' } : { path: '/c', stream: () => stage };
  const target = { after: null, cache: null, provider: { id: 'p', plugin: {} } } as never;
  const prepared = { spec, call: { endpoint: 'embeddings', model: 'm' }, translation: null } as never;
  const judging = hooks === undefined ? null : { decides: true, assemblesStream: false, nextSequence: undefined, stages: () => [], ...hooks } as never;
  const handler = new TransformHandler(new ResponseContext(owner, target, prepared, new ResponseHead(200, ['content-type', 'text/event-stream']), 0, judging), isHeld, startsLate);
  handler.begin();
  return { owner, handler, push: (text) => {
    const lent = Buffer.from(text);
    handler.onChunk(lent);
    lent.fill(0x21);
  } };
}

describe('a transformed stream', () => {
  it('goes through its stages, wherever chunks end, and its usage is read in what comes out', () => {
    const { owner, handler, push } = begun({ stage: { push: (event, out) => out.write({ event: event.event, data: `{"model":"${String(event.data)}"}` }), end() {} } });
    push('data: m');
    push('-1\n\n');
    assert.equal(owner.responder.text, 'data: {"model":"m-1"}\n\n');
    handler.onEnd();
    assert.deepEqual([owner.asked, handler.usage()?.model, owner.responder.isEnded], [['finish'], 'm-1', true]);
  });

  it('whose stage throws is broken off behind what came out before', () => {
    const { owner, push } = begun({ stage: failing(new SyntaxError('Unexpected token')) });
    push('data: a\n\n');
    assert.match(owner.responder.text, /^data: \{"error":\{"message":"p? ?.*the body is not JSON/);
    assert.deepEqual([owner.asked, owner.exchange.errorCode, owner.exchange.ending], [['stop', 'finish'], 'UPSTREAM_INVALID', 'upstream']);
  });

  it('whose provider tells of an error before anything went is tried again, once', () => {
    const overloaded = new ProviderError('busy', { status: 529, type: 'overloaded_error' });
    const again = begun({ stage: failing(overloaded), startsLate: true, triesAgain: true });
    again.push('data: a\n\ndata: b\n\n');
    again.handler.onEnd();
    assert.deepEqual([again.owner.asked, again.owner.responder.isStarted], [['try again for 529, told'], false]);
    const last = begun({ stage: failing(overloaded), startsLate: true });
    last.push('data: a\n\n');
    assert.match(last.owner.responder.text, /^data: \{"error":\{"message":"busy","type":"overloaded_error"/);
    assert.deepEqual(last.owner.asked, ['try again for 529, told', 'stop', 'finish']);
  });

  it('of a provider whose stage cannot be made is refused with nothing sent', () => {
    const { owner } = begun({ stage: {} as never });
    assert.deepEqual([owner.asked, owner.responder.isStarted], [['stop', 'refuse PLUGIN_FAILED'], false]);
  });
});

describe('hooks in a transformed stream', () => {
  it('that deny end it at once, behind what had gone', () => {
    let deny = (): void => {};
    const denying: Stage = { push: (event, out) => { if (event.data === 'bad') deny(); else out.write(event); }, end() {} };
    const { owner, handler, push } = begun({ stage: null, hooks: { stages: (_endpoint, given) => { deny = given; return [denying] as never; } } });
    push('data: good\n\ndata: bad\n\ndata: more\n\n');
    push('data: more\n\n');
    handler.onEnd();
    assert.match(owner.responder.text, /^data: good\n\ndata: \{"error":.*"code":"hooks_failed"/);
    assert.doesNotMatch(owner.responder.text, /more/);
    assert.deepEqual([owner.asked, owner.exchange.ending, owner.exchange.errorCode], [['stop', 'finish'], 'gateway', 'HOOKS_FAILED']);
  });

  it('that deny at its end, when all has gone but its last event, take its place', () => {
    const { owner, handler, push } = begun({ stage: null, hooks: { judgeStream: () => 'denied' } });
    push(`data: {"choices":[]}\n\n${end}`);
    handler.onEnd();
    assert.match(owner.responder.text, /^data: \{"choices":\[\]\}\n\ndata: \{"error":/);
    assert.doesNotMatch(owner.responder.text, /DONE/);
  });

  it('that judge it held deny it with nothing sent, or have another try take its place', async () => {
    const chunk = 'data: {"id":"1","model":"m","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}\n\n';
    const denied = begun({ stage: null, isHeld: true, hooks: { judge: () => Promise.resolve<'denied'>('denied') } });
    denied.push(chunk + end);
    denied.handler.onEnd();
    await new Promise(setImmediate);
    assert.deepEqual([denied.owner.asked, denied.owner.responder.isStarted], [['try again for 446', 'refuse HOOKS_FAILED'], false]);
    const retried = begun({ stage: null, isHeld: true, triesAgain: true, hooks: { judge: (answer) => answer } });
    retried.push(chunk + end);
    retried.handler.onEnd();
    assert.deepEqual([retried.owner.asked, retried.owner.responder.isStarted], [['try again for 200'], false]);
    const passed = begun({ stage: null, isHeld: true, hooks: { judge: (answer) => answer } });
    passed.push(chunk + end);
    passed.handler.onEnd();
    assert.equal(passed.owner.responder.text, chunk + end);
    assert.deepEqual(passed.owner.asked, ['try again for 200', 'finish']);
  });

  it('get a plain error when a held stream breaks off', () => {
    const { owner, handler, push } = begun({ stage: null, isHeld: true, hooks: {} });
    push('data: {"choices":[]}\n\n');
    handler.onError(fail('UPSTREAM_BROKE', { provider: 'p', reason: 'it was cut' }));
    assert.deepEqual([owner.asked, owner.responder.isStarted], [['try again after UPSTREAM_BROKE', 'refuse UPSTREAM_BROKE'], false]);
  });
});
