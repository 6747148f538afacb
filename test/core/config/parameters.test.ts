import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../core/config/config.js';
import { inherit, mergeParameters, noInheritance, type Inherited } from '../../../core/config/parameters.js';

/** What the innermost of configs inside one another ends up with. */
const through = (...configs: Config[]): Inherited => configs.reduce(inherit, noInheritance);

test('parameters are merged one level deep and the own ones win', () => {
  assert.deepEqual(mergeParameters({ a: 1, b: { c: 1, d: 2 } }, { b: { c: 3 }, e: 4 }), { a: 1, b: { c: 3 }, e: 4 });
  assert.deepEqual(mergeParameters({ a: 1 }, { a: null }), { a: null });
  assert.equal(mergeParameters(undefined, undefined), undefined);
  const parent = { a: 1 };
  assert.equal(mergeParameters(parent, undefined), parent);
  assert.equal(mergeParameters(undefined, parent), parent);
});

test('merging changes neither side', () => {
  const parent = Object.freeze({ a: 1 });
  const own = Object.freeze({ a: 2 });
  assert.deepEqual(mergeParameters(parent, own), { a: 2 });
  assert.deepEqual([parent, own], [{ a: 1 }, { a: 2 }]);
});

test('override_params and default_params come down separately', () => {
  const found = through(
    { override_params: { model: 'a', seed: 1 }, default_params: { temperature: 0 } },
    { override_params: { model: 'b' } },
    { default_params: { temperature: 1, n: 2 } },
  );
  assert.deepEqual(found.override_params, { model: 'b', seed: 1 });
  assert.deepEqual(found.default_params, { temperature: 1, n: 2 });
});

test('drop_params add up, each path once, outermost first', () => {
  assert.deepEqual(through({ drop_params: ['user', 'seed'] }, {}, { drop_params: ['seed', 'tools[*].strict', 'user'] }).drop_params, ['user', 'seed', 'tools[*].strict']);
  assert.deepEqual(through({}, {}).drop_params, []);
  assert.deepEqual(through({ drop_params: ['a', 'a'] }, { drop_params: [] }).drop_params, ['a']);
});

test('retry, cache and cb_config are replaced whole', () => {
  const root: Config = {
    retry: { attempts: 3, on_status_codes: [500], use_retry_after_headers: true },
    cache: { mode: 'simple', max_age: 60 },
    cb_config: { failure_threshold: 1, cooldown_interval: 30000, failure_status_codes: [500] },
  };
  assert.deepEqual(through(root, { retry: { attempts: 1 } }).retry, { attempts: 1 });
  assert.deepEqual(through(root, { cache: { mode: 'semantic' } }).cache, { mode: 'semantic' });
  assert.deepEqual(through(root, { cb_config: { failure_threshold: 2, cooldown_interval: 40000 } }).cb_config, { failure_threshold: 2, cooldown_interval: 40000 });
  const found = through(root, {}, {});
  assert.deepEqual([found.retry, found.cache, found.cb_config], [root.retry, root.cache, root.cb_config]);
});

test('cb_config comes from the nearest config around a target', () => {
  const breaker = (failure_threshold: number): Config => ({ cb_config: { failure_threshold, cooldown_interval: 30000 } });
  assert.equal(through(breaker(1), breaker(2), {}).cb_config?.failure_threshold, 2);
});

test('a time-out, a host and headers of its own win; none of its own inherits', () => {
  const root: Config = { request_timeout: 1000, custom_host: 'http://a', forward_headers: ['x-a'] };
  const kept = through(root, {});
  assert.deepEqual([kept.request_timeout, kept.custom_host, kept.forward_headers], [1000, 'http://a', ['x-a']]);
  const own = through(root, { request_timeout: 5, custom_host: 'http://b', forward_headers: ['x-b'] });
  assert.deepEqual([own.request_timeout, own.custom_host, own.forward_headers], [5, 'http://b', ['x-b']]);
  const empty = through(root, { request_timeout: 0, custom_host: '' });
  assert.deepEqual([empty.request_timeout, empty.custom_host], [1000, 'http://a']);
  assert.deepEqual(through(root, { forward_headers: [] }).forward_headers, []);
});

test('the strict flag reaches the leaves, and false is an answer', () => {
  assert.equal(through({ strict_reference_compliance: false }, {}, {}).strict_reference_compliance, false);
  assert.equal(through({ strict_reference_compliance: true }, { strict_reference_compliance: false }, {}).strict_reference_compliance, false);
  assert.equal(through({ strict_reference_compliance: false }, { strict_reference_compliance: true }).strict_reference_compliance, true);
  assert.equal(through({}, {}).strict_reference_compliance, undefined);
});

test('a list of its own on one side replaces all of the parent on that side only', () => {
  const root: Config = {
    before_request_hooks: [{ id: 'b' }], input_guardrails: ['i'],
    after_request_hooks: [{ id: 'a' }], output_guardrails: ['o'],
  };
  const input = through(root, { input_guardrails: ['own'] });
  assert.deepEqual([input.before_request_hooks, input.input_guardrails], [undefined, ['own']]);
  assert.deepEqual([input.after_request_hooks, input.output_guardrails], [[{ id: 'a' }], ['o']]);
  const after = through(root, { after_request_hooks: [{ id: 'own' }] });
  assert.deepEqual([after.after_request_hooks, after.output_guardrails], [[{ id: 'own' }], undefined]);
  assert.deepEqual([after.before_request_hooks, after.input_guardrails], [[{ id: 'b' }], ['i']]);
});

test('an empty list does not switch off what the parent checks', () => {
  const found = through({ input_guardrails: ['i'], after_request_hooks: [{ id: 'a' }] }, { input_guardrails: [], before_request_hooks: [], output_guardrails: [] });
  assert.deepEqual([found.input_guardrails, found.after_request_hooks], [['i'], [{ id: 'a' }]]);
});

test('nothing secret and nothing personal comes down', () => {
  const found = through({
    provider: 'openai', api_key: 'sk', virtual_key: 'vk', weight: 3, name: 'root', cloud1_secret_access_key: 's', vendor_organization: 'o',
    resource_name: 'r', deployment_id: 'd', prompt_id: 'p', passthrough: true, on_status_codes: [500], strategy: { mode: 'single' }, targets: [],
  }, {});
  assert.deepEqual(found, noInheritance);
  assert.deepEqual(Object.keys(found).sort(), [
    'after_request_hooks', 'before_request_hooks', 'cache', 'cb_config', 'custom_host', 'default_params', 'drop_params', 'forward_headers',
    'input_guardrails', 'input_mutators', 'output_guardrails', 'output_mutators', 'override_params', 'request_timeout', 'retry', 'strict_reference_compliance',
    'unsupported_params',
  ]);
});

test('what is inherited cannot be changed', () => {
  const found = through({ override_params: { a: 1 }, drop_params: ['a'] }, { override_params: { b: 1 }, drop_params: ['b'] });
  assert.ok(Object.isFrozen(found) && Object.isFrozen(found.override_params) && Object.isFrozen(found.drop_params) && Object.isFrozen(noInheritance));
});
