import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const exactly = (count: number) => ({ minCharacters: count, maxCharacters: count });

conformGuardrail(plugin, {
  passes: [
    { text: 'no bounds' },
    { params: exactly(3), text: 'abc' },
    { params: exactly(5), text: ' a\nb ' },
    { params: exactly(2), text: '🙂é' },
    { params: exactly(2), text: '\ud83d\ud83d' },
    { params: exactly(3), text: '👍🏽!' },
    { params: exactly(0), body: { messages: [] } },
    { params: { ...exactly(3), not: true }, text: 'ab' },
    { params: exactly(6), body: { messages: [{ role: 'system', content: 'abc' }, { role: 'user', content: [{ type: 'text', text: 'd' }, { type: 'text', text: 'ef' }] }] } },
    { params: { ...exactly(3), scope: 'last' }, endpoint: 'messages', body: { system: 'abc', messages: [{ role: 'user', content: 'ab' }, { role: 'user', content: 'abc' }] } },
    { params: { maxCharacters: 3 }, answer: { choices: [{ message: { content: 'abc' } }, { message: { content: 'def' } }] } },
    { params: exactly(5), endpoint: 'messages', stage: 'output', answer: { content: [{ type: 'text', text: 'abc' }, { type: 'text', text: 'de' }] } },
  ],
  fails: [
    { params: { maxCharacters: 2 }, text: 'abc' },
    { params: { minCharacters: 4 }, text: 'abc' },
    { params: { minCharacters: 1 }, stage: 'output', text: '' },
    { params: { maxCharacters: 3 }, answer: { choices: [{ message: { content: 'abc' } }, { message: { content: 'defg' } }] } },
    { params: { ...exactly(3), not: true }, text: 'abc' },
    { params: exactly(1), endpoint: 'embeddings', body: { input: ['a', 'b'] } },
  ],
  refuses: [{ minCharacters: 2, maxCharacters: 1 }],
  streams: [
    { params: { maxCharacters: 3 }, text: 'a🙂b', streamed: 'a🙂b' },
    { params: { maxCharacters: 2 }, text: 'a🙂b', streamed: undefined },
    { params: { minCharacters: 9 }, text: 'abc', streamed: 'abc' },
  ],
});

test('data names count and bounds', async () => {
  const check = await plugin.create(withDefaults(plugin.params, {}) as never, fakeHost());
  const { data } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'abc' }] } }));
  assert.deepEqual(data, { characterCount: 3, minCharacters: 0, maxCharacters: 9_999_999, not: false, explanation: '3 characters lie between 0 and 9999999' });
});
