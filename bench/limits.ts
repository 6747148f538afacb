// `node dist/bench/limits.js`: whether limits hold. Eight connections over two threads against a limit of requests, by key and by the groups of a policy, for as many
// windows as asked: exactly as many pass in each as it says. Then calls that use more tokens than anybody expects: how far a limit of tokens is overshot.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stopAll } from './load/children.js';
import { loadWindows, type LimitedSeries } from './load/limit-windows.js';
import { describeMachine } from './load/machine.js';
import { adminKey, startGateway, type Subject } from './load/subjects.js';

const { values: options } = parseArgs({
  options: {
    windows: { type: 'string', default: '20' }, limit: { type: 'string', default: '1000' }, unit: { type: 'string', default: 'rpm' }, threads: { type: 'string', default: '2' },
    connections: { type: 'string', default: '8' }, users: { type: 'string', default: '2' }, only: { type: 'string' }, help: { type: 'boolean', default: false },
  },
});
const usage = 'node dist/bench/limits.js [--windows 20] [--limit 1000] [--unit rpm|rps] [--threads 2] [--connections 8] [--users 2] [--only windows|tokens]';
const tree = resolve(import.meta.dirname, '..', '..');
const workspace = 'first-workspace';
const [windows, limit, connections, users] = [options.windows, options.limit, options.connections, options.users].map(Number) as [number, number, number, number];
const unitMs = options.unit === 'rps' ? 1_000 : 60_000;
/** The groups of a policy know no seconds. */
const policyLimit = Math.max(1, Math.round(limit / 10));
const tokensPerCall = 500;
const tokenLimit = 20_000;
const maxTokensExpected = 100;
/** Long enough for all connections to have a call in flight. */
const tokensAnswerMs = 50;
/** A thread that got no connection does less than this of the work. */
const shareMin = 0.05;

async function control(subject: Subject, method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${subject.port}/v1${path}`, { method, headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

const makeKey = async (subject: Subject, limits: object): Promise<string> =>
  String((await control(subject, 'POST', '/api-keys/workspace/service', { name: 'limited', workspace_id: workspace, scopes: ['completions.write'], ...limits })).key);

/** Seconds for which each serving thread had something to do: connections are given to threads by the kernel, and all of them on one would prove nothing about two. */
async function busyThreads(subject: Subject): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${subject.port}/metrics`);
  const text = await response.text();
  return new Map([...text.matchAll(/^gateway_event_loop_busy_seconds_total\{thread="(serve-\d+)"\} (\S+)$/gm)].map(([, name, seconds]) => [name ?? '', Number(seconds)] as const));
}

/** Of the work of all threads, the share of the least busy one. */
async function leastShare(subject: Subject, before: ReadonlyMap<string, number>): Promise<number> {
  const busy = [...await busyThreads(subject)].map(([name, seconds]) => seconds - (before.get(name) ?? 0));
  return busy.length === Number(options.threads) ? Math.min(...busy) / busy.reduce((sum, each) => sum + each, 0) : NaN;
}

interface Served {
  calls: number;
  open: number;
  openMax: number;
  /** How long the provider takes for its answer. */
  answerMs: number;
}

async function windowsHold(subject: Subject, served: Served): Promise<boolean> {
  const headersOf = (key: string, user?: string): Readonly<Record<string, string>> =>
    ({ 'x-gateway-api-key': key, 'x-gateway-provider': '@bench', ...(user === undefined ? {} : { 'x-gateway-metadata': JSON.stringify({ _user: user }) }) });
  const series: LimitedSeries[] = [{ name: `key, ${limit} ${options.unit}`, headers: headersOf(await makeKey(subject, { rate_limits: [{ type: 'requests', unit: options.unit, value: limit }] })), limit, windowMs: unitMs }];
  if (users > 0) {
    await control(subject, 'POST', '/policies/rate-limits', { name: 'by user', workspace_id: workspace, conditions: [{ key: 'metadata._user', value: '*' }], group_by: [{ key: 'metadata._user' }], type: 'requests', unit: 'rpm', value: policyLimit });
    const key = await makeKey(subject, {});
    for (let user = 0; user < users; user += 1) series.push({ name: `user ${user} of a policy, ${policyLimit} rpm`, headers: headersOf(key, `user-${user}`), limit: policyLimit, windowMs: 60_000 });
  }
  // It begins within a window, and ends in the middle of the last one.
  const untilMs = (Math.floor(Date.now() / unitMs) + windows - 1) * unitMs + unitMs / 2;
  served.calls = served.answerMs = 0;
  const before = await busyThreads(subject);
  console.log(`\n${connections} connections over ${options.threads} threads, ${windows} windows`);
  const figures = await loadWindows({ port: subject.port, series, connections, untilMs, pauseMs: unitMs === 1_000 ? 1 : 20, onProgress: (passed, refused) => console.log(`  ${passed} passed, ${refused} refused`) });
  const share = await leastShare(subject, before);
  for (const { name, limit: of, passed, refused, windows: used, usedUp, rest, fault } of figures) {
    console.log(`${fault === undefined ? 'exact' : 'FAULT'}  ${name}: ${used} windows of ${of} used up (${usedUp} by the clock), ${passed} passed${rest > 0 ? ` (${rest} of windows not used up)` : ''}, ${refused} refused${fault === undefined ? '' : `: ${fault}`}`);
  }
  const passed = figures.reduce((sum, each) => sum + each.passed, 0);
  console.log(`the provider got ${served.calls} calls, and ${passed} were answered with 200; the less busy thread did ${(share * 100).toFixed(0)} % of the work`);
  // The last window may not be used up in the half of it that is left.
  const wanted = unitMs === 60_000 ? windows - 1 : 1;
  const faults = [
    ...figures.filter(({ windows: used, usedUp }) => used < wanted || Math.abs(used - usedUp) > 1).map(({ name, windows: used, usedUp }) => `${name}: ${used} windows were used up, ${usedUp} by the clock, of ${windows}`),
    ...(passed === served.calls ? [] : [`${passed} calls were answered with 200, and the provider got ${served.calls}`]),
    ...(share >= shareMin ? [] : ['the connections did not reach all threads; run it again']),
  ];
  for (const fault of faults) console.log(`FAULT  ${fault}`);
  return faults.length === 0 && figures.every(({ fault }) => fault === undefined);
}

/** Each call is taken to use `maxTokensExpected`, and uses far more. */
async function tokensHold(subject: Subject, served: Served): Promise<boolean> {
  const key = await makeKey(subject, { rate_limits: [{ type: 'tokens', unit: 'rpd', value: tokenLimit }] });
  const body = JSON.stringify({ model: 'bench-tokens', messages: [{ role: 'user', content: 'hi' }] });
  const reserved = Math.ceil(body.length / 4) + maxTokensExpected;
  served.calls = served.openMax = 0;
  served.answerMs = tokensAnswerMs;
  let refused = 0;
  const run = async (): Promise<void> => {
    for (let call = 0; call < 1_000 && refused < connections * 4; call += 1) {
      const response = await fetch(`http://127.0.0.1:${subject.port}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-provider': '@bench' }, body });
      await response.arrayBuffer();
      if (response.status === 429) refused += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  const used = served.calls * tokensPerCall;
  const allowed = connections * (tokensPerCall - Math.min(reserved, tokensPerCall));
  const overshoot = Math.max(0, used - tokenLimit);
  console.log(`\ntokens: ${served.calls} calls of ${tokensPerCall} tokens (${reserved} reserved for each) used ${used} of ${tokenLimit}: overshot by ${overshoot}; ${connections} connections have at most ${allowed} beyond their estimates in flight (the provider saw ${served.openMax} at once); ${refused} refused`);
  // Whoever was refused found less left than was reserved for a call, and each call uses more than was reserved for it.
  const isUsedUp = used > tokenLimit - reserved;
  if (!isUsedUp) console.log(`FAULT  calls were refused when ${used} of ${tokenLimit} tokens were used`);
  if (served.openMax < connections) console.log(`FAULT  at most ${served.openMax} calls were in flight at once, of ${connections}`);
  return overshoot <= allowed && refused > 0 && isUsedUp && served.openMax === connections;
}

async function main(): Promise<boolean> {
  const served: Served = { calls: 0, open: 0, openMax: 0, answerMs: 0 };
  const answer = Buffer.from(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'bench-tokens', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: tokensPerCall - 10, total_tokens: tokensPerCall } }));
  const send = (response: ServerResponse): void => {
    served.open -= 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(answer.length) });
    response.end(answer);
  };
  const upstream = createServer((request, response) => {
    request.resume().once('end', () => {
      served.calls += 1;
      served.open += 1;
      served.openMax = Math.max(served.openMax, served.open);
      setTimeout(send, served.answerMs, response);
    });
  });
  await new Promise<void>((listening) => { upstream.listen(0, '127.0.0.1', listening); });
  const { port } = upstream.address() as AddressInfo;
  const temporaryDirectory = mkdtempSync(join(tmpdir(), 'gateway-bench-limits-'));
  try {
    const subject = await startGateway('limits', 'node dist/core/main.js start', tree, { upstreamPort: port, temporaryDirectory }, {
      isUnpinned: true, readyTimeoutMs: 60_000, environment: { GATEWAY_THREADS: String(options.threads), GATEWAY_EXPORTERS: 'store,prometheus', GATEWAY_LIMIT_OUTPUT_TOKENS: String(maxTokensExpected) },
    });
    await control(subject, 'POST', '/integrations', { name: 'Bench', slug: 'bench', ai_provider_id: 'openai', key: 'sk-bench', workspace_id: workspace, configurations: { custom_host: `http://127.0.0.1:${port}/v1` }, create_default_provider: false });
    await control(subject, 'POST', '/providers', { name: 'Bench', slug: 'bench', integration_id: 'bench', workspace_id: workspace });
    const tokens = options.only === 'windows' || await tokensHold(subject, served);
    return (options.only === 'tokens' || await windowsHold(subject, served)) && tokens;
  } finally {
    await stopAll();
    upstream.closeAllConnections();
    upstream.close();
    rmSync(temporaryDirectory, { recursive: true, force: true });
  }
}

if (options.help) console.log(usage);
else {
  console.log(describeMachine());
  process.exitCode = await main() ? 0 : 1;
}
