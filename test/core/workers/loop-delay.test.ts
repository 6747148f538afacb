import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { it } from 'node:test';
import { WorkerPool } from '../../../core/workers/pool.js';
import { arrivals, closedGate, open } from './gate.js';

type Broken = typeof import('./broken-module.js');
type Tasks = typeof import('./task-module.js');

const here = (name: string): URL => new URL(name, import.meta.url);
const observedMs = 600;
/** Far above what it is, and far below the time of a single call: other programs run on this machine. */
const delayMsMax = 300;

it('the loop goes on while every worker is busy without end and the queue is full', async (t) => {
  const pool = new WorkerPool(1, { workersMax: 2, queuedMax: 200, callsPerWorker: 4 });
  const tasks = pool.proxy<Tasks>(here('./task-module.js'), { timeoutMs: 30_000 });
  const { block } = pool.proxy<Broken>(here('./broken-module.js'), { timeoutMs: 30_000 });
  const { spin } = pool.proxy<Broken>(here('./broken-module.js'), { timeoutMs: observedMs });
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  try {
    // Both workers are up.
    const gate = closedGate();
    const blocked = [block(gate), block(gate)];
    await arrivals(gate, 2);
    open(gate);
    await Promise.all(blocked);
    const spinning = [spin(), spin()].map((call) => assert.rejects(call, { code: 'timeout' }));
    histogram.enable();
    const queued = Array.from({ length: 150 }, () => tasks.spinFor(1));
    await Promise.all(spinning);
    histogram.disable();
    assert.ok(histogram.count > 0);
    const [p50, p99] = [50, 99].map((percentile) => histogram.percentile(percentile) / 1e6);
    t.diagnostic(`loop delay with 5 ms between looks: p50 ${p50?.toFixed(1)} ms, p99 ${p99?.toFixed(1)} ms`);
    assert.ok((p99 ?? Infinity) < delayMsMax, `p99 ${p99} ms`);
    // What waited behind the endless ones is done.
    await Promise.all(queued);
    assert.equal(pool.state().timedOut, 2);
  } finally {
    histogram.disable();
    await pool.close();
  }
});
