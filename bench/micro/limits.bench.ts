// What limits cost the thread that serves calls: a call that key, provider, integration, workspace and two policies limit (taken before it goes out, told in its headers, settled at
// its end), by requests and by tokens; beside one that nothing limits, and without the part that is written into the record. What is told is written into the record,
// so calls with their records are measured beside a record that has nothing to tell; its text is made by the log thread. CPU time of many calls in turn, of 64 keys, since one and the same call again and again
// is compiled for its own constants, and wall times of a microsecond mean nothing on a busy machine.
import { parseJsonObject } from '../../core/body/parse.js';
import { field } from '../../core/body/scan.js';
import { chat } from '../../core/dialect/chat/dialect.js';
import { Exchange } from '../../core/exchange/exchange.js';
import { RequestHead } from '../../core/exchange/request-head.js';
import { noUsage } from '../../core/exchange/usage.js';
import { Counters } from '../../core/limits/counters.js';
import { Gate } from '../../core/limits/gate.js';
import { CallHold } from '../../core/limits/hold.js';
import { RecordWriter } from '../../core/logs/record-writer.js';
import { RingMemory } from '../../core/logs/ring.js';
import { limitSpecs, type LimitSpec } from '../../core/snapshot/limit-specs.js';
import type { Principal } from '../../core/snapshot/principal.js';
import { StoredPolicies } from '../../core/snapshot/workspace-policies.js';
import { WorkspaceState } from '../../core/snapshot/workspace-state.js';
import { ratePolicies, type RatePolicyRow } from '../../core/storage/tables/policies.js';
import type { WorkspaceRow } from '../../core/storage/tables/workspaces.js';
import { Admission } from '../../core/telemetry/admission.js';
import { FaultReport } from '../../core/telemetry/fault-report.js';
import { Metrics } from '../../core/telemetry/metrics.js';

const body = Buffer.from('{"model":"gpt-4o-mini","max_tokens":100,"messages":[{"role":"user","content":"hello"}]}');
const usage = { ...noUsage, model: 'gpt-4o-mini', inputTokens: 12, outputTokens: 34, totalTokens: 46 };
const much = 1e11;

function exchangeOf(): Exchange {
  const head = new RequestHead();
  head.method = 'POST';
  head.path = '/v1/chat/completions';
  head.contentType = 'application/json';
  head.contentLength = body.length;
  head.metadata = '{"_user":"ann"}';
  const responder = { isOpen: false, isStarted: true, bytesSent: 512, drainListener: null, send() {}, start() {}, write: () => true, end() {}, abort() {} };
  const client = { collect() {}, stream: () => { throw new Error('not read here'); }, discard() {}, letGo: () => undefined };
  const exchange = new Exchange(head, { name: 'chatCompletions', dialect: chat, body: 'json', scope: 'completions.write', validate: null, isSingleTarget: false }, '', client, responder, { parse: parseJsonObject, field });
  exchange.bytes = body;
  exchange.json();
  void exchange.metadata;
  exchange.status = 200;
  exchange.attempts = 1;
  return exchange;
}

const policyRow: RatePolicyRow = {
  id: 'p1', organisationId: 'o', workspaceId: 'w', name: 'by user', description: null, conditions: [{ key: 'metadata._user', value: '*' }], groupBy: [{ key: 'metadata._user' }],
  status: 'active', createdAtMs: 1, updatedAtMs: 1, target: 'llm', type: 'requests', unit: 'rpm', value: much,
};
const workspaceRow: WorkspaceRow = {
  id: 'w', organisationId: 'o', slug: 'w', name: 'w', description: null, icon: null, status: 'active', isDefault: true, createdAtMs: 1, updatedAtMs: 1,
  defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [],
};

interface Case {
  readonly principal: Principal;
  readonly ofTarget: readonly LimitSpec[] | null;
}

function caseOf(type: 'requests' | 'tokens', keyId: string): Case {
  const rates = [{ type, unit: 'rpm', value: much }];
  const workspace = new WorkspaceState('w');
  const policies = new StoredPolicies();
  const rows: readonly RatePolicyRow[] = [{ ...policyRow, type }, { ...policyRow, id: 'p2', type, conditions: [{ key: 'model', value: 'gpt-4o-mini' }], groupBy: [{ key: 'api_key' }] }];
  for (const row of rows) policies.put(ratePolicies.name, row);
  workspace.rules = null;
  workspace.limits = limitSpecs('workspace', 'w', 'w', rates, []);
  workspace.policies = policies.of(workspaceRow);
  const principal: Principal = {
    keyId, organisationId: 'o', workspaceId: 'w', scopes: new Set(), type: 'workspace-service', expiresAtMs: Infinity, defaults: null, workspace, limits: limitSpecs('key', keyId, keyId, rates, []), token: null,
  };
  return { principal, ofTarget: [...limitSpecs('provider', 'p', 'p', rates, []) ?? [], ...limitSpecs('access', 'i.w', 'i', rates, []) ?? []] };
}

const gateOf = (isRecorded: boolean): Gate => new Gate({
  counters: new Counters(Counters.allocate()), journal: null, outputTokens: 1_000, isRecorded,
  prices: { cost: () => ({ cents: 0, isPriced: false }), expected: () => 0, load: () => null },
});

const metrics = new Metrics();
const report = new FaultReport({ log: () => undefined, metrics, message: 'dropped', metric: 'dropped', subject: 'at' });
const memory = new RingMemory(RingMemory.allocate());
const writer = new RecordWriter(memory, { admission: new Admission(report), dropped: report, bodiesDropped: report, name: 'thread 0' });
function record(exchange: Exchange): void {
  writer.write(exchange, usage);
  // As a reader that takes no time.
  Atomics.store(memory.control, 16, Atomics.load(memory.control, 0));
}

const headers: string[] = [];
const takenWanted = 6;
function limited(gate: Gate, { principal, ofTarget }: Case, exchange: Exchange, hasRecord = false): void {
  exchange.hold = gate.open(exchange, principal);
  if (gate.take(exchange, ofTarget) !== null) throw new Error('it waits');
  const { hold } = exchange;
  if (!(hold instanceof CallHold) || hold.taken.length !== takenWanted) throw new Error(`not ${takenWanted} limits`);
  headers.length = 0;
  hold.addHeaders(headers);
  hold.settle(usage, false);
  if (hasRecord) record(exchange);
  exchange.decisions = null;
}

const plain: Principal = { ...caseOf('requests', 'plain').principal, limits: null, workspace: new WorkspaceState('plain') };
function unlimited(exchange: Exchange, principal: Principal, ofTarget: readonly LimitSpec[] | null): boolean {
  exchange.hold = null;
  const { workspace } = principal;
  if (principal.limits !== null || (workspace !== null && (workspace.limits !== null || workspace.policies !== null))) return true;
  return exchange.hold !== null || ofTarget !== null;
}

const [recorded, unrecorded] = [gateOf(true), gateOf(false)];
const keys = 64;
const calls = 20_000;
const [warmUps, rounds] = process.env.BENCH_QUICK === '1' ? [4, 8] : [10, 50];
const casesOf = (type: 'requests' | 'tokens'): readonly Case[] => Array.from({ length: keys }, (_, index) => caseOf(type, `key-${index}`));
const [byRequests, byTokens] = [casesOf('requests'), casesOf('tokens')];
const exchanges = byRequests.map(({ principal }) => Object.assign(exchangeOf(), { principal }));

const works: Readonly<Record<string, (of: Exchange, index: number) => void>> = {
  'nothing limits the call': (of) => { if (unlimited(of, plain, null)) throw new Error('it is limited'); },
  'six limits of requests': (of, index) => limited(unrecorded, byRequests[index] as Case, of),
  'six limits of requests, told': (of, index) => limited(recorded, byRequests[index] as Case, of),
  'six limits of tokens': (of, index) => limited(unrecorded, byTokens[index] as Case, of),
  'six limits of tokens, told': (of, index) => limited(recorded, byTokens[index] as Case, of),
  'a record': (of) => record(of),
  'six limits of requests, told, and a record': (of, index) => limited(recorded, byRequests[index] as Case, of, true),
  'six limits of tokens, told, and a record': (of, index) => limited(recorded, byTokens[index] as Case, of, true),
};

function microseconds(work: (of: Exchange, index: number) => void): number {
  const from = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) work(exchanges[call % keys] as Exchange, call % keys);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / calls;
}

const found = new Map(Object.keys(works).map((name) => [name, [] as number[]] as const));
for (let round = -warmUps; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(works)) {
    const us = microseconds(work);
    if (round >= 0) found.get(name)?.push(us);
  }
}
if (metrics.get('dropped') > 0) throw new Error('records were dropped');
const sorted = new Map([...found].map(([name, values]) => [name, values.sort((left, right) => left - right)]));
const medianOf = (name: string): number => sorted.get(name)?.[rounds >> 1] ?? NaN;
console.table([...sorted].map(([name, values]) => ({ name, 'least, us': (values[0] ?? NaN).toFixed(2), 'median, us': medianOf(name).toFixed(2) })));
for (const counted of ['requests', 'tokens']) {
  const cost = medianOf(`six limits of ${counted}, told, and a record`) - medianOf('a record');
  console.log(`six limits of ${counted} cost ${cost.toFixed(2)} us of CPU a call, with what its record says of them (median; goal 2 us)`);
}
