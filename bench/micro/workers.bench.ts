// The worker pool: what a call costs beside the work itself, and what a full pool does to the loop of its thread.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { bodyWithText, fakeCheckInput } from '@gateway/plugin-sdk/testing';
import { Bench } from 'tinybench';
import { PoolCheck } from '../../core/workers/check-runner.js';
import { WorkerPool } from '../../core/workers/pool.js';

type Tasks = typeof import('./worker-tasks.js');

const module = new URL('./worker-tasks.js', import.meta.url);
const concurrency = 64;
const timeoutMs = 30_000;
const [short, long] = ['some words of a text '.repeat(50).slice(0, 1024), 'some words of a text '.repeat(5000).slice(0, 100 * 1024)];

const pool = new WorkerPool(1);
const tasks = pool.proxy<Tasks>(module, { timeoutMs });
const check = new PoolCheck(pool, module, { word: 'absent' }, timeoutMs);
const inputOf = (text: string) => fakeCheckInput({ body: bodyWithText('chatCompletions', text) });
const inputs = { short: inputOf(short), long: inputOf(long) };
const many = (work: () => Promise<unknown>): Promise<unknown> => Promise.all(Array.from({ length: concurrency }, work));

await tasks.lengthOf(short);
await check.evaluate(inputs.short);
const bench = new Bench({ time: 400, warmupTime: 100 });
bench.add('call, 1 kB text, one after the other', () => tasks.lengthOf(short));
bench.add(`call, 1 kB text, ${concurrency} at a time (for all)`, () => many(() => tasks.lengthOf(short)));
bench.add('call, 100 kB text, one after the other', () => tasks.lengthOf(long));
bench.add('check, 1 kB text, one after the other', () => check.evaluate(inputs.short));
bench.add(`check, 1 kB text, ${concurrency} at a time (for all)`, () => many(() => check.evaluate(inputs.short)));
bench.add('check, 100 kB text, one after the other', () => check.evaluate(inputs.long));
await bench.run();
console.table(bench.table());

const resolutionMs = 1;
const observedMs = 1500;
async function delayOf(name: string, work: () => Promise<unknown>): Promise<Record<string, string>> {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  await work();
  histogram.disable();
  const [p50, p99, most] = [histogram.percentile(50), histogram.percentile(99), histogram.max].map((value) => (value / 1e6).toFixed(2));
  return { 'while the pool': name, 'p50 ms': p50 ?? '', 'p99 ms': p99 ?? '', 'max ms': most ?? '' };
}
const busy = async (durationMs: number): Promise<void> => {
  const endMs = performance.now() + observedMs;
  await many(async () => {
    while (performance.now() < endMs) await tasks.spinFor(durationMs);
  });
};
console.log(`loop delay, looked at each ${resolutionMs} ms; ${pool.workersMax} workers at most`);
console.table([
  await delayOf('is idle', () => after(observedMs)),
  await delayOf('is full of calls of 20 ms', () => busy(20)),
  await delayOf('is full of calls of 0.2 ms', () => busy(0.2)),
]);
console.log(pool.state());
await pool.close();
