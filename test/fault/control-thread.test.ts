// The thread that runs control calls, as users have it: several threads reach it, it is started again when it dies, and no call is left without a reply.

import assert from 'node:assert/strict';
import type { MessagePort } from 'node:worker_threads';
import { describe, it } from 'node:test';
import { LocalLink, PortLink } from '../../core/control-plane/control-link.js';
import type { ControlCall } from '../../core/control-plane/control-call.js';
import { ControlWorker } from '../../core/control-worker.js';
import { readSettings } from '../../core/settings/read.js';
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
    const worker = new ControlWorker({ settings, memory: { masterKey: new Uint8Array(32), revision: RevisionSignal.allocate(), applied: AppliedSequences.allocate(1) } }, 1, attach);
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
