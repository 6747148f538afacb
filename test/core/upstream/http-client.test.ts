import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, beforeEach, describe, it, mock } from 'node:test';
import { fail, isGatewayError } from '../../../core/errors/gateway-error.js';
import { AddressPolicy } from '../../../core/upstream/address-policy.js';
import type { Trust, UpstreamOrigin, UpstreamRequest } from '../../../core/upstream/client.js';
import { Egress, type Resolver } from '../../../core/upstream/egress.js';
import { HttpClient } from '../../../core/upstream/http/http-client.js';
import { poisonReads } from '../../../core/upstream/http/read-buffer.js';
import { Heard } from './heard.js';
import { closedPort, ok, startRawServer } from './raw-server.js';

poisonReads();
const server = await startRawServer();
beforeEach(() => { server.answer = ({ socket }) => { socket.write(ok()); }; });

interface Options {
  readonly connectionsMax?: number;
  readonly firstByteTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly resolve?: Resolver;
}

const clients: HttpClient[] = [];
after(async () => { for (const client of clients) await client.close(); });

const toLoopback: Resolver = (_, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);

function clientOf(options: Options = {}): HttpClient {
  const { connectTimeoutMs = 5000, resolve = toLoopback } = options;
  const client = new HttpClient({
    egress: new Egress({ policy: new AddressPolicy(['127.0.0.1', 'upstream.test']), resolve, connectTimeoutMs }),
    connectionsMax: options.connectionsMax ?? 100, firstByteTimeoutMs: options.firstByteTimeoutMs ?? 30_000, idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
  });
  clients.push(client);
  return client;
}

const originOf = (options: Options = {}, trust: Trust = 'request'): UpstreamOrigin => clientOf(options).origin(server.url, trust);
const get = (changes: Partial<UpstreamRequest> = {}): UpstreamRequest => ({ method: 'GET', path: '/', headers: [], body: null, ...changes });
const post = (body: UpstreamRequest['body']): UpstreamRequest => get({ method: 'POST', headers: ['content-type', 'text/plain'], body });

async function whole(origin: UpstreamOrigin, request = get()): Promise<Heard> {
  const heard = new Heard();
  origin.send(request, heard);
  await heard.over();
  return heard;
}

/** Number of the connection that the last request came over. */
const lastConnection = (): number => server.requests.at(-1)?.connection ?? 0;
const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('a call to an upstream', () => {
  it('sends the request as it was given and hears the answer in order', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Latin: caf\xe9\r\nContent-Length: 3\r\n\r\nyes', 'latin1'); };
    const heard = await whole(originOf(), { method: 'POST', path: '/v1/x?y=1&z=%20', headers: ['x-a', '1', 'x-a', '2', 'authorization', 'Bearer k'], body: Buffer.from('{"a":"ä"}') });
    assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
    assert.equal(heard.status, 201);
    assert.deepEqual(heard.headers, ['content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'x-latin', 'café', 'content-length', '3']);
    assert.equal(heard.text, 'yes');
    const request = server.requests.at(-1);
    assert.deepEqual(request?.head.split('\r\n').sort(), [`POST /v1/x?y=1&z=%20 HTTP/1.1`, 'authorization: Bearer k', 'connection: keep-alive', 'content-length: 10', `host: ${server.url.host}`, 'x-a: 1', 'x-a: 2'].sort());
    assert.equal(Buffer.from(request?.body ?? '', 'latin1').toString(), '{"a":"ä"}');
  });

  it('hears nothing of interim answers', async () => {
    server.answer = ({ socket }) => { socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${ok('final')}`); };
    const heard = await whole(originOf());
    assert.deepEqual([heard.story, heard.status, heard.text], [['head', 'chunk', 'end'], 200, 'final']);
  });

  it('takes an answer that ends with its connection', async () => {
    server.answer = ({ socket }) => { socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'); };
    const heard = await whole(originOf());
    assert.deepEqual([heard.story.at(-1), heard.text], ['end', 'until the end']);
  });

  it('sends a body that is a stream, with its length when that is known', async () => {
    await whole(originOf(), post(Readable.from([Buffer.from('part one '), Buffer.from('part two')])));
    assert.equal(server.requests.at(-1)?.body, 'part one part two');
    assert.match(server.requests.at(-1)?.head ?? '', /transfer-encoding: chunked/i);
    await whole(originOf(), get({ method: 'POST', headers: ['content-length', '4'], body: Readable.from([Buffer.from('four')]) }));
    assert.equal(server.requests.at(-1)?.body, 'four');
    assert.match(server.requests.at(-1)?.head ?? '', /content-length: 4/i);
  });

  it('goes to a name through the resolver, and keeps the name in the host header', async () => {
    const asked: string[] = [];
    const client = clientOf({ resolve: (hostname, callback) => { asked.push(hostname); toLoopback(hostname, callback, ''); } });
    const origin = client.origin(new URL(`http://upstream.test:${server.url.port}/v1`), 'request');
    assert.equal(origin.host, `upstream.test:${server.url.port}`);
    await whole(origin);
    await whole(origin);
    assert.deepEqual(asked, ['upstream.test']);
    assert.match(server.requests.at(-1)?.head ?? '', new RegExp(`host: upstream\\.test:${server.url.port}`, 'i'));
  });
});

describe('connections', () => {
  it('are used again: sequential calls need one', async () => {
    const origin = originOf();
    const before = server.connections;
    for (let count = 0; count < 5; count += 1) await whole(origin, post(Buffer.from('x')));
    assert.equal(server.connections, before + 1);
  });

  it('that were used last are used first', async () => {
    const origin = originOf();
    const held: (() => void)[] = [];
    server.answer = ({ socket }) => { held.push(() => { socket.write(ok()); }); };
    const [first, second] = [new Heard(), new Heard()];
    origin.send(get({ path: '/first' }), first);
    origin.send(get({ path: '/second' }), second);
    await server.until(() => held.length === 2);
    const connectionOf = (path: string): number => server.requests.findLast(({ head }) => head.startsWith(`GET ${path} `))?.connection ?? 0;
    // Whichever came first at the server: the answer to /second goes out last.
    const isFirst = server.requests.at(-2)?.head.startsWith('GET /first ') === true;
    held[isFirst ? 0 : 1]?.();
    await first.over();
    held[isFirst ? 1 : 0]?.();
    await second.over();
    server.answer = ({ socket }) => { socket.write(ok()); };
    for (let count = 0; count < 3; count += 1) {
      await whole(origin);
      assert.equal(lastConnection(), connectionOf('/second'));
    }
  });

  it('are limited for each origin: one more is refused, after send() has returned, until one is free', async () => {
    const origin = originOf({ connectionsMax: 2 });
    const held: (() => void)[] = [];
    server.answer = ({ socket }) => { held.push(() => { socket.write(ok()); }); };
    const [first, second, third] = [new Heard(), new Heard(), new Heard()];
    origin.send(get(), first);
    origin.send(get(), second);
    const call = origin.send(get(), third);
    assert.deepEqual(third.story, []);
    call.pause();
    call.resume();
    await third.over();
    assert.deepEqual(third.story, ['UPSTREAM_BUSY']);
    assert.match(third.error?.message ?? '', new RegExp(`too many open connections to ${server.url.host} \\(2\\)`));
    await server.until(() => held.length === 2);
    for (const answer of held) answer();
    await first.over();
    server.answer = ({ socket }) => { socket.write(ok()); };
    assert.equal((await whole(origin)).status, 200);
  });

  it('are not shared between what the operator and what a request named', async () => {
    const client = clientOf();
    const before = server.connections;
    const operator = client.origin(server.url, 'operator');
    const request = client.origin(server.url, 'request');
    assert.notEqual(operator, request);
    await whole(operator);
    await whole(request);
    await whole(operator);
    await whole(request);
    assert.equal(server.connections, before + 2);
    const [first, second, third, fourth] = server.requests.slice(-4).map(({ connection }) => connection);
    assert.ok(first === third && second === fourth && first !== second);
    assert.equal(client.origin(new URL('/other/path', server.url), 'operator'), operator);
  });

  it('closed by the server while idle are opened anew without a word', async () => {
    const origin = originOf({ connectionsMax: 1 });
    await whole(origin);
    const connection = lastConnection();
    server.requests.at(-1)?.socket.end();
    await server.until(() => server.closed.includes(connection));
    await turn();
    const heard = await whole(origin, post(Readable.from([Buffer.from('x')])));
    assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
    assert.notEqual(lastConnection(), connection);
  });

  it('are closed with the client, those in use when their calls end', async () => {
    const client = clientOf();
    await whole(client.origin(server.url, 'request'));
    const idle = lastConnection();
    let answer = (): void => {};
    server.answer = ({ socket }) => { answer = () => { socket.write(ok()); }; };
    const heard = new Heard();
    client.origin(server.url, 'operator').send(get(), heard);
    const before = server.requests.length;
    await server.until(() => server.requests.length > before);
    const used = lastConnection();
    await client.close();
    await server.until(() => server.closed.includes(idle));
    assert.ok(!server.closed.includes(used));
    answer();
    await heard.over();
    assert.deepEqual([heard.story.at(-1), heard.text], ['end', 'ok']);
    await server.until(() => server.closed.includes(used));
  });

  it('that nobody used for a while are closed, again and again, while a plan holds on to their origin', async () => {
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
    try {
      const origin = originOf();
      for (let round = 0; round < 3; round += 1) {
        await whole(origin);
        const connection = lastConnection();
        mock.timers.tick(45_000);
        await whole(origin);
        assert.equal(lastConnection(), connection, 'still in use');
        mock.timers.tick(61_000);
        await server.until(() => server.closed.includes(connection));
      }
    } finally {
      mock.timers.reset();
    }
  });
});

describe('a cancelled call', () => {
  it('before the connection stands hears nothing, and its place is free', async () => {
    let answerName = (): void => {};
    let isSlow = true;
    const client = clientOf({ connectionsMax: 1, resolve: (hostname, callback) => {
      if (isSlow) answerName = () => toLoopback(hostname, callback, '');
      else toLoopback(hostname, callback, '');
    } });
    const origin = client.origin(new URL(`http://upstream.test:${server.url.port}`), 'request');
    const heard = new Heard();
    const call = origin.send(get(), heard);
    await turn();
    call.cancel();
    call.cancel();
    isSlow = false;
    const requests = server.requests.length;
    assert.equal((await whole(origin)).status, 200);
    answerName();
    await turn();
    await turn();
    assert.deepEqual(heard.story, []);
    assert.equal(server.requests.length, requests + 1);
  });

  it('before the head closes its connection and hears nothing', async () => {
    const origin = originOf({ connectionsMax: 1 });
    server.answer = () => {};
    const heard = new Heard();
    const call = origin.send(get(), heard);
    const before = server.requests.length;
    await server.until(() => server.requests.length > before);
    const connection = lastConnection();
    call.cancel();
    await server.until(() => server.closed.includes(connection));
    server.answer = ({ socket }) => { socket.write(ok()); };
    assert.equal((await whole(origin)).status, 200);
    assert.deepEqual(heard.story, []);
  });

  it('midway closes its connection and hears nothing more', async () => {
    const origin = originOf({ connectionsMax: 1 });
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'); };
    const heard = new Heard();
    const call = origin.send(get(), heard);
    await heard.until(() => heard.bytes === 4);
    const connection = lastConnection();
    call.cancel();
    await server.until(() => server.closed.includes(connection));
    assert.deepEqual(heard.story, ['head', 'chunk']);
    server.answer = ({ socket }) => { socket.write(ok()); };
    assert.equal((await whole(origin)).status, 200);
  });

  it('inside its own callbacks hears nothing more', async () => {
    for (const place of ['whenHead', 'whenChunk'] as const) {
      const origin = originOf({ connectionsMax: 1 });
      server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'); };
      const heard = new Heard();
      const call = origin.send(get(), heard);
      heard[place] = () => { call.cancel(); };
      await heard.until(() => heard.story.includes(place === 'whenHead' ? 'head' : 'chunk'));
      const connection = lastConnection();
      await server.until(() => server.closed.includes(connection));
      assert.deepEqual(heard.story, place === 'whenHead' ? ['head'] : ['head', 'chunk']);
    }
  });

  it('while it is paused closes its connection all the same', async () => {
    const origin = originOf();
    server.answer = ({ socket }) => { socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(1000)}`); };
    const heard = new Heard();
    const call = origin.send(get(), heard);
    heard.whenHead = () => { call.pause(); };
    await heard.until(() => heard.story.length > 0);
    const connection = lastConnection();
    call.cancel();
    await server.until(() => server.closed.includes(connection));
    call.resume();
    assert.ok(!heard.isOver);
  });

  it('after its end keeps its connection', async () => {
    const origin = originOf();
    const heard = new Heard();
    const call = origin.send(get(), heard);
    await heard.over();
    const connection = lastConnection();
    call.cancel();
    call.pause();
    call.resume();
    await whole(origin);
    assert.equal(lastConnection(), connection);
    assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
  });
});

describe('a paused call', () => {
  it('stops the server from sending, holds next to nothing, and loses nothing when it goes on', async () => {
    const pieces = 48;
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let flushed = 0;
    let lastFlushAt = performance.now();
    server.answer = ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${pieces * piece.length}\r\n\r\n`);
      const next = (): void => {
        if (flushed === pieces) return;
        socket.write(piece, () => {
          flushed += 1;
          lastFlushAt = performance.now();
          next();
        });
      };
      next();
    };
    const heard = new Heard();
    const call = originOf().send(get(), heard);
    heard.whenChunk = () => { call.pause(); };
    await heard.until(() => heard.bytes > 0);
    // Until the kernel's buffers on the way are full.
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (performance.now() - lastFlushAt < 150) return;
        clearInterval(look);
        resolve();
      }, 10);
    });
    const held = heard.bytes;
    assert.ok(held <= 256 * 1024, `${held} bytes came through`);
    assert.ok(flushed < pieces / 2, `${flushed} MB of ${pieces} left the server`);
    heard.whenChunk = null;
    call.resume();
    call.resume();
    await heard.over();
    assert.deepEqual([heard.story.at(-1), heard.bytes], ['end', pieces * piece.length]);
  });

  it('at its head gets its body when it goes on', async () => {
    const origin = originOf();
    const heard = new Heard();
    const call = origin.send(get(), heard);
    heard.whenHead = () => { call.pause(); };
    await heard.until(() => heard.status === 200);
    await turn();
    assert.deepEqual(heard.story, ['head']);
    call.resume();
    await heard.over();
    assert.equal(heard.text, 'ok');
  });
});

describe('a connection that the server closes as the next request comes', () => {
  /** Answers once on each connection and then closes the door, as an idle time-out that crosses the next request. */
  const answerOnce = (): void => {
    const served = new Set<number>();
    server.answer = ({ socket, connection }) => {
      if (served.has(connection)) {
        socket.resetAndDestroy();
        return;
      }
      served.add(connection);
      socket.write(ok());
    };
  };

  it('is tried again on a fresh one, without a word to the caller', async () => {
    const origin = originOf({ connectionsMax: 1 });
    answerOnce();
    await whole(origin);
    const before = server.requests.length;
    const heard = await whole(origin, post(Buffer.from('{"a":1}')));
    assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
    assert.deepEqual(server.requests.slice(before).map(({ body }) => body), ['{"a":1}', '{"a":1}']);
    assert.equal(new Set(server.requests.slice(before).map(({ connection }) => connection)).size, 2);
  });

  it('is not tried again when the server had time to work on the request, or has said anything of it', async () => {
    const origin = originOf({ connectionsMax: 1 });
    const stories: readonly (readonly [said: string, afterMs: number])[] = [['', 400], ['HTTP/1.1 100 Continue\r\n\r\n', 0], ['HTTP/1.1 102 Processing\r\n\r\n', 0], ['HTTP/1.1 20', 0]];
    for (const [said, afterMs] of stories) {
      for (const close of ['resetAndDestroy', 'end'] as const) {
        server.answer = ({ socket }) => { socket.write(ok()); };
        await whole(origin);
        const before = server.requests.length;
        server.answer = ({ socket }) => { socket.write(said, () => { setTimeout(() => socket[close](), afterMs); }); };
        const heard = await whole(origin, post(Buffer.from('x')));
        assert.equal(server.requests.length, before + 1, `${said} ${afterMs} ${close}`);
        assert.ok(heard.error !== null);
      }
    }
  });

  it('is told to whoever counts what goes over the wire', async () => {
    const origin = originOf({ connectionsMax: 1 });
    answerOnce();
    await whole(origin);
    let repeats = 0;
    const heard = new Heard();
    origin.send(post(Buffer.from('x')), heard, { onRepeat: () => { repeats += 1; } });
    await heard.over();
    assert.deepEqual([heard.story.at(-1), repeats], ['end', 1]);
  });

  it('is tried again once and no more', async () => {
    const origin = originOf({ connectionsMax: 1 });
    await whole(origin);
    server.answer = ({ socket }) => { socket.resetAndDestroy(); };
    const before = server.requests.length;
    const heard = await whole(origin, post(Buffer.from('x')));
    assert.deepEqual(heard.story, ['UPSTREAM_RESET']);
    assert.equal(server.requests.length, before + 2);
  });

  it('is not tried again when it is its first answer that fails to come', async () => {
    const origin = originOf();
    server.answer = ({ socket }) => { socket.resetAndDestroy(); };
    const before = server.requests.length;
    assert.deepEqual((await whole(origin, post(Buffer.from('x')))).story, ['UPSTREAM_RESET']);
    assert.equal(server.requests.length, before + 1);
  });

  it('is never tried again with a streamed body, which is gone', async () => {
    const origin = originOf({ connectionsMax: 1 });
    answerOnce();
    await whole(origin);
    const before = server.requests.length;
    const heard = await whole(origin, post(Readable.from([Buffer.from('x')])));
    assert.deepEqual(heard.story, ['UPSTREAM_RESET']);
    assert.equal(server.requests.length, before + 1);
  });

  it('is not tried again once the answer has begun', async () => {
    const origin = originOf();
    await whole(origin);
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', () => socket.resetAndDestroy()); };
    const before = server.requests.length;
    const heard = await whole(origin);
    assert.equal(heard.story.at(-1), 'UPSTREAM_BROKE');
    assert.equal(server.requests.length, before + 1);
  });

  it('can be cancelled while it is tried again', async () => {
    const origin = originOf({ connectionsMax: 1 });
    await whole(origin);
    let isSecond = false;
    server.answer = ({ socket }) => {
      if (isSecond) return;
      isSecond = true;
      socket.resetAndDestroy();
    };
    const heard = new Heard();
    const call = origin.send(get(), heard);
    const before = server.requests.length;
    await server.until(() => server.requests.length === before + 2);
    const connection = lastConnection();
    call.cancel();
    await server.until(() => server.closed.includes(connection));
    assert.deepEqual(heard.story, []);
  });
});

describe('what can go wrong', () => {
  const cases: readonly (readonly [name: string, answer: string, code: string, reason: RegExp])[] = [
    ['an answer that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'UPSTREAM_INVALID', /not HTTP/],
    ['an answer with a broken header', 'HTTP/1.1 200 OK\r\nbad header\x01: x\r\n\r\n', 'UPSTREAM_INVALID', /invalid header/],
    ['an answer with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 'UPSTREAM_INVALID', /content-length/],
    ['an answer with headers of 20 kB', `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 'UPSTREAM_INVALID', /response headers too large/],
  ];
  for (const [name, answer, code, reason] of cases) {
    it(`is told for ${name}`, async () => {
      server.answer = ({ socket }) => { socket.write(answer, 'latin1'); };
      const heard = await whole(originOf());
      assert.deepEqual(heard.story, [code]);
      assert.match(heard.error?.message ?? '', reason);
      assert.ok(heard.error?.message.includes(server.url.host));
    });
  }

  it('is told for a port where nobody listens, without an address beyond the one asked for', async () => {
    const port = await closedPort();
    const heard = await whole(clientOf().origin(new URL(`http://upstream.test:${port}`), 'request'));
    assert.deepEqual(heard.story, ['UPSTREAM_UNREACHABLE']);
    assert.equal(heard.error?.message, `could not reach upstream.test:${port}: ECONNREFUSED`);
  });

  it('is told for a name that does not resolve', async () => {
    const resolve: Resolver = (hostname, callback) => callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), []);
    const heard = await whole(clientOf({ resolve }).origin(new URL('http://upstream.test:8080'), 'request'));
    assert.deepEqual(heard.story, ['UPSTREAM_UNREACHABLE']);
    assert.equal(heard.error?.message, 'could not reach upstream.test:8080: ENOTFOUND');
  });

  it('is told for a name whose resolution takes too long', async () => {
    const heard = await whole(clientOf({ resolve: () => {}, connectTimeoutMs: 20 }).origin(new URL('http://upstream.test:8080'), 'request'));
    assert.deepEqual(heard.story, ['UPSTREAM_UNREACHABLE']);
    assert.equal(heard.error?.message, 'could not reach upstream.test:8080: connect timeout');
  });

  it('is told for an address that may not be reached, as the egress rules say it', async () => {
    const heard = await whole(clientOf().origin(new URL('http://169.254.169.254/'), 'request'));
    assert.deepEqual(heard.story, ['EGRESS_REFUSED']);
    assert.ok(isGatewayError(heard.error) && heard.error.status === 403);
  });

  it('is told for a connection that breaks before the head', async () => {
    for (const breakOff of ['destroy', 'resetAndDestroy', 'end'] as const) {
      server.answer = ({ socket }) => { socket[breakOff](); };
      const heard = await whole(originOf());
      assert.deepEqual(heard.story, ['UPSTREAM_RESET'], breakOff);
      assert.match(heard.error?.message ?? '', new RegExp(`^the connection to ${server.url.host} broke before the answer began: `));
    }
  });

  it('is told for a head that breaks off', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.destroy()); };
    assert.deepEqual((await whole(originOf())).story, ['UPSTREAM_RESET']);
  });

  it('is told for a body that breaks off, after all that came of it', async () => {
    for (const [head, body] of [['content-length: 10', 'abc'], ['transfer-encoding: chunked', '3\r\nabc\r\n'], ['transfer-encoding: chunked', '9\r\nabc']] as const) {
      for (const breakOff of ['destroy', 'end'] as const) {
        server.answer = ({ socket }) => { socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, () => socket[breakOff]()); };
        const heard = await whole(originOf());
        assert.deepEqual([heard.story, heard.text], [['head', 'chunk', 'UPSTREAM_BROKE'], 'abc'], `${head} ${breakOff}`);
      }
    }
  });

  it('is told for a body whose chunks are nonsense', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nnot a size\r\n'); };
    const heard = await whole(originOf());
    assert.equal(heard.story.at(-1), 'UPSTREAM_BROKE');
  });

  it('is told for an upstream that says nothing, or nothing more', async () => {
    const [silent, midway] = [new Heard(), new Heard()];
    server.answer = ({ head, socket }) => { if (head.startsWith('GET /midway')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'); };
    originOf({ firstByteTimeoutMs: 40 }).send(get(), silent);
    originOf({ idleTimeoutMs: 30 }).send(get({ path: '/midway' }), midway);
    await Promise.all([silent.over(), midway.over()]);
    assert.deepEqual(silent.story, ['UPSTREAM_IDLE']);
    assert.equal(silent.error?.message, `${server.url.host} sent nothing for 40 ms`);
    assert.deepEqual(midway.story, ['head', 'chunk', 'UPSTREAM_IDLE']);
    assert.equal(midway.error?.message, `${server.url.host} sent nothing for 30 ms`);
  });

  it('is told for a streamed body that its owner gives up, with the owner\'s fault', async () => {
    const upload = new Readable({ read() {} });
    upload.push('part');
    const heard = new Heard();
    originOf().send(get({ method: 'POST', headers: ['content-length', '100'], body: upload }), heard);
    const before = server.connections;
    await server.until(() => server.connections >= before);
    upload.destroy(fail('BODY_TOO_LARGE', { maximum: 3 }));
    await heard.over();
    assert.deepEqual(heard.story, ['BODY_TOO_LARGE']);
  });

  it('is the sender\'s fault for a header that no HTTP message can carry, before anything is sent', async () => {
    const origin = originOf({ connectionsMax: 1 });
    const before = server.requests.length;
    for (const value of ['Bearer sk-1\n', 'a\r\nx-injected: 1', '中文', 'a\0b']) {
      const heard = await whole(origin, get({ headers: ['x-given', value] }));
      assert.deepEqual(heard.story, ['HEADER_INVALID'], JSON.stringify(value));
      assert.match(heard.error?.message ?? '', /^header x-given: /);
      assert.ok(!heard.error?.message.includes('sk-1'));
    }
    const path = await whole(origin, get({ path: '/中文' }));
    assert.deepEqual(path.story, ['PATH_INVALID']);
    const name = await whole(origin, get({ headers: ['x given', 'x'] }));
    assert.deepEqual(name.story, ['INTERNAL']);
    assert.equal(server.requests.length, before);
    assert.equal((await whole(origin)).status, 200);
  });

  it('leaves the origin usable', async () => {
    const origin = originOf({ connectionsMax: 1 });
    for (const answer of ['nonsense\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n']) {
      server.answer = ({ socket }) => { socket.write(answer); };
      await whole(origin);
    }
    server.answer = ({ socket }) => { socket.destroy(); };
    await whole(origin);
    server.answer = ({ socket }) => { socket.write(ok()); };
    assert.equal((await whole(origin)).status, 200);
  });
});
