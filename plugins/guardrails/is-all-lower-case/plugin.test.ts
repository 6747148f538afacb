import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const not = true;

conformGuardrail(plugin, {
  passes: [
    { text: 'hello 123 !?' },
    { text: 'àéñ привет γεια' },
    { text: '𐐨𐐩' },
    { text: '你好, 123' },
    { text: '…!' },
    { stage: 'output', text: '' },
    { body: { messages: [] } },
    { stage: 'output', text: 'hello' },
    { answer: { choices: [{ message: { content: 'hello' } }, { message: { content: 'hello' } }] } },
    { stage: 'output', answer: { choices: [{ message: { content: 'hello', tool_calls: [{ function: { name: 'f', arguments: '{"a":"Aa"}' } }] } }] } },
    { params: { scope: 'last' }, body: { messages: [{ role: 'system', content: 'HELLO' }, { role: 'user', content: 'hello' }] } },
    { params: { not }, text: 'hellO' },
    { params: { not }, answer: { choices: [{ message: { content: 'HELLO' } }, { message: { content: 'hellO' } }] } },
    { params: { format: 'anything' }, text: 'hello' },
  ],
  fails: [
    { text: 'hellO' },
    { text: 'HELLO' },
    { text: 'àéÑ' },
    { text: 'приветЪ' },
    { text: 'ǅ' },
    { text: '𐐀' },
    { stage: 'output', text: 'hellO' },
    { body: { messages: [{ role: 'system', content: 'HELLO' }, { role: 'user', content: 'hello' }] } },
    { answer: { choices: [{ message: { content: 'hello' } }, { message: { content: 'hellO' } }] } },
    { params: { not }, text: 'hello' },
    { params: { not }, text: '123' },
    { params: { not }, answer: { choices: [{ message: { content: 'hellO' } }, { message: { content: 'hello' } }] } },
  ],
  streams: [
    { text: 'hello 𐐨𐐩!', streamed: 'hello 𐐨𐐩!' },
    { text: 'hello 𐐀', streamed: undefined },
    { text: 'hellO', streamed: undefined },
    { params: { not }, text: 'hellO', streamed: 'hellO' },
    { params: { not }, text: 'hello', streamed: 'hello' },
  ],
});

test('the explanation says which choice, and quotes nothing', async () => {
  const check = await plugin.create(withDefaults(plugin.params, {}) as never, fakeHost());
  const { why, data } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: 'hello' } }, { message: { content: 'hellO' } }] } }));
  assert.equal(why, 'not all letters of choice 1 are lower case');
  assert.deepEqual(data, { choice: 1, explanation: why });
});

test('a stream with not fails at its end, when no letter of the other case came', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { not }) as never, fakeHost());
  const stream = check.stream?.(fakeExchange());
  assert.ok(stream !== undefined);
  assert.deepEqual(stream.push({ channel: '0', kind: 'text', group: 0, before: '', text: 'hello', isLast: true }), { release: 5 });
  assert.equal(stream.push({ channel: '1', kind: 'arguments', group: 0, before: '', text: '{"hellO":1}', isLast: true }).fails, undefined);
  assert.deepEqual(stream.verdict(), { pass: false, why: 'all letters are lower case', data: { explanation: 'all letters are lower case' } });
});
