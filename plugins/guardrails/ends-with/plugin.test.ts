import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const suffix = 'the end';
const not = true;

conformGuardrail(plugin, {
  passes: [
    { params: { suffix }, text: 'this is the end' },
    { params: { suffix }, text: 'this is the end.' },
    { params: { suffix }, text: 'this is the end\n' },
    { params: { suffix }, text: 'this is the end. ' },
    { params: { suffix: '?' }, text: 'is it?' },
    { params: { suffix: '.' }, text: 'yes.' },
    { params: { suffix: '\n' }, text: 'line\n' },
    { params: { suffix: '🙂' }, text: 'ok 🙂' },
    { params: { suffix }, stage: 'output', text: 'the end' },
    { params: { suffix }, answer: { choices: [{ message: { content: 'the end' } }, { message: { content: 'the end.' } }] } },
    { params: { suffix }, endpoint: 'messages', stage: 'output', answer: { content: [{ type: 'text', text: 'this is the ' }, { type: 'text', text: 'en' }, { type: 'text', text: 'd' }] } },
    { params: { suffix }, stage: 'output', answer: { choices: [{ message: { content: 'the end', tool_calls: [{ function: { name: 'f', arguments: '{"a":"x"}' } }] } }] } },
    { params: { suffix, not }, text: 'the beginning' },
    { params: { suffix, not }, body: { messages: [] } },
    { params: { suffix, scope: 'last' }, body: { messages: [{ role: 'user', content: 'the end' }] } },
  ],
  fails: [
    { params: { suffix }, text: 'the end is near' },
    { params: { suffix }, text: 'the end..' },
    { params: { suffix }, text: 'The End' },
    { params: { suffix }, text: 'nd' },
    { params: { suffix }, stage: 'output', text: '' },
    { params: { suffix }, answer: { choices: [{ message: { content: 'the end' } }, { message: { content: 'no' } }] } },
    { params: { suffix }, answer: { choices: [{ message: { content: 'the end' } }, { message: { content: null } }] } },
    { params: { suffix, not }, text: 'the end' },
    { params: { suffix, not }, answer: { choices: [{ message: { content: 'no' } }, { message: { content: 'the end' } }] } },
    { params: { suffix, scope: 'last' }, body: { messages: [{ role: 'user', content: 'the end' }, { role: 'user', content: 'no' }] } },
  ],
});

test('data names the suffix and, of several choices, the one that decided', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { suffix }) as never, fakeHost());
  const { data, why } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: 'the end' } }, { message: { content: 'no' } }] } }));
  assert.equal(why, 'the text of choice 1 does not end with the suffix');
  assert.deepEqual(data, { suffix, not: false, choice: 1, explanation: why });
});
