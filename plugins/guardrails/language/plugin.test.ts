import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import { languageSamples } from '../common/detectors/language-samples.js';
import { knownLanguages, languageOfCode } from './codes.js';
import plugin from './plugin.js';

const english = 'Nobody knew why the lights went out in the whole street last night.';
const german = 'Niemand wusste, warum in der ganzen Straße gestern Abend das Licht ausging.';
const spanish = 'Nadie sabía por qué se había ido la luz anoche en toda la calle.';
const chinese = '没有人知道昨天晚上为什么突然停电了，大家都很着急。';
const choices = (...texts: string[]): Json => ({ choices: texts.map((content, index) => ({ index, message: { role: 'assistant', content } })) });
const params = { language: ['en'] };

conformGuardrail(plugin, {
  passes: [
    { text: english, params },
    { text: english, params: { language: ['eng_Latn'] } },
    { text: english, params: { language: ['de', 'en-GB'] } },
    { text: chinese, params: { language: ['zho_Hans'] } },
    { text: chinese, params: { language: ['zh-TW'] } },
    { text: german, params: { language: ['en'], not: true } },
    { text: 'Danke!', params },
    { text: 'Danke!', params: { language: ['de'], not: true } },
    { text: '12345 67890 !!! ???', params: { language: ['en'], minCharacters: 1 } },
    { text: english, stage: 'output', params },
    { stage: 'output', answer: choices(english, 'ok'), params },
    { body: { messages: [{ role: 'system', content: german }, { role: 'user', content: english }, { role: 'tool', content: german }] }, params },
    { body: { messages: [{ role: 'user', content: german.repeat(5) }, { role: 'user', content: english }] }, params: { language: ['en'], scope: 'last' } },
    { body: {}, params },
    { text: `https://example.org/warum/ist/das/so?grund=licht ${english}`, params },
    ...Object.entries(languageSamples).flatMap(([language, texts]) => texts.slice(2, 3).map((text) => ({ text, params: { language: [language] } }))),
  ],
  fails: [
    { text: german, params },
    { text: chinese, params },
    { text: english, params: { language: ['de', 'fr'] } },
    { text: english, params: { language: ['en'], not: true } },
    { text: english, stage: 'output', params: { language: ['de'] } },
    { stage: 'output', answer: choices(english, german), params },
    { text: `${german} `.repeat(300), params },
    { body: { messages: [{ role: 'user', content: english.repeat(5) }, { role: 'user', content: spanish }] }, params: { language: ['en'], scope: 'last' } },
    { text: 'Licht aus!', params: { language: ['en'], minCharacters: 5 } },
  ],
  refuses: [{ language: ['xx'] }, { language: ['en', 'klingon'] }, { language: ['eng_Latin'] }],
});

describe('language', () => {
  it('names what it detected, how sure it is, and what it was compared with', async () => {
    const check = await plugin.create({ language: ['eng_Latn', 'fr'], minCharacters: 20, scope: 'all', not: false }, fakeHost());
    const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: german }] } }));
    const { confidence, ...data } = verdict.data as { confidence: number };
    assert.deepEqual(data, { detected: 'de', reliable: true, language: ['en', 'fr'], not: false, explanation: 'the text is in the language de, which is not among the allowed ones: en, fr' });
    assert.ok(confidence > 0.5 && confidence <= 1);
  });

  it('detects nothing in a text that is too short', async () => {
    const check = await plugin.create({ language: ['en'], minCharacters: 20, scope: 'all', not: false }, fakeHost());
    const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: 'Hallo Welt' }] } }));
    assert.equal((verdict.data as { detected: Json }).detected, null);
  });

  it('gives an allowed twin the benefit of the doubt, but not a forbidden one', async () => {
    const text = 'Hvor mange kalorier er det i en brødskive?';
    const judge = async (language: string, not: boolean) =>
      (await (await plugin.create({ language: [language], minCharacters: 20, scope: 'all', not }, fakeHost())).evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }))).pass;
    assert.deepEqual([await judge('no', false), await judge('da', false), await judge('no', true), await judge('da', true)], [true, true, true, false]);
  });

  it('knows every language by its own code and by the longer ones, in any case', () => {
    assert.equal(knownLanguages.length, 60);
    for (const language of knownLanguages) assert.equal(languageOfCode(language), language);
    assert.deepEqual(['ENG_latn', 'spa', 'pt-BR', 'zh_Hant', 'nb', 'fil', ' de '].map(languageOfCode), ['en', 'es', 'pt', 'zh', 'no', 'tl', 'de']);
    assert.deepEqual(['', 'e', 'english', 'tlh'].map(languageOfCode), [undefined, undefined, undefined, undefined]);
  });
});
