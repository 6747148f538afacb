import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { SlicedStore } from '../../../core/control-plane/sliced-store.js';

describe('a long range of the store', () => {
  it('gives others their turn, and all rows in order', async () => {
    const store = await fakeHost().store('rows');
    const key = (index: number): string => `row/${String(index).padStart(5, '0')}`;
    await store.write(Array.from({ length: 2_000 }, (_, index) => ({ op: 'put' as const, key: key(index), value: Buffer.from('x') })));
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const keys: string[] = [];
    for await (const row of new SlicedStore(store).range({ from: 'row/', to: 'row0', limit: 5_000 })) keys.push(row.key);
    isOver = true;
    assert.deepEqual(keys, Array.from({ length: 2_000 }, (_, index) => key(index)));
    assert.ok(turns >= 8, `${turns} turns`);
  });
});
