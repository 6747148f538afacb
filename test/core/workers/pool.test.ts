import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { threadId } from 'node:worker_threads';
import { WorkerPool } from '../../../core/workers/pool.js';

type Tasks = typeof import('./task-module.js');

const module = new URL('./task-module.js', import.meta.url);
const pool = new WorkerPool(1);
const tasks = pool.proxy<Tasks>(module);
after(() => pool.close());

describe('the worker pool', () => {
  it('calls the exported functions of a module in another thread', async () => {
    assert.equal(await tasks.add(2, 3), 5);
    assert.equal(await tasks.later('text'), 'TEXT');
    assert.notEqual(await tasks.whereAmI(), threadId);
  });

  it('imports a module once in each thread', async () => {
    const first = await tasks.countCalls();
    assert.equal(await pool.proxy<Tasks>(module).countCalls(), first + 1);
  });

  it('clones what crosses', async () => {
    const list = [1];
    assert.equal(await tasks.change(list), 2);
    assert.deepEqual(list, [1]);
  });

  it('gives the same function for a name each time, and is no promise itself', async () => {
    assert.equal(tasks.add, tasks.add);
    assert.equal(await (async () => tasks)(), tasks);
  });

  it('rejects with the error that the function threw', async () => {
    await assert.rejects(tasks.refuse('too far'), { name: 'RangeError', message: 'too far' });
    await assert.rejects(tasks.refuseLater('too late'), { message: 'too late' });
    assert.equal(await tasks.add(1, 1), 2);
  });

  it('rejects when there is no such function or module', async () => {
    const wrong = pool.proxy<{ missing(): void; notAFunction(): void }>(module);
    await assert.rejects(wrong.missing(), /task-module\.js exports no function missing$/);
    await assert.rejects(wrong.notAFunction(), /exports no function notAFunction$/);
    await assert.rejects(pool.proxy<Tasks>(new URL('./no-such-module.js', import.meta.url)).add(1, 1), /Cannot find module/);
    assert.equal(await tasks.add(1, 1), 2);
  });

  it('rejects what cannot be cloned', async () => {
    const wrong = pool.proxy<{ add(value: unknown): number }>(module);
    await assert.rejects(wrong.add(() => 1), { name: 'DataCloneError' });
    assert.equal(await tasks.add(1, 1), 2);
  });
});

describe('a worker that breaks', () => {
  it('fails its calls and is replaced; the process goes on', async () => {
    const own = new WorkerPool(1);
    const broken = own.proxy<Tasks>(module);
    try {
      const before = await broken.whereAmI();
      await assert.rejects(broken.breakThread(), /from nowhere/);
      const between = await broken.whereAmI();
      assert.notEqual(between, before);
      await assert.rejects(broken.leave(), /exit/);
      assert.equal(await broken.add(2, 2), 4);
    } finally {
      await own.close();
    }
  });
});

describe('a full queue', () => {
  it('is an error at once, and the calls in it still get their turn', async () => {
    const own = new WorkerPool(1);
    const shared = new SharedArrayBuffer(4);
    const { waitFor } = own.proxy<Tasks>(module);
    try {
      let done = 0;
      const faults: Error[] = [];
      const calls = Array.from({ length: 1100 }, () => waitFor(shared).then(() => { done += 1; }, (fault: Error) => { faults.push(fault); }));
      await Promise.race(calls);
      assert.ok(faults.length >= 90 && faults.length <= 100, `${faults.length} refused`);
      assert.equal(done, 0);
      assert.match(faults[0]?.message ?? '', /queue is at limit/i);
      Atomics.store(new Int32Array(shared), 0, 1);
      await Promise.all(calls);
      assert.equal(done + faults.length, 1100);
    } finally {
      Atomics.store(new Int32Array(shared), 0, 1);
      await own.close();
    }
  });
});

describe('closing the pool', () => {
  it('is harmless when nothing ever ran, and twice', async () => {
    const own = new WorkerPool(1);
    await own.close();
    await own.close();
    const used = new WorkerPool(1);
    assert.equal(await used.proxy<Tasks>(module).add(1, 2), 3);
    await used.close();
    await used.close();
  });
});
