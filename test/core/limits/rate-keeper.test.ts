import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Counters } from '../../../core/limits/counters.js';
import { RateKeeper, restoreRates, rateStore } from '../../../core/limits/rate-keeper.js';
import { lengthOf } from '../../../core/limits/windows.js';

const clock = { nowMs: 1_760_000_040_000 };
const table = (slots = 4096): Counters => new Counters(Counters.allocate(slots), () => clock.nowMs);
const take = (counters: Counters, key: string, amount: number): number => counters.takeRate(counters.slot(key, 'rpd'), lengthOf.rpd, amount, amount, 1_000, clock.nowMs);

test('counters go on after a restart where they were, also in a table of another size; usage and seconds are left out', async () => {
  const store = await fakeHost().store(rateStore);
  const faults: unknown[] = [];
  const counters = table();
  const keeper = new RateKeeper({ counters, openStore: async () => store, onFault: (thrown) => faults.push(thrown) });
  await keeper.write();
  assert.equal(await store.revision(), 0, 'nothing is written while there is nothing');
  for (let index = 0; index < 300; index += 1) take(counters, `key ${index}`, index + 1);
  counters.takeRate(counters.slot('seconds', 'rps'), lengthOf.rps, 1, 1, 9, clock.nowMs);
  counters.setUsage('usage', 1, 5);
  await keeper.write();
  const written = await store.revision();
  await keeper.write();
  assert.equal(await store.revision(), written, 'what has not changed is not written again');
  take(counters, 'key 7', 100);
  await keeper.stop();
  assert.ok(await store.revision() > written);
  const after = table(1024);
  assert.equal(await restoreRates(after, store), 0);
  for (let index = 0; index < 300; index += 1) assert.equal(after.rate(`key ${index}`, 'rpd'), index === 7 ? 108 : index + 1, `key ${index}`);
  assert.deepEqual([after.find('seconds'), after.find('usage')], [-1, -1]);
  clock.nowMs += 2 * lengthOf.rpd;
  const later = table();
  await restoreRates(later, store);
  assert.equal(later.used, 0, 'windows that are over');
  assert.deepEqual(faults, []);
});

test('a store that takes nothing is told, and written to again', async () => {
  const store = await fakeHost().store(rateStore);
  const faults: unknown[] = [];
  let isFull = true;
  const counters = table();
  const refusing = { ...store, write: async (batch: Parameters<typeof store.write>[0]) => { if (isFull) throw new Error('no space'); return store.write(batch); } };
  const keeper = new RateKeeper({ counters, openStore: async () => refusing as typeof store, onFault: (thrown) => faults.push(thrown) });
  take(counters, 'a', 3);
  await keeper.stop();
  assert.equal(faults.length, 1);
  isFull = false;
  await keeper.write();
  const after = table();
  await restoreRates(after, store);
  assert.equal(after.rate('a', 'rpd'), 3);
});
