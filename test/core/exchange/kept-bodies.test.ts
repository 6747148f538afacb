import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeptBodies, KeptRoom, type KeepRules } from '../../../core/exchange/kept-bodies.js';
import { clientHeaders, maskedUrl, upstreamHeaders } from '../../../core/exchange/masking.js';
import { bodyNames } from '../../../core/logs/record-layout.js';
import { exchangeOf } from './fakes.js';

const rulesOf = (changes: Partial<KeepRules> = {}): KeepRules => ({ bytesMax: 1000, maskedHeaders: new Set(), keepsOriginal: false, ...changes });
const json = ['content-type', 'application/json'];

function setUp(options: { rules?: Partial<KeepRules>; roomBytes?: number; headers?: Record<string, string>; body?: string } = {}) {
  const dropped: string[] = [];
  const room = new KeptRoom({ add: (_, reason) => { dropped.push(reason); } }, options.roomBytes);
  const exchange = exchangeOf({ body: options.body ?? '{}', headers: { 'content-type': 'application/json', ...options.headers } });
  const kept = new KeptBodies(exchange, rulesOf(options.rules), room);
  const finish = (): Record<string, string> => Object.fromEntries(kept.finish().map((bytes, index) => [bodyNames[index] ?? '', bytes.toString()]));
  return { dropped, room, exchange, kept, finish };
}

describe('bodies that are kept of a call', () => {
  it('hold no secret in part, wherever it stands about the limit, and however long it is', () => {
    for (const length of [8, 40, 3000]) {
      const secret = Array.from({ length }, (_, index) => 'abcdefghijklmnopqrstuvwxyz'[(index * 7 + (index >> 3)) % 26]).join('');
      for (let at = 1000 - length - 20; at <= 1010; at += Math.max(1, length >> 4)) {
        if (at < 0) continue;
        const { kept, finish } = setUp({ body: `${'.'.repeat(at)}${secret}${'.'.repeat(3000)}` });
        kept.sent('http://x', json, null, false, secret, {});
        kept.answered('application/json', false);
        const text = `${'.'.repeat(at)}${secret}${'.'.repeat(3000)}`;
        for (let from = 0; from < text.length; from += 100) kept.answerChunk(Buffer.from(text.slice(from, from + 100)));
        const { request, upstreamResponse } = finish();
        for (const found of [request, upstreamResponse]) {
          assert.match(found ?? '', /^\.*(?:\[(?:m(?:a(?:s(?:k(?:e(?:d\]?)?)?)?)?)?)?)?\.*…$/, `${length} at ${at}: ${found?.slice(-60)}`);
          assert.ok(Buffer.byteLength(found ?? '') <= 1003);
        }
      }
    }
  });

  it('hold no secret in part behind others that were masked', () => {
    const secret = 'abcdefghij'.repeat(300);
    const { kept, finish } = setUp({ body: `${secret}${'.'.repeat(500)}${secret}` });
    kept.sent('http://x', json, null, false, secret, {});
    assert.equal((finish().request ?? 'abc').includes('abc'), false);
  });

  it('hold no credential that the client sent in another header, in a cookie or in the basic scheme, in any spelling, nor the rest of one that begins with another', () => {
    const basic = Buffer.from('ann:pass"word/1').toString('base64');
    const { kept, finish } = setUp({ headers: { 'x-api-key': 'client-secret-1', 'x-upstream-auth': 'Bearer client-secret-2', cookie: 'theme=dark; sid=0123456789abcdef', authorization: `Basic ${basic}` } });
    kept.sent('http://x', json, null, false, 'provider-key', { secret: 'provider-key-and-more' });
    kept.answered('application/json', false);
    kept.answerChunk(Buffer.from(`${JSON.stringify({ key: 'client-secret-1', auth: 'client-secret-2', sid: '0123456789abcdef', pass: 'pass"word/1', long: 'provider-key-and-more' })} ${basic} ?p=${encodeURIComponent('pass"word/1')} dark`));
    const { upstreamResponse, requestHeaders } = finish();
    assert.equal(upstreamResponse, '{"key":"[masked]","auth":"[masked]","sid":"[masked]","pass":"[masked]","long":"[masked]"} [masked] ?p=[masked] dark');
    assert.equal(/client-secret|0123456789abcdef/.test(requestHeaders ?? ''), false);
  });

  it('hold no value of a header that the integration adds, whatever its name, but short words', () => {
    const { kept, finish } = setUp();
    const headers = ['X-Custom', 'custom secret value', 'x-plain-pass', 'password', 'x-env', 'staging', 'x-tenant', 'tenant-1', 'x-upstream-pair', 'Bearer upstream-token', 'authorization', 'Token "integration token"', 'x-request-id', 'an id that the call has'];
    kept.sent('http://x', [...json, ...headers], null, false, undefined, {}, new Set(['x-custom', 'x-plain-pass', 'x-env', 'x-tenant', 'x-upstream-pair', 'authorization']));
    kept.answered('application/json', false);
    kept.answerChunk(Buffer.from(JSON.stringify({ headers, alone: 'upstream-token' })));
    assert.deepEqual(JSON.parse(finish().upstreamResponse ?? ''), { alone: '[masked]', headers: ['X-Custom', '[masked]', 'x-plain-pass', '[masked]', 'x-env', 'staging', 'x-tenant', '[masked]', 'x-upstream-pair', '[masked]', 'authorization', '[masked]', 'x-request-id', 'an id that the call has'] });
  });

  it('hold no credential of the query that the client sent', () => {
    const { exchange, room } = setUp();
    exchange.head.query = 'alt=sse-stream-1&key=a%20query%2Bsecret';
    const kept = new KeptBodies(exchange, rulesOf(), room);
    kept.sent('http://x', json, null, false, undefined, {});
    kept.answered('application/json', false);
    kept.answerChunk(Buffer.from('/v1?key=a%20query%2Bsecret a query+secret sse-stream-1'));
    assert.equal(kept.finish()[5]?.toString(), '/v1?key=[masked] [masked] sse-stream-1');
  });

  it('take the memory that is counted, whatever the size of the chunks', () => {
    const { room, kept, finish } = setUp({ rules: { bytesMax: 100_000 } });
    kept.sent('http://x', json, null, false, undefined, {});
    kept.answered('application/json', false);
    const text = Array.from({ length: 3000 }, (_, index) => String.fromCharCode(97 + index % 26)).join('');
    const before = process.memoryUsage();
    for (let from = 0, size = 1; from < text.length; from += size, size = size === 1 ? 2 : size === 2 ? 600 : 1) kept.answerChunk(Buffer.from(text.slice(from, from + size)));
    for (let index = 0; index < 100_000; index += 1) kept.responseChunk(Buffer.of(97));
    const after = process.memoryUsage();
    assert.ok(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers < 20_000_000);
    assert.ok(room.bytes >= 103_000 && room.bytes < 105_000, String(room.bytes));
    const { upstreamResponse, response } = finish();
    assert.equal(upstreamResponse, text);
    assert.equal(response?.length, 100_000);
    assert.equal(room.bytes, 0);
  });

  it('are left out where all calls together hold too much, which is counted, and give back what they held', () => {
    const { dropped, room, kept, finish } = setUp({ roomBytes: 1500 });
    kept.sent('http://x', json, null, false, undefined, {});
    kept.answered('application/json', false);
    kept.answerChunk(Buffer.alloc(1000, 'a'));
    kept.responded(json);
    kept.responseChunk(Buffer.alloc(1000, 'b'));
    kept.responseChunk(Buffer.alloc(400, 'b'));
    assert.equal(room.bytes, 1000);
    const { upstreamResponse, response } = finish();
    assert.equal(upstreamResponse, 'a'.repeat(1000));
    assert.equal(response, '[not kept: there was no room for it]');
    assert.equal(dropped.length, 1);
    assert.equal(room.bytes, 0);
    kept.release();
    kept.answerChunk(Buffer.alloc(10));
    assert.equal(room.bytes, 0);
  });

  it('are of the last request that went up', () => {
    const { room, kept, finish } = setUp();
    kept.sent('http://first', json, Buffer.from('1'), false, undefined, {});
    kept.answered('application/json', false);
    kept.answerChunk(Buffer.from('first'));
    kept.sent('http://second', json, Buffer.from('2'), false, undefined, {});
    assert.equal(room.bytes, 0);
    kept.answered('text/event-stream', false);
    kept.answerChunk(Buffer.from('second'));
    const { upstreamUrl, upstreamRequest, upstreamResponse } = finish();
    assert.deepEqual([upstreamUrl, upstreamRequest, upstreamResponse], ['http://second', '2', 'second']);
  });

  it('keep headers bounded, and mask those that hold credentials, sessions and what is listed', () => {
    const listed = new Set(['x-mine']);
    const headers = ['cookie', 'a=b', 'x-session-id', 's', 'x-auth', 'a', 'my-api-key', 'k', 'x-mine', 'm', 'x-other', 'o', 'x-ratelimit-remaining-tokens', '5', 'x-other', 'p'];
    assert.deepEqual(JSON.parse(clientHeaders(headers, ['debug', 'true', 'aws-secret-access-key', 'x', 'anything', 'y'], true, listed)), {
      authorization: '[masked]', cookie: '[masked]', 'x-session-id': '[masked]', 'x-auth': '[masked]', 'my-api-key': '[masked]', 'x-mine': '[masked]', 'x-other': 'o, p', 'x-ratelimit-remaining-tokens': '5',
      'x-gateway-debug': 'true', 'x-gateway-aws-secret-access-key': '[masked]', 'x-gateway-anything': '[masked]',
    });
    assert.deepEqual(JSON.parse(upstreamHeaders(['Content-Type', 'a/b', 'x-other', 'o', 'x-config', 'c', 'x-api-key', 'k'], headers, listed)), { 'content-type': 'a/b', 'x-other': 'o', 'x-config': '[masked]', 'x-api-key': '[masked]' });
    const many = Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'value of it']).flat();
    const text = clientHeaders(many, [], false, listed);
    assert.ok(text.length < 16_500);
    assert.match(String((JSON.parse(text) as Record<string, string>)['…']), /^\d+ more$/);
  });

  it('mask what is named as a credential in another word, and no name that only has such a word inside', () => {
    const hidden = ['x-bearer', 'x-pwd', 'x-user-pass', 'pass', 'x-passcode', 'x-sig', 'sas', 'x-sid', 'x-otp', 'user_pin', 'x-access-code', 'accesscode', 'x-saml-response', 'x-hmac-sha256', 'x-xsrf'];
    const shown = ['x-passenger', 'x-design', 'x-pinned-version', 'x-side', 'x-signal', 'x-status-code', 'x-bypass-cache', 'x-shipping'];
    const headers = [...hidden, ...shown].flatMap((name) => [name, `value of ${name}`]);
    const kept: Record<string, string> = JSON.parse(clientHeaders(headers, [], false, new Set()));
    assert.deepEqual(hidden.filter((name) => kept[name] !== '[masked]'), []);
    assert.deepEqual(shown.filter((name) => kept[name] !== `value of ${name}`), []);
    const { exchange, room } = setUp();
    exchange.head.query = 'sig=signed-secret-1&code=signed-secret-2';
    const call = new KeptBodies(exchange, rulesOf(), room);
    call.sent('http://x', json, Buffer.from('{"echo":"signed-secret-1 signed-secret-2"}'), false, undefined, {});
    assert.equal(call.finish().join('').includes('signed-secret'), false);
  });

  it('have addresses without user, password and the values of queries', () => {
    assert.equal(maskedUrl('https://user:password@host/v1/x?key=abc&api-version=2024-01-01&alt=sse&flag&sig=a=b'), 'https://[masked]@host/v1/x?key=[masked]&api-version=2024-01-01&alt=sse&flag&sig=[masked]');
    assert.equal(maskedUrl('http://host/v1/a@b'), 'http://host/v1/a@b');
  });
});
