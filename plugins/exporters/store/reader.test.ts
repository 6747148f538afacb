import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Feedback, LogAggregateQuery, LogFilter, LogMeasure, LogPage, LogReader, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { FeedbackRows } from './feedback-rows.js';
import plugin from './plugin.js';

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1024 * 1024 * 1024, bodiesDaysMax: 30 };
const scope = { organisationId: 'organisation', workspaceIds: null };
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** A Wednesday. */
const nowMs = Date.UTC(2030, 0, 16, 12);

interface Stage {
  readonly host: FakeHost;
  readonly reader: LogReader;
  write(records: readonly LogRecord[]): Promise<void>;
  merge(): Promise<void>;
  add(...changes: readonly Partial<LogRecord>[]): Promise<void>;
}

/** `isMerged`: what is added becomes blocks, which a day's end does. */
async function stageOf(isMerged: boolean): Promise<Stage> {
  const host = fakeHost({ nowMs });
  const merge = async (): Promise<void> => {
    if (!isMerged) return;
    host.advance(dayMs);
    await host.runEvery();
    for await (const { key } of (await host.store('logs')).range({ from: '0', to: ':', limit: 1 })) assert.fail(`${key} is a row still`);
  };
  const exporter = await plugin.create(params, host);
  const reader = await plugin.reader?.(params, host);
  assert.ok(reader !== undefined);
  const write = async (records: readonly LogRecord[]): Promise<void> => {
    await exporter.export(records, noSignal());
    await merge();
  };
  return { host, reader, write, add: (...changes) => write(changes.map((each) => sampleLogRecord(each))), merge };
}

const idsOf = (records: readonly LogRecord[]): string[] => records.map(({ id }) => id);
const feedback = (changes: Partial<Feedback>): Feedback => ({ id: 'f', organisationId: 'organisation', workspaceId: 'workspace', traceId: 't', value: 5, weight: 1, metadata: '', createdAtMs: nowMs, ...changes });
const idsOfFeedback = (items: readonly Feedback[]): string[] => items.map(({ id }) => id);
const noSignal = (): AbortSignal => new AbortController().signal;

async function rowsOf(reader: LogReader, query: Partial<LogAggregateQuery>): Promise<readonly (readonly [number, string, ...number[]])[]> {
  const { rows } = await reader.aggregate({ filter: { scope }, bucket: null, groupBy: null, measures: ['count'], ...query });
  return rows.map(({ bucketMs, group, values }) => [bucketMs, group, ...values] as const).sort((left, right) => left[0] - right[0] || (left[1] < right[1] ? -1 : 1));
}

describe('who follows the store', () => {
  const tailOf = async (reader: LogReader, after: string | null): Promise<{ readonly ids: readonly string[]; readonly after: string }> => {
    const tail = await reader.follow?.({ scope }, after, 10);
    assert.ok(tail !== undefined);
    return { ids: idsOf(tail.records), after: tail.after };
  };

  it('sees what arrived later later, though its writer began earlier', async () => {
    const { host, reader, add } = await stageOf(false);
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const slow = await plugin.create(params, {
      ...host, random: () => 0.5,
      store: async (name) => {
        const store = await host.store(name);
        return { get: (key) => store.get(key), range: (options) => store.range(options), revision: () => store.revision(), write: async (batch) => { await gate; return store.write(batch); } };
      },
    });
    const start = await tailOf(reader, null);
    const late = slow.export([sampleLogRecord({ id: 'first' })], noSignal());
    host.advance(5);
    await add({ id: 'second' });
    const second = await tailOf(reader, start.after);
    release();
    await late;
    const first = await tailOf(reader, second.after);
    assert.deepEqual([second.ids, first.ids, (await tailOf(reader, first.after)).ids], [['second'], ['first'], []]);
  });

  it('misses nothing when the clock is set back', async () => {
    const { host, reader, add } = await stageOf(false);
    await add({ id: 'before' });
    host.advance(2000);
    const start = await tailOf(reader, null);
    await add({ id: 'first' });
    host.advance(1000);
    const first = await tailOf(reader, start.after);
    host.advance(-60_000);
    await add({ id: 'second' });
    const second = await tailOf(reader, first.after);
    assert.deepEqual([first.ids, second.ids], [['first'], ['second']]);
    host.advance(120_000);
    await add({ id: 'third' });
    host.advance(1000);
    assert.deepEqual((await tailOf(reader, second.after)).ids, ['third']);
  });

  it('misses nothing of another writer when the clock is set back, however far behind it is', async () => {
    const { host, reader, add } = await stageOf(false);
    await add({ id: 'before' });
    const start = await tailOf(reader, null);
    await add({ id: 'first' });
    const early = await tailOf(reader, start.after);
    host.advance(-60_000);
    for (let index = 0; index < 3; index += 1) {
      // Threads that start again know nothing of the times before.
      const exporter = await plugin.create(params, { ...host, random: () => 0.9 - index / 10, every: () => {} });
      await exporter.export([sampleLogRecord({ id: `a${index}` }), sampleLogRecord({ id: `b${index}` })], noSignal());
      await add({ id: `c${index}` });
    }
    const all = [0, 1, 2].flatMap((index) => [`a${index}`, `b${index}`, `c${index}`]);
    const ids: string[] = [];
    let { after } = early;
    // One at a time, and all but the first few have become a block by then.
    for (let turn = 0; turn <= all.length; turn += 1) {
      if (turn === 2) {
        host.advance(dayMs);
        await host.runEvery();
        for await (const { key } of (await host.store('logs')).range({ from: '0', to: ':', limit: 1 })) assert.fail(`${key} is a row still`);
      }
      const tail = await reader.follow?.({ scope }, after, 1);
      ids.push(...idsOf(tail?.records ?? []));
      after = tail?.after ?? '';
    }
    assert.deepEqual([early.ids, ids], [['first'], all]);
    assert.deepEqual((await tailOf(reader, start.after)).ids, ['first', ...all]);
  });

  it('sees each record once and in order when rows that are never merged lie within the time of a block, whatever the limit', async () => {
    const { host, reader, add, merge } = await stageOf(true);
    // No write of its own is merged at once here.
    const exporter = await plugin.create(params, { ...host, random: () => 0.5, every: () => {} });
    await add({ id: 'before' });
    const start = await tailOf(reader, null);
    const all: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      host.advance(100);
      const ids = Array.from({ length: 1 + index % 3 }, (_, each) => `${index % 4 === 2 ? 'refused' : 'call'} ${index}.${each}`);
      await exporter.export(ids.map((id) => sampleLogRecord({ id, keyId: index % 4 === 2 ? '' : 'key' })), noSignal());
      all.push(...ids);
    }
    await merge();
    for (let limit = 1; limit <= all.length + 1; limit += 1) {
      const ids: string[] = [];
      let [after, hasMore] = [start.after, true];
      for (let turn = 0; hasMore && turn <= all.length; turn += 1) {
        const tail = await reader.follow?.({ scope }, after, limit);
        assert.ok(tail !== undefined && tail.records.length <= limit);
        ids.push(...idsOf(tail.records));
        ({ after, hasMore } = tail);
      }
      assert.deepEqual([hasMore, ids], [false, all], `limit ${limit}`);
    }
  });

  it('goes on from now when its place is of a clock that was wrong', async () => {
    const { host, reader, add } = await stageOf(false);
    host.advance(dayMs);
    await add({ id: 'wrong' });
    const wrong = await tailOf(reader, null);
    host.advance(-dayMs);
    await add({ id: 'right' });
    const right = await tailOf(reader, wrong.after);
    await add({ id: 'next' });
    assert.deepEqual([right.ids, (await tailOf(reader, right.after)).ids], [[], ['next']]);
  });
});

for (const isMerged of [false, true]) describe(`reader of the store, over ${isMerged ? 'blocks' : 'rows'}`, () => {
  const stage = (): Promise<Stage> => stageOf(isMerged);

  it('pages newest first, by a cursor that later records do not move', async () => {
    const { reader, add } = await stage();
    await add(...Array.from({ length: 25 }, (_, index) => ({ id: `r${String(index).padStart(2, '0')}`, startedAtMs: nowMs + Math.floor(index / 3) })));
    const first = await reader.page({ scope }, { limit: 10, isCounted: true });
    assert.deepEqual(idsOf(first.records), Array.from({ length: 10 }, (_, index) => `r${String(24 - index).padStart(2, '0')}`));
    assert.equal(first.total, 25);
    await add({ id: 'later', startedAtMs: nowMs + 100 });
    const second = await reader.page({ scope }, { limit: 10, cursor: first.cursor ?? '' });
    assert.deepEqual(idsOf(second.records), Array.from({ length: 10 }, (_, index) => `r${String(14 - index).padStart(2, '0')}`));
    const third = await reader.page({ scope }, { limit: 10, cursor: second.cursor ?? '' });
    assert.deepEqual(idsOf(third.records), ['r04', 'r03', 'r02', 'r01', 'r00']);
    assert.deepEqual([second.total, third.cursor], [null, null]);
    assert.deepEqual(idsOf((await reader.page({ scope }, { limit: 2, offset: 3 })).records), ['r22', 'r21']);
    await assert.rejects(async () => reader.page({ scope }, { limit: 10, cursor: 'not one' }), RangeError);
  });

  it('pages through all records, wherever those of one row or block lie in time', async () => {
    const { reader, add } = await stage();
    const at = (minutes: number, count: number): Partial<LogRecord>[] => Array.from({ length: count }, (_, index) => ({ id: `${minutes}-${index}`, startedAtMs: nowMs - minutes * minuteMs - index }));
    // Long calls are written when they end: the first batch spans the times of the others, and alone would fill the second page.
    await add(...at(0, 4), ...at(60, 9));
    await add(...at(1, 2));
    await add(...at(30, 9));
    const expected = [...at(0, 4), ...at(1, 2), ...at(30, 9), ...at(60, 9)].map(({ id }) => id);
    for (const limit of [3, 7, 8, 11]) {
      const ids: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null && ids.length <= expected.length) {
        const page: LogPage = await reader.page({ scope }, { limit, ...(cursor === '' ? {} : { cursor }) });
        ids.push(...idsOf(page.records));
        ({ cursor } = page);
      }
      assert.deepEqual(ids, expected, `by ${limit}`);
    }
  });

  it('gives what matches each filter, and of other organisations and workspaces nothing', async () => {
    const { reader, add } = await stage();
    const special: Partial<LogRecord> = {
      status: 404, provider: 'openai', model: 'gpt-9', providerSlug: 'slug', configId: 'config', keyId: 'other', promptSlug: 'prompt', traceId: 'trace', spanId: 'span', endpoint: 'embeddings', cacheStatus: 'HIT',
      errorCode: 'CODE', metadata: '{"team":"red","_user":"ann","n":5}', cost: 7, totalTokens: 700, inputTokens: 400, outputTokens: 300, tookMs: 9000, startedAtMs: nowMs + 5000,
    };
    await add({ id: 'plain', startedAtMs: nowMs }, { ...special, id: 'special' }, { ...special, id: 'left', isFinal: false }, { ...special, id: 'foreign', organisationId: 'foreign' }, { id: 'beside', workspaceId: 'beside', startedAtMs: nowMs });
    await reader.addFeedback([feedback({ id: 'f1', traceId: 'trace', value: -4, weight: 0.5 }), feedback({ id: 'f2', traceId: 'trace', value: 10, weight: 1 })]);
    const filters: readonly Omit<LogFilter, 'scope'>[] = [
      { statuses: [404, 500] }, { isSuccess: false }, { providers: ['openai'] }, { models: ['gpt-9'] }, { providerModels: ['openai__gpt-9'] }, { providerSlugs: ['slug'] }, { configIds: ['config'] }, { keyIds: ['other'] },
      { promptSlugs: ['prompt'] }, { traceIds: ['trace', 'none'] }, { spanIds: ['span'] }, { endpoints: ['embeddings'] }, { cacheStatuses: ['HIT'] }, { errorCodes: ['CODE'] }, { metadata: { team: 'red', _user: 'ann' } }, { metadata: { n: '5' } },
      { cost: { min: 7 } }, { totalTokens: { min: 700, max: 700 } }, { inputTokens: { min: 399.5 } }, { outputTokens: { min: 300 } }, { tookMs: { min: 8999 } }, { fromMs: nowMs + 1 }, { weightedFeedback: { min: 4, max: 4 } },
    ];
    for (const filter of filters) {
      assert.deepEqual(idsOf((await reader.page({ scope, ...filter }, { limit: 10 })).records), ['special'], JSON.stringify(filter));
      assert.deepEqual(await rowsOf(reader, { filter: { scope, ...filter } }), [[0, '', 1]], JSON.stringify(filter));
    }
    for (const filter of [{ statuses: [] }, { metadata: { team: 'blue' } }, { metadata: { constructor: 'x' } }, { weightedFeedback: { max: 3.9 } }, { toMs: nowMs - 1 }]) {
      assert.deepEqual(idsOf((await reader.page({ scope, ...filter }, { limit: 10 })).records), [], JSON.stringify(filter));
    }
    assert.deepEqual(idsOf((await reader.page({ scope, records: 'all' }, { limit: 10 })).records), ['special', 'left', 'plain', 'beside']);
    assert.deepEqual(idsOf((await reader.page({ scope: { ...scope, workspaceIds: ['beside', 'none'] } }, { limit: 10 })).records), ['beside']);
    assert.deepEqual(idsOf((await reader.page({ scope: { ...scope, workspaceIds: [] } }, { limit: 10 })).records), []);
  });

  it('reads a record by its id and a trace by its own, oldest first', async () => {
    const { reader, add } = await stage();
    await add({ id: 'b', traceId: 't', startedAtMs: nowMs + 1 }, { id: 'a', traceId: 't', startedAtMs: nowMs, isFinal: false }, { id: 'c', traceId: 'u', startedAtMs: nowMs });
    assert.deepEqual(idsOf(await reader.read(scope, 't')), ['a', 'b']);
    assert.deepEqual(idsOf(await reader.read(scope, 'c')), ['c']);
    assert.deepEqual(await reader.read(scope, 'd'), []);
    assert.deepEqual(await reader.read({ organisationId: 'organisation', workspaceIds: ['beside'] }, 'c'), []);
    assert.deepEqual(await reader.read({ organisationId: 'other', workspaceIds: null }, 'c'), []);
  });

  it('reads no more of a trace than fits, however many calls have it: the newest, and the record of that id always', async () => {
    const { reader, add } = await stage();
    const bodies = { requestHeaders: '', request: 'x'.repeat(1000), upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '' };
    await add(...Array.from({ length: 1200 }, (_, index) => ({ id: `id${String(index).padStart(4, '0')}`, traceId: 'id0000', startedAtMs: nowMs + index, bodies, isFinal: index !== 1199 })));
    const found = await reader.read(scope, 'id0000');
    assert.deepEqual([found.length, found[0]?.id, found[1]?.id, found.at(-1)?.id], [1001, 'id0000', 'id0200', 'id1199']);
    const withBodies = idsOf(found.filter((each) => each.bodies !== null));
    assert.deepEqual([withBodies.length, withBodies[0], withBodies.at(-1)], [20, 'id0000', 'id1198']);
  });

  it('leaves a damaged row out, tells of it once, and goes on merging and reading the others', async () => {
    const { host, reader, add } = await stageOf(false);
    await add({ id: 'whole' });
    const damaged = `${String(nowMs)}-zzzzzzzz-000000001`;
    await (await host.store('logs')).write([{ op: 'put', key: damaged, value: new Uint8Array([0xc1, 1]) }]);
    await (await host.store('feedback')).write([{ op: 'put', key: `t${String(nowMs)}-damaged`, value: new Uint8Array([0xc1]) }]);
    await reader.addFeedback([feedback({ id: 'f1' })]);
    for (const isAfter of [false, true]) {
      assert.deepEqual(idsOf((await reader.page({ scope }, { limit: 5 })).records), ['whole'], String(isAfter));
      assert.deepEqual(await rowsOf(reader, { of: 'feedback' }), [[0, '', 1]]);
      host.advance(dayMs);
      await host.runEvery();
      await host.runEvery();
    }
    const left: string[] = [];
    for await (const { key } of (await host.store('logs')).range({ from: '0', to: ':', limit: 10 })) left.push(key);
    assert.deepEqual(left, [damaged]);
  });

  it('keeps feedback within its room, and holds no metadata of it', async () => {
    const host = fakeHost({ nowMs });
    const store = await host.store('feedback');
    let bytes = 10_000;
    const rows = new FeedbackRows(host, { get: store.get.bind(store), range: store.range.bind(store), write: store.write.bind(store), revision: store.revision.bind(store), size: () => bytes }, dayMs, 5000);
    await rows.add(Array.from({ length: 70 }, (_, index) => feedback({ id: `f${String(index)}`, createdAtMs: nowMs + index, metadata: '{"note":"long"}' })));
    assert.deepEqual([(await rows.all()).length, (await rows.all())[0]?.metadata], [70, '']);
    bytes = 5000;
    await rows.sweep();
    assert.equal((await rows.all()).length, 70);
    let asked = 0;
    const full = new FeedbackRows(host, { get: store.get.bind(store), range: store.range.bind(store), write: store.write.bind(store), revision: store.revision.bind(store), size: () => { asked += 1; return asked === 1 ? 10_000 : 1000; } }, dayMs, 5000);
    await full.sweep();
    assert.deepEqual(idsOfFeedback(await rows.all()), ['f64', 'f65', 'f66', 'f67', 'f68', 'f69']);
  });

  it('gives bodies to who reads a record, and to an export that asks for them', async () => {
    const { reader, add } = await stage();
    const bodies = { requestHeaders: '{}', request: 'asked', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: 'answered' };
    await add({ id: 'with', bodies, startedAtMs: nowMs + 1 }, { id: 'without', startedAtMs: nowMs });
    assert.deepEqual((await reader.read(scope, 'with'))[0]?.bodies, bodies);
    assert.equal((await reader.read(scope, 'without'))[0]?.bodies, null);
    const exported = async (hasBodies: boolean): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const page of reader.export({ scope }, noSignal(), { hasBodies })) found.push(...page.map((record) => record.bodies));
      return found;
    };
    assert.deepEqual([await exported(true), await exported(false)], [[null, bodies], [null, null]]);
    assert.deepEqual((await reader.page({ scope }, { limit: 5 })).records.map((record) => record.bodies), [null, null]);
  });

  it('exports all that matches, oldest first, until the signal ends it', async () => {
    const { reader, write } = await stage();
    const records = Array.from({ length: 1200 }, (_, index) => sampleLogRecord({ id: `r${String(index).padStart(4, '0')}`, startedAtMs: nowMs + index, status: index % 2 === 0 ? 200 : 500 }));
    for (let from = 0; from < records.length; from += 300) await write(records.slice(from, from + 300));
    const read: LogRecord[] = [];
    for await (const page of reader.export({ scope, statuses: [200] }, noSignal())) read.push(...page);
    assert.deepEqual(read, records.filter(({ status }) => status === 200));
    const ending = new AbortController();
    let pages = 0;
    await assert.rejects(async () => {
      for await (const page of reader.export({ scope }, ending.signal)) {
        pages += Math.sign(page.length);
        ending.abort();
      }
    }, { name: 'AbortError' });
    assert.equal(pages, 1);
  });

  it('is followed in the order of arrival, each record once, whenever it is merged', async () => {
    const { host, reader, add, merge } = await stage();
    await add({ id: 'before' });
    const start = await reader.follow?.({ scope }, null, 10);
    assert.deepEqual([start?.records, start?.hasMore], [[], false]);
    await add({ id: 'a', startedAtMs: nowMs + 5 }, { id: 'left', isFinal: false }, { id: 'b', startedAtMs: nowMs });
    await add({ id: 'c', startedAtMs: nowMs - 5 });
    const found: string[] = [];
    let after = start?.after ?? '';
    for (let turn = 0; turn < 6; turn += 1) {
      host.advance(1000);
      const tail = await reader.follow?.({ scope }, after, 2);
      found.push(...idsOf(tail?.records ?? []));
      after = tail?.after ?? '';
      assert.equal(tail?.hasMore, turn === 0);
      if (turn === 2) await add({ id: 'd' });
      if (turn === 3) await merge();
    }
    assert.deepEqual(found, ['a', 'b', 'c', 'd']);
    await assert.rejects(async () => reader.follow?.({ scope }, 'x', 2), RangeError);
  });

  it('aggregates by bucket and group, with true percentiles', async () => {
    const { reader, add } = await stage();
    await add(...Array.from({ length: 100 }, (_, index) => ({ id: `r${index}`, startedAtMs: nowMs + index * minuteMs, tookMs: index + 1, model: index % 4 === 0 ? 'a' : 'b', status: index % 10 === 0 ? 500 : 200, cost: 0.5 })));
    const measures: LogMeasure[] = ['count', 'tookMsP50', 'tookMsP90', 'tookMsP99', 'errors', 'successes', 'cost', 'tookMsSum', 'firstSeenMs', 'lastSeenMs'];
    assert.deepEqual(await rowsOf(reader, { measures }), [[0, '', 100, 50, 90, 99, 10, 90, 50, 5050, nowMs, nowMs + 99 * minuteMs]]);
    assert.deepEqual(await rowsOf(reader, { bucket: 'hour', groupBy: 'model', measures: ['count', 'tookMsP50'] }), [[nowMs, 'a', 15, 29], [nowMs, 'b', 45, 31], [nowMs + 60 * minuteMs, 'a', 10, 77], [nowMs + 60 * minuteMs, 'b', 30, 80]]);
    // The Monday before, in UTC.
    assert.deepEqual(await rowsOf(reader, { bucket: 'week' }), [[Date.UTC(2030, 0, 14), '', 100]]);
    assert.deepEqual(await rowsOf(reader, { bucket: 'day' }), [[Date.UTC(2030, 0, 16), '', 100]]);
    assert.equal((await rowsOf(reader, { bucket: 'minute' })).length, 100);
    assert.deepEqual(await rowsOf(reader, { filter: { scope, models: ['none'] }, measures }), []);
  });

  it('counts hits, savings, users and what was rescued', async () => {
    const { reader, add } = await stage();
    await add(
      { cacheStatus: 'HIT', saved: 2, cost: 0, tookMs: 10, metadata: '{"_user":"ann"}' }, { cacheStatus: 'SEMANTIC HIT', saved: 3, cost: 0, tookMs: 20, metadata: '{"_user":"ann"}' },
      { cacheStatus: 'MISS', cost: 5, retries: 2, metadata: '{"_user":"bob"}' }, { targetIndex: 1, retries: 1, cost: -1, metadata: '' }, { status: 503, targetIndex: 1, retries: 1, isPriced: false, cost: 0, totalTokens: -1, metadata: 'not json' },
      { isPriced: false, cost: 0, metadata: '{}' },
    );
    assert.deepEqual(
      await rowsOf(reader, { measures: ['cacheHits', 'simpleHits', 'semanticHits', 'saved', 'simpleSaved', 'semanticSaved', 'hitTookMsSum', 'users', 'rescuedByRetry', 'rescuedByFallback', 'cost', 'unpriced', 'totalTokens'] }),
      [[0, '', 2, 1, 1, 5, 2, 3, 30, 2, 2, 1, 5, 1, 46 * 5]],
    );
    assert.deepEqual(await rowsOf(reader, { groupBy: 'user' }), [[0, '', 3], [0, 'ann', 2], [0, 'bob', 1]]);
    assert.deepEqual(await rowsOf(reader, { groupBy: 'retries', measures: ['rescuedByRetry'] }), [[0, '0', 0], [0, '1', 1], [0, '2', 1]]);
    assert.deepEqual(await rowsOf(reader, { groupBy: 'providerModel' }), [[0, 'mock__mock-1', 6]]);
    assert.deepEqual(await rowsOf(reader, { groupBy: 'metadata.none' }), [[0, '', 6]]);
  });

  it('groups by names of metadata that stand otherwise in JSON, whatever stands where they would', async () => {
    const { reader, add } = await stage();
    await add({ metadata: '{"abc":"x"}' }, { metadata: JSON.stringify({ 'a"b1': 'own' }) });
    assert.deepEqual(await rowsOf(reader, { groupBy: 'metadata.a"b1' }), [[0, '', 1], [0, 'own', 1]]);
  });

  it('joins feedback by trace', async () => {
    const { reader, add } = await stage();
    await add({ id: '1', traceId: 't', model: 'a' }, { id: '2', traceId: 't', model: 'a' }, { id: '3', traceId: 'u', model: 'b' }, { id: '4', traceId: 't', model: 'c', workspaceId: 'beside' });
    await reader.addFeedback([feedback({ id: 'f1', traceId: 't', value: 4, weight: 0.5 }), feedback({ id: 'f2', traceId: 't', value: 10 }), feedback({ id: 'f3', traceId: 'unknown', value: -1, createdAtMs: nowMs + dayMs })]);
    const measures: LogMeasure[] = ['count', 'requestsWithFeedback', 'feedbackCount', 'weightedFeedbackSum'];
    assert.deepEqual(await rowsOf(reader, { groupBy: 'model', measures }), [[0, 'a', 2, 2, 4, 24], [0, 'b', 1, 0, 0, 0], [0, 'c', 1, 0, 0, 0]]);
    const ofFeedback: Partial<LogAggregateQuery> = { of: 'feedback', measures: ['count', 'weightedFeedbackSum'] };
    assert.deepEqual(await rowsOf(reader, { ...ofFeedback, bucket: 'day' }), [[Date.UTC(2030, 0, 16), '', 2, 12], [Date.UTC(2030, 0, 17), '', 1, -1]]);
    assert.deepEqual(await rowsOf(reader, { ...ofFeedback, groupBy: 'feedbackValue' }), [[0, '-1', 1, -1], [0, '10', 1, 10], [0, '4', 1, 2]]);
    assert.deepEqual(await rowsOf(reader, { ...ofFeedback, groupBy: 'model' }), [[0, '', 1, -1], [0, 'a', 2, 12]]);
    assert.deepEqual(await rowsOf(reader, { ...ofFeedback, filter: { scope, models: ['a'] } }), [[0, '', 2, 12]]);
    assert.deepEqual(await rowsOf(reader, { ...ofFeedback, filter: { scope, toMs: nowMs } }), [[0, '', 2, 12]]);
    assert.equal(await reader.changeFeedback(scope, 'f1', { value: -10, weight: 1, metadata: '{"a":1}' }), true);
    assert.deepEqual(await rowsOf(reader, ofFeedback), [[0, '', 3, -1]]);
    assert.equal(await reader.changeFeedback(scope, 'none', { value: 1, weight: 1, metadata: '' }), false);
    assert.equal(await reader.changeFeedback({ organisationId: 'organisation', workspaceIds: ['beside'] }, 'f1', { value: 1, weight: 1, metadata: '' }), false);
    await assert.rejects(async () => reader.addFeedback([feedback({ id: 'f1' })]));
  });

  it('removes feedback with the age of records', async () => {
    const { reader, host } = await stage();
    await reader.addFeedback([feedback({ id: 'old' })]);
    host.advance(20 * dayMs);
    await reader.addFeedback([feedback({ id: 'new', createdAtMs: host.now() })]);
    host.advance(11 * dayMs);
    await host.runEvery();
    assert.deepEqual(await rowsOf(reader, { of: 'feedback' }), [[0, '', 1]]);
    assert.equal(await reader.changeFeedback(scope, 'old', { value: 1, weight: 1, metadata: '' }), false);
  });

  it('takes records of clients and new prices', async () => {
    const { reader, add, merge } = await stage();
    await add({ id: 'a', cost: 1 }, { id: 'b', cost: 2 });
    await reader.insert([sampleLogRecord({ id: 'c', cost: 3, source: 'insert' })]);
    await merge();
    await reader.reprice([{ id: 'a', cost: 10, saved: 0, isPriced: true }, { id: 'c', cost: 0, saved: 4, isPriced: false }, { id: 'none', cost: 1, saved: 1, isPriced: true }]);
    const records = await reader.page({ scope }, { limit: 10 });
    assert.deepEqual(records.records.map(({ id, cost, saved, isPriced, source }) => [id, cost, saved, isPriced, source]), [['c', 0, 4, false, 'insert'], ['b', 2, 0, true, 'call'], ['a', 10, 0, true, 'call']]);
    assert.deepEqual(await rowsOf(reader, { measures: ['cost', 'saved'] }), [[0, '', 12, 4]]);
  });
});
