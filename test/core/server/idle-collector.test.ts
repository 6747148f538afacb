import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { besideRule, bytesUsed, collectAll, collectWhenQuiet, IdleCollector, lookEveryMs, servingRule, type IdleRule } from '../../../core/server/idle-collector.js';

const MiB = 1024 * 1024;

class Thread {
  used = 50 * MiB;
  isIdle = true;
  nowMs = 0;
  collections = 0;
  readonly faults: string[] = [];
  /** Ends the collection that is running. */
  end: (fault: Error | null) => void = () => undefined;
  readonly collector: IdleCollector;

  constructor(rule: IdleRule = servingRule) {
    this.collector = new IdleCollector({
      isIdle: () => this.isIdle,
      bytesUsed: () => this.used,
      collect: (done) => {
        this.collections += 1;
        this.end = done;
      },
      onFault: (fault) => this.faults.push(fault.message),
      now: () => this.nowMs,
    }, rule);
  }

  look(times: number): number {
    for (let count = 0; count < times; count += 1) {
      this.nowMs += 1000;
      this.collector.look();
    }
    return this.collections;
  }
}

describe('the memory of a burst', () => {
  it('is collected when there was no call for some looks, and once', () => {
    const thread = new Thread();
    thread.look(10);
    thread.used = 200 * MiB;
    thread.isIdle = false;
    assert.equal(thread.look(20), 0);
    thread.isIdle = true;
    assert.equal(thread.look(2), 0);
    assert.equal(thread.look(1), 1);
    assert.equal(thread.look(5), 1);
    thread.used = 60 * MiB;
    thread.end(null);
    assert.equal(thread.look(100), 1);
  });

  it('is left where it is when it is little, or held by what lives on', () => {
    const thread = new Thread();
    thread.used = 110 * MiB;
    assert.equal(thread.look(100), 0);
    thread.used = 200 * MiB;
    assert.equal(thread.look(1), 1);
    // Nothing of it could be collected.
    thread.end(null);
    assert.equal(thread.look(100), 1);
    thread.used = 270 * MiB;
    assert.equal(thread.look(1), 2);
  });

  it('of pauses between calls is never collected', () => {
    const thread = new Thread();
    thread.used = 500 * MiB;
    for (let count = 0; count < 50; count += 1) {
      thread.isIdle = count % 3 === 0;
      assert.equal(thread.look(1), 0);
    }
  });

  it('of bursts that come again and again is collected now and then', () => {
    const thread = new Thread();
    for (let burst = 0; burst < 12; burst += 1) {
      thread.used = 300 * MiB;
      thread.look(5);
      thread.used = 60 * MiB;
      thread.end(null);
    }
    assert.ok(thread.collections >= 4 && thread.collections <= 6, `${thread.collections} in a minute`);
  });

  it('that cannot be collected is told, and tried again another time', () => {
    const thread = new Thread();
    thread.used = 200 * MiB;
    assert.equal(thread.look(3), 1);
    thread.end(new Error('no inspector'));
    assert.deepEqual(thread.faults, ['no inspector']);
    thread.used = 300 * MiB;
    assert.equal(thread.look(40), 2);
  });

  it('is not waited for to collect what the start left in a thread beside those that serve calls', () => {
    const thread = new Thread(besideRule);
    thread.isIdle = false;
    assert.equal(thread.look(5), 0);
    thread.isIdle = true;
    assert.equal(thread.look(3), 1);
    thread.end(null);
    assert.equal(thread.look(100), 1);
  });

  it('is waited for in a thread that serves calls: what the start left stays, and its code warm', () => {
    const thread = new Thread();
    assert.equal(thread.look(100), 0);
    thread.used += 70 * MiB;
    assert.equal(thread.look(3), 1);
  });

  it('of a thread beside those that serve calls is collected when it does little', async () => {
    const work: (() => unknown)[] = [];
    const faults: Error[] = [];
    collectWhenQuiet((periodMs, look) => {
      assert.equal(periodMs, lookEveryMs);
      work.push(look);
    }, (fault) => faults.push(fault));
    assert.equal(work.length, 1);
    let garbage: ArrayBuffer[] = [];
    for (let count = 0; count < 50; count += 1) garbage.push(new ArrayBuffer(MiB, { maxByteLength: MiB }));
    const before = bytesUsed();
    assert.equal(garbage.length, 50);
    garbage = [];
    const deadline = AbortSignal.timeout(60_000);
    // Waiting in the loop is being idle.
    while (bytesUsed() > before - 40 * MiB && !deadline.aborted) {
      await new Promise((resolve) => { setTimeout(resolve, 20); });
      work[0]?.();
    }
    assert.ok(bytesUsed() < before - 40 * MiB);
    assert.deepEqual(faults, []);
  });

  it('is really given back', async () => {
    let garbage: ArrayBuffer[] = [];
    for (let count = 0; count < 50; count += 1) garbage.push(new ArrayBuffer(MiB, { maxByteLength: MiB }));
    const before = bytesUsed();
    assert.equal(garbage.length, 50);
    garbage = [];
    await new Promise<void>((resolve, reject) => collectAll((fault) => (fault === null ? resolve() : reject(fault))));
    assert.ok(bytesUsed() < before - 40 * MiB);
  });
});
