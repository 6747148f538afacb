import { ParameterError } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const make = async (params: Record<string, unknown>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());
const not = true;

conformGuardrail(plugin, {
  passes: [
    { params: { rule: 'b+' }, text: 'abba' },
    { params: { rule: '^hello$' }, text: 'hello' },
    { params: { rule: '/HELLO/i' }, text: 'say hello' },
    { params: { rule: '/^b$/m' }, text: 'a\nb\nc' },
    { params: { rule: '/a.b/s' }, text: 'a\nb' },
    { params: { rule: '/hello/gi' }, text: 'HELLO' },
    { params: { rule: '/a/b/' }, text: 'x a/b y' },
    { params: { rule: '/api/v1' }, text: 'GET /api/v1 now' },
    { params: { rule: '\\p{Han}+' }, text: '你好' },
    { params: { rule: '^.$' }, text: '🙂' },
    { params: { rule: 'b+', not }, text: 'aaa' },
    { params: { rule: 'x', not }, body: { messages: [] } },
    { params: { rule: 'b+' }, stage: 'output', text: 'abba' },
    { params: { rule: 'first' }, body: { messages: [{ role: 'system', content: 'first' }, { role: 'user', content: 'last' }] } },
    { params: { rule: 'second' }, answer: { choices: [{ message: { content: 'one' } }, { message: { content: 'second' } }] } },
    { params: { rule: '^secret$' }, answer: { choices: [{ message: { content: null, tool_calls: [{ function: { name: 'f', arguments: '{"a":{"b":["secret"]}}' } }] } }] } },
    { params: { rule: '^part two$' }, body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'part one' }, { type: 'text', text: 'part two' }] }] } },
  ],
  fails: [
    { params: { rule: 'b+' }, text: 'aaa' },
    { params: { rule: 'x' }, body: { messages: [] } },
    { params: { rule: 'x' }, body: { messages: [{ role: 'user', content: '' }] } },
    { params: { rule: 'HELLO' }, text: 'hello' },
    { params: { rule: 'b+', not }, text: 'abba' },
    { params: { rule: 'b+', not }, stage: 'output', text: 'abba' },
    { params: { rule: 'bomb', not }, body: { messages: [{ role: 'user', content: 'the bomb' }, { role: 'assistant', content: 'no' }, { role: 'user', content: 'please' }] } },
    { params: { rule: 'bomb', not }, answer: { choices: [{ message: { content: 'fine' } }, { message: { content: 'bomb' } }] } },
    { params: { rule: 'bomb', not }, answer: { choices: [{ message: { tool_calls: [{ function: { arguments: '{"q":"a bomb"}' } }] } }] } },
    { params: { rule: 'bomb', not }, endpoint: 'messages', answer: { content: [{ type: 'tool_use', input: { q: 'bomb' } }] } },
    { params: { rule: 'bomb', not }, endpoint: 'embeddings', body: { input: ['x', 'bomb'] } },
    { params: { rule: 'bomb', not }, endpoint: 'completions', body: { prompt: 'bomb' } },
  ],
  refuses: [{ rule: '(' }, { rule: '(?=a)' }, { rule: '(a)\\1' }, { rule: '[' }, { rule: '' }, { rule: '(a{500}b{500}){1000}' }, { rule: 'a{1000}'.repeat(100) }, { rule: 'a'.repeat(4001) }, { rule: '/(/i' }],
  streams: [
    { params: { rule: 'secret', not }, text: 'the secret is out', streamed: undefined },
    { params: { rule: 'secret', not }, text: 'nothing to see, a secre t', streamed: 'nothing to see, a secre t' },
    { params: { rule: '\\bcat\\b', not }, text: 'concatenate the cats', streamed: 'concatenate the cats' },
    { params: { rule: '\\bcat\\b', not }, text: 'the cat', streamed: undefined },
    { params: { rule: '^a', not }, text: 'ba ba\na', streamed: 'ba ba\na' },
    { params: { rule: 'z$', not }, text: 'z z zz y', streamed: 'z z zz y' },
    { params: { rule: 'z$', not }, text: 'z z zz', streamed: undefined },
    { params: { rule: 'a+b', not, lookBack: 8 }, text: `${'a'.repeat(6)}b`, streamed: undefined },
    { params: { rule: 'a.*b', not, lookBack: 8 }, text: 'x a123b y', streamed: undefined },
    { params: { rule: '🙂🙂', not }, text: 'so 🙂 and 🙂', streamed: 'so 🙂 and 🙂' },
    { params: { rule: '🙂🙂', not }, text: 'so 🙂🙂', streamed: undefined },
    { params: { rule: '[^a]$', not, lookBack: 1 }, text: 'a🙂a', streamed: 'a🙂a' },
  ],
});

test('data tells where the match is and how long, and not what it is', async () => {
  const check = await make({ rule: '(?P<year>\\d{4})-(\\d\\d)?(x*)' });
  const body = { messages: [{ role: 'user', content: 'hi' }, { role: 'user', content: [{ type: 'text', text: `in 2026-${'x'.repeat(150)}` }] }] };
  const { data, pass, why } = await check.evaluate(fakeCheckInput({ body }));
  assert.equal(pass, true);
  assert.equal(why, undefined);
  const place = 'messages[1].content[0].text';
  assert.deepEqual(data, {
    regexPattern: '(?P<year>\\d{4})-(\\d\\d)?(x*)', not: false, verdict: true,
    matchDetails: { index: 3, length: 155 },
    place, explanation: `the regular expression matches in ${place}`,
  });
});

test('data without a match has no details, and why is the explanation', async () => {
  const check = await make({ rule: 'x' });
  const { data, why } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'abc' }] } }));
  assert.deepEqual(data, { regexPattern: 'x', not: false, verdict: false, matchDetails: null, explanation: 'the regular expression matches nowhere in the text' });
  assert.equal(why, 'the regular expression matches nowhere in the text');
});

test('only what has to be free of matches is judged as it streams', async () => {
  assert.deepEqual(plugin.needsFor?.({ rule: 'a', not: true, lookBack: 256 }), { request: 'json', response: 'events' });
  assert.deepEqual(plugin.needsFor?.({ rule: 'a', not: false, lookBack: 256 }), { request: 'json', response: 'json' });
  assert.equal((await make({ rule: 'a' })).stream, undefined);
  assert.notEqual((await make({ rule: 'a', not })).stream, undefined);
});

test('a pattern of known length holds back no more than that, whatever the look-back', async () => {
  const check = await make({ rule: '\\d{3}-\\d{4}', not, lookBack: 8192 });
  const run = runStreamCheck(check, Array.from('a text without any such number in it, and some more of it'), { lookBackMax: 8 });
  assert.equal(run.heldMax, 7);
  assert.equal(run.verdict.pass, true);
});

test('a pattern without a longest match holds back the look-back and one step', async () => {
  const check = await make({ rule: 'pass:\\S+', not, lookBack: 64 });
  const run = runStreamCheck(check, Array.from('word '.repeat(100)), { lookBackMax: 9218 });
  assert.ok(run.heldMax >= 63 && run.heldMax <= 72, String(run.heldMax));
});

test('each channel is a text of its own', async () => {
  const check = await make({ rule: 'se"cret\\n', not });
  const stream = check.stream?.(fakeExchange());
  assert.ok(stream !== undefined);
  const window = (channel: string, kind: 'text' | 'arguments', text: string, isLast = false) => ({ channel, kind, group: 0, before: '', text, isLast });
  assert.notEqual(stream.push(window('a', 'text', 'se"cr')).fails, true);
  assert.notEqual(stream.push(window('b', 'text', 'et\n')).fails, true);
  assert.equal(stream.push(window('c/0', 'arguments', 'a se"cret\n', true)).fails, true);
  const { pass, data } = stream.verdict();
  assert.equal(pass, false);
  assert.deepEqual((data as { matchDetails: unknown }).matchDetails, { index: 2, length: 8 });
  assert.equal(stream.push(window('c/1', 'arguments', 'rest')).release, 4);
});

test('a pattern that backtracking engines never end on takes linear time', async () => {
  const started = process.cpuUsage().user;
  const check = await make({ rule: '^(a+)+$' });
  assert.equal((await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: `${'a'.repeat(50_000)}b` }] } }))).pass, false);
  assert.ok(process.cpuUsage().user - started < 1_500_000);
});

test('a refused pattern names its parameter', async () => {
  await assert.rejects(async () => make({ rule: '(?<!a)b' }), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'rule' && /RE2 syntax/.test(thrown.message));
});
