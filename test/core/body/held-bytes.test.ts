import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeldBytes, smallBytesMax } from '../../../core/body/held-bytes.js';
import fc from '../../support/fast-check.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** What a thread takes and gives back at a time. */
const leaseBytes = 256 * KiB;

const threadsOf = (count: number, bytesMax: number): HeldBytes[] => {
  const memory = HeldBytes.allocate();
  return Array.from({ length: count }, () => new HeldBytes(memory, bytesMax));
};

describe('the bytes that are held', () => {
  it('are counted over all threads, and refused beyond the limit', () => {
    const [one, two] = threadsOf(2, 8 * MiB) as [HeldBytes, HeldBytes];
    assert.ok(one.take(4 * MiB, false));
    assert.ok(!two.take(4 * MiB, false));
    assert.equal(two.bytes, 0);
    assert.ok(two.take(3 * MiB, false));
    assert.ok(!one.fits(1, false));
    one.give(4 * MiB);
    assert.ok(two.take(3 * MiB, false));
    assert.equal(one.bytes + two.bytes, 6 * MiB);
  });

  it('of large bodies leave an eighth to small ones', () => {
    const [one, two] = threadsOf(2, 8 * MiB) as [HeldBytes, HeldBytes];
    assert.equal(one.largestBytes, 7 * MiB);
    assert.ok(one.take(one.largestBytes, false));
    assert.ok(!two.take(leaseBytes, false));
    for (let index = 0; index < MiB / smallBytesMax; index += 1) assert.ok(two.take(smallBytesMax, true), `small body ${index}`);
    assert.ok(!two.take(1, true));
    assert.ok(!two.fits(1, true));
  });

  it('given back are room for other threads, but for one lease', () => {
    const [one, two] = threadsOf(2, 8 * MiB) as [HeldBytes, HeldBytes];
    for (let index = 0; index < 100; index += 1) assert.ok(one.take(10 * KiB, true));
    for (let index = 0; index < 100; index += 1) one.give(10 * KiB);
    assert.equal(one.bytes, 0);
    assert.equal(one.leasedBytes, leaseBytes);
    assert.ok(two.take(7 * MiB - leaseBytes, false));
  });

  it('are never more than the limit, whoever takes and gives, and none at the end', () => {
    const step = fc.record({ thread: fc.nat(2), bytes: fc.oneof(fc.integer({ min: 1, max: 70 * KiB }), fc.integer({ min: 1, max: 3 * MiB })), givesFirst: fc.boolean() });
    fc.assert(fc.property(fc.integer({ min: 1, max: 64 }), fc.array(step, { maxLength: 60 }), (leases, steps) => {
      const bytesMax = leases * leaseBytes;
      const threads = threadsOf(3, bytesMax);
      const taken: [HeldBytes, number][] = [];
      const held = (): number => threads.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const { thread, bytes, givesFirst } of steps) {
        const from = threads[thread] as HeldBytes;
        if (givesFirst) {
          const [owner, count] = taken.shift() ?? [from, 0];
          owner.give(count);
        }
        const before = held();
        const fits = from.fits(bytes, bytes <= smallBytesMax);
        const isTaken = from.take(bytes, bytes <= smallBytesMax);
        assert.equal(isTaken, fits);
        if (isTaken) taken.push([from, bytes]);
        assert.equal(held(), before + (isTaken ? bytes : 0));
        assert.ok(held() <= bytesMax);
        assert.ok(from.leasedBytes <= bytesMax && from.leasedBytes >= held());
      }
      for (const [owner, count] of taken) owner.give(count);
      assert.equal(held(), 0);
      assert.ok((threads[0] as HeldBytes).leasedBytes <= threads.length * leaseBytes);
    }));
  });
});
