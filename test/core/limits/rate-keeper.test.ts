import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Counters } from '../../../core/limits/counters.js';
import { RateKeeper, restoreRates, rateStore } from '../../../core/limits/rate-keeper.js';
import { lengthOf } from '../../../core/limits/windows.js';

const clock = { nowMs: 1_760_000_040_000 };
const table = (slots = 4096): Counters => new Counters(Counters.allocate(slots), () => clock.nowMs);
const raise = (thrown: unknown): never => { throw thrown; };
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

test('each call that was counted is noticed, in a table with many counters', async () => {
  const store = await fakeHost().store(rateStore);
  const counters = table(1024);
  const keeper = new RateKeeper({ counters, openStore: async () => store, onFault: raise });
  for (let index = 0; index < 300; index += 1) take(counters, `key ${index}`, 1);
  await keeper.write();
  for (let index = 0; index < 40; index += 1) {
    take(counters, `key ${index}`, 1);
    await keeper.write();
    const after = table(1024);
    await restoreRates(after, store);
    assert.equal(after.rate(`key ${index}`, 'rpd'), 2, `key ${index}`);
  }
});

test('who pays for a counter is known after a restart, of usage too, and what is kept of another table is not taken for it', async () => {
  const store = await fakeHost().store(rateStore);
  const keeperOf = (counters: Counters): RateKeeper => new RateKeeper({ counters, openStore: async () => store, onFault: raise });
  const fill = (counters: Counters, payer: string): number => {
    let found = 0;
    for (let index = 0; index < 1_000 && counters.slot(`${payer} ${counters.live} ${index}`, 'rpd', payer, true) >= 0; index += 1) found += 1;
    return found;
  };
  const counters = table(1024);
  for (let index = 0; index < 100; index += 1) {
    counters.slot(`usage ${index}`, 'usage', 'w', true);
    counters.takeRate(counters.slot(`rate ${index}`, 'rpd', 'w', true), lengthOf.rpd, 1, 1, 9, clock.nowMs);
  }
  await keeperOf(counters).write();
  const after = table(1024);
  // As the ledger does at the start.
  for (let index = 0; index < 100; index += 1) after.setUsage(`usage ${index}`, 3, 7);
  await restoreRates(after, store);
  assert.deepEqual(after.usage('usage 5'), { period: 3, count: 7 });
  assert.equal(fill(after, 'w'), 205 - 200, 'a fifth of the table, less what it has');
  assert.ok(fill(after, 'v') >= 100, 'others have shares of their own');
  clock.nowMs += 2 * lengthOf.rpd;
  for (let index = 0; index < 100; index += 1) after.drop(`usage ${index}`);
  const keeper = keeperOf(after);
  await keeper.write();
  await keeper.write();
  assert.equal(after.live, 0, 'windows are over, and nobody pays for anything');
  for await (const { key } of store.range({ from: '', to: '~', limit: 1 })) assert.fail(key);
});
