import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkerPool, workersMaxOf, type WorkerPoolOptions } from '../../../core/workers/pool.js';
import { isWorkerError } from '../../../core/workers/worker-error.js';
import { arrivals, closedGate, open } from './gate.js';

type Broken = typeof import('./broken-module.js');
type Tasks = typeof import('./task-module.js');

const module = new URL('./broken-module.js', import.meta.url);
const taskModule = new URL('./task-module.js', import.meta.url);
const longMs = 30_000;
/** How long a call waits until another worker is started for it. */
const patienceMs = 10;
const shortMs = 200;

async function withPool(options: WorkerPoolOptions, work: (pool: WorkerPool, calls: ReturnType<typeof proxyOf>) => Promise<void>): Promise<void> {
  const pool = new WorkerPool(1, options);
  try {
    await work(pool, proxyOf(pool));
  } finally {
    await pool.close();
  }
}
const proxyOf = (pool: WorkerPool, timeoutMs = longMs) => pool.proxy<Broken>(module, { timeoutMs });
const codeOf = (result: PromiseSettledResult<unknown>): string => (result.status === 'rejected' && isWorkerError(result.reason) ? result.reason.code : result.status);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => { setTimeout(resolve, 2); });
}

describe('the number of workers', () => {
  it('is bounded over all threads of a process', () => {
    for (const threads of [1, 2, 3, 8, 64, 1000]) {
      assert.ok(workersMaxOf(threads) >= 2 && workersMaxOf(threads) <= 8, `${threads}`);
    }
    assert.equal(workersMaxOf(1000), 2);
  });

  it('is none before something is used, and one for short calls', async () => {
    const unused = new WorkerPool(1);
    assert.equal(unused.state().workers, 0);
    await unused.close();
    await withPool({ workersMax: 3 }, async (pool, calls) => {
      await calls.whereAmI();
      const { workers } = pool.state();
      let slow = 0;
      for (let count = 0; count < 50; count += 1) {
        const startedAtMs = performance.now();
        await calls.whereAmI();
        if (performance.now() - startedAtMs >= patienceMs) slow += 1;
      }
      // What took long on a busy machine may have brought another one each.
      assert.ok(pool.state().workers <= workers + slow, `${pool.state().workers} workers, ${slow} slow calls`);
    });
  });

  it('goes up to the most when calls take long, and not beyond', async () => {
    await withPool({ workersMax: 2, callsPerWorker: 1 }, async (pool, calls) => {
      const gate = closedGate();
      const blocked = [1, 2, 3].map((value) => calls.block(gate, value));
      await arrivals(gate, 2);
      assert.deepEqual([pool.state().workers, pool.state().running, pool.state().queued], [2, 2, 1]);
      open(gate);
      assert.deepEqual(await Promise.all(blocked), [1, 2, 3]);
    });
  });

  it('goes down to one when nothing is to do', async () => {
    await withPool({ workersMax: 3, callsPerWorker: 1, idleMs: 5 }, async (pool, calls) => {
      const gate = closedGate();
      const blocked = [calls.block(gate), calls.block(gate)];
      await arrivals(gate, 2);
      assert.ok(pool.state().workers >= 2);
      open(gate);
      await Promise.all(blocked);
      await until(() => pool.state().workers === 1);
      assert.equal(typeof await calls.whereAmI(), 'number');
    });
  });
});

describe('a call behind a long one', () => {
  it('that was already given to the same worker is taken back, and done by another', async () => {
    await withPool({ workersMax: 2, callsPerWorker: 4 }, async (pool, calls) => {
      await calls.whereAmI();
      const gate = closedGate();
      const blocked = calls.blockedThread(gate);
      const behind = [calls.whereAmI(), calls.whereAmI(), calls.whereAmI()];
      assert.equal(pool.state().running, 4);
      const others = await Promise.all(behind);
      assert.equal(pool.state().running, 1);
      open(gate);
      assert.ok(!others.includes(await blocked));
    });
  });
});

describe('a worker that is held up by what a call left behind', () => {
  it('gets calls again when it is free', async () => {
    await withPool({ workersMax: 1 }, async (pool, calls) => {
      const gate = closedGate();
      const thread = await calls.leaveBlock(gate);
      await arrivals(gate, 1);
      const later = calls.whereAmI();
      await until(() => pool.state().queued === 1);
      open(gate);
      assert.equal(await later, thread);
    });
  });

  it('is ended when it is not free for long', async () => {
    await withPool({ workersMax: 1, silentMs: 30 }, async (pool, calls) => {
      const gate = closedGate();
      const thread = await calls.leaveBlock(gate);
      await arrivals(gate, 1);
      assert.notEqual(await calls.whereAmI(), thread);
      assert.equal(pool.state().crashed, 1);
    });
  });
});

describe('a pool without room', () => {
  it('refuses at once, and what waits still gets its turn', async () => {
    await withPool({ workersMax: 1, callsPerWorker: 4, queuedMax: 10 }, async (pool, calls) => {
      await calls.whereAmI();
      const gate = closedGate();
      const all = Array.from({ length: 20 }, (_, index) => calls.block(gate, index));
      await assert.rejects(all.at(-1) ?? Promise.resolve(), { code: 'saturated', message: 'the worker pool is full: 10 calls wait; try again' });
      assert.deepEqual([pool.state().running, pool.state().queued, pool.state().saturated], [4, 10, 6]);
      open(gate);
      const results = await Promise.allSettled(all);
      assert.deepEqual(results.map(codeOf), [...Array<string>(14).fill('fulfilled'), ...Array<string>(6).fill('saturated')]);
    });
  });

  it('refuses at once what would wait longer than it may take', async () => {
    await withPool({ workersMax: 1 }, async (pool, calls) => {
      const tasks = pool.proxy<Tasks>(taskModule, { timeoutMs: longMs });
      for (let count = 0; count < 4; count += 1) await tasks.spinFor(30);
      const gate = closedGate();
      const blocked = [calls.block(gate)];
      await arrivals(gate, 1);
      for (let count = 0; count < 100; count += 1) blocked.push(calls.block(gate));
      await assert.rejects(proxyOf(pool, 50).whereAmI(), { code: 'saturated', message: /^the worker pool is full: the wait would be about \d+ ms, and the call may take 50 ms; try again$/ });
      assert.equal(pool.state().saturated, 1);
      open(gate);
      await Promise.all(blocked);
    });
  });
});

describe('a call whose worker is ended by others', () => {
  it('is begun anew twice, and then has an error of its own', async (context) => {
    await withPool({ workersMax: 1, breaker: { endedMax: 99, windowMs: 1000, refusedMs: 1000 } }, async (pool, calls) => {
      const short = proxyOf(pool, shortMs);
      await calls.whereAmI();
      const [aside, never] = [closedGate(), closedGate()];
      context.mock.timers.enable({ apis: ['setTimeout'] });
      const interrupted = assert.rejects(calls.waitAside(aside), { code: 'interrupted', message: 'its worker was ended 3 times because of other calls' });
      for (let round = 1; round <= 3; round += 1) {
        await arrivals(aside, round);
        const refused = assert.rejects(short.never(never), { code: 'timeout' });
        await arrivals(never, round);
        context.mock.timers.tick(shortMs);
        await refused;
      }
      await interrupted;
      context.mock.timers.reset();
      assert.equal(pool.state().timedOut, 3);
    });
  });
});

describe('a caller that leaves', () => {
  it('is answered at once; what waits is dropped, and what runs comes to its end', async () => {
    await withPool({ workersMax: 1, callsPerWorker: 2 }, async (pool, calls) => {
      const thread = await calls.whereAmI();
      const [gate, late] = [closedGate(), closedGate()];
      const leaving = new AbortController();
      const options = { timeoutMs: longMs, signal: leaving.signal };
      const running = pool.call(module, 'block', [gate], options);
      await arrivals(gate, 1);
      const given = pool.call(module, 'block', [late], options);
      const queued = pool.call(module, 'block', [late], options);
      leaving.abort();
      for (const call of [running, given, queued]) await assert.rejects(call, { code: 'aborted' });
      await assert.rejects(pool.call(module, 'whereAmI', [], options), { code: 'aborted' });
      open(gate);
      assert.equal(await calls.whereAmI(), thread);
      assert.equal(Atomics.load(new Int32Array(late), 1), 0);
      assert.deepEqual([pool.state().running, pool.state().queued, pool.state().timedOut], [0, 0, 0]);
    });
  });

  it('does not keep a worker for longer than the call may take', async (context) => {
    await withPool({ workersMax: 1 }, async (pool, calls) => {
      const thread = await calls.whereAmI();
      const gate = closedGate();
      const leaving = new AbortController();
      context.mock.timers.enable({ apis: ['setTimeout'] });
      const running = pool.call(module, 'block', [gate], { timeoutMs: shortMs, signal: leaving.signal });
      await arrivals(gate, 1);
      leaving.abort();
      await assert.rejects(running, { code: 'aborted' });
      context.mock.timers.tick(shortMs);
      context.mock.timers.reset();
      assert.notEqual(await calls.whereAmI(), thread);
      assert.equal(pool.state().timedOut, 1);
    });
  });
});

describe('closing', () => {
  it('rejects what runs and what waits, and ends blocked workers', async () => {
    const pool = new WorkerPool(1, { workersMax: 1, callsPerWorker: 2 });
    const calls = proxyOf(pool);
    const gate = closedGate();
    const all = Array.from({ length: 4 }, () => calls.block(gate));
    await arrivals(gate, 1);
    const closing = pool.close();
    assert.deepEqual((await Promise.allSettled(all)).map(codeOf), ['closed', 'closed', 'closed', 'closed']);
    await closing;
    await assert.rejects(calls.whereAmI(), { code: 'closed' });
    await pool.close();
    assert.equal(pool.state().workers, 0);
  });

  it('is harmless when nothing ever ran, and while a worker starts', async () => {
    const unused = new WorkerPool(1);
    await unused.close();
    await unused.close();
    const starting = new WorkerPool(1);
    const call = starting.proxy<Broken>(module).whereAmI();
    const [result] = await Promise.allSettled([call, starting.close()]);
    assert.equal(codeOf(result), 'closed');
  });
});

describe('versions of a module', () => {
  it('are told apart by their address, and the oldest are freed with their worker', async () => {
    await withPool({ workersMax: 1 }, async (pool) => {
      const version = (number: number) => pool.proxy<Tasks>(new URL(`${taskModule.href}?v=${number}`), { timeoutMs: longMs });
      const thread = await version(1).whereAmI();
      assert.equal(await version(1).countCalls(), 1);
      assert.equal(await version(2).countCalls(), 1);
      assert.equal(await version(1).countCalls(), 2);
      assert.equal(await version(1).whereAmI(), thread);
      for (let number = 3; number <= 10; number += 1) await version(number).add(1, 1);
      assert.notEqual(await version(10).whereAmI(), thread);
    });
  });
});
