import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Feedback, LogReader, LogRecord, Store } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { Packr } from 'msgpackr';
import { filterKey, headKey, heads, keyOfHead, partKey, valuesKey } from './block.js';
import plugin from './plugin.js';

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1024 * 1024 * 1024, bodiesDaysMax: 30 };
const scope = { organisationId: 'organisation', workspaceIds: null };
const dayMs = 86_400_000;
const nowMs = Date.UTC(2030, 0, 16, 12);
const noSignal = (): AbortSignal => new AbortController().signal;
const packr = new Packr({ useRecords: false });

interface Stage {
  readonly host: FakeHost;
  readonly store: Store;
  /** Of the two blocks, the first is of `lost` and the second of `whole`. */
  readonly keys: readonly [lost: string, whole: string];
  /** With nothing in memory. */
  reader(): Promise<LogReader>;
  add(...records: readonly LogRecord[]): Promise<void>;
  merge(): Promise<void>;
}

const recordOf = (id: string, changes: Partial<LogRecord> = {}): LogRecord => sampleLogRecord({ id, traceId: id, model: `m-${id}`, metadata: `{"of":"${id}"}`, startedAtMs: nowMs, ...changes });

async function stageOf(): Promise<Stage> {
  const host = fakeHost({ nowMs });
  const store = await host.store('logs');
  const exporter = await plugin.create(params, host);
  const merge = async (): Promise<void> => {
    host.advance(dayMs);
    await host.runEvery();
  };
  const keys: string[] = [];
  for (const id of ['lost', 'whole']) {
    await exporter.export([recordOf(id), recordOf(`${id}-2`, { status: 500, cost: 1.25 })], noSignal());
    await merge();
    for await (const { key } of store.range({ from: heads.from, to: heads.to, limit: 1, reverse: true })) keys.push(keyOfHead(key));
  }
  const [lost = '', whole = ''] = keys;
  assert.notEqual(lost, whole);
  return {
    host, store, keys: [lost, whole], merge,
    add: async (...records) => { await exporter.export(records, noSignal()); },
    reader: async () => {
      const reader = await plugin.reader?.(params, host);
      assert.ok(reader !== undefined);
      return reader;
    },
  };
}

/** What each kind of question finds. */
async function foundBy(reader: LogReader): Promise<Readonly<Record<string, readonly string[]>>> {
  const exported: LogRecord[] = [];
  for await (const page of reader.export({ scope }, noSignal())) exported.push(...page);
  const { follow } = reader;
  assert.ok(follow !== undefined);
  const idsOf = (records: readonly LogRecord[]): string[] => records.map(({ id }) => id).sort();
  const start = Buffer.from(JSON.stringify([0, 0])).toString('base64url');
  const { rows } = await reader.aggregate({ filter: { scope }, bucket: null, groupBy: 'metadata.of', measures: ['count', 'cost', 'tookMsP99'] });
  return {
    page: idsOf((await reader.page({ scope }, { limit: 10 })).records), exported: idsOf(exported), followed: idsOf((await follow.call(reader, { scope }, start, 10)).records),
    groups: rows.flatMap(({ group, values: [count = 0] }) => new Array<string>(count).fill(group)).sort(), read: idsOf([...await reader.read(scope, 'lost'), ...await reader.read(scope, 'whole')]),
  };
}

const all = (ids: readonly string[], read: readonly string[]): Readonly<Record<string, readonly string[]>> => ({ page: ids, exported: ids, followed: ids, groups: ids, read });
const onlyWhole = all(['whole', 'whole-2'], ['whole']);
const both = all(['lost', 'lost-2', 'whole', 'whole-2'], ['lost', 'whole']);

async function valueOf(store: Store, key: string): Promise<Uint8Array> {
  const row = await store.get(key);
  assert.ok(row !== undefined, key);
  return Uint8Array.from(row.value);
}

describe('a damaged block of the log', () => {
  const rowsOf = (key: string): Readonly<Record<string, string>> => ({ head: headKey(key), labels: partKey(key, 'labels'), figures: partKey(key, 'figures'), metadata: partKey(key, 'metadata'), names: partKey(key, 'names'), rest: partKey(key, 'rest') });

  it('is left out of all that is asked, and told of once, whatever of it is cut off', async () => {
    const { host, store, keys: [lost], reader } = await stageOf();
    assert.deepEqual(await foundBy(await reader()), both);
    for (const [name, key] of Object.entries(rowsOf(lost))) {
      const value = await valueOf(store, key);
      for (let length = 0; length < value.length; length += 11) {
        const before = host.counts.get('rowsDamaged') ?? 0;
        await store.write([{ op: 'put', key, value: value.subarray(0, length) }]);
        assert.deepEqual(await foundBy(await reader()), onlyWhole, `${name} cut at ${length} of ${value.length}`);
        assert.equal(host.counts.get('rowsDamaged'), before + 1);
      }
      await store.write([{ op: 'put', key, value }]);
      assert.deepEqual(await foundBy(await reader()), both);
    }
    const said = host.logged.filter(({ message }) => message === 'records of the log cannot be read and are left out');
    assert.ok(said.length > 0 && said.every(({ level, fields }) => level === 'error' && fields.key === lost), JSON.stringify(said[0]));
    assert.ok(said.some(({ fields }) => fields.records === 2 && fields.fromMs === nowMs && fields.toMs === nowMs));
  });

  it('is left out when a part of it is missing, of another block, or says what cannot be', async () => {
    const { store, keys: [lost, whole], reader } = await stageOf();
    const rows = rowsOf(lost);
    const head: Readonly<Record<string, unknown>> = Object(packr.unpack(await valueOf(store, headKey(lost))));
    const heads: readonly (readonly [string, unknown])[] = [
      ['a text', 'text'], ['no count', { ...head, count: undefined }], ['half a record', { ...head, count: 1.5 }], ['less than no record', { ...head, count: -1 }], ['too many records', { ...head, count: 1e12 }], ['other records', { ...head, count: 3 }],
      ['no bytes', { ...head, bytes: NaN }], ['no ranges', { ...head, ranges: {} }], ['a range of texts', { ...head, ranges: { ...Object(head.ranges), tookMs: ['a', 'b'] } }], ['values that are no list', { ...head, values: { status: 200 } }],
      ['values of numbers', { ...head, values: { status: [200] } }], ['arrivals that are none', { ...head, arrivals: [[1], 2] }], ['sums that are none', { ...head, filters: ['a'] }], ['a newer format', { ...head, format: 9 }],
    ];
    for (const [name, damaged] of heads) {
      const value = await valueOf(store, headKey(lost));
      await store.write([{ op: 'put', key: headKey(lost), value: packr.pack(damaged) }]);
      assert.deepEqual(await foundBy(await reader()), onlyWhole, name);
      await store.write([{ op: 'put', key: headKey(lost), value }]);
    }
    for (const name of ['labels', 'figures', 'metadata', 'names', 'rest'] as const) {
      const key = rows[name] ?? '';
      const value = await valueOf(store, key);
      await store.write([{ op: 'remove', key }]);
      assert.deepEqual(await foundBy(await reader()), onlyWhole, `without ${name}`);
      const [format, count, fields, columns]: readonly unknown[] = packr.unpack(value);
      await store.write([{ op: 'put', key, value: packr.pack([format, Number(count) + 1, fields, columns]) }]);
      assert.deepEqual(await foundBy(await reader()), onlyWhole, `${name} of another one`);
      await store.write([{ op: 'put', key, value }]);
    }
    await store.write([{ op: 'remove', key: filterKey(lost) }]);
    // Nobody but who looks for an id needs it.
    assert.deepEqual(await foundBy(await reader()), { ...both, read: ['whole'] });
    const exported: string[] = [];
    for await (const page of (await reader()).export({ scope, traceIds: ['lost', 'whole'] }, noSignal())) exported.push(...page.map(({ id }) => id));
    assert.deepEqual(exported, ['whole']);
    await store.write([{ op: 'put', key: filterKey(lost), value: new Uint8Array(0) }]);
    assert.deepEqual(await foundBy(await reader()), both);
    await store.write([{ op: 'remove', key: valuesKey(lost) }]);
    assert.deepEqual(await foundBy(await reader()), both);
    const ofMember = async (): Promise<readonly string[]> => (await (await reader()).page({ scope, metadata: { of: 'whole' } }, { limit: 10 })).records.map(({ metadata }) => metadata);
    assert.deepEqual(await ofMember(), ['{"of":"whole"}']);
    assert.notEqual(whole, lost);
  });

  it('hides none of its records when a filter of it is damaged, or of a block that was written without sums of them', async () => {
    const { store, keys: [lost], reader } = await stageOf();
    const isFound = async (what: string): Promise<void> => {
      const read = await reader();
      assert.deepEqual(await foundBy(read), both, what);
      const ofMember = await read.page({ scope, metadata: { of: 'lost-2' } }, { limit: 10 });
      assert.deepEqual(ofMember.records.map(({ id }) => id), ['lost-2'], what);
    };
    for (const key of [filterKey(lost), valuesKey(lost)]) {
      const value = await valueOf(store, key);
      const damaged = [...Array.from(value, (_, length) => value.subarray(0, length)), new Uint8Array(value.length), Buffer.concat([value, Buffer.alloc(3)])];
      for (const [index, each] of damaged.entries()) {
        await store.write([{ op: 'put', key, value: each }]);
        await isFound(`${key} ${index}`);
      }
      await store.write([{ op: 'put', key, value }]);
    }
    const { filters, ...head }: Readonly<Record<string, unknown>> = Object(packr.unpack(await valueOf(store, headKey(lost))));
    assert.ok(Array.isArray(filters));
    await store.write([{ op: 'put', key: headKey(lost), value: packr.pack(head) }]);
    await isFound('a head without them');
  });

  it('is left out when what one of its records says is nowhere, though the column can be read', async () => {
    const { store, keys: [lost], reader } = await stageOf();
    for (const [part, field, damagedOf] of [
      ['metadata', 'metadata', () => ['members', [[['{"of":"', '"}'], [0]]], ['same', 1], ['of'], [['words', ['texts', [1, 1, [false, Buffer.from([1])]], [false, Buffer.from('x')]], 1, ['bits', 1, Buffer.from([3, 0])]]], ['same', '']]],
      ['labels', 'model', () => ['words', ['texts', [1, 1, [false, Buffer.from([1])]], [false, Buffer.from('x')]], 1, ['bits', 1, Buffer.from([3, 0])]]],
      ['rest', 'path', () => ['words', ['texts', [1, 1, [false, Buffer.from([1])]], [false, Buffer.from('x')]], 1, ['bits', 1, Buffer.from([3, 0])]]],
    ] as const) {
      const key = partKey(lost, part);
      const value = await valueOf(store, key);
      const [format, count, fields, columns]: readonly unknown[] = packr.unpack(value);
      assert.ok(Array.isArray(fields) && Array.isArray(columns));
      await store.write([{ op: 'put', key, value: packr.pack([format, count, fields, columns.with(fields.indexOf(field), damagedOf())]) }]);
      const read = await reader();
      assert.deepEqual((await read.page({ scope }, { limit: 10 })).records.map(({ id }) => id).sort(), ['whole', 'whole-2'], field);
      assert.deepEqual(await foundBy(read), onlyWhole, field);
      await store.write([{ op: 'put', key, value }]);
    }
  });

  it('is merged by nobody when its metadata are damaged, and keeps no other from being merged', async () => {
    const { host, store, keys: [, whole], add, merge, reader } = await stageOf();
    const key = partKey(whole, 'metadata');
    const [format, count, fields]: readonly unknown[] = packr.unpack(await valueOf(store, key));
    const words = ['words', ['texts', [1, 1, [false, Buffer.from([1])]], [false, Buffer.from('x')]], 1, ['bits', 1, Buffer.from([3, 0])]];
    await store.write([{ op: 'put', key, value: packr.pack([format, count, fields, [['members', [[['{"of":"', '"}'], [0]]], ['same', 1], ['of'], [words], ['same', '']]]]) }]);
    host.advance(-dayMs);
    await add(recordOf('later'));
    for (let turn = 0; turn < 3; turn += 1) await merge();
    for await (const { key: row } of store.range({ from: '0', to: ':', limit: 1 })) assert.fail(`${row} is a row still`);
    assert.deepEqual((await foundBy(await reader())).page, ['later', 'lost', 'lost-2']);
  });

  it('keeps nobody from writing, merging and removing others, nor from being removed itself', async () => {
    for (const name of ['head', 'rest'] as const) {
      const { host, store, keys: [, whole], add, merge, reader } = await stageOf();
      // The newest one, which later rows would be merged with.
      await store.write([{ op: 'put', key: rowsOf(whole)[name] ?? '', value: new Uint8Array([0xc1]) }]);
      await add(recordOf('later'));
      for (let turn = 0; turn < 3; turn += 1) await merge();
      for await (const { key } of store.range({ from: '0', to: ':', limit: 1 })) assert.fail(`${name}: ${key} is a row still`);
      assert.deepEqual((await foundBy(await reader())).page, ['later', 'lost', 'lost-2'], name);
      host.advance(40 * dayMs);
      await host.runEvery();
      for await (const { key } of store.range({ from: heads.from, to: 'z', limit: 1 })) assert.fail(`${name}: ${key} is there still`);
    }
  });

  it('is one of the oldest that go where there is no room', async () => {
    const host = fakeHost({ nowMs });
    const store = await host.store('logs');
    const small = { ...params, bytesMax: 1024 * 1024 };
    const exporter = await plugin.create(small, host);
    await exporter.export([recordOf('lost')], noSignal());
    host.advance(dayMs);
    await host.runEvery();
    const found: string[] = [];
    for await (const { key } of store.range({ from: heads.from, to: heads.to, limit: 5 })) found.push(key);
    const [head = ''] = found;
    await store.write([{ op: 'put', key: head, value: new Uint8Array([0xc1]) }]);
    for (let index = 0; index < 200; index += 1) await exporter.export([recordOf(`r${index}`, { hookResults: 'x'.repeat(16_000) })], noSignal());
    assert.equal(await store.get(head), undefined);
  });
});

describe('a damaged row of the log', () => {
  it('is left out of all that is asked, whatever of it is cut off', async () => {
    const host = fakeHost({ nowMs });
    const store = await host.store('logs');
    const exporter = await plugin.create(params, host);
    const rows: string[] = [];
    for (const id of ['lost', 'whole']) {
      await exporter.export([recordOf(id), recordOf(`${id}-2`, { status: 500 })], noSignal());
      for await (const { key } of store.range({ from: '0', to: ':', limit: 1, reverse: true })) rows.push(key);
      host.advance(2000);
    }
    const [key = ''] = rows;
    const value = await valueOf(store, key);
    const readerOf = async (): Promise<LogReader> => {
      const reader = await plugin.reader?.(params, host);
      assert.ok(reader !== undefined);
      return reader;
    };
    for (let length = 0; length < value.length; length += 11) {
      await store.write([{ op: 'put', key, value: value.subarray(0, length) }]);
      assert.deepEqual(await foundBy(await readerOf()), onlyWhole, `cut at ${length} of ${value.length}`);
    }
    const [format, count, fields, columns]: readonly unknown[] = packr.unpack(value);
    assert.ok(Array.isArray(fields) && Array.isArray(columns));
    const damaged = columns.with(fields.indexOf('metadata'), ['words', ['a'], new Uint8Array(1)]);
    await store.write([{ op: 'put', key, value: packr.pack([format, count, fields, damaged]) }]);
    assert.deepEqual(await foundBy(await readerOf()), onlyWhole, 'a column that only some questions read');
  });
});

describe('what lies beside the log and is damaged', () => {
  it('is told of: bodies are left out of their record, feedback of its figures', async () => {
    const host = fakeHost({ nowMs });
    const exporter = await plugin.create(params, host);
    const reader = await plugin.reader?.(params, host);
    assert.ok(reader !== undefined);
    const bodies = { requestHeaders: '', request: 'secret', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '' };
    await exporter.export([recordOf('lost', { bodies }), recordOf('whole', { bodies })], noSignal());
    const store = await host.store('bodies');
    for await (const { key } of store.range({ from: '0', to: ':', limit: 10 })) if (key.endsWith('-lost')) await store.write([{ op: 'put', key, value: new Uint8Array([1, 2, 3]) }]);
    const item: Feedback = { id: 'f', organisationId: 'organisation', workspaceId: 'workspace', traceId: 'whole', value: 5, weight: 1, metadata: '', createdAtMs: nowMs };
    await reader.addFeedback([item, { ...item, id: 'g' }]);
    const feedback = await host.store('feedback');
    for await (const { key } of feedback.range({ from: 't', to: 'u', limit: 1 })) await feedback.write([{ op: 'put', key, value: new Uint8Array([0xc1]) }]);
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await reader.read(scope, 'lost'))[0]?.bodies, null);
      const exported: LogRecord[] = [];
      for await (const page of reader.export({ scope }, noSignal(), { hasBodies: true })) exported.push(...page);
      assert.deepEqual(exported.map(({ id, bodies: of }) => [id, of?.request]), [['lost', undefined], ['whole', 'secret']]);
      const { rows } = await reader.aggregate({ of: 'feedback', filter: { scope }, bucket: null, groupBy: null, measures: ['count'] });
      assert.deepEqual(rows.map(({ values }) => values), [[1]]);
    }
    assert.deepEqual([host.counts.get('bodiesDamaged'), host.counts.get('feedbackDamaged')], [1, 1]);
    assert.deepEqual(host.logged.map(({ message }) => message), ['bodies of a call cannot be read and are left out', 'an item of feedback cannot be read and is left out']);
  });
});
