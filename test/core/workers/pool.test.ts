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
    // One worker: on a busy machine a second one would be started, with a module of its own.
    const single = new WorkerPool(1, { workersMax: 1 });
    const first = await single.proxy<Tasks>(module).countCalls();
    assert.equal(await single.proxy<Tasks>(module).countCalls(), first + 1);
    await single.close();
  });

  it('clones what crosses', async () => {
    const list = [1];
    assert.equal(await tasks.change(list), 2);
    assert.deepEqual(list, [1]);
  });

  it('gives the same function for a name each time, and is not a promise itself', async () => {
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
    await assert.rejects(wrong.add(() => 1), { name: 'WorkerError', code: 'uncloneable' });
    assert.equal(await tasks.add(1, 1), 2);
  });
});
