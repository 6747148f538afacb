import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { headOf } from './fakes.js';

describe('a request head', () => {
  it('keeps the client\'s headers in order, repeated ones too', () => {
    const head = new RequestHead();
    for (const [name, value] of [['accept', '*/*'], ['x-custom', '1'], ['x-custom', '2'], ['user-agent', 'test']] as const) head.add(name, value);
    assert.deepEqual(head.headers, ['accept', '*/*', 'x-custom', '1', 'x-custom', '2', 'user-agent', 'test']);
    assert.equal(head.header('x-custom'), '1');
    assert.equal(head.header('absent'), undefined);
  });

  it('puts each gateway header into its field and none into the list', () => {
    const names = {
      'x-gateway-api-key': 'apiKey', 'x-gateway-config': 'config', 'x-gateway-provider': 'provider', 'x-gateway-virtual-key': 'virtualKey', 'x-gateway-custom-host': 'customHost',
      'x-gateway-forward-headers': 'forwardHeaders', 'x-gateway-request-timeout': 'requestTimeout', 'x-gateway-metadata': 'metadata', 'x-gateway-strict-reference-compliance': 'strict',
      'x-gateway-trace-id': 'traceId', 'x-gateway-span-id': 'spanId', 'x-gateway-parent-span-id': 'parentSpanId', 'x-gateway-span-name': 'spanName',
      'x-gateway-cache-namespace': 'cacheNamespace', 'x-gateway-cache-force-refresh': 'cacheForceRefresh',
    } as const;
    for (const [name, fieldName] of Object.entries(names) as [string, (typeof names)[keyof typeof names]][]) {
      const head = headOf({ [name]: `value of ${name}` });
      assert.equal(head[fieldName], `value of ${name}`, name);
      assert.deepEqual([head.headers, head.gatewayHeaders], [[], []], name);
      assert.equal(head.header(name), undefined, 'gateway headers are not the plugins\' business');
    }
  });

  it('keeps gateway headers of providers apart, without the prefix', () => {
    const head = headOf({ 'x-gateway-vendor-organization': 'org-1', 'x-gateway-cloud1-region': 'eu' });
    assert.deepEqual(head.gatewayHeaders, ['vendor-organization', 'org-1', 'cloud1-region', 'eu']);
    assert.equal(head.gatewayHeader('cloud1-region'), 'eu');
    assert.equal(head.gatewayHeader('x-gateway-cloud1-region'), undefined);
    assert.deepEqual(head.headers, []);
  });

  it('takes the framing headers out of the list', () => {
    const head = headOf({ 'content-length': '12', 'transfer-encoding': 'chunked', authorization: 'Bearer x' });
    assert.deepEqual(head.headers, []);
    assert.deepEqual([head.contentLength, head.contentLengthCount, head.transferEncoding, head.authorization], [12, 1, 'chunked', 'Bearer x']);
    assert.deepEqual([head.header('content-length'), head.header('authorization')], ['12', 'Bearer x']);
  });

  it('keeps content type and traceparent in the list and at hand', () => {
    const head = headOf({ 'content-type': 'application/json', traceparent: '00-a' });
    assert.deepEqual(head.headers, ['content-type', 'application/json', 'traceparent', '00-a']);
    assert.deepEqual([head.contentType, head.traceParent, head.header('content-type')], ['application/json', '00-a', 'application/json']);
  });

  it('has a body when a length above zero or a coding says so', () => {
    assert.ok(!headOf({}).hasBody);
    assert.ok(!headOf({ 'content-length': '0' }).hasBody);
    assert.ok(headOf({ 'content-length': '1' }).hasBody);
    assert.ok(headOf({ 'transfer-encoding': 'chunked' }).hasBody);
  });

  it('knows nothing of headers that were not sent', () => {
    const head = new RequestHead();
    assert.deepEqual([head.header('content-type'), head.header('content-length'), head.header('authorization'), head.gatewayHeader('x')], [undefined, undefined, undefined, undefined]);
    assert.equal(head.contentLength, -1);
  });
});
