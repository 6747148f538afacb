import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogFilter } from '@gateway/plugin-sdk';
import { runCommandLine } from '../../../core/cli/command-line.js';
import { Repository } from '../../../core/storage/repository.js';
import { workspaces } from '../../../core/storage/tables/workspaces.js';
import { adminKey, startTestGateway } from '../../support/gateway.js';
import { logRecord, MemoryLogs } from '../../support/memory-logs.js';
import { storedData } from '../../support/stored.js';

class WatchedLogs extends MemoryLogs {
  onFollow: (after: string | null) => void = () => {};
  /** Thrown by the next question. */
  fault: Error | null = null;
  readonly filters: LogFilter[] = [];

  override follow(...given: Parameters<MemoryLogs['follow']>): ReturnType<MemoryLogs['follow']> {
    this.filters.push(given[0]);
    const { fault } = this;
    this.fault = null;
    if (fault !== null) throw fault;
    const tail = super.follow(...given);
    this.onFollow(given[1]);
    return tail;
  }
}

const logs = new WatchedLogs();
const { rows, environment } = await storedData();
const gateway = await startTestGateway(environment, { logs });
const { organisationId, workspaceId } = rows;
const slug = (await (rows.repository satisfies Repository).get(workspaces, workspaceId))?.row.slug ?? '';
const record = (id: string, changes: Parameters<typeof logRecord>[0] = {}) => logRecord({ id, organisationId, workspaceId, traceId: `trace-of-${id}`, ...changes });

interface Running {
  readonly ended: Promise<number>;
  out(): readonly string[];
  error(): string;
  /** Resolves when so many lines were printed. */
  lines(count: number): Promise<void>;
  signal(): void;
}

function run(argv: readonly string[], isHeard: () => boolean = () => true): Running {
  const lines: string[] = [];
  let error = '';
  let check = (): void => {};
  let listener: () => void = () => {};
  const ended = runCommandLine(['logs', ...argv], {
    environment: { GATEWAY_URL: gateway.url, GATEWAY_API_KEY: adminKey }, cwd: '/', version: '0', isHeard,
    out: (text) => { lines.push(...text.split('\n')); check(); }, error: (text) => { error += `${text}\n`; check(); },
    loadApp: () => Promise.reject(new Error('not needed')), onSignal: (given) => { listener = () => given('SIGINT'); }, exit: () => undefined, endWithin: () => undefined,
  });
  return {
    ended, out: () => lines, error: () => error, signal: () => listener(),
    lines: (count) => new Promise((resolve) => { (check = () => { if (lines.length >= count) resolve(); })(); }),
  };
}

const following = (): Promise<void> => new Promise((resolve) => { logs.onFollow = () => resolve(); });

describe('gateway logs', () => {
  it('lists what is there, the newest first, over pages, with filters', async () => {
    logs.records.length = 0;
    logs.insert(Array.from({ length: 700 }, (_, index) => record(`log-${index}`, { startedAtMs: 1_000 + index, status: index % 100 === 0 ? 500 : 200 })));
    const all = run(['--limit', '600', '--json']);
    assert.equal(await all.ended, 0, all.error());
    assert.deepEqual(all.out().map((line) => JSON.parse(line).id), Array.from({ length: 600 }, (_, index) => `log-${699 - index}`));
    const failed = run(['--errors', '--limit', '3']);
    assert.equal(await failed.ended, 0);
    assert.match(failed.out()[0] ?? '', /^created_at +response_status_code/);
    assert.deepEqual(failed.out().slice(1).map((line) => /log-\d+$/.exec(line)?.[0]), ['log-600', 'log-500', 'log-400']);
    const none = run(['--model', 'nothing']);
    assert.deepEqual([await none.ended, none.out()], [0, ['none']]);
  });

  it('refuses what it cannot ask for', async () => {
    for (const [argv, sentence] of [[['--limit', '0'], /--limit must be a whole number/], [['--follow', '--limit', '5'], /does not go with --follow/], [['--provider', 'openai,@mine'], /not both/], [['--min-latency', 'long'], /response_time_min/], [['--follow', '--status', 'ok'], /status_code/], [['--nothing'], /unknown option/]] as const) {
      const refused = run(argv);
      assert.equal(await refused.ended, 1, argv.join(' '));
      assert.match(refused.error(), sentence);
    }
  });

  it('follows what arrives, each once and in order, until a signal comes', async () => {
    logs.records.length = 0;
    logs.insert([record('before')]);
    let asked = following();
    const running = run(['--follow', '--json', '--min-latency', '20', '--provider', '@mine', '--key', 'k', '--workspace', slug]);
    await asked;
    assert.deepEqual(logs.filters.at(-1), { scope: { organisationId, workspaceIds: [workspaceId] }, tookMs: { min: 20 }, providerSlugs: ['mine'], keyIds: ['k'] });
    const wanted = { providerSlug: 'mine', tookMs: 25 };
    // More than one reply takes, long calls among them, and some that are not wanted.
    logs.insert(Array.from({ length: 450 }, (_, index) => record(`log-${index}`, { ...wanted, startedAtMs: 1_000_000 - index, ...(index % 3 === 0 ? { tookMs: 1 } : {}) })));
    await running.lines(300);
    asked = following();
    logs.insert([record('last', wanted)]);
    await running.lines(301);
    await asked;
    running.signal();
    assert.equal(await running.ended, 0);
    assert.deepEqual(running.out().map((line) => JSON.parse(line).id), [...Array.from({ length: 450 }, (_, index) => index).filter((index) => index % 3 !== 0).map((index) => `log-${index}`), 'last']);
    assert.equal(running.error(), '');
  });

  it('prints a line for each call, in which nothing steers a terminal', async () => {
    logs.records.length = 0;
    const asked = following();
    const running = run(['--follow', '--attempts']);
    await asked;
    logs.insert([
      record('one', { model: 'gpt\u001b[31m', cost: 0.0123, startedAtMs: Date.UTC(2030, 0, 1) }), record('two', { status: 503, errorCode: 'UPSTREAM_BUSY', isFinal: false, ended: 'gateway', isPriced: false }), record('three', { cacheStatus: 'HIT', status: 200 }),
    ]);
    await running.lines(3);
    running.signal();
    assert.equal(await running.ended, 0);
    const [one, two, three] = running.out();
    assert.equal(one, `2030-01-01T00:00:00.000Z  200      30 ms  openai/gpt?[31m  10+5  0.0123 ct  ${slug}  trace-of-one`);
    assert.match(two ?? '', / 503 .*left for another target {2}UPSTREAM_BUSY {2}gateway$/);
    assert.match(three ?? '', / {2}HIT$/);
  });

  it('goes on from the same place when the gateway could not answer for a while', async () => {
    logs.records.length = 0;
    const asked = following();
    const running = run(['--follow', '--json']);
    await asked;
    logs.fault = new Error('out of order');
    logs.insert([record('meanwhile')]);
    await running.lines(1);
    running.signal();
    assert.equal(await running.ended, 0);
    assert.match(running.error(), /asked again in 0\.5 s/);
    assert.equal(JSON.parse(running.out()[0] ?? '').id, 'meanwhile');
  });

  it('ends when nobody reads it any more', async () => {
    logs.records.length = 0;
    const asked = following();
    let isHeard = true;
    const running = run(['--follow', '--json'], () => isHeard);
    await asked;
    isHeard = false;
    assert.equal(await running.ended, 0);
  });
});
