import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { sampleLogRecord } from '@gateway/plugin-sdk/testing';
import { Admission, refusedPerSecondMax } from '../../../core/telemetry/admission.js';
import { FaultReport } from '../../../core/telemetry/fault-report.js';
import { Metrics } from '../../../core/telemetry/metrics.js';
import { LogQueue } from '../../../core/telemetry/queue.js';
import { bytesOfRecord, limitRecord, recordBytesMax, refusedBytesMax } from '../../../core/telemetry/record-limits.js';

const refused = (changes: Partial<LogRecord> = {}): LogRecord => sampleLogRecord({ keyId: '', errorCode: 'KEY_MISSING', ...changes });

function setUp(options: { countMax?: number; bytesMax?: number } = {}) {
  const exported: LogRecord[][] = [];
  const lines: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  let nowMs = 0;
  const queue = new LogQueue({ export: (batch) => { exported.push([...batch]); } }, { logger: { warn: () => undefined }, ...options });
  const left = new FaultReport({ log: (message, fields) => { lines.push({ message, ...fields }); }, metrics, message: 'left', metric: 'left', subject: 'code', now: () => nowMs, after: () => () => undefined });
  return { queue, metrics, lines, exported, admission: new Admission(left, () => nowMs), advance: (ms: number) => { nowMs += ms; } };
}

describe('which records reach the log', () => {
  it('are the first of each second of callers without a key', () => {
    const { admission, metrics, lines, advance } = setUp();
    let taken = 0;
    for (let second = 0; second < 3; second += 1) {
      for (let count = 0; count < 1000; count += 1) taken += admission.takes('KEY_MISSING') ? 1 : 0;
      advance(1000);
    }
    assert.equal(taken, 3 * refusedPerSecondMax);
    assert.equal(metrics.get('left'), 3 * (1000 - refusedPerSecondMax));
    assert.deepEqual(lines, [{ message: 'left', code: 'KEY_MISSING', count: 1, total: 1, reason: `more than ${refusedPerSecondMax} a second` }]);
  });

  it('have every text within its limit, whole characters, and no more of callers without a key', () => {
    for (const isRefused of [false, true]) {
      for (const unit of ['x', 'ü', '€', '😀', '\ud800']) {
        for (const name of Object.keys(recordBytesMax) as (keyof typeof recordBytesMax)[]) {
          const maximum = isRefused ? refusedBytesMax : recordBytesMax[name];
          for (const length of [maximum - 2, maximum, 100_000]) {
            const record = sampleLogRecord({ [name]: unit.repeat(Math.ceil(length / unit.length)) });
            const limited = limitRecord(record, isRefused);
            assert.ok(Buffer.byteLength(limited[name]) <= maximum, `${name} of ${unit}: ${Buffer.byteLength(limited[name])}`);
            if (Buffer.byteLength(record[name]) <= maximum) assert.equal(limited, record);
            else assert.ok(limited[name].endsWith('…') && Buffer.byteLength(limited[name]) > maximum - 8, `${name} of ${unit}`);
            if (unit !== '\ud800') assert.ok(!limited[name].includes('\ufffd'), `${name} of ${unit}`);
          }
        }
      }
    }
    const plain = sampleLogRecord();
    assert.equal(limitRecord(plain, false), plain);
  });

  it('wait by bytes as well as by count, and those without a key never in the room of the others', async () => {
    const big = 'x'.repeat(10_000);
    const { queue } = setUp({ bytesMax: 1_000_000, countMax: 1000 });
    let taken = 0;
    while (queue.push(sampleLogRecord({ metadata: big }))) taken += 1;
    assert.equal(taken, Math.floor(1_000_000 / bytesOfRecord(sampleLogRecord({ metadata: big }))));
    // They have a share of their own, beside that of the others.
    let without = 0;
    while (queue.push(refused())) without += 1;
    assert.ok(without > 10 && without <= 1000 / 16 + 1, `${without}`);
    await queue.flush();
    assert.equal(queue.length, 0);
    for (let count = 0; count < 100; count += 1) queue.push(refused());
    for (let count = 0; count < 1000; count += 1) assert.equal(queue.push(sampleLogRecord({ metadata: '' })), true);
    assert.equal(queue.push(sampleLogRecord({ metadata: '' })), false);
    await queue.close(1000);
  });

  it('go out in batches of bounded bytes', async () => {
    const { queue, exported } = setUp();
    for (let count = 0; count < 300; count += 1) queue.push(sampleLogRecord({ id: `${count}`, metadata: 'x'.repeat(16_000) }));
    await queue.close(1000);
    assert.deepEqual(exported.flat().map(({ id }) => id), Array.from({ length: 300 }, (_, count) => `${count}`));
    for (const batch of exported) assert.ok(batch.reduce((sum, record) => sum + bytesOfRecord(record), 0) <= 4 * 1024 * 1024);
    assert.ok(exported.length > 1);
  });
});
