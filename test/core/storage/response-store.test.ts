import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { newResponseId, type StoredResponse } from '../../../core/dialect/responses/stored.js';
import { pendingMax, ResponseStore } from '../../../core/storage/response-store.js';

const dayMs = 86_400_000;
const faults: unknown[] = [];
const open = async (ageMs = 30 * dayMs): Promise<ResponseStore> => new ResponseStore(await fakeHost().store('responses'), ageMs, (thrown) => faults.push(thrown));
const idAt = (ms: number, digit: string): string => newResponseId(ms, digit.repeat(20));
const row = (id: string, changes: Partial<StoredResponse> = {}): StoredResponse => ({
  response: { id, object: 'response', output: [] }, input: [{ type: 'message', id: 'm' }], previous: null, workspaceId: 'w', expiresAtMs: Date.now() + dayMs, ...changes,
});
const settled = async (): Promise<void> => { for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); }); };

describe('the store of responses', () => {
  it('gives back what was put, at once and after it was written, to its own workspace only', async () => {
    const store = await open();
    const id = idAt(Date.now(), 'a');
    store.put(id, row(id));
    assert.deepEqual((await store.get(id, 'w'))?.response, { id, object: 'response', output: [] });
    await settled();
    assert.deepEqual(await store.get(id, 'w'), row(id, { expiresAtMs: (await store.get(id, 'w'))?.expiresAtMs ?? 0 }));
    assert.equal(await store.get(id, 'other'), undefined);
    assert.equal(await store.remove(id, 'other'), false);
    assert.equal(await store.remove(id, 'w'), true);
    assert.equal(await store.get(id, 'w'), undefined);
    assert.deepEqual(faults, []);
  });

  it('does not find what is too old, and sweeps it away', async () => {
    const store = await open(dayMs);
    const now = Date.now();
    const old = idAt(now - 2 * dayMs, 'a');
    const young = idAt(now - 1000, 'b');
    store.put(old, row(old, { expiresAtMs: now - dayMs }));
    store.put(young, row(young));
    await settled();
    assert.equal(await store.get(old, 'w'), undefined);
    await store.sweep(now);
    assert.equal(await store.store.get(old), undefined);
    assert.notEqual(await store.get(young, 'w'), undefined);
  });

  it('sweeps more than one batch', async () => {
    const store = await open(dayMs);
    const base = Date.now() - 3 * dayMs;
    await store.store.write(Array.from({ length: 2_500 }, (_, index) => ({ op: 'put', key: idAt(base + index, 'c'), value: new Uint8Array(1) })));
    await store.sweep(Date.now());
    for await (const left of store.store.range({ from: 'resp', to: 'resq', limit: 10 })) assert.fail(left.key);
  });

  it('follows a conversation back to its beginning, and not past what is gone', async () => {
    const store = await open();
    const ids = ['a', 'b', 'c'].map((digit) => idAt(Date.now(), digit));
    ids.forEach((id, index) => store.put(id, row(id, { previous: ids[index - 1] ?? null })));
    assert.deepEqual((await store.chain(ids[2] ?? '', 'w'))?.map(({ response }) => response.id), ids);
    await settled();
    await store.remove(ids[0] ?? '', 'w');
    assert.equal(await store.chain(ids[2] ?? '', 'w'), undefined);
  });

  it('holds no more rows for a disk that does not write than its limit', async () => {
    const told: unknown[] = [];
    const stuck = { ...await fakeHost().store('x'), get: () => undefined, write: () => new Promise<boolean>(() => {}) };
    const store = new ResponseStore(stuck as never, dayMs, (thrown) => told.push(thrown));
    const ids = Array.from({ length: pendingMax + 1 }, (_, index) => idAt(index, 'a'));
    for (const id of ids) store.put(id, row(id));
    assert.match(String(told), /wait to be written/);
    assert.equal(told.length, 1);
    assert.notEqual(await store.get(ids[0] ?? '', 'w'), undefined);
    assert.equal(await store.get(ids.at(-1) ?? '', 'w'), undefined);
  });

  it('tells of a write that failed, and forgets the row', async () => {
    const told: unknown[] = [];
    const broken = { ...await fakeHost().store('x'), get: () => undefined, write: async () => { throw new Error('disk full'); } };
    const store = new ResponseStore(broken as never, dayMs, (thrown) => told.push(thrown));
    const id = idAt(Date.now(), 'a');
    store.put(id, row(id));
    await settled();
    assert.match(String(told[0]), /disk full/);
    assert.equal(await store.get(id, 'w'), undefined);
  });
});
