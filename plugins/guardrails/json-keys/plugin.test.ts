import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const keys = ['a', 'b'];
const stage = 'output';

conformGuardrail(plugin, {
  passes: [
    { params: { keys }, stage, text: '{"a":1}' },
    { params: { keys }, stage, text: 'so: {"x":{"y":1},"b":2}!' },
    { params: { keys, operator: 'all' }, stage, text: '```json\n{"a":{"c":[]},"b":null}\n```' },
    { params: { keys, operator: 'all' }, stage, text: '{"a":1} and {"b":2,"a":1}' },
    { params: { keys, operator: 'none' }, stage, text: '{"c":{"a":1}}' },
    { params: { keys, operator: 'none' }, stage, text: 'no JSON' },
    { params: { keys, operator: 'none' }, stage, text: '[1]' },
    { params: { keys: ['__proto__'] }, stage, text: '{"__proto__":1}' },
    { params: { keys: ['toString', 'constructor'], operator: 'none' }, stage, text: '{}' },
    { params: { keys: ['ключ 🙂'] }, stage, text: '{"ключ 🙂":1}' },
    { params: { keys: [''] }, stage, text: '{"":1}' },
    { params: { keys }, answer: { choices: [{ message: { content: '{"a":1}' } }, { message: { content: '{"b":1}' } }] } },
  ],
  fails: [
    { params: { keys }, stage, text: '{"c":1}' },
    { params: { keys }, stage, text: '{"c":{"a":1}}' },
    { params: { keys }, stage, text: '[{"a":1}]' },
    { params: { keys }, stage, text: 'no JSON' },
    { params: { keys }, stage, text: '' },
    { params: { keys, operator: 'all' }, stage, text: '{"a":1} {"b":1}' },
    { params: { keys, operator: 'all' }, stage, text: '"a b"' },
    { params: { keys, operator: 'none' }, stage, text: '{"c":1} {"b":1}' },
    { params: { keys }, answer: { choices: [{ message: { content: '{"a":1}' } }, { message: { content: '{}' } }] } },
    { params: { keys, operator: 'none' }, answer: { choices: [{ message: { content: '{}' } }, { message: { content: '{"a":1}' } }] } },
  ],
});

test('data tells what was there and what was not', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { keys, operator: 'all' }) as never, fakeHost());
  const { data, why } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: '{"x":1} {"a":1}' } }] } }));
  assert.equal(why, '1 of 2 keys was found, and all have to be there');
  assert.deepEqual(data, { presentKeys: ['a'], missingKeys: ['b'], operator: 'all', explanation: why });
  const none = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: 'x' } }] } }));
  assert.deepEqual(none.data, { presentKeys: [], missingKeys: keys, operator: 'all', explanation: 'no JSON object was found, and of its keys all have to be there' });
});
