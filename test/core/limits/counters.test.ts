// The file is also the code of the threads that its tests start.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Counters, lost, noRoom, refused, type CounterKind } from '../../../core/limits/counters.js';
import { durationOf, lengthOf, timeOf, windowAt, windowEnd } from '../../../core/limits/windows.js';

interface Work {
  readonly buffer: SharedArrayBuffer;
  readonly gate: SharedArrayBuffer;
  readonly kind: 'windows' | 'settled' | 'usage' | 'claim' | 'dropped' | 'swept';
  readonly rounds: number;
  readonly maximum: number;
}

const minuteMs = lengthOf.rpm;
const startMs = 1_760_000_040_000;
const rate = (counters: Counters, key: string): number => counters.slot(key, 'rpm');

const setUp = (slotCount = 1024) => {
  const clock = { nowMs: startMs };
  const counters = new Counters(Counters.allocate(slotCount), () => clock.nowMs);
  const take = (slot: number, maximum: number, wanted = 1, needed = wanted): number => counters.takeRate(slot, minuteMs, wanted, needed, maximum, clock.nowMs);
  return { clock, counters, take };
};

if (!isMainThread) {
  const work: Work = workerData;
  const gate = new Int32Array(work.gate);
  // Each thread walks through the windows as fast as it can, so that some are ahead of others.
  let nowMs = startMs;
  const counters = new Counters(work.buffer, () => nowMs);
  const passed: number[] = [];
  parentPort!.postMessage('ready');
  Atomics.wait(gate, 0, 0, 10_000);
  if (work.kind === 'windows') {
    const slot = counters.slot('shared', 'rpm');
    for (let round = 0; round < work.rounds; round += 1) {
      let count = 0;
      // More asks than there is room for; the threads go on to the next window together.
      for (let ask = 0; ask < work.maximum; ask += 1) if (counters.takeRate(slot, minuteMs, 1, 1, work.maximum, nowMs) === 1) count += 1;
      passed.push(count);
      nowMs += minuteMs;
      Atomics.add(gate, 1, 1);
      while (Atomics.load(gate, 1) < (round + 1) * 2) continue;
    }
  } else if (work.kind === 'settled') {
    const slot = counters.slot('shared', 'rpm');
    // Carries and borrows in every other round; what is given back late goes to its own window alone.
    for (let round = 0; round < work.rounds; round += 1) {
      let count = 0;
      const windowMs = nowMs;
      for (let ask = 0; ask < 500; ask += 1) {
        const taken = counters.takeRate(slot, minuteMs, 9_000_001, 9_000_001, work.maximum, nowMs);
        const { tag } = counters;
        counters.settleRate(slot, minuteMs, tag, ask % 2 === 0 ? -8_000_000 : 5, nowMs);
        count += taken + (ask % 2 === 0 ? -8_000_000 : 5);
      }
      passed.push(count);
      Atomics.add(gate, 1, 1);
      while (Atomics.load(gate, 1) < (round + 1) * 2) continue;
      passed.push(counters.rate('shared', 'rpm'));
      const { tag } = counters;
      Atomics.add(gate, 2, 1);
      while (Atomics.load(gate, 2) < (round + 1) * 2) continue;
      nowMs = windowMs + minuteMs;
      counters.takeRate(slot, minuteMs, 0, 0, work.maximum, nowMs);
      counters.settleRate(slot, minuteMs, tag, -1, nowMs);
    }
  } else if (work.kind === 'usage') {
    const slot = counters.slot('shared', 'usage');
    // Amounts that carry into the high half, some of them given back.
    for (let round = 0; round < work.rounds; round += 1) {
      const taken = counters.takeUsage(slot, 3_000_000_001, 3_000_000_001, work.maximum);
      if (taken === refused) passed.push(0);
      else {
        counters.settleUsage(slot, counters.tag, -1_000_000_000);
        passed.push(taken - 1_000_000_000);
      }
    }
  } else if (work.kind === 'swept') {
    // Both take from a counter that has long been idle, while one of them sweeps.
    const isSweeping = Atomics.add(gate, 1, 1) === 0;
    let slot = counters.slot('shared', 'rpm');
    const place = slot & (counters.slotCount - 1);
    for (let round = 0; round < work.rounds; round += 1) {
      nowMs += 3 * minuteMs;
      Atomics.add(gate, 2, 1);
      while (Atomics.load(gate, 2) < (round * 2 + 1) * 2) continue;
      let count = 0;
      for (let ask = 0; ask < work.maximum * 2;) {
        if (isSweeping) counters.sweep(place, place + 1);
        const taken = counters.takeRate(slot, minuteMs, 1, 1, work.maximum, nowMs);
        if (taken === lost) slot = counters.slot('shared', 'rpm');
        else ask += 1;
        if (taken === 1) count += 1;
      }
      passed.push(count);
      Atomics.add(gate, 2, 1);
      while (Atomics.load(gate, 2) < (round * 2 + 2) * 2) continue;
    }
  } else if (work.kind === 'dropped') {
    // One thread takes and gives back what the other one drops wherever nothing is used.
    const isDropping = Atomics.add(gate, 1, 1) === 0;
    for (let round = 0; isDropping ? Atomics.load(gate, 2) === 0 : round < work.rounds; round += 1) {
      if (isDropping) {
        counters.dropUnused('shared');
        continue;
      }
      const slot = counters.slot('shared', 'usage');
      if (counters.takeUsage(slot, 5, 5, work.maximum) === 5) counters.settleUsage(slot, counters.tag, -5);
    }
    Atomics.store(gate, 2, 1);
  } else {
    for (let round = 0; round < work.rounds; round += 1) passed.push(counters.slot(`claim ${round}`, round % 2 === 0 ? 'usage' : 'rpd'));
  }
  parentPort!.postMessage(passed);
} else {
  const inThreads = async (work: Omit<Work, 'gate'>): Promise<readonly number[][]> => {
    const gate = new SharedArrayBuffer(12);
    const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { workerData: { ...work, gate } satisfies Work }));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const answers = workers.map(async (worker) => (await once(worker, 'message'))[0] as number[]);
    Atomics.store(new Int32Array(gate), 0, 1);
    Atomics.notify(new Int32Array(gate), 0);
    return Promise.all(answers);
  };

  test('a limit lets as many through as it says in each window, and none of 0', () => {
    const { clock, counters, take } = setUp();
    const slot = rate(counters, 'a');
    assert.deepEqual([take(slot, 2), take(slot, 2), take(slot, 2)], [1, 1, refused]);
    assert.equal(counters.countBefore, 2);
    assert.equal(take(slot, 3), 1, 'a limit that is raised is open at once');
    clock.nowMs = windowEnd(minuteMs, clock.nowMs);
    assert.equal(take(slot, 2), 1);
    assert.equal(counters.countBefore, 0);
    assert.equal(take(rate(counters, 'b'), 0), refused);
  });

  test('windows are periods of UTC, and weeks begin on Monday', () => {
    for (const unit of ['rps', 'rpm', 'rph', 'rpd'] as const) assert.equal(windowEnd(lengthOf[unit], startMs) % lengthOf[unit], 0);
    const end = new Date(windowEnd(lengthOf.rpw, Date.parse('2025-10-09T12:00:00Z')));
    assert.equal(end.toISOString(), '2025-10-13T00:00:00.000Z');
    assert.equal(windowAt(lengthOf.rpw, end.getTime()), windowAt(lengthOf.rpw, end.getTime() - 1) + 1);
  });

  test('how long a window goes on, and when it ends, are told as clients of providers read them', () => {
    assert.deepEqual([1, 59, 60, 61, 360, 3_599, 3_600, 86_400, 604_800].map(durationOf), ['1s', '59s', '1m0s', '1m1s', '6m0s', '59m59s', '1h0m0s', '24h0m0s', '168h0m0s']);
    assert.deepEqual([0, minuteMs, minuteMs, 86_400_000].map((ms) => timeOf(windowEnd(minuteMs, startMs + ms))), ['2025-10-09T08:55:00Z', '2025-10-09T08:56:00Z', '2025-10-09T08:56:00Z', '2025-10-10T08:55:00Z']);
  });

  test('as much as is left is taken when it is enough', () => {
    const { counters, take } = setUp();
    const slot = rate(counters, 'a');
    assert.equal(take(slot, 100, 70, 10), 70);
    assert.equal(take(slot, 100, 70, 31), refused);
    assert.equal(take(slot, 100, 70, 30), 30);
  });

  test('what is given back goes to the window it was taken in, more counts in that of now', () => {
    const { clock, counters, take } = setUp();
    const slot = rate(counters, 'a');
    take(slot, 100, 50);
    const { tag } = counters;
    counters.settleRate(slot, minuteMs, tag, -20, clock.nowMs);
    assert.equal(counters.rate('a', 'rpm'), 30);
    clock.nowMs += minuteMs;
    take(slot, 100, 5);
    counters.settleRate(slot, minuteMs, tag, -30, clock.nowMs);
    assert.equal(counters.rate('a', 'rpm'), 5);
    counters.settleRate(slot, minuteMs, tag, 200, clock.nowMs);
    assert.equal(counters.rate('a', 'rpm'), 205);
    assert.equal(take(slot, 100), refused);
  });

  test('another thread may be a window ahead; a clock that was set back further begins anew', () => {
    const { clock, counters, take } = setUp();
    const slot = rate(counters, 'a');
    clock.nowMs += minuteMs;
    take(slot, 2);
    clock.nowMs -= minuteMs;
    assert.equal(take(slot, 2), 1);
    assert.equal(take(slot, 2), refused);
    clock.nowMs -= 5 * minuteMs;
    assert.equal(take(slot, 2), 1);
  });

  test('a count that passes the end of its low half goes on, up and down', () => {
    const { clock, counters, take } = setUp();
    const slot = rate(counters, 'a');
    const usage = counters.slot('b', 'usage');
    counters.setUsage('b', 4_095, 0);
    for (const amount of [2 ** 24 - 1, 1, 2 ** 24, 2 ** 24 + 5]) {
      const before = counters.rate('a', 'rpm');
      assert.equal(take(slot, 1e12, amount), amount);
      assert.equal(counters.takeUsage(usage, amount, 1, Infinity), amount);
      for (const change of [1, -1, -amount, amount]) {
        counters.settleRate(slot, minuteMs, windowAt(minuteMs, clock.nowMs) & 0xff_ffff, change, clock.nowMs);
        counters.settleUsage(usage, 4_095, change);
      }
      assert.equal(counters.rate('a', 'rpm'), before + amount);
      assert.deepEqual(counters.usage('b'), { period: 4_095, count: before + amount });
    }
    counters.settleUsage(usage, 4_095, -1e12);
    assert.deepEqual(counters.usage('b'), { period: 4_095, count: 0 });
  });

  test('counts of more than 32 bits are kept', () => {
    const { counters, take } = setUp();
    const slot = rate(counters, 'a');
    const much = 5_000_000_000;
    assert.equal(take(slot, 3 * much, much), much);
    assert.equal(take(slot, 3 * much, much), much);
    assert.equal(counters.rate('a', 'rpm'), 2 * much);
    const usage = counters.slot('b', 'usage');
    assert.equal(counters.takeUsage(usage, 1e15, 1, Infinity), 1e15);
    assert.equal(counters.takeUsage(usage, 7, 1, Infinity), 7);
    assert.deepEqual(counters.usage('b'), { period: 0, count: 1e15 + 7 });
  });

  test('usage belongs to its period: what was taken in an earlier one changes nothing', () => {
    const { counters } = setUp();
    const slot = counters.slot('key/a/cost', 'usage');
    counters.takeUsage(slot, 40, 40, 100);
    const { tag } = counters;
    assert.equal(counters.setUsage('key/a/cost', 7, 3), 40);
    counters.settleUsage(slot, tag, -10);
    counters.settleUsage(slot, tag, 10);
    assert.deepEqual(counters.usage('key/a/cost'), { period: 7, count: 3 });
    assert.equal(counters.takeUsage(slot, 98, 98, 100), refused);
    assert.equal(counters.takeUsage(slot, 97, 97, 100), 97);
  });

  test('a full table refuses new counters until windows are over, and never gives up usage', () => {
    const { clock, counters, take } = setUp();
    let index = 0;
    let slot = 0;
    for (; slot !== noRoom && index < 2000; index += 1) slot = counters.slot(`usage ${index}`, index < 512 ? 'usage' : 'rpm');
    assert.equal(slot, noRoom);
    const first = counters.slot('usage 600', 'rpm');
    take(first, 5);
    clock.nowMs += 2 * minuteMs;
    const names = Array.from({ length: 400 }, (_, each) => `later ${each}`);
    const slots = names.map((name) => counters.slot(name, 'rpm'));
    assert.ok(slots.filter((each) => each !== noRoom).length > 390);
    for (let each = 0; each < 512; each += 1) assert.ok(counters.find(`usage ${each}`) >= 0, `usage ${each}`);
    for (const each of slots) if (each !== noRoom) assert.equal(take(each, 1), 1, 'no counter begins with what another one counted');
    if (counters.find('usage 600') === -1) assert.equal(take(first, 5), lost);
    assert.ok(slots.some((each, at) => each !== noRoom && counters.find(names[at]!) === each));
  });

  test('who holds a slot that went to another key is told', () => {
    const { counters } = setUp();
    const slot = counters.slot('a', 'usage');
    counters.drop('a');
    assert.equal(counters.find('a'), -1);
    assert.equal(counters.takeUsage(slot, 1, 1, 10), lost);
    const again = counters.slot('a', 'usage');
    assert.notEqual(again, slot);
    assert.equal(counters.takeUsage(again, 1, 1, 10), 1);
    counters.settleUsage(slot, 0, 5);
    assert.deepEqual(counters.usage('a'), { period: 0, count: 1 });
  });

  test('entries are put into another table as they were, but for windows that are over', () => {
    const { clock, counters, take } = setUp();
    const kinds: readonly CounterKind[] = ['rpm', 'rpd', 'usage'];
    take(counters.slot('rpm', 'rpm'), 10, 4);
    counters.takeRate(counters.slot('rpd', 'rpd'), lengthOf.rpd, 6, 6, 10, clock.nowMs);
    counters.setUsage('usage', 3, 99);
    const entries = counters.entries();
    assert.deepEqual(new Set(entries.map(({ kind }) => kind)), new Set(kinds));
    const other = new Counters(Counters.allocate(2048), () => clock.nowMs);
    for (const entry of entries) assert.ok(other.restore(entry));
    assert.equal(other.rate('rpm', 'rpm'), 4);
    assert.deepEqual(other.usage('usage'), { period: 3, count: 99 });
    clock.nowMs += 2 * minuteMs;
    const later = new Counters(Counters.allocate(2048), () => clock.nowMs);
    for (const entry of entries) later.restore(entry);
    assert.equal(later.find('rpm'), -1);
    assert.equal(later.rate('rpd', 'rpd'), 6);
  });

  test('two threads that race through windows pass exactly as many as the limit says in each', async () => {
    const [maximum, rounds] = [2_000, 50];
    const buffer = Counters.allocate(1024);
    const passed = await inThreads({ buffer, kind: 'windows', rounds, maximum });
    for (let round = 0; round < rounds; round += 1) assert.equal((passed[0]?.[round] ?? 0) + (passed[1]?.[round] ?? 0), maximum, `window ${round}`);
  });

  test('what two threads settle in each window is exactly what stands there', async () => {
    const rounds = 20;
    const [first = [], second = []] = await inThreads({ buffer: Counters.allocate(1024), kind: 'settled', rounds, maximum: 1e12 });
    for (let at = 0; at < rounds * 2; at += 2) assert.deepEqual([first[at + 1], second[at + 1]], [first[at]! + second[at]!, first[at]! + second[at]!], `window ${at / 2}`);
  });

  test('usage of two threads adds up through carries and what is given back', async () => {
    const buffer = Counters.allocate(1024);
    const passed = (await inThreads({ buffer, kind: 'usage', rounds: 20_000, maximum: 50_000_000_000_000 })).flat();
    const sum = passed.reduce((total, each) => total + each, 0);
    assert.equal(new Counters(buffer).usage('shared')?.count, sum);
    assert.ok(sum <= 50_000_000_000_000 && sum > 49_990_000_000_000, String(sum));
  });

  test('what is given back while another thread drops the counter is not left in it', async () => {
    const buffer = Counters.allocate(1024);
    await inThreads({ buffer, kind: 'dropped', rounds: 200_000, maximum: 1e12 });
    assert.equal(new Counters(buffer).usage('shared')?.count ?? 0, 0);
  });

  test('two threads of which one sweeps pass exactly as many of an idle counter as the limit says', async () => {
    const [maximum, rounds] = [3, 200];
    const passed = await inThreads({ buffer: Counters.allocate(1024), kind: 'swept', rounds, maximum });
    for (let round = 0; round < rounds; round += 1) assert.equal((passed[0]?.[round] ?? 0) + (passed[1]?.[round] ?? 0), maximum, `window ${round}`);
  });

  test('two threads that put in the same counters get the same slots', async () => {
    const passed = await inThreads({ buffer: Counters.allocate(4096), kind: 'claim', rounds: 2_000, maximum: 0 });
    assert.deepEqual(passed[0], passed[1]);
  });

  test('a slot that goes from hand to hand without end hides no counter behind it', () => {
    const { clock, counters } = setUp();
    const mask = counters.slotCount - 1;
    const place = counters.slot('busy', 'rps') & mask;
    // One that would have the same place.
    let behind = '';
    for (let number = 0; behind === '' && number < 100_000; number += 1) if (placeAlone(`budget ${number}`) === place) behind = `budget ${number}`;
    assert.equal(counters.takeUsage(counters.slot(behind, 'usage'), 5, 5, 10), 5);
    for (let round = 0; round < 2 * 2_048 + 2; round += 1) {
      clock.nowMs += 3 * lengthOf.rps;
      counters.sweep(place, place + 1);
      assert.equal(counters.find('busy'), -1);
      assert.equal(counters.usage(behind)?.count, 5, `after ${round}`);
      assert.equal(counters.slot('busy', 'rps') & mask, place);
    }
    assert.equal(counters.used, 2);
  });
}

function placeAlone(key: string): number {
  const counters = new Counters(Counters.allocate(1024), () => startMs);
  return counters.slot(key, 'usage') & (counters.slotCount - 1);
}
