// Streams on real sockets: bytes, order, back-pressure, and everyone who can vanish.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { randomSplits } from '@gateway/plugin-sdk/testing';
import OpenAI from 'openai';
import { routed, startTestGateway } from '../support/gateway.js';
import { quickest } from '../support/quickest.js';
import { testSeed } from '../support/seed.js';
import { answerChat, chatChunks, startUpstream } from '../support/upstream.js';
import { openWire, type Wire } from '../support/wire.js';

const chat = JSON.stringify({ model: 'gpt-test', stream: true, messages: [{ role: 'user', content: 'x' }] });

function post(wire: Wire, headers: Record<string, string>, body = chat, path = '/v1/chat/completions'): void {
  const lines = Object.entries({ host: 'gateway', 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers });
  wire.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
}

/** The body of a chunked answer, pieces joined. */
function dechunk(text: string): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4);
  let body = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    if (line < 0) return body;
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (size === 0) return body;
    body += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 2 + size + 2);
  }
}

/** A promise and the function that settles it. */
function signal<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => { resolve = settle; });
  return { promise, resolve };
}

/** Looks in a row, and how long one lasts. */
const stillLooks = 5;
const lookMs = 100;

/** Until nothing moves any more: a busy machine may stand still for one look, and hardly for several in a row. */
async function untilStill(bytes: () => number): Promise<void> {
  let seen = bytes();
  for (let still = 0; still < stillLooks;) {
    await new Promise((resolve) => { setTimeout(resolve, lookMs); });
    still = bytes() === seen ? still + 1 : 0;
    seen = bytes();
  }
}

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_IDLE_TIMEOUT_MS: '1500' });

describe('a streamed answer', () => {
  it('is one in whatever case its type is written: what breaks off ends with an error event', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' });
      response.write(`${chatChunks(['half'])[0]}\n\n`, () => response.destroy());
    };
    const wire = await openWire(gateway.port);
    post(wire, { ...routed(upstream.url), connection: 'close' });
    assert.match(dechunk(await wire.until((all) => all.endsWith('\r\n0\r\n\r\n'))), /"error":\{/);
    wire.destroy();
  });

  it('has the provider\'s bytes, however the stream was cut', async () => {
    const body = Buffer.from(`: hello\r\n\r\n${chatChunks(['Grüße ', '👋', ' "quoted"\\n']).join('\n\n')}\n\n`);
    const seed = testSeed;
    for (const pieces of randomSplits(body, { seed, count: 12, pieceMax: 40 })) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const next = (index: number): void => {
          const piece = pieces[index];
          if (piece === undefined) response.end();
          else response.write(piece, () => setImmediate(next, index + 1));
        };
        next(0);
      };
      const wire = await openWire(gateway.port);
      post(wire, { ...routed(upstream.url), connection: 'close' });
      const text = await wire.until((all) => all.endsWith('\r\n0\r\n\r\n'));
      wire.destroy();
      assert.equal(dechunk(text), body.toString('latin1'), `seed ${seed}`);
    }
  });

  it('reaches the client event by event, without waiting for the next', async () => {
    const started = signal<ServerResponse>();
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"n":0}\n\n');
      started.resolve(response);
    };
    const wire = await openWire(gateway.port);
    post(wire, routed(upstream.url));
    const response = await started.promise;
    await wire.until((all) => all.includes('{"n":0}'));
    const gaps: number[] = [];
    /** Of the last forty. Nagle's algorithm holds all of them or every second or third; a busy machine that delays so many of one forty leaves another alone. */
    const slow = (): number => (gaps.length < 40 ? Infinity : gaps.slice(-40).filter((gapMs) => gapMs > 30).length);
    for (let index = 1; index <= 800 && slow() > 10; index += 1) {
      const at = performance.now();
      // Two small writes after one another are what Nagle's algorithm and a delayed acknowledgement would hold for 40 ms.
      response.write(`data: {"n":${index},`);
      response.write('"x":1}\n\n');
      await wire.until((all) => all.includes(`{"n":${index},"x":1}`) || all.includes(`"n":${index},\r\n`) && all.includes('"x":1}'));
      gaps.push(performance.now() - at);
    }
    response.end();
    assert.ok(slow() <= 10, `${slow()} of the last 40 waited for more than 30 ms`);
    wire.destroy();
  });

  it('cancels the upstream within 200 ms when the client leaves', async () => {
    const tookMs = await quickest(200, async () => {
      const closed = signal<number>();
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {}\n\n');
        response.on('close', () => closed.resolve(performance.now()));
      };
      const wire = await openWire(gateway.port);
      post(wire, routed(upstream.url));
      await wire.until((all) => all.includes('data: {}'));
      const leftAt = performance.now();
      wire.destroy();
      return await closed.promise - leftAt;
    });
    assert.ok(tookMs < 200, `${tookMs} ms`);
  });

  it('cancels the upstream when the client leaves before the first byte', async () => {
    const closed = signal<void>();
    const started = signal<void>();
    upstream.answer = (_, response) => {
      response.on('close', () => closed.resolve());
      started.resolve();
    };
    const wire = await openWire(gateway.port);
    post(wire, routed(upstream.url));
    await started.promise;
    wire.destroy();
    await closed.promise;
  });

  it('ends with an error event when the upstream breaks off, inside an event or between two', async () => {
    for (const partial of ['data: {"choices":[]}\n\n', 'data: {"choices":[]}\n\ndata: {"cho']) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(partial, () => response.destroy());
      };
      const wire = await openWire(gateway.port);
      post(wire, routed(upstream.url));
      const text = await wire.until((all) => all.endsWith('\r\n0\r\n\r\n'));
      const events = dechunk(text).split('\n\n').filter((event) => event !== '');
      const last = events.at(-1) ?? '';
      assert.match(last, /^data: /);
      const { error } = JSON.parse(last.slice(6));
      assert.equal(error.code, 'upstream_broke');
      assert.ok(!dechunk(text).includes('[DONE]'));
      wire.destroy();
    }
  });

  it('ends with an error event when the upstream closes in good order, but had not finished', async () => {
    const delta = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
    const started = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n';
    const created = 'event: response.created\ndata: {"type":"response.created","response":{"status":"in_progress","usage":null}}\n\n';
    for (const [path, provider, text, isWhole] of [
      ['/v1/chat/completions', 'openai', delta, false],
      ['/v1/chat/completions', 'openai', `${delta}data: [DONE]\n\n`, true],
      ['/v1/chat/completions', 'openai', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', true],
      ['/v1/chat/completions', 'openai', 'data: {"error":{"message":"own words"}}\n\n', true],
      ['/v1/messages', 'anthropic', started, false],
      ['/v1/messages', 'anthropic', `${started}event: message_stop\ndata: {"type":"message_stop"}\n\n`, true],
      ['/v1/responses', 'openai', created, false],
      ['/v1/responses', 'openai', `${created}event: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":2}}}\n\n`, true],
      ['/v1/proxy/chat/completions', 'openai', delta, true],
    ] as const) {
      for (const size of [text.length, 5]) {
        upstream.answer = (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (let at = 0; at < text.length; at += size) response.write(text.slice(at, at + size));
          response.end();
        };
        const response = await fetch(gateway.url + path, {
          method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, { provider }) },
          body: JSON.stringify({ model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'x' }], input: 'x' }),
        });
        const got = await response.text();
        assert.equal(got.slice(0, text.length), text);
        assert.equal(got.length > text.length, !isWhole, `${path} ${text} in pieces of ${size} gave ${got}`);
        if (!isWhole) assert.match(got, /ended without its last event/);
      }
    }
  });
  it('makes the openai client throw when the upstream breaks off', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${chatChunks(['a', 'b']).slice(0, 3).join('\n\n')}\n\n`, () => response.destroy());
    };
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'x', maxRetries: 0, defaultHeaders: routed(upstream.url) });
    const stream = await client.chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] });
    await assert.rejects(async () => { for await (const chunk of stream) assert.ok(chunk); }, /broke off/);
  });

  it('ends with an error event when the upstream falls silent', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\n\n');
    };
    const wire = await openWire(gateway.port);
    post(wire, routed(upstream.url));
    const text = await wire.until((all) => all.endsWith('\r\n0\r\n\r\n'));
    assert.match(dechunk(text), /"code":"upstream_idle"/);
    wire.destroy();
  });

  it('whose provider announced its length has an end that stays within its framing, whatever had to be added', async () => {
    const piece = 'data: {"choices":[{"index":0,"delta":{"content":"Hel';
    for (const announced of [piece.length, piece.length + 20]) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': String(announced) });
        if (announced === piece.length) response.end(piece);
        else response.write(piece, () => response.destroy());
      };
      const wire = await openWire(gateway.port);
      post(wire, routed(upstream.url));
      const text = await wire.until((all) => all.includes('"upstream_broke"}}\n\n'));
      // What stood behind an announced length would be the beginning of the client's next answer.
      assert.doesNotMatch(text, /content-length/i);
      assert.match(dechunk(text), /^data: \{"choices".*"Hel\n\ndata: \{"error".*\n\n$/s);
      wire.destroy();
    }
  });

  it('is cut, not ended, when a plain answer breaks off', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices":', () => response.destroy());
    };
    const wire = await openWire(gateway.port);
    post(wire, routed(upstream.url));
    const text = await wire.closed();
    assert.ok(!text.endsWith('0\r\n\r\n'));
    assert.ok(text.includes('{"choices":'));
  });

  it('pauses the upstream while the client does not read, and loses nothing', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    // The kernel's buffers of two connections take a part of it, on a busy machine up to nearly forty megabytes.
    const totalBytes = 64 * 1024 * 1024;
    let sentBytes = 0;
    const stalled = signal<void>();
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': String(totalBytes) });
      const pump = (): void => {
        while (sentBytes < totalBytes) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) {
            stalled.resolve();
            response.once('drain', pump);
            return;
          }
        }
        response.end();
      };
      pump();
    };
    const wire = await openWire(gateway.port);
    wire.socket.pause();
    post(wire, routed(upstream.url), chat, '/v1/proxy/big');
    await stalled.promise;
    // What is under way then is in buffers of the kernel and of at most two reads.
    await untilStill(() => sentBytes);
    assert.ok(sentBytes < totalBytes, `${sentBytes} bytes left the provider although nobody reads`);
    let readBytes = 0;
    wire.socket.removeAllListeners('data');
    const done = signal<void>();
    wire.socket.on('data', (data: Buffer) => {
      readBytes += data.length;
      if (readBytes >= totalBytes) done.resolve();
    });
    wire.socket.resume();
    await done.promise;
    wire.destroy();
  });

  it('streams a large upload without holding it, and pauses the client while the provider does not read', async () => {
    const totalBytes = 64 * 1024 * 1024;
    let writtenBytes = 0;
    const { createServer } = await import('node:net');
    const connected = signal<import('node:net').Socket>();
    const server = createServer((socket) => {
      socket.pause();
      connected.resolve(socket);
    });
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const wire = await openWire(gateway.port);
    const headers = routed(`http://127.0.0.1:${port}`);
    wire.write(`POST /v1/proxy/upload HTTP/1.1\r\nhost: g\r\ncontent-type: application/octet-stream\r\ncontent-length: ${totalBytes}\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    const chunk = Buffer.alloc(64 * 1024, 'u');
    const pump = (): void => {
      while (writtenBytes < totalBytes) {
        writtenBytes += chunk.length;
        if (!wire.socket.write(chunk)) {
          wire.socket.once('drain', pump);
          return;
        }
      }
    };
    pump();
    const socket = await connected.promise;
    await untilStill(() => writtenBytes);
    assert.ok(writtenBytes < totalBytes, `${writtenBytes} bytes were taken although the provider does not read`);
    let readBytes = 0;
    const arrived = signal<void>();
    socket.on('data', (data) => {
      readBytes += data.length;
      if (readBytes >= totalBytes) {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        arrived.resolve();
      }
    });
    socket.resume();
    await arrived.promise;
    await wire.until((all) => all.endsWith('ok'));
    wire.destroy();
    socket.destroy();
    server.close();
  });

  it('goes to a client that waits a while before it reads', async () => {
    upstream.answer = answerChat;
    const wire = await openWire(gateway.port);
    wire.socket.pause();
    post(wire, routed(upstream.url));
    wire.socket.resume();
    const text = await wire.until((all) => all.includes('Hello there.'));
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(text, /content-length: \d+\r\n/i);
    wire.destroy();
  });
});
