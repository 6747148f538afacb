import { ProviderError, type EndpointSpec } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fail } from '../../../../core/errors/gateway-error.js';
import type { ResponseHooks } from '../../../../core/pipeline/hooks/response-hooks.js';
import { CollectHandler, type CollectMode } from '../../../../core/pipeline/response/collect-handler.js';
import { ResponseContext } from '../../../../core/pipeline/response/response-context.js';
import { ResponseHead } from '../../../../core/pipeline/response/response-head.js';
import { collectedBytesMax, FakeOwner } from '../pipeline-fakes.js';

interface Options {
  readonly status?: number;
  readonly response?: NonNullable<EndpointSpec['response']>;
  readonly hooks?: Partial<ResponseHooks>;
  readonly triesAgain?: boolean;
}

/** Tells the handler the chunks, which are overwritten as soon as they were told, and the end. */
function collected(mode: CollectMode, chunks: readonly string[], { status = 200, response, hooks, triesAgain = false }: Options = {}): { readonly owner: FakeOwner; readonly handler: CollectHandler } {
  const owner = new FakeOwner();
  owner.triesAgain = triesAgain;
  const spec: EndpointSpec = response === undefined ? { path: '/c' } : { path: '/c', response };
  const judging = hooks === undefined ? null : { decides: true, ...hooks } as never;
  const target = { cache: null, provider: { id: 'p', plugin: {} } } as never;
  const handler = new CollectHandler(new ResponseContext(owner, target, { spec, call: { model: 'm' }, translation: null } as never, new ResponseHead(status, ['content-type', 'application/json', 'x-own', '1']), 0, judging), mode);
  for (const chunk of chunks) {
    const lent = Buffer.from(chunk);
    handler.onChunk(lent);
    lent.fill(0x21);
  }
  handler.onEnd();
  return { owner, handler };
}

describe('a collected response', () => {
  it('stays as it is where nobody changes it, with the provider\'s headers', () => {
    const { owner, handler } = collected('whole', ['{"model": "m-1", ', '"n": 1.50}']);
    assert.equal(owner.responder.text, '{"model": "m-1", "n": 1.50}');
    assert.equal(owner.responder.headers[owner.responder.headers.indexOf('x-own') + 1], '1');
    assert.deepEqual([owner.asked, owner.exchange.status, handler.usage()?.model], [['finish'], 200, 'm-1']);
  });

  it('is what the provider\'s function makes of it, and one it cannot read is tried again or refused', () => {
    assert.equal(collected('made', ['{"a":1}'], { response: () => ({ made: true }) }).owner.responder.text, '{"made":true}');
    for (const triesAgain of [true, false]) {
      const { owner } = collected('made', ['{"a":'], { response: (body) => body, triesAgain });
      assert.deepEqual([owner.asked, owner.responder.isStarted], [['try again after UPSTREAM_INVALID', ...(triesAgain ? [] : ['refuse UPSTREAM_INVALID'])], false]);
    }
  });

  it('that tells of an error inside of a good status is tried again for it, or told in the client\'s dialect', () => {
    const response = (): never => { throw new ProviderError('no room', { status: 429, type: 'rate_limit_error' }); };
    assert.deepEqual(collected('made', ['{}'], { response, triesAgain: true }).owner.asked, ['try again for 429, told']);
    const { owner } = collected('made', ['{}'], { response });
    assert.deepEqual(JSON.parse(owner.responder.text), { error: { message: 'no room', type: 'rate_limit_error', param: null, code: null } });
    assert.deepEqual([owner.asked, owner.exchange.status], [['try again for 429, told', 'finish'], 429]);
  });

  it('that is too large is not read on, and an error of the provider is told as far as it came', () => {
    const half = 'x'.repeat(collectedBytesMax / 2 + 1);
    const { owner } = collected('whole', [half, half]);
    assert.deepEqual(owner.asked.slice(0, 3), ['stop', 'try again after UPSTREAM_TOO_LARGE', 'refuse UPSTREAM_TOO_LARGE']);
    const failed = collected('error', ['{"error":"busy"}'], { status: 503 });
    assert.deepEqual([JSON.parse(failed.owner.responder.text).error.message, failed.owner.exchange.status, failed.owner.asked], ['busy', 503, ['finish']]);
    const cut = new CollectHandler(failed.handler.context, 'error');
    cut.onChunk(Buffer.from('<h1>Bad Gateway</h1>'));
    cut.onError(fail('UPSTREAM_BROKE', { provider: 'p', reason: 'it was cut' }));
    assert.match(failed.owner.responder.text, /Bad Gateway/);
  });

  it('is judged whole: denied, changed, thrown away for another try, or left as it came', async () => {
    const given = '{"id": 1}';
    const denied = collected('whole', [given], { hooks: { judge: () => 'denied' } });
    assert.deepEqual(denied.owner.asked, ['try again for 446', 'refuse HOOKS_FAILED']);
    const changed = collected('whole', [given], { hooks: { judge: async () => ({ id: 2 }) } });
    await new Promise(setImmediate);
    assert.deepEqual([changed.owner.responder.text, changed.owner.asked], ['{"id":2}', ['try again for 200', 'finish']]);
    const retried = collected('whole', [given], { triesAgain: true, hooks: { judge: (body) => body } });
    assert.deepEqual([retried.owner.asked, retried.owner.responder.isStarted], [['try again for 200'], false]);
    const passed = collected('whole', [given], { hooks: { judge: (body) => body } });
    assert.equal(passed.owner.responder.text, given);
  });

  it('whose client leaves while hooks judge it goes nowhere', async () => {
    const { owner } = collected('whole', ['{"id":1}'], { hooks: { judge: async (body) => body } });
    owner.exchange.isFinished = true;
    await new Promise(setImmediate);
    assert.deepEqual([owner.asked, owner.responder.isStarted], [[], false]);
  });

  it('has memory of its own where a cache may keep it: what is kept is counted by its length', () => {
    const owner = new FakeOwner();
    owner.cacheKey = {} as never;
    const context = new ResponseContext(owner, { cache: null, provider: { id: 'p', plugin: {} } } as never, { spec: { path: '/c' }, call: null, translation: null } as never, new ResponseHead(200, ['content-type', 'application/json']), 0, null);
    const kept: (Uint8Array | null)[] = [];
    context.remember = (_, bytes) => { kept.push(bytes); };
    const text = JSON.stringify({ text: 'x'.repeat(collectedBytesMax - 20) });
    const handler = new CollectHandler(context, 'whole');
    handler.onChunk(Buffer.from(text));
    handler.onEnd();
    const [bytes] = kept;
    assert.ok(bytes instanceof Uint8Array);
    assert.equal(Buffer.from(bytes).toString(), text);
    assert.ok(bytes.buffer.byteLength <= Math.max(512, 2 * text.length));
  });
});
