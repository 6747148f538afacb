// `node dist/bench/stored.js`: what stored rows cost. A start with many keys beside an empty one; a call by a key's stored config and provider beside
// the same call by headers; requests at a fixed rate while control writes run, beside the same without; how soon a change is obeyed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { hashKey } from '../core/auth/key.js';
import { Change } from '../core/storage/change.js';
import { newId } from '../core/storage/new-id.js';
import { Repository } from '../core/storage/repository.js';
import { apiKeys } from '../core/storage/tables/api-keys.js';
import { workspaces } from '../core/storage/tables/workspaces.js';
import { controlStore } from '../core/thread-services.js';
import lmdb from '../plugins/storage/lmdb/plugin.js';
import { Child, stopAll } from './load/children.js';
import { median, parseFigures, type Figures } from './load/figures.js';
import type { GeneratorTask } from './load/generator-task.js';
import { describeMachine } from './load/machine.js';
import { probed } from './load/probe.js';
import { adminKey, gatewayKey, startGateway, startUpstream, subjectCpuUs, type StartOptions, type Subject } from './load/subjects.js';

const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' }, seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '5' }, rate: { type: 'string', default: '2000' },
    writes: { type: 'string', default: '1000' }, only: { type: 'string' }, help: { type: 'boolean', default: false },
  },
});
const [keys, seconds, rounds, rate, writes] = [options.keys, options.seconds, options.rounds, options.rate, options.writes].map(Number) as [number, number, number, number, number];
const tree = resolve(import.meta.dirname, '..', '..');
const command = 'node --max-semi-space-size=32 --single-threaded-gc dist/core/main.js start';
const rowsOfCommit = 1_000;
const connections = 64;
const obeyTries = 30;

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'gateway-bench-stored-'));

/** Calls of the control plane with the admin key. */
async function control(subject: Subject, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${subject.port}/v1${path}`, {
    method, headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function chat(model: string): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'Say something about gateways in a few words.' }], temperature: 0.5, max_tokens: 64 });
}

async function generate(subject: Subject, task: Partial<GeneratorTask> & Pick<GeneratorTask, 'mode' | 'headers' | 'body'>): Promise<Figures> {
  const whole: GeneratorTask = {
    port: subject.port, connections, path: '/v1/chat/completions', fillerBytes: 0, warmupMs: 500, durationMs: seconds * 1000, requestsPerSecond: 0, requestsMax: 0,
    connectionsPerRampStep: 50, rampStepMs: 10, deadlineMs: seconds * 1000 + 15_000, eventsExpected: 0, steadyFromMs: 0, steadyUntilMs: 0, ...task,
  };
  const child = new Child(process.execPath, [join(import.meta.dirname, 'load', 'generator.js'), JSON.stringify(whole)], { core: 'generator' });
  return parseFigures(await child.finish(whole.deadlineMs + 5_000));
}

/** Enters keys into the store of a gateway that is stopped. */
async function seed(dataDirectory: string): Promise<number> {
  const startedAt = performance.now();
  const storage = await lmdb.create({ path: dataDirectory }, fakeHost());
  const repository = new Repository(await storage.open(controlStore));
  const [workspace] = await repository.list(workspaces, { limit: 1 });
  const [first] = await repository.list(apiKeys, { limit: 1 });
  if (workspace === undefined || first === undefined) throw new Error('the gateway made no first rows');
  for (let done = 0; done < keys; done += rowsOfCommit) {
    const change = new Change();
    for (let index = done; index < Math.min(keys, done + rowsOfCommit); index += 1) {
      const id = newId();
      change.insert(apiKeys, { ...first.row, id, name: `key ${index}`, type: 'workspace-service', workspaceId: workspace.row.id, keyHash: hashKey(`${id}-${index}`), keyPrefix: 'gw_seed', keyMasked: 'gw_seed****', previous: null, creationMode: 'api', scopes: ['completions.write', 'logs.view'] });
    }
    await repository.commit(change);
  }
  await storage.close?.();
  return performance.now() - startedAt;
}

async function timedStart(name: string, around: { readonly upstreamPort: number; readonly temporaryDirectory: string }, how: StartOptions = {}): Promise<{ readonly subject: Subject; readonly ms: number }> {
  const startedAt = performance.now();
  const subject = await startGateway(name, command, tree, around, { readyTimeoutMs: 60_000, ...how });
  return { subject, ms: performance.now() - startedAt };
}

async function measureStarts(around: { readonly upstreamPort: number; readonly temporaryDirectory: string }): Promise<void> {
  const empty: number[] = [];
  const full: number[] = [];
  // What a busy machine changes least.
  const cpuMs = { empty: [] as number[], full: [] as number[] };
  let [emptyMib, fullMib] = [0, 0];
  const first = await timedStart('full', around);
  await first.subject.child?.stop();
  const seedMs = await seed(join(around.temporaryDirectory, 'data-full'));
  for (let round = 0; round < 3; round += 1) {
    for (const [name, times] of [['empty', empty], ['full', full]] as const) {
      const { subject, ms } = await timedStart(name, around);
      times.push(ms);
      cpuMs[name].push(subjectCpuUs(subject) / 1000);
      if (name === 'empty') emptyMib = subject.idleMib;
      else fullMib = subject.idleMib;
      await subject.child?.stop(20_000);
    }
  }
  console.log(`\nstart, median of 3: empty ${median(empty).toFixed(0)} ms, ${emptyMib.toFixed(0)} MiB; with ${keys} keys ${median(full).toFixed(0)} ms (+${(median(full) - median(empty)).toFixed(0)}), ${fullMib.toFixed(0)} MiB; CPU of the process ${median(cpuMs.empty).toFixed(0)} and ${median(cpuMs.full).toFixed(0)} ms (+${(median(cpuMs.full) - median(cpuMs.empty)).toFixed(0)}) (${rowsOfCommit} keys a commit, entered at ${(keys / seedMs * 1000).toFixed(0)}/s)`);
}

interface Stored {
  readonly byHeaders: Readonly<Record<string, string>>;
  readonly byKey: Readonly<Record<string, string>>;
  readonly keyId: string;
  readonly configSlug: string;
}

/** An integration, its provider, a config over it, and a key whose default the config is. */
async function store(subject: Subject, upstreamPort: number): Promise<Stored> {
  const host = `http://127.0.0.1:${upstreamPort}/v1`;
  const workspace = 'first-workspace';
  const integration = await control(subject, 'POST', '/integrations', { name: 'Bench', slug: 'bench', ai_provider_id: 'openai', key: 'sk-bench', workspace_id: workspace, configurations: { custom_host: host }, create_default_provider: false });
  await control(subject, 'POST', '/providers', { name: 'Bench', slug: 'bench', integration_id: integration.slug, workspace_id: workspace });
  const config = await control(subject, 'POST', '/configs', { name: 'Bench', workspace_id: workspace, config: { provider: '@bench', retry: { attempts: 2 } } });
  const key = await control(subject, 'POST', '/api-keys/workspace/service', { name: 'Bench', workspace_id: workspace, scopes: ['completions.write'], defaults: { config_id: config.slug } });
  const json = { 'content-type': 'application/json' };
  return {
    byHeaders: { ...json, 'x-gateway-api-key': gatewayKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk-bench', custom_host: host, retry: { attempts: 2 } }) },
    byKey: { ...json, 'x-gateway-api-key': String(key.key) },
    keyId: String(key.id),
    configSlug: String(config.slug),
  };
}

async function measureRate(subject: Subject, stored: Stored): Promise<void> {
  const ratios: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const found: { readonly rate: number; readonly cpuUs: number }[] = [];
    // Turned about, so that what drifts does so for both.
    for (const headers of round % 2 === 0 ? [stored.byHeaders, stored.byKey] : [stored.byKey, stored.byHeaders]) {
      const before = subjectCpuUs(subject);
      const figures = await generate(subject, { mode: 'loop', headers, body: chat('bench'), warmupMs: 0 });
      if ((figures.badStatus ?? 0) > 0) throw new Error(`${figures.badStatus} answers were not 200`);
      found.push({ rate: figures.requestsPerSecond ?? NaN, cpuUs: (subjectCpuUs(subject) - before) / (figures.requests ?? NaN) });
    }
    const [headersRound, keyRound] = round % 2 === 0 ? [found[0], found[1]] : [found[1], found[0]];
    // The first warms both up.
    if (round === 0 || headersRound === undefined || keyRound === undefined) continue;
    ratios.push(keyRound.rate / headersRound.rate);
    cpu.push(keyRound.cpuUs / headersRound.cpuUs);
  }
  const list = (values: readonly number[]): string => values.map((value) => value.toFixed(3)).join(' ');
  console.log(`\nby key with stored config and provider, to the same call by headers: requests/s ${median(ratios).toFixed(3)} (${list(ratios)}), CPU ${median(cpu).toFixed(3)} (${list(cpu)})`);
}

/** `elsewhere`: the writes go to another gateway, which takes the same of the machine and nothing else from the calls. */
const phases = ['quiet', 'writing', 'elsewhere'] as const;

async function measureWrites(subject: Subject, other: Subject, stored: Stored): Promise<void> {
  const p99 = { quiet: [] as number[], writing: [] as number[], elsewhere: [] as number[] };
  let made = 0;
  const key = JSON.stringify({ name: 'made by the bench', workspace_id: 'first-workspace', scopes: ['completions.write'] });
  for (let round = 0; round < rounds; round += 1) {
    for (const phase of round % 2 === 0 ? phases : [...phases].reverse()) {
      const calls = generate(subject, { mode: 'paced', headers: stored.byKey, body: chat('bench'), requestsPerSecond: rate });
      const written = phase === 'quiet' ? undefined : await generate(phase === 'writing' ? subject : other, { mode: 'paced', path: '/v1/api-keys/workspace/service', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: key, requestsPerSecond: writes });
      const figures = await calls;
      if ((figures.badStatus ?? 0) > 0 || (written?.badStatus ?? 0) > 0) throw new Error(`answers that were not 200: ${figures.badStatus} of the calls, ${written?.badStatus ?? 0} of the writes`);
      if (phase === 'writing') made += written?.requests ?? 0;
      p99[phase].push(figures.p99Us ?? NaN);
    }
  }
  const list = (values: readonly number[]): string => values.map((value) => (value / 1000).toFixed(2)).join(' ');
  console.log(`\n${rate} requests/s, p99 in ms: alone ${list(p99.quiet)}; while ${writes} control writes/s run (${made} in all) ${list(p99.writing)}; while they run on another gateway of this machine ${list(p99.elsewhere)}; median ${[p99.quiet, p99.writing, p99.elsewhere].map((values) => (median(values) / 1000).toFixed(2)).join(', ')}`);
}

/** From the reply of the control plane to the first call that obeys, over new connections, so that the kernel spreads them over all threads. */
async function measureObedience(subject: Subject, stored: Stored): Promise<void> {
  const after: number[] = [];
  for (let round = 0; round < obeyTries; round += 1) {
    const made = await control(subject, 'POST', '/api-keys/workspace/service', { name: 'to be revoked', workspace_id: 'first-workspace', scopes: ['completions.write'], defaults: { config_id: stored.configSlug } });
    const call = async (): Promise<number> => {
      const response = await fetch(`http://127.0.0.1:${subject.port}/v1/chat/completions`, { method: 'POST', headers: { 'x-gateway-api-key': String(made.key), 'content-type': 'application/json', connection: 'close' }, body: chat('bench') });
      await response.arrayBuffer();
      return response.status;
    };
    const first = await call();
    if (first !== 200) throw new Error(`a call with a key just made was answered with ${first}`);
    await control(subject, 'DELETE', `/api-keys/${String(made.id)}`);
    const from = performance.now();
    let last = from;
    // Each thread is asked several times.
    for (let tries = 0; tries < 8; tries += 1) if (await call() === 200) last = performance.now();
    after.push(last - from);
  }
  console.log(`\nrevoked keys: ${after.filter((ms) => ms > 0).length} of ${after.length} were taken once more, at the latest ${Math.max(...after).toFixed(1)} ms after the reply`);
}

const turnCalls = 1_500;
const listCalls = 100;
const rowsOfList = 800;

/** How long control calls hold the loop of a serving thread, one at a time. */
async function measureTurns(subject: Subject): Promise<void> {
  const create = async (): Promise<void> => { await control(subject, 'POST', '/api-keys/workspace/service', { name: 'made by the bench', workspace_id: 'first-workspace', scopes: ['completions.write'] }); };
  for (let done = 0; done < rowsOfList; done += 1) await create();
  const works: readonly (readonly [string, () => Promise<void>])[] = [
    ['nothing runs', () => new Promise((resolve) => { setTimeout(resolve, seconds * 1000); })],
    [`${turnCalls} keys created`, async () => { for (let done = 0; done < turnCalls; done += 1) await create(); }],
    [`${listCalls} lists of ${rowsOfList} keys`, async () => { for (let done = 0; done < listCalls; done += 1) await control(subject, 'GET', `/api-keys?workspace_id=first-workspace&page_size=${rowsOfList}`); }],
  ];
  for (const [name, work] of works) {
    const { probe } = await probed(subject, async () => { await work(); return {}; });
    console.log(`\n${name}: ${probe['longTurns']} turns of the loop computed for more than 2 ms, the longest ${(probe['longestTurnMs'] ?? NaN).toFixed(1)} ms; ${probe['youngCollections']} young collections, ${((probe['youngCollectionsMs'] ?? NaN) / (probe['youngCollections'] ?? NaN)).toFixed(1)} ms each, the longest collection ${(probe['longestCollectionMs'] ?? NaN).toFixed(1)} ms`);
  }
}

async function measureAll(): Promise<void> {
  const upstream = await startUpstream();
  const around = { upstreamPort: upstream.port, temporaryDirectory };
  const isAsked = (name: string): boolean => options.only === undefined || options.only === name;
  if (isAsked('starts')) await measureStarts(around);
  if (isAsked('rate')) {
    const { subject } = await timedStart('rate', around);
    await measureRate(subject, await store(subject, around.upstreamPort));
    await subject.child?.stop();
  }
  if (isAsked('turns')) {
    const { subject } = await timedStart('turns', around, { isUnpinned: true, hasProbe: true, environment: { GATEWAY_THREADS: '1', BENCH_PROBE_TURNS: '1' } });
    await measureTurns(subject);
    await subject.child?.stop(20_000);
  }
  if (!isAsked('writes') && !isAsked('obedience')) return;
  const { subject: wide } = await timedStart('full', around, { isUnpinned: true, environment: { GATEWAY_THREADS: '2' } });
  const storedThere = await store(wide, around.upstreamPort);
  await measureObedience(wide, storedThere);
  if (!isAsked('writes')) return;
  const { subject: other } = await timedStart('other', around, { isUnpinned: true, environment: { GATEWAY_THREADS: '2' } });
  await measureWrites(wide, other, storedThere);
}

if (options.help) {
  console.log('node dist/bench/stored.js [--keys 100000] [--seconds 4] [--rounds 5] [--rate 2000] [--writes 1000] [--only starts|rate|turns|obedience|writes]');
} else {
  console.log(describeMachine());
  try {
    await measureAll();
  } finally {
    await stopAll();
    rmSync(temporaryDirectory, { recursive: true, force: true });
  }
}
