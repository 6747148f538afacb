import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Exporter, Feedback, LogAggregateQuery, LogFilter, LogGroup, LogMeasure, LogReader, LogRecord, Store, Write } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import fc from '../../../test/support/fast-check.js';
import { idAt, JoinedWords, numberAt, packIds, packNumbers, packTexts, readIds, readNumbers, readWords, wordAt, wordsOf } from './block-columns.js';
import { allFields, heads, keyOfHead, readHead, timeOfKey } from './block.js';
import { memberOfWords, Metadata, packMetadata, partMetadata, readMetadata } from './block-metadata.js';
import { ColumnCache } from './column-cache.js';
import { mayHave, packIdFilter } from './id-filter.js';
import { ofCallers } from './partitions.js';
import { bucketOf, groupOf, measure, metadataOf, recordMatches } from './plain-query.js';
import plugin from './plugin.js';
import { traceKey } from './feedback-rows.js';
import { everyField, Segments, type Segment } from './segments.js';

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1024 * 1024 * 1024, bodiesDaysMax: 30 };
const scope = { organisationId: 'organisation', workspaceIds: null };
const nowMs = Date.UTC(2030, 0, 16, 12);
const minuteMs = 60_000;
const dayMs = 86_400_000;
const noSignal = (): AbortSignal => new AbortController().signal;

/** Text that cannot be made shorter. */
const noise = (random: () => number): string => Array.from({ length: 800 }, () => String.fromCharCode(32 + Math.floor(random() * 94))).join('');

/** mulberry32, from a seed that is printed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomRecord(random: () => number, index: number): LogRecord {
  const one = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const hex = (length: number): string => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  const id = `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  const status = one(200, 200, 200, 200, 246, 400, 429, 500, 0);
  const cacheStatus = one('MISS', 'DISABLED', 'HIT', 'SEMANTIC HIT', 'SHARED');
  return sampleLogRecord({
    id, traceId: one(id, hex(32), `trace-${Math.floor(random() * 40)}`), spanId: hex(16), workspaceId: one('w1', 'w2'), organisationId: random() < 0.95 ? 'organisation' : 'other', keyId: one('k1', 'k2', 'k3'),
    provider: one('openai', 'anthropic'), model: one('a', 'b', 'c', `m${Math.floor(random() * 50)}`), status, cacheStatus, isFinal: random() < 0.9, retries: one(0, 0, 0, 1, 2), targetIndex: one(0, 0, 1),
    startedAtMs: nowMs - Math.floor(random() * 3 * 60 * minuteMs) + index % 7, tookMs: one(random() * 1000, Math.round(random() * 1e6) / 1000), cost: one(-1, 0, random(), Math.round(random() * 1e6) / 1e6), saved: cacheStatus === 'HIT' ? random() : 0,
    isPriced: random() < 0.8, totalTokens: one(-1, Math.floor(random() * 5000)), inputTokens: Math.floor(random() * 4000), outputTokens: Math.floor(random() * 900), configId: one('', 'c1', 'c2'), promptSlug: one('', 'p'),
    metadata: one('', '{}', `{"_user":"u${Math.floor(random() * 30)}","team":"t${Math.floor(random() * 3)}"}`, '{"team":"t\\u0031"}', '{ "team" : "t1", "n": 5 }', `{"n":${one('1e3', '1000', '12345678901234567890', '1e999', '"1000"', 'null')}}`, '{"of":{"team":"t2"},"_user":"team"}', '{"a":"team","team":"t2"}', '{"team":"t0","team":"t2"}', 'none'), errorCode: status >= 400 ? one('', 'RATE') : '', endpoint: one('chatCompletions', 'embeddings'),
    path: `/v1/${index}`, hookResults: random() < 0.1 ? '{"before_request_hooks":[]}' : '', requestBytes: Math.floor(random() * 1e5),
  });
}

async function open(host: FakeHost): Promise<{ readonly exporter: Exporter; readonly reader: LogReader }> {
  const exporter = await plugin.create(params, host);
  const reader = await plugin.reader?.(params, host);
  assert.ok(reader !== undefined);
  return { exporter, reader };
}

async function countOf(store: Store, range: { readonly from: string; readonly to: string }): Promise<number> {
  let count = 0;
  for await (const { key } of store.range({ ...range, limit: 100_000 })) count += Math.sign(key.length);
  return count;
}

async function exported(reader: LogReader, filter: LogFilter = { scope, records: 'all' }): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const page of reader.export(filter, noSignal())) records.push(...page);
  return records;
}

const byTime = (left: LogRecord, right: LogRecord): number => left.startedAtMs - right.startedAtMs || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
const isClose = (left: number, right: number): boolean => left === right || Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right));

const filters: readonly Omit<LogFilter, 'scope'>[] = [
  {}, { records: 'all' }, { fromMs: nowMs - 90 * minuteMs, toMs: nowMs - 30 * minuteMs }, { statuses: [200, 500] }, { isSuccess: true }, { isSuccess: false }, { models: ['a', 'm3'] }, { providerModels: ['openai__a', 'anthropic__b'] },
  { keyIds: ['k2'], cacheStatuses: ['HIT'] }, { metadata: { team: 't1' } }, { metadata: { _user: 'u3' } }, { cost: { min: 0.2, max: 0.7 } }, { totalTokens: { max: 1000 } }, { tookMs: { min: 500 } }, { traceIds: ['trace-3', 'trace-5'] },
  { metadata: { team: '' } }, { metadata: { n: '5' } }, { metadata: { n: '1000' } }, { metadata: { n: '12345678901234567000' } }, { metadata: { n: 'null' } }, { metadata: { of: '{"team":"t2"}' } }, { metadata: { _user: 'team', a: '' } }, { metadata: { _user: 'nobody' } }, { spanIds: ['0000000000000000'] }, { providerModels: ['openai__nobody'] }, { weightedFeedback: { min: 0 } }, { configIds: ['c1'], promptSlugs: ['p'] }, { errorCodes: ['RATE'], endpoints: ['embeddings'] }, { models: ['nobody'] },
];
const groups: readonly (LogGroup | null)[] = [null, 'provider', 'model', 'providerModel', 'status', 'keyId', 'configId', 'workspaceId', 'user', 'retries', 'targetIndex', 'cacheStatus', 'metadata.team', 'metadata.none'];
const measures: readonly LogMeasure[] = [
  'count', 'cost', 'saved', 'simpleSaved', 'semanticSaved', 'totalTokens', 'inputTokens', 'outputTokens', 'errors', 'successes', 'cacheHits', 'simpleHits', 'semanticHits', 'users', 'userRequests', 'tookMsSum', 'tookMsP50', 'tookMsP90',
  'tookMsP95', 'tookMsP99', 'hitTookMsSum', 'firstSeenMs', 'lastSeenMs', 'rescuedByRetry', 'rescuedByFallback', 'unpriced', 'weightedFeedbackSum', 'feedbackCount', 'requestsWithFeedback',
];

/** Record by record. */
function plainRows(records: readonly LogRecord[], query: LogAggregateQuery, feedback: readonly Feedback[]): Map<string, number[]> {
  const feedbackOf = (record: Pick<LogRecord, 'organisationId' | 'workspaceId' | 'traceId'>): readonly Feedback[] => feedback.filter((item) => traceKey(item) === traceKey(record));
  const cells = new Map<string, LogRecord[]>();
  for (const record of records) {
    if (!recordMatches(record, query.filter, feedbackOf)) continue;
    const key = `${bucketOf(record.startedAtMs, query.bucket)} ${groupOf(record, query.groupBy)}`;
    cells.set(key, [...cells.get(key) ?? [], record]);
  }
  return new Map([...cells].map(([key, of]) => [key, query.measures.map((name) => measure(name, of, feedbackOf))]));
}

describe('blocks of the store', () => {
  it('hold, page, group and measure what the records say, whatever part of them is merged', async () => {
    const random = chance(4711);
    const host = fakeHost({ nowMs: nowMs - dayMs });
    const { exporter, reader } = await open(host);
    const records = Array.from({ length: 700 }, (_, index) => randomRecord(random, index));
    const feedback = Array.from({ length: 30 }, (_, index): Feedback => ({
      id: `f${index}`, organisationId: 'organisation', workspaceId: random() < 0.5 ? 'w1' : 'w2', traceId: `trace-${Math.floor(random() * 40)}`, value: Math.floor(random() * 21) - 10, weight: random(), metadata: '', createdAtMs: nowMs,
    }));
    await reader.addFeedback(feedback);
    for (let from = 0; from < records.length; from += 6) {
      await exporter.export(records.slice(from, from + 6), noSignal());
      host.advance(1000);
      // Late rows stay rows.
      if (from % 60 === 0) await host.runEvery();
    }
    const store = await host.store('logs');
    const [blocks, rows] = [await countOf(store, heads), await countOf(store, ofCallers)];
    assert.ok(blocks > 0 && rows > 10, `${blocks} blocks, ${rows} rows`);
    const inScope = records.filter(({ organisationId }) => organisationId === 'organisation');
    assert.deepEqual(await exported(reader), [...inScope].sort(byTime));
    let compared = 0;
    for (const [index, filter] of filters.entries()) {
      for (const bucket of [null, 'hour'] as const) {
        const groupBy = groups[(index * 3 + compared) % groups.length] ?? null;
        for (const each of index === 0 ? groups : [groupBy]) {
          const query: LogAggregateQuery = { filter: { scope, ...filter }, bucket, groupBy: each, measures };
          const wanted = plainRows(records, query, feedback);
          const { rows: found } = await reader.aggregate(query);
          assert.equal(found.length, wanted.size, JSON.stringify(query.filter));
          for (const { bucketMs, group, values } of found) {
            const right = wanted.get(`${bucketMs} ${group}`) ?? [];
            for (const [at, name] of measures.entries()) assert.ok(isClose(values[at] ?? NaN, right[at] ?? NaN), `${JSON.stringify(filter)} ${bucket} ${each} ${group} ${name}: ${values[at]} is ${right[at]}`);
          }
          compared += 1;
        }
      }
      const matching = records.filter((record) => recordMatches(record, { scope, ...filter }, (of) => feedback.filter((item) => traceKey(item) === traceKey(of)))).sort((left, right) => byTime(right, left));
      const page = await reader.page({ scope, ...filter }, { limit: 40, isCounted: true });
      assert.deepEqual(page.records, matching.slice(0, 40), JSON.stringify(filter));
      assert.equal(page.total, matching.length);
      if (page.cursor !== null) assert.deepEqual((await reader.page({ scope, ...filter }, { limit: 40, cursor: page.cursor })).records, matching.slice(40, 80));
    }
    assert.ok(compared > 40, `${compared}`);
    const seen = records.find(({ traceId, organisationId }) => traceId.startsWith('trace-') && organisationId === 'organisation');
    assert.deepEqual(await reader.read(scope, seen?.traceId ?? ''), inScope.filter(({ traceId }) => traceId === seen?.traceId).sort(byTime));
  });

  it('are full when there is much, one for each part of a day when there is little', async () => {
    const host = fakeHost({ nowMs });
    const { exporter, reader } = await open(host);
    const store = await host.store('logs');
    for (let batch = 0; batch < 18; batch += 1) await exporter.export(Array.from({ length: 500 }, (_, index) => sampleLogRecord({ id: `${batch}-${index}` })), noSignal());
    host.advance(minuteMs);
    await host.runEvery();
    const counts: number[] = [];
    for await (const { value } of store.range({ from: heads.from, to: heads.to, limit: 100 })) counts.push(readHead(value).count);
    assert.deepEqual(counts, [8500]);
    assert.equal(await countOf(store, ofCallers), 1);
    for (let day = 0; day < 5; day += 1) {
      host.advance(dayMs);
      await exporter.export([sampleLogRecord({ id: `day ${day}` })], noSignal());
      await host.runEvery();
    }
    host.advance(dayMs);
    await host.runEvery();
    assert.equal(await countOf(store, ofCallers), 0);
    assert.equal(await countOf(store, heads), 1 + 1 + 5);
    assert.equal((await exported(reader)).length, 9005);
  });

  it('lose and double nothing when the process dies in the middle of a merge, wherever that is', async () => {
    const records = Array.from({ length: 140 }, (_, index) => randomRecord(chance(index), index));
    const wanted = records.filter(({ organisationId }) => organisationId === 'organisation').map(({ id }) => id).sort();
    /** Dies before or after the write of this number. */
    for (let deathAt = 0; deathAt < 4; deathAt += 1) {
      for (const isBefore of [true, false]) {
        const host = fakeHost({ nowMs: nowMs - dayMs });
        const store = await host.store('logs');
        const { exporter } = await open(host);
        for (let from = 0; from < records.length; from += 2) await exporter.export(records.slice(from, from + 2), noSignal());
        host.advance(minuteMs);
        const write = store.write.bind(store);
        let writes = 0;
        store.write = async (batch: readonly Write[]) => {
          const isLast = writes === deathAt;
          if (writes > deathAt || (isLast && isBefore)) throw new Error('the process is dead');
          writes += 1;
          const isHeld = await write(batch);
          if (isLast) throw new Error('the process is dead');
          return isHeld;
        };
        await host.runEvery().catch(() => undefined);
        store.write = write;
        // Another process begins, on what is there.
        const { reader } = await open(host);
        assert.deepEqual((await exported(reader)).map(({ id }) => id).sort(), wanted, `write ${deathAt} ${isBefore ? 'not made' : 'made'}`);
        host.advance(2 * dayMs);
        await host.runEvery();
        assert.equal(await countOf(store, ofCallers), 0);
        assert.deepEqual((await exported(reader)).map(({ id }) => id).sort(), wanted);
      }
    }
  });

  it('are made once when two processes merge at the same time', async () => {
    const host = fakeHost({ nowMs });
    const [left, right] = [await open(host), await open(host)];
    for (let index = 0; index < 100; index += 1) await (index % 2 === 0 ? left : right).exporter.export([sampleLogRecord({ id: `${index}` })], noSignal());
    host.advance(minuteMs);
    await Promise.all([host.runEvery(), host.runEvery(), host.runEvery()]);
    assert.equal((await exported(left.reader)).length, 100);
    assert.equal(await countOf(await host.store('logs'), heads), 1);
  });

  it('are not merged with rows of a time before them, which arrive after a clock that was set back by more than an hour', async () => {
    const host = fakeHost({ nowMs: nowMs + 2 * 60 * minuteMs });
    const { exporter, reader } = await open(host);
    const add = async (id: string): Promise<void> => {
      host.advance(100);
      await exporter.export([sampleLogRecord({ id })], noSignal());
    };
    for (let index = 0; index < 64; index += 1) await add(`ahead ${index}`);
    host.advance(minuteMs);
    await host.runEvery();
    host.advance(nowMs - host.now());
    for (let index = 0; index < 64; index += 1) {
      // The last of them are of a time behind those before.
      if (index === 60) host.advance(3 * 60 * minuteMs);
      await add(`back ${index}`);
    }
    host.advance(minuteMs);
    await host.runEvery();
    await add('later');
    host.advance(dayMs);
    await host.runEvery();
    const store = await host.store('logs');
    const found: unknown[] = [];
    for await (const { key, value } of store.range({ ...heads, limit: 10 })) {
      const { count, arrivals } = readHead(value);
      const times = arrivals.map(([atMs]) => atMs);
      assert.deepEqual(times, times.toSorted((left, right) => left - right));
      found.push([count, timeOfKey(keyOfHead(key)) - (times.at(-1) ?? 0)]);
    }
    assert.deepEqual([found, (await exported(reader)).length], [[[64, 0], [65, 0]], 129]);
  });

  it('are made also while the clock is behind the rows, as it was set back by less than an hour', async () => {
    const host = fakeHost({ nowMs });
    const { exporter, reader } = await open(host);
    const store = await host.store('logs');
    await exporter.export([sampleLogRecord({ id: 'before' })], noSignal());
    host.advance(-30 * minuteMs);
    const left: number[] = [];
    for (let index = 1; index <= 200; index += 1) {
      host.advance(100);
      await exporter.export([sampleLogRecord({ id: `${index}` })], noSignal());
      if (index % 100 !== 0) continue;
      await host.runEvery();
      left.push(await countOf(store, ofCallers));
    }
    assert.ok(left.every((count) => count <= 64), `${left.join()} rows are left`);
    assert.equal((await exported(reader)).length, 201);
  });

  it('are read while they are merged, each record once', async () => {
    const host = fakeHost({ nowMs });
    const { exporter, reader } = await open(host);
    for (let index = 0; index < 80; index += 1) await exporter.export([sampleLogRecord({ id: `${index}` })], noSignal());
    let isMerging = true;
    const merging = (async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        host.advance(turn === 3 ? 2 * dayMs : minuteMs);
        await host.runEvery();
      }
    })().finally(() => { isMerging = false; });
    let looks = 0;
    for (; isMerging && looks < 100; looks += 1) {
      const { rows } = await reader.aggregate({ filter: { scope }, bucket: null, groupBy: null, measures: ['count'] });
      assert.equal(rows[0]?.values[0], 80);
      assert.equal((await exported(reader)).length, 80);
    }
    await merging;
    assert.ok(looks > 1, `${looks}`);
  });

  it('are waited for while more records are in none than fit into memory, as in a store of an earlier version', async () => {
    const host = fakeHost({ nowMs });
    const { exporter } = await open(host);
    const segments = new Segments(await host.store('logs'), undefined, 200);
    await exporter.export(Array.from({ length: 201 }, (_, index) => sampleLogRecord({ id: `${index}` })), noSignal());
    await assert.rejects(segments.list(), /are still to be merged; ask again/);
    host.advance(2 * dayMs);
    await host.runEvery();
    assert.deepEqual((await segments.list()).map(({ count }) => count), [201]);
  });

  it('go as a whole, the oldest first, when they are too old or take too much', async () => {
    const host = fakeHost({ nowMs });
    const bytesMax = 1_048_576;
    const exporter = await plugin.create({ ...params, bytesMax }, host);
    const store = await host.store('logs');
    let sizeMax = 0;
    for (let batch = 0; batch < 150; batch += 1) {
      await exporter.export(Array.from({ length: 10 }, (_, index) => ({ ...randomRecord(chance(batch * 50 + index), index), metadata: noise(chance(batch * 50 + index)) })), noSignal());
      host.advance(20_000);
      if (batch % 4 === 0) await host.runEvery();
      sizeMax = Math.max(sizeMax, await store.size?.() ?? 0);
    }
    assert.ok(sizeMax <= bytesMax && sizeMax > bytesMax * 0.8, `${sizeMax}`);
    assert.ok(await countOf(store, heads) > 3);
    host.advance(31 * dayMs);
    await host.runEvery();
    assert.equal(await countOf(store, { from: '0', to: 's' }), 0);
    assert.equal(await countOf(store, { from: 't', to: 'z' }), 0);
  });

  it('take less than 120 bytes a record, of calls as they are', async () => {
    const random = chance(1);
    const host = fakeHost({ nowMs });
    const { exporter } = await open(host);
    const store = await host.store('logs');
    for (let from = 0; from < 8192; from += 512) await exporter.export(Array.from({ length: 512 }, (_, index) => usualRecord(random, from + index)), noSignal());
    host.advance(minuteMs);
    await host.runEvery();
    assert.deepEqual([await countOf(store, heads), await countOf(store, ofCallers)], [1, 0]);
    const bytes = await store.size?.() ?? Infinity;
    process.stdout.write(`# ${(bytes / 8192).toFixed(1)} bytes a record\n`);
    assert.ok(bytes / 8192 < 120, `${bytes / 8192}`);
  });
});

function usualRecord(random: () => number, index: number): LogRecord {
  const hex = (length: number): string => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  const input = Math.floor(random() * 3000);
  const output = Math.floor(random() * 800);
  const took = Math.floor(random() * 9e6) / 1000;
  return sampleLogRecord({
    id: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`, traceId: hex(32), spanId: hex(16), parentSpanId: '', keyId: `k${Math.floor(random() * 40)}`, model: `model-${Math.floor(random() * 8)}`, startedAtMs: nowMs + index * 86,
    tookMs: took, firstByteMs: took * 0.5, upstreamMs: Math.floor(took * 400) / 1000, inputTokens: input, outputTokens: output, totalTokens: input + output, cost: (input * 250 + output * 1000) / 1e6, requestBytes: input * 4, responseBytes: output * 5,
    metadata: `{"_user":"user-${Math.floor(random() * 500)}","team":"team-${Math.floor(random() * 9)}"}`,
  });
}

describe('columns of a block', () => {
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(-1, 0, 2 ** 31, 1e15, 0.5, Infinity, -0, 1e300), fc.integer({ min: 0, max: 300 }), fc.integer().map((each) => each / 1000));
  it('give back every number', () => {
    fc.assert(fc.property(fc.oneof(fc.array(number, { minLength: 1, maxLength: 200 }), fc.array(fc.integer({ min: 1.7e12, max: 1.7e12 + 1e6 }), { minLength: 1, maxLength: 200 })), (values) => {
      const column = packNumbers(Float64Array.from(values));
      assert.deepEqual([...readNumbers(column, values.length)], values);
      const { at } = numberAt(column, values.length);
      assert.deepEqual(values.map((_, index) => at(index)), values);
    }));
  });

  it('give back every number of thousands, whatever is frequent among them', () => {
    const random = chance(7);
    const shares: readonly ((index: number) => number)[] = [
      () => Math.floor(random() * 2), () => Math.floor(random() * 23), () => (random() < 0.01 ? 200 : 3), () => (random() < 0.001 ? 1e9 : Math.floor(random() * 4000)), (index) => 1.7e12 + index * 86, (index) => index % 256,
      () => Math.floor(random() * 2e7) / 1000, (index) => (index === 0 ? 1 : 0), (index) => (index === 2999 ? 9 : 5), () => Math.floor(random() * random() * 70_000), (index) => Math.floor(index / 100),
    ];
    const forms = new Set<unknown>();
    const collect = (packed: unknown): void => {
      if (!Array.isArray(packed)) return;
      forms.add(packed[0]);
      for (const each of packed) collect(each);
    };
    for (const valueAt of shares) {
      for (const count of [3000, 61]) {
        const values = Array.from({ length: count }, (_, index) => valueAt(index));
        const column = packNumbers(Float64Array.from(values));
        collect(column);
        assert.deepEqual([...readNumbers(column, count)], values);
        const { at } = numberAt(column, count);
        assert.deepEqual(values.map((_, index) => at(index)), values);
        const texts = values.map(String);
        const words = packTexts(wordsOf(count, (index) => texts[index] ?? ''));
        const read = readWords(words, count);
        assert.deepEqual(Array.from(read.codes, (code) => read.words[code]), texts);
        const word = wordAt(words, count).at;
        assert.deepEqual(texts.map((_, index) => word(index)), texts);
      }
    }
    for (const form of ['bits', 'few', true, false]) assert.ok(forms.has(form), `no plane is ${form}`);
  });

  it('give back numbers and words whose bytes were written in one', () => {
    const bytes = [false, Buffer.from([1, 2, 0, 1])] as const;
    assert.deepEqual([...readNumbers(['numbers', 10, 5, 2, bytes], 2)], [0.6, 26.3]);
    assert.equal(numberAt(['numbers', 10, 5, 2, bytes], 2).at(1), 26.3);
    assert.deepEqual([...readNumbers(['steps', 1, 0, 2, bytes], 2)], [-1, 128]);
    const words = packTexts(wordsOf(1200, (index) => `${index % 300}`));
    const [form, texts, width] = words;
    const whole = Buffer.alloc(2400);
    for (let index = 0; index < 1200; index += 1) [whole[index], whole[1200 + index]] = [(index % 300) & 255, (index % 300) >> 8];
    assert.equal(width, 2);
    assert.deepEqual(readWords([form, texts, width, [false, whole]], 1200).codes, readWords(words, 1200).codes);
  });

  it('find the words that have a text inside, and no others', () => {
    const text = fc.array(fc.constantFrom('ab', 'b', 'a', '', 'é', 'ba'), { maxLength: 4 }).map((parts) => parts.join(''));
    fc.assert(fc.property(fc.array(text, { minLength: 20, maxLength: 60 }), (values) => {
      const all = values.map((value, index) => `${value}${index}`);
      const read = readWords(packTexts(wordsOf(all.length, (index) => all[index] ?? '')), all.length);
      assert.ok(read instanceof JoinedWords);
      const found = read.having(['ab', 'é1']);
      assert.deepEqual(all.filter((_, index) => found[read.codes[index] ?? 0] === 1), all.filter((value) => value.includes('ab') || value.includes('é1')));
    }));
  });

  it('give back every text', () => {
    const text = fc.oneof(fc.constantFrom('', 'a', 'x'.repeat(70)), fc.string({ unit: 'grapheme', maxLength: 40 }), fc.uuid());
    fc.assert(fc.property(fc.array(text, { minLength: 1, maxLength: 200 }), (values) => {
      const { words, codes } = readWords(packTexts(wordsOf(values.length, (index) => values[index] ?? '')), values.length);
      assert.deepEqual(Array.from(codes, (code) => words[code]), values);
    }));
  });

  it('give back metadata as they were, and each member of them', () => {
    const name = fc.constantFrom('a', 'b', '_user', 'team', 'é', '__proto__', '1', '');
    const value = fc.oneof(fc.constantFrom('x', '', 'y z', 'é', '"', '\\', '5', '\n'), fc.integer({ min: -3, max: 3 }), fc.constantFrom(null, true, 1.5, 1e21), fc.constant({ of: 'x' }), fc.constant(['x']));
    const json = fc.tuple(fc.array(fc.tuple(name, value), { maxLength: 4 }), fc.constantFrom('', ' ')).map(([members, space]) => `{${members.map(([key, of]) => `${JSON.stringify(key)}:${space}${JSON.stringify(of)}`).join(`,${space}`)}}${space}`);
    const odd = fc.constantFrom('', '{}', '{', 'none', '{"a":"x"', '{"a":"x"}}', ' {"a":"x"}', '{"a":"x"},', '{"a" : 01}', '{"a":+1}', '{"a":1e5}', '{"a":NaN}', '{"a":Infinity}', '{"a":-0}', '{"a":"x\u00a0"}', '{"a":\u00a0"x"}', '{"a":"x"\t}', '{,"a":"x"}', '{"a":"x",}', '{"a":"x" "b":"y"}', '[{"a":"x"}]', '"a"');
    let parted = 0;
    fc.assert(fc.property(fc.array(fc.oneof({ weight: 4, arbitrary: json }, odd), { minLength: 1, maxLength: 80 }), (texts) => {
      const words = wordsOf(texts.length, (index) => texts[index] ?? '');
      const column = packMetadata(words);
      const read = readMetadata(column, texts.length);
      if (!(read instanceof Metadata)) return assert.deepEqual(Array.from(read.codes, (code) => read.words[code]), texts);
      parted += 1;
      const whole = read.whole();
      assert.deepEqual(Array.from(whole.codes, (code) => whole.words[code]), texts);
      const { at } = read.reading((member) => (member === 'a' ? read.member('a') : undefined));
      assert.deepEqual(texts.map((_, index) => at(index)), texts);
      for (const member of ['a', 'b', '_user', 'team', '__proto__', '1', '', 'none']) {
        const wanted = texts.map((text) => {
          const members = metadataOf(text);
          return Object.hasOwn(members, member) ? members[member] : '';
        });
        for (const of of [read.member(member), memberOfWords(words, member)]) assert.deepEqual(Array.from(of.codes, (code) => of.words[code]), wanted, member);
      }
    }));
    assert.ok(parted > 10, `${parted}`);
    assert.deepEqual(partMetadata('{"_user": "u", "n": 5}'), { pieces: ['{"_user": "', '", "n": ', '}'], names: ['_user', 'n'], values: ['u', '5'] });
  });

  it('take metadata apart up to so many names and shapes, and keep the others whole', () => {
    const texts = Array.from({ length: 700 }, (_, index) => (index < 300 ? `{"n${index}":"x"}` : `{"n0":"x",${' '.repeat(index)}"n1":"y"}`));
    const read = readMetadata(packMetadata(wordsOf(texts.length, (index) => texts[index] ?? '')), texts.length);
    assert.ok(read instanceof Metadata);
    const whole = read.whole();
    assert.deepEqual(Array.from(whole.codes, (code) => whole.words[code]), texts);
    for (const member of ['n0', 'n1', 'n63', 'n64', 'n299']) {
      const { words, codes } = read.member(member);
      assert.deepEqual(Array.from(codes, (code) => words[code]), texts.map((text) => metadataOf(text)[member] ?? ''), member);
    }
  });

  it('give back every id', () => {
    const id = fc.oneof(fc.uuid(), fc.constantFrom('', 'trace', 'ABCDEF0123456789', '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7', '😀'));
    fc.assert(fc.property(fc.array(fc.tuple(id, id, fc.boolean()), { minLength: 1, maxLength: 100 }), (pairs) => {
      const own = pairs.map(([first]) => first);
      const others = pairs.map(([first, second, isSame]) => (isSame ? first : second));
      assert.deepEqual(readIds(packIds(own, undefined), own.length, undefined), own);
      assert.deepEqual(readIds(packIds(others, own), own.length, own), others);
      const { at } = idAt(packIds(others, own), own.length);
      assert.deepEqual(others.map((_, index) => at(index, (place) => own[place] ?? '')), others);
    }));
  });

  it('say what is wrong with them', () => {
    for (const column of [7, [], ['nothing'], ['numbers', 1, 0, 1, [false, Buffer.alloc(2)]], ['doubles', [false, Buffer.alloc(4)]], ['numbers', 1, 0, 1, 'x'], ['numbers', 1, 0, 2, [[false, Buffer.alloc(1)]]], ['numbers', 1, 0, 7, [false, Buffer.alloc(7)]], ['numbers', 1, 0, 1, ['bits', 9, Buffer.alloc(3)]], ['numbers', 1, 0, 1, ['bits', 1, Buffer.alloc(1)]], ['numbers', 1, 0, 1, ['few', 0, Buffer.alloc(1), Buffer.alloc(1)]], ['numbers', 1, 0, 1, ['few', 0, Buffer.from([1, 0]), Buffer.alloc(1)]]]) assert.throws(() => readNumbers(column, 1), /damaged/);
    for (const column of [7, ['nothing'], ['words', ['texts', [false, Buffer.alloc(0)], [false, Buffer.alloc(0)]], 1, [false, Buffer.alloc(1)]], ['texts', [false, Buffer.alloc(0)], [false, Buffer.alloc(0)]]]) assert.throws(() => readWords(column, 1), /damaged/);
    const nothing = ['same', ''];
    for (const column of [['members', 7, ['same', 0], [], [], nothing], ['members', [[['{'], [0]]], ['same', 1], ['a'], [nothing], nothing], ['members', [[['{', '}'], [1]]], ['same', 1], ['a'], [nothing], nothing], ['members', [[['{', '}'], [0]]], ['same', 2], ['a'], [nothing], nothing], ['members', [[['{', '}'], [0]]], ['same', 1], ['a'], [], nothing]]) {
      assert.throws(() => readMetadata(column, 1), /damaged/, JSON.stringify(column));
    }
    for (const column of [['ids', 1, Buffer.alloc(15), ['texts', [false, Buffer.alloc(0)], [false, Buffer.alloc(0)]]], 7, ['ids', [false, Buffer.alloc(2)], Buffer.alloc(0), ['texts', [false, Buffer.alloc(0)], [false, Buffer.alloc(0)]]]]) assert.throws(() => readIds(column, 1, undefined), /damaged/);
  });
});

describe('a set of ids', () => {
  it('has every id that was put in, and few others', () => {
    const ids = new Set(Array.from({ length: 2000 }, (_, index) => `id-${index}`));
    const bits = packIdFilter(ids);
    for (const id of ids) assert.ok(mayHave(bits, id), id);
    const wrong = Array.from({ length: 10_000 }, (_, index) => `other-${index}`).filter((id) => mayHave(bits, id)).length;
    assert.ok(wrong < 150, `${wrong}`);
  });
});

/** All columns, and then of a record with all of them but its ids in the cache. */
async function columnsThenPeeks(segment: Segment, letGo: (name: string) => void): Promise<readonly (readonly [string, WeakRef<object>])[]> {
  const columns = await segment.open(everyField);
  const held = allFields.map((field) => [field, new WeakRef<object>(columns.column(field))] as const);
  for (const field of ['traceId', 'spanId', 'parentSpanId']) letGo(field);
  (await segment.open(everyField, true)).record(1, true);
  return held;
}

describe('the cache of columns', () => {
  it('holds nothing once nobody has asked for a while, and is filled again', async () => {
    const host = fakeHost({ nowMs: nowMs - dayMs });
    const { exporter } = await open(host);
    const random = chance(99);
    const records = Array.from({ length: 200 }, (_, index) => randomRecord(random, index));
    for (let from = 0; from < records.length; from += 2) await exporter.export(records.slice(from, from + 2), noSignal());
    host.advance(minuteMs);
    await host.runEvery();
    const segments = new Segments(await host.store('logs'));
    const read = async (): Promise<number> => {
      let cost = 0;
      for (const segment of await segments.list()) for (const each of (await segment.open(new Set(['cost']))).numbers('cost')) cost += each;
      return cost;
    };
    const cost = await read();
    const { bytes } = segments.cache;
    assert.ok(bytes > 0);
    segments.rest();
    assert.equal(segments.cache.bytes, bytes);
    assert.equal(await read(), cost);
    segments.rest();
    assert.equal(segments.cache.bytes, bytes);
    segments.rest();
    assert.equal(segments.cache.bytes, 0);
    assert.equal(await read(), cost);
    assert.equal(segments.cache.bytes, bytes);
  });

  it('lets go what it no longer counts: what is kept of one part holds no other', async () => {
    const host = fakeHost({ nowMs: nowMs - dayMs });
    const { exporter } = await open(host);
    const random = chance(7);
    // Some traces are those of their records, some others.
    await exporter.export(Array.from({ length: 200 }, (_, index) => randomRecord(random, index)), noSignal());
    host.advance(dayMs);
    await host.runEvery();
    const segments = new Segments(await host.store('logs'));
    const [segment] = await segments.list();
    assert.ok(segment !== undefined && !segment.isHeld);
    const nameOf = (what: string): string => `block ${segment.key}@${segment.version}/${what}`;
    const columns = await columnsThenPeeks(segment, (name) => { segments.cache.set(nameOf(name), undefined, 0); });
    assert.ok(segments.cache.get(nameOf('part names')) !== undefined);
    for (const field of allFields) segments.cache.set(nameOf(field), undefined, 0);
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    // What was looked at in one turn stays until that turn is over.
    await new Promise((resolve) => { setImmediate(resolve); });
    collectGarbage();
    assert.deepEqual(columns.filter(([, column]) => column.deref() !== undefined).map(([field]) => field), []);
  });

  it('keeps as many bytes as it may, and what was asked for last', () => {
    const cache = new ColumnCache(100);
    cache.set('a', 1, 40);
    cache.set('b', 2, 40);
    assert.equal(cache.get('a'), 1);
    cache.set('c', 3, 40);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c'), cache.bytes], [1, undefined, 3, 80]);
    cache.set('c', 4, 10);
    assert.deepEqual([cache.get('c'), cache.bytes], [4, 50]);
    cache.set('large', 5, 1000);
    assert.deepEqual([cache.get('large'), cache.bytes], [undefined, 0]);
  });
});
