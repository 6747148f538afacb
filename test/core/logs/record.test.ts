import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogBodies, LogRecord } from '@gateway/plugin-sdk';
import { sampleLogRecord } from '@gateway/plugin-sdk/testing';
import { DecisionLog, decisionsMax } from '../../../core/exchange/decision-log.js';
import type { Exchange } from '../../../core/exchange/exchange.js';
import { HookLog } from '../../../core/exchange/hook-log.js';
import type { LeftTarget } from '../../../core/exchange/left-target.js';
import { noUsage, type Usage } from '../../../core/exchange/usage.js';
import { entriesMax } from '../../../core/logs/dictionary.js';
import { bodyNames } from '../../../core/logs/record-layout.js';
import { RecordReader } from '../../../core/logs/record-reader.js';
import { RecordWriter } from '../../../core/logs/record-writer.js';
import { RingMemory } from '../../../core/logs/ring.js';
import { Admission } from '../../../core/telemetry/admission.js';
import { FaultReport } from '../../../core/telemetry/fault-report.js';
import { Metrics } from '../../../core/telemetry/metrics.js';
import { KeptText } from '../../../core/telemetry/kept-text.js';
import { limitRecord, recordBytesMax } from '../../../core/telemetry/record-limits.js';
import fc from '../../support/fast-check.js';
import { chatEndpoint, exchangeOf } from '../exchange/fakes.js';

function setUp(size = 1024 * 1024) {
  const metrics = new Metrics();
  const report = (metric: string): FaultReport => new FaultReport({ log: () => undefined, metrics, message: metric, metric, subject: 'at', after: () => () => undefined });
  const memory = new RingMemory(RingMemory.allocate(size));
  const writer = new RecordWriter(memory, { admission: new Admission(report('left')), dropped: report('log.recordsDropped'), bodiesDropped: report('log.bodiesDropped'), name: 'thread 0' });
  const reader = new RecordReader(memory);
  const read = (): LogRecord | undefined => {
    const record = reader.read();
    reader.giveBack();
    return record;
  };
  return { memory, metrics, writer, reader, read };
}

/** An exchange that ended so that its record is this one, but for the times that the clock gives; and what its answer said. */
function ended(record: LogRecord): [Exchange, Usage] {
  const exchange = exchangeOf({ route: { ...chatEndpoint, name: record.endpoint }, method: record.method, path: record.path, headers: { 'x-gateway-span-id': record.spanId } });
  exchange.head.spanName = record.spanName === '' ? undefined : record.spanName;
  exchange.head.metadata = record.metadata === '' ? undefined : record.metadata;
  exchange.hooks = record.hookResults === '' ? null : Object.assign(new HookLog(), { logged: () => record.hookResults });
  const { traceId, parentSpanId, provider, targetPath, attempts } = record;
  Object.assign(exchange.responder, { bytesSent: record.responseBytes });
  Object.defineProperties(exchange, Object.fromEntries(Object.entries({
    traceId, parentSpanId, provider, targetPath, attempts, providerSlug: record.providerSlug,
    prompt: record.promptSlug === '' && record.promptId === '' && record.promptVersionId === '' ? null : { slug: record.promptSlug, id: record.promptId, versionId: record.promptVersionId },
    storedConfig: record.configId === '' && record.configVersionId === '' ? null : { id: record.configId, versionId: record.configVersionId, slug: '' },
    principal: { organisationId: record.organisationId, workspaceId: record.workspaceId, keyId: record.keyId },
    status: record.status, ending: record.ended, errorCode: record.errorCode, isStream: record.isStream, cacheStatus: record.cacheStatus,
    requestBytes: record.requestBytes, upstreamMs: record.upstreamMs, startedAt: 1, startedAtMs: record.startedAtMs,
    firstByteAt: record.firstByteMs === -1 ? 0 : 1 + record.firstByteMs,
    targetIndex: record.targetIndex, retries: record.retries, cost: record.cost, saved: record.saved, isPriced: record.isPriced, decisions: record.decision === '' ? null : { limits: null, logged: () => record.decision },
  }).map(([name, value]) => [name, { value }])));
  return [exchange, { ...noUsage, ...record }];
}

const timeless = (record: LogRecord | undefined): Omit<LogRecord, 'tookMs'> | undefined => {
  if (record === undefined) return undefined;
  const { tookMs, ...rest } = record;
  assert.ok(tookMs > 0);
  return rest;
};

const text = fc.oneof(fc.constant(''), fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 300 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 50 }));
const hex = (bytes: number): fc.Arbitrary<string> => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));
const id = fc.oneof(text, hex(16), hex(8), fc.uuid(), fc.uuid().map((value) => value.toUpperCase()), fc.uuid().map((value) => value.replace('-', ':')), hex(16).map((value) => value.replace(/./, 'ı')));
const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
const tokens = fc.oneof(fc.constant(-1), fc.nat(), fc.double({ noNaN: true }));
const mostly = (usual: number, others: fc.Arbitrary<number>): fc.Arbitrary<number> => fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, others);
const times = fc.double({ min: 0, max: 1e6, noNaN: true, noDefaultInfinity: true }).map((value) => Math.round(value * 1024) / 1024);
const anyRecord: fc.Arbitrary<LogRecord> = fc.record({
  id, traceId: id, spanId: id, parentSpanId: id, spanName: text, organisationId: text, providerSlug: text, configId: text, configVersionId: text, promptSlug: text, promptId: text, promptVersionId: text, workspaceId: text, keyId: key,
  endpoint: fc.constantFrom('chatCompletions', 'proxy', 'responses'), method: fc.constantFrom('POST', 'GET', 'DELETE'), path: text, provider: text, model: text.filter((value) => value !== ''), targetPath: text,
  status: fc.nat(999), ended: fc.constantFrom('complete', 'client', 'upstream', 'gateway'), errorCode: fc.constantFrom('', 'INTERNAL', 'KEY_MISSING'), isStream: fc.boolean(),
  attempts: fc.nat(100), cacheStatus: fc.constantFrom('DISABLED', 'HIT', 'SEMANTIC HIT'), finishReason: text,
  inputTokens: tokens, outputTokens: tokens, totalTokens: tokens, cachedTokens: tokens, reasoningTokens: tokens, requestBytes: fc.maxSafeNat(), responseBytes: fc.maxSafeNat(),
  startedAtMs: fc.double({ min: 0, max: 4e12, noNaN: true }), firstByteMs: fc.oneof(fc.constant(-1), times), tookMs: fc.constant(0), upstreamMs: times,
  metadata: text, hookResults: text, isFinal: fc.constant(true), targetIndex: fc.nat(300), retries: fc.nat(300), cacheWriteTokens: mostly(-1, tokens), inputAudioTokens: mostly(-1, tokens), inputImageTokens: mostly(-1, tokens),
  outputAudioTokens: mostly(-1, tokens), outputImageTokens: mostly(-1, tokens), cost: fc.oneof(fc.constant(-1), fc.double({ min: 0, noNaN: true })), saved: mostly(0, fc.double({ min: 0, noNaN: true })), isPriced: fc.boolean(), decision: text, bodies: fc.constant(null), source: fc.constant('call'),
});

describe('a record in a ring', () => {
  it('is read as the exchange was, whatever its fields hold', () => {
    const { writer, read } = setUp();
    fc.assert(fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 5 }), (records) => {
      const exchanges = records.map(ended);
      for (const [exchange, usage] of exchanges) writer.write(exchange, usage);
      for (const [index, record] of records.entries()) {
        const { tookMs, ...expected } = record;
        assert.equal(tookMs, 0);
        const [exchange] = exchanges[index] as [Exchange, Usage];
        assert.deepEqual(timeless(read()), { ...expected, id: exchange.id, spanId: exchange.spanId });
      }
      assert.equal(read(), undefined);
    }), { numRuns: 300 });
  });

  it('of a plain call takes less than 256 bytes', () => {
    const { writer, read, memory } = setUp();
    const record = sampleLogRecord({ traceId: '0b6c2f0e-6f0f-4f5c-9a39-0d7c3f0c5a11', metadata: '', spanName: '', promptSlug: '', promptId: '', promptVersionId: '' });
    const [exchange, usage] = ended(record);
    writer.write(exchange, usage);
    assert.ok((memory.words[0] ?? 0) < 256, `${memory.words[0]}`);
    const { tookMs, ...expected } = record;
    assert.deepEqual(timeless(read()), { ...expected, id: exchange.id });
    assert.ok(tookMs > 0);
  });

  it('with kinds of tokens that few calls have takes no more than those', () => {
    const { writer, read, memory } = setUp();
    const plain = sampleLogRecord({ id: '', metadata: '' });
    writer.write(...ended(plain));
    const bytes = memory.words[0] ?? 0;
    read();
    const record = sampleLogRecord({ metadata: '', cacheWriteTokens: 7, outputImageTokens: 3, saved: 0.125, targetIndex: 2, retries: 4 });
    const [exchange, usage] = ended(record);
    writer.write(exchange, usage);
    assert.equal(memory.words[bytes / 4], bytes + 48);
    assert.deepEqual(timeless(read()), timeless({ ...record, id: exchange.id, tookMs: 1 }));
  });

  it('of a target that was left has what is its own, and the trace of the call', () => {
    const { writer, read } = setUp();
    const record = sampleLogRecord({ decision: '[]', saved: 2 });
    const [exchange, usage] = ended(record);
    const left: LeftTarget = {
      id: '1b6c2f0e-6f0f-4f5c-9a39-0d7c3f0c5a12', spanId: '11f067aa0ba902b7', provider: 'first', providerSlug: 'one', targetPath: 'config.targets[0]', targetIndex: 1, retries: 3, attempts: 4,
      status: 503, ending: 'upstream', errorCode: 'UPSTREAM_RESET', startedAt: 11, tookMs: 30.5, upstreamMs: 20, hookResults: '{}', usage: null,
    };
    writer.write(exchange, left.usage, left);
    writer.write(exchange, usage);
    const { startedAt, ending, ...own } = left;
    const { usage: none, ...members } = own;
    assert.deepEqual([none, read()], [null, {
      ...record, ...members, ended: ending, startedAtMs: record.startedAtMs + startedAt - 1, parentSpanId: exchange.spanId, isFinal: false, model: '', finishReason: '', decision: '',
      inputTokens: -1, outputTokens: -1, totalTokens: -1, cost: -1, saved: 0, isPriced: false, firstByteMs: -1, responseBytes: 0,
    }]);
    const final = read();
    assert.deepEqual([final?.id, final?.traceId, final?.spanId, final?.isFinal], [exchange.id, record.traceId, exchange.spanId, true]);
  });

  const bodiesOf = (texts: Partial<LogBodies>): LogBodies =>
    ({ requestHeaders: '', request: '', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '', ...texts });
  /** An exchange that ended so, of which these were kept. */
  function withBodies(record: LogRecord, bodies: LogBodies): [Exchange, Usage] {
    const [exchange, usage] = ended(record);
    const kept = { finish: () => bodyNames.map((name) => Buffer.from(bodies[name])) };
    return [Object.defineProperty(exchange, 'kept', { value: kept }), usage];
  }

  it('has what was kept of bodies, each whole, and what is the same once', () => {
    const { writer, read, memory } = setUp();
    fc.assert(fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { minLength: 8, maxLength: 8 }), (texts) => {
      const bodies = bodiesOf(Object.fromEntries(bodyNames.map((name, index) => [name, texts[index]])));
      writer.write(...withBodies(sampleLogRecord(), bodies));
      assert.deepEqual(read()?.bodies, bodies);
    }), { numRuns: 100 });
    const request = 'ü'.repeat(20_000);
    const bodies = bodiesOf({ request, upstreamRequest: request, upstreamResponse: request.slice(1), response: request.slice(1) });
    const before = Atomics.load(memory.control, 0);
    writer.write(...withBodies(sampleLogRecord(), bodies));
    assert.ok(Atomics.load(memory.control, 0) - before < 81_000);
    assert.deepEqual(read()?.bodies, bodies);
  });

  it('goes on without its bodies when they would leave others too little room', () => {
    const { writer, reader, metrics } = setUp(64 * 1024);
    for (let number = 0; number < 20; number += 1) writer.write(...withBodies(sampleLogRecord({ spanName: `${number}` }), bodiesOf({ request: 'x'.repeat(5_000) })));
    writer.write(...withBodies(sampleLogRecord({ spanName: '20' }), bodiesOf({ request: 'x'.repeat(100_000) })));
    const found: LogRecord[] = [];
    for (let record = reader.read(); record !== undefined; record = reader.read()) found.push(record);
    assert.deepEqual(found.map(({ spanName }) => spanName), Array.from({ length: 21 }, (_, index) => `${index}`));
    const kept = found.filter(({ bodies }) => bodies !== null).length;
    assert.ok(kept >= 5 && kept <= 6, `${kept}`);
    assert.deepEqual([metrics.get('log.bodiesDropped'), metrics.get('log.recordsDropped')], [21 - kept, 0]);
    reader.giveBack();
    writer.write(...withBodies(sampleLogRecord(), bodiesOf({ request: 'again' })));
    assert.equal(reader.read()?.bodies?.request, 'again');
  });

  it('takes the model that was asked for when the answer names none, and has blanks where there was no answer', () => {
    const { writer, read } = setUp();
    const asked = exchangeOf({ body: '{"model":"asked"}' });
    asked.principal = { keyId: 'key', workspaceId: 'workspace', organisationId: 'organisation' };
    asked.json();
    writer.write(asked, null);
    const record = read();
    assert.deepEqual([record?.model, record?.finishReason, record?.inputTokens, record?.outputTokens, record?.firstByteMs, record?.hookResults], ['asked', '', -1, -1, -1, '']);
    assert.equal(record?.traceId, asked.id);
    assert.equal(record?.id, asked.id);
    assert.match(record?.spanId ?? '', /^[0-9a-f]{16}$/);
    asked.forgetMembers();
    writer.write(asked, null);
    assert.equal(read()?.model, 'asked');
  });

  it('has every text within its limit, cut where it is when the record itself is limited', () => {
    const { writer, read } = setUp();
    for (const keyId of ['key', '']) {
      for (const unit of ['x', 'ü', '€', '😀', '\ud800']) {
        for (const name of Object.keys(recordBytesMax) as (keyof typeof recordBytesMax)[]) {
          const record = sampleLogRecord({ keyId, [name]: unit.repeat(Math.ceil(100_000 / unit.length)) });
          // The clock of admission is real: no more than ten of these in a second.
          if (keyId === '' && (name !== 'metadata' && name !== 'path')) continue;
          writer.write(...ended(record));
          const found = read();
          if (found === undefined) continue;
          assert.equal(limitRecord(found, keyId === '')[name], limitRecord(record, keyId === '')[name], `${name} of ${unit}`);
          assert.ok(found[name].length < 70_000);
        }
      }
    }
  });

  it('is dropped and counted when there is no room, and the next goes on when there is', () => {
    const { writer, read, reader, metrics } = setUp(8192);
    const write = (number: number): void => writer.write(...ended(sampleLogRecord({ spanName: `${number}`, metadata: 'x'.repeat(100) })));
    for (let number = 0; number < 100; number += 1) write(number);
    const dropped = metrics.get('log.recordsDropped');
    assert.ok(dropped > 50 && dropped < 100, `${dropped}`);
    const ids: string[] = [];
    for (let record = reader.read(); record !== undefined; record = reader.read()) ids.push(record.spanName);
    assert.deepEqual(ids, Array.from({ length: 100 - dropped }, (_, index) => `${index}`));
    reader.giveBack();
    write(100);
    assert.equal(read()?.spanName, '100');
    // More than the whole ring, whatever room there is.
    writer.write(...ended(sampleLogRecord({ spanName: 'large', hookResults: 'x'.repeat(10_000) })));
    assert.equal(metrics.get('log.recordsDropped'), dropped + 1);
    write(101);
    assert.equal(read()?.spanName, '101');
  });

  it('of a caller without a key is one of the first ten of a second', () => {
    const { writer, reader, metrics } = setUp();
    const begun = Math.floor(Date.now() / 1000);
    for (let count = 0; count < 200; count += 1) writer.write(...ended(sampleLogRecord({ keyId: '', errorCode: 'KEY_MISSING' })));
    const seconds = Math.floor(Date.now() / 1000) - begun + 1;
    let taken = 0;
    while (reader.read() !== undefined) taken += 1;
    assert.ok(taken >= 10 && taken <= 10 * seconds, `${taken}`);
    assert.equal(taken + metrics.get('left'), 200);
  });

  it('has its texts when the dictionary is full, and after it began anew, also for a second reader', () => {
    const { writer, read, memory } = setUp();
    const record = (number: number): LogRecord => sampleLogRecord({ spanName: `${number}`, model: `model ${number}`, targetPath: `config.targets[${number % 3}]` });
    const principal = { keyId: 'the key', workspaceId: 'the workspace', organisationId: 'the organisation' };
    const write = (number: number): void => {
      const [exchange, usage] = ended(record(number));
      writer.write(Object.defineProperty(exchange, 'principal', { value: principal }), usage);
    };
    const models = new Set<string>();
    // In heaps that are never read to the end while the dictionary fills.
    let unread = 0;
    for (let number = 0; number < entriesMax * 3; number += 1) {
      write(number);
      unread += 1;
      if (unread < 50 && number < entriesMax * 3 - 1) continue;
      // One stays unread, except now and then: the dictionary may begin anew then.
      const rest = number % 3 === 0 ? 0 : 1;
      for (; unread > rest; unread -= 1) {
        const found = read();
        assert.equal(found?.model, `model ${found?.spanName ?? ''}`);
        assert.equal(found?.targetPath, `config.targets[${Number(found?.spanName) % 3}]`);
        assert.deepEqual([found?.keyId, found?.workspaceId, found?.organisationId], ['the key', 'the workspace', 'the organisation']);
        models.add(found?.model ?? '');
      }
    }
    for (; unread > 0; unread -= 1) models.add(read()?.model ?? '');
    assert.equal(models.size, entriesMax * 3);
    writer.write(...ended(record(1)));
    assert.equal(new RecordReader(memory).read()?.model, 'model 1');
  });

  interface Limit {
    readonly counter: string;
    readonly maximum: number | null;
    readonly before: number;
    readonly after: number;
  }
  const toldOf = ({ counter, maximum }: Limit): KeptText => new KeptText(`{"counter":${JSON.stringify(counter)},"counted":"cost","maximum":${maximum},"before":`);
  const noteOf = (limit: Limit, told = toldOf(limit)) => ({ spec: { told }, before: limit.before, amount: limit.after - limit.before });
  const withDecisions = (decisions: DecisionLog, keyId = 'key'): [Exchange, Usage] => {
    const [exchange, usage] = ended(sampleLogRecord({ keyId, saved: 0, bodies: null }));
    return [Object.defineProperty(exchange, 'decisions', { value: decisions }), usage];
  };

  it('says what limits counted as they said it, among whatever else was decided', () => {
    const { writer, read } = setUp();
    const amount = fc.oneof(fc.nat(1000), fc.integer({ min: 2 ** 31 - 2, max: 2 ** 33 }), fc.constantFrom(2 ** 40 - 1, 2 ** 52 - 1, 0));
    const limit: fc.Arbitrary<Limit> = fc.record({ counter: fc.oneof(text.filter(({ length }) => length <= 250), fc.constantFrom('key/k/requests/rpm', 'policy/p/api_key:k')), maximum: fc.oneof(fc.constant(null), amount), before: amount, after: amount });
    const other = fc.record({ about: fc.constantFrom('retry' as const, 'cache' as const), why: fc.string({ unit: 'grapheme', maxLength: 200 }) });
    const others = fc.oneof({ weight: 4, arbitrary: fc.array(other, { maxLength: 3 }) }, fc.array(other, { minLength: decisionsMax - 2, maxLength: decisionsMax + 2 }));
    const keys = fc.oneof({ weight: 9, arbitrary: fc.constant('key') }, fc.constant(''));
    let inNumbers = 0;
    fc.assert(fc.property(others, fc.oneof({ weight: 3, arbitrary: fc.array(limit, { minLength: 1, maxLength: 8 }) }, fc.array(limit, { minLength: 40, maxLength: 100 })), others, fc.boolean(), keys, (before, limits, after, isPriced, keyId) => {
      const log = new DecisionLog();
      const plain = new DecisionLog();
      for (const decision of before) for (const each of [log, plain]) each.add(decision);
      log.addLimits(limits.map((each) => noteOf(each)));
      plain.add({ about: 'limit', limits: limits.map(({ counter, maximum, before: from, after: to }) => ({ counter, counted: 'cost', maximum, before: from, after: to })) });
      for (const decision of after) for (const each of [log, plain]) each.add(decision);
      if (isPriced) for (const each of [log, plain]) each.add({ about: 'price', asked: 'm' });
      const expected = plain.logged();
      if (log.limits !== null) inNumbers += 1;
      writer.write(...withDecisions(log, keyId));
      const found = read()?.decision;
      // Of callers without a key some are left out.
      if (keyId !== '' || found !== undefined) assert.equal(limitRecord(sampleLogRecord({ decision: found ?? '' }), keyId === '').decision, limitRecord(sampleLogRecord({ decision: expected }), keyId === '').decision);
      assert.equal(log.logged(), expected);
    }), { numRuns: 300 });
    assert.ok(inNumbers > 100, `${inNumbers}`);
    const one: Limit = { counter: 'key/k/requests/rpm', maximum: 60, before: 2 ** 33, after: 2 ** 33 + 1 };
    // Of their own: a record that begins the ring anew takes the rest of it, too.
    const fresh = setUp();
    const bytesOf = (count: number): number => {
      const log = new DecisionLog();
      log.addLimits(Array.from({ length: count }, () => noteOf(one)));
      const start = Atomics.load(fresh.memory.control, 0);
      fresh.writer.write(...withDecisions(log));
      const bytes = Atomics.load(fresh.memory.control, 0) - start;
      assert.equal(JSON.parse(fresh.read()?.decision ?? '')[0].limits.length, count);
      return bytes;
    };
    assert.equal(bytesOf(7) - bytesOf(1), 6 * 24);
  });

  it('says what limits counted also where their names fill the dictionary, which begins anew, and leaves room for other texts', () => {
    const { writer, read } = setUp();
    // What lasts is told before and after.
    const lasting: Limit = { counter: 'key/lasting/cost', maximum: 9, before: 1, after: 2 };
    const told = toldOf(lasting);
    const eras = new Set<object | null>();
    let inText = 0;
    let unread = 0;
    const expected: string[] = [];
    for (let number = 0; number < entriesMax * 3; number += 1) {
      const invented: Limit = { counter: `policy/p/metadata._user:${number}`, maximum: null, before: number, after: number * 2 ** 33 };
      const log = new DecisionLog();
      const own = toldOf(invented);
      log.addLimits([noteOf(lasting, told), noteOf(invented, own)]);
      writer.write(...withDecisions(log));
      eras.add(told.era);
      if (own.number === 0xffff) inText += 1;
      assert.ok(own.number === 0xffff || own.number <= entriesMax / 2 + 1, `${own.number}`);
      expected.push(log.logged());
      unread += 1;
      if (unread < 50) continue;
      for (const rest = number % 3 === 0 ? 0 : 1; unread > rest; unread -= 1) assert.equal(read()?.decision, expected.shift());
    }
    for (; unread > 0; unread -= 1) assert.equal(read()?.decision, expected.shift());
    assert.ok(eras.size >= 4 && inText > 0, `${eras.size} ${inText}`);
  });

  it('with what limits counted is whole or not there, however full the ring is', () => {
    for (const size of [4096, 8192, 16_384]) {
      const { writer, reader, metrics } = setUp(size);
      const expected: string[] = [];
      let [written, found] = [0, 0];
      for (let number = 0; number < 300; number += 1) {
        const log = new DecisionLog();
        if (number % 5 === 0) log.add({ about: 'retry', number });
        log.addLimits(Array.from({ length: 1 + (number * 7) % 13 }, (_, index) => noteOf({ counter: `key/${index}/cost`, maximum: 5, before: number * 2 ** 40, after: 3 })));
        const dropped = metrics.get('log.recordsDropped');
        writer.write(...withDecisions(log));
        if (metrics.get('log.recordsDropped') === dropped) {
          expected.push(log.logged());
          written += 1;
        }
        if (number % 4 !== 3) continue;
        for (let record = reader.read(); record !== undefined; record = reader.read(), found += 1) assert.equal(record.decision, expected.shift());
        reader.giveBack();
      }
      for (let record = reader.read(); record !== undefined; record = reader.read(), found += 1) assert.equal(record.decision, expected.shift());
      assert.equal(found, written);
      assert.ok(written > 20 && written + metrics.get('log.recordsDropped') === 300, `${size}: ${written}`);
    }
  });

  it('keeps principals apart that follow one another', () => {
    const { writer, read } = setUp();
    for (let number = 0; number < 50; number += 1) {
      writer.write(...ended(sampleLogRecord({ keyId: `key ${number % 7}`, workspaceId: `workspace ${number % 3}`, organisationId: `organisation ${number % 2}` })));
      const found = read();
      assert.deepEqual([found?.keyId, found?.workspaceId, found?.organisationId], [`key ${number % 7}`, `workspace ${number % 3}`, `organisation ${number % 2}`]);
    }
  });
});
