import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sessionCookie, signInCookie } from '../../../../core/control-plane/cookies.js';
import { fail } from '../../../../core/errors/gateway-error.js';
import type { Exchange } from '../../../../core/exchange/exchange.js';
import { abortResponse, beginResponse, endResponse, noteClientGone, sendError, sendEvents, sendResponse, writeResponse } from '../../../../core/pipeline/response/client-response.js';
import { ResponseHead } from '../../../../core/pipeline/response/response-head.js';
import { exchangeOf, RecordingResponder } from '../../exchange/fakes.js';

const started = (): { exchange: Exchange; responder: RecordingResponder; all: (name: string) => string[] } => {
  const responder = new RecordingResponder();
  const exchange = exchangeOf({ responder });
  return { exchange, responder, all: (name) => responder.headers.filter((_, index) => index % 2 === 1 && responder.headers[index - 1] === name) };
};

describe('the response to the client', () => {
  it('that is relayed has its status, its first byte, and each header of the gateway once', () => {
    const { exchange, responder, all } = started();
    const head = new ResponseHead(200, ['content-type', 'text/event-stream', 'x-gateway-trace-id', 'forged', 'set-cookie', 'a', 'set-cookie', 'b', 'date', 'x', 'connection', 'x-hop', 'x-hop', '1', 'server-timing', 'db;dur=1']);
    beginResponse(exchange, 246, 2, head, '', -1);
    assert.equal(writeResponse(exchange, Buffer.from('data: a\n\n')), true);
    endResponse(exchange);
    assert.deepEqual([responder.status, exchange.status, exchange.firstByteAt > 0, responder.text, responder.isEnded], [246, 246, true, 'data: a\n\n', true]);
    assert.deepEqual([all('x-gateway-trace-id'), all('x-gateway-retry-attempt-count'), all('content-type')], [[exchange.traceId], ['2'], ['text/event-stream']]);
    assert.deepEqual([all('set-cookie'), all('date'), all('x-hop'), all('connection')], [['a', 'b'], [], [], []]);
    assert.match(all('server-timing').join(), /^gateway;dur=[\d.]+, upstream;dur=0\.000, db;dur=1$/);
  });

  it('signs nobody in with cookies of the provider', () => {
    const { exchange, responder, all } = started();
    const own = [true, false].flatMap((isSecure) => [sessionCookie(isSecure), signInCookie(isSecure)]);
    assert.equal(own.length, 4);
    const planted = own.flatMap((name) => [`${name}=evil; Path=/; Secure`, ` ${name} =evil`, `=${name}=evil`]);
    const others = ['a=1', 'gateway_sessions=1', 'x=gateway_session=1'];
    sendResponse(exchange, 200, 0, new ResponseHead(200, [...planted, ...others].flatMap((value) => ['set-cookie', value])), 'application/json', '{}');
    assert.deepEqual([all('set-cookie'), responder.text], [others, '{}']);
  });

  it('of another content type than the provider\'s has that alone', () => {
    const { exchange, responder, all } = started();
    sendResponse(exchange, 200, 0, new ResponseHead(200, ['content-type', 'text/plain', 'etag', 'e']), 'application/json', '{}');
    assert.deepEqual([all('content-type'), all('etag'), responder.text], [['application/json'], ['e'], '{}']);
  });

  it('that is an error is in the client\'s dialect, and says when to come back', () => {
    const { exchange, responder, all } = started();
    sendError(exchange, fail('OVERLOADED', { maximum: 1 }), 0, null);
    assert.deepEqual([exchange.status, all('retry-after'), JSON.parse(responder.text).error.code], [503, ['1'], 'overloaded']);
    const internal = started();
    sendError(internal.exchange, fail('INTERNAL', { id: 'unknown' }), 0, null);
    assert.ok(internal.responder.text.includes(internal.exchange.id));
    const provider = started();
    sendError(provider.exchange, { status: 529, message: 'busy', type: 'overloaded_error', param: null, code: null }, 1, new ResponseHead(200, ['x-own', '1']));
    assert.deepEqual([provider.exchange.status, provider.all('x-own'), provider.all('retry-after')], [529, ['1'], []]);
  });

  it('that is a stream of events already whole counts as a stream', () => {
    const { exchange, responder, all } = started();
    sendEvents(exchange, 200, 'data: [DONE]\n\n');
    assert.deepEqual([exchange.isStream, all('content-type'), all('cache-control'), responder.text], [true, ['text/event-stream'], ['no-cache'], 'data: [DONE]\n\n']);
  });

  it('has the status of a client that left only where nothing was sent', () => {
    const early = started();
    noteClientGone(early.exchange);
    assert.equal(early.exchange.status, 499);
    const late = started();
    beginResponse(late.exchange, 200, 0, null, 'text/plain', -1);
    abortResponse(late.exchange);
    noteClientGone(late.exchange);
    assert.deepEqual([late.exchange.status, late.responder.isAborted], [200, true]);
  });
});
