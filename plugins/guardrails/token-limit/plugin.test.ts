import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost, runStreamCheck } from '@gateway/plugin-sdk/testing';
import { testSeed } from '../../../test/support/seed.js';
import { TokenCounter } from '../common/detectors/token-counter.js';
import plugin from './plugin.js';
import { StreamedTokens } from './streamed-tokens.js';

/** 9 tokens in both encodings. */
const pangram = 'The quick brown fox jumps over the lazy dog';
const choices = (...texts: string[]): Json => ({ choices: texts.map((content, index) => ({ index, message: { role: 'assistant', content } })) });
const defaults = { encoding: 'o200k_base', tokensPerMessage: 4, scope: 'all', not: false } as const;

conformGuardrail(plugin, {
  passes: [
    { text: pangram, params: { maxTokens: 13 } },
    { text: pangram, params: { maxTokens: 9, tokensPerMessage: 0 } },
    { text: pangram, params: { maxTokens: 9, tokensPerMessage: 0, encoding: 'cl100k_base' } },
    { text: pangram, params: { minTokens: 9, tokensPerMessage: 0 } },
    { text: pangram, params: { minTokens: 9, maxTokens: 9 }, stage: 'output' },
    { text: pangram, params: { maxTokens: 8, tokensPerMessage: 0, not: true } },
    { text: '<|endoftext|>', params: { maxTokens: 100 } },
    { text: '', params: { maxTokens: 4 } },
    { body: {}, params: { maxTokens: 0 } },
    { stage: 'output', answer: choices(), params: { maxTokens: 0 } },
    { stage: 'output', answer: choices(pangram, pangram), params: { maxTokens: 9 } },
    { body: { messages: [{ role: 'user', content: pangram.repeat(9) }, { role: 'user', content: pangram }] }, params: { maxTokens: 13, scope: 'last' } },
    { endpoint: 'embeddings', body: { input: [pangram, pangram] }, params: { maxTokens: 18 } },
  ],
  fails: [
    { text: pangram, params: { maxTokens: 12 } },
    { text: pangram, params: { maxTokens: 8, tokensPerMessage: 0 } },
    { text: pangram, params: { maxTokens: 8 }, stage: 'output' },
    { text: pangram, params: { minTokens: 10 }, stage: 'output' },
    { text: pangram, params: { minTokens: 5, maxTokens: 15, not: true }, stage: 'output' },
    { text: pangram, params: { maxTokens: 13, not: true } },
    { text: 'a'.repeat(100_000), params: { maxTokens: 500 } },
    { stage: 'output', answer: choices('Hi', pangram), params: { maxTokens: 8 } },
    { stage: 'output', answer: choices(pangram, 'Hi'), params: { minTokens: 5 } },
    { body: { messages: [{ role: 'user', content: pangram }, { role: 'user', content: pangram }] }, params: { maxTokens: 25 } },
    { endpoint: 'messages', body: { system: pangram, messages: [{ role: 'user', content: pangram }] }, params: { maxTokens: 25 } },
    { endpoint: 'responses', body: { instructions: pangram, input: pangram }, params: { maxTokens: 25 } },
    { endpoint: 'embeddings', body: { input: [pangram, pangram] }, params: { maxTokens: 17 } },
  ],
  refuses: [{}, { minTokens: 5, maxTokens: 4 }],
  streams: [
    { params: { maxTokens: 9 }, text: pangram, streamed: pangram },
    { params: { maxTokens: 8 }, text: pangram, streamed: undefined },
    { params: { minTokens: 10 }, text: pangram, streamed: undefined },
    { params: { maxTokens: 3, not: true }, text: pangram, streamed: pangram },
    { params: { maxTokens: 30 }, text: 'Süße Öfen — 今天很高兴。 don\'t 12345', streamed: 'Süße Öfen — 今天很高兴。 don\'t 12345' },
  ],
});

describe('token limit', () => {
  const judge = async (params: Partial<Parameters<typeof plugin.create>[0]>, text: string, stage: 'input' | 'output' = 'output') =>
    (await plugin.create({ ...defaults, ...params }, fakeHost())).evaluate(fakeCheckInput(stage === 'output' ? { stage, answer: choices(text) } : { stage, body: { messages: [{ role: 'user', content: text }] } }));

  it('gives the exact count when it had to count, and bounds when it had not', async () => {
    assert.deepEqual((await judge({ maxTokens: 20 }, pangram)).data, { tokens: 9, isExact: true, encoding: 'o200k_base', maxTokens: 20, not: false, explanation: 'the text has 9 tokens, within the bounds: at most 20' });
    assert.deepEqual((await judge({ maxTokens: 2000 }, pangram)).data, { atMost: 43, encoding: 'o200k_base', maxTokens: 2000, not: false, explanation: 'the text has at most 43 tokens, within the bounds: at most 2000' });
    assert.equal((await judge({ maxTokens: 5 }, pangram.repeat(10))).why, 'the text has at least 6 tokens, outside the bounds: at most 5');
    assert.equal((await judge({ maxTokens: 5 }, pangram.repeat(100))).why, 'the text has at least 34 tokens, outside the bounds: at most 5');
  });

  it('counts as the encoder does, however a stream is cut', async (t) => {
    const seed = testSeed;
    t.diagnostic(`seed ${seed}`);
    let state = seed;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * below);
    };
    const parts = ['word', ' ', '  ', '\n', ' don\'t', 'we’ll', '12345', '。', '今天', '!?', 'é', 'e\u0301', '😀', '\t', 'ABC', 'camelCase', '/path/', '\r\n\r\n', ' the', '...', '-', 'नमस्ते'];
    const counter = await TokenCounter.load('o200k_base');
    for (let round = 0; round < 100; round += 1) {
      const text = Array.from({ length: random(300) }, () => parts[random(parts.length)] ?? '').join('');
      const streamed = new StreamedTokens(counter, random(2) === 0 ? 50 : 10_000);
      for (let at = 0; at < text.length;) {
        const to = at + 1 + random(40);
        streamed.add('0', 0, text.slice(at, to));
        at = to;
      }
      const [measure] = streamed.measures();
      assert.equal(measure?.tokens ?? measure?.atLeast, countTokens(text), JSON.stringify(text));
      assert.equal(counter.count(text, Number.MAX_SAFE_INTEGER)?.tokens, countTokens(text));
    }
  });

  it('ends a stream soon after the limit is passed, and adds up the texts of a choice', async () => {
    const check = await plugin.create({ ...defaults, maxTokens: 50 }, fakeHost());
    const run = runStreamCheck(check, Array.from({ length: 40 }, () => `${pangram}. `), { lookBackMax: 0 });
    assert.equal(run.isEnded, true);
    assert.ok(run.text.length <= pangram.length * 6, `${run.text.length} characters went out`);
    const stream = check.stream?.(fakeExchange());
    assert.ok(stream !== undefined);
    for (const channel of ['content', 'arguments']) for (const text of [`${pangram} `.repeat(3), 'end']) stream.push({ channel, kind: 'text', group: 0, before: '', text, isLast: false });
    assert.equal(stream.verdict().pass, false);
  });

  it('takes time in proportion to the length of runs that no word boundary ends', async () => {
    const counter = await TokenCounter.load('o200k_base');
    for (const part of ['a', 'xq', ' ', '=-', '今', '\n', '😀']) {
      const text = part.repeat(10_000 / part.length);
      const started = process.cpuUsage().user;
      const count = counter.count(text, Number.MAX_SAFE_INTEGER);
      assert.ok(process.cpuUsage().user - started < 1_000_000, `too slow on ${JSON.stringify(part)}`);
      assert.equal(count?.isExact, false);
    }
  });
});
