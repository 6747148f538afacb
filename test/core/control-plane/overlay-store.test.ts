import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import type { Store, Write } from '@gateway/plugin-sdk';
import { OverlayStore } from '../../../core/control-plane/resources/declarations/overlay-store.js';

const put = (key: string, value: string, ifVersion?: number): Write => ({ op: 'put', key, value: Buffer.from(value), ...(ifVersion === undefined ? {} : { ifVersion }) });

async function rowsOf(store: Store, from: string, to: string, limit: number, reverse: boolean): Promise<string[]> {
  const rows: string[] = [];
  for await (const { key, value, version } of store.range({ from, to, limit, reverse })) rows.push(`${key}=${Buffer.from(value).toString()}@${version}`);
  return rows;
}

describe('a store on top of another', () => {
  it('answers as a store does that took the same writes, and leaves the one below as it is', async () => {
    const seed = 20_300_115;
    let state = seed;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor(state / 65_536) % below;
    };
    const [plain, below] = [await fakeHost().store('plain'), await fakeHost().store('below')];
    const keys = Array.from({ length: 20 }, (_, index) => `row/${String(index).padStart(2, '0')}`);
    for (const key of keys.filter((_, index) => index % 3 === 0)) for (const store of [plain, below]) await store.write([put(key, 'below')]);
    const untouched = await rowsOf(below, '', '~', 1_000, false);
    const overlay = new OverlayStore(below);
    for (let step = 0; step < 300; step += 1) {
      const batch: Write[] = [];
      for (let count = random(3); count >= 0; count -= 1) {
        const key = keys[random(keys.length)] ?? '';
        const guard = random(2) === 0 ? {} : { ifVersion: random(3) };
        if (!batch.some((each) => each.key === key)) batch.push(random(3) === 0 ? { op: 'remove', key, ...guard } : { ...put(key, `step ${step}`), ...guard });
      }
      assert.equal(await overlay.write(batch), await plain.write(batch), `seed ${seed}, step ${step}`);
      const [from, to] = [keys[random(10)] ?? '', keys[10 + random(10)] ?? ''];
      const [limit, isReverse] = [1 + random(12), random(2) === 0];
      assert.deepEqual(await rowsOf(overlay, from, to, limit, isReverse), await rowsOf(plain, from, to, limit, isReverse), `seed ${seed}, step ${step}`);
      const key = keys[random(keys.length)] ?? '';
      assert.equal((await overlay.get(key))?.version, (await plain.get(key))?.version);
    }
    assert.deepEqual(await rowsOf(below, '', '~', 1_000, false), untouched);
  });
});
