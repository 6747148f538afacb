// What a call is charged for does not depend on the dialect that its client speaks: the counts in an answer that was translated are those of the answer as it came.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatUsage, type JsonObject } from '@gateway/plugin-sdk';
import { chatToMessages } from '../../../../core/dialect/messages/answer.js';
import { chatToResponse } from '../../../../core/dialect/responses/answer.js';
import type { Usage } from '../../../../core/exchange/usage.js';
import { UsageTap } from '../../../../core/stream/usage-tap.js';
import { usageOf as geminiUsage } from '../../../../providers/common/gemini/answer.js';
import { usageOf as mistralUsage } from '../../../../providers/mistral-ai/chat-answer.js';

/** 0 where nothing was said: dialects say 0 where others say nothing. */
function countsOf(answer: JsonObject): Omit<Usage, 'model' | 'finishReason'> {
  const tap = new UsageTap(false, true);
  tap.push(Buffer.from(JSON.stringify(answer)));
  const { model, finishReason, ...counts } = tap.read();
  return { ...counts, ...Object.fromEntries(Object.entries(counts).flatMap(([name, count]) => (count === -1 ? [[name, 0]] : []))) };
}

const chat = (usage: JsonObject): JsonObject => ({ id: 'c', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }], usage });
const toMessages = (answer: JsonObject): JsonObject => chatToMessages(answer, { id: 'c', model: 'm' });
const toResponse = (answer: JsonObject): JsonObject => chatToResponse(answer, { id: 'resp_1', createdAt: 1, model: 'm', request: {}, isStored: false });

const families: Readonly<Record<string, JsonObject>> = {
  'reasoning, citations and searches beside the output': { prompt_tokens: 33, completion_tokens: 7_163, total_tokens: 7_196, citation_tokens: 19_838, num_search_queries: 18, reasoning_tokens: 73_997 },
  'reasoning beside the output, less than it': { prompt_tokens: 100, completion_tokens: 100, total_tokens: 250, prompt_tokens_details: { cached_tokens: 30 }, completion_tokens_details: { reasoning_tokens: 50 } },
  'reasoning beside the output, more than it': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 160, completion_tokens_details: { reasoning_tokens: 50 } },
  'reasoning within the output': { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200, completion_tokens_details: { reasoning_tokens: 50 } },
  'cached input beside the details': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cached_tokens: 60 },
  'cached input of DeepSeek': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
  'what was written to a cache, among the details': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 60, cache_creation_input_tokens: 20 } },
  'what was written to a cache, as OpenRouter says it': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 } },
  'cached sound and images': { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010, prompt_tokens_details: { cached_tokens: 900, audio_tokens: 500, image_tokens: 300, cached_tokens_details: { audio_tokens: 400, image_tokens: 200, text_tokens: 300 } } },
  'seconds of sound': { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_audio_seconds: 36 },
};

describe('counts of an answer that was translated', () => {
  it('are read at all', () => {
    const read = (name: string): Partial<Usage> => countsOf(chat(families[name] ?? {}));
    assert.equal(read('what was written to a cache, among the details').cacheWriteTokens, 20);
    assert.deepEqual(read('cached sound and images').units, { cache_read_audio_input_token: 400, cache_read_image_input_token: 200 });
    assert.equal(read('reasoning beside the output, less than it').outputTokens, 150);
    assert.deepEqual(countsOf(toMessages(chat(families['reasoning, citations and searches beside the output'] ?? {}))).units, { citation_token: 19_838, web_search: 18 });
  });

  for (const [name, usage] of Object.entries(families)) {
    it(`has ${name}`, () => {
      const told = countsOf(chat(usage));
      assert.notEqual(told.inputTokens, 0);
      assert.deepEqual({ messages: countsOf(toMessages(chat(usage))), responses: countsOf(toResponse(chat(usage))) }, { messages: told, responses: told });
    });
  }

  it('has what Gemini says of cached sound and images', () => {
    const usageMetadata = {
      promptTokenCount: 1_000, candidatesTokenCount: 10, totalTokenCount: 1_010, cachedContentTokenCount: 900,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 500 }, { modality: 'IMAGE', tokenCount: 300 }, { modality: 'TEXT', tokenCount: 200 }], cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 400 }, { modality: 'IMAGE', tokenCount: 300 }, { modality: 'TEXT', tokenCount: 200 }],
    };
    const usage = geminiUsage(usageMetadata);
    assert.ok(usage);
    assert.deepEqual(countsOf(chat(chatUsage(usage))), countsOf({ usageMetadata }));
  });

  it('has the seconds of sound that Mistral says', () => {
    const told = { prompt_audio_seconds: 36, prompt_tokens: 4, completion_tokens: 10, total_tokens: 460 };
    const usage = mistralUsage(told);
    assert.ok(usage);
    assert.deepEqual(countsOf(chat(chatUsage(usage))), countsOf(chat(told)));
    assert.deepEqual(countsOf(chat(told)).units, { audio_hour: 0.01 });
  });
});
