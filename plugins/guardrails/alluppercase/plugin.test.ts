import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const not = true;

conformGuardrail(plugin, {
  passes: [
    { text: 'HELLO 123 !?' },
    { text: 'ÀÉÑ ПРИВЕТ ΓΕΙΑ' },
    { text: '𐐀𐐁' },
    { text: '你好, 123' },
    { text: '…!' },
    { stage: 'output', text: '' },
    { body: { messages: [] } },
    { stage: 'output', text: 'HELLO' },
    { answer: { choices: [{ message: { content: 'HELLO' } }, { message: { content: 'HELLO' } }] } },
    { stage: 'output', answer: { choices: [{ message: { content: 'HELLO', tool_calls: [{ function: { name: 'f', arguments: '{"a":"Aa"}' } }] } }] } },
    { params: { scope: 'last' }, body: { messages: [{ role: 'system', content: 'hello' }, { role: 'user', content: 'HELLO' }] } },
    { params: { not }, text: 'HELLo' },
    { params: { not }, answer: { choices: [{ message: { content: 'hello' } }, { message: { content: 'HELLo' } }] } },
  ],
  fails: [
    { text: 'HELLo' },
    { text: 'hello' },
    { text: 'ÀÉñ' },
    { text: 'ПРИВЕт' },
    { text: 'ǅ' },
    { text: '𐐨' },
    { stage: 'output', text: 'HELLo' },
    { body: { messages: [{ role: 'system', content: 'hello' }, { role: 'user', content: 'HELLO' }] } },
    { answer: { choices: [{ message: { content: 'HELLO' } }, { message: { content: 'HELLo' } }] } },
    { params: { not }, text: 'HELLO' },
    { params: { not }, text: '123' },
    { params: { not }, answer: { choices: [{ message: { content: 'HELLo' } }, { message: { content: 'HELLO' } }] } },
  ],
  streams: [
    { text: 'HELLO 𐐀𐐁!', streamed: 'HELLO 𐐀𐐁!' },
    { text: 'HELLO 𐐨', streamed: undefined },
    { text: 'HELLo', streamed: undefined },
    { params: { not }, text: 'HELLo', streamed: 'HELLo' },
    { params: { not }, text: 'HELLO', streamed: 'HELLO' },
  ],
});

test('the explanation says which choice, and quotes nothing', async () => {
  const check = await plugin.create(withDefaults(plugin.params, {}) as never, fakeHost());
  const { why, data } = await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: 'HELLO' } }, { message: { content: 'HELLo' } }] } }));
  assert.equal(why, 'not all letters of choice 1 are upper case');
  assert.deepEqual(data, { choice: 1, explanation: why });
});

test('a stream with not fails at its end, when no letter of the other case came', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { not }) as never, fakeHost());
  const stream = check.stream?.(fakeExchange());
  assert.ok(stream !== undefined);
  assert.deepEqual(stream.push({ channel: '0', kind: 'text', group: 0, before: '', text: 'HELLO', isLast: true }), { release: 5 });
  assert.equal(stream.push({ channel: '1', kind: 'arguments', group: 0, before: '', text: '{"HELLo":1}', isLast: true }).fails, undefined);
  assert.deepEqual(stream.verdict(), { pass: false, why: 'all letters are upper case', data: { explanation: 'all letters are upper case' } });
});
