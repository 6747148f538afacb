import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogRecord, Row, Store, Write } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { runCommandLine } from '../../../core/cli/command-line.js';
import type { GatewayApp } from '../../../core/cli/app-contract.js';
import { verifyLedger, type LedgerVerdict } from '../../../core/limits/verify-ledger.js';
import { charge, settle, spendKit, turn, type SpendKit } from './spend-kit.js';

const cost = 'key/a/cost';
const packr = new Packr({ useRecords: false });

/** As much of a record as is looked at. */
const record = (id: string, changes: Partial<LogRecord> = {}): LogRecord =>
  ({ id, isFinal: true, targetIndex: 0, retries: 0, cacheStatus: 'DISABLED', totalTokens: 30, cost: 0.000_012, startedAtMs: Date.parse('2026-04-01T12:00:00Z'), ...changes }) as LogRecord;

async function* listed(records: readonly LogRecord[]): AsyncGenerator<LogRecord> {
  yield* records;
}

/** Three calls of 12 micro-cents. */
async function spent(): Promise<SpendKit> {
  const kit = spendKit();
  const journal = kit.journal('p');
  for (const id of ['one', 'two', 'three']) {
    const charges = [charge(kit, cost, 50)];
    journal.open(id, charges);
    settle(kit, journal, id, charges, 12, id === 'three');
  }
  await turn();
  journal.close();
  const keeper = kit.keeper('p');
  await keeper.look();
  await keeper.stop();
  kit.nowMs += 60_000;
  return kit;
}

const verified = (kit: SpendKit, records: readonly LogRecord[] | undefined): Promise<LedgerVerdict> =>
  verifyLedger(kit.ledger(), { now: () => kit.nowMs, records: records === undefined ? undefined : () => listed(records) });

async function firstOf(store: Store, prefix: string): Promise<Row> {
  for await (const row of store.range({ from: `${prefix}/`, to: `${prefix}0`, limit: 1 })) return row;
  return assert.fail(`no ${prefix}`);
}

describe('gateway ledger verify', () => {
  test('finds that all agree', async () => {
    const kit = await spent();
    assert.deepEqual(await verified(kit, [record('one'), record('two'), record('someone else')]), { calls: 3, estimated: 1, open: 0, sums: 1, compared: 2, repriced: 0, notInLog: 0, differences: [], more: 0 });
    assert.deepEqual(await verified(kit, undefined), { calls: 3, estimated: 1, open: 0, sums: 1, compared: 0, repriced: 0, notInLog: 2, differences: [], more: 0 });
  });

  test('tells the call of which the log says something else, or nothing', async () => {
    const kit = await spent();
    const { differences } = await verified(kit, [record('other', { startedAtMs: 1 }), record('one', { cost: 0.000_02 })]);
    assert.deepEqual(differences.map(({ about, call, ledger, other }) => [about, call, ledger, other]), [['record', 'one', 12, 20], ['record', 'two', 12, null]]);
    const kept = await verified(kit, [record('one', { startedAtMs: kit.nowMs })]);
    assert.deepEqual([kept.notInLog, kept.differences.length], [1, 0], 'what is older than the log is no difference');
  });

  test('knows which records were priced again, and holds all others against the ledger', async () => {
    const kit = await spent();
    const atMs = Date.parse('2026-04-01T12:00:00Z');
    const records = [record('one', { cost: 0.000_02 }), record('two', { cost: 0.000_02, startedAtMs: atMs + 5_000 })];
    assert.equal((await verified(kit, records)).differences.length, 2);
    await kit.ledger().noteRepricing(atMs - 1, atMs);
    await kit.ledger().noteRepricing(atMs, atMs + 1_000);
    assert.deepEqual(await kit.ledger().repriced(), [{ fromMs: atMs - 1, toMs: atMs + 1_000 }]);
    const { differences, repriced, compared } = await verified(kit, records);
    assert.deepEqual([differences.map(({ call }) => call), repriced, compared], [['two'], 1, 2]);
    for (let time = 0; time < 300; time += 1) await kit.ledger().noteRepricing(time * 10, time * 10 + 1);
    assert.equal((await kit.ledger().repriced()).length, 256);
  });

  test('knows that an answer out of a cache costs nothing, and a call that was repeated more than its last answer', async () => {
    const kit = await spent();
    const more = await verified(kit, [record('one', { cost: 0.000_005, retries: 1 }), record('two', { cacheStatus: 'HIT' })]);
    assert.deepEqual(more.differences.map(({ call, ledger, other }) => [call, ledger, other]), [['two', 12, 0]]);
    const less = await verified(kit, [record('one', { cost: 0.000_015, retries: 1 }), record('two')]);
    assert.deepEqual(less.differences.map(({ call, ledger, other }) => [call, ledger, other]), [['one', 12, 15]]);
  });

  test('tells a sum that is not that of its calls, and a call that is in no sum', async () => {
    const kit = await spent();
    const sum = await firstOf(kit.store, 'sum');
    const write = (batch: readonly Write[]): Promise<unknown> => Promise.resolve(kit.store.write(batch));
    await write([{ op: 'put', key: sum.key, value: packr.pack({ ...Object(packr.unpack(sum.value)), amount: 40 }) }]);
    const { differences } = await verified(kit, undefined);
    assert.deepEqual(differences.map(({ about, counter, ledger, other }) => [about, counter, ledger, other]), [['sum', cost, 36, 40]]);
    await write([{ op: 'remove', key: sum.key }]);
    assert.deepEqual((await verified(kit, undefined)).differences.map(({ about, counter, ledger, other }) => [about, counter, ledger, other]), [['sum', cost, 36, null]]);
  });

  test('tells what a running gateway found wrong with its counters, once it lasts', async () => {
    const kit = spendKit();
    const journal = kit.journal('p');
    const keeper = kit.keeper('p');
    const charges = [charge(kit, cost, 50)];
    journal.open('call', charges);
    await turn();
    await keeper.look();
    assert.deepEqual(await kit.ledger().counterDifferences(), []);
    kit.counters.settleUsage(kit.counters.slot(cost, 'usage'), 0, -20);
    for (let sweep = 0; sweep < 2; sweep += 1) {
      assert.deepEqual(await kit.ledger().counterDifferences(), []);
      kit.nowMs += 61_000;
      await keeper.look();
    }
    const { differences, open } = await verified(kit, undefined);
    assert.deepEqual([open, differences.map(({ about, ledger, other }) => [about, ledger, other])], [1, [['counter', 50, 30]]]);
    kit.counters.settleUsage(kit.counters.slot(cost, 'usage'), 0, 20);
    for (let sweep = 0; sweep < 2; sweep += 1) {
      kit.nowMs += 61_000;
      await keeper.look();
    }
    assert.deepEqual((await verified(kit, undefined)).differences, []);
    journal.close();
    await keeper.stop();
  });

  test('on the command line says what it found, and ends with 1 when there is a difference', async () => {
    const kit = await spent();
    const run = async (argv: readonly string[], records: readonly LogRecord[]): Promise<{ code: number; out: string; error: string }> => {
      let [out, error] = ['', ''];
      const code = await runCommandLine(argv, {
        environment: {}, cwd: kit.folder, version: '0', out: (text) => { out += `${text}\n`; }, error: (text) => { error += `${text}\n`; },
        loadApp: async () => ({ verifySpending: () => verified(kit, records) }) as unknown as GatewayApp, onSignal: () => undefined, exit: () => undefined, endWithin: () => undefined,
      });
      return { code, out, error };
    };
    assert.deepEqual(await run(['ledger', 'verify'], [record('one'), record('two')]), { code: 0, out: 'ok     3 calls, 1 sums, 2 held against their log records, 1 estimated\n', error: '' });
    const broken = await run(['ledger', 'verify'], [record('one'), record('two', { cost: 0.000_02 })]);
    assert.deepEqual([broken.code, broken.error], [1, 'gateway: ledger, log and counters do not agree (1 difference)\n']);
    assert.match(broken.out, /^FAULT {2}record of call two: key\/a\/cost \(period 0\): ledger 12, log 20: the log says that the call used 20\n/);
    assert.equal(JSON.parse((await run(['ledger', 'verify', '--json'], [record('one'), record('two')])).out).compared, 2);
    assert.deepEqual(await run(['ledger', 'mend'], []), { code: 1, out: '', error: 'gateway: ledger does not know mend; use gateway ledger verify\n' });
  });
});
