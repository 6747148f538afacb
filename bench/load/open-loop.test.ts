import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { runPaced } from './generator-paced.js';
import type { GeneratorTask } from './generator-task.js';
import { allocationOf, countAbove, type Collection } from './probe-figures.js';
import { makeRecipe } from './recipe.js';
import { Schedule } from './schedule.js';

describe('the schedule of an open loop', () => {
  test('offers the rate however late it is asked, and ends', () => {
    const schedule = new Schedule(4000, 0.01);
    assert.deepEqual([0, 0.1, 0.25, 1, 1, 9.6, 9.75, 500].map((nowMs) => schedule.takeDue(nowMs)), [1, 0, 1, 3, 0, 34, 1, 0]);
    assert.deepEqual([schedule.taken, schedule.isOver, schedule.dueAtMs(20)], [40, true, 5]);
  });

  test('of a rate below one a millisecond leaves whole milliseconds out', () => {
    const schedule = new Schedule(400, 1);
    assert.deepEqual([0, 1, 2, 3, 4, 5].map((nowMs) => schedule.takeDue(nowMs)), [1, 0, 0, 1, 0, 1]);
  });
});

describe('requests at a fixed rate', () => {
  const answer = Buffer.from(String(makeRecipe('chat', 'bench-size300').opening), 'latin1');
  const server = createServer((socket) => {
    // Every connection is held for a while: a closed loop would ask nothing meanwhile.
    socket.on('data', () => {
      asked += 1;
      if (asked > connections) socket.write(answer);
      else setTimeout(() => socket.write(answer), heldMs);
    });
    socket.on('error', () => socket.destroy());
  });
  const connections = 3;
  const heldMs = 20;
  let asked = 0;
  after(() => server.close());

  test('are asked on while answers are missing, and who waits for a connection is counted and timed', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const task: GeneratorTask = {
      mode: 'paced', port: (server.address() as AddressInfo).port, connections, path: '/', headers: {}, body: '{}', fillerBytes: 0, warmupMs: 0, durationMs: 50, requestsPerSecond: 1000, requestsMax: 0,
      connectionsPerRampStep: 0, rampStepMs: 0, deadlineMs: 20_000, eventsExpected: 0, steadyFromMs: 0, steadyUntilMs: 0,
    };
    const figures = await runPaced(task);
    assert.deepEqual([figures['requests'], figures['failed'], figures['unfinished'], figures['badStatus']], [50, 0, 0, 0]);
    assert.equal(asked, 50);
    assert.ok((figures['waited'] ?? 0) > 0);
    assert.ok((figures['p99Us'] ?? 0) >= (figures['p50Us'] ?? Infinity));
  });
});

describe('figures of the probe', () => {
  const collection = (usedBefore: number, usedAfter: number): Collection => ({ kind: 'Scavenge', tookMs: 1, usedBefore, usedAfter, externalBefore: 0, externalAfter: 0 });

  test('sum up what use grew by between collections', () => {
    assert.equal(allocationOf([collection(150, 40), collection(90, 80), collection(70, 60)], 100, 75, 'used'), 50 + 50 + 0 + 15);
    assert.equal(allocationOf([], 100, 90, 'used'), 0);
  });

  test('count samples above a limit from percentiles alone', () => {
    const samples = Array.from({ length: 1000 }, (_, index) => index / 100);
    const percentile = (percent: number): number => samples[Math.max(0, Math.ceil((percent / 100) * samples.length) - 1)] ?? 0;
    assert.equal(countAbove(1000, percentile, 8.995), 100);
    assert.equal(countAbove(1000, percentile, 9.985), 1);
    assert.equal(countAbove(1000, percentile, 9.99), 0);
    assert.equal(countAbove(1000, percentile, -1), 1000);
    assert.equal(countAbove(0, () => NaN, 1), 0);
  });
});
