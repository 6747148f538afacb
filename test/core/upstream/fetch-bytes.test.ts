import type { OutboundRequest, OutboundResponse } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, beforeEach, describe, it } from 'node:test';
import { fail } from '../../../core/errors/gateway-error.js';
import { PluginHosts, type HostServices } from '../../../core/registry/host.js';
import { AddressPolicy } from '../../../core/upstream/address-policy.js';
import { Egress } from '../../../core/upstream/egress.js';
import { fetchBytes } from '../../../core/upstream/fetch-bytes.js';
import { HttpClient } from '../../../core/upstream/http/http-client.js';
import { closedPort, ok, startRawServer } from './raw-server.js';

const server = await startRawServer();
const client = new HttpClient({
  egress: new Egress({ policy: new AddressPolicy(['127.0.0.1']), connectTimeoutMs: 5000, resolve: (_, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }]) }),
  connectionsMax: 10, firstByteTimeoutMs: 30_000, idleTimeoutMs: 30_000,
});
after(() => client.close());
beforeEach(() => { server.answer = ({ socket }) => { socket.write(ok()); }; });

const call = (changes: Partial<OutboundRequest> = {}, bytesMaxDefault = 1000): Promise<OutboundResponse> =>
  fetchBytes(client, { url: `${server.url.href}check?a=1`, timeoutMs: 5000, ...changes }, bytesMaxDefault);
const last = () => server.requests.at(-1);

describe('a plugin\'s outbound call', () => {
  it('looks its host up in the name of that plugin, and says when too many are looked up already', async () => {
    const callers: string[] = [];
    const egress = new Egress({
      policy: new AddressPolicy([]), connectTimeoutMs: 5000,
      resolve: (host, callback, caller) => { callers.push(caller); callback(fail('LOOKUPS_BUSY', { host, maximum: 1 }), []); },
    });
    const upstream = new HttpClient({ egress, connectionsMax: 10, firstByteTimeoutMs: 30_000, idleTimeoutMs: 30_000 });
    const hosts = new PluginHosts({ upstream, resolve: (name: string, caller: string) => egress.addresses(name, caller) } as unknown as HostServices);
    const host = hosts.hostOf('guardrail/one');
    await assert.rejects(host.fetch({ url: 'http://a.example/', timeoutMs: 5000 }), { code: 'LOOKUPS_BUSY' });
    await assert.rejects(host.resolve('a.example'), { code: 'LOOKUPS_BUSY' });
    await upstream.close();
    assert.deepEqual(callers, ['plugin guardrail/one', 'plugin guardrail/one']);
  });

  it('gives status, headers and the whole body', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 203 Odd\r\nX-Thing: one\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n'); };
    const response = await call();
    assert.equal(response.status, 203);
    assert.equal(response.header('X-THING'), 'one');
    assert.equal(response.header('absent'), undefined);
    assert.equal(Buffer.from(await response.bytes()).toString(), 'abcdef');
    assert.equal(Buffer.from(await response.bytes()).toString(), 'abcdef');
    assert.match(last()?.head ?? '', /^GET \/check\?a=1 HTTP\/1\.1\r\n/);
  });

  it('may take longer than a timer can wait', async () => {
    server.answer = ({ socket }) => { setTimeout(() => socket.write(ok()), 20); };
    assert.equal((await call({ timeoutMs: 2 ** 31 })).status, 200);
  });

  it('sends method, headers and body, text as UTF-8', async () => {
    await call({ method: 'POST', headers: { 'Content-Type': 'text/plain', 'X-Key': 'k' }, body: 'grüße' });
    assert.match(last()?.head ?? '', /^POST [^]*content-type: text\/plain\r\nx-key: k/);
    assert.equal(Buffer.from(last()?.body ?? '', 'latin1').toString(), 'grüße');
    await call({ method: 'PUT', body: new Uint8Array([1, 2, 255]) });
    assert.deepEqual([...Buffer.from(last()?.body ?? '', 'latin1')], [1, 2, 255]);
  });

  it('may be answered without a body', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 204 No Content\r\n\r\n'); };
    assert.equal((await (await call()).bytes()).length, 0);
  });

  it('does not follow redirects', async () => {
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n'); };
    const before = server.requests.length;
    const response = await call();
    assert.deepEqual([response.status, response.header('location')], [302, '/elsewhere']);
    assert.equal(server.requests.length, before + 1);
  });
});

describe('the limits of a plugin\'s outbound call', () => {
  it('let an answer of exactly the limit pass and cut one above it', async () => {
    server.answer = ({ socket }) => { socket.write(ok('x'.repeat(100))); };
    assert.equal((await (await call({ bytesMax: 100 })).bytes()).length, 100);
    assert.equal((await (await call({}, 100)).bytes()).length, 100);
    for (const promise of [call({ bytesMax: 99 }), call({}, 99)]) {
      await assert.rejects(promise, { code: 'UPSTREAM_TOO_LARGE', message: `the answer of ${server.url.host} is larger than 99 bytes and this route has to hold it whole` });
    }
  });

  it('close the connection of an answer that is too long', async () => {
    server.answer = ({ socket }) => { socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(2000)}`); };
    await assert.rejects(call(), { code: 'UPSTREAM_TOO_LARGE' });
    const connection = last()?.connection ?? 0;
    await server.until(() => server.closed.includes(connection));
  });

  it('end a call that takes too long, body included', async () => {
    for (const part of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc']) {
      server.answer = ({ socket }) => { socket.write(part); };
      await assert.rejects(call({ timeoutMs: 30 }), { code: 'ATTEMPT_TIMEOUT', message: 'the request exceeded the timeout of 30 ms' });
      const connection = last()?.connection ?? 0;
      await server.until(() => server.closed.includes(connection));
    }
  });

  it('leave the status of an answer to who asked for no more: one that is too long, too slow or breaks off is not asked for again', async () => {
    const head = 'HTTP/1.1 202 Accepted\r\ncontent-length: 1000000\r\n\r\n';
    for (const [name, part, isClosed] of [['too long', 'x'.repeat(2000), false], ['too slow', 'abc', false], ['broken off', 'abc', true]] as const) {
      server.answer = ({ socket }) => { socket.write(head + part, () => { if (isClosed) socket.destroy(); }); };
      const response = await call({ timeoutMs: name === 'too slow' ? 200 : 5000, isHeadEnough: true });
      assert.equal(response.status, 202, name);
      assert.ok((await response.bytes()).length <= 1000, name);
      const connection = last()?.connection ?? 0;
      await server.until(() => server.closed.includes(connection));
    }
    server.answer = ({ socket }) => { socket.destroy(); };
    await assert.rejects(call({ isHeadEnough: true }), { code: 'UPSTREAM_RESET' });
    const controller = new AbortController();
    // The head is there when some of the body is.
    server.answer = ({ socket }) => { socket.write(`${head}abc`, () => setTimeout(() => controller.abort(), 100)); };
    assert.equal((await call({ isHeadEnough: true, signal: controller.signal })).status, 202, 'nobody waits for the rest');
    const early = new AbortController();
    server.answer = () => { early.abort(); };
    await assert.rejects(call({ isHeadEnough: true, signal: early.signal }), { message: 'aborted' });
  });

  it('let the caller abort, before and during', async () => {
    const controller = new AbortController();
    server.answer = () => { controller.abort(); };
    await assert.rejects(call({ signal: controller.signal }), { message: 'aborted' });
    const connection = last()?.connection ?? 0;
    await server.until(() => server.closed.includes(connection));
    const before = server.requests.length;
    await assert.rejects(call({ signal: AbortSignal.abort() }), { message: 'aborted' });
    assert.equal(server.requests.length, before);
  });

  it('leave nothing on the signal and no timer behind', async () => {
    const { signal } = new AbortController();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await call();
    const before = timers();
    for (let count = 0; count < 3; count += 1) await call({ signal, timeoutMs: 60_000 });
    server.answer = ({ socket }) => { socket.destroy(); };
    await assert.rejects(call({ signal, timeoutMs: 60_000 }), { code: 'UPSTREAM_RESET' });
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    // That of the wheel goes when nothing is left on it, some time later; one of the calls would be there for a minute.
    for (const byMs = performance.now() + 60_000; timers() > before && performance.now() < byMs;) await new Promise((resolve) => { setImmediate(resolve); });
    assert.ok(timers() <= before, `${timers()} timers, ${before} before`);
  });
});

describe('a plugin\'s outbound call that cannot be made', () => {
  it('is refused by its address', async () => {
    for (const [url, code] of [
      ['http://169.254.169.254/latest', 'EGRESS_REFUSED'], ['http://[::1]/', 'EGRESS_REFUSED'], ['http://internal.test/', 'EGRESS_REFUSED'],
      ['ftp://127.0.0.1/', 'CUSTOM_HOST_INVALID'], ['file:///etc/passwd', 'CUSTOM_HOST_INVALID'], ['http://user:secret@127.0.0.1/', 'CUSTOM_HOST_INVALID'],
    ] as const) {
      await assert.rejects(call({ url }), (error: Error & { code?: string }) => {
        assert.equal(error.code, code, url);
        assert.ok(!error.message.includes('secret'));
        return true;
      });
    }
    await assert.rejects(call({ url: 'not a url' }), { code: 'ERR_INVALID_URL' });
  });

  it('fails as the network does', async () => {
    await assert.rejects(call({ url: `http://127.0.0.1:${await closedPort()}/` }), { code: 'UPSTREAM_UNREACHABLE' });
    server.answer = ({ socket }) => { socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', () => socket.destroy()); };
    await assert.rejects(call(), { code: 'UPSTREAM_BROKE' });
  });

  it('says which header could not be sent', async () => {
    await assert.rejects(call({ headers: { 'X-Key': 'line\nbreak' } }), { code: 'HEADER_INVALID', message: /^header x-key: / });
  });
});
