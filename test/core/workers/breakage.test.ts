import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { WorkerPool, type WorkerPoolOptions } from '../../../core/workers/pool.js';
import { isWorkerError } from '../../../core/workers/worker-error.js';
import { arrivals, closedGate, open } from './gate.js';

type Broken = typeof import('./broken-module.js');

const module = new URL('./broken-module.js', import.meta.url);
const shortMs = 200;
const longMs = 30_000;

interface Pools {
  readonly pool: WorkerPool;
  readonly calls: ReturnType<typeof proxyOf>;
  /** With a time that is soon over. */
  readonly short: ReturnType<typeof proxyOf>;
}
const proxyOf = (pool: WorkerPool, timeoutMs: number) => pool.proxy<Broken>(module, { timeoutMs });

async function withPool(options: WorkerPoolOptions, work: (pools: Pools) => Promise<void>): Promise<void> {
  const pool = new WorkerPool(1, options);
  try {
    await work({ pool, calls: proxyOf(pool, longMs), short: proxyOf(pool, shortMs) });
  } finally {
    await pool.close();
  }
}

describe('what a function does wrong', { concurrency: false }, () => {
  const pool = new WorkerPool(1, { workersMax: 1, resultBytesMax: 10_000 });
  const calls = pool.proxy<Broken>(module, { timeoutMs: longMs });
  after(() => pool.close());

  it('is its own error, with the message and a short stack, and leaves the worker as it is', async () => {
    const thread = await calls.whereAmI();
    await assert.rejects(calls.throwString(), { code: 'threw', message: 'only a text' });
    await assert.rejects(calls.throwNothing(), { code: 'threw', message: 'undefined' });
    await assert.rejects(calls.throwFunctionInside(), { code: 'threw', name: 'TypeError', message: 'with a function' });
    await assert.rejects(calls.throwTrap(), { code: 'threw', message: 'the function threw something that cannot be read' });
    const long = await calls.throwLong().catch((thrown: unknown) => thrown);
    assert.ok(isWorkerError(long) && long.message.length < 2100);
    const deep = await calls.recurse(0).catch((thrown: unknown) => thrown);
    assert.ok(isWorkerError(deep));
    assert.match(deep.message, /call stack/i);
    assert.ok((deep.stack ?? '').split('\n').length <= 6);
    assert.equal(await calls.whereAmI(), thread);
    assert.equal(pool.state().crashed, 0);
  });

  it('cannot end the process: abort() is refused in a worker', async () => {
    await assert.rejects(calls.abortProcess(), { code: 'threw', name: 'TypeError' });
  });

  it('is told apart when it is a result that cannot cross, or a huge one', async () => {
    const thread = await calls.whereAmI();
    await assert.rejects(calls.functionResult(), { code: 'uncloneable', message: /^the result cannot be cloned: / });
    await assert.rejects(calls.resultOf(10_001), { code: 'too-large', message: 'the result is larger than 10000 bytes' });
    await assert.rejects(calls.manyParts(30_000), { code: 'too-large' });
    await assert.rejects(calls.mapOf(10_001), { code: 'too-large' });
    assert.equal((await calls.mapOf(10)).get('key'), 'a'.repeat(10));
    assert.equal((await calls.resultOf(9000)).length, 9000);
    const cyclic = await calls.cyclicResult() as { self: unknown };
    assert.equal(cyclic.self, cyclic);
    assert.equal(await calls.whereAmI(), thread);
  });

  it('is told apart when the memory outside of the heap has an end', async () => {
    await assert.rejects(calls.allocate(2 ** 52), { code: 'threw', name: 'RangeError' });
  });
});

describe('a worker that ends', () => {
  it('by its own exit, an error outside of the call or an unheard rejection costs the call that did it', async () => {
    await withPool({ workersMax: 2 }, async ({ pool, calls }) => {
      await assert.rejects(calls.exitNow(0), { code: 'crashed', message: 'the worker ended: worker exited with code: 0' });
      await assert.rejects(calls.rejectUnheard(), { code: 'crashed', message: 'the worker ended: unheard' });
      assert.equal(typeof await calls.whereAmI(), 'number');
      // Each of the two was tried once more, alone.
      assert.equal(pool.state().crashed, 4);
    });
  });

  it('by a full heap costs the call that filled it, and those beside it are done elsewhere', async () => {
    await withPool({ workersMax: 2, heapMegabytesMax: 24 }, async ({ calls }) => {
      const [gate, aside] = [closedGate(), closedGate()];
      const neighbour = calls.waitAside(aside, 5);
      const filling = calls.fillHeapLater(gate);
      await arrivals(aside, 1);
      await arrivals(gate, 1);
      open(gate);
      const refused = assert.rejects(filling, { code: 'out-of-memory', message: "out of memory: the worker's heap of 24 MB was full" });
      // Begun once more, in another worker.
      await arrivals(aside, 2);
      open(aside);
      assert.equal(await neighbour, 5);
      await refused;
    });
  });

  it('costs neither those that wait in it nor those that run beside the culprit', async () => {
    await withPool({ workersMax: 1, callsPerWorker: 4 }, async ({ pool, calls }) => {
      const [gate, aside] = [closedGate(), closedGate()];
      const beside = [calls.waitAside(aside, 1), calls.waitAside(aside, 2)];
      const culprit = calls.exitLater(gate);
      await arrivals(aside, 2);
      await arrivals(gate, 1);
      open(gate);
      const refused = assert.rejects(culprit, { code: 'crashed', message: 'the worker ended: worker exited with code: 9' });
      open(aside);
      assert.deepEqual(await Promise.all(beside), [1, 2]);
      await refused;
      assert.equal(pool.state().crashed, 2);
      assert.deepEqual([pool.state().running, pool.state().queued], [0, 0]);
    });
  });

  it('when no call is in it costs nothing', async () => {
    await withPool({ workersMax: 1 }, async ({ pool, calls }) => {
      const gate = closedGate();
      const thread = await calls.leaveTimer(gate);
      open(gate);
      let now = thread;
      // The end of the thread comes when it comes: calls before and after it are fine.
      while (now === thread) now = await calls.whereAmI();
      assert.equal(pool.state().crashed, 1);
    });
  });
});

describe('a call that runs over its time', () => {
  for (const name of ['spin', 'spinMicrotasks', 'never'] as const) {
    it(`is ended with its worker: ${name}`, async (context) => {
      await withPool({ workersMax: 1 }, async ({ pool, calls, short }) => {
        const thread = await calls.whereAmI();
        context.mock.timers.enable({ apis: ['setTimeout'] });
        const gate = closedGate();
        const refused = assert.rejects(short[name](gate), { code: 'timeout', message: `timed out after ${shortMs} ms` });
        await arrivals(gate, 1);
        context.mock.timers.tick(shortMs);
        await refused;
        context.mock.timers.reset();
        assert.notEqual(await calls.whereAmI(), thread);
        assert.equal(pool.state().timedOut, 1);
        assert.equal(pool.state().crashed, 0);
      });
    });
  }

  it('costs neither those that wait behind it nor those that run beside it', async (context) => {
    await withPool({ workersMax: 1 }, async ({ pool, calls, short }) => {
      await calls.whereAmI();
      const [gate, aside] = [closedGate(), closedGate()];
      const beside = calls.waitAside(aside, 7);
      await arrivals(aside, 1);
      context.mock.timers.enable({ apis: ['setTimeout'] });
      const refused = assert.rejects(short.spin(gate), { code: 'timeout' });
      await arrivals(gate, 1);
      const behind = calls.whereAmI();
      context.mock.timers.tick(shortMs);
      await refused;
      context.mock.timers.reset();
      open(aside);
      assert.equal(await beside, 7);
      assert.equal(typeof await behind, 'number');
      assert.equal(pool.state().completed >= 3, true);
    });
  });

  it('is only dropped while no worker is free: nothing is ended', async () => {
    await withPool({ workersMax: 1, callsPerWorker: 2 }, async ({ pool, calls, short }) => {
      const thread = await calls.whereAmI();
      const gate = closedGate();
      const blocking = calls.block(gate, 3);
      await arrivals(gate, 1);
      const waiting = Array.from({ length: 4 }, () => assert.rejects(short.whereAmI(), { code: 'saturated', message: `no worker was free within ${shortMs} ms; try again` }));
      await Promise.all(waiting);
      open(gate);
      assert.equal(await blocking, 3);
      assert.equal(await calls.whereAmI(), thread);
      assert.deepEqual([pool.state().timedOut, pool.state().saturated], [0, 4]);
    });
  });
});

describe('a module whose calls end workers again and again', () => {
  const breaker = { endedMax: 2, windowMs: 60_000, refusedMs: 60_000 };

  it('is refused for a while; another module is not, nor a new version of it', async () => {
    await withPool({ workersMax: 1, breaker }, async ({ pool, calls }) => {
      const queued = [calls.exitNow(1), calls.exitNow(1), calls.exitNow(1)];
      const results = await Promise.allSettled(queued);
      const codes = results.map((result) => (result.status === 'rejected' && isWorkerError(result.reason) ? result.reason.code : 'none'));
      assert.deepEqual(codes, ['crashed', 'refused', 'refused']);
      assert.equal(pool.state().crashed, 2);
      await assert.rejects(calls.whereAmI(), { code: 'refused', message: /broken-module\.js ended too many workers; it is refused for another \d+ s$/ });
      const other = pool.proxy<typeof import('./task-module.js')>(new URL('./task-module.js', import.meta.url), { timeoutMs: longMs });
      assert.equal(await other.add(1, 2), 3);
      const fixed = pool.proxy<Broken>(new URL(`${module.href}?v=2`), { timeoutMs: longMs });
      assert.equal(typeof await fixed.whereAmI(), 'number');
    });
  });
});

describe('a flood of printed lines', () => {
  it('is cut off in the worker, and costs the call nothing', async () => {
    await withPool({ workersMax: 1 }, async ({ calls }) => {
      const write = process.stdout.write;
      let printed = 0;
      // Only the dots of the worker are counted, and kept from the report of this test.
      process.stdout.write = function capture(this: NodeJS.WriteStream, ...args: unknown[]): boolean {
        const text = String(args[0]);
        if (!text.startsWith('....')) return Reflect.apply(write, this, args) as boolean;
        printed += text.length;
        const done = args.find((each) => typeof each === 'function') as (() => void) | undefined;
        done?.();
        return true;
      };
      try {
        assert.equal(await calls.print(2000), 2000);
      } finally {
        process.stdout.write = write;
      }
      assert.ok(printed <= 64 * 1024, `${printed} characters`);
    });
  });
});
