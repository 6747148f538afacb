// Bytes in chunks of any size: the same whole, and no more memory than twice of it.

import { ByteCollector } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../support/fast-check.js';

/** Memory that `pieces` keep alive, each piece an object of its own. */
function heldBy(pieces: readonly Uint8Array[]): number {
  const buffers = new Set(pieces.map((piece) => piece.buffer));
  return pieces.length * 100 + [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0);
}

describe('collected bytes', () => {
  it('are the same whole however they were cut, kept or lent', () => {
    const cut = fc.array(fc.tuple(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 9_000 })), fc.boolean(), fc.boolean()), { maxLength: 60 });
    fc.assert(fc.property(cut, (cuts) => {
      const collector = new ByteCollector();
      const expected: Buffer[] = [];
      let next = 0;
      for (const [length, isLent, isWindow] of cuts) {
        const read = new Uint8Array(isWindow ? length + 10_000 : length).map(() => (next += 1) & 0xff);
        const chunk = read.subarray(0, length);
        expected.push(Buffer.from(chunk));
        if (isLent) {
          collector.appendCopy(chunk);
          chunk.fill(0);
        } else {
          collector.append(chunk);
        }
        assert.equal(collector.length, expected.reduce((sum, piece) => sum + piece.length, 0));
      }
      assert.ok(Buffer.concat(expected).equals(collector.take()));
      assert.equal(collector.length, 0);
    }), { seed: 1, numRuns: 100 });
  });

  it('take no more than twice their length, whatever they are windows of', () => {
    for (const length of [1, 2, 7, 100, 4_095, 4_096, 10_000]) {
      for (const read of [length, 65_536]) {
        const collector = new ByteCollector();
        // Not filled with zeros: a hundred thousand windows of 64 kB would be minutes of nothing else on a busy machine.
        for (let sent = 0; sent < 100_000; sent += length) collector.append(Buffer.allocUnsafeSlow(Math.max(read, length)).subarray(0, length));
        const { length: all } = collector;
        const held = heldBy(collector.takePieces());
        assert.ok(held <= 2.1 * all, `${held} bytes are held of ${all} in chunks of ${length} of ${read}`);
        if (read > length) break;
      }
    }
  });

  it('take no more than that when small and large chunks alternate', () => {
    const collector = new ByteCollector();
    for (let count = 0; count < 200; count += 1) {
      collector.append(new Uint8Array(1));
      collector.append(new Uint8Array(4_096));
    }
    const { length } = collector;
    assert.ok(heldBy(collector.takePieces()) <= 1.2 * length);
  });

  it('are not copied when they came in one chunk', () => {
    const collector = new ByteCollector();
    const chunk = new Uint8Array(10);
    collector.append(chunk);
    assert.equal(collector.take(), chunk);
    assert.equal(collector.take().length, 0);
  });
});
