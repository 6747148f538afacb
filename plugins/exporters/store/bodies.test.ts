import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogBodies, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { randomBytes } from 'node:crypto';
import { BodyRows } from './bodies.js';
import plugin from './plugin.js';

const dayMs = 86_400_000;
const signal = new AbortController().signal;
const bodies: LogBodies = { requestHeaders: '{"a":"b"}', request: 'ü'.repeat(2000), upstreamUrl: 'http://x', upstreamHeaders: '{}', upstreamRequest: '', upstreamResponse: '\u{1f600}', responseHeaders: '{}', response: 'no' };
const open = async (host: FakeHost, limits = { bytesMax: 1e9, ageMsMax: 7 * dayMs }): Promise<BodyRows> => new BodyRows(host, await host.store('bodies'), limits);
const record = (id: string, changes: Partial<LogRecord> = {}): LogRecord => sampleLogRecord({ id, bodies, ...changes });

describe('bodies in the store', () => {
  it('are read as they were written, by the id and the time of their record', async () => {
    const host = fakeHost();
    const rows = await open(host);
    await rows.write([record('one'), sampleLogRecord({ id: 'none' }), record('two', { bodies: { ...bodies, response: 'other' } }), record('late', { startedAtMs: 1_700_000_000_000.75 })], signal);
    assert.deepEqual(await rows.read(record('one')), bodies);
    assert.equal((await rows.read(record('two')))?.response, 'other');
    assert.deepEqual(await rows.read(record('late', { startedAtMs: 1_700_000_000_000.75 })), bodies);
    assert.equal(await rows.read(record('none')), null);
    assert.equal(await rows.read(record('one', { startedAtMs: 5 })), null);
  });

  it('take less room than they are long', async () => {
    const host = fakeHost();
    const rows = await open(host);
    await rows.write([record('one', { bodies: { ...bodies, request: JSON.stringify({ messages: Array.from({ length: 500 }, (_, index) => ({ role: 'user', content: `hello ${index}` })) }) } })], signal);
    for await (const { value } of rows.store.range({ from: '0', to: ':', limit: 10 })) assert.ok(value.length < 4000, `${value.length}`);
  });

  it('are kept for their days', async () => {
    const host = fakeHost({ nowMs: 1_700_000_000_000 });
    const rows = await open(host);
    await rows.write([record('old'), record('new', { startedAtMs: 1_700_000_000_000 + 5 * dayMs })], signal);
    host.advance(8 * dayMs);
    await rows.sweep();
    assert.equal(await rows.read(record('old')), null);
    assert.deepEqual(await rows.read(record('new', { startedAtMs: 1_700_000_000_000 + 5 * dayMs })), bodies);
  });

  it('have a room of their own: the oldest go first, and what can find none is left out and counted', async () => {
    const host = fakeHost({ nowMs: 1_700_000_000_000 });
    const rows = await open(host, { bytesMax: 1_048_576, ageMsMax: 7 * dayMs });
    const noise = (bytes: number): LogBodies => ({ ...bodies, request: randomBytes(bytes).toString('base64') });
    for (let index = 0; index < 40; index += 1) await rows.write([record(`${index}`, { startedAtMs: 1_700_000_000_000 + index, bodies: noise(50_000) })], signal);
    assert.ok((await rows.store.size?.() ?? 0) <= 1_048_576);
    assert.equal(await rows.read(record('0', { startedAtMs: 1_700_000_000_000 })), null);
    assert.notEqual(await rows.read(record('39', { startedAtMs: 1_700_000_000_039 })), null);
    await rows.write([record('huge', { bodies: noise(3_000_000) })], signal);
    assert.equal(await rows.read(record('huge')), null);
  });

  it('cost no record when the disk has no room for them: they are counted, and told once', async () => {
    const host = fakeHost();
    const full: FakeHost = {
      ...host,
      store: async (name) => {
        const store = await host.store(name);
        return name !== 'bodies' ? store : { get: (key) => store.get(key), range: (options) => store.range(options), revision: () => store.revision(), write: async () => { throw new Error('there is no room for bodies'); } };
      },
    };
    const exporter = await plugin.create({ bytesMax: 1e9, ageDaysMax: 30, bodiesBytesMax: 1e9, bodiesDaysMax: 7 }, full);
    for (const id of ['one', 'two']) await exporter.export([record(id), sampleLogRecord({ id: `${id} refused`, keyId: '' })], signal);
    let rows = 0;
    for await (const { key } of (await host.store('logs')).range({ from: '0', to: 's', limit: 10 })) rows += key === '' ? 0 : 1;
    assert.deepEqual([rows, host.counts.get('bodiesDropped'), host.logged.filter(({ message }) => message.includes('bodies of calls')).length], [4, 2, 1]);
  });

  it('come with the records that are read one by one, and with exports that ask for them', async () => {
    const host = fakeHost({ nowMs: 1_700_000_000_000 });
    const params = { bytesMax: 1e9, ageDaysMax: 30, bodiesBytesMax: 1e9, bodiesDaysMax: 7 };
    const exporter = await plugin.create(params, host);
    await exporter.export([record('one'), sampleLogRecord({ id: 'bare' })], signal);
    await exporter.close?.();
    const reader = await plugin.reader?.(params, host);
    assert.ok(reader);
    await reader.insert([record('inserted', { source: 'insert' })]);
    const scope = { organisationId: 'organisation', workspaceIds: null };
    assert.deepEqual((await reader.read(scope, 'one')).map((found) => found.bodies), [bodies]);
    assert.deepEqual((await reader.read(scope, 'bare')).map((found) => found.bodies), [null]);
    assert.deepEqual((await reader.read(scope, 'inserted')).map((found) => found.bodies), [bodies]);
    assert.ok((await reader.page({ scope }, { limit: 10 })).records.every((found) => found.bodies === null));
    for (const hasBodies of [true, false]) {
      const found: LogRecord[] = [];
      for await (const page of reader.export({ scope }, signal, { hasBodies })) found.push(...page);
      assert.deepEqual(found.map(({ id, bodies: kept }) => [id, kept !== null]).sort(), [['bare', false], ['inserted', hasBodies], ['one', hasBodies]]);
    }
    await reader.close?.();
  });
});
