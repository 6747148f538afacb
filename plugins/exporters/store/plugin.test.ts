import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Exporter, LogRecord } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { pack } from 'msgpackr';
import { packLogBatch, readLogBatch } from './log-batch.js';
import plugin from './plugin.js';

const defaults = { bytesMax: 1_073_741_824, ageDaysMax: 30 };
const dayMs = 86_400_000;
const open = async (host: FakeHost, params = defaults): Promise<Exporter> => plugin.create(params, host);
const write = async (exporter: Exporter, batch: readonly LogRecord[]): Promise<void> => { await exporter.export(batch, new AbortController().signal); };

async function rowsOf(host: FakeHost): Promise<{ key: string; value: Uint8Array }[]> {
  const rows: { key: string; value: Uint8Array }[] = [];
  for await (const row of (await host.store('logs')).range({ from: '0', to: ':', limit: 10_000 })) rows.push(row);
  return rows;
}

conformExporter(plugin, defaults, { exported: async (host) => (await rowsOf(host)).flatMap((row) => readLogBatch(row.value)) });

describe('store exporter', () => {
  it('writes a batch as one row under a key that sorts by time', async () => {
    const host = fakeHost({ nowMs: 999 });
    const exporter = await open(host);
    await write(exporter, [sampleLogRecord(), sampleLogRecord()]);
    await write(exporter, [sampleLogRecord()]);
    host.advance(1e12);
    await write(exporter, [sampleLogRecord()]);
    const keys = (await rowsOf(host)).map((row) => row.key);
    assert.equal(keys.length, 3);
    for (const key of keys) assert.match(key, /^\d{13}-[0-9a-z]{8}-\d{9}$/);
    assert.deepEqual(keys.map((key) => Number(key.slice(0, 13))), [999, 999, 1e12 + 999]);
    assert.equal(host.counts.get('records'), 4);
  });

  it('loses nothing when two writers have the same time', async () => {
    const host = fakeHost();
    const [left, right] = [await open(host), await open(host)];
    for (let round = 0; round < 5; round += 1) {
      await write(left, [sampleLogRecord({ id: `left ${round}` })]);
      await write(right, [sampleLogRecord({ id: `right ${round}` })]);
    }
    assert.equal((await rowsOf(host)).length, 10);
  });

  it('removes batches older than the limit and keeps the others', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, ageDaysMax: 2 });
    for (let day = 0; day < 5; day += 1) {
      await write(exporter, [sampleLogRecord({ id: `day ${day}` })]);
      host.advance(dayMs);
    }
    await host.runEvery();
    const kept = (await rowsOf(host)).flatMap((row) => readLogBatch(row.value)).map((record) => record.id);
    assert.deepEqual(kept, ['day 3', 'day 4']);
    assert.equal(host.counts.get('rowsRemoved'), 3);
  });

  it('removes the oldest batches, and no more than it must, when the store is too large', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, bytesMax: 1_048_576 });
    const batch = Array.from({ length: 400 }, () => sampleLogRecord());
    for (let count = 0; count < 30; count += 1) {
      await write(exporter, batch);
      host.advance(1);
    }
    const before = await rowsOf(host);
    const store = await host.store('logs');
    assert.ok((await store.size?.() ?? 0) > 2_000_000);
    await host.runEvery();
    const after = await rowsOf(host);
    const size = await store.size?.() ?? 0;
    assert.ok(size <= 1_048_576 && size > 1_048_576 - 2 * (before[0]?.value.length ?? 0), `${size}`);
    assert.deepEqual(after.map((row) => row.key), before.slice(-after.length).map((row) => row.key));
  });

  it('works through a large backlog in bounded steps, over several sweeps', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, ageDaysMax: 1 });
    for (let count = 0; count < 5000; count += 1) await write(exporter, [sampleLogRecord({ metadata: '' })]);
    host.advance(2 * dayMs);
    await host.runEvery();
    assert.equal((await rowsOf(host)).length, 5000 - 64 * 64);
    await host.runEvery();
    assert.equal((await rowsOf(host)).length, 0);
  });

  it('leaves the sweep to whoever has the turn, and takes the turn of one that died', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, ageDaysMax: 1 });
    await write(exporter, [sampleLogRecord()]);
    host.advance(2 * dayMs);
    const store = await host.store('logs');
    await store.write([{ op: 'put', key: 'sweep', value: Buffer.from(String(host.now() + 60_000)) }]);
    await host.runEvery();
    assert.equal((await rowsOf(host)).length, 1);
    host.advance(60_001);
    await host.runEvery();
    assert.equal((await rowsOf(host)).length, 0);
    assert.equal(await store.get('sweep'), undefined);
  });

  it('says so once when the storage cannot tell its size', async () => {
    const host = fakeHost();
    const store = await host.store('logs');
    const unmeasured = { get: store.get.bind(store), range: store.range.bind(store), write: store.write.bind(store), revision: store.revision.bind(store) };
    await plugin.create(defaults, Object.assign(Object.create(host), { store: async () => unmeasured }));
    await host.runEvery();
    await host.runEvery();
    assert.deepEqual(host.logged.map((line) => line.message), ['the storage reports no size: logs are kept by age alone']);
  });
});

describe('log batch format', () => {
  it('gives back every field of every record', () => {
    const batch = [sampleLogRecord({ isStream: true, cachedTokens: 7, upstreamMs: 0.125 }), sampleLogRecord({ id: '😀', status: 499, ended: 'client' })];
    assert.deepEqual(readLogBatch(packLogBatch(batch)), batch);
  });

  it('reads batches of other versions: fields it lacks are blank, fields it does not know are left out', () => {
    const [record] = readLogBatch(pack([1, ['id', 'inventedLater', 'constructor', 'status'], [['a', 'x', 'y', 200]]]));
    assert.equal(record?.id, 'a');
    assert.equal(record?.status, 200);
    assert.equal(record?.inputTokens, -1);
    assert.equal(record?.model, '');
    assert.ok(record !== undefined && !('inventedLater' in record));
  });

  it('says what is wrong with a batch it cannot read', () => {
    assert.throws(() => readLogBatch(pack([2, [], []])), /format 2, newer than the 1 .* update the gateway/);
    assert.throws(() => readLogBatch(new Uint8Array([0xc1])), /damaged/);
    assert.throws(() => readLogBatch(pack({})), /damaged: it has no format/);
    assert.throws(() => readLogBatch(pack([1, ['id'], [[5]]])), /damaged: id is no string/);
    assert.throws(() => readLogBatch(packLogBatch([sampleLogRecord()]).subarray(0, 300)), /damaged/);
  });
});
