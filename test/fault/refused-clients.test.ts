// Clients that are refused while they still send: they get their answer at once and hold no place, however slowly they go on; and those that
// only hold connections.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { startChildGateway } from '../support/child-gateway.js';
import { routed, startTestGateway } from '../support/gateway.js';
import { quickest } from '../support/quickest.js';
import { startUpstream } from '../support/upstream.js';
import { isAnswered, openWire, type Wire } from '../support/wire.js';

const upstream = await startUpstream();
const gateway = await startTestGateway({ GATEWAY_REQUESTS_MAX: '5', GATEWAY_BODY_DEADLINE_MS: '600', GATEWAY_BODY_RATE_MIN: '100000' });
const limited = await startTestGateway({ GATEWAY_CLIENT_CONNECTIONS_MAX: '40', GATEWAY_CLIENT_CONNECTIONS_PER_ADDRESS_MAX: '10', GATEWAY_TRUSTED_PROXIES: '127.0.0.2' });
const descriptors = 256;
const small = await startChildGateway({ GATEWAY_LOG_LEVEL: 'error' }, { descriptors });

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const lines = (headers: Readonly<Record<string, string>>): string => Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const head = (path: string, headers: Readonly<Record<string, string>>): string => `POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n${lines(headers)}\r\n`;
const wrongKey = { 'x-gateway-api-key': 'wrong-key-0123456789' };

const wires: Wire[] = [];
after(() => { for (const wire of wires) wire.destroy(); });
async function opened(port: number, from?: string): Promise<Wire> {
  const wire = await openWire(port, from);
  wires.push(wire);
  return wire;
}

const served = (): Promise<Response> => fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url) }, body: chat });

describe('a client that is refused while it sends', () => {
  it('is answered at once, with any framing, and turns nobody else away', async () => {
    const framings = [{ 'content-length': '50000' }, { 'content-length': '5000000' }, { 'transfer-encoding': 'chunked' }];
    const paths = ['/v1/chat/completions', '/v1/proxy/upload', '/v1/responses'];
    const begun = await Promise.all(Array.from({ length: 30 }, () => opened(gateway.port)));
    for (const [index, wire] of begun.entries()) {
      const framing = framings[index % 3] as Readonly<Record<string, string>>;
      wire.write(head(paths[index % 2] as string, { ...wrongKey, ...framing }) + ('content-length' in framing ? 'x' : '1\r\nx\r\n'));
    }
    for (const wire of begun) assert.match(await wire.until(isAnswered), /^HTTP\/1\.1 401 [^]*"key_invalid"/);
    assert.equal((await served()).status, 200);
  });

  it('is told when the connection will close, and it does, within a limit', async () => {
    const wire = await opened(gateway.port);
    wire.write(`${head('/v1/chat/completions', { ...wrongKey, 'transfer-encoding': 'chunked' })}1\r\nx\r\n`);
    assert.match(await wire.until(isAnswered), /\r\nconnection: close\r\n/i);
    await wire.closed();
  });

  it('may use its connection again when its body was short, though it came later', async () => {
    const wire = await opened(gateway.port);
    wire.write(head('/v1/chat/completions', { ...wrongKey, 'content-length': String(chat.length) }));
    const first = await wire.until(isAnswered);
    assert.doesNotMatch(first, /connection: close/i);
    wire.write(chat + head('/v1/chat/completions', { ...routed(upstream.url), 'content-length': String(chat.length) }) + chat);
    assert.match(await wire.until((text) => text.endsWith('"total_tokens":12}}')), /HTTP\/1\.1 200 OK/);
  });

  it('may use its connection again when its chunked body came in the same read', async () => {
    const wire = await opened(gateway.port);
    wire.write(`${head('/v1/chat/completions', { ...wrongKey, 'transfer-encoding': 'chunked' })}1\r\nx\r\n0\r\n\r\n`);
    assert.doesNotMatch(await wire.until(isAnswered), /connection: close/i);
    wire.write('GET /health HTTP/1.1\r\nhost: g\r\n\r\n');
    await wire.until((text) => text.includes('Server is healthy'));
  });

  it('sees the answer and no reset, with large bodies and real clients', async () => {
    const body = Buffer.alloc(1024 * 1024, 'x');
    for (const path of ['/v1/chat/completions', '/nowhere']) {
      const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...wrongKey }, body });
      assert.equal(answer.status, path === '/nowhere' ? 404 : 401);
      assert.ok((await answer.json() as { error: object }).error);
    }
    const curl = (url: string): Promise<string> => new Promise((resolve, reject) => {
      const child = execFile('curl', ['-sS', '--max-time', '20', '-w', ' %{http_code}', '-H', 'content-type: application/json', '-H', `x-gateway-api-key: ${wrongKey['x-gateway-api-key']}`, '-H', 'expect:', '--data-binary', '@-', url],
        (error, out) => { if (error === null) resolve(out); else reject(error); });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(body);
    });
    assert.match(await curl(`${gateway.url}/v1/chat/completions`), /key_invalid[^]* 401$/);
  });
});

describe('a client with a key', () => {
  it('that sends its body too slowly gets 408 and its place is free, though it never paused for long', async () => {
    const wire = await opened(gateway.port);
    wire.write(head('/v1/chat/completions', { ...routed(upstream.url), 'content-length': '50000' }));
    const drip = setInterval(() => wire.write('x'), 50);
    try {
      assert.match(await wire.until(isAnswered), /^HTTP\/1\.1 408 [^]*"body_too_slow"/);
    } finally {
      clearInterval(drip);
    }
  });
});

describe('connections', () => {
  const isOpen = async (wire: Wire): Promise<boolean> => {
    wire.write('GET /health HTTP/1.1\r\nhost: g\r\n\r\n');
    return wire.until((text) => text.includes('healthy')).then(() => true, () => false);
  };

  it('of one address are closed beyond a limit, those of others and of a trusted proxy not', async () => {
    const mine = await Promise.all(Array.from({ length: 10 }, () => opened(limited.port)));
    for (const wire of mine) assert.ok(await isOpen(wire));
    const more = await Promise.all(Array.from({ length: 5 }, () => opened(limited.port)));
    for (const wire of more) assert.equal(await isOpen(wire), false);
    for (let count = 0; count < 15; count += 1) assert.ok(await isOpen(await opened(limited.port, '127.0.0.2')));
    assert.ok(await isOpen(await opened(limited.port, '127.0.0.3')));
  });

  it('are closed beyond a limit in all, and taken again when others have gone', async () => {
    const many = await Promise.all(Array.from({ length: 30 }, () => opened(limited.port, '127.0.0.2')));
    const states = await Promise.all(many.map(isOpen));
    assert.ok(states.includes(true) && states.includes(false));
    for (const wire of wires) wire.destroy();
    for (let tries = 0; tries < 200; tries += 1) if (await isOpen(await opened(limited.port, '127.0.0.2'))) return;
    assert.fail('no connection is taken any more');
  });

  it('are no more than the file descriptors allow, and the loop does not spin', async () => {
    // As many as the process may have descriptors, all at once: some are served, none keeps the thread busy.
    const many = await Promise.all(Array.from({ length: descriptors + 20 }, () => opened(small.port)));
    const states = await Promise.all(many.slice(0, 5).map(isOpen));
    assert.ok(states.includes(true));
    const cpuMs = (): number => {
      const fields = readFileSync(`/proc/${small.pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    };
    // Whoever spins does so until the silent connections are closed, after ten seconds: no try is later. Work that the start or the clients have left
    // over comes to its end sooner.
    const usedMs = await quickest(200, async () => {
      const before = cpuMs();
      await new Promise((resolve) => { setTimeout(resolve, 700); });
      return cpuMs() - before;
    }, 6);
    for (const wire of many) wire.destroy();
    assert.ok(usedMs < 200, `${usedMs} ms of CPU in 700 ms`);
    // Not with fetch: a GET whose connection is closed before anything came is never settled there.
    for (let tries = 0; tries < 200; tries += 1) if (await isOpen(await opened(small.port))) return;
    assert.fail('no connection is taken any more');
  });
});
