import type { Exchange, Host, Outcome, Target } from '@gateway/plugin-sdk';
import { fakeOutcome } from '@gateway/plugin-sdk/testing';
import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../test/support/fast-check.js';
import plugin from './plugin.js';

// Fallback looks at neither.
const host = Object.freeze({}) as Host;
const exchange = Object.freeze({}) as Exchange;

const targetsOf = (health: string): Target[] => [...health].map((mark) => ({ name: '', weight: 1, healthy: mark === '+' }));

/** '+' healthy, '-' not. */
async function ask(health: string, outcomes: readonly Outcome[], listed?: readonly number[]): Promise<number> {
  const targets = targetsOf(health);
  const strategy = await plugin.create(listed === undefined ? {} : { on_status_codes: listed }, host, targets);
  return strategy.next(exchange, targets, outcomes);
}

/** The order of targets for a call on which every answer has `status`. */
async function route(health: string, status: number, listed?: readonly number[]): Promise<number[]> {
  const targets = targetsOf(health);
  const strategy = await plugin.create(listed === undefined ? {} : { on_status_codes: listed }, host, targets);
  const outcomes: Outcome[] = [];
  for (let next = strategy.next(exchange, targets, outcomes); next >= 0; next = strategy.next(exchange, targets, outcomes)) {
    outcomes.push(fakeOutcome({ target: next, status }));
    assert.ok(outcomes.length <= targets.length, 'a target is asked twice');
  }
  return outcomes.map((outcome) => outcome.target);
}

const failed = (target: number, status = 502): Outcome => (fakeOutcome({ target, status, error: new Error('connection reset') }));

test('targets are tried in order until one answers', async () => {
  assert.deepEqual(await route('+++', 500), [0, 1, 2]);
  assert.deepEqual(await route('+++', 200), [0]);
  assert.equal(await ask('+++', [fakeOutcome({ target: 0, status: 503 }), fakeOutcome({ target: 1, status: 200 })]), -1);
  assert.deepEqual(await route('+', 500), [0]);
});

test('without a list everything but 2xx moves on', async () => {
  for (const status of [100, 199, 300, 304, 400, 401, 404, 408, 429, 445, 447, 500, 503, 599]) assert.equal(await ask('++', [fakeOutcome({ target: 0, status })]), 1, String(status));
  for (const status of [200, 201, 204, 206, 246, 299]) assert.equal(await ask('++', [fakeOutcome({ target: 0, status })]), -1, String(status));
});

test('with a list only its statuses move on, success included when listed', async () => {
  assert.equal(await ask('++', [fakeOutcome({ target: 0, status: 429 })], [429, 503]), 1);
  assert.equal(await ask('++', [fakeOutcome({ target: 0, status: 500 })], [429, 503]), -1);
  assert.equal(await ask('++', [fakeOutcome({ target: 0, status: 200 })], [429]), -1);
  assert.equal(await ask('++', [fakeOutcome({ target: 0, status: 200 })], [200]), 1);
});

test('an empty list never moves on', async () => {
  assert.equal(await ask('++', [fakeOutcome({ target: 0, status: 500 })], []), -1);
  assert.equal(await ask('++', [failed(0)], []), -1);
});

test('where no answer came the next target is tried, listed or not', async () => {
  assert.equal(await ask('++', [failed(0)]), 1);
  assert.equal(await ask('++', [failed(0)], [429]), 1);
  assert.equal(await ask('++', [failed(0, 200)]), 1);
});

test('what a hook denied goes to no other target, unless 446 is listed', async () => {
  for (const denied of [fakeOutcome({ target: 0, status: 446 }), failed(0, 446)]) {
    for (const listed of [undefined, [], [429, 500]]) assert.equal(await ask('++', [denied], listed), -1, JSON.stringify(listed));
    assert.equal(await ask('++', [denied], [446]), 1);
  }
});

test('targets whose breaker is open are passed over', async () => {
  assert.deepEqual(await route('-+-+', 500), [1, 3]);
  assert.deepEqual(await route('+--', 500), [0]);
  assert.deepEqual(await route('--+', 200), [2]);
});

test('when every breaker is open all targets are tried', async () => {
  assert.deepEqual(await route('---', 500), [0, 1, 2]);
  assert.deepEqual(await route('---', 200), [0]);
});

test('a breaker that opens during the call leaves the rest of the order alone', async () => {
  // 0 failed and opened; 1 was skipped at first and is closed again by now: it lies ahead, so it is next.
  assert.equal(await ask('-++', [fakeOutcome({ target: 0, status: 500 })]), 1);
  assert.equal(await ask('--+', [fakeOutcome({ target: 0, status: 500 })]), 2);
  assert.equal(await ask('+--', [fakeOutcome({ target: 2, status: 500 })]), -1);
});

test('without targets there is none to name', async () => {
  assert.equal(await ask('', []), -1);
});

test('a call ends after at most one turn for each target, in ascending order', async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom('+', '-'), { maxLength: 8 }), fc.integer({ min: 100, max: 599 }), fc.option(fc.array(fc.integer({ min: 100, max: 599 }), { maxLength: 3 }), { nil: undefined }), async (health, status, listed) => {
    const order = await route(health.join(''), status, listed);
    assert.deepEqual(order, [...new Set(order)].sort((left, right) => left - right));
    assert.equal(order.length > 0, health.length > 0);
  }), { verbose: 1 });
});

test('the schema takes a list of statuses and nothing else', () => {
  const validate = new Ajv({ strict: true }).compile(plugin.params);
  assert.ok(validate({}) && validate({ on_status_codes: [] }) && validate({ on_status_codes: [429, 599] }));
  assert.ok(!validate({ on_status_codes: ['429'] }) && !validate({ on_status_codes: [42] }) && !validate({ on_status_codes: 429 }));
});
