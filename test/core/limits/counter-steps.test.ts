// What two threads do to a counter, in each order that comes of one of them being stopped before one of its steps in shared memory while the other one does all
// of its work. The steps are those of Atomics, which are counted here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counters, lost, type CounterKind } from '../../../core/limits/counters.js';
import { lengthOf } from '../../../core/limits/windows.js';

const minuteMs = lengthOf.rpm;
const startMs = 1_760_000_040_000;
const maximum = 5;
const stepsMax = 500;

const names = ['load', 'store', 'add', 'sub', 'exchange', 'compareExchange'] as const;
type Step = (...given: unknown[]) => unknown;
const own = Atomics as unknown as Record<(typeof names)[number], Step>;

/** Runs `work`, and `between` before its step number `at`. Returns whether there was such a step. */
function interleave(work: () => void, at: number, between: () => void): boolean {
  const before = names.map((name) => own[name]);
  let step = 0;
  const put = (steps: readonly Step[]): void => names.forEach((name, index) => { own[name] = steps[index] as Step; });
  put(before.map((plain) => (...given) => {
    step += 1;
    if (step === at) {
      put(before);
      between();
    }
    return plain(...given);
  }));
  try {
    work();
  } finally {
    put(before);
  }
  return step >= at;
}

/** `each` says with what the work is interleaved, until it has no more steps. */
function atEachStep(each: (at: number) => boolean): void {
  let at = 1;
  while (each(at)) {
    at += 1;
    assert.ok(at < stepsMax, 'it ends');
  }
  assert.ok(at > 3, `${at - 1} steps are enough to see something`);
}

/** A thread as serving threads are: it holds the number of its counter, and looks it up again when that is lost. */
class Caller {
  readonly counters: Counters;
  passed = 0;
  slot: number;

  constructor(buffer: SharedArrayBuffer, readonly key: string, readonly clock: { nowMs: number }) {
    this.counters = new Counters(buffer, () => clock.nowMs);
    this.slot = this.counters.slot(key, 'rpm');
  }

  /** `lost` is not counted. */
  take(): number {
    const amount = this.counters.takeRate(this.slot, minuteMs, 1, 1, maximum, this.clock.nowMs);
    if (amount > 0) this.passed += amount;
    return amount;
  }

  call(): void {
    while (this.take() === lost) this.slot = this.counters.slot(this.key, 'rpm');
  }
}

/** Two callers of one counter whose last call was long ago. */
function idle(keys: readonly [string, string] = ['shared', 'shared']) {
  const clock = { nowMs: startMs };
  const buffer = Counters.allocate(1024);
  const callers = keys.map((key) => new Caller(buffer, key, clock)) as [Caller, Caller];
  callers[0].call();
  callers[0].passed = 0;
  clock.nowMs += 3 * minuteMs;
  return { clock, callers, sweeper: new Counters(buffer, () => clock.nowMs) };
}

/** As many as the limit leaves, and one more. */
function drain(...callers: readonly Caller[]): number {
  for (const caller of callers) for (let call = 0; call <= maximum; call += 1) caller.call();
  return callers.reduce((sum, { passed }) => sum + passed, 0);
}

test('a call that takes an idle counter while it is swept counts once', () => {
  atEachStep((at) => {
    const { callers: [caller, other], sweeper } = idle();
    const place = caller.slot & (sweeper.slotCount - 1);
    // Who has to look up waits for the lock, so it only takes here.
    const isDone = interleave(() => sweeper.sweep(place, place + 1), at, () => caller.take());
    assert.equal(drain(caller, other), maximum, `before step ${at} of the sweep`);
    assert.equal(sweeper.rate('shared', 'rpm'), maximum);
    return isDone;
  });
});

test('a counter that is swept, and begun anew by another caller, in the middle of a call keeps what both took', () => {
  atEachStep((at) => {
    const { callers: [caller, other], sweeper } = idle();
    const isDone = interleave(() => caller.call(), at, () => {
      sweeper.sweep();
      other.call();
      other.call();
    });
    assert.equal(drain(other, caller), maximum, `before step ${at} of the call`);
    return isDone;
  });
});

/** Two keys with the same first place in the table. */
const rivals = (() => {
  const table = new Counters(Counters.allocate(1024));
  const places = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const key = `key ${number}`;
    // Each in a table of its own: they stand in their first place.
    const place = new Counters(Counters.allocate(1024)).slot(key, 'rpm');
    const before = places.get(place);
    if (before !== undefined) return [before, key] as const;
    places.set(place, key);
    assert.ok(number < table.slotCount * 2);
  }
})();

for (const kind of ['rpm', 'rps', 'usage'] as const satisfies readonly CounterKind[]) {
  const use = (counters: Counters, nowMs: number): void => {
    const slot = counters.slot(rivals[1], kind);
    if (kind === 'usage') counters.takeUsage(slot, 2, 2, 10);
    else counters.takeRate(slot, lengthOf[kind], 2, 2, 10, nowMs);
  };
  const countOf = (counters: Counters): number | undefined => (kind === 'usage' ? counters.usage(rivals[1])?.count : counters.rate(rivals[1], kind));

  test(`a place that goes to a counter of ${kind} in the middle of a call takes nothing along, and loses nothing`, () => {
    atEachStep((at) => {
      const { clock, callers: [caller], sweeper } = idle([rivals[0], rivals[0]]);
      const isDone = interleave(() => caller.call(), at, () => use(sweeper, clock.nowMs));
      if (!isDone) return false;
      assert.equal(countOf(sweeper), 2, `before step ${at} of the call`);
      assert.equal(drain(caller), maximum, `before step ${at} of the call`);
      assert.equal(countOf(sweeper), 2);
      return true;
    });
  });

  test(`a call that comes while its place goes to a counter of ${kind} counts once`, () => {
    atEachStep((at) => {
      const { clock, callers: [caller, other], sweeper } = idle([rivals[0], rivals[0]]);
      const isDone = interleave(() => use(sweeper, clock.nowMs), at, () => caller.take());
      assert.equal(drain(caller, other), maximum, `before step ${at}`);
      assert.equal(countOf(sweeper), 2, `before step ${at}`);
      return isDone;
    });
  });
}

test('what a call used beyond its estimate is counted once, whatever becomes of its counter meanwhile', () => {
  atEachStep((at) => {
    const { clock, callers: [caller, other], sweeper } = idle();
    const { counters } = caller;
    let isCounted = false;
    const isDone = interleave(() => { isCounted = counters.settleRate(caller.slot, minuteMs, 0, 2, clock.nowMs); }, at, () => {
      sweeper.sweep();
      other.call();
    });
    if (!isCounted) assert.ok(counters.settleRate(counters.slot('shared', 'rpm'), minuteMs, 0, 2, clock.nowMs));
    assert.equal(drain(other, caller), maximum - 2, `before step ${at}`);
    return isDone;
  });
});

test('what is more goes to no other counter that stands in the place by now', () => {
  atEachStep((at) => {
    const { clock, callers: [caller], sweeper } = idle([rivals[0], rivals[0]]);
    const slot = (): number => sweeper.slot(rivals[1], 'rpm');
    const isDone = interleave(() => caller.counters.settleRate(caller.slot, minuteMs, 0, 2, clock.nowMs), at, () => sweeper.takeRate(slot(), minuteMs, 1, 1, maximum, clock.nowMs));
    if (isDone) assert.equal(sweeper.rate(rivals[1], 'rpm'), 1, `before step ${at}`);
    return isDone;
  });
});

test('who holds the lock has died when so many waits came to nothing, however long one of them took', () => {
  const buffer = Counters.allocate(1024);
  const counters = new Counters(buffer);
  Atomics.store(new Int32Array(buffer), 0, 12_345);
  const { wait } = Atomics;
  let waits = 0;
  Atomics.wait = () => {
    waits += 1;
    return 'timed-out';
  };
  try {
    assert.ok(counters.slot('shared', 'rpm') >= 0);
  } finally {
    Atomics.wait = wait;
  }
  assert.equal(waits, 1_000);
  assert.equal(Atomics.load(new Int32Array(buffer), 0), 0);
});
