import { conformGuardrail, fakeCheckInput, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SentenceCounter } from '../common/text/sentence-counter.js';
import plugin from './plugin.js';

const exactly = (count: number) => ({ minSentences: count, maxSentences: count });

conformGuardrail(plugin, {
  passes: [
    { text: 'anything at all' },
    { params: exactly(2), text: 'One. Two.' },
    { params: exactly(0), body: { messages: [] } },
    { params: exactly(3), body: { messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: [{ type: 'text', text: 'One' }, { type: 'text', text: 'Two.' }] }] } },
    { params: { ...exactly(1), scope: 'last' }, body: { messages: [{ role: 'system', content: 'Be kind. Be good.' }, { role: 'user', content: 'Hello.' }] } },
    { params: { ...exactly(0), scope: 'last' }, body: { messages: [{ role: 'user', content: 'Hello.' }, { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u' } }] }] } },
    { params: { maxSentences: 1 }, answer: { choices: [{ message: { content: 'One.' } }, { message: { content: 'One' } }] } },
    { params: { ...exactly(2), not: true }, text: 'One.' },
    { params: exactly(0), stage: 'output', answer: { choices: [{ message: { content: null, tool_calls: [{ function: { name: 'f', arguments: '{"a":"One. Two."}' } }] } }] } },
  ],
  fails: [
    { params: { maxSentences: 1 }, text: 'One. Two.' },
    { params: { minSentences: 3 }, text: 'One. Two.' },
    { params: { minSentences: 1 }, stage: 'output', text: '' },
    { params: { maxSentences: 1 }, answer: { choices: [{ message: { content: 'One.' } }, { message: { content: 'One. Two.' } }] } },
    { params: { minSentences: 1 }, answer: { choices: [{ message: { content: 'One.' } }, { message: { content: '' } }] } },
    { params: { ...exactly(2), not: true }, text: 'One. Two.' },
    { params: { minSentences: 1 }, body: { messages: [{ role: 'user', content: '?!' }] } },
  ],
  refuses: [{ minSentences: 3, maxSentences: 2 }],
  streams: [
    { params: { maxSentences: 2 }, text: 'Pi is 3.14. Mr. Fox said so...', streamed: 'Pi is 3.14. Mr. Fox said so...' },
    { params: { maxSentences: 2 }, text: 'One. Two! Three', streamed: undefined },
    { params: { minSentences: 2 }, text: 'Only one (e.g. this).', streamed: 'Only one (e.g. this).' },
  ],
});

const counts: readonly (readonly [string, number])[] = [
  ['', 0], ['   ', 0], ['...', 0], ['Hello', 1], ['Hello.', 1], ['Hello. ', 1], ['One. Two. Three.', 3], ['One. Two', 2],
  ['Pi is 3.14 and e is 2.72.', 1], ['Version 1.2.3 is out. Get it at example.com/a?b=c.', 2], ['Well... I think so.', 2], ['well... maybe so.', 1], ['Well… maybe.', 1],
  ['What?! No way!!! Really?', 3], ['Mr. Smith met Dr. J. R. Jones. They talked.', 2], ['We sell fruit, e.g. apples, i.e. food, etc. and more.', 1],
  ['See fig. 3 and No. 7. She said no. Then she left.', 3], ['"Stop!" She ran. (It was late.) He slept.', 4], ['你好。今天天气很好！你呢？', 3], ['「行こう。」と言った。', 2],
  ['یہ ٹھیک ہے۔ وہ بھی۔', 2], ['यह अच्छा है। वह भी।', 2], ['Title\n\nThe text follows. It ends', 3], ['a wrapped\nline here. and so on', 1], ['1. First item\n2. Second item', 2],
  ['1. First. \n2. Second.', 2], ['Great! 🙂', 1], ['Great! 🙂 Thanks.', 2], ['U.S. troops left. They went home.', 2], ['It costs $3.50. Cheap!', 2], ['He lived in the 1990s. Born 1950. Died 2001.', 3],
  ['**Bold.** Then more.', 2], ['Is it?\nYes.', 2], ['email me@example.com. Thanks.', 2], ['“Who?” he asked.', 2], ['a.b.c', 1], ['Ok.Then', 1],
];

for (const [text, count] of counts) {
  test(`${JSON.stringify(text)} has ${count}`, () => {
    const counter = new SentenceCounter();
    counter.push(text);
    assert.equal(counter.total(), count);
    const slow = new SentenceCounter();
    let last = 0;
    for (const unit of text.split('')) {
      slow.push(unit);
      assert.ok(slow.total() >= last, 'a total never falls');
      last = slow.total();
    }
    assert.equal(slow.total(), count);
  });
}

test('data names the count and the bounds', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { maxSentences: 1 }) as never, fakeHost());
  const explanation = '2 sentences do not lie between 0 and 1';
  assert.deepEqual(await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'A b. C d.' }] } })), {
    pass: false, why: explanation, data: { sentenceCount: 2, minCount: 0, maxCount: 1, not: false, explanation },
  });
  assert.equal(runStreamCheck(check, ['One. ', 'Two. ', 'Three.'], { lookBackMax: 0 }).text, 'One. ');
});
