import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { after, describe, it } from 'node:test';
import type { Storage, StoragePlugin } from '../src/kinds/storage.js';
import type { Row, Store, Write } from '../src/store.js';
import { fakeHost } from './fake-host.js';

export interface ConformStorageOptions {
  /** Rows outlive the instance: they are there when the same parameters are used again. */
  readonly isDurable?: boolean;
}

/** Number of tries of a write that others keep winning; more means that nobody ever wins. */
const triesMax = 1000;

/**
 * Registers the tests that every storage plugin has to pass. `params` are given to each `create()`; a function is called for each
 * instance, so that the tests of a durable storage may start empty.
 */
export function conformStorage(plugin: StoragePlugin, params: object | (() => object), options: ConformStorageOptions = {}): void {
  const made: Storage[] = [];
  const nextParams = (): object => (typeof params === 'function' ? params() : params);
  const create = async (values: object): Promise<Storage> => {
    const storage = await plugin.create(values, fakeHost());
    made.push(storage);
    return storage;
  };
  let names = 0;
  /** A store that no other test uses. */
  const freshStore = async (): Promise<Store> => (await create(nextParams())).open(`conform-${names += 1}`);

  describe(`storage plugin: ${plugin.title}`, () => {
    after(async () => { for (const storage of made) await storage.close?.(); });

    it('is defined with a title, a description and an object schema', () => {
      assert.equal(plugin.kind, 'storage');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
    });

    it('counts the versions of a row from 1, and starts again after a removal', async () => {
      const store = await freshStore();
      assert.equal(await store.get('a'), undefined);
      for (let version = 1; version <= 3; version += 1) {
        assert.equal(await store.write([put('a', `value ${version}`)]), true);
        assert.deepEqual(await read(store, 'a'), ['a', `value ${version}`, version]);
      }
      assert.equal(await store.write([remove('a')]), true);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.write([put('a', 'again')]), true);
      assert.deepEqual(await read(store, 'a'), ['a', 'again', 1]);
    });

    it('gives back the bytes it was given: none, every value, and a mebibyte', async () => {
      const store = await freshStore();
      const every = Uint8Array.from({ length: 256 }, (_, index) => index);
      const large = new Uint8Array(1024 * 1024).fill(0xa5);
      await store.write([{ op: 'put', key: 'none', value: new Uint8Array(0) }, { op: 'put', key: 'every', value: every }, { op: 'put', key: 'large', value: large }]);
      assert.equal((await store.get('none'))?.value.length, 0);
      assert.deepEqual([...(await store.get('every'))?.value ?? []], [...every]);
      assert.equal(Buffer.compare((await store.get('large'))?.value ?? new Uint8Array(0), large), 0);
    });

    it('keeps its rows when the caller goes on using the buffers', async () => {
      const store = await freshStore();
      const value = new Uint8Array([1, 2, 3]);
      await store.write([{ op: 'put', key: 'a', value }]);
      value.fill(9);
      const row = await store.get('a');
      assert.deepEqual([...row?.value ?? []], [1, 2, 3]);
      await store.write([{ op: 'put', key: 'a', value: new Uint8Array([4, 4, 4]) }]);
      assert.deepEqual([...row?.value ?? []], [1, 2, 3]);
    });

    it('writes nothing at all when one ifVersion of a batch does not hold', async () => {
      const store = await freshStore();
      await store.write([put('a', '1'), put('b', '1'), put('b', '2')]);
      const before = await store.revision();
      assert.equal(await store.write([put('c', '1'), remove('a'), put('b', '3', 1)]), false);
      assert.equal(await store.write([put('c', '1'), put('a', '2', 0)]), false);
      assert.equal(await store.write([remove('a'), remove('c', 1)]), false);
      assert.deepEqual(await keysOf(store), ['a', 'b']);
      assert.deepEqual(await read(store, 'b'), ['b', '2', 2]);
      assert.equal(await store.revision(), before);
      assert.equal(await store.write([put('c', '1', 0), remove('a', 1), put('b', '3', 2)]), true);
      assert.deepEqual(await keysOf(store), ['b', 'c']);
      assert.deepEqual(await read(store, 'b'), ['b', '3', 3]);
    });

    it('applies a batch in its order, each condition to what the batch did before it', async () => {
      const store = await freshStore();
      assert.equal(await store.write([put('a', '1', 0), put('a', '2', 1), remove('a', 2), put('a', '3', 0)]), true);
      assert.deepEqual(await read(store, 'a'), ['a', '3', 1]);
    });

    it('takes an empty batch, and the removal of a key that is not there', async () => {
      const store = await freshStore();
      assert.equal(await store.write([]), true);
      assert.equal(await store.write([remove('absent')]), true);
      assert.equal(await store.write([remove('absent', 0)]), true);
    });

    it('refuses a put without a value, an empty key and a key that is too long, and writes nothing of their batch', async () => {
      const store = await freshStore();
      for (const bad of [{ op: 'put', key: 'b' } as const, put('', 'x'), put('k'.repeat(100_000), 'x'), put('\ud800', 'x')]) {
        await assert.rejects(async () => store.write([put('a', '1'), bad]));
      }
      assert.deepEqual(await keysOf(store), []);
      assert.equal(await store.write([put('k'.repeat(1000), 'fits')]), true);
    });

    it('orders keys by their UTF-8 bytes, from inclusive to exclusive, both ways', async () => {
      const store = await freshStore();
      // U+1F600 is below U+FFFD in UTF-16 and above it in UTF-8.
      const sorted = ['\u0000', '\u0001a', '!', 'a', 'a\u0000', 'a!', 'aa', 'b', 'revision', 'é', '日', '\ufffd', '😀'];
      await store.write([...sorted].reverse().map((key) => put(key, key)));
      assert.deepEqual(await keysOf(store), sorted);
      assert.deepEqual(await keysOf(store, { reverse: true }), [...sorted].reverse());
      for (let from = 0; from < sorted.length; from += 3) {
        for (let to = from; to < sorted.length; to += 2) {
          const bounds = { from: sorted[from] ?? '', to: sorted[to] ?? '' };
          assert.deepEqual(await keysOf(store, bounds), sorted.slice(from, to));
          assert.deepEqual(await keysOf(store, { ...bounds, reverse: true }), sorted.slice(from, to).reverse());
        }
      }
      assert.deepEqual(await keysOf(store, { limit: 3 }), sorted.slice(0, 3));
      assert.deepEqual(await keysOf(store, { limit: 3, reverse: true }), sorted.slice(-3).reverse());
      assert.deepEqual(await keysOf(store, { limit: 0 }), []);
      assert.deepEqual(await keysOf(store, { from: 'b', to: 'a' }), []);
    });

    it('reads a long range whole while rows before and behind the reader change', async () => {
      const store = await freshStore();
      const keys = Array.from({ length: 1500 }, (_, index) => `key-${String(index).padStart(5, '0')}`);
      await store.write(keys.map((key) => put(key, 'x'.repeat(50))));
      for (const reverse of [false, true]) {
        const seen: string[] = [];
        for await (const row of store.range({ from: 'key-', to: 'key.', limit: 10_000, reverse })) {
          seen.push(row.key);
          if (seen.length % 400 === 0) await store.write([put(row.key, 'changed'), put(`key-${seen.length}-between-${reverse}`, 'new')]);
        }
        const original = seen.filter((key) => !key.includes('between'));
        assert.deepEqual(original, reverse ? [...keys].reverse() : keys);
        assert.equal(new Set(seen).size, seen.length);
      }
    });

    it('loses no update of many writers that check versions', async () => {
      const store = await freshStore();
      const increment = async (): Promise<void> => {
        for (let tries = 0; tries < triesMax; tries += 1) {
          const row = await store.get('n');
          const count = row === undefined ? 0 : Number(textOf(row));
          if (await store.write([put('n', String(count + 1), row?.version ?? 0)])) return;
        }
        assert.fail(`no write won in ${triesMax} tries`);
      };
      await Promise.all(Array.from({ length: 40 }, increment));
      assert.deepEqual(await read(store, 'n'), ['n', '40', 40]);
    });

    it('moves the revision with each commit, alike for every store of the name', async () => {
      const storage = await create(nextParams());
      const [left, right, other] = [await storage.open('shared'), await storage.open('shared'), await storage.open('other')];
      const otherBefore = await other.revision();
      let last = await left.revision();
      for (let round = 0; round < 3; round += 1) {
        await (round % 2 === 0 ? left : right).write([put('a', String(round))]);
        const revision = await left.revision();
        assert.ok(revision > last, `${revision} after ${last}`);
        assert.equal(await right.revision(), revision);
        last = revision;
      }
      assert.deepEqual(await read(right, 'a'), ['a', '2', 3]);
      assert.equal(await other.get('a'), undefined);
      assert.equal(await other.revision(), otherBefore);
      await left.close?.();
      assert.deepEqual(await read(right, 'a'), ['a', '2', 3]);
    });

    it('counts the rows of a range, where it does, as it reads them', async () => {
      const store = await freshStore();
      if (store.count === undefined) return;
      await store.write(['a', 'b', 'b/1', 'b/2', 'ä', 'c'].map((key) => put(key, 'x')));
      for (const [from, to, rows] of [['a', 'z', 5], ['b', 'c', 3], ['b/', 'b0', 2], ['', '\u{10ffff}', 6], ['c', 'b', 0], ['b', 'b', 0], ['d', 'e', 0]] as const) {
        assert.equal(await store.count({ from, to }), rows, `${from} to ${to}`);
      }
      await store.write([remove('b/1')]);
      assert.equal(await store.count({ from: 'b/', to: 'b0' }), 1);
    });

    it('reports a size, where it does, that follows the rows up and down', async () => {
      const store = await freshStore();
      if (store.size === undefined) return;
      const empty = await store.size();
      const batch = Array.from({ length: 64 }, (_, index) => `row-${index}`);
      await store.write(batch.map((key) => put(key, 'x'.repeat(20_000))));
      const full = await store.size();
      assert.ok(full - empty >= 64 * 20_000, `${empty} -> ${full}`);
      await store.write(batch.slice(1).map((key) => remove(key)));
      assert.ok(await store.size() < full / 2);
    });

    it('does what a plain map does, over random batches', async () => {
      const seed = (Date.now() ^ (process.pid << 8)) >>> 0;
      const store = await freshStore();
      const model = new Map<string, { value: string; version: number }>();
      const random = lehmer(seed);
      for (let round = 0; round < 150; round += 1) {
        const next = structuredClone(model);
        let isHeld = true;
        const batch: Write[] = [];
        for (let count = Math.floor(random() * 5); count >= 0; count -= 1) {
          const key = `k${Math.floor(random() * 12)}`;
          const version = next.get(key)?.version ?? 0;
          const ifVersion = random() < 0.5 ? undefined : random() < 0.8 ? version : version + 1;
          if (ifVersion !== undefined && ifVersion !== version) isHeld = false;
          if (random() < 0.3) {
            batch.push(remove(key, ifVersion));
            next.delete(key);
          } else {
            batch.push(put(key, `${round}`, ifVersion));
            next.set(key, { value: `${round}`, version: version + 1 });
          }
        }
        assert.equal(await store.write(batch), isHeld, `seed ${seed}, round ${round}`);
        if (isHeld) {
          model.clear();
          for (const [key, row] of next) model.set(key, row);
        }
        const rows: unknown[] = [];
        for await (const row of store.range({ from: '', to: '\u{10ffff}', limit: 100 })) rows.push([row.key, textOf(row), row.version]);
        const expected = [...model].map(([key, row]) => [key, row.value, row.version]).sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
        assert.deepEqual(rows, expected, `seed ${seed}, round ${round}`);
      }
    });

    it('may be closed twice', async () => {
      const storage = await create(nextParams());
      const store = await storage.open('closing');
      await store.write([put('a', '1')]);
      await store.close?.();
      await store.close?.();
      await storage.close?.();
      await storage.close?.();
    });

    it('keeps rows, versions and revision over a restart, where it is durable', async () => {
      if (options.isDurable !== true) return;
      const values = nextParams();
      const before = await create(values);
      const first = await before.open('kept');
      await first.write([put('a', '1'), put('b', '1')]);
      await first.write([put('a', '2'), remove('b')]);
      const revision = await first.revision();
      await before.close?.();
      const second = await (await create(values)).open('kept');
      assert.deepEqual(await keysOf(second), ['a']);
      assert.deepEqual(await read(second, 'a'), ['a', '2', 2]);
      assert.equal(await second.revision(), revision);
    });
  });
}

const put = (key: string, value: string, ifVersion?: number): Write =>
  ({ op: 'put', key, value: Buffer.from(value), ...(ifVersion === undefined ? {} : { ifVersion }) });
const remove = (key: string, ifVersion?: number): Write => ({ op: 'remove', key, ...(ifVersion === undefined ? {} : { ifVersion }) });
const textOf = (row: Row): string => Buffer.from(row.value).toString();

async function read(store: Store, key: string): Promise<[string, string, number] | undefined> {
  const row = await store.get(key);
  return row === undefined ? undefined : [row.key, textOf(row), row.version];
}

async function keysOf(store: Store, options: { from?: string; to?: string; limit?: number; reverse?: boolean } = {}): Promise<string[]> {
  const keys: string[] = [];
  for await (const row of store.range({ from: '', to: '\u{10ffff}', limit: 10_000, ...options })) keys.push(row.key);
  return keys;
}

/** Lehmer's generator with Park and Miller's constants. */
function lehmer(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
