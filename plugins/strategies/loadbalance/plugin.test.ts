import { ParameterError, type Exchange, type Host, type Json, type Outcome, type Strategy, type Target } from '@gateway/plugin-sdk';
import { fakeOutcome } from '@gateway/plugin-sdk/testing';
import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

interface Clock { nowMs: number; random: () => number }

function fakeHost(clock: Clock): Host {
  const refuse = (): never => assert.fail('a load balancer has no business here');
  return {
    log: { info: refuse, warn: refuse, error: refuse }, now: () => clock.nowMs, random: () => clock.random(),
    fetch: refuse, resolve: refuse, store: refuse, worker: refuse, secret: refuse, count: refuse, every: refuse,
  };
}

interface Call { keyId?: string; metadata?: Record<string, Json>; json?: Json; headers?: Record<string, string> }

function exchangeOf(call: Call = {}): Exchange {
  return {
    id: 'id', traceId: 'trace', endpoint: 'chatCompletions', startedAtMs: 0,
    principal: { keyId: call.keyId ?? 'key', workspaceId: 'workspace', organisationId: 'organisation' },
    metadata: call.metadata ?? {}, target: { provider: '', attempt: 0 },
    request: {
      method: 'POST', path: '/v1/chat/completions', header: (name) => call.headers?.[name], field: () => undefined, bytes: () => new Uint8Array(),
      json: () => call.json ?? assert.fail('the body is read though no hash field is in it'),
    },
    signal: new AbortController().signal, notes: new Map(),
  };
}

/** xorshift32, the same numbers in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state / 2 ** 32;
  };
}

const targetsOf = (...weights: number[]): Target[] => weights.map((weight) => ({ name: '', weight, healthy: true }));
const ill = (targets: readonly Target[], ...indexes: number[]): Target[] => targets.map((target, index) => ({ ...target, healthy: !indexes.includes(index) }));

type StickyParams = NonNullable<Parameters<typeof plugin.create>[0]['sticky']>;
const sticky = (given: Partial<StickyParams> = {}): { sticky: StickyParams } => ({ sticky: { enabled: true, hash_fields: [], ttl: 3600, ...given } });

async function balancer(targets: readonly Target[], params: Parameters<typeof plugin.create>[0] = {}, clock: Partial<Clock> = {}): Promise<Strategy> {
  return plugin.create(params, fakeHost({ nowMs: 0, random: () => assert.fail('a sticky balancer draws nothing'), ...clock }), targets);
}

function countsOf(draws: number, targets: readonly Target[], next: (index: number) => number): number[] {
  const counts = targets.map(() => 0);
  for (let index = 0; index < draws; index += 1) {
    const chosen = next(index);
    assert.ok(chosen in counts, `chose ${chosen}`);
    counts[chosen]! += 1;
  }
  return counts;
}

/** Each count lies within five standard deviations of its share. */
function assertShares(counts: readonly number[], weights: readonly number[]): void {
  const draws = counts.reduce((sum, count) => sum + count, 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  counts.forEach((count, index) => {
    const share = (weights[index] ?? 0) / total;
    const tolerance = 5 * Math.sqrt(draws * share * (1 - share));
    assert.ok(Math.abs(count - draws * share) <= tolerance, `target ${index}: ${count} of ${draws}, expected ${draws * share} ± ${tolerance}`);
  });
}

test('targets are drawn by weight, without any need to add up to something', async () => {
  for (const weights of [[1, 1], [3, 1], [0.2, 0.3, 0.5], [70, 20, 10], [1, 0, 2], [1e-9, 3e-9], [1e308, 1e308, 1e308], [5]]) {
    const targets = targetsOf(...weights);
    const strategy = await balancer(targets, {}, { random: seeded(20260101) });
    const counts = countsOf(20_000, targets, () => strategy.next(exchangeOf(), targets, []));
    assertShares(counts, weights.map((weight) => weight / Math.max(...weights)));
  }
});

test('a point on the line falls to the target whose share it is in', async () => {
  const targets = targetsOf(1, 0, 2, 1);
  const at = async (point: number): Promise<number> => (await balancer(targets, {}, { random: () => point })).next(exchangeOf(), targets, []);
  assert.deepEqual([await at(0), await at(0.2499), await at(0.25), await at(0.7499), await at(0.75), await at(1 - 2 ** -53)], [0, 0, 2, 2, 3, 3]);
});

test('a target of weight 0 is never drawn, not even at the ends or by rounding', async () => {
  const targets = targetsOf(0, 0.1, 0.2, 0.7, 0);
  for (const point of [0, 1 - 2 ** -53, 1, 0.999999999]) {
    const chosen = (await balancer(targets, {}, { random: () => point })).next(exchangeOf(), targets, []);
    assert.ok(chosen >= 1 && chosen <= 3, `${point} -> ${chosen}`);
  }
});

test('weights that add up to nothing are refused with a sentence', async () => {
  for (const weights of [[0], [0, 0, 0], []]) {
    await assert.rejects(async () => balancer(targetsOf(...weights)), (thrown: unknown) => {
      assert.ok(thrown instanceof ParameterError);
      assert.match(thrown.message, /weights of all targets are 0.*give at least one/);
      return true;
    });
  }
});

test('targets whose breaker is open get nothing and the others share it by weight', async () => {
  const targets = ill(targetsOf(1, 2, 3), 1);
  const strategy = await balancer(targets, {}, { random: seeded(7) });
  assertShares(countsOf(20_000, targets, () => strategy.next(exchangeOf(), targets, [])), [1, 0, 3]);
});

test('when nothing with a weight is healthy all are used', async () => {
  const all = ill(targetsOf(1, 3), 0, 1);
  const strategy = await balancer(all, {}, { random: seeded(8) });
  assertShares(countsOf(20_000, all, () => strategy.next(exchangeOf(), all, [])), [1, 3]);
  const weightless = ill(targetsOf(1, 0), 0);
  assert.equal((await balancer(weightless, {}, { random: () => 0.5 })).next(exchangeOf(), weightless, []), 0);
});

test('there is no second target, whatever came of the first', async () => {
  const targets = targetsOf(1, 1);
  const outcomes: Outcome[] = [fakeOutcome({ target: 0, status: 500 })];
  assert.equal((await balancer(targets)).next(exchangeOf(), targets, outcomes), -1);
  assert.equal((await balancer(targets, sticky())).next(exchangeOf(), targets, outcomes), -1);
  assert.equal((await balancer(targets)).next(exchangeOf(), targets, [fakeOutcome({ target: 1, status: 502, error: new Error('reset') })]), -1);
});

test('sticky that is not enabled changes nothing', async () => {
  const targets = targetsOf(1, 1);
  const strategy = await balancer(targets, sticky({ enabled: false, hash_fields: ['params.user'] }), { random: () => 0.6 });
  assert.equal(strategy.next(exchangeOf(), targets, []), 1);
});

const byUser = sticky({ hash_fields: ['metadata.user'] });
const user = (index: number): Exchange => exchangeOf({ metadata: { user: `user-${index}` } });

test('a sticky user keeps a target, on every instance', async () => {
  const targets = targetsOf(1, 1, 1, 1, 1, 1);
  const [one, two] = [await balancer(targets, byUser), await balancer(targets, byUser)];
  for (let index = 0; index < 200; index += 1) {
    const chosen = one.next(user(index), targets, []);
    assert.equal(one.next(user(index), targets, []), chosen);
    assert.equal(two.next(user(index), targets, []), chosen);
  }
});

test('sticky users are spread by weight', async () => {
  for (const weights of [[1, 1], [3, 1], [1, 0, 2], [0.1, 0.2, 0.3, 0.2, 0.1, 0.1], [1e308, 1e308]]) {
    const targets = targetsOf(...weights);
    const strategy = await balancer(targets, byUser);
    assertShares(countsOf(8000, targets, (index) => strategy.next(user(index), targets, [])), weights.map((weight) => weight / Math.max(...weights)));
  }
});

test('a breaker that opens moves the users of its target alone, and they come back', async () => {
  const targets = targetsOf(1, 2, 1, 3, 1);
  const strategy = await balancer(targets, byUser);
  const before = Array.from({ length: 3000 }, (_, index) => strategy.next(user(index), targets, []));
  for (let broken = 0; broken < targets.length; broken += 1) {
    const partly = ill(targets, broken);
    const during = before.map((_, index) => strategy.next(user(index), partly, []));
    during.forEach((chosen, index) => {
      if (before[index] === broken) assert.notEqual(chosen, broken);
      else assert.equal(chosen, before[index]);
    });
    // Those moved are shared among the others by weight, not dumped on a neighbour.
    const moved = targets.map((_, target) => during.filter((chosen, index) => before[index] === broken && chosen === target).length);
    assertShares(moved, targets.map((target, index) => (index === broken ? 0 : target.weight)));
  }
  assert.deepEqual(before.map((_, index) => strategy.next(user(index), targets, [])), before);
});

test('when every breaker is open sticky users stay where they were', async () => {
  const targets = targetsOf(1, 1, 1);
  const strategy = await balancer(targets, byUser);
  for (let index = 0; index < 100; index += 1) assert.equal(strategy.next(user(index), ill(targets, 0, 1, 2), []), strategy.next(user(index), targets, []));
});

test('a target added at the end takes users from the others and moves no one else', async () => {
  const few = targetsOf(1, 1, 1);
  const more = targetsOf(1, 1, 1, 1);
  const [before, after] = [await balancer(few, byUser), await balancer(more, byUser)];
  let moved = 0;
  for (let index = 0; index < 4000; index += 1) {
    const [old, now] = [before.next(user(index), few, []), after.next(user(index), more, [])];
    if (old === now) continue;
    assert.equal(now, 3);
    moved += 1;
  }
  assertShares([moved, 4000 - moved], [1, 3]);
});

test('users of different API keys are different users', async () => {
  const targets = targetsOf(1, 1);
  const strategy = await balancer(targets, byUser);
  const differing = Array.from({ length: 400 }, (_, index) => strategy.next(exchangeOf({ keyId: `key-${index}`, metadata: { user: 'same' } }), targets, []));
  assertShares([differing.filter((chosen) => chosen === 0).length, differing.filter((chosen) => chosen === 1).length], [1, 1]);
});

/** Whether two calls are the same user: they agree in each of many periods. */
async function isSameUser(fields: string[], left: Call, right: Call): Promise<boolean> {
  const targets = targetsOf(1, 1, 1, 1);
  const clock: Clock = { nowMs: 0, random: () => 0 };
  const strategy = await plugin.create(sticky({ hash_fields: fields, ttl: 1 }), fakeHost(clock), targets);
  for (let round = 0; round < 30; round += 1, clock.nowMs += 1000) {
    if (strategy.next(exchangeOf(left), targets, []) !== strategy.next(exchangeOf(right), targets, [])) return false;
  }
  return true;
}

test('each resolvable hash field counts, from metadata, parameters and headers', async () => {
  const fields = ['metadata.team', 'params.user', 'params.metadata.seat', 'headers.X-Session'];
  const base: Call = { metadata: { team: 'a' }, json: { user: 'u', metadata: { seat: 4 } }, headers: { 'x-session': 's' } };
  assert.equal(await isSameUser(fields, base, { ...base }), true);
  assert.equal(await isSameUser(fields, base, { ...base, metadata: { team: 'b' } }), false);
  assert.equal(await isSameUser(fields, base, { ...base, json: { user: 'v', metadata: { seat: 4 } } }), false);
  assert.equal(await isSameUser(fields, base, { ...base, json: { user: 'u', metadata: { seat: 5 } } }), false);
  assert.equal(await isSameUser(fields, base, { ...base, json: { user: 'u', metadata: {} } }), false);
  assert.equal(await isSameUser(fields, base, { ...base, headers: { 'x-session': 't' } }), false);
  assert.equal(await isSameUser(fields, base, { ...base, headers: { 'x-session': 's', 'x-other': 'x' } }), true);
});

test('fields cannot be shifted into one another, and types are told apart', async () => {
  const fields = ['metadata.a', 'metadata.b'];
  assert.equal(await isSameUser(fields, { metadata: { a: 'x' } }, { metadata: { b: 'x' } }), false);
  assert.equal(await isSameUser(fields, { metadata: { a: '1' } }, { metadata: { a: 1 } }), false);
  assert.equal(await isSameUser(fields, { metadata: { a: ['list'] } }, { metadata: { a: null } }), true);
});

test('without a resolvable field all calls of a key go together', async () => {
  assert.equal(await isSameUser(['metadata.user', 'params.user'], { json: {} }, { json: {}, metadata: { other: 1 } }), true);
  assert.equal(await isSameUser([], {}, { headers: { 'x-a': 'b' } }), true);
});

test('a user stays for the time to live and users do not all move at once', async () => {
  const targets = targetsOf(1, 1, 1, 1, 1, 1, 1, 1);
  const clock: Clock = { nowMs: 1_700_000_000_000, random: () => 0 };
  const strategy = await plugin.create(sticky({ hash_fields: ['metadata.user'], ttl: 60 }), fakeHost(clock), targets);
  const users = Array.from({ length: 200 }, (_, index) => index);
  const movesAt = new Map<number, number>();
  const movesOf = users.map(() => [] as number[]);
  let before = users.map((index) => strategy.next(user(index), targets, []));
  for (let second = 1; second <= 180; second += 1) {
    clock.nowMs += 1000;
    const now = users.map((index) => strategy.next(user(index), targets, []));
    now.forEach((chosen, index) => {
      if (chosen === before[index]) return;
      movesOf[index]?.push(second);
      movesAt.set(second, (movesAt.get(second) ?? 0) + 1);
    });
    before = now;
  }
  for (const moves of movesOf) {
    assert.ok(moves.length <= 3);
    // Between two moves of a user lies at least one time to live.
    moves.forEach((second, index) => assert.ok(index === 0 || second - (moves[index - 1] ?? 0) >= 59, moves.join()));
  }
  assert.ok(movesOf.filter((moves) => moves.length > 0).length > 150);
  assert.ok(Math.max(...movesAt.values()) < 30, `${Math.max(...movesAt.values())} users moved in one second`);
});

test('balancers inside one another choose independently', async () => {
  const targets = targetsOf(1, 1);
  const [outer, inner] = [await balancer(targets, byUser), await balancer(targets, byUser)];
  const counts = [0, 0, 0, 0];
  for (let index = 0; index < 4000; index += 1) {
    const call = user(index);
    const first = outer.next(call, targets, []);
    counts[first * 2 + inner.next(call, targets, [])]! += 1;
  }
  assertShares(counts, [1, 1, 1, 1]);
});

test('a hash field must say where it is found', async () => {
  for (const [index, field] of ['user', 'body.user', 'metadata.', 'url.pathname', ''].entries()) {
    const fields = [...Array.from({ length: index }, () => 'metadata.ok'), field];
    await assert.rejects(async () => balancer(targetsOf(1), sticky({ hash_fields: fields })), (thrown: unknown) => {
      assert.ok(thrown instanceof ParameterError);
      assert.equal(thrown.path, `sticky.hash_fields[${index}]`);
      return true;
    });
  }
});

test('the body is asked for only when a hash field of a sticky balancer is in it', () => {
  assert.deepEqual(plugin.needsFor?.({}), { request: 'head' });
  assert.deepEqual(plugin.needsFor?.(sticky({ hash_fields: ['metadata.user', 'headers.x'] })), { request: 'head' });
  assert.deepEqual(plugin.needsFor?.(sticky({ hash_fields: ['metadata.user', 'params.user'] })), { request: 'json' });
  assert.deepEqual(plugin.needsFor?.(sticky({ enabled: false, hash_fields: ['params.user'] })), { request: 'head' });
});

test('the schema fills in what a sticky object leaves out', () => {
  const validate = new Ajv({ strict: true, useDefaults: true }).compile(plugin.params);
  const params = { sticky: {} };
  assert.ok(validate(params));
  assert.deepEqual(params, { sticky: { enabled: true, hash_fields: [], ttl: 3600 } });
  assert.ok(!validate({ sticky: { ttl: 0 } }) && !validate({ sticky: { ttl: 1.5 } }) && !validate({ sticky: { hash_fields: [1] } }));
});
