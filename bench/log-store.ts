// `node dist/bench/log-store.js`: what a day of logs costs. The size of a record in the store; figures of the day and the newest records, by a reader that
// has read nothing yet and by one that has; calls at a fixed rate while such questions run, beside the same without, and beside the same questions to
// another gateway of the machine.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { LogAggregate, LogFilter, LogReader, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord } from '@gateway/plugin-sdk/testing';
import { Repository } from '../core/storage/repository.js';
import { workspaces } from '../core/storage/tables/workspaces.js';
import { controlStore } from '../core/thread-services.js';
import storeExporter from '../plugins/exporters/store/plugin.js';
import lmdb from '../plugins/storage/lmdb/plugin.js';
import { Child, stopAll } from './load/children.js';
import { median, parseFigures, type Figures } from './load/figures.js';
import type { GeneratorTask } from './load/generator-task.js';
import { describeMachine } from './load/machine.js';
import { residentMib } from './load/process-figures.js';
import { adminKey, gatewayKey, startGateway, startUpstream, subjectPids, type Subject } from './load/subjects.js';

const { values: options } = parseArgs({ options: { records: { type: 'string', default: '1000000' }, seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '12' }, rate: { type: 'string', default: '1000' }, help: { type: 'boolean', default: false } } });
const [count, seconds, rounds, rate] = [options.records, options.seconds, options.rounds, options.rate].map(Number) as [number, number, number, number];
const command = 'node --max-semi-space-size=32 --single-threaded-gc dist/core/main.js start';
const dayMs = 86_400_000;
const batchCount = 500;
/** Merging is done in steps; a bound for what is waited for. */
const mergeRunsMax = 1_000;
const questions = 9;
const connections = 64;
/** What was read is given back within this. */
const restMs = 10_000;
const endMs = Date.now() - 60_000;
const temporaryDirectory = mkdtempSync(join(tmpdir(), 'gateway-bench-logs-'));
const params = { bytesMax: 8 * 1024 ** 3, ageDaysMax: 30, bodiesBytesMax: 1024 ** 3, bodiesDaysMax: 7 };

let state = 1;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const below = (limit: number): number => Math.floor(random() * limit);
const word = (): string => Math.floor(random() * 2 ** 32).toString(16).padStart(8, '0');
const hex = (words: number): string => Array.from({ length: words }, word).join('');

/** Times of the calls, by model, as they were made: what percentiles are held against. */
const tookByModel = new Map<string, number[]>();
/** Milliseconds that a question may take, by a reader that has read nothing as well. */
const figuresMsMax = 300;
const pageMsMax = 50;

interface Owner {
  readonly organisationId: string;
  readonly workspaceId: string;
}

/** A call of a usual day. */
function record(owner: Owner, index: number): LogRecord {
  const [first, second] = [hex(2), hex(2)];
  const [input, output] = [below(4000), below(900)];
  const tookMs = below(20_000_000) / 1000;
  const isWrong = random() < 0.02;
  const model = `model-${below(12)}`;
  const times = tookByModel.get(model);
  if (times === undefined) tookByModel.set(model, [tookMs]);
  else times.push(tookMs);
  return sampleLogRecord({
    ...owner, id: `${first.slice(0, 8)}-${first.slice(8, 12)}-4${first.slice(13)}-8${second.slice(1, 4)}-${second.slice(4)}`, traceId: hex(4), spanId: hex(2), keyId: `01900000-0000-7000-8000-${String(below(60)).padStart(12, '0')}`,
    provider: random() < 0.6 ? 'openai' : 'anthropic', model, status: isWrong ? [400, 429, 500][below(3)] ?? 500 : 200, errorCode: isWrong ? 'UPSTREAM' : '', isStream: random() < 0.7,
    cacheStatus: random() < 0.1 ? 'HIT' : 'MISS', startedAtMs: Math.floor(endMs - dayMs + (index / count) * dayMs), tookMs, firstByteMs: below(tookMs * 1000) / 1000, upstreamMs: below(tookMs * 1000) / 1000,
    inputTokens: input, outputTokens: output, totalTokens: input + output, cost: (input * 250 + output * 1000) / 1e6, requestBytes: 300 + input * 4, responseBytes: 200 + output * 5,
    metadata: JSON.stringify({ _user: `user-${below(3000)}`, team: `team-${below(20)}` }),
  });
}

async function seed(dataDirectory: string): Promise<Owner> {
  const storage = await lmdb.create({ path: dataDirectory }, fakeHost());
  const repository = new Repository(await storage.open(controlStore));
  const [workspace] = await repository.list(workspaces, { limit: 1 });
  if (workspace === undefined) throw new Error('the gateway made no first rows');
  const owner = { organisationId: workspace.row.organisationId, workspaceId: workspace.row.id };
  const host = Object.assign(fakeHost({ nowMs: endMs - dayMs }), { store: async (name: string) => storage.open(`exporter-store-${name}`) });
  const exporter = await storeExporter.create(params, host);
  let [writeMs, mergeMs] = [0, 0];
  const merge = async (): Promise<boolean> => {
    const before = host.counts.get('blocks');
    const from = performance.now();
    await host.runEvery();
    mergeMs += performance.now() - from;
    return host.counts.get('blocks') !== before;
  };
  for (let done = 0; done < count; done += batchCount) {
    const batch = Array.from({ length: Math.min(batchCount, count - done) }, (_, index) => record(owner, done + index));
    host.advance(batch.length / count * dayMs);
    const from = performance.now();
    await exporter.export(batch, new AbortController().signal);
    writeMs += performance.now() - from;
    if (done % (batchCount * 64) === 0) await merge();
  }
  const store = await host.store('logs');
  const unmerged = await store.size?.() ?? NaN;
  for (let runs = 0; runs < mergeRunsMax && await merge(); runs += 1);
  const bytes = await store.size?.() ?? NaN;
  console.log(`\n${count} records: ${(bytes / count).toFixed(1)} bytes each in the store (${(unmerged / count).toFixed(1)} before the last merges), ${host.counts.get('blocks')} blocks made; written at ${(writeMs * 1000 / count).toFixed(1)} us each, merged at ${(mergeMs * 1000 / count).toFixed(1)} us each`);
  for (const times of tookByModel.values()) times.sort((left, right) => left - right);
  for (const { name, ask, msMax } of asked(owner)) {
    const [cold, warm, coldWork, warmWork]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < 3; round += 1) {
      const reader = await storeExporter.reader?.(params, host);
      if (reader === undefined) throw new Error('there is no reader');
      for (let turn = 0; turn < 4; turn += 1) {
        const [from, used] = [performance.now(), process.cpuUsage()];
        await ask(reader);
        (turn === 0 ? cold : warm).push(performance.now() - from);
        const { user, system } = process.cpuUsage(used);
        (turn === 0 ? coldWork : warmWork).push((user + system) / 1000);
      }
    }
    const isLate = msMax !== null && Math.max(median(cold), median(warm)) > msMax;
    if (isLate) process.exitCode = 1;
    console.log(`${isLate ? `OVER ${msMax} ms: ` : ''}${name}: ${median(cold).toFixed(0)} ms by a reader that has read nothing (CPU ${median(coldWork).toFixed(0)}), ${median(warm).toFixed(0)} ms after that (CPU ${median(warmWork).toFixed(0)})`);
  }
  await storage.close?.();
  return owner;
}

interface Question {
  readonly name: string;
  readonly ask: (reader: LogReader) => unknown;
  /** Null: no goal. */
  readonly msMax: number | null;
}

function asked({ organisationId, workspaceId }: Owner): readonly Question[] {
  const filter = { scope: { organisationId, workspaceIds: [workspaceId] }, fromMs: endMs - dayMs, toMs: endMs };
  const page = (more: LogFilter | object) => (reader: LogReader) => reader.page({ ...filter, ...more }, { limit: 100 });
  return [
    {
      name: 'a day by model, with cost, tokens and four percentiles', msMax: figuresMsMax,
      ask: async (reader) => isExact(await reader.aggregate({ filter, bucket: null, groupBy: 'model', measures: ['tookMsP50', 'tookMsP90', 'tookMsP95', 'tookMsP99', 'count', 'cost', 'totalTokens', 'tookMsSum'] })),
    },
    { name: 'a day by hours, requests and errors', msMax: figuresMsMax, ask: (reader) => reader.aggregate({ filter, bucket: 'hour', groupBy: null, measures: ['count', 'errors'] }) },
    { name: 'a day by users', msMax: figuresMsMax, ask: (reader) => reader.aggregate({ filter, bucket: null, groupBy: 'user', measures: ['count', 'cost'] }) },
    { name: 'the newest 100 with status 500', msMax: pageMsMax, ask: page({ statuses: [500] }) },
    { name: 'the newest 100 of one model and one key', msMax: pageMsMax, ask: page({ models: ['model-3'], keyIds: ['01900000-0000-7000-8000-000000000007'] }) },
    { name: 'the newest 100 of one user of 3,000', msMax: null, ask: page({ metadata: { _user: 'user-17' } }) },
    { name: 'the newest 100 of a user that is not there', msMax: pageMsMax, ask: page({ metadata: { _user: 'nobody' } }) },
    { name: 'the newest 100 of a member of metadata that is not there', msMax: pageMsMax, ask: page({ metadata: { region: 'eu' } }) },
    { name: 'the newest 100 of a key that is not there', msMax: pageMsMax, ask: page({ keyIds: ['01900000-0000-7000-8000-000000000099'] }) },
    { name: 'the newest 100 of a span that is not there', msMax: pageMsMax, ask: page({ spanIds: ['0000000000000000'] }) },
    { name: 'the newest 100 of a model that is not there', msMax: pageMsMax, ask: page({ models: ['model-99'] }) },
    { name: 'the newest 100 that cost so much that only a few did', msMax: null, ask: page({ cost: { min: 1.895 } }) },
    { name: 'a record by its id that is not there', msMax: null, ask: (reader) => reader.read(filter.scope, '01900000-0000-7000-8000-000000000000') },
  ];
}

function isExact({ rows }: LogAggregate): void {
  if (rows.length !== tookByModel.size) throw new Error(`${rows.length} models, and ${tookByModel.size} were called`);
  for (const { group, values } of rows) {
    const times = tookByModel.get(group) ?? [];
    const wanted = [...[0.5, 0.9, 0.95, 0.99].map((share) => times[Math.ceil(times.length * share) - 1]), times.length];
    if (wanted.some((value, index) => value !== values[index])) throw new Error(`${group}: ${values.join(' ')}, and ${wanted.join(' ')} by a sort`);
  }
}

async function generate(subject: Subject, upstreamPort: number): Promise<Figures> {
  const task: GeneratorTask = {
    port: subject.port, connections, path: '/v1/chat/completions', fillerBytes: 0, warmupMs: 500, durationMs: seconds * 1000, requestsPerSecond: rate, requestsMax: 0, connectionsPerRampStep: 50, rampStepMs: 10,
    deadlineMs: seconds * 1000 + 15_000, eventsExpected: 0, steadyFromMs: 0, steadyUntilMs: 0, mode: 'paced',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': gatewayKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk-bench', custom_host: `http://127.0.0.1:${upstreamPort}/v1` }) },
    body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Say something about gateways in a few words.' }] }),
  };
  const child = new Child(process.execPath, [join(import.meta.dirname, 'load', 'generator.js'), JSON.stringify(task)], { core: 'generator' });
  return parseFigures(await child.finish(task.deadlineMs + 5_000));
}

async function ask(subject: Subject, path: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(`http://127.0.0.1:${subject.port}/v1${path}`, { headers: { 'x-gateway-api-key': adminKey } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}: ${text.slice(0, 300)}`);
  return performance.now() - from;
}

/** `elsewhere`: the same questions to another gateway with the same records, which take the same of the machine and nothing else from the calls. */
const phases = ['alone', 'asking', 'elsewhere'] as const;
type Phase = (typeof phases)[number];
/** Rarer than this is not taken for chance. */
const chanceMax = 0.05;

/** That so many or more of all rounds are worse, when each is as likely worse as better. */
function chanceOf(worse: number, all: number): number {
  let [sum, ways] = [0, 1];
  for (let count = 0; count <= all; count += 1) {
    if (count >= worse) sum += ways;
    ways = (ways * (all - count)) / (count + 1);
  }
  return sum / 2 ** all;
}

async function measureCalls(subject: Subject, other: Subject, upstreamPort: number, { workspaceId }: Owner): Promise<void> {
  const times = `workspace_slug=${workspaceId}&time_of_generation_min=${new Date(endMs - dayMs).toISOString()}&time_of_generation_max=${new Date(endMs).toISOString()}`;
  const paths = [`/analytics/groups/model?${times}&columns=cost,avg_latency,p95_latency,p99_latency`, `/analytics/graphs/latency?${times}`, `/logs?${times}&status_code=500&page_size=100`];
  const resident = (): number => residentMib(subjectPids(subject));
  const startMib = resident();
  for (const path of paths) await ask(subject, path);
  const quietMib = resident();
  for (const path of paths) await ask(other, path);
  let peakMib = quietMib;
  const looks = setInterval(() => { peakMib = Math.max(peakMib, resident()); }, 25);
  const p99: Readonly<Record<Phase, number[]>> = { alone: [], asking: [], elsewhere: [] };
  const answered: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Each comes first, second and last as often as the others.
    for (let turn = 0; turn < phases.length; turn += 1) {
      const phase = phases[(round + turn) % phases.length] as Phase;
      const calls = generate(subject, upstreamPort);
      const pause = seconds * 1000 / questions;
      for (let question = 0; question < questions && phase !== 'alone'; question += 1) {
        const ms = await ask(phase === 'asking' ? subject : other, paths[question % paths.length] ?? '');
        if (phase === 'asking') answered.push(ms);
        await new Promise((done) => { setTimeout(done, Math.max(0, pause - ms)); });
      }
      const figures = await calls;
      if ((figures.badStatus ?? 0) > 0) throw new Error(`${figures.badStatus} answers were not 200`);
      p99[phase].push(figures.p99Us ?? NaN);
    }
  }
  clearInterval(looks);
  await new Promise((done) => { setTimeout(done, restMs); });
  console.log(`\nresident: ${startMib.toFixed(0)} MiB after the start, ${quietMib.toFixed(0)} MiB when each question was asked once, ${peakMib.toFixed(0)} at the highest, ${resident().toFixed(0)} ${restMs / 1000} s after the last; what the system can take back from the store's file is among it`);
  const list = (values: readonly number[]): string => values.map((value) => (value / 1000).toFixed(2)).join(' ');
  console.log(`\n${rate} calls/s, p99 in ms, medians of ${rounds} rounds: ${phases.map((phase) => `${phase} ${(median(p99[phase]) / 1000).toFixed(2)} (${list(p99[phase])})`).join('; ')}; ${questions} questions in ${seconds} s took ${median(answered).toFixed(0)} ms, at most ${Math.max(...answered).toFixed(0)}`);
  for (const beside of ['alone', 'elsewhere'] as const) {
    const ratios = p99.asking.map((us, round) => us / (p99[beside][round] ?? NaN));
    const worse = ratios.filter((ratio) => ratio > 1).length;
    const chance = chanceOf(worse, rounds);
    console.log(`questions to this gateway, beside ${beside === 'alone' ? 'none' : 'the same to another one of the machine'}: p99 times ${median(ratios).toFixed(2)} (median), worse in ${worse} of ${rounds} rounds: ${chance <= chanceMax ? 'THEY COST CALLS SOMETHING' : `chance alone does as much in ${(chance * 100).toFixed(0)} of 100 runs`}`);
  }
}

async function measureAll(): Promise<void> {
  const upstream = await startUpstream();
  const around = { upstreamPort: upstream.port, temporaryDirectory };
  const tree = resolve(import.meta.dirname, '..', '..');
  const environment = { GATEWAY_LOG_STORE_BYTES_MAX: String(params.bytesMax) };
  const first = await startGateway('logs', command, tree, around, { readyTimeoutMs: 60_000, environment });
  await first.child?.stop(20_000);
  const owner = await seed(join(temporaryDirectory, 'data-logs'));
  cpSync(join(temporaryDirectory, 'data-logs'), join(temporaryDirectory, 'data-others'), { recursive: true });
  const subject = await startGateway('logs', command, tree, around, { readyTimeoutMs: 60_000, environment });
  const other = await startGateway('others', command, tree, around, { readyTimeoutMs: 60_000, environment });
  await measureCalls(subject, other, upstream.port, owner);
  await subject.child?.stop(20_000);
  await other.child?.stop(20_000);
}

if (options.help) console.log('node dist/bench/log-store.js [--records N] [--seconds N] [--rounds N] [--rate N]');
else {
  console.log(describeMachine());
  try {
    await measureAll();
  } finally {
    await stopAll();
    rmSync(temporaryDirectory, { recursive: true, force: true });
  }
}
