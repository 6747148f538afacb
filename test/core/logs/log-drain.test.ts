import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { LogDrain, type DrainPricer } from '../../../core/logs/log-drain.js';
import { RecordWriter } from '../../../core/logs/record-writer.js';
import { RingMemory } from '../../../core/logs/ring.js';
import { Admission } from '../../../core/telemetry/admission.js';
import { FaultReport } from '../../../core/telemetry/fault-report.js';
import { Metrics } from '../../../core/telemetry/metrics.js';
import { exchangeOf } from '../exchange/fakes.js';

function setUp(rings: number, pricer: () => DrainPricer | null = () => null) {
  const metrics = new Metrics();
  const report = (metric: string): FaultReport => new FaultReport({ log: () => undefined, metrics, message: metric, metric, subject: 'at', after: () => () => undefined });
  const memories = Array.from({ length: rings }, () => new RingMemory(RingMemory.allocate(1024 * 1024)));
  const writers = memories.map((memory) => new RecordWriter(memory, { admission: new Admission(report('left')), dropped: report('dropped'), bodiesDropped: report('bodiesDropped'), name: 'thread' }));
  const first: LogRecord[] = [];
  const second: LogRecord[] = [];
  const drain = new LogDrain(memories, {
    queues: [first, second].map((list) => ({ push: (record: LogRecord, bytes: number) => list.push(record) > 0 && bytes > 0 })),
    unread: report('unread'),
    pricer: pricer(),
  });
  const write = (ring: number, path: string): void => {
    const exchange = exchangeOf({ path });
    exchange.principal = { keyId: 'key', workspaceId: 'workspace', organisationId: 'organisation' };
    writers[ring]?.write(exchange, null);
  };
  return { metrics, memories, writers, first, second, drain, write };
}

const numbers = (count: number, ring = 0): string[] => Array.from({ length: count }, (_, index) => `/${ring}/${index}`);
const pathsOf = (records: readonly LogRecord[], ring = 0): string[] => records.map(({ path }) => path).filter((path) => path.startsWith(`/${ring}/`));

describe('the drain of the rings', () => {
  it('follows every writer to its end, whole turns and what is left, and gives each record to each queue', async () => {
    const { writers, first, second, drain, write } = setUp(3);
    drain.start();
    for (let ring = 0; ring < 3; ring += 1) for (const path of numbers(1200, ring)) write(ring, path);
    writers[0]?.close();
    writers[2]?.close();
    const ended = drain.end(60_000);
    setImmediate(() => {
      write(1, '/1/1200');
      writers[1]?.close();
    });
    await ended;
    for (const records of [first, second]) {
      assert.deepEqual(pathsOf(records, 0), numbers(1200, 0));
      assert.deepEqual(pathsOf(records, 1), numbers(1201, 1));
      assert.deepEqual(pathsOf(records, 2), numbers(1200, 2));
    }
  });

  it('gives all queues the same record, which no exporter can change', async () => {
    const { first, second, drain, write } = setUp(1);
    write(0, '/0/0');
    await drain.end(0);
    const record = first[0] as { path: string };
    assert.throws(() => { record.path = ''; }, TypeError);
    assert.deepEqual([first[0], pathsOf(second)], [second[0], ['/0/0']]);
  });

  it('waits no longer than it is told for a writer that does not end, or is hurried, and has what is there', async () => {
    for (const isHurried of [false, true]) {
      const { first, drain, write } = setUp(1);
      for (const path of numbers(700)) write(0, path);
      const ended = drain.end(isHurried ? 600_000 : 10);
      if (isHurried) drain.hurry();
      await ended;
      assert.deepEqual(pathsOf(first), numbers(700));
    }
  });

  it('counts a record without an end, which leaves out all that is there, and goes on with what comes', async () => {
    const { memories, first, drain, write, metrics } = setUp(1);
    const [memory] = memories;
    assert.ok(memory !== undefined);
    for (const path of numbers(3)) write(0, path);
    memory.words[(memory.words[0] ?? 0) >> 2] = -8;
    await drain.end(0);
    assert.deepEqual([pathsOf(first), metrics.get('unread')], [['/0/0'], 1]);
    write(0, '/0/after');
    await drain.end(0);
    assert.deepEqual([pathsOf(first), metrics.get('unread')], [['/0/0', '/0/after'], 1]);
  });
});

describe('prices of records', () => {
  const priced = { cost: 7, saved: 1, isPriced: true };

  it('are waited for, in order, once for each that is not known', async () => {
    const { writers, first, drain, write } = setUp(2, () => {
      const known = new Set<string>();
      let wanted = '';
      return {
        price: ({ path }) => {
          if (path.endsWith('0') && !known.has(path)) {
            wanted = path;
            return undefined;
          }
          return priced;
        },
        load: async () => {
          await new Promise((resolve) => { setImmediate(resolve); });
          known.add(wanted);
        },
      };
    });
    drain.start();
    for (let ring = 0; ring < 2; ring += 1) for (const path of numbers(50, ring)) write(ring, path);
    for (const writer of writers) writer.close();
    await drain.end(60_000);
    assert.deepEqual(pathsOf(first, 0), numbers(50, 0));
    assert.deepEqual(pathsOf(first, 1), numbers(50, 1));
    assert.ok(first.every(({ cost, saved, isPriced }) => cost === 7 && saved === 1 && isPriced));
  });

  it('that do not come keep no record from being exported when the time is over', async () => {
    const { first, drain, write } = setUp(1, () => ({ price: () => undefined, load: () => new Promise(() => undefined) }));
    for (const path of numbers(3)) write(0, path);
    drain.start();
    await drain.end(300);
    assert.deepEqual(first.map(({ path, cost, isPriced }) => [path, cost, isPriced]), numbers(3).map((path) => [path, -1, false]));
  });
});
