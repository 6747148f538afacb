import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import { testSeed } from '../../../test/support/seed.js';
import { tuning } from './labelled.js';
import { judgeLetters } from './letter-judge.js';
import { letterModel } from './letter-model.js';
import { trainModel } from './training.js';
import plugin from './plugin.js';

const mash = 'asdkjh qwpeoi zxmcn alskdj';
const prose = 'The committee will meet again on Thursday afternoon.';

conformGuardrail(plugin, {
  passes: [
    ...tuning.real.filter((text) => !text.startsWith('Brrr')).map((text) => ({ text })),
    { text: '' },
    { text: 'xkcd qwz' },
    { text: 'これは普通の文章です。とても短いです。' },
    { text: 'Это обычный текст на русском языке.' },
    { text: `${prose} xkjw qzv` },
    { text: mash, params: { not: true } },
    { body: { messages: [{ role: 'system', content: mash }, { role: 'tool', content: mash }, { role: 'user', content: prose }] } },
    { body: { messages: [{ role: 'user', content: mash }, { role: 'user', content: prose }] }, params: { scope: 'last' } },
    { stage: 'output', answer: { choices: [{ index: 0, message: { role: 'assistant', content: prose } }] } },
    { body: {} },
  ],
  fails: [
    ...tuning.gibberish.map((text) => ({ text })),
    { text: mash, stage: 'output' },
    { text: mash, params: { threshold: 1 } },
    { text: prose, params: { not: true } },
    { text: 'ok ok', params: { not: true } },
    { text: prose, params: { threshold: 0.05, not: true } },
    { body: { messages: [{ role: 'user', content: prose }, { role: 'user', content: mash }] } },
    { body: { messages: [{ role: 'user', content: prose }, { role: 'user', content: mash }] }, params: { scope: 'last' } },
    { stage: 'output', answer: { choices: [{ index: 0, message: { role: 'assistant', content: prose } }, { index: 1, message: { role: 'assistant', content: mash } }] } },
  ],
});

describe('gibberish', () => {
  it('says how sure it is and where, and never the text', async () => {
    const check = await plugin.create({ threshold: 0.5, scope: 'all', not: false }, fakeHost());
    const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: prose }, { role: 'user', content: mash }] } }));
    const { score, ...data } = verdict.data as { score: number };
    assert.deepEqual(data, { threshold: 0.5, places: ['messages[1].content'], not: false, explanation: verdict.why });
    assert.ok(score >= 0.5 && score <= 1);
    assert.ok(!JSON.stringify(verdict).includes('asdkjh'));
  });

  it('has no score when there is no prose to judge', async () => {
    const check = await plugin.create({ threshold: 0.5, scope: 'all', not: false }, fakeHost());
    for (const text of ['ok', '{"qwzx":[1,2,3],"xkjv":"wq"}', '日本語の文章', 'dGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kaW5nLCBxdWl0ZSBsb25n0']) {
      const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
      assert.equal((verdict.data as { score: Json }).score, null, text);
    }
  });

  it('flags nearly all texts of random letters', (t) => {
    const seed = testSeed;
    t.diagnostic(`seed ${seed}`);
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * below);
    };
    let found = 0;
    for (let round = 0; round < 500; round += 1) {
      const words = Array.from({ length: 6 }, () => Array.from({ length: 4 + random(6) }, () => String.fromCharCode(97 + random(26))).join(''));
      if ((judgeLetters(words.join(' ')).score ?? 0) >= 0.5) found += 1;
    }
    assert.ok(found >= 485, `${found} of 500`);
  });

  it('has the model that its training makes', async () => {
    const { default: vocabulary } = await import('gpt-tokenizer/bpeRanks/o200k_base');
    assert.equal(letterModel, trainModel(vocabulary));
  });
});
