import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const exactly = (count: number) => ({ minWords: count, maxWords: count });
const make = async (params: Record<string, unknown>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());

conformGuardrail(plugin, {
  passes: [
    { text: 'no bounds at all' },
    { params: exactly(3), text: 'one two three' },
    { params: exactly(3), text: '  one\n\ttwo\u00a0three  ' },
    { params: exactly(2), text: 'well-known 3.14' },
    { params: exactly(1), text: '你好世界' },
    { params: exactly(2), text: '你好\u3000世界' },
    { params: exactly(2), text: '🙂 🙂🙂' },
    { params: exactly(0), text: '   ' },
    { params: exactly(0), body: {} },
    { params: { ...exactly(3), not: true }, text: 'one two' },
    { params: exactly(4), body: { messages: [{ role: 'system', content: 'be kind' }, { role: 'user', content: [{ type: 'text', text: 'hel' }, { type: 'text', text: 'lo' }] }] } },
    { params: { ...exactly(1), scope: 'last' }, endpoint: 'responses', body: { input: [{ role: 'user', content: 'one two' }, { role: 'user', content: 'one' }] } },
    { params: exactly(2), endpoint: 'completions', body: { prompt: 'one two' } },
    { params: { maxWords: 2 }, answer: { choices: [{ message: { content: 'one two' } }, { message: { content: 'three four' } }] } },
    { params: { minWords: 2 }, stage: 'output', text: 'one two' },
    { params: exactly(2), stage: 'output', endpoint: 'messages', answer: { content: [{ type: 'thinking', thinking: 'a b c d', signature: 's' }, { type: 'text', text: 'one two' }, { type: 'tool_use', input: { a: 'x y z' } }] } },
  ],
  fails: [
    { params: { maxWords: 2 }, text: 'one two three' },
    { params: { minWords: 1 }, text: ' ' },
    { params: { minWords: 1 }, stage: 'output', text: '' },
    { params: { maxWords: 1 }, answer: { choices: [{ message: { content: 'one' } }, { message: { content: 'one two' } }] } },
    { params: { minWords: 1 }, answer: { choices: [{ message: { content: 'one' } }, { message: { content: null } }] } },
    { params: { ...exactly(2), not: true }, answer: { choices: [{ message: { content: 'one' } }, { message: { content: 'one two' } }] } },
  ],
  refuses: [{ minWords: 2, maxWords: 1 }],
  streams: [
    { params: { maxWords: 3 }, text: 'one two  three ', streamed: 'one two  three ' },
    { params: { maxWords: 2 }, text: 'one two t', streamed: undefined },
    { params: { minWords: 4 }, text: 'one two three', streamed: 'one two three' },
    { params: { ...exactly(2), not: true }, text: 'one two three', streamed: 'one two three' },
  ],
});

test('data names count and bounds, and with several choices the one that decided', async () => {
  const check = await make({ maxWords: 1 });
  const explanation = '2 words in choice 1 do not lie between 0 and 1';
  assert.deepEqual(await check.evaluate(fakeCheckInput({ answer: { choices: [{ message: { content: 'one' } }, { message: { content: 'one two' } }] } })), {
    pass: false, why: explanation,
    data: { wordCount: 2, minWords: 0, maxWords: 1, not: false, choice: 1, counts: [{ choice: 0, wordCount: 1 }, { choice: 1, wordCount: 2 }], explanation },
  });
});

test('in a stream every choice has its own count, over all its texts, and a minimum is known at the end', async () => {
  const check = await make({ minWords: 2, maxWords: 3 });
  const stream = check.stream?.(fakeExchange());
  assert.ok(stream !== undefined);
  const push = (channel: string, group: number, text: string, kind: 'text' | 'arguments' | 'thinking' = 'text') => stream.push({ channel, kind, group, before: '', text, isLast: false });
  assert.deepEqual(push('a', 0, 'one two'), { release: 7 });
  assert.deepEqual(push('b', 1, 'one'), { release: 3 });
  assert.deepEqual(push('c', 0, 'x y z', 'arguments'), { release: 5 });
  assert.deepEqual(push('d', 0, 'x y z', 'thinking'), { release: 5 });
  assert.deepEqual(push('a', 0, 'still two'), { release: 9 });
  assert.equal(stream.verdict().pass, false);
  assert.deepEqual(push('e', 0, 'four'), { release: 4, fails: true });
  assert.match(stream.verdict().why ?? '', /^4 words in choice 0 do not lie/);
  const quiet = check.stream?.(fakeExchange());
  assert.equal(quiet?.verdict().pass, false, 'nothing at all has no words');
});
