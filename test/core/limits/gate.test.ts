import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonObject } from '../../../core/body/parse.js';
import { field } from '../../../core/body/scan.js';
import { chat } from '../../../core/dialect/chat/dialect.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { noUsage } from '../../../core/exchange/usage.js';
import { Counters } from '../../../core/limits/counters.js';
import { Gate } from '../../../core/limits/gate.js';
import type { CallHold, Prices } from '../../../core/limits/hold.js';
import type { SpendCharge } from '../../../core/limits/journal.js';
import { limitSpecs, type LimitLevel, type LimitSpec } from '../../../core/snapshot/limit-specs.js';
import type { Principal } from '../../../core/snapshot/principal.js';
import { StoredPolicies } from '../../../core/snapshot/workspace-policies.js';
import { WorkspaceState } from '../../../core/snapshot/workspace-state.js';
import { ratePolicies, usagePolicies } from '../../../core/storage/tables/policies.js';
import type { WorkspaceRow } from '../../../core/storage/tables/workspaces.js';
import { ratePolicyRow, usagePolicyRow } from '../../support/rows.js';

const nowMs = 1_760_000_040_000;
const off = [{ type: 'requests', unit: 'rpd', value: 0 }];
const one = [{ type: 'requests', unit: 'rpd', value: 1 }];
const spentNot = [{ type: 'tokens', credit_limit: 10_000 }];
const spent = [{ type: 'tokens', credit_limit: 0 }];
const workspaceRow: WorkspaceRow = {
  id: 'w', organisationId: 'o', slug: 'w', name: 'w', description: null, icon: null, status: 'active', isDefault: true, createdAtMs: 1, updatedAtMs: 1,
  defaults: { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null }, usageLimits: [], rateLimits: [],
};

function exchangeOf(body: object = {}, route: 'chatCompletions' | 'responses' = 'chatCompletions', method = 'POST', suffix = ''): Exchange {
  const head = new RequestHead();
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages: [], ...body }));
  head.method = method;
  head.path = '/v1/chat/completions';
  head.contentType = 'application/json';
  head.contentLength = bytes.length;
  const responder = { isOpen: false, isStarted: true, bytesSent: 0, drainListener: null, send() {}, start() {}, write: () => true, end() {}, abort() {} };
  const client = { collect() {}, stream: () => { throw new Error('not read here'); }, discard() {}, letGo: () => undefined };
  const exchange = new Exchange(head, { name: route, dialect: chat, body: 'json', scope: 'completions.write', validate: null, isSingleTarget: false }, suffix, client, responder, { parse: parseJsonObject, field });
  exchange.bytes = bytes;
  exchange.status = 200;
  exchange.attempts = 1;
  return exchange;
}

const principalOf = (limits: readonly LimitSpec[] | null = null, workspaceLimits: readonly LimitSpec[] | null = null): Principal => {
  const workspace = new WorkspaceState('w');
  workspace.limits = workspaceLimits;
  return { keyId: 'k', organisationId: 'o', workspaceId: 'w', scopes: new Set(), type: 'workspace-service', expiresAtMs: Infinity, defaults: null, workspace, limits, token: null };
};
const noPrices: Prices = { cost: () => ({ cents: 0, isPriced: false }), expected: () => 0, load: () => null };

function setUp(prices: Prices = noPrices, clock = { nowMs }) {
  const counters = new Counters(Counters.allocate(1024), () => clock.nowMs);
  const entries: (readonly [kind: string, counter: string, reserved: number, used: number])[] = [];
  const note = (kind: string, charges: readonly SpendCharge[]): void => { for (const { counter, reserved, used } of charges) entries.push([kind, counter, reserved, used]); };
  const journal = {
    open: (_: string, charges: readonly SpendCharge[]) => { note('open', charges); return null; },
    settle: (_: string, charges: readonly SpendCharge[]) => note('settle', charges),
    close: () => undefined,
  };
  const gate = new Gate({ counters, journal, outputTokens: 100, prices, isRecorded: true });
  const take = (principal: Principal, ofTarget: readonly LimitSpec[] | null = null, exchange = exchangeOf()): Exchange => {
    exchange.principal = principal;
    exchange.hold = gate.open(exchange, principal);
    assert.equal(gate.take(exchange, ofTarget), null);
    return exchange;
  };
  return { counters, gate, entries, take };
}

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (thrown) {
    if (isGatewayError(thrown)) return thrown.code;
    throw thrown;
  }
  return 'passed';
};

test('each level has codes of its own for rates and budgets', () => {
  const { take } = setUp();
  const names: readonly (readonly [LimitLevel, string])[] = [['key', 'KEY'], ['token', 'KEY'], ['provider', 'PROVIDER'], ['access', 'INTEGRATION'], ['workspace', 'WORKSPACE'], ['policy', 'POLICY']];
  for (const [level, name] of names) {
    assert.equal(codeOf(() => take(principalOf(limitSpecs(level, 'x', 'x', off, [])))), `${name}_RATE_LIMITED`);
    assert.equal(codeOf(() => take(principalOf(limitSpecs(level, 'x', 'x', [], spent)))), `${name}_BUDGET_USED`);
  }
});

test('the first in the order of levels answers, and whatever refuses gives back what was taken before it', () => {
  const { counters, take } = setUp();
  const key = limitSpecs('key', 'k', 'k', one, []);
  const provider = limitSpecs('provider', 'p', 'p', off, []);
  const workspace = limitSpecs('workspace', 'w', 'w', off, []);
  assert.equal(codeOf(() => take(principalOf(key, workspace), provider)), 'PROVIDER_RATE_LIMITED');
  assert.equal(codeOf(() => take(principalOf(key, workspace))), 'WORKSPACE_RATE_LIMITED');
  assert.equal(counters.rate('key/k/requests/rpd', 'rpd'), 0);
  assert.equal(codeOf(() => take(principalOf(key))), 'passed');
  assert.equal(codeOf(() => take(principalOf(key, workspace), provider)), 'KEY_RATE_LIMITED');
});

test('a limit whose counter finds no room refuses', () => {
  const { counters, take } = setUp();
  for (let index = 0; index < 3_000; index += 1) counters.slot(`other ${index}`, 'usage');
  let refusals = 0;
  for (let index = 0; index < 10; index += 1) if (codeOf(() => take(principalOf(limitSpecs('key', `k${index}`, 'k', one, [])))) === 'LIMITS_FULL') refusals += 1;
  assert.ok(refusals > 0);
});

test('values and tokens that clients invent leave room for the limits of all others, however many workspaces do it', () => {
  const { counters, take } = setUp();
  const units = ['rpm', 'rph', 'rpd', 'rpw'] as const;
  const limitsOfWorkspace = (workspace: string) => {
    const policies = new StoredPolicies();
    policies.put(usagePolicies.name, usagePolicyRow(`usage ${workspace}`, { workspaceId: workspace, type: 'requests', creditLimit: 1_000, groupBy: [{ key: 'model' }] }));
    for (const unit of units) policies.put(ratePolicies.name, ratePolicyRow(`${unit} ${workspace}`, { workspaceId: workspace, type: 'requests', unit, value: 1_000, groupBy: [{ key: 'model' }] }));
    return policies.of({ ...workspaceRow, id: workspace });
  };
  const inWorkspace = (workspace: string, limits: readonly LimitSpec[] | null, workspaceLimits: readonly LimitSpec[] | null = null): Principal => ({ ...principalOf(limits, workspaceLimits), workspaceId: workspace });
  const call = (principal: Principal, model = 'm'): string => codeOf(() => take(principal, null, exchangeOf({ model })));
  for (const workspace of ['hostile 1', 'hostile 2', 'hostile 3', 'hostile 4', 'hostile 5', 'hostile 6']) {
    const principal = inWorkspace(workspace, null);
    principal.workspace!.policies = limitsOfWorkspace(workspace);
    const codes = new Set<string>();
    for (let model = 0; model < 300; model += 1) codes.add(call(principal, `model ${model}`));
    for (let token = 0; token < 300; token += 1) codes.add(call(inWorkspace(workspace, limitSpecs('token', `jwt:${workspace} ${token}`, 't', [{ type: 'requests', unit: 'rpw', value: 9 }], [{ type: 'tokens', credit_limit: 9_000 }]))));
    assert.deepEqual([...codes], ['passed', 'LIMITS_FULL'], workspace);
    assert.equal(call(principal, 'model 0'), 'passed', 'what has a counter goes on');
  }
  assert.ok(counters.live <= counters.slotCount * 0.7, `${counters.live} of ${counters.slotCount} counters`);
  // Keys and workspaces that nobody can make without a row.
  for (let key = 0; key < 60; key += 1) assert.equal(call(inWorkspace(`fair ${key % 7}`, limitSpecs('key', `k${key}`, 'k', one, spentNot), limitSpecs('workspace', `fair ${key % 7}`, 'w', [{ type: 'requests', unit: 'rpd', value: 100 }], []))), 'passed', `key ${key}`);
  const fair = inWorkspace('fair', null);
  fair.workspace!.policies = limitsOfWorkspace('fair');
  assert.equal(call(fair, 'a model'), 'passed', 'and some of the values of whoever comes late');
});

test('keys without number of one workspace leave room for those of others', () => {
  const { counters, take } = setUp();
  const call = (workspace: string, key: string): string => codeOf(() => take({ ...principalOf(limitSpecs('key', key, key, one, spentNot)), workspaceId: workspace }));
  for (const workspace of ['hostile 1', 'hostile 2', 'hostile 3']) {
    const codes = new Set<string>();
    for (let key = 0; key < 600; key += 1) codes.add(call(workspace, `${workspace} ${key}`));
    assert.ok(codes.has('LIMITS_FULL'), workspace);
  }
  for (let key = 0; key < 10; key += 1) assert.equal(call('fair', `fair ${key}`), 'passed');
  assert.ok(counters.live < counters.slotCount * 0.82);
});

test('each value of a policy has its counter, whether it is short, long, escaped, or a part of another text', () => {
  const { entries, take } = setUp();
  const principal = principalOf();
  const policies = new StoredPolicies();
  policies.put(usagePolicies.name, usagePolicyRow('p', { type: 'requests', creditLimit: 1, groupBy: [{ key: 'model' }] }));
  policies.put(usagePolicies.name, usagePolicyRow('q', { type: 'requests', creditLimit: 1, groupBy: [{ key: 'model' }, { key: 'api_key' }] }));
  principal.workspace!.policies = policies.of(workspaceRow);
  const values = ['', 'm', 'M', 'model:m', '%', '%25', '\ud800', '%d800', 'ü', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(66), 'ü'.repeat(64), 'ü'.repeat(65), '%~0', `${'y'.repeat(20)}${'z'.repeat(20_000)}`.slice(0, 30)];
  const counters = values.map((model) => {
    entries.length = 0;
    assert.equal(codeOf(() => take(principal, null, exchangeOf({ model }))), 'passed', model);
    const [sole = '', both = ''] = entries.map(([, counter]) => counter);
    assert.equal(both, `${sole.replace('policy/p/', 'policy/q/')}-api_key:k`);
    assert.equal(codeOf(() => take(principal, null, exchangeOf({ model }))), 'POLICY_BUDGET_USED', model);
    return sole;
  });
  assert.deepEqual([new Set(counters).size, counters[1], counters[3]], [values.length, 'policy/p/model:m', 'policy/p/model:model%3am']);
});

test('the record says what each limit counted, those of a target that was left first', () => {
  const { take } = setUp();
  const limit = [{ type: 'requests', unit: 'rpd', value: 2 ** 35 }];
  const exchange = take(principalOf(limitSpecs('key', 'k', 'k', limit, [{ type: 'tokens', alert_threshold: 5 }])), limitSpecs('provider', 'first', 'first', limit, []));
  exchange.hold?.leaveTarget(null);
  exchange.hold?.settle({ ...noUsage, inputTokens: 10, outputTokens: 5, totalTokens: 15 }, false);
  const text = '[{"about":"limit","limits":[{"counter":"provider/first/requests/rpd","counted":"requests","maximum":34359738368,"before":0,"after":1},'
    + '{"counter":"key/k/requests/rpd","counted":"requests","maximum":34359738368,"before":0,"after":1},{"counter":"key/k/tokens","counted":"tokens","maximum":null,"before":0,"after":15}]}]';
  assert.equal(exchange.decisions?.logged(), text);
  exchange.hold?.settle(null, false);
  assert.equal(exchange.decisions?.logged(), text, 'once');
});

test('a budget is reserved and settled in the journal as in its counter, by policies as well', () => {
  const { counters, entries, take } = setUp();
  const principal = principalOf(limitSpecs('key', 'k', 'k', [], [{ type: 'tokens', credit_limit: 10_000 }]));
  const policies = new StoredPolicies();
  const row = usagePolicyRow('p', { type: 'requests', creditLimit: 1, groupBy: [{ key: 'api_key' }] });
  policies.put(usagePolicies.name, row);
  principal.workspace!.policies = policies.of(workspaceRow);
  const exchange = take(principal, null, exchangeOf({ max_tokens: 1_000 }));
  const reserved = 1_000 + Math.ceil(exchange.bytes.length / 4);
  assert.equal(counters.usage('key/k/tokens')?.count, reserved);
  exchange.hold?.settle({ ...noUsage, inputTokens: 10, outputTokens: 5, totalTokens: 15 }, false);
  assert.equal(counters.usage('key/k/tokens')?.count, 15);
  assert.deepEqual(entries, [['open', 'key/k/tokens', reserved, 0], ['open', 'policy/p/api_key:k', 1, 0], ['settle', 'key/k/tokens', reserved, 15], ['settle', 'policy/p/api_key:k', 1, 1]]);
  const said = JSON.parse(exchange.decisions?.logged() ?? '[]') as { about: string; limits: unknown }[];
  assert.deepEqual(said, [{ about: 'limit', limits: [{ counter: 'key/k/tokens', counted: 'tokens', maximum: 10_000, before: 0, after: 15 }, { counter: 'policy/p/api_key:k', counted: 'requests', maximum: 1, before: 0, after: 1 }] }]);
  assert.equal(codeOf(() => take(principal)), 'POLICY_BUDGET_USED');
  assert.equal(counters.usage('key/k/tokens')?.count, 15);
});

test('a budget of cost waits for the price of the model once, and the record says the same cost', async () => {
  let isKnown = false;
  let asked = 0;
  const { counters, gate } = setUp({
    cost: (_, { totalTokens }) => ({ cents: totalTokens / 10, isPriced: true }),
    expected: (_, input, output) => (isKnown ? (input + output) / 10 : undefined),
    load: async () => { asked += 1; isKnown = true; },
  });
  const exchange = exchangeOf({ max_tokens: 40 });
  exchange.hold = gate.open(exchange, principalOf(limitSpecs('key', 'k', 'k', one, [{ type: 'cost', credit_limit: 1 }])));
  const taking = gate.take(exchange, null);
  assert.ok(taking instanceof Promise);
  assert.equal(counters.rate('key/k/requests/rpd', 'rpd'), 0, 'nothing is held while it waits');
  await taking;
  assert.deepEqual([asked, counters.rate('key/k/requests/rpd', 'rpd')], [1, 1]);
  exchange.hold?.settle({ ...noUsage, inputTokens: 10, outputTokens: 20, totalTokens: 30 }, false);
  assert.deepEqual([exchange.cost, exchange.isPriced, counters.usage('key/k/cost')?.count], [3, true, 3_000_000]);
});

test('whatever a call says of the length of its answer, the largest is reserved, and what was delivered counts', () => {
  const { counters, take } = setUp();
  const principal = principalOf(limitSpecs('key', 'k', 'k', [], [{ type: 'tokens', credit_limit: 10_000 }]));
  const reservedOf = (body: object): number => {
    const before = counters.usage('key/k/tokens')?.count ?? 0;
    const exchange = take(principal, null, exchangeOf(body));
    const reserved = (counters.usage('key/k/tokens')?.count ?? 0) - before - Math.ceil(exchange.bytes.length / 4);
    exchange.status = 400;
    exchange.hold?.settle(null, false);
    return reserved;
  };
  assert.equal(reservedOf({ max_completion_tokens: 0, max_tokens: 500 }), 500);
  assert.equal(reservedOf({ max_tokens: 5, max_output_tokens: 70 }), 70);
  assert.equal(reservedOf({ max_tokens: 50, n: 2, best_of: 4 }), 200);

  const exchange = take(principal, null, exchangeOf({ max_tokens: 0 }));
  (exchange.hold as CallHold).delivered?.push(Buffer.alloc(4_000), false);
  exchange.hold?.settle(null, false);
  assert.equal(counters.usage('key/k/tokens')?.count, 1_000 + Math.ceil(exchange.bytes.length / 4));
});

test('tokens are overshot at most by what calls in flight use beyond their estimate', () => {
  const { counters, take } = setUp();
  const principal = principalOf(limitSpecs('key', 'k', 'k', [{ type: 'tokens', unit: 'rpd', value: 2_000 }], []));
  const open: Exchange[] = [];
  while (codeOf(() => open.push(take(principal))) === 'passed') assert.ok(open.length < 100);
  const reserved = counters.rate('key/k/tokens/rpd', 'rpd');
  assert.equal(reserved, 2_000);
  for (const exchange of open) exchange.hold?.settle({ ...noUsage, inputTokens: 100, outputTokens: 400, totalTokens: 500 }, false);
  assert.equal(counters.rate('key/k/tokens/rpd', 'rpd'), open.length * 500, 'all of it counts');
  assert.equal(codeOf(() => take(principal)), 'KEY_RATE_LIMITED');
});

test('what a call used beyond its estimate counts in the window in which that becomes known, however long it took', () => {
  for (const minutes of [0, 1, 2, 3, 60]) {
    for (const isSwept of [false, true]) {
      const clock = { nowMs };
      const { counters, take } = setUp(noPrices, clock);
      const principal = principalOf(limitSpecs('key', 'k', 'k', [{ type: 'tokens', unit: 'rpm', value: 2_000 }], []));
      const exchange = take(principal);
      const reserved = counters.rate('key/k/tokens/rpm', 'rpm');
      assert.ok(reserved > 100 && reserved < 200);
      clock.nowMs += minutes * 60_000;
      if (isSwept) counters.sweep();
      exchange.ending = 'complete';
      exchange.hold?.settle({ ...noUsage, inputTokens: 100, outputTokens: 4_900, totalTokens: 5_000 }, false);
      const what = `after ${minutes} minutes${isSwept ? ', swept' : ''}`;
      assert.equal(counters.rate('key/k/tokens/rpm', 'rpm'), minutes === 0 ? 5_000 : 5_000 - reserved, what);
      assert.equal(codeOf(() => take(principal)), 'KEY_RATE_LIMITED', what);
      clock.nowMs += 60_000;
      assert.equal(codeOf(() => take(principal)), 'passed', what);
    }
  }
});

test('an answer with text that counts nothing has told nothing', () => {
  const { counters, take } = setUp();
  const principal = principalOf(limitSpecs('key', 'k', 'k', [], [{ type: 'tokens', credit_limit: 100_000 }]));
  const exchange = take(principal);
  exchange.ending = 'complete';
  (exchange.hold as CallHold).delivered?.push(Buffer.alloc(4_000), false);
  exchange.hold?.settle({ ...noUsage, inputTokens: 0, outputTokens: 0, totalTokens: 0 }, false);
  assert.equal(counters.usage('key/k/tokens')?.count, 1_000 + Math.ceil(exchange.bytes.length / 4));
});

test('what a stored response used is not used again by who reads or cancels it', () => {
  for (const [method, suffix] of [['GET', '/resp_1'], ['POST', '/resp_1/cancel']] as const) {
    const { counters, entries, take } = setUp();
    const principal = principalOf(limitSpecs('key', 'k', 'k', [{ type: 'requests', unit: 'rpd', value: 9 }, { type: 'tokens', unit: 'rpd', value: 9_000 }], [{ type: 'tokens', credit_limit: 100_000 }]));
    const exchange = take(principal, null, exchangeOf({}, 'responses', method, suffix));
    exchange.ending = 'complete';
    exchange.hold?.settle({ ...noUsage, inputTokens: 1_000, outputTokens: 500, totalTokens: 1_500 }, false);
    assert.deepEqual([counters.usage('key/k/tokens')?.count ?? 0, counters.rate('key/k/tokens/rpd', 'rpd'), counters.rate('key/k/requests/rpd', 'rpd'), entries], [0, 0, 1, []], method);
  }
});

test('a response that is made in the background counts with what was reserved, since its answer says nothing yet', () => {
  const { counters, take } = setUp();
  const principal = principalOf(limitSpecs('key', 'k', 'k', [], [{ type: 'tokens', credit_limit: 100_000 }]));
  const exchange = take(principal, null, exchangeOf({ background: true, max_output_tokens: 30_000 }, 'responses'));
  exchange.ending = 'complete';
  (exchange.hold as CallHold).delivered?.push(Buffer.alloc(400), false);
  exchange.hold?.settle(null, false);
  assert.equal(counters.usage('key/k/tokens')?.count, 30_000 + Math.ceil(exchange.bytes.length / 4));
  // One that was refused used nothing.
  const failed = take(principal, null, exchangeOf({ background: true }, 'responses'));
  failed.status = 400;
  failed.hold?.settle(null, false);
  assert.equal(counters.usage('key/k/tokens')?.count, 30_000 + Math.ceil(exchange.bytes.length / 4));
});
