import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Exporter, LogRecord } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { pack } from 'msgpackr';
import fc from '../../../test/support/fast-check.js';
import { packLogBatch, readLogBatch } from './log-batch.js';
import { allRows, ofCallers, ofRefused, refusedRoom } from './partitions.js';
import plugin from './plugin.js';

const defaults = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1_073_741_824, bodiesDaysMax: 7 };
const dayMs = 86_400_000;
const open = async (host: FakeHost, params = defaults): Promise<Exporter> => plugin.create(params, host);
const write = async (exporter: Exporter, batch: readonly LogRecord[]): Promise<void> => { await exporter.export(batch, new AbortController().signal); };

async function rowsOf(host: FakeHost, place: { readonly from: string; readonly to: string } = allRows): Promise<{ key: string; value: Uint8Array }[]> {
  const rows: { key: string; value: Uint8Array }[] = [];
  for await (const row of (await host.store('logs')).range({ from: place.from, to: place.to, limit: 10_000 })) rows.push(row);
  return rows;
}

/** Of rows and blocks, oldest first. */
async function keptIds(host: FakeHost): Promise<string[]> {
  const ids: string[] = [];
  const reader = await plugin.reader?.(defaults, host);
  for await (const page of reader?.export({ scope: { organisationId: 'organisation', workspaceIds: null }, records: 'all' }, new AbortController().signal) ?? []) ids.push(...page.map(({ id }) => id));
  return ids;
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
    assert.deepEqual(keys.map((key) => Number(key.slice(0, 13))), [999, 1000, 1e12 + 999], 'no two have the same time');
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
    assert.deepEqual(await keptIds(host), ['day 3', 'day 4']);
    assert.equal(host.counts.get('rowsRemoved'), 3);
  });

  it('holds its limit with each write, removing the oldest and no more than it must', async () => {
    const host = fakeHost();
    const bytesMax = 1_048_576;
    const exporter = await open(host, { ...defaults, bytesMax });
    const store = await host.store('logs');
    let sizeMax = 0;
    for (let count = 0; count < 60; count += 1) {
      await write(exporter, Array.from({ length: 200 }, (_, index) => sampleLogRecord({ id: `${count}-${index}`, metadata: `${index} ${'x'.repeat(count * 8)}` })));
      host.advance(1);
      sizeMax = Math.max(sizeMax, await store.size?.() ?? 0);
    }
    assert.ok(sizeMax <= bytesMax && sizeMax > bytesMax * 0.8, `${sizeMax}`);
    const kept = (await rowsOf(host)).flatMap((row) => readLogBatch(row.value)).map((record) => record.id);
    assert.ok(kept.length > 1000, `${kept.length}`);
    // Nothing is missing between the oldest that is left and the newest.
    const all = Array.from({ length: 60 * 200 }, (_, index) => `${Math.floor(index / 200)}-${index % 200}`);
    assert.deepEqual(kept, all.slice(-kept.length));
  });

  it('cuts a batch that is large for the room into several rows', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, bytesMax: 1_048_576 });
    await write(exporter, Array.from({ length: 64 }, (_, index) => sampleLogRecord({ id: `${index}`, metadata: `${index} ${'x'.repeat(4000)}` })));
    const rows = await rowsOf(host);
    assert.ok(rows.length > 8 && rows.every(({ value }) => value.length <= 1_048_576 / 64), `${rows.length}`);
    assert.deepEqual(rows.flatMap((row) => readLogBatch(row.value)).map((record) => record.id), Array.from({ length: 64 }, (_, index) => `${index}`));
  });

  it('leaves out what has no room at all, and says so', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, bytesMax: 1_048_576 });
    await assert.rejects(write(exporter, [sampleLogRecord({ metadata: 'x'.repeat(2_000_000) })]), /the log has no room for \d+ bytes more within its 1048576/);
    await write(exporter, [sampleLogRecord()]);
    assert.equal((await rowsOf(host)).length, 1);
  });

  it('never lets callers without a key push out the record of one who has a key', async () => {
    const host = fakeHost();
    const bytesMax = 1_048_576;
    const exporter = await open(host, { ...defaults, bytesMax });
    for (let count = 0; count < 10; count += 1) await write(exporter, [sampleLogRecord({ id: `honest ${count}`, metadata: 'x'.repeat(20_000) })]);
    for (let count = 0; count < 400; count += 1) {
      host.advance(1);
      await write(exporter, [sampleLogRecord({ id: `mixed ${count}`, metadata: '' }), ...Array.from({ length: 20 }, () => sampleLogRecord({ id: 'refused', keyId: '', metadata: 'x'.repeat(256) }))]);
    }
    const honest = (await rowsOf(host, ofCallers)).flatMap((row) => readLogBatch(row.value));
    assert.equal(honest.filter(({ id }) => id.startsWith('honest')).length, 10);
    assert.equal(honest.filter(({ id }) => id.startsWith('mixed')).length, 400);
    assert.ok(honest.every(({ keyId }) => keyId !== ''));
    const refused = await rowsOf(host, ofRefused);
    const bytes = refused.reduce((sum, { value }) => sum + value.length, 0);
    assert.ok(bytes > 0 && bytes <= refusedRoom(bytesMax), `${bytes}`);
    assert.ok(refused.flatMap((row) => readLogBatch(row.value)).every(({ id }) => id === 'refused'));
    // The age counts for both.
    host.advance(31 * dayMs);
    await host.runEvery();
    assert.equal((await rowsOf(host)).length, 0);
  });

  it('works through a large backlog in bounded steps, over several sweeps', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, ageDaysMax: 1 });
    for (let count = 0; count < 5000; count += 1) await write(exporter, [sampleLogRecord({ metadata: '' })]);
    host.advance(2 * dayMs);
    await host.runEvery();
    assert.equal((await keptIds(host)).length, 5000 - 64 * 64);
    await host.runEvery();
    assert.equal((await keptIds(host)).length, 0);
  });

  it('leaves the sweep to whoever has the turn, and takes the turn of one that died', async () => {
    const host = fakeHost();
    const exporter = await open(host, { ...defaults, ageDaysMax: 1 });
    await write(exporter, [sampleLogRecord()]);
    host.advance(2 * dayMs);
    const store = await host.store('logs');
    await store.write([{ op: 'put', key: 'sweep', value: Buffer.from(String(host.now() + 60_000)) }]);
    await host.runEvery();
    assert.equal((await keptIds(host)).length, 1);
    host.advance(60_001);
    await host.runEvery();
    assert.equal((await keptIds(host)).length, 0);
    assert.equal(await store.get('sweep'), undefined);
  });

  it('says so once, of logs and of bodies, when the storage cannot tell its size', async () => {
    const host = fakeHost();
    const store = await host.store('logs');
    const unmeasured = { get: store.get.bind(store), range: store.range.bind(store), write: store.write.bind(store), revision: store.revision.bind(store) };
    await plugin.create(defaults, Object.assign(Object.create(host), { store: async () => unmeasured }));
    await host.runEvery();
    await host.runEvery();
    assert.deepEqual(host.logged.map((line) => line.message), Array.from({ length: 2 }, () => 'the storage reports no size: logs are kept by age alone'));
  });
});

/** Minus zero is zero. */
const plain = (record: LogRecord): object => ({ ...record, status: record.status + 0, tookMs: record.tookMs + 0, requestBytes: record.requestBytes + 0 });

describe('log batch format', () => {
  it('gives back every field of every record', () => {
    const batch = [sampleLogRecord({ isStream: true, cachedTokens: 7, upstreamMs: 0.125 }), sampleLogRecord({ id: '😀', status: 499, ended: 'client' })];
    assert.deepEqual(readLogBatch(packLogBatch(batch)), batch);
  });

  it('gives back whatever the records are', () => {
    const text = fc.oneof(fc.constantFrom('', 'a', 'gpt-4.1', 'x'.repeat(70)), fc.string({ unit: 'grapheme', maxLength: 40 }), fc.uuid());
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(-1, 0, 2 ** 31, -(2 ** 31), 1e15, 0.5, Infinity));
    const record = fc.record({ id: text, traceId: text, model: text, metadata: text, keyId: text, status: number, tookMs: number, requestBytes: number, isStream: fc.boolean() });
    fc.assert(fc.property(fc.array(record, { maxLength: 80 }), (changes) => {
      const batch = changes.map((each) => sampleLogRecord(each));
      assert.deepEqual(readLogBatch(packLogBatch(batch)).map(plain), batch.map(plain));
    }));
  });

  it('takes less room than the values one by one', () => {
    const batch = Array.from({ length: 200 }, (_, index) => sampleLogRecord({ id: `7d1f3c5e-0000-4000-8000-${String(index).padStart(12, '0')}`, tookMs: index + 0.5, inputTokens: index }));
    const packed = packLogBatch(batch);
    assert.ok(packed.length < pack([1, Object.keys(batch[0] ?? {}), batch.map((each) => Object.values(each))]).length / 2, `${packed.length}`);
  });

  it('reads batches of other versions: fields it lacks are blank, fields it does not know are left out', () => {
    const [record] = readLogBatch(pack([1, ['id', 'inventedLater', 'constructor', 'status'], [['a', 'x', 'y', 200]]]));
    assert.equal(record?.id, 'a');
    assert.equal(record?.status, 200);
    assert.equal(record?.inputTokens, -1);
    assert.equal(record?.model, '');
    assert.ok(record !== undefined && !('inventedLater' in record));
    const [later] = readLogBatch(pack([2, 1, ['id', 'inventedLater', 'constructor', 'status'], [['same', 'a'], ['form of later'], ['same', 'y'], ['list', [200]]]]));
    assert.deepEqual(later, record);
  });

  it('says what is wrong with a batch it cannot read', () => {
    assert.throws(() => readLogBatch(pack([3, [], []])), /format 3, newer than the 2 .* update the gateway/);
    assert.throws(() => readLogBatch(new Uint8Array([0xc1])), /damaged/);
    assert.throws(() => readLogBatch(pack({})), /damaged: it has no format/);
    assert.throws(() => readLogBatch(pack([1, ['id'], [[5]]])), /damaged: id is not a string/);
    for (const count of ['1', -1, 0.5, 1e9]) assert.throws(() => readLogBatch(pack([2, count, [], []])), /damaged: it does not say how many/);
    assert.throws(() => readLogBatch(pack([2, 1, ['id'], [['same', 5]]])), /damaged: id is not a string/);
    for (const column of [7, [], ['nothing'], ['list', []], ['list', 'a'], ['words', ['a'], Buffer.alloc(2)], ['words', ['a'], 'a'], ['texts', 2, 'a'], ['integers', Buffer.alloc(3)], ['doubles', Buffer.alloc(4)]]) {
      assert.throws(() => readLogBatch(pack([2, 1, ['id'], [column]])), /damaged: id is not a column of 1 values/);
    }
    assert.throws(() => readLogBatch(pack([2, 1, ['id'], [['words', ['a'], Buffer.from([1])]]])), /damaged: id is not a string/);
    const whole = packLogBatch([sampleLogRecord(), sampleLogRecord({ id: 'other', tookMs: 5 })]);
    for (let length = 0; length < whole.length; length += 1) assert.throws(() => readLogBatch(whole.subarray(0, length)), /damaged/);
  });
});
