import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogFilter, LogReader, LogRecord, RepricedRecord } from '@gateway/plugin-sdk';
import { sampleLogRecord } from '@gateway/plugin-sdk/testing';
import type { Pricing } from '../../../core/limits/record-pricer.js';
import { Repricing } from '../../../core/limits/repricing.js';

let ids = 0;
const recordOf = (changes: Partial<LogRecord>): LogRecord => ({
  ...sampleLogRecord(), id: String(ids += 1), provider: 'openai', model: 'm', ended: 'complete', decision: '', cost: 1, saved: 0, isPriced: true, inputTokens: 1, outputTokens: 1, totalTokens: 2, ...changes,
});
const untold = { inputTokens: -1, outputTokens: -1, totalTokens: -1 };
const limited = '[{"about":"limit","limits":[]}]';

function setUp(pages: readonly (readonly LogRecord[])[], price: (record: LogRecord) => Pricing | undefined) {
  const written: RepricedRecord[][] = [];
  const asked: LogFilter[] = [];
  const reader: Partial<LogReader> = {
    async *export(filter) { asked.push(filter); yield* pages; },
    reprice: async (prices) => { written.push([...prices]); },
  };
  let loads = 0;
  // Nothing else of the reader is used.
  const repricing = new Repricing(reader as LogReader, { price: (record) => { assert.deepEqual([record.cost, record.saved, record.isPriced], [-1, 0, false]); return price(record); }, load: async () => { loads += 1; } });
  const look = (): Promise<void> => repricing.look({ scope: { organisationId: 'o', workspaceIds: null }, fromMs: 1, toMs: 2 }, new AbortController().signal);
  return { repricing, written, asked, look, loads: () => loads };
}

describe('pricing history again', () => {
  it('looks at every record first, those of left targets too, and writes what differs', async () => {
    const [same, dearer, unpriced, hit] = [recordOf({}), recordOf({ cost: 2 }), recordOf({ model: 'n', cost: 0, isPriced: false }), recordOf({ cost: 0, saved: 5 })];
    const { repricing, written, asked, look } = setUp([[same, dearer], [unpriced], [hit]], (record) => (record.id === hit.id ? { cost: 0, saved: 7, isPriced: true } : { cost: 1, saved: 0, isPriced: true }));
    await look();
    assert.deepEqual([asked[0]?.records, written], ['all', []]);
    const sums = { provider: 'openai', costAfter: 1, savedBefore: 0, savedAfter: 0, unpricedAfter: 0 };
    assert.deepEqual(repricing.report(false), {
      records: 4, changed: 3, isWritten: false, models: [
        { ...sums, model: 'm', records: 3, changed: 2, costBefore: 3, costAfter: 2, savedBefore: 5, savedAfter: 7, unpricedBefore: 0 },
        { ...sums, model: 'n', records: 1, changed: 1, costBefore: 0, unpricedBefore: 1 },
      ],
    });
    await repricing.write();
    assert.deepEqual(written, [[{ id: dearer.id, cost: 1, saved: 0, isPriced: true }, { id: unpriced.id, cost: 1, saved: 0, isPriced: true }, { id: hit.id, cost: 0, saved: 7, isPriced: true }]]);
  });

  it('does not charge for what was read again, and had been charged before the time that is looked at', async () => {
    const read = { endpoint: 'batches', method: 'GET', path: '/v1/batches/b1' } as const;
    const records = [recordOf({ ...read, cost: 0 }), recordOf({ ...read, cost: 1 }), recordOf({ ...read, cost: 0, isPriced: false }), recordOf({ ...read, endpoint: 'chatCompletions', path: '/v1/chat/completions', cost: 0 })];
    const { repricing, written, look } = setUp([records], () => ({ cost: 3, saved: 0, isPriced: true }));
    await look();
    await repricing.write();
    assert.deepEqual(written.flat().map(({ id }) => id), [records[1]?.id, records[2]?.id, records[3]?.id]);
  });

  it('leaves alone what nobody can price now, and what was estimated under a budget', async () => {
    const records = [recordOf({}), recordOf({ ...untold }), recordOf({ ended: 'client', decision: limited }), recordOf({ inputTokens: 0, outputTokens: 0, totalTokens: 0, decision: limited })];
    let tries = 0;
    const { repricing, written, look, loads } = setUp([records], (record) => {
      if (record.id !== records[0]?.id) return { cost: 0, saved: 0, isPriced: true };
      tries += 1;
      return tries === 1 ? undefined : { cost: -1, saved: 0, isPriced: false };
    });
    await look();
    assert.deepEqual([repricing.report(false).changed, loads()], [0, 1]);
    await repricing.write();
    assert.deepEqual(written, []);
  });

  it('prices what broke off without a budget by what its answer told', async () => {
    const { repricing, look } = setUp([[recordOf({ ended: 'client' }), recordOf({ decision: limited }), recordOf({ cost: -1, isPriced: false, ...untold })]], () => ({ cost: 3, saved: 0, isPriced: true }));
    await look();
    assert.deepEqual([repricing.report(false).changed, repricing.report(false).models[0]?.costBefore], [3, 2]);
  });
});
