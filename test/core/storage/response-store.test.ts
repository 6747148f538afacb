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

  it('loses a response that cannot be packed, and none after it', async () => {
    const lost: unknown[] = [];
    const store = new ResponseStore(await fakeHost().store('responses'), 30 * dayMs, (thrown) => lost.push(thrown));
    let deep: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    for (let count = 0; count <= pendingMax; count += 1) {
      // One is deep enough; the others cost the test nothing.
      const output = count === 0 ? [deep] : [1n << 80n];
      const id = newResponseId(Date.now(), String(count).padStart(20, '0'));
      store.put(id, row(id, { response: { id, object: 'response', output } as unknown as StoredResponse['response'] }));
    }
    assert.equal(lost.length, pendingMax + 1);
    const id = idAt(Date.now(), 'e');
    store.put(id, row(id));
    await settled();
    assert.notEqual(await store.get(id, 'w'), undefined);
    assert.equal(lost.length, pendingMax + 1);
  });

  it('gives every place back when the store throws or rejects', async () => {
    let told = 0;
    const inner = await fakeHost().store('responses');
    for (const write of [() => { throw new Error('thrown'); }, () => Promise.reject(new Error('rejected'))]) {
      const store = new ResponseStore({ get: inner.get.bind(inner), range: inner.range.bind(inner), revision: inner.revision.bind(inner), write }, 30 * dayMs, () => { told += 1; });
      for (let round = 0; round < 3; round += 1) {
        for (let count = 0; count < pendingMax / 2; count += 1) store.put(idAt(Date.now(), 'f') + count, row('f'));
        await settled();
      }
    }
    assert.equal(told, 3 * pendingMax);
  });

  it('counts the bytes that wait, not only the rows', async () => {
    let told = 0;
    let release = (): void => {};
    const inner = await fakeHost().store('responses');
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const store = new ResponseStore({ get: inner.get.bind(inner), range: inner.range.bind(inner), revision: inner.revision.bind(inner), write: () => gate.then(() => true) }, 30 * dayMs, () => { told += 1; });
    const input = [{ type: 'message', id: 'm', content: 'x'.repeat(1024 * 1024) }];
    for (let count = 0; count < 80; count += 1) store.put(`${idAt(Date.now(), 'a')}${count}`, row('a', { input }));
    assert.equal(told, 80 - 64);
    release();
    await settled();
    store.put(idAt(Date.now(), 'b'), row('b', { input }));
    assert.equal(told, 80 - 64);
  });
});
