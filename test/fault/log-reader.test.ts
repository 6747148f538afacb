// The thread that reads the log: the store of a real gateway through it, and a reader that takes its thread down, or never answers. What waited is
// refused, the next question is answered, and calls go on.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { temporaryFolder, writePackage } from '../core/registry/plugin-package.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';

const dying = `import * as sdk from '@gateway/plugin-sdk';
import { threadId } from 'node:worker_threads';
export default sdk.defineExporter({
  title: 'Dying', describe: 'Its reader dies when it is told to.', params: { type: 'object', properties: {} },
  create: () => ({ export() {} }),
  reader: () => ({
    read(scope, id) {
      if (id === 'die') return new Promise(() => { setImmediate(() => { throw new Error('the reader broke down'); }); });
      if (id === 'exit') process.exit(3);
      if (id === 'refuse') throw new Error('the disk is gone');
      throw new Error('on thread ' + threadId);
    },
  }),
});
`;
const folder = writePackage(join(temporaryFolder(), 'dying'), { name: 'dying', gateway: { namespace: 'dying', contract: { exporter: 1 }, plugins: { exporter: ['log'] } }, files: { 'exporter/log.js': dying } });

async function ask(url: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: any }> {
  const response = await fetch(`${url}/v1${path}`, { method: body === undefined ? 'GET' : 'POST', headers: { 'x-gateway-api-key': body === undefined ? adminKey : apiKey, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() };
}

describe('the thread that reads the log', async () => {
  it('reads and writes the store of a gateway that runs', async () => {
    const { url } = await startTestGateway({}, { hasControlThread: true });
    const told = await ask(url, '/logs', { request: { url: 'https://api.example.com/v1/chat/completions', provider: 'openai', body: { model: 'm' } }, response: { status: 200, body: {} }, metadata: { trace_id: 'told' } });
    assert.equal(told.status, 200, JSON.stringify(told.body));
    assert.equal((await ask(url, '/logs/told')).body._id, told.body.ids[0]);
    const times = `time_of_generation_min=${new Date(Date.now() - 3_600_000).toISOString()}&time_of_generation_max=${new Date(Date.now() + 60_000).toISOString()}`;
    const { body } = await ask(url, `/analytics/groups/workspaces?${times}`);
    assert.deepEqual([body.total, body.data[0].requests], [1, 1]);
    assert.equal((await ask(url, '/logs?cursor=x')).status, 400);
  });

  it('goes on without what is damaged on the disk, and the metrics of the gateway say so', async () => {
    const dataDir = temporaryFolder();
    const storage = await lmdb.create({ path: dataDir }, fakeHost());
    const store = await storage.open('exporter-store-logs');
    const atMs = String(Date.now() - 60_000);
    await store.write([`x${atMs}-damaged0-000000001`, `${atMs}-damaged0-000000002`].map((key) => ({ op: 'put', key, value: new Uint8Array([0xc1]) })));
    await storage.close?.();
    const { url } = await startTestGateway({ GATEWAY_DATA_DIR: dataDir, GATEWAY_EXPORTERS: 'store,prometheus', GATEWAY_LOG_LEVEL: 'error' }, { hasControlThread: true });
    for (let turn = 0; turn < 2; turn += 1) {
      const { status, body } = await ask(url, '/logs');
      assert.deepEqual([status, body.data], [200, []]);
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^gateway_events_total\{event="exporter\/store\.rowsDamaged"\} 2$/m);
  });

  it('is started again after its death, and takes nothing else along', async () => {
    const { url } = await startTestGateway({ GATEWAY_PLUGINS: folder, GATEWAY_EXPORTERS: 'dying.log', GATEWAY_LOG_LEVEL: 'error' }, { hasControlThread: true });
    const threads: string[] = [];
    for (const id of ['first', 'die', 'second', 'exit', 'third', 'refuse']) {
      const { status, body } = await ask(url, `/logs/${id}`);
      assert.equal(status, 503, JSON.stringify(body));
      threads.push(/on thread (\d+)/.exec(body.message)?.[1] ?? body.message);
    }
    const [first, death, second, exit, third, refused] = threads;
    assert.match(death ?? '', /the log cannot be read or written now: it broke off \(the reader broke down\)/);
    assert.match(exit ?? '', /it broke off \(it ended by itself\)/);
    assert.match(refused ?? '', /the disk is gone/);
    assert.equal(new Set([first, second, third]).size, 3, `${threads}`);
    assert.ok(threads.every((each) => each !== '0'));
  });
});
