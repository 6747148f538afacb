import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GCProfiler, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { commitsBetween, YoungCollector } from '../../../core/server/young-collector.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('young collections while rows change', () => {
  it('come once for so many commits, in a turn of the loop of their own', async () => {
    let collections = 0;
    const collector = new YoungCollector(() => { collections += 1; });
    for (let commit = 1; commit < commitsBetween; commit += 1) collector.applied(1);
    await nextTurn();
    assert.equal(collections, 0);
    collector.applied(1);
    assert.equal(collections, 0);
    await nextTurn();
    assert.equal(collections, 1);
    collector.applied(commitsBetween - 1);
    await nextTurn();
    assert.equal(collections, 1);
  });

  it('come once for commits that are taken over together, and for those that follow before it runs', async () => {
    let collections = 0;
    const collector = new YoungCollector(() => { collections += 1; });
    for (let times = 0; times < 5; times += 1) collector.applied(10 * commitsBetween);
    await nextTurn();
    assert.equal(collections, 1);
    collector.applied(commitsBetween - 1);
    await nextTurn();
    assert.equal(collections, 1);
  });

  it('are really done by the engine, and of the young generation alone', async () => {
    const collector = new YoungCollector();
    const profiler = new GCProfiler();
    profiler.start();
    collector.applied(commitsBetween);
    await nextTurn();
    const kinds = profiler.stop().statistics.map(({ gcType }) => gcType);
    assert.ok(kinds.includes('Scavenge'), kinds.join());
    assert.ok(!kinds.includes('MarkSweepCompact'), kinds.join());
  });

  /** What code sees in a thread that starts now, after it has run `before`. */
  const seenInThread = async (before = ''): Promise<unknown> => {
    const worker = new Worker(`const { parentPort } = require('node:worker_threads'); (async () => { ${before}; parentPort.postMessage(typeof gc); })();`, { eval: true });
    const seen = await new Promise((resolve, reject) => { worker.once('message', resolve).once('error', reject); });
    await worker.terminate();
    return seen;
  };

  it('are nothing that plugins see, in whatever thread', async () => {
    new YoungCollector();
    assert.deepEqual([typeof globalThis.gc, runInNewContext('typeof gc'), await seenInThread()], ['undefined', 'undefined', 'undefined']);
    // A thread that starts in the moment in which another one takes the function.
    setFlagsFromString('--expose-gc');
    const hiding = `(await import(${JSON.stringify(new URL('../../../core/workers/engine-collection.js', import.meta.url).href)})).hideCollection()`;
    assert.deepEqual([await seenInThread(), await seenInThread(hiding)], ['function', 'undefined']);
  });
});
