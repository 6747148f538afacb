import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store, Write } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { SteadyStore } from '../../../core/storage/steady-store.js';

const full = (): Error => Object.assign(new Error('no room'), { code: 'ENOSPC' });
const large: readonly Write[] = [{ op: 'put', key: 'large', value: new Uint8Array(2000) }];
const small: readonly Write[] = [{ op: 'put', key: 'small', value: new Uint8Array(10) }];

class Disk {
  isFull = false;
  isDamaged = false;
  nowMs = 0;
  tries = 0;
  readonly refused: string[] = [];
  #store: Store | undefined = undefined;

  async open(): Promise<SteadyStore> {
    const inner = await fakeHost().store('x');
    this.#store = { ...bound(inner), write: (batch) => { this.tries += 1; return this.isFull ? Promise.reject(full()) : inner.write(batch); } };
    return SteadyStore.open({
      name: 'logs', now: () => this.nowMs, onRefused: (name, reason) => this.refused.push(`${name}: ${reason}`),
      open: () => {
        if (this.isDamaged) throw new Error('damaged');
        if (this.isFull || this.#store === undefined) throw full();
        return this.#store;
      },
    });
  }
}

const bound = (store: Store): Store => ({ get: store.get.bind(store), range: store.range.bind(store), write: store.write.bind(store), revision: store.revision.bind(store) });

describe('a store that outlives its disk', () => {
  it('tells each refused write, rests between tries, and is well again with the first that holds', async () => {
    const disk = new Disk();
    const store = await disk.open();
    assert.equal(await store.write(large), true);
    disk.isFull = true;
    await assert.rejects(store.write(large), /no room/);
    await assert.rejects(store.write(large), /not tried again yet after: no room/);
    assert.equal(disk.tries, 2);
    assert.deepEqual(disk.refused, ['logs: no room', 'logs: no room']);
    // Reading goes on.
    assert.equal((await store.get('large'))?.version, 1);
    disk.nowMs += 250;
    await assert.rejects(store.write(large), /^Error: no room/);
    disk.nowMs += 250;
    await assert.rejects(store.write(large), /not tried again/);
    disk.isFull = false;
    disk.nowMs += 250;
    assert.equal(await store.write(large), true);
    assert.equal(await store.write(large), true);
    assert.equal((await store.get('large'))?.version, 3);
  });

  it('tries small writes and removals at all times: they are what makes room', async () => {
    const disk = new Disk();
    const store = await disk.open();
    await store.write(large);
    disk.isFull = true;
    await assert.rejects(store.write(large));
    disk.isFull = false;
    assert.equal(await store.write([{ op: 'remove', key: 'large' }]), true);
    assert.equal(await store.write(large), true);
  });

  it('never rests for longer than 2 s', async () => {
    const disk = new Disk();
    const store = await disk.open();
    disk.isFull = true;
    for (let round = 0; round < 20; round += 1) {
      await assert.rejects(store.write(large), /^Error: no room/);
      disk.nowMs += 2_000;
    }
  });

  it('is empty while there is no room to open it, and opens with a later write', async () => {
    const disk = new Disk();
    disk.isFull = true;
    const store = await disk.open();
    assert.equal(store.get('small'), undefined);
    assert.equal(store.revision(), 0);
    for await (const row of store.range({ from: '', to: 'z', limit: 5 })) assert.fail(row.key);
    await assert.rejects(store.write(small), /no room/);
    disk.isFull = false;
    assert.equal(await store.write(small), true);
    assert.equal((await store.get('small'))?.version, 1);
    assert.equal(disk.refused.length, 2);
  });

  it('does not hide damage, nor a batch that can never be written', async () => {
    const disk = new Disk();
    disk.isDamaged = true;
    await assert.rejects(disk.open(), /damaged/);
    disk.isDamaged = false;
    const store = await disk.open();
    await assert.rejects(store.write([{ op: 'put', key: '', value: new Uint8Array(2000) }]));
    assert.equal(await store.write(large), true);
    assert.deepEqual(disk.refused, []);
  });
});
