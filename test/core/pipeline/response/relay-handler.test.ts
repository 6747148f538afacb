import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fail } from '../../../../core/errors/gateway-error.js';
import { FirstEventHandler, waitMsMax } from '../../../../core/pipeline/response/first-event-handler.js';
import { RelayHandler } from '../../../../core/pipeline/response/relay-handler.js';
import { chat } from '../../../../core/dialect/chat/dialect.js';
import { ResponseHead } from '../../../../core/pipeline/response/response-head.js';
import { FakeOwner } from '../pipeline-fakes.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const broken = (): ReturnType<typeof fail> => fail('UPSTREAM_BROKE', { provider: 'p', reason: 'it was cut' });
const relay = (owner: FakeOwner, isEventStream = true): RelayHandler =>
  new RelayHandler(owner, new ResponseHead(200, ['content-type', isEventStream ? 'text/event-stream' : 'application/json', 'content-length', '9']), 0, isEventStream, true, chat);

/** What the client has got, when the chunks are overwritten as soon as they were told. */
function told(handler: { onChunk(chunk: Uint8Array): void }, ...chunks: readonly string[]): void {
  for (const chunk of chunks) {
    const lent = bytes(chunk);
    handler.onChunk(lent);
    lent.fill(0x21);
  }
}

describe('a relayed response', () => {
  it('goes as the bytes that came, and what is read of it outlives them', () => {
    const owner = new FakeOwner();
    const handler = relay(owner, false);
    handler.begin();
    told(handler, '{"model":"m-1",', '"usage":{"prompt_tokens":2,"completion_tokens":3}}');
    handler.onEnd();
    assert.equal(owner.responder.text, '{"model":"m-1","usage":{"prompt_tokens":2,"completion_tokens":3}}');
    assert.deepEqual(owner.asked, ['finish']);
    assert.deepEqual([handler.usage()?.model, handler.usage()?.totalTokens], ['m-1', 5]);
  });

  it('pauses the upstream once while the client does not read, and resumes it', () => {
    const owner = new FakeOwner();
    const handler = relay(owner);
    handler.begin();
    owner.responder.write = () => false;
    told(handler, 'data: a\n\n', 'data: b\n\n');
    owner.responder.drainListener?.onDrain();
    owner.responder.drainListener?.onDrain();
    assert.deepEqual(owner.asked, ['pause', 'resume']);
  });

  it('that breaks off inside of an event closes it, and tells the error', () => {
    const owner = new FakeOwner();
    const handler = relay(owner);
    handler.begin();
    told(handler, 'data: {"a":1}\n\ndata: {"b"');
    handler.onError(broken());
    assert.match(owner.responder.text, /\ndata: \{"b"\n\ndata: \{"error":\{"message":"the answer of p broke off/);
    assert.deepEqual([owner.asked, owner.exchange.ending, owner.exchange.errorCode], [['stop', 'finish'], 'upstream', 'UPSTREAM_BROKE']);
  });

  it('between two events needs no closing, however they were cut', () => {
    for (const cut of [['data: a\n', '\n'], ['data: a\r\n\r', '\n'], ['data: a\r', '\r'], ['data: a\n\n']]) {
      const owner = new FakeOwner();
      const handler = relay(owner);
      handler.begin();
      told(handler, ...cut);
      handler.onError(broken());
      assert.ok(owner.responder.text.startsWith(`${cut.join('')}data: {"error"`), JSON.stringify(owner.responder.text));
    }
  });

  it('that is no stream is cut, so that it does not look whole', () => {
    const owner = new FakeOwner();
    const handler = relay(owner, false);
    handler.begin();
    told(handler, '{"mod');
    handler.onError(broken());
    assert.deepEqual([owner.responder.isAborted, owner.responder.isEnded, owner.asked], [true, false, ['stop', 'finish']]);
  });

  it('is broken off when its stream closes in good order without its last event', () => {
    const owner = new FakeOwner();
    const handler = relay(owner);
    handler.begin();
    told(handler, 'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n');
    handler.onEnd();
    assert.match(owner.responder.text, /its stream ended without its last event/);
    const whole = new FakeOwner();
    const other = relay(whole);
    other.begin();
    told(other, 'data: {}\n\ndata: [DO', 'NE]\n\n');
    other.onEnd();
    assert.deepEqual([whole.asked, whole.exchange.ending], [['finish'], 'complete']);
  });
});

describe('a stream whose first event is waited for', () => {
  const waiting = (owner: FakeOwner): FirstEventHandler => new FirstEventHandler(owner, relay(owner));

  it('is handed over with all that came, when the event is there', () => {
    const owner = new FakeOwner();
    const handler = waiting(owner);
    told(handler, ': ping\n\nda', 'ta: {"choices":[]}');
    assert.equal(owner.responder.isStarted, false);
    told(handler, '\n\ndata: x');
    assert.equal(owner.handler, handler.selected);
    assert.equal(owner.responder.text, ': ping\n\ndata: {"choices":[]}\n\ndata: x');
  });

  it('is waited for no longer than its limit: comments go to the client then', (context) => {
    const clock = context.mock.method(performance, 'now');
    const startedAt = performance.now();
    const owner = new FakeOwner();
    owner.triesAgain = true;
    const handler = waiting(owner);
    told(handler, ': thinking\n\n');
    clock.mock.mockImplementation(() => startedAt + waitMsMax - 1);
    told(handler, ': thinking\n\n');
    assert.deepEqual([owner.asked, owner.responder.isStarted], [[], false]);
    clock.mock.mockImplementation(() => startedAt + waitMsMax + 1_000);
    told(handler, ': thinking\n\n');
    assert.deepEqual(owner.asked, ['hand over']);
    assert.equal(owner.responder.text, ': thinking\n\n'.repeat(3));
  });

  it('that begins with an error is thrown away for another try, with nothing sent', () => {
    const owner = new FakeOwner();
    owner.triesAgain = true;
    told(waiting(owner), 'data: {"error":{"type":"overloaded_error","message":"busy"}}\n\n');
    assert.deepEqual([owner.asked, owner.responder.isStarted], [['try again for 529, told'], false]);
    const last = new FakeOwner();
    told(waiting(last), 'data: {"error":{"code":503}}\n\n');
    assert.deepEqual(last.asked, ['try again for 503, told', 'hand over']);
    assert.match(last.responder.text, /"code":503/);
  });

  it('that ends or breaks before it is asked for again once', () => {
    for (const end of ['onEnd', 'onError'] as const) {
      const again = new FakeOwner();
      again.triesAgain = true;
      waiting(again)[end](broken());
      assert.deepEqual([again.asked, again.responder.isStarted], [['try again after UPSTREAM_BROKE'], false]);
      const last = new FakeOwner();
      waiting(last)[end](broken());
      assert.deepEqual(last.asked, ['try again after UPSTREAM_BROKE', 'hand over', 'stop', 'finish']);
      assert.match(last.responder.text, /^data: \{"error"/);
    }
  });
});
