import { ParameterError, type Exchange, type Host, type Json } from '@gateway/plugin-sdk';
import { fakeOutcome } from '@gateway/plugin-sdk/testing';
import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../test/support/fast-check.js';
import plugin from './plugin.js';

// Conditional uses none of it.
const host = Object.freeze({}) as Host;
const targets = ['yes', 'no', 'third', ''].map((name) => ({ name, weight: 1, healthy: true }));

interface Call { metadata?: Record<string, Json>; json?: Json; path?: string }

function exchangeOf(call: Call): Exchange {
  return {
    id: 'id', traceId: 'trace', endpoint: 'chatCompletions', startedAtMs: 0,
    principal: { keyId: 'key', workspaceId: 'workspace', organisationId: 'organisation' },
    metadata: call.metadata ?? {}, target: { provider: '', attempt: 0 },
    request: {
      method: 'POST', path: call.path ?? '/v1/chat/completions', header: () => undefined, field: () => undefined, bytes: () => new Uint8Array(),
      json: () => call.json ?? assert.fail('the body is read though no condition asks for it'),
    },
    signal: new AbortController().signal, notes: new Map(),
  };
}

const create = async (conditions: readonly { readonly query: object; readonly then: string }[], fallback = 'no') =>
  plugin.create({ conditions, default: fallback }, host, targets);

/** Whether the query fits the call. */
async function fits(query: object, call: Call): Promise<boolean> {
  const chosen = (await create([{ query, then: 'yes' }])).next(exchangeOf(call), targets, []);
  assert.ok(chosen === 0 || chosen === 1);
  return chosen === 0;
}

/** Asserts for metadata.x being each of the values. */
async function check(test: unknown, fitting: readonly (Json | undefined)[], others: readonly (Json | undefined)[]): Promise<void> {
  for (const [values, expected] of [[fitting, true], [others, false]] as const) {
    for (const value of values) {
      assert.equal(await fits({ 'metadata.x': test }, { metadata: value === undefined ? {} : { x: value } }), expected, `${JSON.stringify(test)} with ${JSON.stringify(value)}`);
    }
  }
}

async function refuses(conditions: unknown, path: string, message: RegExp, fallback: string | null = 'no'): Promise<void> {
  const params = { ...(conditions === undefined ? {} : { conditions }), ...(fallback === null ? {} : { default: fallback }) } as Parameters<typeof plugin.create>[0];
  await assert.rejects(async () => plugin.create(params, host, targets), (thrown: unknown) => {
    assert.ok(thrown instanceof ParameterError, String(thrown));
    assert.equal(thrown.path, path, thrown.message);
    assert.match(thrown.message, message);
    return true;
  });
}
const refusesQuery = (query: unknown, path: string, message: RegExp): Promise<void> => refuses([{ query, then: 'yes' }], `conditions[0].query${path}`, message);

test('a literal is compared strictly', async () => {
  await check('pro', ['pro'], ['Pro', 'pro ', '', undefined, null, ['pro'], { a: 'pro' }]);
  await check(1, [1, 1.0], ['1', true, undefined, 2]);
  await check(true, [true], ['true', 1, undefined]);
  await check(null, [null], [undefined, 'null', 0, '']);
  await check('', [''], [undefined, null, 0]);
});

test('$eq and $ne are strict, and $ne fits what is missing', async () => {
  await check({ $eq: 'a' }, ['a'], ['b', undefined, ['a']]);
  await check({ $eq: 1 }, [1], ['1', undefined]);
  await check({ $ne: 'a' }, ['b', undefined, null, 1, ['a']], ['a']);
  await check({ $ne: 1 }, ['1', 2], [1]);
});

test('order compares numbers, and text that is a number from end to end', async () => {
  await check({ $gt: 10 }, [11, 10.5, '11', ' 1e2 ', '10.0001'], [10, 9, '10', '9', -1]);
  await check({ $gte: 10 }, [10, '10', '10.0', 11], [9.99, '9']);
  await check({ $lt: 10 }, [9, '9', -1e9, '-5', '.5'], [10, 11, '10']);
  await check({ $lte: 10 }, [10, '10', 9], [10.01, '11']);
  await check({ $gt: '10' }, [11, '11'], [10, 9]);
});

test('order never fits what is not a number', async () => {
  const none = [undefined, null, '', ' ', 'ten', '10abc', '0x10', '1,5', 'Infinity', 'NaN', '--1', '1e999', true, [11], { a: 11 }, '9'.repeat(65)];
  for (const operator of ['$gt', '$gte', '$lt', '$lte']) {
    await check({ [operator]: 0 }, [], none);
  }
});

test('$in and $nin are strict, and $nin fits what is missing', async () => {
  await check({ $in: ['a', 1, null, true] }, ['a', 1, null, true], ['b', '1', undefined, false, ['a']]);
  await check({ $nin: ['a', 1] }, ['b', '1', undefined, null, ['a']], ['a', 1]);
  await check({ $in: [] }, [], ['a', undefined]);
  await check({ $nin: [] }, ['a', undefined], []);
});

test('$regex is unanchored and reads text, numbers and truth values', async () => {
  await check({ $regex: 'pro' }, ['pro', 'a pro b'], ['PRO', '', undefined, null, ['pro'], { pro: 1 }]);
  await check({ $regex: '^a.c$' }, ['abc'], ['xabc', 'abcd']);
  await check({ $regex: '(?i)pro' }, ['PRO'], ['amateur']);
  await check({ $regex: '^\\d+$' }, ['42', 42], ['4.2', 4.2, 'x']);
  await check({ $regex: '^true$' }, [true, 'true'], [false]);
  await check({ $regex: '(?<year>\\d{4})-\\u0041' }, ['2026-A'], ['2026-B']);
  await check({ $regex: '' }, ['', 'anything', 0], [undefined]);
});

test('$regex takes linear time where a backtracking engine would not end', async () => {
  const started = process.cpuUsage().user;
  await check({ $regex: '^(a+)+$' }, [], [`${'a'.repeat(50_000)}b`]);
  await check({ $regex: '(x+x+)+y' }, [], ['x'.repeat(20_000)]);
  assert.ok(process.cpuUsage().user - started < 1_500_000);
});

test('a large pattern looks at less text rather than hold up the thread', async () => {
  const far = `${' '.repeat(60_000)}needle`;
  await check({ $regex: 'needle' }, [far], [`${' '.repeat(70_000)}needle`]);
  const started = process.cpuUsage().user;
  await check({ $regex: '\\pL{900}!' }, [], [`${'é'.repeat(899)} `.repeat(80)]);
  assert.ok(process.cpuUsage().user - started < 1_000_000);
});

test('several operators on one value must all hold, $regex among them', async () => {
  await check({ $gte: 10, $lt: 20 }, [10, 19.9, '15'], [9, 20, undefined]);
  await check({ $regex: '^a', $ne: 'abc' }, ['abd', 'a'], ['abc', 'b']);
  await check({ $ne: 'abc', $regex: '^a' }, ['abd'], ['abc', 'b']);
  await check({ $in: ['a', 'b'], $nin: ['b'] }, ['a'], ['b', 'c']);
});

test('several keys of one query must all hold', async () => {
  const query = { 'metadata.plan': 'pro', 'url.pathname': '/v1/embeddings' };
  assert.equal(await fits(query, { metadata: { plan: 'pro' }, path: '/v1/embeddings' }), true);
  assert.equal(await fits(query, { metadata: { plan: 'pro' } }), false);
  assert.equal(await fits(query, { path: '/v1/embeddings' }), false);
});

test('$and and $or combine queries, beside one another and beside keys', async () => {
  const a = { 'metadata.a': 1 };
  const b = { 'metadata.b': 1 };
  const calls = [{}, { a: 1 }, { b: 1 }, { a: 1, b: 1 }];
  const truth = async (query: object): Promise<boolean[]> => Promise.all(calls.map((metadata) => fits(query, { metadata: metadata as Record<string, Json> })));
  assert.deepEqual(await truth({ $and: [a, b] }), [false, false, false, true]);
  assert.deepEqual(await truth({ $or: [a, b] }), [false, true, true, true]);
  assert.deepEqual(await truth({ $or: [a, b], 'metadata.b': { $ne: 1 } }), [false, true, false, false]);
  assert.deepEqual(await truth({ 'metadata.b': { $ne: 1 }, $or: [a, b] }), [false, true, false, false]);
  assert.deepEqual(await truth({ $and: [{ $or: [a, b] }], $or: [{ 'metadata.a': { $ne: 1 } }] }), [false, false, true, false]);
  assert.deepEqual(await truth({ $or: [{ $and: [a, b] }, { $and: [{ 'metadata.a': { $ne: 1 } }, { 'metadata.b': { $ne: 1 } }] }] }), [true, false, false, true]);
  assert.deepEqual(await truth({}), [true, true, true, true]);
});

test('values are found in metadata, in parameters and in the path', async () => {
  assert.equal(await fits({ 'metadata.a.b': 1 }, { metadata: { 'a.b': 1 } }), true);
  assert.equal(await fits({ 'metadata.a.b': 1 }, { metadata: { a: { b: 1 } } }), true);
  assert.equal(await fits({ 'params.model': 'gpt' }, { json: { model: 'gpt' } }), true);
  assert.equal(await fits({ 'params.metadata.seat': { $gt: 3 } }, { json: { metadata: { seat: 4 } } }), true);
  assert.equal(await fits({ 'params.messages.0.role': 'system' }, { json: { messages: [{ role: 'system' }] } }), true);
  assert.equal(await fits({ 'params.stream': true }, { json: { stream: true } }), true);
  assert.equal(await fits({ 'url.pathname': { $regex: '^/v1/chat/' } }, {}), true);
  assert.equal(await fits({ 'url.pathname': '/v1/embeddings' }, {}), false);
});

test('a body without parameters fits only what asks for their absence', async () => {
  for (const json of [{}, [], 'text', 7]) {
    assert.equal(await fits({ 'params.model': 'gpt' }, { json }), false);
    assert.equal(await fits({ 'params.model': { $ne: 'gpt' } }, { json }), true);
    assert.equal(await fits({ 'params.constructor': { $nin: [] } }, { json }), true);
    assert.equal(await fits({ 'params.constructor.name': { $regex: 'Object' } }, { json }), false);
  }
});

test('the first fitting condition wins and the default is for all others', async () => {
  const strategy = await create([
    { query: { 'metadata.x': { $gt: 10 } }, then: 'third' },
    { query: { 'metadata.x': { $gt: 5 } }, then: 'yes' },
  ]);
  const next = (x: number): number => strategy.next(exchangeOf({ metadata: { x } }), targets, []);
  assert.deepEqual([next(11), next(10), next(5)], [2, 0, 1]);
  assert.equal((await create([])).next(exchangeOf({}), targets, []), 1);
});

test('the chosen target is used even while its breaker is open, and is the only one', async () => {
  const strategy = await create([{ query: {}, then: 'yes' }]);
  assert.equal(strategy.next(exchangeOf({}), targets.map((target) => ({ ...target, healthy: false })), []), 0);
  assert.equal(strategy.next(exchangeOf({}), targets, [fakeOutcome({ target: 0, status: 500 })]), -1);
  assert.equal(strategy.next(exchangeOf({}), targets, [fakeOutcome({ target: 0, status: 502, error: new Error('reset') })]), -1);
});

test('conditions and default are both needed', async () => {
  await refuses(undefined, 'conditions', /is required/);
  await refuses([], 'default', /is required/, null);
  await refuses(undefined, 'conditions', /is required/, null);
});

test('then and default must name a target', async () => {
  await refuses([{ query: {}, then: 'yes' }, { query: {}, then: 'maybe' }], 'conditions[1].then', /names no target; the targets are called yes, no, third/);
  await refuses([{ query: {}, then: '' }], 'conditions[0].then', /names no target/);
  await refuses([{ query: {}, then: 'yes' }], 'default', /names no target/, 'nobody');
  await refuses([], 'default', /names no target/, '');
  await assert.rejects(async () => plugin.create({ conditions: [], default: 'a' }, host, [{ name: '', weight: 1 }]), { path: 'default', message: /give the targets a name/ });
  const many = Array.from({ length: 50 }, (_, index) => ({ name: `target-${index}`, weight: 1 }));
  await assert.rejects(async () => plugin.create({ conditions: [], default: 'a' }, host, many), { path: 'default', message: /target-9 \.\.\.$/ });
});

test('what cannot be asked about is refused with its place', async () => {
  await refusesQuery({ model: 'x' }, '.model', /use metadata\.<key>, params\.<path> or url\.pathname/);
  await refusesQuery({ 'headers.x': 'x' }, '["headers.x"]', /cannot be asked about/);
  await refusesQuery({ 'url.query': 'x' }, '["url.query"]', /cannot be asked about/);
  await refusesQuery({ 'metadata.': 'x' }, '["metadata."]', /cannot be asked about/);
  await refusesQuery({ $not: {} }, '.$not', /unknown operator/);
  await refusesQuery({ $eq: 1 }, '.$eq', /unknown operator/);
  await refusesQuery({ $or: [{}, { nope: 1 }] }, '.$or[1].nope', /cannot be asked about/);
});

test('what makes no sense as an operator is refused with its place', async () => {
  const at = '["metadata.x"]';
  await refusesQuery({ 'metadata.x': { $like: 'a' } }, `${at}.$like`, /unknown operator; use \$eq/);
  await refusesQuery({ 'metadata.x': { eq: 'a' } }, `${at}.eq`, /unknown operator/);
  await refusesQuery({ 'metadata.x': { $or: [] } }, `${at}.$or`, /unknown operator/);
  await refusesQuery({ 'metadata.x': {} }, at, /at least one operator/);
  await refusesQuery({ 'metadata.x': ['a'] }, at, /\$in compares with a list/);
  await refusesQuery({ 'metadata.x': { $eq: {} } }, `${at}.$eq`, /must be a string, a number/);
  await refusesQuery({ 'metadata.x': { $ne: [] } }, `${at}.$ne`, /must be a string, a number/);
  await refusesQuery({ 'metadata.x': { $gt: 'ten' } }, `${at}.$gt`, /must be a number/);
  await refusesQuery({ 'metadata.x': { $lte: null } }, `${at}.$lte`, /must be a number/);
  await refusesQuery({ 'metadata.x': { $in: 'a' } }, `${at}.$in`, /must be a list/);
  await refusesQuery({ 'metadata.x': { $nin: ['a', {}] } }, `${at}.$nin[1]`, /must be a string, a number/);
  await refusesQuery({ 'metadata.x': { $regex: 5 } }, `${at}.$regex`, /as a string/);
  await refusesQuery({ $and: {} }, '.$and', /list of at least one query/);
  await refusesQuery({ $or: [] }, '.$or', /list of at least one query/);
  await refusesQuery({ $or: ['a'] }, '.$or[0]', /must be an object/);
});

test('a pattern that RE2 does not know is refused with its place and cause', async () => {
  for (const pattern of ['(', '[', '(?=a)', '(?<!a)b', '(a)\\1', '*', 'a**', '(?P<n']) {
    await refuses([{ query: {}, then: 'yes' }, { query: { $and: [{ 'params.a.b': { $regex: pattern } }] }, then: 'yes' }], 'conditions[1].query.$and[0]["params.a.b"].$regex', /RE2 syntax/);
  }
});

test('patterns that would take long to compile or to match are refused', async () => {
  const started = process.cpuUsage().user;
  const at = '["metadata.x"].$regex';
  await refusesQuery({ 'metadata.x': { $regex: 'a{1000}'.repeat(500) } }, at, /repeat too much/);
  await refusesQuery({ 'metadata.x': { $regex: '(a{500}b{500}){1000}' } }, at, /repeat too much/);
  await refusesQuery({ 'metadata.x': { $regex: '\\Q[\\E(a{500}b{500}){1000}]' } }, at, /repeat too much/);
  await refusesQuery({ 'metadata.x': { $regex: 'a'.repeat(8001) } }, at, /more than 8000 characters/);
  const one = { query: { 'metadata.x': { $regex: '\\w{900}' } }, then: 'yes' };
  await refuses(Array.from({ length: 30 }, () => one), 'conditions[11].query["metadata.x"].$regex', /repeat too much/);
  assert.ok(process.cpuUsage().user - started < 1_500_000);
});

test('queries may be nested 32 deep', async () => {
  const nested = (levels: number): object => (levels === 1 ? { 'metadata.x': 1 } : { $and: [nested(levels - 1)] });
  assert.equal(await fits(nested(32), { metadata: { x: 1 } }), true);
  await refusesQuery(nested(33), '.$and[0]'.repeat(32), /at most 32 deep/);
  await assert.rejects(async () => create([{ query: nested(5000), then: 'yes' }]), ParameterError);
});

test('the body is asked for only when a condition reads parameters', () => {
  const needs = (query: object) => plugin.needsFor?.({ conditions: [{ query: {}, then: 'yes' }, { query, then: 'yes' }], default: 'no' });
  assert.deepEqual(needs({ 'metadata.params.x': 1, 'url.pathname': '/v1' }), { request: 'head' });
  assert.deepEqual(needs({ 'params.model': 1 }), { request: 'json' });
  assert.deepEqual(needs({ $or: [{ 'metadata.x': 1 }, { $and: [{ 'params.user': 'u' }] }] }), { request: 'json' });
  assert.deepEqual(needs({ 'metadata.x': { $in: ['params.model'] } }), { request: 'head' });
  assert.deepEqual(plugin.needsFor?.({}), { request: 'head' });
});

test('any query at all is compiled or refused by a ParameterError, and needs are told without a throw', async () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom<unknown>('a', 1, { $gt: 1 }, { $regex: '[a' }, { $in: [1, 'b'] }));
  const key = fc.constantFrom('$and', '$or', 'metadata.x', 'params.a.b', 'url.pathname', 'nope', '$eq');
  const { query } = fc.letrec<{ query: unknown }>((tie) => ({
    query: fc.oneof({ depthSize: 'small' }, fc.dictionary(key, value, { maxKeys: 3 }), fc.record({ $and: fc.array(tie('query'), { maxLength: 3 }) }), fc.record({ $or: fc.array(tie('query'), { maxLength: 3 }), 'metadata.x': value }, { requiredKeys: ['$or'] })),
  }));
  await fc.assert(fc.asyncProperty(query, async (given) => {
    const conditions = [{ query: given as object, then: 'yes' }];
    const needs = plugin.needsFor?.({ conditions, default: 'no' });
    try {
      const strategy = await create(conditions);
      const call = exchangeOf(needs?.request === 'json' ? { json: { a: { b: 1 } }, metadata: { x: 'a' } } : { metadata: { x: 'a' } });
      assert.ok([0, 1].includes(strategy.next(call, targets, [])));
    } catch (thrown) {
      assert.ok(thrown instanceof ParameterError, String(thrown));
      assert.ok(thrown.path.startsWith('conditions[0].query'), thrown.path);
    }
  }), { numRuns: 500, verbose: 1 });
});

test('the schema takes conditions and a default', () => {
  const validate = new Ajv({ strict: true }).compile(plugin.params);
  assert.ok(validate({ conditions: [{ query: { any: ['thing'] }, then: 'a' }], default: 'b' }));
  assert.ok(!validate({ conditions: [{ query: {} }] }) && !validate({ conditions: [{ query: [], then: 'a' }] }) && !validate({ default: 3 }));
});
