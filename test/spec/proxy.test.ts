// The proxy: what the client sends is what the provider gets, and the other way round, to the byte. Both ends are looked at raw.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { routed, startTestGateway } from '../support/gateway.js';
import { sendJson, startUpstream, type Answer, type Received } from '../support/upstream.js';
import { isAnswered, openWire } from '../support/wire.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
/** Shut down by a test. */
const leaving = await startTestGateway();
/** The provider's base path: everything the client names is below it. */
const base = '/v1';

interface Sent { readonly method?: string; readonly path?: string; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array; readonly config?: Record<string, unknown> }
interface Got { readonly status: number; readonly statusMessage: string; readonly headers: IncomingMessage['headers']; readonly rawHeaders: string[]; readonly body: Buffer }

/** Node's own client: it neither changes the path nor decodes the answer. */
function call({ method = 'GET', path = '/v1/proxy/things', headers = {}, body, config }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request({ host: '127.0.0.1', port: gateway.port, method, path, headers: { ...routed(upstream.url, config), ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, statusMessage: response.statusMessage ?? '', headers: response.headers, rawHeaders: response.rawHeaders, body: Buffer.concat(chunks),
      }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const lastReceived = (): Received => {
  const received = upstream.received.at(-1);
  assert.ok(received);
  return received;
};

const answerOk: Answer = (_, response) => sendJson(response, 200, { ok: true });

describe('a proxied request', () => {
  it('keeps its method, its body and its answer', async () => {
    upstream.answer = answerOk;
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const body = method === 'GET' ? undefined : `{"method":"${method}"}`;
      const got = await call({ method, ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }) });
      assert.equal(got.status, 200);
      assert.equal(got.body.toString(), '{"ok":true}');
      const received = lastReceived();
      assert.equal(received.method, method);
      assert.equal(received.url, `${base}/things`);
      assert.equal(received.body.toString(), body ?? '');
      assert.equal(received.headers['content-length'], body === undefined ? undefined : String(body.length));
    }
  });

  it('may be a DELETE without a body and a POST of length 0', async () => {
    upstream.answer = answerOk;
    assert.equal((await call({ method: 'DELETE' })).status, 200);
    assert.equal(lastReceived().body.length, 0);
    assert.equal((await call({ method: 'POST', body: '' })).status, 200);
    assert.equal(lastReceived().body.length, 0);
  });

  it('keeps its path as it was written', async () => {
    upstream.answer = answerOk;
    const paths = [
      '/indexes', '/indexes/a/points', '/indexes/', '/a//b///c', '//double', '/a%20b%2Fc%3Fd', '/gr%C3%BC%c3%9fe', '/a+b', "/a;v=1,2/b:c@d!$&'()*", '/~user/._-', '/a...b/.hidden/..x', '/a%25', '/UPPER/lower',
      `/${'long/'.repeat(400)}end`,
    ];
    for (const path of paths) {
      assert.equal((await call({ path: `/v1/proxy${path}` })).status, 200, path);
      assert.equal(lastReceived().url, base + path);
      if (path.startsWith('//')) continue;
      assert.equal((await call({ path: `/v1${path}` })).status, 200, path);
      assert.equal(lastReceived().url, base + path);
    }
  });

  it('keeps its query as it was written', async () => {
    upstream.answer = answerOk;
    for (const query of ['a=1', 'a=1&a=2&b', 'q=a+b%20c', 'q=%E2%9C%93&x=%2F', '=&&=', 'u=http://x/?y=1', 'a[]=1&a[]=2', 'path=../..']) {
      assert.equal((await call({ path: `/v1/proxy/search?${query}` })).status, 200, query);
      assert.equal(lastReceived().url, `${base}/search?${query}`);
    }
  });

  it('may hold any body, and none is touched', async () => {
    upstream.answer = answerOk;
    const boundary = '----b0undary';
    const file = randomBytes(100_000);
    const multipart = Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="ü.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`),
      file, Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const bodies: [string, Buffer][] = [
      ['application/json', Buffer.from(' { "n" : 9007199254740993 , "f":1.0,"u":"\\u00fc" , "d":1,"d":2 }\n')],
      ['application/json', Buffer.from('this is not JSON {')],
      ['application/json; charset=utf-8', Buffer.from([0xff, 0xfe, 0x00])],
      ['application/octet-stream', randomBytes(3 * 1024 * 1024)],
      [`multipart/form-data; boundary=${boundary}`, multipart],
      ['application/x-ndjson', Buffer.from('{"a":1}\n{"a":2}\n')],
      ['text/plain', Buffer.from('a\r\n\0b')],
    ];
    for (const config of [{}, { retry: { attempts: 1 } }]) {
      for (const [type, body] of bodies) {
        assert.equal((await call({ method: 'POST', headers: { 'content-type': type }, body, config })).status, 200, type);
        assert.ok(lastReceived().body.equals(body), type);
        assert.equal(lastReceived().headers['content-type'], type);
        assert.equal(lastReceived().headers['content-length'], String(body.length));
      }
    }
  });

  it('may be sent in chunks of unknown number', async () => {
    upstream.answer = answerOk;
    const wire = await openWire(gateway.port);
    const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    wire.write(`PUT /v1/proxy/chunked HTTP/1.1\r\nhost: g\r\n${headers}content-type: text/plain\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nhello\r\n`);
    wire.write('8\r\n, world!\r\n0\r\n\r\n');
    const text = await wire.until((all) => all.includes('{"ok":true}'));
    wire.destroy();
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.equal(lastReceived().body.toString(), 'hello, world!');
    assert.equal(lastReceived().method, 'PUT');
  });

  it('keeps header values beyond ASCII', async () => {
    upstream.answer = answerOk;
    const wire = await openWire(gateway.port);
    const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    wire.write(`GET /v1/proxy/things HTTP/1.1\r\nhost: g\r\n${headers}x-title: "Grüße 👋"\r\nconnection: close\r\n\r\n`);
    await wire.until((all) => all.includes('{"ok":true}'));
    wire.destroy();
    assert.equal(Buffer.from(lastReceived().headers['x-title']?.toString() ?? '', 'latin1').toString(), '"Grüße 👋"');
  });

  it('keeps its own headers, repeated ones and their order too', async () => {
    upstream.answer = answerOk;
    const wire = await openWire(gateway.port);
    const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    wire.write(`GET /v1/proxy/things HTTP/1.1\r\nhost: g\r\n${headers}X-Many: 1\r\naccept: text/html\r\nx-many: 2\r\naccept-encoding: br, gzip\r\nuser-agent: own/1\r\nif-none-match: "e"\r\nconnection: close\r\n\r\n`);
    await wire.until((all) => all.includes('{"ok":true}'));
    wire.destroy();
    const { rawHeaders, headers: received } = lastReceived();
    const many = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'x-many' && index % 2 === 1);
    assert.deepEqual(many, ['1', '2']);
    assert.equal(received.accept, 'text/html');
    assert.equal(received['accept-encoding'], 'br, gzip');
    assert.equal(received['user-agent'], 'own/1');
    assert.equal(received['if-none-match'], '"e"');
    assert.equal(received.host, `127.0.0.1:${upstream.port}`);
    assert.notEqual(received.connection, 'close');
  });

  it('leaves hop-by-hop headers behind', async () => {
    upstream.answer = answerOk;
    await call({ headers: { te: 'trailers', 'proxy-authorization': 'Basic eDp5', upgrade: 'h2c', 'http2-settings': 'AAMAAABk', 'keep-alive': 'timeout=5', 'proxy-connection': 'keep-alive' } });
    for (const name of ['te', 'proxy-authorization', 'upgrade', 'http2-settings', 'keep-alive', 'proxy-connection']) assert.equal(lastReceived().headers[name], undefined, name);
  });

  it('goes to the unified path without checks when it is forced', async () => {
    upstream.answer = (_, response) => sendJson(response, 200, { own: 'shape' });
    const odd = '{"messages":"of another API","temperature":99}';
    const unified = await call({ method: 'POST', path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body: odd });
    assert.equal(unified.status, 400);
    const forced = await call({ method: 'POST', path: '/v1/proxy/chat/completions', headers: { 'content-type': 'application/json' }, body: odd });
    assert.equal(forced.status, 200);
    assert.equal(forced.body.toString(), '{"own":"shape"}');
    assert.equal(lastReceived().url, `${base}/chat/completions`);
    assert.equal(lastReceived().body.toString(), odd);
    const listed = await call({ method: 'GET', path: '/v1/proxy/chat/completions?limit=2' });
    assert.equal(listed.status, 200);
    assert.equal(lastReceived().url, `${base}/chat/completions?limit=2`);
  });

  it('is refused with other methods, which are named', async () => {
    const before = upstream.received.length;
    for (const method of ['PATCH', 'HEAD', 'OPTIONS']) {
      for (const path of ['/v1/proxy/things', '/v1/things', '/v1/chat/completions']) {
        const got = await call({ method, path });
        assert.equal(got.status, 405, `${method} ${path}`);
        assert.equal(got.headers.allow, 'GET, POST, PUT, DELETE');
        if (method === 'HEAD') assert.equal(got.body.length, 0);
        else assert.equal(JSON.parse(got.body.toString()).error.code, 'method_not_allowed');
      }
    }
    assert.equal(upstream.received.length, before);
  });

  it('is refused when its path would leave the provider\'s base or cannot be trusted', async () => {
    const before = upstream.received.length;
    for (const path of ['/../secret', '/a/../../secret', '/.', '/..', '/a/./b', '/%2e%2e/secret', '/a/.%2E/b', '/a/%2e', '/a%2f..%2fb', '/..%2fsecret', '/a\\..\\b', '/a%', '/a%zz', '/a%2']) {
      for (const prefix of ['/v1/proxy', '/v1']) {
        const wire = await openWire(gateway.port);
        const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
        wire.write(`GET ${prefix}${path} HTTP/1.1\r\nhost: g\r\n${headers}connection: close\r\n\r\n`);
        const text = await wire.until(isAnswered);
        wire.destroy();
        assert.match(text, /^HTTP\/1\.1 400 /, prefix + path);
        assert.match(text, /"param":"path"/);
      }
    }
    assert.equal(upstream.received.length, before);
  });

  it('has no route outside of /v1 or without a path', async () => {
    const before = upstream.received.length;
    for (const path of ['/', '/v1', '/v1/', '/v1/proxy', '/v1/proxy/', '/v2/things', '/V1/things', '/proxy/things', '/v1/realtime']) {
      const got = await call({ path });
      assert.equal(got.status, 404, path);
      assert.equal(JSON.parse(got.body.toString()).error.code, 'route_unknown');
    }
    assert.equal(upstream.received.length, before);
  });
});

describe('a proxied answer', () => {
  it('keeps its status and body, good or bad', async () => {
    for (const status of [200, 201, 202, 203, 206, 400, 401, 402, 403, 404, 409, 418, 422, 429, 451, 500, 501, 502, 503, 529, 599]) {
      const body = `{ "status" : ${status}, "n":1.0 }\n`;
      upstream.answer = (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
        response.end(body);
      };
      const got = await call({});
      assert.equal(got.status, status);
      assert.equal(got.body.toString(), body);
      assert.equal(got.headers['content-type'], 'application/json; charset=utf-8');
    }
  });

  it('without a body has none: 204 and 304', async () => {
    for (const status of [204, 304]) {
      upstream.answer = (_, response) => { response.writeHead(status, { etag: '"e1"', 'x-own': 'kept' }).end(); };
      // On one connection twice: a body that was announced and never sent would show on the second.
      const wire = await openWire(gateway.port);
      const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const text = `GET /v1/proxy/things HTTP/1.1\r\nhost: g\r\n${headers}\r\n`;
      wire.write(text);
      const first = await wire.until((all) => all.endsWith('\r\n\r\n'));
      assert.match(first, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(first, /\r\netag: "e1"\r\n/i);
      assert.match(first, /\r\nx-own: kept\r\n/i);
      assert.ok(!/transfer-encoding/i.test(first), 'a status without a body has no transfer-encoding');
      assert.ok(!/content-length/i.test(first), 'the provider announced no length');
      wire.write(text);
      const both = await wire.until((all) => all.length > first.length && all.endsWith('\r\n\r\n'));
      wire.destroy();
      assert.match(both.slice(first.length), new RegExp(`^HTTP/1\\.1 ${status} `), 'nothing stands between the two answers');
    }
  });

  it('that redirects is passed on, not followed', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const before = upstream.received.length;
      upstream.answer = (_, response) => { response.writeHead(status, { location: `${upstream.url}/elsewhere` }).end('moved'); };
      const got = await call({});
      assert.equal(got.status, status);
      assert.equal(got.headers.location, `${upstream.url}/elsewhere`);
      assert.equal(got.body.toString(), 'moved');
      assert.equal(upstream.received.length, before + 1);
    }
  });

  it('that is packed stays packed', async () => {
    const packed = gzipSync(JSON.stringify({ text: 'x'.repeat(50_000), usage: { total_tokens: 3 } }));
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': String(packed.length), vary: 'accept-encoding' });
      response.end(packed);
    };
    for (const path of ['/v1/proxy/things', '/v1/models']) {
      const got = await call({ path, headers: { 'accept-encoding': 'gzip' } });
      assert.ok(got.body.equals(packed), path);
      assert.equal(got.headers['content-encoding'], 'gzip');
      assert.equal(got.headers['content-length'], String(packed.length));
    }
  });

  it('keeps its bytes, with a length and without', async () => {
    const bytes = randomBytes(2 * 1024 * 1024);
    for (const length of [true, false]) {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg', ...(length ? { 'content-length': String(bytes.length) } : {}) });
        response.end(bytes);
      };
      const got = await call({});
      assert.ok(got.body.equals(bytes));
      assert.equal(got.headers['content-length'], length ? String(bytes.length) : undefined);
      assert.equal(got.headers['transfer-encoding'], length ? undefined : 'chunked');
    }
  });

  it('keeps its headers, each cookie on its own', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, [
        'Content-Type', 'text/plain', 'Set-Cookie', 'a=1; Path=/', 'Set-Cookie', 'b=2, still b', 'X-Request-Id', 'req-7', 'X-RateLimit-Remaining', '9', 'Cache-Control', 'no-store',
        'ETag', 'W/"x"', 'X-Latin', 'gr\u00fcn', 'X-Utf8', Buffer.from('Grün 👋').toString('latin1'), 'Access-Control-Allow-Origin', '*', 'Retry-After', '3', 'Link', '<a>; rel=next', 'X-Empty', '',
      ]);
      response.end('ok');
    };
    const got = await call({});
    assert.deepEqual(got.headers['set-cookie'], ['a=1; Path=/', 'b=2, still b']);
    const kept: Record<string, string> = {
      'content-type': 'text/plain', 'x-request-id': 'req-7', 'x-ratelimit-remaining': '9', 'cache-control': 'no-store', etag: 'W/"x"', 'access-control-allow-origin': '*',
      'x-latin': 'gr\u00fcn', 'x-utf8': Buffer.from('Grün 👋').toString('latin1'), 'retry-after': '3', link: '<a>; rel=next', 'x-empty': '',
    };
    for (const [name, value] of Object.entries(kept)) assert.equal(got.headers[name], value, name);
  });

  it('leaves behind what belongs to the provider\'s connection, and headers in the gateway\'s name', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, {
        'content-type': 'text/plain', 'keep-alive': 'timeout=1', 'alt-svc': 'h3=":443"', 'proxy-authenticate': 'Basic', upgrade: 'h2c', date: 'Sun, 06 Nov 1994 08:49:37 GMT',
        'x-gateway-trace-id': 'forged', 'X-Gateway-Retry-Attempt-Count': '99', 'x-gateway-own': 'forged',
      });
      response.end('ok');
    };
    const got = await call({});
    assert.equal(got.body.toString(), 'ok');
    assert.ok(!JSON.stringify(got.rawHeaders).includes('forged'));
    for (const name of ['alt-svc', 'proxy-authenticate', 'upgrade', 'x-gateway-own']) assert.equal(got.headers[name], undefined, name);
    assert.notEqual(got.headers['keep-alive'], 'timeout=1');
    assert.equal(got.headers['x-gateway-retry-attempt-count'], '0');
    assert.ok(got.rawHeaders.filter((text) => text.toLowerCase() === 'date').length <= 1);
    assert.notEqual(got.headers.date, 'Sun, 06 Nov 1994 08:49:37 GMT');
  });

  it('that comes before the upload has ended is whole, with a length and in chunks', async () => {
    let finish: () => void = () => {};
    let head = '';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => { socket.write(`HTTP/1.1 413 Content Too Large\r\nconnection: close\r\n${head}`); });
      finish = () => { socket.end('0\r\n\r\n'); };
    });
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const headers = Object.entries(routed(`http://127.0.0.1:${port}`)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const upload = `POST /v1/proxy/upload HTTP/1.1\r\nhost: g\r\n${headers}content-type: application/octet-stream\r\ncontent-length: 1000000\r\n\r\nbegin`;

    head = 'content-length: 3\r\n\r\nno!';
    const sized = await openWire(gateway.port);
    sized.write(upload);
    const whole = await sized.until((all) => all.endsWith('no!'));
    assert.match(whole, /^HTTP\/1\.1 413 /);
    assert.match(whole, /\r\nconnection: close\r\n/i);
    sized.destroy();

    head = 'transfer-encoding: chunked\r\n\r\n3\r\nno!\r\n';
    const chunked = await openWire(gateway.port);
    chunked.write(upload);
    await chunked.until((all) => all.endsWith('no!') || all.endsWith('no!\r\n'));
    finish();
    const text = await chunked.until((all) => all.endsWith('0\r\n\r\n'));
    assert.match(text, /\r\nconnection: close\r\n/i);
    assert.ok(text.endsWith('\r\n\r\n3\r\nno!\r\n0\r\n\r\n'), text.slice(-80));
    chunked.destroy();
    await new Promise<void>((resolve) => { server.close(() => resolve()); });
  });

  it('in chunks that ends while the gateway shuts down ends as any other', async () => {
    let finish: () => void = () => {};
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      finish = () => { response.end('data: 2\n\n'); };
    };
    const wire = await openWire(leaving.port);
    const headers = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    wire.write(`GET /v1/proxy/stream HTTP/1.1\r\nhost: g\r\n${headers}\r\n`);
    await wire.until((all) => all.includes('data: 1'));
    const stopped = leaving.stop(5000);
    finish();
    const text = await wire.closed();
    await stopped;
    assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4), '9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n');
  });
});
