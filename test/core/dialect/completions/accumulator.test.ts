import type { JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { dialects } from '../../../../core/dialect/dialects.js';

const envelope = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' };
const chunk = (text: string, finish: string | null = null, more: JsonObject = {}): JsonObject => ({ ...envelope, choices: [{ index: 0, text, finish_reason: finish, ...more }] });

function assembled(...chunks: readonly (JsonObject | string)[]): any {
  const whole = assembler(dialects.completions);
  for (const data of chunks) whole.push({ event: undefined, data });
  return whole.answer();
}

describe('a text completion out of chunks', () => {
  test('is what the API answers without a stream', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const logprobs = (token: string, offset: number): JsonObject => ({ logprobs: { tokens: [token], token_logprobs: [-1], top_logprobs: [{ [token]: -1 }], text_offset: [offset] } });
    assert.deepEqual(assembled(chunk('once ', null, logprobs('once ', 0)), chunk('upon', null, logprobs('upon', 5)), chunk('', 'length', { logprobs: null, stop_reason: 'x' }), { ...envelope, choices: [], usage }, '[DONE]'), {
      ...envelope, usage,
      choices: [{
        index: 0, text: 'once upon', finish_reason: 'length', stop_reason: 'x',
        logprobs: { tokens: ['once ', 'upon'], token_logprobs: [-1, -1], top_logprobs: [{ 'once ': -1 }, { upon: -1 }], text_offset: [0, 5] },
      }],
    });
  });

  test('is there when every choice has ended', () => {
    const other = (finish: string | null): JsonObject => ({ ...envelope, choices: [{ index: 1, text: 'b', finish_reason: finish }] });
    assert.equal(assembled(chunk('a', 'stop'), other(null), '[DONE]'), null);
    assert.deepEqual(assembled(other(null), chunk('a', 'stop'), other('length')).choices, [{ index: 0, text: 'a', finish_reason: 'stop' }, { index: 1, text: 'bb', finish_reason: 'length' }]);
    assert.equal(assembled(chunk('a'), { error: { message: 'm' } }, chunk('', 'stop')), null);
    assert.equal(assembled(chunk('a', 'error')), null);
  });

  test('is given up beyond the limit', () => {
    for (const [bytesMax, isKept] of [[1_000, false], [3_000, true]] as const) {
      const whole = assembler(dialects.completions, bytesMax);
      for (const data of [chunk('x'.repeat(600)), chunk('x'.repeat(600)), chunk('', 'stop')]) whole.push({ event: undefined, data });
      assert.equal(whole.answer() !== null, isKept);
    }
  });
});
