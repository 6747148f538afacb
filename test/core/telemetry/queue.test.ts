import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Exporter, LogRecord } from '@gateway/plugin-sdk';
import { sampleLogRecord } from '@gateway/plugin-sdk/testing';
import { LogQueue, type LogQueueOptions, type QueueTimer } from '../../../core/telemetry/queue.js';

class FakeTimer implements QueueTimer {
  nowMs = 0;
  #next = 0;
  readonly #tasks = new Map<number, { readonly atMs: number; readonly work: () => void }>();

  after(delayMs: number, work: () => void): () => void {
    const id = this.#next += 1;
    this.#tasks.set(id, { atMs: this.nowMs + delayMs, work });
    return () => { this.#tasks.delete(id); };
  }

  soon(work: () => void): void { this.after(0, work); }
  now(): number { return this.nowMs; }
  get pending(): number { return this.#tasks.size; }

  async advance(byMs: number): Promise<void> {
    const end = this.nowMs + byMs;
    for (;;) {
      const due = [...this.#tasks].filter(([, task]) => task.atMs <= end).sort(([, left], [, right]) => left.atMs - right.atMs)[0];
      if (due === undefined) break;
      this.#tasks.delete(due[0]);
      this.nowMs = Math.max(this.nowMs, due[1].atMs);
      due[1].work();
      await turn();
    }
    this.nowMs = end;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

class FakeExporter implements Exporter {
  readonly batches: string[][] = [];
  readonly signals: AbortSignal[] = [];
  running = 0;
  runningMax = 0;
  /** When set, each export waits for a call of `release`. */
  isHeld = false;
  fault: string | undefined = undefined;
  #waiting: (() => void)[] = [];

  async export(batch: readonly LogRecord[], signal: AbortSignal): Promise<void> {
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    this.signals.push(signal);
    this.batches.push(batch.map((record) => record.id));
    if (this.isHeld) await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
    this.running -= 1;
    if (this.fault !== undefined) throw new Error(this.fault);
  }

  async release(): Promise<void> {
    this.#waiting.shift()?.();
    await turn();
  }
}

function setUp(options: Partial<LogQueueOptions> = {}) {
  const timer = new FakeTimer();
  const exporter = new FakeExporter();
  const warnings: [string, Readonly<Record<string, unknown>> | undefined][] = [];
  const queue = new LogQueue(exporter, { logger: { warn: (message, fields) => { warnings.push([message, fields]); } }, timer, batchCountMax: 10, waitMsMax: 1000, countMax: 100, ...options });
  let number = 0;
  const push = (count: number): number => {
    let taken = 0;
    for (let index = 0; index < count; index += 1) taken += queue.push(sampleLogRecord({ id: String(number += 1) })) ? 1 : 0;
    return taken;
  };
  return { timer, exporter, warnings, queue, push };
}

describe('log queue', () => {
  it('exports nothing on the time of the caller, and a batch that does not fill after the wait', async () => {
    const { timer, exporter, push } = setUp();
    push(3);
    await turn();
    assert.deepEqual(exporter.batches, []);
    await timer.advance(999);
    assert.deepEqual(exporter.batches, []);
    await timer.advance(1);
    assert.deepEqual(exporter.batches, [['1', '2', '3']]);
    assert.equal(timer.pending, 0);
  });

  it('exports a full batch in the next turn, and leaves no timer behind', async () => {
    const { timer, exporter, push } = setUp();
    push(10);
    assert.deepEqual(exporter.batches, []);
    await timer.advance(0);
    assert.equal(exporter.batches.length, 1);
    assert.equal(timer.pending, 0);
  });

  it('hands bodies to exporters that take them, and drops those before it drops a record', async () => {
    const bodies = { requestHeaders: '', request: 'x'.repeat(1000), upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '' };
    const bytesMax = 20_000;
    for (const takesBodies of [true, false]) {
      const got: LogRecord[] = [];
      let dropped = 0;
      const { queue, timer } = setUp({ takesBodies, bytesMax, onBodiesDropped: () => { dropped += 1; } });
      const held = new LogQueue({ export: (batch) => { got.push(...batch); } }, { logger: { warn: () => undefined }, timer, takesBodies, bytesMax, onBodiesDropped: () => { dropped += 1; } });
      for (let index = 0; index < 15; index += 1) assert.ok(held.push(Object.freeze(sampleLogRecord({ bodies }))));
      await held.flush();
      assert.equal(got.length, 15);
      const kept = got.filter((record) => record.bodies !== null).length;
      assert.ok(takesBodies ? kept >= 4 && kept <= 8 : kept === 0, `${kept}`);
      assert.equal(dropped, takesBodies ? 15 - kept : 0);
      assert.ok(held.push(sampleLogRecord({ bodies })));
      await held.flush();
      assert.equal(got.at(-1)?.bodies === null, !takesBodies);
      await queue.close(0);
    }
  });

  it('hands over one batch at a time, each in order and none larger than the limit', async () => {
    const { timer, exporter, push, queue } = setUp();
    exporter.isHeld = true;
    push(25);
    await timer.advance(0);
    push(7);
    for (let round = 0; round < 3; round += 1) await exporter.release();
    assert.equal(exporter.runningMax, 1);
    await timer.advance(1000);
    await exporter.release();
    assert.deepEqual(exporter.batches.map((batch) => batch.length), [10, 10, 5, 7]);
    assert.deepEqual(exporter.batches.flat(), Array.from({ length: 32 }, (_, index) => String(index + 1)));
    assert.equal(queue.length, 0);
    assert.equal(queue.dropped, 0);
  });

  it('drops what finds no room, counts it, and tells the log at most once a minute', async () => {
    const { timer, exporter, push, queue, warnings } = setUp({ exportTimeoutMs: 1e9 });
    exporter.isHeld = true;
    assert.equal(push(150), 100);
    assert.equal(queue.dropped, 50);
    assert.deepEqual(warnings, [['log records dropped', { count: 1, total: 1, reason: 'the queue is full' }]]);
    await timer.advance(59_999);
    assert.equal(warnings.length, 1);
    await timer.advance(1);
    assert.deepEqual(warnings.slice(1), [['log records dropped', { count: 49, total: 50, reason: 'the queue is full' }]]);
    assert.equal(push(1), 0);
    assert.equal(warnings.length, 2);
    await timer.advance(60_000);
    assert.equal(warnings.length, 3);
  });

  it('counts the records that are being exported as waiting, so that memory stays bounded', async () => {
    const { timer, exporter, push, queue } = setUp();
    exporter.isHeld = true;
    push(100);
    await timer.advance(0);
    assert.equal(exporter.running, 1);
    assert.equal(push(5), 0);
    await exporter.release();
    assert.equal(push(20), 10);
    assert.equal(queue.length, 100);
  });

  it('drops a batch that the exporter refuses and goes on with the next', async () => {
    let counted = 0;
    const { timer, exporter, push, queue, warnings } = setUp({ onDropped: (count) => { counted += count; } });
    exporter.fault = 'disk full';
    push(10);
    await timer.advance(0);
    exporter.fault = undefined;
    push(10);
    await timer.advance(0);
    assert.deepEqual([queue.dropped, counted], [10, 10]);
    assert.equal(exporter.batches.length, 2);
    assert.deepEqual(warnings, [['log records dropped', { count: 10, total: 10, reason: 'disk full' }]]);
  });

  it('says what waits, what the exporter took and whose loss it was', async () => {
    const { timer, exporter, push, queue, warnings } = setUp({ name: 'slow' });
    exporter.isHeld = true;
    push(100);
    await timer.advance(0);
    assert.deepEqual([queue.name, queue.length, queue.exported], ['slow', 100, 0]);
    assert.equal(queue.bytes % 100, 0);
    assert.ok(queue.bytes > 50_000);
    await exporter.release();
    assert.equal(queue.exported, 10);
    exporter.isHeld = false;
    push(200);
    assert.deepEqual(warnings[0], ['log records dropped', { exporter: 'slow', count: 1, total: 1, reason: 'the queue is full' }]);
    await exporter.release();
    await queue.flush();
    assert.deepEqual([queue.length, queue.bytes, queue.exported + queue.dropped], [0, 0, 300]);
  });

  it('survives an exporter that throws instead of rejecting', async () => {
    const { timer, push, queue } = setUp();
    const throwing = new LogQueue({ export: () => { throw new Error('at once'); } }, { logger: { warn: () => {} }, timer, batchCountMax: 10 });
    throwing.push(sampleLogRecord());
    await throwing.flush();
    assert.equal(throwing.dropped, 1);
    push(1);
    await queue.flush();
    assert.equal(queue.dropped, 0);
  });

  it('counts what it handed over, whatever the exporter does to its list', async () => {
    let counted = 0;
    const queue = new LogQueue({
      export: (batch) => {
        const list = batch as LogRecord[];
        while (list.length > 0) list.pop();
        throw new Error('refused');
      },
    }, { logger: { warn: () => {} }, timer: new FakeTimer(), batchCountMax: 10, countMax: 20, onDropped: (count) => { counted += count; } });
    for (let round = 0; round < 5; round += 1) {
      for (let index = 0; index < 20; index += 1) assert.ok(queue.push(sampleLogRecord()), `round ${round}`);
      await queue.flush();
      assert.deepEqual([queue.length, counted], [0, (round + 1) * 20]);
    }
  });

  it('gives up an export that takes too long, aborts its signal, and goes on', async () => {
    const { timer, exporter, push, queue } = setUp({ exportTimeoutMs: 5000 });
    exporter.isHeld = true;
    push(15);
    await timer.advance(0);
    await timer.advance(5000);
    assert.equal(exporter.signals[0]?.aborted, true);
    assert.equal(queue.dropped, 10);
    assert.equal(exporter.batches.length, 2);
    await exporter.release();
    await exporter.release();
    assert.equal(queue.length, 0);
    assert.equal(queue.dropped, 10);
  });

  it('flushes everything that was pushed before, also while an export is under way', async () => {
    const { timer, exporter, push, queue } = setUp();
    exporter.isHeld = true;
    push(10);
    await timer.advance(0);
    push(3);
    let isFlushed = false;
    const flushed = queue.flush().then(() => { isFlushed = true; });
    await exporter.release();
    assert.equal(isFlushed, false);
    await exporter.release();
    await flushed;
    assert.deepEqual(exporter.batches.map((batch) => batch.length), [10, 3]);
  });

  it('exports what is left when it closes, and refuses what comes later', async () => {
    const { timer, exporter, push, queue, warnings } = setUp();
    push(14);
    await queue.close(1000);
    assert.deepEqual(exporter.batches.map((batch) => batch.length), [10, 4]);
    await timer.advance(0);
    assert.equal(timer.pending, 0);
    assert.equal(exporter.batches.length, 2);
    assert.equal(push(1), 0);
    assert.equal(queue.dropped, 1);
    assert.equal(warnings[0]?.[1]?.reason, 'the queue is closed');
  });

  it('closes by the deadline, and counts what did not get out', async () => {
    const { timer, exporter, push, queue, warnings } = setUp();
    exporter.isHeld = true;
    push(35);
    let isClosed = false;
    const closed = queue.close(2000).then(() => { isClosed = true; });
    await exporter.release();
    await timer.advance(1999);
    assert.equal(isClosed, false);
    await timer.advance(1);
    await closed;
    assert.equal(queue.dropped, 25);
    assert.equal(warnings.reduce((sum, [, fields]) => sum + Number(fields?.count), 0), 25);
    assert.equal(timer.pending, 0);
  });
});
