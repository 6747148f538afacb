import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogFilter, LogReader } from '@gateway/plugin-sdk';
import { logReaderOf } from '../../../core/log-reader.js';
import { LogAccess, readInPlace, type LogAccessOptions, type ReaderEnd } from '../../../core/logs/log-access.js';
import type { LogCall, LogCallAnswer } from '../../../core/logs/log-calls.js';
import { readSettings } from '../../../core/settings/read.js';
import { ThreadServices } from '../../../core/thread-services.js';
import { startLogs } from '../../support/logs.js';

const filter: LogFilter = { scope: { organisationId: 'organisation', workspaceIds: null } };

/** An end that answers when the test says so. */
class FakeEnd implements ReaderEnd {
  readonly calls: LogCall[] = [];
  hasEnded = false;

  constructor(readonly onAnswer: (answer: LogCallAnswer) => void, readonly die: (reason: string) => void) {}

  send(call: LogCall): void {
    this.calls.push(call);
  }

  async end(): Promise<void> {
    this.hasEnded = true;
  }

  answer(value: unknown): void {
    this.onAnswer({ number: this.calls.at(-1)?.number ?? -1, value });
  }
}

function fakeEnds(options: Partial<LogAccessOptions> = {}): { readonly access: LogAccess; readonly ends: FakeEnd[]; readonly deaths: string[] } {
  const ends: FakeEnd[] = [];
  const deaths: string[] = [];
  const access = new LogAccess({
    start: (onAnswer, onEnd) => {
      const end = new FakeEnd(onAnswer, onEnd);
      ends.push(end);
      return end;
    },
    onDeath: (reason) => { deaths.push(reason); },
    ...options,
  });
  return { access, ends, deaths };
}

const inPlace = (make: () => Promise<LogReader>): LogAccess => new LogAccess({ start: (onAnswer) => readInPlace(make, onAnswer), onDeath: assert.fail });
const unavailable = (message: RegExp): object => ({ code: 'LOGS_UNAVAILABLE', status: 503, message });

describe('access to the log', () => {
  it('is started by the first question, not before, and asks one end', async () => {
    const { access, ends } = fakeEnds();
    assert.equal(ends.length, 0);
    const rows = access.aggregate({ filter, bucket: null, groupBy: null, measures: ['count'] });
    const found = access.read(filter.scope, 'x');
    assert.equal(ends.length, 1);
    const [end] = ends;
    assert.deepEqual(end?.calls.map(({ question }) => question.name), ['aggregate', 'read']);
    // Out of order.
    end?.onAnswer({ number: 2, value: [] });
    end?.onAnswer({ number: 1, value: { rows: [] } });
    assert.deepEqual(await Promise.all([rows, found]), [{ rows: [] }, []]);
    await access.close();
    assert.equal(end?.hasEnded, true);
  });

  it('refuses what waits when its end dies, and the next question starts another', async () => {
    const { access, ends, deaths } = fakeEnds();
    const refused = assert.rejects(access.read(filter.scope, 'x'), unavailable(/it broke off \(no memory\)/));
    ends[0]?.die('no memory');
    await refused;
    assert.deepEqual(deaths, ['no memory']);
    const found = access.read(filter.scope, 'x');
    // An answer that the dead end had on its way is nobody's.
    ends[1]?.answer([]);
    assert.deepEqual(await found, []);
    assert.equal(ends.length, 2);
    await access.close();
  });

  it('refuses what waits too long, and ends an end that hangs', async () => {
    const { access, ends } = fakeEnds({ answerMsMax: 50 });
    await assert.rejects(access.read(filter.scope, 'x'), unavailable(/longer than 50 ms/));
    assert.equal(ends[0]?.hasEnded, true);
    await access.close();
  });

  it('refuses questions beyond those that may wait', async () => {
    const { access } = fakeEnds();
    const waiting = Array.from({ length: 64 }, () => assert.rejects(access.read(filter.scope, 'x'), unavailable(/the gateway stops/)));
    await assert.rejects(access.read(filter.scope, 'x'), unavailable(/64 questions wait already/));
    await access.close();
    await Promise.all(waiting);
    await assert.rejects(access.read(filter.scope, 'x'), unavailable(/the gateway stops/));
  });

  it('ends the end that nobody asks, and starts another for the next question', async () => {
    const { access, ends, deaths } = fakeEnds({ idleMs: 1 });
    const found = access.read(filter.scope, 'x');
    ends[0]?.answer([]);
    await found;
    while (ends[0]?.hasEnded === false) await new Promise((resolve) => { setTimeout(resolve, 1); });
    const again = access.read(filter.scope, 'x');
    ends[1]?.answer([]);
    await again;
    assert.deepEqual([ends.length, deaths], [2, []]);
    await access.close();
  });

  it('keeps its reader while nobody asks where it shares the thread, so that a plugin is asked for one only once', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { reader } = await startLogs();
    const services = new ThreadServices(readSettings({ GATEWAY_EXPORTERS: 'store', GATEWAY_LOG_LEVEL: 'error' }, '/nowhere'));
    let [made, closed] = [0, 0];
    const close = async (): Promise<void> => { closed += 1; };
    context.mock.method(services.registry, 'find', async () => ({ params: { properties: {} }, reader: () => { made += 1; return Object.assign(reader, { close }); } }));
    context.mock.method(services.registry, 'checkParams', () => undefined);
    const access = logReaderOf(services);
    for (let turn = 0; turn < 3; turn += 1) {
      assert.deepEqual(await access?.read(filter.scope, 'x'), []);
      context.mock.timers.tick(3_600_000);
    }
    assert.deepEqual([made, closed], [1, 0]);
    context.mock.timers.reset();
    await services.close();
    assert.equal(closed, 1);
  });

  it('says which input was at fault', async () => {
    const { reader } = await startLogs();
    const access = inPlace(async () => reader);
    await assert.rejects(access.page(filter, { limit: 1, cursor: 'x' }), { code: 'FIELD_INVALID', param: 'cursor', status: 400 });
    await access.close();
  });

  it('refuses with the reason for which there is no reader', async () => {
    const access = inPlace(async () => { throw new Error('no exporter keeps records'); });
    await assert.rejects(access.page(filter, { limit: 1 }), unavailable(/no exporter keeps records/));
    await access.close();
  });

  it('does all that the reader does', async () => {
    const { reader, add } = await startLogs();
    const access = inPlace(async () => reader);
    await add(...Array.from({ length: 1100 }, (_, index) => ({ id: `${index}`, traceId: `${index}`, startedAtMs: index })));
    assert.equal((await access.page(filter, { limit: 3, isCounted: true })).total, 1100);
    assert.equal((await access.read(filter.scope, '7')).length, 1);
    await access.addFeedback([{ id: 'f', organisationId: 'organisation', workspaceId: 'workspace', traceId: '7', value: 1, weight: 1, metadata: '', createdAtMs: 1 }]);
    assert.equal(await access.changeFeedback(filter.scope, 'f', { value: 2, weight: 1, metadata: '' }), true);
    await access.reprice([{ id: '7', cost: 9, saved: 0, isPriced: true }]);
    const [record] = await access.read(filter.scope, '7');
    assert.equal(record?.cost, 9);
    if (record !== undefined) await access.insert([{ ...record, id: 'inserted' }]);
    let count = 0;
    for await (const page of access.export(filter, new AbortController().signal)) count += page.length;
    assert.equal(count, 1101);
    for await (const page of access.export(filter, new AbortController().signal)) {
      assert.ok(page.length > 0);
      break;
    }
    await access.close();
  });

  it('has a limit of exports, and gives back the place of one that was left', async () => {
    const { reader, add } = await startLogs();
    await add({ id: 'a' });
    const access = inPlace(async () => reader);
    for (let round = 0; round < 40; round += 1) {
      for await (const page of access.export(filter, new AbortController().signal)) {
        assert.equal(page.length, 1);
        break;
      }
    }
    const open = Array.from({ length: 16 }, () => access.export(filter, new AbortController().signal)[Symbol.asyncIterator]());
    for (const each of open) await each.next();
    await assert.rejects(access.export(filter, new AbortController().signal)[Symbol.asyncIterator]().next(), unavailable(/16 exports/));
    for (const each of open) await each.return?.(undefined);
    await access.close();
  });
});
