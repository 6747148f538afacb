// The thread that runs control calls, as users have it: several threads reach it, it is started again when it dies, and no call is left without a reply.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { describe, it } from 'node:test';
import { LocalLink, PortLink } from '../../core/control-plane/control-link.js';
import { modelList } from '../../core/control-plane/model-list.js';
import type { Exchange } from '../../core/exchange/exchange.js';
import type { ControlCall } from '../../core/control-plane/control-call.js';
import { ControlWorker } from '../../core/control-worker.js';
import { readSettings } from '../../core/settings/read.js';
import { Counters } from '../../core/limits/counters.js';
import { AppliedSequences } from '../../core/snapshot/applied-sequences.js';
import { RevisionSignal } from '../../core/snapshot/snapshot.js';
import { Metrics } from '../../core/telemetry/metrics.js';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { adminKey } from '../support/gateway.js';
import { openWire } from '../support/wire.js';

const nobody = { keyId: 'k', keyType: 'organisation-service', organisationId: 'o', workspaceId: '', scopes: ['workspaces.list'] } as const;
const callOf = (id: string): ControlCall =>
  ({ id, method: 'GET', path: '/v1/workspaces', query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '127.0.0.1', caller: nobody });
const textOf = (body: string | Uint8Array): string => (typeof body === 'string' ? body : Buffer.from(body).toString());

describe('the control thread', () => {
  it('answers calls of every serving thread, and those that are under way when the gateway is told to stop', async () => {
    const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });
    // The kernel spreads connections over the threads.
    const wires = await Promise.all(Array.from({ length: 16 }, () => openWire(gateway.port)));
    const head = (method: string, path: string, length: number): string => `${method} ${path} HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${adminKey}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    await Promise.all(wires.map(async (wire, index) => {
      const body = JSON.stringify({ name: `Name ${index}` });
      wire.write(head('PUT', '/v1/workspaces/first-workspace', body.length) + body);
      assert.match(await wire.until((text) => text.endsWith('{}')), /^HTTP\/1\.1 200 /);
    }));
    // What a reply tells of is obeyed by calls that begin behind it, on whatever thread.
    const send = (method: string, path: string, key: string, body?: unknown): Promise<Response> => fetch(gateway.url + path, {
      method, headers: { 'x-gateway-api-key': key, 'content-type': 'application/json', connection: 'close' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (let round = 0; round < 20; round += 1) {
      const made = await send('POST', '/v1/api-keys/workspace/service', adminKey, { name: `Key ${round}`, scopes: ['completions.write', 'configs.list'], workspace_id: 'first-workspace' });
      const { id, key } = await made.json() as { readonly id: string; readonly key: string };
      for (const status of await Promise.all(Array.from({ length: 4 }, async () => (await send('GET', '/v1/configs', key)).status))) assert.equal(status, 200);
      assert.equal((await send('DELETE', `/v1/api-keys/${id}`, adminKey)).status, 200);
      for (const status of await Promise.all(Array.from({ length: 4 }, async () => (await send('GET', '/v1/configs', key)).status))) assert.equal(status, 401);
    }
    const [first, ...others] = wires;
    assert.ok(first);
    first.write(`${head('PUT', '/v1/workspaces/first-workspace', 15)}{`);
    // Its head has come when these answers have, which its thread gives too.
    await Promise.all(others.map((wire) => {
      wire.write(head('GET', '/v1/workspaces/first-workspace', 0));
      return wire.until((text) => text.includes('"slug"'));
    }));
    gateway.kill('SIGTERM');
    let isListening = true;
    for (let tries = 0; isListening && tries < 10_000; tries += 1) isListening = await openWire(gateway.port).then((wire) => { wire.destroy(); return true; }, () => false);
    assert.equal(isListening, false);
    first.write('"name":"Last"}');
    await first.until((text) => text.split('{}').length === 3);
    assert.match(first.text(), /HTTP\/1\.1 200 OK\r\n[^]*HTTP\/1\.1 200 OK\r\n/);
    for (const wire of wires) wire.destroy();
    assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr());
    assert.equal(gateway.stderr().includes('"level":"error"'), false, gateway.stderr());
  });

  it('is started again when it dies; what it had taken is answered, and what comes next is served', async () => {
    const folder = temporaryFolder();
    const settings = readSettings({ GATEWAY_DATA_DIR: folder, GATEWAY_LOG_LEVEL: 'error', GATEWAY_THREADS: '1' }, folder);
    const told: unknown[] = [];
    // As the listen socket of a gateway does.
    const alive = setInterval(() => undefined, 60_000);
    let again = (): void => undefined;
    const restarted = new Promise<void>((resolve) => { again = resolve; });
    let link: PortLink | undefined = undefined;
    const attach = ([port]: readonly MessagePort[]): void => {
      if (port !== undefined) link?.attach(port);
      again();
    };
    const worker = new ControlWorker({ settings, memory: { masterKey: new Uint8Array(32), revision: RevisionSignal.allocate(), applied: AppliedSequences.allocate(1), counters: Counters.allocate(), process: 'test' } }, 1, attach);
    const [port] = worker.ports;
    assert.ok(port);
    const metrics = new Metrics();
    worker.start({ logger: { error: (message, fields) => told.push([message, fields?.reason]) }, metrics });
    link = new PortLink(port);
    // Sent before the thread is there.
    const early = await link.send(callOf('early'));
    assert.deepEqual([early.status, JSON.parse(textOf(early.body)).total], [200, 0]);
    // Nothing that a thread sends: an error that nobody expected.
    port.postMessage(null);
    const lost = await link.send(callOf('lost'));
    assert.deepEqual([lost.status, JSON.parse(textOf(lost.body)).data.errorCode], [503, 'AB04']);
    assert.match(textOf(lost.body), /it broke off; what the call was to change may have been changed/);
    assert.match(textOf((await link.send(callOf('between'))).body), /it is being started again/);
    await restarted;
    assert.equal((await link.send(callOf('after'))).status, 200);
    assert.equal(told.length, 1);
    assert.match(String(told[0]), /^the control thread died; it is started again,/);
    assert.equal(metrics.get('control.threadDeaths'), 1);
    await worker.stop(false, Promise.resolve());
    assert.equal((await link.send(callOf('late'))).status, 503);
    clearInterval(alive);
  });

  it('gives each caller its own reply, in whatever order they come', async () => {
    const { port1, port2 } = new MessageChannel();
    const link = new PortLink(port1);
    const taken: { number: number; call: ControlCall }[] = [];
    const all = new Promise<void>((resolve) => {
      port2.on('message', (message) => {
        taken.push(message);
        if (taken.length % 3 === 0) resolve();
      });
    });
    const reply = (index: number): void => port2.postMessage({ number: taken[index]?.number, reply: { status: 200, headers: [], body: taken[index]?.call.id ?? '' } });
    const replies = ['a', 'b', 'c'].map((id) => link.send(callOf(id)));
    await all;
    for (const index of [2, 0, 0, 1]) reply(index);
    assert.deepEqual((await Promise.all(replies)).map(({ body }) => textOf(body)), ['a', 'b', 'c']);
    // In the place of one that was answered; another answer to that one is for nobody.
    const next = link.send(callOf('d'));
    while (taken.length < 4) await once(port2, 'message');
    for (const index of [0, 1, 2, 3]) reply(index);
    assert.equal(textOf((await next).body), 'd');
    link.close();
  });

  it('is sent no more calls than may wait at once', async () => {
    const { port1, port2 } = new MessageChannel();
    const link = new PortLink(port1);
    const waiting = Array.from({ length: 4_096 }, (_, index) => link.send(callOf(`call ${index}`)));
    const refused = await link.send(callOf('one too many'));
    assert.equal(refused.status, 429);
    assert.match(textOf(refused.body), /too many control calls \(4096 at once\)/);
    link.close();
    assert.ok((await Promise.all(waiting)).every(({ status }) => status === 503));
    port2.close();
  });

  it('tells too many lists of models from a control plane that is gone', async () => {
    const busy = { status: 429, headers: [], body: JSON.stringify({ message: 'too many control calls (128 at once for each key); try again in 1 s', error: { param: null } }) };
    const exchange = { id: 'x', suffix: '', head: { query: '' }, principal: { keyId: 'k', organisationId: 'o', workspaceId: 'w' } } as unknown as Exchange;
    await assert.rejects(modelList({ send: () => Promise.resolve(busy), close() {} })(exchange), { code: 'CONTROL_BUSY', status: 429, message: JSON.parse(busy.body).message });
  });

  it('leaves nothing of the calls that were answered on the serving threads', () => {
    const script = `
      import { MessageChannel } from 'node:worker_threads';
      import { getHeapSpaceStatistics } from 'node:v8';
      const { PortLink, answerCalls } = await import(${JSON.stringify(new URL('../../core/control-plane/control-link.js', import.meta.url).href)});
      const { port1, port2 } = new MessageChannel();
      const link = new PortLink(port1);
      answerCalls(port2, { handle: (call) => Promise.resolve({ status: 200, headers: [], body: call.id }) });
      const caller = ${JSON.stringify(nobody)};
      const send = (index) => link.send({ id: 'x'.repeat(500) + index, method: 'GET', path: '/', query: '', body: new Uint8Array(0), headers: ['a', 'b', 'c', 'd'], address: '', caller });
      const rounds = async (count) => { for (let round = 0; round < count; round += 1) await Promise.all(Array.from({ length: 20 }, (_, index) => send(index))); };
      const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
      await rounds(50);
      // What lives long enough is old now.
      for (let each = 0; each < 3; each += 1) gc({ type: 'minor' });
      const before = old();
      for (let each = 0; each < 50; each += 1) { await rounds(5); gc({ type: 'minor' }); }
      console.log(old() - before);
      process.exit(0);
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60_000 });
    const bytes = Number(stdout);
    assert.ok(stdout !== '' && bytes < 2_000_000, `5,000 calls left ${stdout.trim()} bytes in old space ${stderr}`);
  });

  it('that gives no reply in time is not waited for', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const waiting = new LocalLink({ handle: () => new Promise(() => undefined) }).send(callOf('x'));
    context.mock.timers.tick(30_000);
    const reply = await waiting;
    assert.equal(reply.status, 503);
    assert.match(textOf(reply.body), /it took longer than 30000 ms; what the call was to change may still be changed/);
  });

  it('that fails a call in a way nobody expected gives a reply all the same', async () => {
    const reply = await new LocalLink({ handle: async () => { throw new Error('broken'); } }).send(callOf('x'));
    assert.equal(reply.status, 503);
  });
});
