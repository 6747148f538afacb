import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { MetricsHub } from '../../../core/metrics-hub.js';
import { FigureTaker, noFigures, type Scraped } from '../../../core/telemetry/figures.js';
import { Metrics } from '../../../core/telemetry/metrics.js';
import { Questions } from '../../../core/telemetry/questions.js';

const text = (value: string): Scraped => ({ kind: 'text', contentType: 'text/plain', bytes: Buffer.from(value) });

describe('the figures of a thread', () => {
  it('say what was counted, and how late the loop was since the question before', async () => {
    const metrics = new Metrics();
    const taker = new FigureTaker('serve-0', metrics, () => 3);
    try {
      metrics.add('a', 2);
      const first = taker.take();
      assert.deepEqual([first.name, first.isAnswering, first.counts, first.openCalls, first.loopDelay], ['serve-0', true, { a: 2 }, 3, null]);
      assert.ok(first.heapBytes > 0 && first.busyMs >= 0);
      // A loop that has looked at its clock before it is blocked, and after.
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      const untilMs = performance.now() + 200;
      while (performance.now() < untilMs);
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      const late = taker.take().loopDelay;
      assert.ok(late !== null && late.max > 100 && late.p50 <= late.p99 && late.p99 <= late.max, JSON.stringify(late));
    } finally {
      taker.close();
    }
  });
});

describe('a question to another thread', () => {
  it('has its own answer, or the late one; what comes after is nobody\'s', async () => {
    const questions = new Questions<string>();
    const sent: number[] = [];
    const asked = [questions.ask((number) => sent.push(number), 60_000, 'late'), questions.ask((number) => sent.push(number), 1, 'late')];
    // The timers of questions keep no process alive.
    const awake = setInterval(() => undefined, 1);
    assert.equal(await asked[1], 'late');
    clearInterval(awake);
    questions.answer(sent[1] ?? -1, 'too late');
    questions.answer(sent[0] ?? -1, 'in time');
    assert.equal(await asked[0], 'in time');
  });
});

describe('the metrics of the process', () => {
  it('are made once for all who ask meanwhile, of what every thread says', async () => {
    let asked = 0;
    const figures = (name: string): ThreadFigures => ({ ...noFigures(name), isAnswering: true });
    const hub = new MetricsHub({
      figures: () => {
        asked += 1;
        return [figures('serve-0'), Promise.resolve(figures('serve-1')), Promise.resolve(noFigures('control'))];
      },
      text: async (threads) => text(`${asked}: ${threads.filter(({ isAnswering }) => isAnswering).map(({ name }) => name).join(' ')}`),
    });
    const both = await Promise.all([hub.scrape(), hub.scrape()]);
    assert.deepEqual(both, [text('1: serve-0 serve-1'), text('1: serve-0 serve-1')]);
    assert.deepEqual(await hub.scrape(), text('2: serve-0 serve-1'));
  });

  it('fail for one question, and not for the next', async () => {
    let isBroken = true;
    const hub = new MetricsHub({ figures: () => [], text: async () => { if (isBroken) throw new Error('broken'); return text('well'); } });
    assert.deepEqual(await hub.scrape(), { kind: 'failed', reason: 'broken' });
    isBroken = false;
    assert.deepEqual(await hub.scrape(), text('well'));
  });
});
