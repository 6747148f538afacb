import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { exchangeOf } from './fakes.js';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';
const hexSpan = /^[0-9a-f]{16}$/;

describe('the ids of an exchange', () => {
  it('are made where the client gave none', () => {
    const [one, two] = [exchangeOf(), exchangeOf()];
    assert.match(one.id, /^[0-9a-f-]{36}$/);
    assert.equal(one.traceId, one.id);
    assert.match(one.spanId, hexSpan);
    assert.equal(one.parentSpanId, '');
    assert.notEqual(one.id, two.id);
    assert.notEqual(one.spanId, two.spanId);
  });

  it('come from the gateway headers as they are', () => {
    const exchange = exchangeOf({ headers: { 'x-gateway-trace-id': 'my-trace', 'x-gateway-span-id': 'my-span', 'x-gateway-parent-span-id': 'my-parent' } });
    assert.deepEqual([exchange.traceId, exchange.spanId, exchange.parentSpanId], ['my-trace', 'my-span', 'my-parent']);
  });

  it('come from traceparent, whose span is the parent', () => {
    const exchange = exchangeOf({ headers: { traceparent: `00-${trace}-${span}-01` } });
    assert.equal(exchange.traceId, trace);
    assert.equal(exchange.parentSpanId, span);
    assert.match(exchange.spanId, hexSpan);
    assert.notEqual(exchange.spanId, span);
    assert.equal(exchange.head.header('traceparent'), `00-${trace}-${span}-01`);
  });

  it('come from the gateway headers before traceparent, and from neither when it is malformed', () => {
    const both = exchangeOf({ headers: { traceparent: `00-${trace}-${span}-01`, 'x-gateway-trace-id': 'mine' } });
    assert.deepEqual([both.traceId, both.parentSpanId], ['mine', span]);
    const bad = exchangeOf({ headers: { traceparent: `00-${trace}-${span}` } });
    assert.deepEqual([bad.traceId, bad.parentSpanId], [bad.id, '']);
  });
});

describe('the metadata of an exchange', () => {
  it('has the end user of a body that was parsed anyway, unless something else names one', () => {
    const exchange = exchangeOf({ headers: { 'x-gateway-metadata': '{"team":"red"}' } });
    assert.deepEqual([exchange.metadata, exchange.metadataText], [{ team: 'red' }, '{"team":"red"}']);
    exchange.bytes = Buffer.from('{"model":"m","user":"jane"}');
    assert.deepEqual(exchange.metadata, { team: 'red' }, 'nothing is parsed for it');
    exchange.parsed = { model: 'm', user: 'jane' };
    exchange.forgetMembers();
    assert.deepEqual([exchange.metadata, exchange.metadata, exchange.metadataText], [{ team: 'red', _user: 'jane' }, exchange.metadata, '{"team":"red","_user":"jane"}']);
    const named = exchangeOf({ headers: { 'x-gateway-metadata': '{"_user":"header"}' } });
    named.parsed = { user: 'jane' };
    assert.equal(named.metadata._user, 'header');
    for (const [user, wanted] of [[5, undefined], ['', undefined], ['x'.repeat(200), 'x'.repeat(128)]]) {
      const other = exchangeOf();
      other.parsed = { user };
      assert.equal(other.metadata._user, wanted);
    }
    // What partitions caches is what the head says.
    assert.equal(exchange.head.metadata, '{"team":"red"}');
  });

  it('is the JSON object of its header, parsed once', () => {
    const exchange = exchangeOf({ headers: { 'x-gateway-metadata': '{"user":"u-1","n":2,"inner":{"a":[null]}}' } });
    assert.deepEqual(exchange.metadata, { user: 'u-1', n: 2, inner: { a: [null] } });
    assert.equal(exchange.metadata, exchange.metadata);
  });

  it('is empty without the header', () => {
    assert.deepEqual(exchangeOf().metadata, {});
    assert.deepEqual(exchangeOf({ headers: { 'x-gateway-metadata': '' } }).metadata, {});
  });

  it('of any other shape is refused with the header named', () => {
    for (const text of ['[]', '"text"', 'null', '1', 'true', '{', 'user=u-1', '{"a":1}}']) {
      const exchange = exchangeOf({ headers: { 'x-gateway-metadata': text } });
      assert.throws(() => exchange.metadata, (error: unknown) => {
        assert.ok(isGatewayError(error));
        assert.equal(error.code, 'HEADER_INVALID');
        assert.equal(error.param, 'x-gateway-metadata');
        assert.match(error.message, /^header x-gateway-metadata: must be a JSON object/);
        return true;
      }, text);
    }
  });
});

describe('the body of an exchange', () => {
  it('is parsed once, when somebody asks', () => {
    const exchange = exchangeOf({ headers: { 'content-type': 'application/json' }, body: '{"model":"m","stream":true}' });
    assert.equal(exchange.parsed, undefined);
    assert.deepEqual(exchange.json(), { model: 'm', stream: true });
    assert.equal(exchange.json(), exchange.parsed);
    assert.equal(exchange.request.json(), exchange.parsed);
  });

  it('is JSON by its content type, or without one', () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/vnd.api+json', 'application/problem+JSON', 'Application/JSON', 'application/json ;charset=utf-8', '']) {
      assert.ok(exchangeOf({ headers: type === '' ? {} : { 'content-type': type }, body: '{}' }).isJson, type);
    }
    for (const type of ['text/plain', 'multipart/form-data; boundary=json', 'text/json', 'application/jsonl', 'application/json-seq', 'application/x-ndjson', 'application/jsonlines; charset=utf-8', 'application/octet-stream']) {
      assert.ok(!exchangeOf({ headers: { 'content-type': type }, body: '{}' }).isJson, type);
    }
    assert.ok(!exchangeOf({ headers: { 'content-type': 'application/json' } }).isJson);
  });

  it('that is not a JSON object has no members, and the one asking is not disturbed', () => {
    for (const body of ['[1]', 'null', '{"a":', 'text', '']) assert.deepEqual(exchangeOf({ headers: { 'content-type': 'application/json' }, body }).json(), {}, body);
    assert.deepEqual(exchangeOf({ headers: { 'content-type': 'text/plain' }, body: '{"a":1}' }).json(), {});
  });

  it('gives plugins single members without being parsed', () => {
    const exchange = exchangeOf({ headers: { 'content-type': 'application/json', 'x-custom': 'v' }, body: '{"model":"m","n":3,"inner":{"model":"other"}}' });
    assert.equal(exchange.request.field('model'), 'm');
    assert.equal(exchange.request.field('n'), 3);
    assert.equal(exchange.request.field('absent'), undefined);
    assert.equal(exchange.parsed, undefined);
    assert.equal(exchange.request.header('x-custom'), 'v');
    assert.equal(exchange.request.method, 'POST');
    assert.equal(exchange.request.path, '/v1/chat/completions');
    assert.equal(exchange.request.bytes(), exchange.bytes);
  });
});

describe('what plugins share in an exchange', () => {
  it('is made when it is asked for, once', () => {
    const exchange = exchangeOf();
    exchange.notes.set('a', 1);
    assert.equal(exchange.notes.get('a'), 1);
    const { signal } = exchange;
    assert.equal(signal.aborted, false);
    exchange.abortPlugins();
    assert.equal(signal.aborted, true);
    assert.equal(exchange.signal, signal);
    assert.equal(exchange.endpoint, 'chatCompletions');
  });

  it('has a start on the wall clock', () => {
    const before = Date.now();
    const exchange = exchangeOf();
    assert.ok(Math.abs(exchange.startedAtMs - before) < 5000, `${exchange.startedAtMs - before} ms`);
  });

  it('that asks for the signal after the end finds it aborted', () => {
    const exchange = exchangeOf();
    exchange.isFinished = true;
    exchange.abortPlugins();
    assert.equal(exchange.signal.aborted, true);
  });
});

describe('the members of a body', () => {
  it('are parsed again when somebody asks after they were let go, and their model stays', () => {
    const exchange = exchangeOf({ body: '{"model":"gpt-test","n":1}' });
    exchange.forgetMembers();
    assert.equal(exchange.model, '');
    const first = exchange.json();
    exchange.forgetMembers();
    assert.equal(exchange.parsed, undefined);
    assert.equal(exchange.model, 'gpt-test');
    assert.deepEqual(exchange.json(), first);
    assert.notEqual(exchange.json(), first);
  });

  it('let go without a model that is a text name none', () => {
    const exchange = exchangeOf({ body: '{"model":7}' });
    exchange.json();
    exchange.forgetMembers();
    assert.equal(exchange.model, '');
  });
});
