// The client against servers that behave as they like, over real sockets, with every read poisoned as soon as it is no longer lent.
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, describe, it, mock } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { AddressPolicy } from '../../../../core/upstream/address-policy.js';
import type { UpstreamOrigin, UpstreamRequest } from '../../../../core/upstream/client.js';
import { Egress, type Resolver } from '../../../../core/upstream/egress.js';
import { HttpClient } from '../../../../core/upstream/http/http-client.js';
import { poisonReads, readBuffer, readBytesMax } from '../../../../core/upstream/http/read-buffer.js';
import { Heard, happened } from '../heard.js';
import { certificate } from './certificate.js';

poisonReads();

const clients: HttpClient[] = [];
const servers = new Set<Server>();
const sockets = new Set<Socket>();
after(async () => {
  for (const client of clients) await client.close();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

const ok = (body: string, head = ''): string => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`;
const get = (changes: Partial<UpstreamRequest> = {}): UpstreamRequest => ({ method: 'GET', path: '/', headers: [], body: null, ...changes });
const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

interface Serving {
  readonly port: number;
  connections: number;
}

async function serve(server: Server, host: string, onSocket: (socket: Socket, number: number) => void, event = 'connection'): Promise<Serving> {
  const serving = { port: 0, connections: 0 };
  servers.add(server);
  server.on(event, (socket: Socket) => {
    serving.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onSocket(socket, serving.connections);
  });
  await new Promise<void>((resolve) => { server.listen(0, host, resolve); });
  serving.port = (server.address() as AddressInfo).port;
  return serving;
}

/** Calls `answer` with each whole head that comes. */
function onRequest(socket: Socket, answer: (head: string) => void): void {
  let data = '';
  socket.on('data', (chunk) => {
    data += chunk.toString('latin1');
    for (let end = data.indexOf('\r\n\r\n'); end !== -1; end = data.indexOf('\r\n\r\n')) {
      const head = data.slice(0, end);
      data = data.slice(end + 4);
      answer(head);
    }
  });
}

interface Options {
  readonly resolve?: Resolver;
  readonly ca?: string;
  readonly connectionsMax?: number;
  readonly idleTimeoutMs?: number;
  readonly firstByteTimeoutMs?: number;
}

function originOf(url: string, { resolve, ca, ...limits }: Options = {}): UpstreamOrigin {
  const egress = new Egress({
    policy: new AddressPolicy(['127.0.0.1', '[::1]', 'upstream.test']), connectTimeoutMs: 5_000,
    ...(resolve === undefined ? {} : { resolve }), ...(ca === undefined ? {} : { ca }),
  });
  const client = new HttpClient({ egress, connectionsMax: 50, firstByteTimeoutMs: 30_000, idleTimeoutMs: 30_000, ...limits });
  clients.push(client);
  return client.origin(new URL(url), 'operator');
}

async function whole(origin: UpstreamOrigin, request = get()): Promise<Heard> {
  const heard = new Heard();
  origin.send(request, heard);
  await heard.over();
  return heard;
}

const toLoopback: Resolver = (_, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);

describe('what is lent', () => {
  /** Looks at each chunk again in nextTick and in a promise job, after which it may be gone. */
  class Lent extends Heard {
    late = 0;
    wrong = 0;
    readonly kept: { chunk: Uint8Array; copy: Buffer }[] = [];
    override onChunk(chunk: Uint8Array): void {
      const copy = Buffer.from(chunk);
      const look = (): void => {
        this.late += 1;
        if (copy.compare(chunk) !== 0) this.wrong += 1;
      };
      process.nextTick(() => {
        look();
        queueMicrotask(look);
        process.nextTick(look);
      });
      queueMicrotask(() => process.nextTick(look));
      this.kept.push({ chunk, copy });
      super.onChunk(chunk);
    }
  }

  const letters = (index: number, length: number): Buffer => Buffer.alloc(length, 97 + (index % 26));

  for (const protocol of ['http', 'https'] as const) {
    it(`stays until the queue of nextTick is done, through many reads in one turn, over ${protocol}`, async () => {
      const onSocket = (socket: Socket): void => onRequest(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        for (let index = 0; index < 200; index += 1) {
          const length = 1 + ((index * 7919) % 40_000);
          socket.write(`${length.toString(16)}\r\n`);
          socket.write(letters(index, length));
          socket.write('\r\n');
        }
        socket.write('0\r\n\r\n');
      });
      const { port } = protocol === 'http' ? await serve(createServer(), '127.0.0.1', onSocket) : await serve(createTlsServer({ key: certificate.key, cert: certificate.cert }), '127.0.0.1', onSocket, 'secureConnection');
      const origin = originOf(`${protocol}://upstream.test:${port}`, { resolve: toLoopback, ca: certificate.cert });
      const heards = await Promise.all(Array.from({ length: 4 }, async () => {
        const heard = new Lent();
        origin.send(get(), heard);
        await heard.over();
        return heard;
      }));
      await turn();
      await turn();
      const expected = Buffer.concat(Array.from({ length: 200 }, (_, index) => letters(index, 1 + ((index * 7919) % 40_000))));
      for (const heard of heards) {
        assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
        assert.equal(heard.wrong, 0);
        assert.ok(heard.late > heard.kept.length);
        assert.equal(Buffer.concat(heard.kept.map(({ copy }) => copy)).compare(expected), 0);
        // And then it is gone: the poison would find out whoever kept it.
        assert.ok(heard.kept.filter(({ chunk, copy }) => chunk.buffer === readBuffer.buffer && copy.compare(chunk) !== 0).length > heard.kept.length / 2);
      }
    });
  }

  it('is never more than one read, and copied for a call that is paused', async () => {
    const { port } = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('x'.repeat(3_000_000))); }));
    const heard = new Heard();
    const call = originOf(`http://127.0.0.1:${port}`).send(get(), heard);
    heard.whenHead = () => { call.pause(); };
    await heard.until(() => heard.status === 200);
    for (let count = 0; count < 5; count += 1) await turn();
    assert.equal(heard.bytes, 0);
    call.resume();
    await heard.over();
    assert.equal(heard.bytes, 3_000_000);
    assert.ok(heard.chunks.every(({ length }) => length <= readBytesMax));
    assert.ok(heard.chunks.every((chunk) => chunk.every((byte) => byte === 120)));
  });
});

describe('pause and resume', () => {
  const body = Buffer.from(Array.from({ length: 400_000 }, (_, index) => 33 + ((index * 31) % 90)));

  for (const protocol of ['http', 'https'] as const) {
    it(`at any moment lose nothing and repeat nothing, over ${protocol}`, async () => {
      const onSocket = (socket: Socket): void => onRequest(socket, (head) => {
        if (head.startsWith('GET /sized')) {
          socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`), body]));
        } else if (head.startsWith('GET /rest')) {
          socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), body]));
        } else {
          const pieces: Buffer[] = [Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')];
          for (let at = 0; at < body.length; at += 977) pieces.push(Buffer.from(`${Math.min(977, body.length - at).toString(16)};x=y\r\n`), body.subarray(at, at + 977), Buffer.from('\r\n'));
          socket.write(Buffer.concat([...pieces, Buffer.from('0\r\nx-sum: 1\r\n\r\n')]));
        }
      });
      const { port } = protocol === 'http' ? await serve(createServer(), '127.0.0.1', onSocket) : await serve(createTlsServer({ key: certificate.key, cert: certificate.cert }), '127.0.0.1', onSocket, 'secureConnection');
      const origin = originOf(`${protocol}://upstream.test:${port}`, { resolve: toLoopback, ca: certificate.cert });
      for (const [path, seed] of [['/sized', 1], ['/chunked', 2], ['/rest', 3], ['/chunked', 4], ['/sized', 5]] as const) {
        let state = seed;
        const dice = (sides: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % sides;
        const heard = new Heard();
        const call = origin.send(get({ path }), heard);
        let isPaused = false;
        const storm = (): void => {
          if (heard.isOver) return;
          switch (dice(5)) {
            case 0: call.pause(); call.resume(); break;
            case 1: call.pause(); isPaused = true; break;
            case 2: call.resume(); call.pause(); call.pause(); isPaused = true; break;
            case 3: call.resume(); isPaused = false; break;
            default: break;
          }
          if (isPaused) setImmediate(() => { isPaused = false; call.resume(); });
        };
        heard.whenHead = storm;
        heard.whenChunk = storm;
        await heard.over();
        assert.equal(heard.story.at(-1), 'end', `${path} ${seed}`);
        assert.equal(Buffer.concat(heard.chunks).compare(body), 0, `${path} ${seed}`);
      }
    });
  }

  it('a paused call hears of a broken connection\'s bytes, and of its end, when it goes on', async () => {
    const { port } = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'); }));
    const heard = new Heard();
    const call = originOf(`http://127.0.0.1:${port}`).send(get(), heard);
    heard.whenHead = () => { call.pause(); };
    await heard.until(() => heard.status === 200);
    for (let count = 0; count < 10; count += 1) await turn();
    assert.deepEqual(heard.story, ['head']);
    call.resume();
    await heard.over();
    assert.deepEqual([heard.story, heard.text], [['head', 'chunk', 'end'], 'until the end']);
  });

  it('a paused call does not time out', async () => {
    const { port } = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab'); setTimeout(() => socket.write('cd'), 100); }));
    const heard = new Heard();
    const call = originOf(`http://127.0.0.1:${port}`, { idleTimeoutMs: 30 }).send(get(), heard);
    heard.whenChunk = () => { call.pause(); };
    await heard.until(() => heard.bytes === 2);
    await new Promise((resolve) => { setTimeout(resolve, 150); });
    assert.deepEqual(heard.story, ['head', 'chunk']);
    heard.whenChunk = null;
    call.resume();
    await heard.over();
    assert.deepEqual([heard.story.at(-1), heard.text], ['end', 'abcd']);
  });
});

describe('connections', () => {
  it('serve 10,000 calls, few of them', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, (head) => { socket.write(ok(head.slice(5, head.indexOf(' ', 5)))); }));
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    let sent = 0;
    let wrong = 0;
    await new Promise<void>((resolve, reject) => {
      let open = 0;
      const next = (): void => {
        if (sent === 10_000) {
          if (open === 0) resolve();
          return;
        }
        const name = `call-${sent}`;
        sent += 1;
        open += 1;
        let body = '';
        origin.send(get({ path: `/${name}` }), {
          onHead() {},
          onChunk(chunk) { body += Buffer.from(chunk).toString('latin1'); },
          onEnd() {
            open -= 1;
            if (body !== name) wrong += 1;
            next();
          },
          onError: reject,
        });
      };
      for (let count = 0; count < 8; count += 1) next();
    });
    assert.equal(wrong, 0);
    assert.equal(serving.connections, 8);
  });

  it('resume TLS sessions', async () => {
    let reused = 0;
    const serving = await serve(createTlsServer({ key: certificate.key, cert: certificate.cert, ALPNProtocols: ['h2', 'http/1.1'] }), '127.0.0.1', (socket) => {
      const secure = socket as TLSSocket;
      if (secure.isSessionReused()) reused += 1;
      assert.equal(secure.alpnProtocol, 'http/1.1');
      onRequest(socket, () => { socket.end(ok('ok', 'connection: close\r\n')); });
    }, 'secureConnection');
    const origin = originOf(`https://upstream.test:${serving.port}`, { resolve: toLoopback, ca: certificate.cert });
    for (let count = 0; count < 5; count += 1) assert.equal((await whole(origin)).text, 'ok');
    assert.deepEqual([serving.connections, reused], [5, 4]);
  });

  it('are refused when the certificate is not trusted, or is another host\'s', async () => {
    const serving = await serve(createTlsServer({ key: certificate.key, cert: certificate.cert }), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('ok')); }), 'secureConnection');
    const untrusted = await whole(originOf(`https://upstream.test:${serving.port}`, { resolve: toLoopback }));
    assert.deepEqual(untrusted.story, ['UPSTREAM_UNREACHABLE']);
    const other = await whole(originOf(`https://127.0.0.1:${serving.port}`, { ca: certificate.cert }));
    assert.deepEqual(other.story, ['UPSTREAM_UNREACHABLE']);
    assert.match(other.error?.message ?? '', /ERR_TLS_CERT_ALTNAME_INVALID/);
    assert.equal(serving.connections, 0);
  });

  it('go to the other address of a name when the first does not answer', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('ok')); }));
    const resolve: Resolver = (_, callback) => callback(null, [{ address: '::1', family: 6 }, { address: '127.0.0.1', family: 4 }]);
    assert.equal((await whole(originOf(`http://upstream.test:${serving.port}`, { resolve }))).text, 'ok');
  });

  it('go to IPv6 addresses', async () => {
    const serving = await serve(createServer(), '::1', (socket) => onRequest(socket, (head) => { socket.write(ok(head)); }));
    const heard = await whole(originOf(`http://[::1]:${serving.port}`));
    assert.match(heard.text, new RegExp(`host: \\[::1\\]:${serving.port}`));
  });

  it('are closed when anything stands behind an answer, and it is nobody\'s answer', async () => {
    for (const [late, first] of [[false, ok('first') + ok('evil')], [true, ok('first')], [false, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\nx']] as const) {
      const closed: number[] = [];
      const waiting = new Set<() => void>();
      const serving = await serve(createServer(), '127.0.0.1', (socket, number) => {
        socket.on('close', () => { closed.push(number); for (const check of [...waiting]) check(); });
        onRequest(socket, () => {
          if (number > 1) socket.write(ok('second'));
          else socket.write(first, () => { if (late) setTimeout(() => socket.write(ok('evil')), 20); });
        });
      });
      const origin = originOf(`http://127.0.0.1:${serving.port}`);
      assert.equal((await whole(origin)).text, 'first');
      await happened(waiting, () => closed.includes(1));
      assert.equal((await whole(origin)).text, 'second');
      assert.equal(serving.connections, 2);
    }
  });

  it('are not used again where the server or the request says so', async () => {
    const heads: readonly (readonly [head: string, request?: Partial<UpstreamRequest>])[] = [
      ['connection: close\r\n'], ['keep-alive: timeout=1\r\n'], ['keep-alive: timeout=0\r\n'], ['', { method: 'HEAD' }], ['', { headers: ['connection', 'close'] }],
    ];
    for (const [head, request] of heads) {
      const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, (asked) => { socket.write(asked.startsWith('HEAD') ? ok('', head) : ok('ok', head)); }));
      const origin = originOf(`http://127.0.0.1:${serving.port}`);
      await whole(origin, get(request));
      await whole(origin, get(request));
      assert.equal(serving.connections, 2, head);
    }
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('ok', 'keep-alive: timeout=60\r\n')); }));
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    await whole(origin);
    await whole(origin);
    assert.equal(serving.connections, 1);
  });

  it('that became idle a moment ago do not get a body that can be sent once, while others may be opened', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('ok')); }));
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    const upload = (): UpstreamRequest => get({ method: 'POST', headers: ['content-length', '0'], body: Readable.from([]) });
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    try {
      await whole(origin);
      await whole(origin, upload());
      assert.equal(serving.connections, 2);
      mock.timers.tick(10);
      await whole(origin, upload());
      assert.equal(serving.connections, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it('that had their moment get such a body, whoever became idle since: no new one is opened for each', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('ok')); }));
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    try {
      await Promise.all([whole(origin), whole(origin)]);
      for (let count = 0; count < 5; count += 1) {
        mock.timers.tick(10);
        // The one that was used last is used first, and is idle again a moment ago.
        await whole(origin);
        await whole(origin, get({ method: 'POST', headers: ['content-length', '0'], body: Readable.from([]) }));
      }
      assert.equal(serving.connections, 2);
    } finally {
      mock.timers.reset();
    }
  });
});

describe('requests', () => {
  it('of any size arrive whole, again and again on the same connection', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => {
      let data = Buffer.alloc(0);
      socket.on('data', (chunk) => {
        data = Buffer.concat([data, chunk]);
        const end = data.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = Number(/content-length: (\d+)/.exec(data.toString('latin1', 0, end))?.[1] ?? 0);
        if (data.length < end + 4 + length) return;
        const body = data.subarray(end + 4, end + 4 + length);
        data = data.subarray(end + 4 + length);
        socket.write(ok(`${body.length} ${body.every((byte, index) => byte === (index * 7) % 251)}`));
      });
    });
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    for (const length of [0, 1, 100, 15_000, 16_200, 16_384, 16_385, 65_536, 1_000_000, 9_000_000, 10]) {
      const body = Buffer.from(Array.from({ length: Math.min(length, 251 * 1_000) }, (_, index) => (index * 7) % 251));
      const whole_ = length <= body.length ? body : Buffer.concat(Array.from({ length: Math.ceil(length / body.length) }, () => body)).subarray(0, length);
      assert.equal((await whole(origin, get({ method: 'POST', body: whole_ }))).text, `${length} true`);
    }
    assert.equal(serving.connections, 1);
  });

  it('with the same head but another body, path or header are told apart', async () => {
    const seen: string[] = [];
    const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, (head) => { seen.push(head); socket.write(ok('ok')); }));
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    const headers = ['authorization', 'Bearer a', 'x-n', '1'];
    for (const request of [get({ headers }), get({ headers }), get({ headers, path: '/b' }), get({ headers, method: 'POST' })]) await whole(origin, request);
    headers[3] = '2';
    await whole(origin, get({ headers }));
    const lines = (index: number): string[] => seen[index]?.split('\r\n') ?? [];
    assert.deepEqual(lines(0), ['GET / HTTP/1.1', `host: 127.0.0.1:${serving.port}`, 'connection: keep-alive', 'authorization: Bearer a', 'x-n: 1']);
    assert.deepEqual(lines(1), lines(0));
    assert.deepEqual([lines(2)[0], lines(3)[0], lines(3).at(-1), lines(4).at(-1)], ['GET /b HTTP/1.1', 'POST / HTTP/1.1', 'content-length: 0', 'x-n: 2']);
  });

  it('with a streamed body go at the pace of the server, and fault when the body is not as long as was said', async () => {
    let received = 0;
    const serving = await serve(createServer(), '127.0.0.1', (socket) => {
      socket.pause();
      setTimeout(() => socket.resume(), 100);
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (chunk.toString('latin1').endsWith('0\r\n\r\n')) socket.write(ok('ok'));
      });
    });
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    let made = 0;
    let madeMax = 0;
    const body = new Readable({ read() {
      made += 1;
      madeMax = Math.max(madeMax, made * 65_536 - received);
      this.push(made <= 200 ? Buffer.alloc(65_536, 'x') : null);
    } });
    assert.equal((await whole(origin, get({ method: 'POST', body }))).text, 'ok');
    assert.ok(madeMax < 10_000_000, `${madeMax} bytes were made ahead of the server`);
    for (const length of ['3', '5']) {
      const heard = await whole(origin, get({ method: 'POST', headers: ['content-length', length], body: Readable.from([Buffer.from('four')]) }));
      assert.deepEqual(heard.story, ['UPSTREAM_UNREACHABLE']);
      assert.match(heard.error?.message ?? '', /not as long as its content-length/);
    }
  });

  it('that are answered before they were sent whole are over, and their connection too', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => { socket.once('data', () => { socket.write(ok('early')); }); });
    const origin = originOf(`http://127.0.0.1:${serving.port}`);
    const body = new Readable({ read() {} });
    body.push('part');
    const heard = await whole(origin, get({ method: 'POST', headers: ['content-length', '100'], body }));
    assert.deepEqual([heard.story, heard.text], [['head', 'chunk', 'end'], 'early']);
    assert.ok(body.destroyed);
    assert.equal((await whole(origin)).text, 'early');
    assert.equal(serving.connections, 2);
  });

  it('wait longer for an answer while their body is still on its way', async () => {
    const serving = await serve(createServer(), '127.0.0.1', (socket) => { socket.on('data', (chunk) => { if (chunk.toString('latin1').endsWith('0\r\n\r\n')) socket.write(ok('ok')); }); });
    const body = new Readable({ read() {} });
    const drip = setInterval(() => body.push('x'), 15);
    setTimeout(() => { clearInterval(drip); body.push(null); }, 250);
    assert.deepEqual((await whole(originOf(`http://127.0.0.1:${serving.port}`, { firstByteTimeoutMs: 150 }), get({ method: 'POST', body }))).story, ['head', 'chunk', 'end']);
  });

  it('fail at each stage at which their server may vanish', async () => {
    const stages: readonly (readonly [said: string, code: string])[] = [
      ['', 'UPSTREAM_RESET'], ['HTTP', 'UPSTREAM_RESET'], ['HTTP/1.1 200 OK\r\nconte', 'UPSTREAM_RESET'], ['HTTP/1.1 100 Continue\r\n\r\n', 'UPSTREAM_RESET'],
      ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', 'UPSTREAM_BROKE'], ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc', 'UPSTREAM_BROKE'],
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5', 'UPSTREAM_BROKE'], ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc', 'UPSTREAM_BROKE'],
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx', 'UPSTREAM_BROKE'],
    ];
    for (const close of ['end', 'destroy', 'resetAndDestroy'] as const) {
      for (const [said, code] of stages) {
        const serving = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => {
          if (said === '') socket[close]();
          else socket.write(said, () => socket[close]());
        }));
        const heard = await whole(originOf(`http://127.0.0.1:${serving.port}`));
        assert.equal(heard.story.at(-1), code, `${close} ${JSON.stringify(said)}`);
        assert.equal(heard.story.filter((what) => what === code).length, 1);
      }
    }
  });
});

describe('a listener that throws', () => {
  let port = 0;
  before(async () => { ({ port } = await serve(createServer(), '127.0.0.1', (socket) => onRequest(socket, () => { socket.write(ok('hello')); }))); });

  it('costs its own call, which hears of it, and nothing else', async () => {
    const origin = originOf(`http://127.0.0.1:${port}`);
    const beside = new Heard();
    for (const where of ['onHead', 'onChunk', 'onEnd'] as const) {
      const heard = new Heard();
      const listener = { onHead: heard.onHead.bind(heard), onChunk: heard.onChunk.bind(heard), onEnd: heard.onEnd.bind(heard), onError: heard.onError.bind(heard), [where]: () => { throw new Error(`thrown by ${where}`); } };
      origin.send(get(), listener);
      await heard.until(() => heard.error !== null);
      assert.match(heard.error?.message ?? '', new RegExp(`thrown by ${where}`));
    }
    origin.send(get(), beside);
    await beside.over();
    assert.equal(beside.text, 'hello');
  });

  it('also when told of its fault, is told to whoever runs the client', async () => {
    const thrown: unknown[] = [];
    const client = new HttpClient({
      egress: new Egress({ policy: new AddressPolicy(['127.0.0.1']), connectTimeoutMs: 5_000 }), connectionsMax: 5, firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000,
      onThrown: (what) => { thrown.push(what); },
    });
    clients.push(client);
    const origin = client.origin(new URL(`http://127.0.0.1:${port}`), 'operator');
    origin.send(get(), { onHead() { throw new Error('first'); }, onChunk() {}, onEnd() {}, onError() { throw new Error('second'); } });
    while (thrown.length === 0) await turn();
    assert.match(String(thrown[0]), /second/);
    assert.equal((await whole(origin)).text, 'hello');
  });
});
