// The end of the process: by signal with calls under way, by a second signal, and by force in the middle of writes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { runGateway, startChildGateway, temporaryFolder, type ChildGateway } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { answerChat, chatChunks, startUpstream, type TestUpstream } from '../support/upstream.js';
import { openWire, type Wire } from '../support/wire.js';

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
const clean = { code: 0, signal: null };
/** The deadline of a gateway that is told no other: what ends sooner did not wait for it. */
const usualDeadlineMs = 30_000;

function request(upstream: TestUpstream, key: Record<string, string> = {}): string {
  const lines = Object.entries({ host: 'gateway', 'content-type': 'application/json', 'content-length': String(chat.length), ...routed(upstream.url), ...key });
  return `POST /v1/chat/completions HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${chat}`;
}

interface OpenStream {
  readonly wire: Wire;
  readonly response: ServerResponse;
}

/** `count` event streams that have begun and do not end by themselves. */
async function openStreams(gateway: ChildGateway, upstream: TestUpstream, count: number): Promise<OpenStream[]> {
  const streams: OpenStream[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = new Promise<ServerResponse>((resolve) => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`${chatChunks([]).at(0) ?? ''}\n\n`);
        resolve(response);
      };
    });
    const wire = await openWire(gateway.port);
    wire.write(request(upstream));
    const response = await started;
    await wire.until((text) => text.includes('data: '));
    streams.push({ wire, response });
  }
  return streams;
}

/** Tries until a connection is refused; the process may have printed that it stops a moment before it did. */
async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    const isRefused = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => { socket.destroy(); resolve(false); });
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    });
    if (isRefused) return;
  }
}

describe('a signal', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} lets open answers finish whole, takes no new connections, and exits with 0`, async () => {
      const upstream = await startUpstream();
      const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });
      const streams = await openStreams(gateway, upstream, 12);
      const idle = await Promise.all(Array.from({ length: 8 }, async () => {
        const wire = await openWire(gateway.port);
        wire.write('GET /ready HTTP/1.1\r\nhost: g\r\n\r\n');
        assert.match(await wire.until((text) => text.includes('"ready"')), /^HTTP\/1\.1 200 /);
        return wire;
      }));

      gateway.kill(signal);
      await gateway.until((text) => text.includes(`${signal}, stopping`));
      await refusesConnections(gateway.port);
      for (const wire of idle) {
        wire.write('GET /ready HTTP/1.1\r\nhost: g\r\n\r\n');
        const text = await wire.closed();
        assert.match(text, /HTTP\/1\.1 503 .*\r\n(?:.*\r\n)*connection: close\r\n(?:.*\r\n)*\r\n\{"status":"draining"\}$/i);
      }
      const words = ['all ', 'of ', 'it'];
      for (const { response } of streams) response.end(`${chatChunks(words).slice(1).join('\n\n')}\n\n`);
      for (const { wire } of streams) {
        const text = await wire.closed();
        for (const word of words) assert.ok(text.includes(`"content":"${word}"`), text);
        assert.ok(text.includes('data: [DONE]') && text.endsWith('\r\n0\r\n\r\n'), text.slice(-200));
      }
      assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    });
  }

  it('cuts answers that are still open at the deadline, in time, and still exits with 0', async () => {
    const upstream = await startUpstream();
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_SHUTDOWN_DEADLINE_MS: '300' });
    const streams = await openStreams(gateway, upstream, 8);
    const closed = streams.map(({ response }) => new Promise<void>((resolve) => { response.once('close', resolve); }));
    const at = performance.now();
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    const tookMs = performance.now() - at;
    assert.ok(tookMs >= 300 && tookMs < usualDeadlineMs, `took ${tookMs} ms`);
    for (const { wire } of streams) assert.ok(!(await wire.closed()).endsWith('0\r\n\r\n'), 'a cut answer looks whole');
    await Promise.all(closed);
  });

  it('cuts calls that wait for the provider, uploads, and half-sent requests at the deadline', async () => {
    const upstream = await startUpstream(() => {});
    const gateway = await startChildGateway({ GATEWAY_SHUTDOWN_DEADLINE_MS: '100' });
    const wires = await Promise.all([0, 1, 2].map(() => openWire(gateway.port)));
    const [waiting, uploading, stalled] = wires as [Wire, Wire, Wire];
    waiting.write(request(upstream));
    const head = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    uploading.write(`POST /v1/proxy/upload HTTP/1.1\r\nhost: g\r\ncontent-length: 1000\r\n${head}\r\nsome of it`);
    stalled.write('POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-gateway');
    await new Promise<void>((resolve) => {
      const check = (): void => { if (upstream.received.length === 1 && upstream.connections === 2) resolve(); else setImmediate(check); };
      check();
    });
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    for (const wire of wires) await wire.closed();
  });

  it('ends at once when nothing is open', async () => {
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });
    const at = performance.now();
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    assert.ok(performance.now() - at < usualDeadlineMs, `took ${performance.now() - at} ms`);
  });

  it('goes on after SIGHUP, and says why nothing changes', async () => {
    const gateway = await startChildGateway();
    gateway.kill('SIGHUP');
    await gateway.until((text) => text.includes('SIGHUP is ignored'));
    assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean);
  });

  it('ends at once, with the code of the signal, when it comes a second time', async () => {
    const upstream = await startUpstream();
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });
    const [stream] = await openStreams(gateway, upstream, 4);
    gateway.kill('SIGTERM');
    await gateway.until((text) => text.includes('a second signal ends at once'));
    const at = performance.now();
    gateway.kill('SIGINT');
    const exit = await gateway.ended;
    assert.ok(performance.now() - at < usualDeadlineMs, `took ${performance.now() - at} ms`);
    assert.deepEqual(exit, { code: 130, signal: null }, gateway.stderr());
    assert.ok(!(await stream!.wire.closed()).endsWith('0\r\n\r\n'));
  });
});

/** A package with one strategy, which answers with the first target and does `work` beside it. */
function strategyPackage(work: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({
    name: 'acme-faulty', version: '1.0.0', type: 'module', exports: { './strategy/late': './plugin.js' },
    gateway: { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['late'] } },
  }));
  writeFileSync(join(folder, 'plugin.js'), `import { isMainThread } from 'node:worker_threads';
export default {
  kind: 'strategy', contract: 1, title: 'Late', describe: 'Fails after it answered.',
  params: { type: 'object', properties: { inMain: { type: 'boolean' } } },
  create: ({ inMain }, host) => ({ next: () => { if (inMain === isMainThread) { ${work} } return 0; } }),
};
`);
  return folder;
}

const lateRequest = (upstream: TestUpstream, inMain: boolean): string =>
  request(upstream, { 'x-gateway-config': JSON.stringify({ strategy: { mode: 'acme.late', inMain }, targets: [{ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` }] }) });

describe('an error that nothing expected', { concurrency: 2 }, () => {
  it('ends the process with 1 and says what it was, in whichever thread it came up', async () => {
    const folder = strategyPackage("setTimeout(() => { throw new Error('thrown late'); });");
    const upstream = await startUpstream();
    for (const inMain of [true, false]) {
      const gateway = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_PLUGINS: folder });
      // Connections are spread over the threads by the kernel; one of these comes to the right one.
      const wires = await Promise.all(Array.from({ length: 32 }, () => openWire(gateway.port)));
      for (const wire of wires) wire.write(lateRequest(upstream, inMain));
      assert.deepEqual(await gateway.ended, { code: 1, signal: null }, gateway.stderr());
      assert.match(gateway.stderr(), /^gateway: ended by an unexpected error: [^\n]*thrown late[^\n]*\n$/);
    }
  });

  it('ends the process as well when a commit of the storage waits for the very thread it came up in', async () => {
    // The commit runs on another thread by then, and asks this one for the rows.
    const folder = strategyPackage(`host.store('rows').then((store) => {
      store.write([{ op: 'put', key: 'a', value: Buffer.from('1') }]).catch(() => undefined);
      setImmediate(() => {
        const until = Date.now() + 100;
        while (Date.now() < until);
        throw new Error('thrown while writing');
      });
    });`);
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway({ GATEWAY_PLUGINS: folder });
    const wire = await openWire(gateway.port);
    wire.write(lateRequest(upstream, true));
    assert.deepEqual(await gateway.ended, { code: 1, signal: null }, gateway.stderr());
    assert.match(gateway.stderr(), /^gateway: ended by an unexpected error: [^\n]*thrown while writing[^\n]*\n$/);
  });

  it('in a promise that nobody holds costs no call but its own, and is told once', async () => {
    const folder = strategyPackage("for (let times = 0; times < 5; times += 1) Promise.reject(new Error('lost'));");
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_PLUGINS: folder });
    for (const inMain of [true, false]) {
      const wires = await Promise.all(Array.from({ length: 16 }, () => openWire(gateway.port)));
      for (const wire of wires) wire.write(lateRequest(upstream, inMain));
      for (const wire of wires) assert.match(await wire.until((text) => text.endsWith('}}')), /^HTTP\/1\.1 200 /);
    }
    // Each thread tells its own.
    await gateway.until((text) => text.split('promises were rejected that nobody held').length > 2);
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    const lines = gateway.stderr().split('\n').filter((line) => line.includes('nobody held'));
    // The first of each thread, and the rest at the end.
    assert.ok(lines.length <= 4, gateway.stderr());
    for (const line of lines) assert.match(line, /"at":"[^"]*plugin\.js[^"]*".*"reason":"lost"/);
  });
});

describe('an end that cannot come by itself', { concurrency: 2 }, () => {
  it('comes in good order when a plugin cannot be closed, and keeps nothing else from closing', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify({
      name: 'acme-stubborn', version: '1.0.0', type: 'module', exports: { './exporter/stubborn': './plugin.js' },
      gateway: { namespace: 'acme', contract: { exporter: 1 }, plugins: { exporter: ['stubborn'] } },
    }));
    writeFileSync(join(folder, 'plugin.js'), `export default {
  kind: 'exporter', contract: 1, title: 'Stubborn', describe: 'Cannot be closed.', params: { type: 'object', properties: {} },
  create: () => ({ export: () => { throw new Error('refused'); }, close: () => Promise.reject(new Error('stays open')) }),
};
`);
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway({ GATEWAY_PLUGINS: folder, GATEWAY_EXPORTERS: 'acme.stubborn,store' });
    const wire = await openWire(gateway.port);
    wire.write(request(upstream));
    await wire.until((text) => text.endsWith('}}'));
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, clean, gateway.stderr());
    assert.match(gateway.stderr(), /"message":"could not be closed","what":"the exporter acme.stubborn","reason":"stays open"/);
    assert.equal((await storedRecords(gateway.dataDir)).length, 1);
  });

  it('comes by force, with the port free, when a thread does not turn any more', async () => {
    const folder = strategyPackage("process.on('SIGINT', () => { for (;;); });");
    const upstream = await startUpstream(answerChat);
    const gateway = await startChildGateway({ GATEWAY_PLUGINS: folder });
    const wire = await openWire(gateway.port);
    wire.write(lateRequest(upstream, true));
    await wire.until((text) => text.endsWith('}}'));
    const [stream] = await openStreams(gateway, upstream, 1);
    gateway.kill('SIGTERM');
    await gateway.until((text) => text.includes('a second signal ends at once'));
    gateway.kill('SIGINT');
    assert.deepEqual(await gateway.ended, { code: null, signal: 'SIGKILL' }, gateway.stderr());
    await stream?.wire.closed();
    await refusesConnections(gateway.port);
  });
});

/** Chat calls one after another on each connection, until the connections break. Counts the answers. */
async function load(gateway: ChildGateway, text: string, connections: number, onAnswer: () => void): Promise<void> {
  await Promise.all(Array.from({ length: connections }, async () => {
    const { socket, write } = await openWire(gateway.port);
    await new Promise<void>((resolve) => {
      let seen = '';
      socket.on('data', (data) => {
        seen += data.toString('latin1');
        if (!seen.endsWith('"total_tokens":12}}')) return;
        assert.match(seen, /^HTTP\/1\.1 200 /);
        seen = '';
        onAnswer();
        write(text);
      });
      socket.once('close', () => resolve());
      write(text);
    });
  }));
}

async function storedRecords(dataDir: string): Promise<LogRecord[]> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  const store = await storage.open('exporter-store-logs');
  const records: LogRecord[] = [];
  for await (const { value } of store.range({ from: '0', to: ':', limit: 100_000 })) records.push(...readLogBatch(value));
  await storage.close?.();
  return records;
}

describe('a process that is killed while it writes', () => {
  it('leaves a data directory that the next start works with, twice in a row', async () => {
    const upstream = await startUpstream(answerChat);
    const dataDir = join(temporaryFolder(), 'data');
    const environment = { GATEWAY_DATA_DIR: dataDir, GATEWAY_THREADS: '2', GATEWAY_API_KEY: '', GATEWAY_ADMIN_KEY: '' };
    let apiKey = '';
    const call = (gateway: ChildGateway): Promise<Response> => fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url), 'x-gateway-api-key': apiKey }, body: chat,
    });
    let stored = 0;
    for (let round = 1; round <= 2; round += 1) {
      const gateway = await startChildGateway(environment);
      if (round === 1) apiKey = /API key +(\S+)/.exec(gateway.stdout())?.[1] ?? '';
      assert.equal((await call(gateway)).status, 200, `round ${round}: ${gateway.stderr()}`);
      let answers = 0;
      // Enough for several batches of the log; the moment differs from round to round.
      await load(gateway, request(upstream, { 'x-gateway-api-key': apiKey }), 8, () => {
        answers += 1;
        if (answers === 1200 + round * 211) gateway.kill('SIGKILL');
      });
      assert.deepEqual(await gateway.ended, { code: null, signal: 'SIGKILL' });
      const records = await storedRecords(dataDir);
      assert.ok(records.length > stored, `round ${round}: no record of ${answers} calls is stored`);
      assert.ok(records.every(({ status, ended }) => status === 200 && ended === 'complete'));
      assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
      stored = records.length;
    }
    const last = await startChildGateway(environment);
    const answer = await call(last);
    assert.equal(answer.status, 200, await answer.text());
    last.kill('SIGTERM');
    assert.deepEqual(await last.ended, clean);
    assert.equal((await storedRecords(dataDir)).length, stored + 1);
    const { GATEWAY_DATA_DIR } = environment;
    const checked = await runGateway(['check'], { GATEWAY_DATA_DIR });
    assert.equal(checked.code, 0, checked.stdout);
  });
});
