import { applyEdits } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSeed } from '../../../test/support/seed.js';
import plugin from './plugin.js';

const make = async (params: Record<string, unknown>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());
const R = '[REDACTED]';

conformGuardrail(plugin, {
  passes: [
    { params: { rule: 'x' }, text: 'abc' },
    { params: { rule: 'b' }, text: 'abc' },
    { params: { rule: 'b' }, stage: 'output', text: 'abc' },
    { params: { rule: 'b', failOnDetection: true }, text: 'acd' },
    { params: { rule: 'b*', failOnDetection: true }, text: 'acd' },
    { params: { rule: 'b' }, body: { messages: [] } },
    { params: { rule: 'b' }, body: { messages: [{ role: 'user', content: '' }] } },
  ],
  fails: [
    { params: { rule: 'b', failOnDetection: true }, text: 'abc' },
    { params: { rule: 'b', failOnDetection: true }, answer: { choices: [{ message: { content: 'x' } }, { message: { content: 'b' } }] } },
  ],
  changes: [
    { params: { rule: '\\d+' }, text: 'call 123 or 456', changed: `call ${R} or ${R}` },
    { params: { rule: '/HELLO/i' }, text: 'hello Hello', changed: `${R} ${R}` },
    { params: { rule: 'b*' }, text: 'abbc', changed: `a${R}c` },
    { params: { rule: '(a)(b)', redactText: '$2$1$&$$' }, text: 'ab', changed: '$2$1$&$$' },
    { params: { rule: 'a', redactText: '' }, stage: 'output', text: 'banana', changed: 'bnn' },
    { params: { rule: '🙂' }, text: 'so 🙂🙂!', changed: `so ${R}${R}!` },
    { params: { rule: '^.' }, text: 'ab', changed: `${R}b` },
    { params: { rule: 'none' }, text: 'ab', changed: 'ab' },
    {
      params: { rule: 'secret' },
      body: { messages: [{ role: 'system', content: 'a secret' }, { role: 'user', content: [{ type: 'text', text: 'secret' }, { type: 'image_url', image_url: { url: 'u' } }, { type: 'text', text: 'no' }] }] },
      changed: { messages: [{ role: 'system', content: `a ${R}` }, { role: 'user', content: [{ type: 'text', text: R }, { type: 'image_url', image_url: { url: 'u' } }, { type: 'text', text: 'no' }] }] },
    },
    {
      params: { rule: 'secret' }, stage: 'output',
      answer: { choices: [{ message: { content: 'secret', tool_calls: [{ function: { name: 'f', arguments: '{"secret":"my secret","n":1}' } }] } }, { message: { content: 'secret' } }] },
      changed: { choices: [{ message: { content: R, tool_calls: [{ function: { name: 'f', arguments: `{"${R}":"my ${R}","n":1}` } }] } }, { message: { content: R } }] },
    },
    { params: { rule: 'secret' }, endpoint: 'embeddings', body: { input: ['a secret', 'b'] }, changed: { input: [`a ${R}`, 'b'] } },
    { params: { rule: 'secret' }, endpoint: 'completions', body: { prompt: 'secret' }, changed: { prompt: R } },
    {
      params: { rule: 'secret' }, stage: 'output', endpoint: 'messages', answer: { content: [{ type: 'text', text: 'secret' }, { type: 'tool_use', input: { q: ['secret'] } }] },
      changed: { content: [{ type: 'text', text: R }, { type: 'tool_use', input: { q: [R] } }] },
    },
  ],
  refuses: [{ rule: '(' }, { rule: '' }, { rule: '(?=a)' }],
  streams: [
    { params: { rule: '\\d{3}' }, text: 'a123b4567', streamed: `a${R}b${R}7` },
    { params: { rule: '\\d+' }, text: 'a 1 22 333', streamed: `a ${R} ${R} ${R}` },
    { params: { rule: '\\d+', lookBack: 4 }, text: 'a 123456789012 b', streamed: `a ${R} b` },
    { params: { rule: 'pass: *\\S+', lookBack: 8 }, text: 'my pass: hunter2hunter2hunter2 ok', streamed: `my ${R} ok` },
    { params: { rule: '\\bcat\\b', redactText: 'dog' }, text: 'cat concat cat, cats cat', streamed: 'dog concat dog, cats dog' },
    { params: { rule: '^a|a$' }, text: 'aba aba', streamed: `${R}ba ab${R}` },
    { params: { rule: 'ab|abcd' }, text: 'abcd', streamed: `${R}cd` },
    { params: { rule: '🙂.', redactText: '-' }, text: '🙂🙂🙂x', streamed: '--' },
    { params: { rule: 'b*' }, text: 'abba', streamed: `a${R}a` },
    { params: { rule: 'secret', failOnDetection: true }, text: 'a secret', streamed: undefined },
    { params: { rule: 'secret', failOnDetection: true }, text: 'a secre', streamed: 'a secre' },
  ],
});

test('a stream is changed like the whole text, however it is cut, as long as matches fit the look-back', async () => {
  const seed = testSeed;
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor(state / 65_536) % below;
  };
  for (const rule of ['a+b', '\\ba{1,3}\\b', '(?m)^b', 'ab?$', 'a[^ ]*b', '(ab|a)(b|)', ' *a', '/B/i', '🙂+', '.b']) {
    const check = await make({ rule, lookBack: 40, redactText: '#' });
    for (let round = 0; round < 60; round += 1) {
      const text = Array.from({ length: random(30) }, () => ['a', 'b', ' ', '\n', '🙂'][random(5)]).join('');
      const parts: string[] = [];
      for (let at = 0; at < text.length;) {
        const length = 1 + random(6);
        parts.push(text.slice(at, at + length));
        at += length;
      }
      const body = { messages: [{ role: 'user', content: text }] };
      const input = fakeCheckInput({ body });
      const verdict = await check.evaluate(input);
      const whole = applyEdits(body, input.pieces(), verdict.edits ?? []) as typeof body;
      assert.equal(runStreamCheck(check, parts, { lookBackMax: plugin.lookBackMax ?? 0 }).text, whole.messages[0]?.content, `seed ${seed}, ${rule} on ${JSON.stringify(parts)}`);
    }
  }
});

test('a match longer than the look-back is cut in the same places however the text is cut', async () => {
  const check = await make({ rule: 'x.*y', lookBack: 16, redactText: '#' });
  const text = `${'ab '.repeat(10)}x${'c'.repeat(100)}y ${'d'.repeat(50)} x12y`;
  const results = new Set([1, 2, 3, 7, 50, 1000].map((length) => runStreamCheck(check, text.match(new RegExp(`.{1,${length}}`, 'g')) ?? [], { lookBackMax: plugin.lookBackMax ?? 0 }).text));
  assert.equal(results.size, 1);
});

test('arguments that are not JSON are one text', async () => {
  const check = await make({ rule: 'rm -rf' });
  const run = runStreamCheck(check, ['sudo r', 'm -rf "/"'], { lookBackMax: plugin.lookBackMax ?? 0, kind: 'arguments' });
  assert.equal(run.text, `sudo ${R} "/"`);
});

test('the verdict of a stream counts what was replaced', async () => {
  const check = await make({ rule: 'a' });
  const stream = check.stream?.(fakeExchange());
  stream?.push({ channel: '0', kind: 'text', group: 0, before: '', text: 'banana', isLast: true });
  assert.deepEqual(stream?.verdict(), { pass: true, data: { explanation: 'the regular expression matched and was replaced 3 times' } });
});
