import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../../test/support/fast-check.js';
import { nearestRanks } from './nearest-rank.js';

const shares = [0.5, 0.9, 0.95, 0.99];
const bySorting = (values: readonly number[]): number[] => {
  const sorted = [...values].sort((left, right) => left - right);
  return shares.map((share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0);
};

describe('percentiles by nearest rank', () => {
  it('are those of the sorted values, of few and of any', () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.double({ noNaN: true }).map((each) => each + 0)), { maxLength: 80 }), (values) => {
      assert.deepEqual(nearestRanks(Float64Array.from(values), shares), bySorting(values));
    }));
  });

  it('are those of the sorted values, of many in any order', () => {
    const count = 20_000;
    const orders: Readonly<Record<string, (index: number) => number>> = {
      ascending: (index) => index, descending: (index) => count - index, same: () => 7, 'two values': (index) => index % 2, saw: (index) => index % 37, organ: (index) => Math.min(index, count - index), scattered: (index) => Math.imul(index, 0x9e3779b1) >>> 0,
    };
    for (const [name, valueAt] of Object.entries(orders)) {
      const values = Array.from({ length: count }, (_, index) => valueAt(index));
      assert.deepEqual(nearestRanks(Float64Array.from(values), shares), bySorting(values), name);
    }
  });
});
