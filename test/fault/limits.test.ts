// The named limits of the edge and of the calls, each reached from the outside, and what a client is told. Clients that are slow, that send
// too much, that come in too large a number; and connections that are used again.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { routed, startTestGateway, type TestGateway } from '../support/gateway.js';
import { answerChat, chatCompletion, startUpstream } from '../support/upstream.js';
import { isAnswered, openWire, type Wire } from '../support/wire.js';

const bodyBytesMax = 4096;
const bodyTimeoutMs = 250;
const firstByteTimeoutMs = 300;
/** After 10 s without a byte the library itself closes, and looks for that every 4 s; a busy machine takes its time. */
const libraryTimeoutMs = 60_000;
/** A longer one is another limit's, or the library's. */
const lateMs = 9_000;

const upstream = await startUpstream();
const gateway = await startTestGateway({
  GATEWAY_BODY_BYTES_MAX: String(bodyBytesMax),
  GATEWAY_BODY_TIMEOUT_MS: String(bodyTimeoutMs),
  GATEWAY_FIRST_BYTE_TIMEOUT_MS: String(firstByteTimeoutMs),
});
const narrow = await startTestGateway({ GATEWAY_REQUESTS_MAX: '3' });
const single = await startTestGateway({ GATEWAY_CONNECTIONS_MAX: '1' });

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const lines = (headers: Readonly<Record<string, string>>): string => Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const head = (path: string, headers: Readonly<Record<string, string>>, method = 'POST'): string =>
  `${method} ${path} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n${lines(routed(upstream.url))}${lines(headers)}\r\n`;
const chatRequest = head('/v1/chat/completions', { 'content-length': String(chat.length) }) + chat;
const isWholeChat = (text: string): boolean => text.endsWith('"total_tokens":12}}');

async function opened(bytes: string, of: TestGateway = gateway): Promise<Wire> {
  const wire = await openWire(of.port);
  wire.write(bytes);
  return wire;
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly code: string;
}

/** An error answer of the gateway; the connection may stay open. */
async function errorOf(wire: Wire): Promise<Answer> {
  const text = await wire.until(isAnswered);
  const [start = '', body = ''] = text.split('\r\n\r\n');
  const { error } = JSON.parse(body);
  assert.equal(typeof error.message, 'string');
  return { status: Number(text.slice(9, 12)), head: start, code: error.code };
}

/** Calls that wait for an answer at the provider, and how to give it. */
async function held(of: TestGateway, count: number): Promise<{ readonly wires: Wire[]; readonly answer: () => void }> {
  const responses: ServerResponse[] = [];
  let arrived = (): void => {};
  const all = new Promise<void>((resolve) => { arrived = resolve; });
  upstream.answer = (_, response) => {
    responses.push(response);
    if (responses.length === count) arrived();
  };
  const wires = await Promise.all(Array.from({ length: count }, () => opened(chatRequest, of)));
  await all;
  upstream.answer = answerChat;
  return { wires, answer: () => { for (const response of responses) response.end(JSON.stringify(chatCompletion)); } };
}

/** Begun first and awaited last, because the library takes its time: a client that sends a part of a head, or a head and no body. */
const silentClients = [
  'POST /v1/chat/completions HT',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-gateway-api-k',
  head('/v1/chat/completions', { 'content-length': String(chat.length) }),
  head('/v1/proxy/upload', { 'content-length': String(chat.length) }),
  head('/v1/nowhere', { 'content-length': '10', 'x-gateway-api-key': 'wrong' }),
];
const silent = silentClients.map(async (bytes) => {
  const wire = await opened(bytes);
  const at = performance.now();
  return { text: await wire.closed(), tookMs: performance.now() - at };
});

describe('a body that is too large', () => {
  it('is refused by its announced length, before it is sent, and the connection closed', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/upload']) {
      const wire = await opened(head(path, { 'content-length': String(bodyBytesMax + 1) }));
      const { status, code, head: start } = await errorOf(wire);
      assert.deepEqual([status, code], [413, 'body_too_large']);
      assert.match(start, /connection: close/i);
      await wire.closed();
    }
    assert.equal(upstream.received.length, 0);
  });

  it('is refused when its chunks come to too much, with nothing at the provider on a route that collects', async () => {
    const piece = 'x'.repeat(1024);
    const chunk = `400\r\n${piece}\r\n`;
    const wire = await opened(head('/v1/chat/completions', { 'transfer-encoding': 'chunked' }) + chunk.repeat(5));
    const { status, code } = await errorOf(wire);
    assert.deepEqual([status, code], [413, 'body_too_large']);
    wire.destroy();
    assert.equal(upstream.received.length, 0);
  });

  it('is refused and cut at the provider on a route that streams', async () => {
    const wire = await opened(head('/v1/proxy/upload', { 'transfer-encoding': 'chunked' }));
    for (let index = 0; index < 5; index += 1) wire.write(`400\r\n${'x'.repeat(1024)}\r\n`);
    const { status, code } = await errorOf(wire);
    assert.deepEqual([status, code], [413, 'body_too_large']);
    wire.destroy();
    assert.equal(upstream.received.length, 0, 'the provider took a part for the whole');
  });

  it('is taken when it has exactly the largest length', async () => {
    const body = chat.padEnd(bodyBytesMax, ' ');
    const wire = await opened(head('/v1/chat/completions', { 'content-length': String(bodyBytesMax) }) + body);
    await wire.until(isWholeChat);
    assert.equal(upstream.received.at(-1)?.body.length, bodyBytesMax);
    wire.destroy();
  });
});

describe('a head that is too large', () => {
  it('is refused with 431 beyond 64 kB, and taken below', async () => {
    const filled = (length: number): string => head('/v1/chat/completions', { 'content-length': String(chat.length), 'x-fill': 'f'.repeat(length) }) + chat;
    const below = await opened(filled(60_000));
    await below.until(isWholeChat);
    below.destroy();
    const before = upstream.received.length;
    for (const length of [70_000, 1_000_000]) {
      const text = await (await opened(filled(length))).closed();
      // A reset may overtake the answer while the client is still sending.
      if (text !== '' || length === 70_000) assert.match(text, /^HTTP\/1\.1 431 /);
    }
    assert.equal(upstream.received.length, before);
  });

  it('is refused when it never ends', async () => {
    const wire = await opened('GET /v1/models HTTP/1.1\r\nhost: g\r\n');
    let isClosed = false;
    const closed = wire.closed().then((text) => { isClosed = true; return text; });
    for (let sent = 0; sent < 100 && !isClosed; sent += 1) {
      await new Promise<void>((resolve) => { wire.socket.write(`x-${sent}: ${'v'.repeat(1000)}\r\n`, () => resolve()); });
    }
    const text = await closed;
    if (text !== '') assert.match(text, /^HTTP\/1\.1 431 /);
  });
});

describe('a slow client', () => {
  it('that stops in the middle of its body gets 408 on a route that collects, within the limit', async () => {
    const before = upstream.received.length;
    const at = performance.now();
    const wire = await opened(head('/v1/chat/completions', { 'content-length': '500' }) + chat);
    const { status, code } = await errorOf(wire);
    assert.deepEqual([status, code], [408, 'body_timeout']);
    const tookMs = performance.now() - at;
    assert.ok(tookMs >= bodyTimeoutMs * 0.9 && tookMs < lateMs, `${tookMs} ms`);
    await wire.closed();
    assert.equal(upstream.received.length, before);
  });

  it('that stops in the middle of its body gets 408 on a route that streams, and the provider no whole request', async () => {
    const before = upstream.received.length;
    const wire = await opened(head('/v1/proxy/upload', { 'content-length': '500' }) + chat);
    const { status, code } = await errorOf(wire);
    assert.deepEqual([status, code], [408, 'body_timeout']);
    await wire.closed();
    assert.equal(upstream.received.length, before);
  });

  it('that was refused already and stops in the middle of its body gets its answer all the same', async () => {
    const wire = await opened(`POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 500\r\nx-gateway-api-key: wrong\r\n\r\n${chat}`);
    const { status } = await errorOf(wire);
    assert.ok(status === 401 || status === 408, String(status));
    wire.destroy();
  });

  it('that sends one byte at a time is served', async () => {
    for (const framing of [{ 'content-length': String(chat.length) }, { 'transfer-encoding': 'chunked' }]) {
      const body = 'content-length' in framing ? chat : `${chat.length.toString(16)}\r\n${chat}\r\n0\r\n\r\n`;
      const bytes = head('/v1/chat/completions', framing) + body;
      const wire = await openWire(gateway.port);
      for (const byte of bytes) await new Promise<void>((resolve) => { wire.socket.write(byte, () => resolve()); });
      await wire.until(isWholeChat);
      assert.equal(upstream.received.at(-1)?.body.toString(), chat);
      wire.destroy();
    }
  });
});

describe('too many at once', () => {
  it('beyond the open requests of a thread get 503 with retry-after, and the others their answers', async () => {
    const { wires, answer } = await held(narrow, 3);
    const fourth = await opened(chatRequest, narrow);
    const { status, code, head: start } = await errorOf(fourth);
    assert.deepEqual([status, code], [503, 'overloaded']);
    assert.match(start, /\r\nretry-after: 1(?:\r\n|$)/i);
    answer();
    for (const wire of wires) assert.match(await wire.until(isWholeChat), /^HTTP\/1\.1 200 /);
    // There is room again, on the refused connection too.
    fourth.write(chatRequest);
    await fourth.until(isWholeChat);
    for (const wire of [...wires, fourth]) wire.destroy();
  });

  it('beyond the open connections to a provider get 503, and the others their answers', async () => {
    const { wires, answer } = await held(single, 1);
    const second = await opened(chatRequest, single);
    const { status, code } = await errorOf(second);
    assert.deepEqual([status, code], [503, 'upstream_busy']);
    answer();
    for (const wire of wires) await wire.until(isWholeChat);
    second.write(chatRequest);
    await second.until(isWholeChat);
    for (const wire of [...wires, second]) wire.destroy();
  });
});

describe('a provider that does not answer', () => {
  it('is given up with 504 after the time for the first byte', async () => {
    let hasCome = false;
    const closed = new Promise<void>((resolve) => { upstream.answer = (_, response) => { hasCome = true; response.once('close', resolve); }; });
    let wire: Wire | undefined;
    // On a busy machine the time may be over before the provider has heard of the call.
    while (!hasCome) {
      wire?.destroy();
      const at = performance.now();
      wire = await opened(chatRequest);
      const { status, code } = await errorOf(wire);
      assert.deepEqual([status, code], [504, 'upstream_idle']);
      const tookMs = performance.now() - at;
      assert.ok(tookMs >= firstByteTimeoutMs * 0.9 && tookMs < lateMs, `${tookMs} ms`);
    }
    assert.ok(wire);
    await closed;
    upstream.answer = answerChat;
    // The client's connection is as good as before.
    wire.write(chatRequest);
    await wire.until(isWholeChat);
    wire.destroy();
  });
});

describe('a connection that is used again', () => {
  it('carries 200 calls one after another, over one connection to the provider', async () => {
    const [before, connections] = [upstream.received.length, upstream.connections];
    const wire = await openWire(gateway.port);
    for (let count = 1; count <= 200; count += 1) {
      wire.write(chatRequest);
      await wire.until((text) => text.length > 0 && text.split('"total_tokens":12}}').length === count + 1);
    }
    assert.equal(wire.text().match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 200);
    assert.doesNotMatch(wire.text(), /connection: close/i);
    assert.equal(upstream.received.length, before + 200);
    assert.ok(upstream.connections <= connections + 1);
    wire.destroy();
  });

  it('is good for a call after one that was refused', async () => {
    const wire = await openWire(gateway.port);
    const wrong = '{"model":';
    wire.write(head('/v1/chat/completions', { 'content-length': String(wrong.length) }) + wrong);
    assert.equal((await errorOf(wire)).status, 400);
    wire.write(chatRequest);
    await wire.until(isWholeChat);
    wire.destroy();
  });

  it('answers requests in one write in their order, as far as they are answered at once', async () => {
    const wire = await openWire(gateway.port);
    const paths = ['/health', '/ready', '/nowhere', '/v1/health', '/health'];
    wire.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: g\r\n\r\n`).join(''));
    const text = await wire.until((all) => all.split('HTTP/1.1 ').length === 6 && all.endsWith('}'));
    assert.deepEqual([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1]), ['200', '200', '404', '200', '200']);
    const bodies = text.split('\r\n\r\n').slice(1).map((part) => part.split('HTTP/1.1')[0] ?? '');
    assert.ok(bodies[1]?.includes('"ready"') && bodies[2]?.includes('/nowhere') && bodies[4]?.includes('healthy'), text);
    wire.destroy();
  });

  it('is closed when a second call comes before the first is answered, and the gateway goes on', async () => {
    for (const both of [chatRequest + chatRequest, `${chatRequest}GET /health HTTP/1.1\r\nhost: g\r\n\r\n`]) {
      const wire = await opened(both);
      const text = await wire.closed();
      assert.ok(text.split('HTTP/1.1 ').length <= 2, text);
    }
    const wire = await opened(chatRequest);
    await wire.until(isWholeChat);
    wire.destroy();
  });
});

describe('a client that falls silent', () => {
  it('is closed in the end, wherever in its request it stopped, and never served', async () => {
    const before = upstream.received.length;
    for (const [index, ending] of silent.entries()) {
      const { text, tookMs } = await ending;
      assert.ok(tookMs < libraryTimeoutMs, `${silentClients[index]}: ${tookMs} ms`);
      if (text !== '') assert.match(text, /^HTTP\/1\.1 4\d\d /);
    }
    assert.equal(upstream.received.length, before);
  });
});
