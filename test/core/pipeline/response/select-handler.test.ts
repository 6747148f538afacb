import type { EndpointSpec } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messages } from '../../../../core/dialect/messages/dialect.js';
import { responses } from '../../../../core/dialect/responses/dialect.js';
import { CollectHandler } from '../../../../core/pipeline/response/collect-handler.js';
import { FirstEventHandler } from '../../../../core/pipeline/response/first-event-handler.js';
import { RelayHandler } from '../../../../core/pipeline/response/relay-handler.js';
import { ResponseHead } from '../../../../core/pipeline/response/response-head.js';
import { kindOf, selectHandler, type HandlerKind } from '../../../../core/pipeline/response/select-handler.js';
import { TransformHandler } from '../../../../core/pipeline/response/transform-handler.js';
import { FakeOwner } from '../pipeline-fakes.js';

const plain: EndpointSpec = { path: '/c' };
const withFunctions: EndpointSpec = { path: '/c', response: (body) => body, stream: () => ({ push: (event, out) => out.write(event), end() {} }) };
const json = 'application/json; charset=utf-8';
const events = 'text/event-stream';
const page = 'text/html';

interface Row {
  readonly status: number;
  readonly type: string;
  readonly spec?: EndpointSpec;
  readonly translation?: 'messages' | 'responses';
  readonly isWatched?: boolean;
  readonly isJudged?: boolean;
  readonly readsErrors?: boolean;
  readonly kind: HandlerKind;
}

const rows: readonly Row[] = [
  { status: 200, type: json, kind: 'relay' },
  { status: 200, type: events, kind: 'relay' },
  { status: 200, type: 'audio/mpeg', kind: 'relay' },
  { status: 200, type: json, isWatched: true, kind: 'whole' },
  { status: 200, type: page, isWatched: true, kind: 'relay' },
  { status: 200, type: page, isWatched: true, isJudged: true, kind: 'whole' },
  { status: 200, type: events, isWatched: true, kind: 'transform' },
  { status: 200, type: json, spec: withFunctions, kind: 'made' },
  { status: 201, type: json, spec: withFunctions, kind: 'made' },
  { status: 200, type: events, spec: withFunctions, kind: 'transform' },
  { status: 200, type: json, translation: 'messages', kind: 'made' },
  { status: 200, type: events, translation: 'responses', kind: 'transform' },
  { status: 304, type: page, spec: withFunctions, kind: 'relay' },
  { status: 404, type: json, kind: 'relay' },
  { status: 404, type: json, isWatched: true, kind: 'whole' },
  { status: 502, type: page, kind: 'error' },
  { status: 500, type: events, kind: 'relay' },
  { status: 429, type: json, readsErrors: true, kind: 'error' },
  { status: 429, type: json, translation: 'messages', kind: 'error' },
];

const translations = { messages: messages.translation, responses: responses.translation };

describe('the head of a response', () => {
  for (const { status, type, spec = plain, translation = null, isWatched = false, isJudged = false, readsErrors = false, kind } of rows) {
    const about = [isWatched ? 'watched' : '', isJudged ? 'judged' : '', spec === plain ? '' : 'functions', translation ?? '', readsErrors ? 'errors read' : ''].filter((word) => word !== '');
    it(`${status} ${type}${about.length === 0 ? '' : ` (${about.join(', ')})`} selects ${kind}`, () => {
      const target = { provider: { plugin: readsErrors ? { error: () => undefined } : {} } };
      assert.equal(kindOf({ status, contentType: type }, type === events, true, isWatched, isJudged, { spec, translation: translation === null ? null : translations[translation] }, target), kind);
    });
  }

  const target = { after: null, cache: null, breaker: null, provider: { id: 'p', plugin: {} } } as never;
  const prepared = (spec: EndpointSpec | null): never => ({ spec, call: { endpoint: 'chatCompletions' }, translation: null }) as never;
  const select = (owner: FakeOwner, headers: readonly string[], spec: EndpointSpec | null = plain): unknown => selectHandler(owner, target, prepared(spec), new ResponseHead(200, headers), 0);

  it('begins what is relayed, and leaves what is collected for its end', () => {
    const owner = new FakeOwner();
    assert.ok(select(owner, ['content-type', events]) instanceof RelayHandler);
    assert.deepEqual([owner.responder.isStarted, owner.exchange.status, owner.exchange.isStream], [true, 200, true]);
    const collecting = new FakeOwner();
    assert.ok(select(collecting, ['content-type', json], { path: '/c', response: (body) => body }) instanceof CollectHandler);
    assert.deepEqual([collecting.responder.isStarted, collecting.exchange.status], [false, 0]);
  });

  it('waits for the first event of a stream where another try is possible, but not on the proxy route', () => {
    const owner = new FakeOwner();
    owner.mayTryAgain = true;
    assert.ok(select(owner, ['content-type', events]) instanceof FirstEventHandler);
    assert.equal(owner.responder.isStarted, false);
    assert.ok(select(owner, ['content-type', events], null) instanceof RelayHandler);
    const transformed = new FakeOwner();
    assert.ok(select(transformed, ['content-type', events], { path: '/c', stream: () => ({ push: (event, out) => out.write(event), end() {} }) }) instanceof TransformHandler);
  });

  it('of a compressed body that would have to be read refuses it, and relays others', () => {
    const owner = new FakeOwner();
    const headers = ['content-type', json, 'content-encoding', 'gzip'];
    assert.equal(select(owner, headers, { path: '/c', response: (body) => body }), null);
    assert.deepEqual(owner.asked, ['stop', 'refuse UPSTREAM_INVALID']);
    const relaying = new FakeOwner();
    const handler = select(relaying, headers);
    assert.ok(handler instanceof RelayHandler);
    assert.equal(handler.tap, null);
  });

  it('is searched once: of a header that is there twice the first counts', () => {
    const head = new ResponseHead(200, ['Content-Type', 'x', 'content-type', 'a/b', 'content-length', '7', 'content-type', 'c/d', 'connection', 'close, x-hop']);
    assert.deepEqual([head.contentType, head.contentLength, head.isEncoded, head.namesHeaders], ['a/b', 7, false, true]);
    assert.equal(new ResponseHead(204, ['connection', 'keep-alive']).namesHeaders, false);
  });
});
