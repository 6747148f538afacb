import type { Exchange, Host, Outcome, Strategy, Target } from '@gateway/plugin-sdk';
import { fakeOutcome } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

// Single looks at neither.
const host = Object.freeze({}) as Host;
const exchange = Object.freeze({}) as Exchange;
const target = (healthy: boolean): Target => ({ name: '', weight: 1, healthy });

async function ask(targets: readonly Target[], outcomes: readonly Outcome[] = []): Promise<number> {
  const strategy: Strategy = await plugin.create({}, host, targets);
  return strategy.next(exchange, targets, outcomes);
}

test('the first target is the only one', async () => {
  assert.equal(await ask([target(true)]), 0);
  assert.equal(await ask([target(true), target(true)]), 0);
});

test('it is used even while its breaker is open', async () => {
  assert.equal(await ask([target(false), target(true)]), 0);
});

test('there is no second try, whatever came of the first', async () => {
  assert.equal(await ask([target(true), target(true)], [fakeOutcome({ target: 0, status: 200 })]), -1);
  assert.equal(await ask([target(true), target(true)], [fakeOutcome({ target: 0, status: 502, error: new Error('reset') })]), -1);
});

test('without targets there is none to name', async () => {
  assert.equal(await ask([]), -1);
});

test('it asks for no part of the request', () => {
  assert.equal(plugin.kind, 'strategy');
  assert.equal(plugin.needs, undefined);
  assert.equal(plugin.needsFor, undefined);
});
