import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cache } from '@gateway/plugin-sdk';
import { CacheInstances } from '../../../core/plan/compile-cache.js';

const limits = { memoryBytesMax: 1024, diskBytesMax: 1024 };
const cacheOf = (close: () => void | Promise<void>): Cache => ({ lookup: () => undefined, store: () => undefined, remove: () => undefined, close });

describe('the caches of a thread', () => {
  it('are made once for each kind, and again after one could not be made', async () => {
    const caches = new CacheInstances(limits);
    let made = 0;
    const make = async (): Promise<Cache> => {
      made += 1;
      if (made === 1) throw new Error('not yet');
      return cacheOf(() => undefined);
    };
    await assert.rejects(caches.find('kept', make), /not yet/);
    const found = await Promise.all([caches.find('kept', make), caches.find('kept', make)]);
    assert.equal(found[0], found[1]);
    assert.equal(made, 2);
    caches.retire('kept');
    assert.notEqual(await caches.find('kept', make), found[0]);
  });

  it('are all closed, the retired ones too, whatever one of them throws', async () => {
    const caches = new CacheInstances(limits);
    const closed: string[] = [];
    await caches.find('throws', async () => cacheOf(() => { throw new Error('at close'); }));
    await caches.find('rejects', async () => cacheOf(async () => { throw new Error('at close, later'); }));
    await caches.find('old', async () => cacheOf(() => { closed.push('old'); }));
    caches.retire('old');
    await caches.find('sound', async () => cacheOf(() => { closed.push('sound'); }));
    // What went wrong is told when all is done.
    await assert.rejects(caches.close(), /at close/);
    assert.deepEqual(closed.sort(), ['old', 'sound']);
    await caches.close();
  });
});
