// What each check costs: a verdict on a text of 1 kB and of 100 kB on the loop, of 100 kB through the worker pool where the check may go there,
// and an event of 20 characters where it judges streams. Medians in microseconds. Services that a check asks answer at once and in this
// process, so that what is left is the gateway's own work. Writes checks-bench.json beside the built sources; the table of checks shows it.

import { readdirSync, writeFileSync } from 'node:fs';
import type { Check, CheckInput, GuardrailPlugin, Json } from '@gateway/plugin-sdk';
import { bodyWithText, fakeCheckInput, fakeExchange, fakeHost, withDefaults, type FakeHostOptions } from '@gateway/plugin-sdk/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { field } from '../../core/body/scan.js';
import { PoolCheck } from '../../core/workers/check-runner.js';
import { WorkerPool } from '../../core/workers/pool.js';
import { endpoint, workloads, type Workload } from './check-workloads.js';
import { prose } from './check-prose.js';

const isQuick = process.env.BENCH_QUICK === '1';
/** For each figure. */
const measuredMs = isQuick ? 15 : 120;
/** A sample takes at least as long, so that the clock does not matter. */
const sampleMs = 0.2;
const samplesMin = 5;
const pooledRuns = isQuick ? 3 : 15;
/** The worker's compiler has to see a check for some time as well. */
const pooledWarmUps = isQuick ? 3 : 20;
const streamedEvents = isQuick ? 400 : 2000;
const eventCharacters = 20;
const timeoutMs = 30_000;

const texts = { short: prose(1024), long: prose(100 * 1024) };

interface Figures {
  readonly short: number;
  readonly long: number;
  /** Null: it never goes there. */
  readonly pooled: number | null;
  /** Null: it does not judge streams as they pass. */
  readonly event: number | null;
}

const median = (values: readonly number[]): number => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Microseconds. Verdicts that need no waiting are not waited for. */
async function timeOf(work: () => unknown): Promise<number> {
  const run = async (count: number): Promise<number> => {
    const startedAt = performance.now();
    for (let index = 0; index < count; index += 1) {
      const done = work();
      if (done instanceof Promise) await done;
    }
    return performance.now() - startedAt;
  };
  // Long enough for the compiler, and to see how many fit into a sample.
  let count = 1;
  const warmUntilMs = performance.now() + measuredMs / 2;
  let tookMs = await run(1);
  while (performance.now() < warmUntilMs) {
    tookMs = await run(count);
    if (tookMs < sampleMs) count *= 2;
  }
  const samples: number[] = [];
  const untilMs = performance.now() + measuredMs;
  while (samples.length < samplesMin || performance.now() < untilMs) samples.push((await run(count)) / count);
  return median(samples) * 1000;
}

/** What is read out of a body is shared by the checks of a call: it is no cost of one. */
function inputOf(work: Workload, plugin: GuardrailPlugin, text: string): CheckInput {
  const { stage = plugin.stages.includes('input') ? 'input' : 'output', metadata, headers } = work;
  const said = work.text?.(text) ?? text;
  const body = work.body?.(said) ?? bodyWithText('chatCompletions', stage === 'input' ? said : 'hello');
  const input = fakeCheckInput({
    endpoint, stage, body, provider: 'openai', ...(stage === 'input' ? {} : { answer: bodyWithText('chatCompletions', said, 'output') }),
    ...(metadata === undefined ? {} : { metadata }), ...(headers === undefined ? {} : { headers }),
  });
  const all = input.text();
  const bytes = input.exchange.request.bytes();
  return { ...input, text: () => all, exchange: { ...input.exchange, request: { ...input.exchange.request, bytes: () => bytes, field: (name) => field(bytes, name) } } };
}

async function make(plugin: GuardrailPlugin, params: Readonly<Record<string, Json>>, { fetch }: FakeHostOptions = {}): Promise<Check> {
  const host = fakeHost({ nowMs: Date.now() });
  if (fetch === undefined) return plugin.create(withDefaults(plugin.params, params), host);
  // The fake host keeps every request, which would be a cost of its own.
  return plugin.create(withDefaults(plugin.params, params), {
    ...host,
    fetch: async (request) => {
      const { status = 200, headers = {}, body = '' } = await fetch(request);
      return { status, header: (name) => headers[name.toLowerCase()], bytes: async () => (typeof body === 'string' ? Buffer.from(body) : body) };
    },
  });
}

async function eventTimeOf(check: Check, lookBackMax: number, work: Workload): Promise<number> {
  const { stream } = check;
  if (stream === undefined) throw new Error('it says that it judges streams, and has no stream');
  const text = work.text?.(texts.long) ?? texts.long;
  const events = Array.from({ length: streamedEvents }, (_, index) => text.slice(index * eventCharacters, (index + 1) * eventCharacters));
  const exchange = fakeExchange({ endpoint, body: bodyWithText('chatCompletions', 'hello') });
  const time = await timeOf(() => {
    const judge = stream.call(check, exchange);
    let before = '';
    let held = '';
    for (const event of events) {
      held += event;
      const { release, fails } = judge.push({ channel: '0', kind: 'text', group: 0, before, text: held, isLast: false });
      if (fails === true) throw new Error('it ended the stream early');
      if (release === held.length) {
        before = lookBackMax === 0 ? '' : (before + held).slice(-lookBackMax);
        held = '';
      } else {
        before = (before + held.slice(0, release)).slice(-lookBackMax);
        held = held.slice(release);
      }
    }
    judge.push({ channel: '0', kind: 'text', group: 0, before, text: held, isLast: true });
    if (!judge.verdict().pass) throw new Error('it fails at the end of the stream');
  });
  return time / events.length;
}

async function pooledTimeOf(pool: WorkerPool, module: URL, plugin: GuardrailPlugin, work: Workload): Promise<number> {
  const check = new PoolCheck(pool, module, withDefaults(plugin.params, work.params), timeoutMs);
  await check.prepare();
  const times: number[] = [];
  for (let run = 0; run < pooledRuns + pooledWarmUps; run += 1) {
    // A body of its own each time: it is written out for the worker once.
    const input = inputOf(work, plugin, texts.long);
    const startedAt = performance.now();
    const { pass } = await check.evaluate(input);
    if (run >= pooledWarmUps) times.push(performance.now() - startedAt);
    if (!pass) throw new Error('it fails in the pool');
  }
  return median(times) * 1000;
}

/** Tokens have to be signed now. */
async function signedWorkload(): Promise<Workload> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: 'one' }).setSubject('ann').setIssuedAt().setExpirationTime('1h').sign(privateKey);
  const key = { ...await exportJWK(publicKey), kid: 'one', alg: 'RS256' } as Readonly<Record<string, Json>>;
  return { params: { jwks: { keys: [key] }, headerKey: 'x-user-token' }, headers: { 'x-user-token': token } };
}

const folderUrl = new URL('../../plugins/guardrails/', import.meta.url);
const folders = readdirSync(folderUrl, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'common').map(({ name }) => name).sort();
const pool = new WorkerPool(1);
const checks: Record<string, Figures> = {};

for (const folder of folders) {
  const module = new URL(`${folder}/plugin.js`, folderUrl);
  const plugin = ((await import(module.href)) as { default: GuardrailPlugin }).default;
  const work = folder === 'jwt' ? await signedWorkload() : workloads[folder];
  if (work === undefined) throw new Error(`${folder} has no work in bench/micro/check-workloads.ts`);
  const check = await make(plugin, work.params, work.host);
  const times: number[] = [];
  for (const text of [texts.short, texts.long]) {
    const input = inputOf(work, plugin, text);
    const { pass, why } = await check.evaluate(input);
    if (!pass) throw new Error(`${folder} fails, and its work is to pass: ${why}`);
    times.push(await timeOf(() => check.evaluate(input)));
  }
  const isStreamed = plugin.stages.includes('output') && plugin.needs.response === 'events';
  const streamed = work.streamParams === undefined ? check : await make(plugin, work.streamParams, work.host);
  checks[folder] = {
    short: times[0] ?? Number.NaN,
    long: times[1] ?? Number.NaN,
    pooled: (plugin.runs ?? 'loop') === 'loop' ? null : await pooledTimeOf(pool, module, plugin, work),
    event: isStreamed ? await eventTimeOf(streamed, plugin.lookBackMax ?? 0, work) : null,
  };
}
await pool.close();

const shown = (value: number | null): string => (value === null ? '' : value < 10 ? value.toFixed(2) : value.toFixed(0));
console.log('µs for a verdict (median); the jwt check knows its token\'s signature already, and services answer at once');
console.table(Object.fromEntries(Object.entries(checks).map(([folder, { short, long, pooled, event }]) =>
  [folder, { '1 kB': shown(short), '100 kB': shown(long), '100 kB, pool': shown(pooled), 'event of 20': shown(event) }])));
if (!isQuick) writeFileSync(new URL('../../checks-bench.json', import.meta.url), `${JSON.stringify({ unit: 'µs', checks }, null, 2)}\n`);
