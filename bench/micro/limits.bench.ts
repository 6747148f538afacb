// What limits cost the thread that serves calls: a call that key, provider, integration, workspace and two policies limit (taken before it goes out, told in its headers, settled at
// its end), by requests and by tokens; beside one that nothing limits, and without the part that is written into the record.
import { Bench } from 'tinybench';
import { parseJsonObject } from '../../core/body/parse.js';
import { field } from '../../core/body/scan.js';
import { chat } from '../../core/dialect/chat/dialect.js';
import { Exchange } from '../../core/exchange/exchange.js';
import { RequestHead } from '../../core/exchange/request-head.js';
import { noUsage } from '../../core/exchange/usage.js';
import { Counters } from '../../core/limits/counters.js';
import { Gate } from '../../core/limits/gate.js';
import { limitSpecs, type LimitSpec } from '../../core/snapshot/limit-specs.js';
import type { Principal } from '../../core/snapshot/principal.js';
import { StoredPolicies } from '../../core/snapshot/workspace-policies.js';
import { WorkspaceState } from '../../core/snapshot/workspace-state.js';
import { ratePolicies, type RatePolicyRow } from '../../core/storage/tables/policies.js';
import type { WorkspaceRow } from '../../core/storage/tables/workspaces.js';

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

function caseOf(type: 'requests' | 'tokens'): Case {
  const rates = [{ type, unit: 'rpm', value: much }];
  const workspace = new WorkspaceState('w');
  const policies = new StoredPolicies();
  const rows: readonly RatePolicyRow[] = [{ ...policyRow, type }, { ...policyRow, id: 'p2', type, conditions: [{ key: 'model', value: 'gpt-4o-mini' }], groupBy: [{ key: 'api_key' }] }];
  for (const row of rows) policies.put(ratePolicies.name, row);
  workspace.rules = null;
  workspace.limits = limitSpecs('workspace', 'w', 'w', rates, []);
  workspace.policies = policies.of(workspaceRow);
  const principal: Principal = {
    keyId: 'k', organisationId: 'o', workspaceId: 'w', scopes: new Set(), type: 'workspace-service', expiresAtMs: Infinity, defaults: null, workspace, limits: limitSpecs('key', 'k', 'k', rates, []), token: null,
  };
  return { principal, ofTarget: [...limitSpecs('provider', 'p', 'p', rates, []) ?? [], ...limitSpecs('access', 'i.w', 'i', rates, []) ?? []] };
}

const gateOf = (isRecorded: boolean): Gate => new Gate({
  counters: new Counters(Counters.allocate()), journal: null, outputTokens: 1_000, isRecorded,
  prices: { cost: () => ({ cents: 0, isPriced: false }), expected: () => 0, load: () => null },
});

const headers: string[] = [];
function limited(gate: Gate, { principal, ofTarget }: Case, exchange: Exchange): void {
  exchange.hold = gate.open(exchange, principal);
  if (gate.take(exchange, ofTarget) !== null) throw new Error('it waits');
  headers.length = 0;
  exchange.hold?.addHeaders(headers);
  exchange.hold?.settle(usage, false);
  exchange.decisions = null;
}

const plain: Principal = { ...caseOf('requests').principal, limits: null, workspace: new WorkspaceState('plain') };
function unlimited(exchange: Exchange, principal: Principal, ofTarget: readonly LimitSpec[] | null): boolean {
  exchange.hold = null;
  const { workspace } = principal;
  if (principal.limits !== null || (workspace !== null && (workspace.limits !== null || workspace.policies !== null))) return true;
  return exchange.hold !== null || ofTarget !== null;
}

const [recorded, unrecorded] = [gateOf(true), gateOf(false)];
const [byRequests, byTokens] = [caseOf('requests'), caseOf('tokens')];
const exchange = exchangeOf();
const bench = new Bench({ time: 1_000 });
bench.add('nothing limits the call', () => { if (unlimited(exchange, plain, null)) throw new Error('it is limited'); });
bench.add('six limits of requests', () => limited(unrecorded, byRequests, exchange));
bench.add('six limits of requests, told in the record', () => limited(recorded, byRequests, exchange));
bench.add('six limits of tokens', () => limited(unrecorded, byTokens, exchange));
bench.add('six limits of tokens, told in the record', () => limited(recorded, byTokens, exchange));
await bench.run();
console.table(bench.table());
