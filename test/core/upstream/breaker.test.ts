// The file is also the code of the threads that its tests start.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Breakers, type BreakerPolicy } from '../../../core/upstream/breaker.js';

interface Work {
  readonly buffer: SharedArrayBuffer;
  readonly gate: SharedArrayBuffer;
  readonly kind: 'fail' | 'probe' | 'claim' | 'contend';
  readonly rounds: number;
  readonly policy: BreakerPolicy;
  readonly nowMs: number;
  /** Of the threads, from 0. */
  readonly thread: number;
  /** For `contend`: a table for each round. */
  readonly tables: readonly SharedArrayBuffer[];
}

/** Threads and keys of each in the contest for a table that they fill exactly. */
const contenders = 2;
const tableSlots = 32;
const spinsMax = 500_000_000;

const policyOf = (failureThreshold: number, cooldownMs = 30_000, failureStatusCodes: readonly number[] | null = null): BreakerPolicy =>
  Object.freeze({ failureThreshold, cooldownMs, failureStatusCodes: failureStatusCodes === null ? null : new Set(failureStatusCodes) });

/** A breaker of its own with a clock that stands still until told. */
const setUp = (startMs = 1_760_000_000_000, slotCount = 64) => {
  const clock = { nowMs: startMs };
  const breakers = new Breakers(Breakers.allocate(slotCount), () => clock.nowMs);
  return { clock, breakers, slot: breakers.slot('workspace config targets[0]') };
};

const failTimes = (breakers: Breakers, slot: number, policy: BreakerPolicy, times: number): void => {
  for (let index = 0; index < times; index += 1) breakers.record(slot, policy, 500);
};

if (!isMainThread) {
  const work: Work = workerData;
  const breakers = new Breakers(work.buffer, () => work.nowMs);
  const gate = new Int32Array(work.gate);
  const port = parentPort!;
  const slot = breakers.slot('shared');
  let answer: unknown = null;
  port.postMessage('ready');
  Atomics.wait(gate, 0, 0, 10_000);
  switch (work.kind) {
    case 'fail':
      failTimes(breakers, slot, work.policy, work.rounds);
      break;
    case 'probe': {
      const passed: number[] = [];
      for (let round = 0; round < work.rounds; round += 1) passed.push(breakers.tryPass(breakers.slot(`probe ${round}`), work.policy) ? 1 : 0);
      answer = passed;
      break;
    }
    case 'claim':
      answer = Array.from({ length: work.rounds }, (_, round) => breakers.slot(`claim ${round}`));
      break;
    case 'contend':
      answer = work.tables.map((table, round) => {
        const own = new Breakers(table, () => work.nowMs);
        Atomics.add(gate, 1, 1);
        for (let spins = 0; Atomics.load(gate, 1) < contenders * (round + 1); spins += 1) assert.ok(spins < spinsMax, 'the other thread is gone');
        return Array.from({ length: tableSlots / contenders }, (_, index) => own.slot(`round ${round} thread ${work.thread} key ${index}`));
      });
      break;
  }
  port.postMessage(answer);
} else {
  const runThreads = async (count: number, work: Omit<Work, 'gate' | 'nowMs' | 'thread' | 'tables'> & Partial<Pick<Work, 'nowMs' | 'tables'>>): Promise<unknown[]> => {
    const gate = new SharedArrayBuffer(8);
    const workers = Array.from({ length: count }, (_, thread) =>
      new Worker(new URL(import.meta.url), { workerData: { nowMs: 1000, tables: [], ...work, gate, thread } satisfies Work }));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const answers = workers.map((worker) => once(worker, 'message'));
    const ends = workers.map((worker) => once(worker, 'exit'));
    Atomics.store(new Int32Array(gate), 0, 1);
    Atomics.notify(new Int32Array(gate), 0);
    const results = (await Promise.all(answers)).map(([answer]) => answer as unknown);
    await Promise.all(ends);
    return results;
  };

  test('say which targets of which providers are not closed, of those that a thread has looked up', () => {
  const { clock, breakers } = setUp();
  const policy = policyOf(2);
  const [first, second] = [breakers.slot('one', 'groq'), breakers.slot('two', 'openai')];
  breakers.slot('three');
  assert.deepEqual(breakers.broken(), []);
  failTimes(breakers, first, policy, 2);
  assert.deepEqual(breakers.broken(), [{ slot: first, provider: 'groq', state: 'open' }]);
  clock.nowMs += 30_001;
  assert.ok(breakers.tryPass(first, policy));
  failTimes(breakers, second, policy, 2);
  assert.deepEqual(breakers.broken(), [{ slot: first, provider: 'groq', state: 'probing' }, { slot: second, provider: 'openai', state: 'open' }]);
  breakers.record(first, policy, 200);
  assert.deepEqual(breakers.broken().map(({ provider }) => provider), ['openai']);
  // Other keys take the place of all that were there.
  for (let key = 0; key < 2000; key += 1) breakers.slot(`other ${key}`);
  assert.deepEqual(breakers.broken(), []);
});

test('are counted by phase', () => {
    const { clock, breakers, slot } = setUp();
    const policy = policyOf(2);
    breakers.slot('another');
    assert.deepEqual(breakers.count(), { closed: 2, open: 0, probing: 0 });
    failTimes(breakers, slot, policy, 2);
    assert.deepEqual(breakers.count(), { closed: 1, open: 1, probing: 0 });
    clock.nowMs += 30_001;
    assert.ok(breakers.tryPass(slot, policy));
    assert.deepEqual(breakers.count(), { closed: 1, open: 0, probing: 1 });
    breakers.record(slot, policy, 200);
    assert.deepEqual(breakers.count(), { closed: 2, open: 0, probing: 0 });
  });

  test('stays closed below the threshold and opens at it', () => {
    const { breakers, slot } = setUp();
    const policy = policyOf(3);
    failTimes(breakers, slot, policy, 2);
    assert.equal(breakers.isOpen(slot, policy), false);
    assert.equal(breakers.tryPass(slot, policy), true);
    failTimes(breakers, slot, policy, 1);
    assert.equal(breakers.isOpen(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
  });

  test('without a list 500 and above are failures, 408 and 429 are not', () => {
    const { breakers, slot } = setUp();
    const policy = policyOf(4);
    for (const status of [200, 204, 400, 401, 404, 408, 429, 499]) failTimes(breakers, slot, policyOf(4, 30_000, []), status);
    for (const status of [200, 400, 408, 429, 499, 500, 502, 504]) breakers.record(slot, policy, status);
    assert.equal(breakers.isOpen(slot, policy), false);
    breakers.record(slot, policy, 599);
    assert.equal(breakers.isOpen(slot, policy), true);
  });

  test('with a list only its statuses are failures', () => {
    const { breakers, slot } = setUp();
    const policy = policyOf(2, 30_000, [408, 429]);
    for (const status of [500, 502, 503, 504, 408]) breakers.record(slot, policy, status);
    assert.equal(breakers.isOpen(slot, policy), false);
    breakers.record(slot, policy, 429);
    assert.equal(breakers.isOpen(slot, policy), true);
  });

  test('a success within the window does not take failures back', () => {
    const { breakers, slot } = setUp();
    const policy = policyOf(2);
    breakers.record(slot, policy, 500);
    breakers.record(slot, policy, 200);
    breakers.record(slot, policy, 500);
    assert.equal(breakers.isOpen(slot, policy), true);
  });

  test('failures count within one cooldown from the first of them', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(3, 30_000);
    breakers.record(slot, policy, 500);
    clock.nowMs += 29_999;
    breakers.record(slot, policy, 500);
    clock.nowMs += 1;
    // A new window: this failure is its first.
    failTimes(breakers, slot, policy, 2);
    assert.equal(breakers.isOpen(slot, policy), false);
    clock.nowMs += 29_999;
    failTimes(breakers, slot, policy, 1);
    assert.equal(breakers.isOpen(slot, policy), true);
  });

  test('the rest runs from the moment of opening; after it one caller becomes the probe', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(2, 30_000);
    breakers.record(slot, policy, 500);
    clock.nowMs += 20_000;
    breakers.record(slot, policy, 500);
    clock.nowMs += 29_999;
    assert.equal(breakers.isOpen(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
    clock.nowMs += 1;
    assert.equal(breakers.isOpen(slot, policy), false);
    assert.equal(breakers.tryPass(slot, policy), true);
    assert.equal(breakers.isOpen(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
  });

  test('a probe that succeeds closes and clears', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(2);
    failTimes(breakers, slot, policy, 2);
    clock.nowMs += 30_000;
    assert.equal(breakers.tryPass(slot, policy), true);
    breakers.record(slot, policy, 200);
    assert.equal(breakers.isOpen(slot, policy), false);
    assert.equal(breakers.tryPass(slot, policy), true);
    failTimes(breakers, slot, policy, 1);
    assert.equal(breakers.isOpen(slot, policy), false);
  });

  test('a probe that fails opens for another cooldown', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(2);
    failTimes(breakers, slot, policy, 2);
    clock.nowMs += 30_000;
    assert.equal(breakers.tryPass(slot, policy), true);
    clock.nowMs += 5000;
    breakers.record(slot, policy, 503);
    clock.nowMs += 29_999;
    assert.equal(breakers.tryPass(slot, policy), false);
    clock.nowMs += 1;
    assert.equal(breakers.tryPass(slot, policy), true);
  });

  test('a probe that never reports is replaced after another cooldown', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(1);
    failTimes(breakers, slot, policy, 1);
    clock.nowMs += 30_000;
    assert.equal(breakers.tryPass(slot, policy), true);
    clock.nowMs += 29_999;
    assert.equal(breakers.tryPass(slot, policy), false);
    clock.nowMs += 1;
    assert.equal(breakers.tryPass(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
  });

  test('answers to calls sent before it opened neither close it nor lengthen the rest', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(1);
    failTimes(breakers, slot, policy, 1);
    clock.nowMs += 10_000;
    breakers.record(slot, policy, 200);
    breakers.record(slot, policy, 500);
    assert.equal(breakers.isOpen(slot, policy), true);
    clock.nowMs += 20_000;
    assert.equal(breakers.tryPass(slot, policy), true);
  });

  test('works across the wrap of its 32-bit clock, and a clock set back brings only a probe', () => {
    const { breakers, slot, clock } = setUp(2 ** 32 * 400 - 10_000);
    const policy = policyOf(2);
    breakers.record(slot, policy, 500);
    clock.nowMs += 15_000;
    breakers.record(slot, policy, 500);
    clock.nowMs += 29_999;
    assert.equal(breakers.tryPass(slot, policy), false);
    clock.nowMs -= 3_600_000;
    assert.equal(breakers.tryPass(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
  });

  test('a thread whose clock reads a little less than the one that opened it waits all the same', () => {
    const { breakers, slot, clock } = setUp();
    const policy = policyOf(2);
    breakers.record(slot, policy, 500);
    clock.nowMs -= 1;
    breakers.record(slot, policy, 500);
    clock.nowMs -= 1;
    assert.equal(breakers.isOpen(slot, policy), true);
    assert.equal(breakers.tryPass(slot, policy), false);
  });

  test('no breaker (slot -1) is closed', () => {
    const { breakers } = setUp();
    const policy = policyOf(1);
    breakers.record(-1, policy, 500);
    assert.equal(breakers.isOpen(-1, policy), false);
    assert.equal(breakers.tryPass(-1, policy), true);
  });

  test('each key has one slot, and keys do not share', () => {
    const buffer = Breakers.allocate();
    const [one, two] = [new Breakers(buffer), new Breakers(buffer)];
    const slots = Array.from({ length: 1000 }, (_, index) => one.slot(`key ${index}`));
    assert.equal(new Set(slots).size, 1000);
    assert.deepEqual(Array.from({ length: 1000 }, (_, index) => two.slot(`key ${index}`)), slots);
  });

  test('when all places are taken the one longest unused goes, and its former key counts as closed without touching the new one', () => {
    const { clock, breakers } = setUp(1_760_000_000_000, 32);
    const policy = policyOf(1, 3_600_000);
    const slots = new Map<string, number>([['workspace config targets[0]', breakers.slot('workspace config targets[0]')]]);
    for (let index = 1; index < 32; index += 1) {
      clock.nowMs += 2000;
      slots.set(`key ${index}`, breakers.slot(`key ${index}`));
    }
    for (const slot of slots.values()) breakers.record(slot, policy, 500);
    clock.nowMs += 2000;
    // All but key 5 are used again: three by looking the slot up, the rest by calls.
    for (const [key, slot] of slots) {
      if (key === 'key 5') continue;
      if (key < 'key 2') breakers.slot(key);
      else breakers.tryPass(slot, policy);
    }
    clock.nowMs += 2000;
    const newcomer = breakers.slot('newcomer');
    const lost = slots.get('key 5')!;
    assert.equal(newcomer & 31, lost & 31);
    assert.notEqual(newcomer, lost);
    for (const slot of [newcomer, lost]) {
      assert.equal(breakers.isOpen(slot, policy), false);
      assert.equal(breakers.tryPass(slot, policy), true);
    }
    breakers.record(lost, policy, 500);
    assert.equal(breakers.isOpen(newcomer, policy), false);
    breakers.record(newcomer, policy, 500);
    assert.equal(breakers.isOpen(newcomer, policy), true);
    assert.equal(breakers.isOpen(lost, policy), false);
    for (const [key, slot] of slots) if (key !== 'key 5') assert.equal(breakers.isOpen(slot, policy), true, key);
    assert.equal(breakers.slot('newcomer'), newcomer);
  });

  test('refuses a number of slots that is not a power of two', () => {
    for (const count of [0, 3, 1000, 131_072, -1, 1.5]) assert.throws(() => Breakers.allocate(count), /power of two/, String(count));
  });

  test('failures of four threads are counted exactly', async () => {
    const buffer = Breakers.allocate(64);
    const policy = policyOf(4 * 20_000 + 1, 30_000);
    await runThreads(4, { buffer, kind: 'fail', rounds: 20_000, policy });
    const breakers = new Breakers(buffer, () => 1000);
    const slot = breakers.slot('shared');
    assert.equal(breakers.isOpen(slot, policy), false);
    breakers.record(slot, policy, 500);
    assert.equal(breakers.isOpen(slot, policy), true);
  });

  test('of four threads exactly one gets each probe', async () => {
    const buffer = Breakers.allocate();
    const policy = policyOf(1, 30_000);
    const breakers = new Breakers(buffer, () => 1000);
    const rounds = 2000;
    for (let round = 0; round < rounds; round += 1) breakers.record(breakers.slot(`probe ${round}`), policy, 500);
    const passed = await runThreads(4, { buffer, kind: 'probe', rounds, policy, nowMs: 31_000 }) as number[][];
    for (let round = 0; round < rounds; round += 1) assert.equal(passed.reduce((sum, thread) => sum + thread[round]!, 0), 1, `probe ${round}`);
  });

  test('four threads that claim slots for the same keys agree', async () => {
    const buffer = Breakers.allocate();
    const answers = await runThreads(4, { buffer, kind: 'claim', rounds: 2000, policy: policyOf(1) }) as number[][];
    assert.equal(new Set(answers[0]).size, 2000);
    assert.ok(answers[0]!.every((slot) => slot >= 0));
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });

  test('threads that claim slots for different keys never get the same one', async () => {
    const tables = Array.from({ length: 1000 }, () => Breakers.allocate(tableSlots));
    const answers = await runThreads(contenders, { buffer: Breakers.allocate(), kind: 'contend', rounds: 0, policy: policyOf(1), tables }) as number[][][];
    const all = Array.from({ length: tableSlots }, (_, index) => index);
    for (let round = 0; round < tables.length; round += 1) {
      // All places, each once, none of them taken from another key.
      assert.deepEqual(answers.flatMap((answer) => answer[round]!).sort((one, other) => one - other), all, `round ${round}`);
    }
  });
}
