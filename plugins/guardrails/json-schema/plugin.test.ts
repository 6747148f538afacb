import { ParameterError, type Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const schema: Json = { type: 'object', required: ['name', 'address'], properties: { name: { type: 'string', pattern: '^[A-Z]' }, address: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } } } };
const good = '{"name":"Ann","address":{"city":"Rome"}}';
const bad = '{"name":"ann","address":{"city":5}}';
const not = true;
const stage = 'output';
const make = async (params: Record<string, unknown>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());

conformGuardrail(plugin, {
  passes: [
    { params: { schema }, stage, text: good },
    { params: { schema }, stage, text: `  \n${good}\n` },
    { params: { schema }, stage, text: `Here you are:\n\`\`\`json\n${good}\n\`\`\`\nEnjoy.` },
    { params: { schema }, stage, text: `\`\`\`\n${good}` },
    { params: { schema }, stage, text: `Sure! ${good} Anything else?` },
    { params: { schema }, stage, text: `First ${bad}, corrected: ${good}` },
    { params: { schema }, stage, text: `\`\`\`json\n${bad}\n\`\`\`\nor ${good}` },
    { params: { schema }, stage, text: `say "{" or [this, then ${good}` },
    { params: { schema: { type: 'array', items: { type: 'number' } } }, stage, text: 'the list is [1, 2, [3]] or [1,2]' },
    { params: { schema: { type: 'number' } }, stage, text: '42' },
    { params: { schema: {} }, stage, text: '{}' },
    { params: { schema: { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { n: { type: 'number' } }, $ref: '#/definitions/n' } }, stage, text: '1' },
    { params: { schema: { type: 'object', properties: { at: { type: 'string', format: 'email' } } } }, stage, text: '{"at":"anything"}' },
    { params: { schema: { prefixItems: [{ type: 'string' }], unevaluatedItems: false } }, stage, text: '["a"]' },
    { params: { schema: { type: 'object', properties: { a: { pattern: '' }, b: { pattern: '^b$' } } } }, stage, text: '{"a":"x","b":"b"}' },
    { params: { schema }, answer: { choices: [{ message: { content: good } }, { message: { content: `x ${good}` } }] } },
    { params: { schema }, endpoint: 'messages', stage, answer: { content: [{ type: 'text', text: good.slice(0, 12) }, { type: 'text', text: good.slice(12) }] } },
    { params: { schema, not }, stage, text: bad },
    { params: { schema, not }, stage, text: 'no JSON here' },
  ],
  fails: [
    { params: { schema }, stage, text: bad },
    { params: { schema }, stage, text: 'no JSON here' },
    { params: { schema }, stage, text: '' },
    { params: { schema }, stage, text: `${good.slice(0, -1)}` },
    { params: { schema }, stage, text: `{"wrapped":${good}}` },
    { params: { schema }, answer: { choices: [{ message: { content: good } }, { message: { content: bad } }] } },
    { params: { schema }, answer: { choices: [{ message: { content: good } }, { message: { content: null } }] } },
    { params: { schema: { type: 'object', properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } } }, stage, text: '{"a":"a","b":"a"}' },
    { params: { schema, not }, stage, text: good },
    { params: { schema, not }, answer: { choices: [{ message: { content: 'none' } }, { message: { content: good } }] } },
  ],
  refuses: [
    { schema: { type: 'nonsense' } }, { schema: { properties: 5 } }, { schema: { $ref: 'https://example.com/other.json' } }, { schema: { pattern: '(?=a)' } },
    { schema: { patternProperties: { '(': {} } } }, { schema: { $async: true } }, { schema: { items: [{ type: 'string' }] } }, { schema: { minimum: 'x' } },
  ],
});

test('data has the errors of the first value with their places, and none of the names that only the answer has', async () => {
  const check = await make({ schema });
  const passed = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: `x ${good}` } }] } }));
  assert.deepEqual(passed.data, { validationErrors: [], explanation: 'JSON that fits the schema was found' });
  const failed = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: bad } }] } }));
  assert.deepEqual(failed.data, {
    validationErrors: [{ path: '/name', message: 'must match pattern "^[A-Z]"' }, { path: '/address/city', message: 'must be string' }],
    explanation: 'no JSON that was found fits the schema: 2 errors, see validationErrors',
  });
  const missing = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: '{}' } }] } }));
  assert.deepEqual((missing.data as { validationErrors: unknown }).validationErrors, [{ path: '/', message: "must have required property 'name'" }, { path: '/', message: "must have required property 'address'" }]);
});

test('a name that only the answer has is not told', async () => {
  const check = await make({ schema: { additionalProperties: { type: 'object', properties: { 'a/b': { type: 'number' } }, additionalProperties: false } } });
  const { data } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: '{"Jane":{"a/b":"x"},"Joe":{"age":[1]},"Jim":5}' } }] } }));
  assert.deepEqual((data as { validationErrors: unknown }).validationErrors, [
    { path: '/*/a~1b', message: 'must be number' }, { path: '/*', message: 'must NOT have additional properties' }, { path: '/*', message: 'must be object' },
  ]);
});

test('a refused schema names the parameter', async () => {
  await assert.rejects(async () => make({ schema: { type: 'nonsense' } }), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'schema' && /draft 2020-12/.test(thrown.message));
});

test('a schema that is too deep, or too long, is refused', async () => {
  let deep: Json = { type: 'string' };
  for (let level = 0; level < 1999; level += 1) deep = { not: deep };
  await assert.rejects(async () => make({ schema: deep }), { name: 'ParameterError', message: 'is nested too deep' });
  await assert.rejects(async () => make({ schema: { enum: Array.from({ length: 10_000 }, (_, index) => `value ${index}`) } }), { name: 'ParameterError', message: /20000 characters/ });
});

test('two schemas with the same $id do not get in the way of each other', async () => {
  const $id = 'https://example.com/thing';
  const first = await make({ schema: { $id, type: 'number' } });
  const second = await make({ schema: { $id, $ref: '#/$defs/text', $defs: { text: { type: 'string' } } } });
  const judge = async (check: typeof first, content: string): Promise<boolean> => (await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content } }] } }))).pass;
  assert.deepEqual([await judge(first, '1'), await judge(first, '"a"'), await judge(second, '1'), await judge(second, '"a"')], [true, false, false, true]);
});

test('a pattern in a schema takes linear time', async () => {
  const check = await make({ schema: { type: 'string', pattern: '^(a+)+$' } });
  const started = process.cpuUsage().user;
  assert.equal((await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: `"${'a'.repeat(20_000)}b"` } }] } }))).pass, false);
  assert.ok(process.cpuUsage().user - started < 1_000_000);
});

test('the patterns of a schema are bounded together, and weigh', async () => {
  const patternProperties = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`^a{500}${index}`, {}]));
  await assert.rejects(async () => make({ schema: { patternProperties } }), { name: 'ParameterError', message: /10000 steps together/ });
  const { weight } = await make({ schema: { patternProperties: { 'a{500}': { type: 'string' } } } });
  assert.ok((weight?.bytes ?? 0) > 100_000 && (weight?.nanosecondsPerCharacter ?? 0) > 1_000);
});
