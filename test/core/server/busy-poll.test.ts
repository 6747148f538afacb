import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusyPoll } from '../../../core/server/busy-poll.js';

/** A loop and a clock that are turned by hand. */
function bench(spinMs: number) {
  let nowMs = 0;
  let waiting: (() => void) | undefined;
  const poll = new BusyPoll(spinMs, () => nowMs, (work) => { waiting = work; });
  return {
    poll,
    /** Runs the loop until the time is up; the spin turns once in 0.01 ms. */
    advance(ms: number): void {
      const end = nowMs + ms;
      while (waiting !== undefined && nowMs < end) {
        const work = waiting;
        waiting = undefined;
        nowMs += 0.01;
        work();
      }
      nowMs = Math.max(nowMs, end);
    },
  };
}

describe('busy polling', () => {
  it('stays awake while events keep coming within the time, and stops soon after the last', () => {
    const { poll, advance } = bench(0.1);
    for (let count = 0; count < 50; count += 1) {
      poll.touch(1);
      assert.equal(poll.isSpinning, true);
      advance(0.05);
    }
    advance(0.2);
    assert.equal(poll.isSpinning, false);
  });

  it('gives up when nothing comes of it, but for a probe now and then', () => {
    const { poll, advance } = bench(0.1);
    let spins = 0;
    for (let count = 0; count < 640; count += 1) {
      poll.touch(1);
      if (poll.isSpinning) spins += 1;
      advance(5);
    }
    assert.ok(spins >= 5 && spins <= 12, `${spins} spins`);
  });

  it('comes back when it pays again', () => {
    const { poll, advance } = bench(0.1);
    for (let count = 0; count < 10; count += 1) { poll.touch(1); advance(5); }
    for (let count = 0; count < 200; count += 1) { poll.touch(1); advance(0.02); }
    assert.equal(poll.isSpinning, true);
  });

  it('does nothing with many calls open, or when it is switched off', () => {
    const busy = bench(0.1);
    busy.poll.touch(3);
    assert.equal(busy.poll.isSpinning, false);
    const off = bench(0);
    off.poll.touch(1);
    assert.equal(off.poll.isSpinning, false);
  });
});
