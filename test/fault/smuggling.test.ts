// Requests whose end two parsers could see in different places. Whatever the edge makes of one, the provider must never see two: each is
// refused or its connection closed, and what came behind it on the connection is never served.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, routed, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_BODY_TIMEOUT_MS: '300' });
const identity = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');

/** What an attacker wants served: seen at the provider under this path. */
const hidden = `GET /v1/proxy/hidden HTTP/1.1\r\nhost: g\r\n${identity}\r\n`;
const json = 'content-type: application/json\r\n';
const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const hex = (text: string): string => text.length.toString(16);

/** A request whose head is this: on a unified route (parsed body) and on the proxy (streamed body). */
const routes = ['/v1/chat/completions', '/v1/proxy/upload'] as const;
const request = (path: string, framing: string, rest: string): string => `POST ${path} HTTP/1.1\r\nhost: g\r\n${json}${identity}${framing}\r\n${rest}`;

/** Sends it and waits until the connection is closed. */
async function answersOf(bytes: string): Promise<string[]> {
  const wire = await openWire(gateway.port);
  wire.write(Buffer.from(bytes, 'latin1'));
  const text = await wire.closed();
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((part) => part !== '');
}

const ambiguous: Readonly<Record<string, readonly [framing: string, rest: string]>> = {
  'the same content-length twice': [`content-length: ${chat.length}\r\ncontent-length: ${chat.length}\r\n`, chat],
  'two content-lengths, the shorter first': [`content-length: ${chat.length}\r\ncontent-length: ${chat.length + hidden.length}\r\n`, chat + hidden],
  'two content-lengths, the longer first': [`content-length: ${chat.length + hidden.length}\r\ncontent-length: ${chat.length}\r\n`, chat + hidden],
  'a content-length of zero and another': [`content-length: 0\r\ncontent-length: ${hidden.length}\r\n`, hidden],
  'two lengths in one header': [`content-length: ${chat.length}, ${chat.length}\r\n`, chat],
  'content-length and chunked': [`content-length: ${chat.length}\r\ntransfer-encoding: chunked\r\n`, `0\r\n\r\n${hidden}`],
  'chunked and content-length': [`transfer-encoding: chunked\r\ncontent-length: 5\r\n`, `0\r\n\r\n${hidden}`],
  'chunked and a content-length of zero': [`transfer-encoding: chunked\r\ncontent-length: 0\r\n`, `${hex(chat)}\r\n${chat}\r\n0\r\n\r\n`],
  'an unknown transfer coding': ['transfer-encoding: gzip\r\n', hidden],
  'an unknown transfer coding before chunked': ['transfer-encoding: gzip, chunked\r\n', `0\r\n\r\n${hidden}`],
  'chunked before another coding': ['transfer-encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`],
  'a transfer coding that only looks like chunked': ['transfer-encoding: xchunked\r\n', `0\r\n\r\n${hidden}`],
  'a transfer coding in quotes': ['transfer-encoding: "chunked"\r\n', `0\r\n\r\n${hidden}`],
  'transfer-encoding: chunked twice': ['transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${hidden}`],
  'chunked twice in one header': ['transfer-encoding: chunked, chunked\r\n', `0\r\n\r\n${hidden}`],
  'chunked, then identity in a header of its own': ['transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n', `0\r\n\r\n${hidden}`],
  'identity beside content-length': [`transfer-encoding: identity\r\ncontent-length: ${chat.length}\r\n`, chat],
  'a folded header': [`content-length: ${chat.length}\r\n \r\n`, chat],
  'a folded transfer-encoding': ['transfer-encoding:\r\n chunked\r\n', `0\r\n\r\n${hidden}`],
  'a folded value behind another': [`x-note: a\r\n\tcontent-length: 0\r\ncontent-length: ${chat.length}\r\n`, chat],
  'a blank before the colon of content-length': [`content-length : ${chat.length}\r\n`, chat],
  'a tab before the colon of transfer-encoding': ['transfer-encoding\t: chunked\r\n', `0\r\n\r\n${hidden}`],
  'a blank before the name of a header': [` content-length: ${chat.length}\r\n`, chat],
  'a content-length with a plus': [`content-length: +${chat.length}\r\n`, chat],
  'a content-length with a minus': [`content-length: -${chat.length}\r\n`, chat],
  'a content-length in hex': [`content-length: 0x${hex(chat)}\r\n`, chat],
  'a content-length with a fraction': [`content-length: ${chat.length}.0\r\n`, chat],
  'a content-length with an exponent': ['content-length: 1e2\r\n', chat],
  'a content-length with a blank inside': [`content-length: ${String(chat.length)[0] ?? ''} ${String(chat.length).slice(1)}\r\n`, chat],
  'an empty content-length': ['content-length:\r\n', hidden],
  'a content-length beyond 64 bits': ['content-length: 18446744073709551617\r\n', `x${hidden}`],
  'a content-length beyond 53 bits': ['content-length: 9007199254740993\r\n', `x${hidden}`],
  'a content-length that wraps 32 bits': [`content-length: ${2 ** 32 + chat.length}\r\n`, chat + hidden],
  'a bare line feed behind a header': [`x-note: a\ncontent-length: ${chat.length}\r\n`, chat],
  'a NUL inside a header': [`x-note: a\0b\r\ncontent-length: ${chat.length}\r\n`, chat],
  'a header without a colon': [`content-length ${chat.length}\r\n`, chat],
  'a chunk size with a sign': ['transfer-encoding: chunked\r\n', `+${hex(chat)}\r\n${chat}\r\n0\r\n\r\n`],
  'a chunk size in 0x form': ['transfer-encoding: chunked\r\n', `0x${hex(chat)}\r\n${chat}\r\n0\r\n\r\n`],
  'a chunk size that is not a number': ['transfer-encoding: chunked\r\n', `zz\r\n${chat}\r\n0\r\n\r\n`],
  'a chunk size beyond 64 bits': ['transfer-encoding: chunked\r\n', `1000000000000000${hex(chat)}\r\n${chat}\r\n0\r\n\r\n`],
  'a chunk size beyond 32 bits': ['transfer-encoding: chunked\r\n', `100000000${hex(chat)}\r\n${chat}\r\n0\r\n\r\n${hidden}`],
};

describe('a request that could be read in two ways', () => {
  for (const [name, [framing, rest]] of Object.entries(ambiguous)) {
    it(`is refused and its connection closed: ${name}`, async () => {
      const before = upstream.received.length;
      const followers = ['', 'GET /health HTTP/1.1\r\nhost: g\r\n\r\n', hidden];
      // At once: of a body that is announced too long, the edge throws a part away before it closes the connection.
      await Promise.all(routes.flatMap((path) => followers.map(async (follower) => {
        const answers = await answersOf(request(path, framing, rest) + follower);
        assert.ok(answers.length <= 1, `${path}: ${answers.length} answers: ${answers.join('|').slice(0, 1000)}`);
        if (answers[0] !== undefined) assert.match(answers[0], /^HTTP\/1\.1 4\d\d /);
      })));
      assert.equal(upstream.received.length, before, 'reached the provider');
    });
  }

  it('waits for a line feed after a bare carriage return, and is served in no part', async () => {
    for (const path of routes) {
      const before = upstream.received.length;
      const wire = await openWire(gateway.port);
      wire.write(request(path, `x-note: a\rcontent-length: 5\r\ncontent-length: ${chat.length}\r\n`, chat + hidden));
      wire.socket.end();
      assert.equal(await wire.closed(), '');
      assert.equal(upstream.received.length, before);
    }
  });

  it('is told why, in the error shape, when the edge could read the head', async () => {
    const [twice = ''] = await answersOf(request(routes[0], `content-length: ${chat.length}\r\ncontent-length: ${chat.length}\r\n`, chat));
    assert.match(twice, /\r\nconnection: close\r\n/i);
    const { error } = JSON.parse(twice.slice(twice.indexOf('\r\n\r\n') + 4));
    assert.equal(error.code, 'length_repeated');
  });
});

describe('a body that ends where it says', () => {
  const send = async (bytes: string, until: (text: string) => boolean): Promise<string> => {
    const wire = await openWire(gateway.port);
    wire.write(Buffer.from(bytes, 'latin1'));
    const text = await wire.until(until);
    wire.destroy();
    return text;
  };

  it('keeps what looks like a request inside the body, in one request to the provider', async () => {
    for (const framing of [`content-length: ${hidden.length}\r\n`, 'transfer-encoding: chunked\r\n', 'Transfer-Encoding: Chunked\r\n']) {
      const before = upstream.received.length;
      const body = framing.startsWith('content') ? hidden : `${hex(hidden)}\r\n${hidden}\r\n0\r\n\r\n`;
      const text = await send(request('/v1/proxy/upload', framing, body), (all) => all.endsWith('"total_tokens":12}}'));
      assert.match(text, /^HTTP\/1\.1 200 /);
      assert.equal(upstream.received.length, before + 1);
      const received = upstream.received.at(-1);
      assert.deepEqual([received?.url, received?.body.toString('latin1')], ['/v1/upload', hidden]);
    }
  });

  it('serves the request behind it as one of its own, with its own key', async () => {
    const before = upstream.received.length;
    const wire = await openWire(gateway.port);
    wire.write(request(routes[0], `content-length: ${chat.length}\r\n`, chat));
    await wire.until((all) => all.endsWith('"total_tokens":12}}'));
    wire.write('GET /v1/proxy/hidden HTTP/1.1\r\nhost: g\r\n\r\n');
    const text = await wire.until((all) => all.includes('key_missing'));
    assert.match(text, /HTTP\/1\.1 401 /);
    assert.equal(upstream.received.length, before + 1);
    wire.destroy();
  });

  it('sends the framing and the headers of this hop to nobody else', async () => {
    const extra = 'connection: x-secret-hop, keep-alive\r\nx-secret-hop: 1\r\nte: trailers\r\nproxy-connection: keep-alive\r\nupgrade: h2c\r\nexpect: 100-continue\r\n';
    await send(request('/v1/proxy/upload', `${extra}transfer-encoding: chunked\r\n`, `${hex(chat)}\r\n${chat}\r\n0\r\n\r\n`), (all) => all.endsWith('"total_tokens":12}}'));
    const headers = upstream.received.at(-1)?.headers ?? {};
    for (const name of ['x-secret-hop', 'te', 'proxy-connection', 'upgrade', 'expect', 'x-gateway-api-key', 'x-gateway-config']) assert.equal(headers[name], undefined, name);
    assert.ok(!JSON.stringify(upstream.received.at(-1)?.rawHeaders).includes(apiKey));
    assert.equal(upstream.received.at(-1)?.body.toString(), chat);
  });

  it('reaches the provider with the bytes that a header of the client had, whatever their encoding', async () => {
    const title = Buffer.from('Café 日本 (x)').toString('latin1');
    await send(request('/v1/proxy/upload', `x-title: ${title}\r\ncontent-length: ${chat.length}\r\n`, chat), (all) => all.endsWith('"total_tokens":12}}'));
    assert.equal(upstream.received.at(-1)?.headers['x-title'], title);
  });

  it('leaves nothing of a smuggled request behind', () => {
    assert.deepEqual(upstream.received.filter(({ url }) => url.includes('hidden')), []);
  });
});
