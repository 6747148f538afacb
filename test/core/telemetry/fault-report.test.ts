import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultReport } from '../../../core/telemetry/fault-report.js';
import { Metrics } from '../../../core/telemetry/metrics.js';

function setUp(): { report: FaultReport; metrics: Metrics; lines: Record<string, unknown>[]; advance(ms: number): void } {
  const lines: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  let nowMs = 0;
  let due: { atMs: number; work: () => void } | null = null;
  const report = new FaultReport({
    log: (message, fields) => { lines.push({ message, ...fields }); }, metrics, message: 'refused', metric: 'refused', subject: 'store', now: () => nowMs,
    after: (delayMs, work) => {
      due = { atMs: nowMs + delayMs, work };
      return () => { due = null; };
    },
  });
  return {
    report, metrics, lines,
    advance: (ms) => {
      nowMs += ms;
      if (due === null || due.atMs > nowMs) return;
      const { work } = due;
      due = null;
      work();
    },
  };
}

describe('a report of faults that come with every call', () => {
  it('tells the first at once and then one line a minute, with counts', () => {
    const { report, metrics, lines, advance } = setUp();
    for (let count = 0; count < 1000; count += 1) report.add('logs', 'no room');
    assert.deepEqual(lines, [{ message: 'refused', store: 'logs', count: 1, total: 1, reason: 'no room' }]);
    assert.equal(metrics.get('refused'), 1000);
    advance(59_999);
    assert.equal(lines.length, 1);
    report.add('entries', 'no room', 5);
    advance(1);
    assert.deepEqual(lines[1], { message: 'refused', store: 'logs, entries', count: 1004, total: 1005, reason: 'no room' });
    advance(120_000);
    assert.equal(lines.length, 2);
    report.add('logs', 'again');
    assert.equal(lines.length, 3);
  });

  it('tells what is left at the end', () => {
    const { report, lines } = setUp();
    report.add('logs', 'a');
    report.add('logs', 'b');
    report.close();
    report.close();
    assert.deepEqual(lines.map(({ count }) => count), [1, 1]);
  });

  it('holds no more subjects than it has room for', () => {
    const { report, lines, advance } = setUp();
    for (let count = 0; count < 5000; count += 1) report.add(`s${count}`, 'x');
    advance(60_000);
    assert.equal(String(lines[1]?.store).split(', ').length, 100);
    assert.equal(lines[1]?.total, 5000);
  });
});
