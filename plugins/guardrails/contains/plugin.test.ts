import { conformGuardrail, fakeCheckInput, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const words = ['apple', 'pear'];
const make = async (params: Record<string, unknown>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());

conformGuardrail(plugin, {
  passes: [
    { params: { words }, text: 'an apple a day' },
    { params: { words }, text: 'pineapples' },
    { params: { words, operator: 'all' }, text: 'apple and pear' },
    { params: { words, operator: 'all' }, body: { messages: [{ role: 'system', content: 'apple' }, { role: 'user', content: 'pear' }] } },
    { params: { words, operator: 'none' }, text: 'plum' },
    { params: { words, operator: 'none' }, text: 'Apple' },
    { params: { words, operator: 'none' }, body: {} },
    { params: { words: ['ÄPFEL'], caseSensitive: false }, text: 'zwei äpfel' },
    { params: { words: ['ΟΔΟΣ'], caseSensitive: false }, text: 'οδοσ' },
    { params: { words: ['x'], caseSensitive: false }, text: 'İİX' },
    { params: { words: ['apple', 'apple'], operator: 'all' }, stage: 'output', text: 'apple' },
    { params: { words: ['你好'] }, text: '说你好吧' },
    { params: { words: ['a.c'], operator: 'none' }, text: 'abc' },
    { params: { words: ['apple'] }, answer: { choices: [{ message: { content: 'no' } }, { message: { content: 'apple' } }] } },
    { params: { words: ['apple'] }, answer: { choices: [{ message: { tool_calls: [{ function: { arguments: '{"fruit":["apple"]}' } }] } }] } },
  ],
  fails: [
    { params: { words }, text: 'plum' },
    { params: { words }, text: 'APPLE' },
    { params: { words }, body: { messages: [] } },
    { params: { words, operator: 'all' }, text: 'apple' },
    { params: { words, operator: 'none' }, text: 'a pear' },
    { params: { words, operator: 'none', caseSensitive: false }, text: 'A PEAR' },
    { params: { words, operator: 'none' }, body: { messages: [{ role: 'user', content: 'pear' }, { role: 'user', content: 'x' }] } },
    { params: { words, operator: 'none' }, answer: { choices: [{ message: { content: 'x' } }, { message: { content: 'pear' } }] } },
    { params: { words, operator: 'none' }, answer: { choices: [{ message: { tool_calls: [{ function: { arguments: '{"a":"p\\u0065ar"}' } }] } }] } },
    { params: { words, operator: 'none' }, endpoint: 'responses', answer: { output: [{ type: 'function_call', arguments: '{"a":"pear"}' }] } },
  ],
  refuses: [{ words: ['a', ''] }, { words: Array.from({ length: 21 }, (_, index) => `${index}`.padEnd(1000, 'x')) }],
  streams: [
    { params: { words, operator: 'none' }, text: 'appl pea applpear', streamed: undefined },
    { params: { words, operator: 'none' }, text: 'appl pea applpea', streamed: 'appl pea applpea' },
    { params: { words: ['aab'], operator: 'none' }, text: 'aaab', streamed: undefined },
    { params: { words, operator: 'none', caseSensitive: false }, text: 'an APPLE', streamed: undefined },
    { params: { words, operator: 'any' }, text: 'plum and fig', streamed: 'plum and fig' },
    { params: { words, operator: 'all' }, text: 'apple pear', streamed: 'apple pear' },
  ],
});

test('a stream with any or all lets everything go and knows at its end', async () => {
  for (const [operator, text, pass] of [['any', 'one apple', true], ['any', 'one plum', false], ['all', 'apple, pear', true], ['all', 'appleear', false]] as const) {
    const check = await make({ words, operator });
    for (let at = 0; at <= text.length; at += 1) {
      const run = runStreamCheck(check, [text.slice(0, at), text.slice(at)], { lookBackMax: plugin.lookBackMax ?? 0 });
      assert.equal(run.verdict.pass, pass, `${operator} ${text} cut at ${at}`);
      assert.equal(run.heldMax, 0);
    }
  }
});

test('a stream with none holds back no more than what may begin a word', async () => {
  const check = await make({ words: ['forbidden'], operator: 'none' });
  const run = runStreamCheck(check, Array.from('a text that is forbidd'), { lookBackMax: 8 });
  assert.equal(run.heldMax, 7);
  assert.equal(runStreamCheck(check, Array.from('a text'), { lookBackMax: 0 }).heldMax, 0);
});

test('data names the words', async () => {
  const check = await make({ words, operator: 'all' });
  const { data, why } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'apple' }] } }));
  assert.equal(why, '1 of 2 words was found, and all have to be there');
  assert.deepEqual(data, { foundWords: ['apple'], missingWords: ['pear'], operator: 'all', explanation: why });
});
