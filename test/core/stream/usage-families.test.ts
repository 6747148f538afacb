// What each family of providers reports, read from its answers as they come, is what the package of prices reads from them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { noUsage, type Usage } from '../../../core/exchange/usage.js';
import { UsageTap } from '../../../core/stream/usage-tap.js';

function readUsage(text: string, isEventStream: boolean): Usage {
  const tap = new UsageTap(isEventStream, true);
  const bytes = Buffer.from(text);
  for (let index = 0; index < bytes.length; index += 700) tap.push(bytes.subarray(index, index + 700));
  return tap.read();
}
const readPlain = (answer: unknown): Usage => readUsage(JSON.stringify(answer), false);
const readStream = (...events: readonly unknown[]): Usage => readUsage(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), true);

/** Names in the package -> ours. */
const counted: Readonly<Record<string, (usage: Usage) => number>> = {
  input_tokens: ({ inputTokens }) => inputTokens, output_tokens: ({ outputTokens }) => outputTokens, cache_read_tokens: ({ cachedTokens }) => cachedTokens, cache_write_tokens: ({ cacheWriteTokens }) => cacheWriteTokens,
  input_audio_tokens: ({ inputAudioTokens }) => inputAudioTokens, input_image_tokens: ({ inputImageTokens }) => inputImageTokens, output_reasoning_tokens: ({ reasoningTokens }) => reasoningTokens,
  output_audio_tokens: ({ outputAudioTokens }) => outputAudioTokens, output_image_tokens: ({ outputImageTokens }) => outputImageTokens, web_searches: ({ units }) => units?.web_search ?? 0,
  cache_write_1h_tokens: ({ units }) => units?.cache_write_1h_input_token ?? 0, output_citation_tokens: ({ units }) => units?.citation_token ?? 0, input_video_tokens: ({ units }) => units?.request_video_token ?? 0,
  cache_audio_read_tokens: ({ units }) => units?.cache_read_audio_input_token ?? 0, cache_image_read_tokens: ({ units }) => units?.cache_read_image_input_token ?? 0,
};
/** Of no price: text is what is neither sound nor an image. */
const passedOver = new Set(['input_text_tokens', 'output_text_tokens', 'cache_text_read_tokens', 'cache_write_5m_tokens', 'input_tool_tokens', 'input_text_tool_tokens']);

const gemini = {
  candidates: [{ content: { parts: [{ text: 'A cat.' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: 1_290, candidatesTokenCount: 31, totalTokenCount: 1_471, cachedContentTokenCount: 600, thoughtsTokenCount: 120, toolUsePromptTokenCount: 30,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 700 }, { modality: 'IMAGE', tokenCount: 258 }, { modality: 'AUDIO', tokenCount: 300 }, { modality: 'VIDEO', tokenCount: 32 }],
    cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 500 }, { modality: 'AUDIO', tokenCount: 100 }], candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 21 }, { modality: 'IMAGE', tokenCount: 10 }],
    toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 30 }],
  },
  modelVersion: 'gemini-2.5-flash',
};

const families: readonly (readonly [provider: string, flavor: string, answer: { readonly usage?: unknown; readonly usageMetadata?: unknown; readonly [name: string]: unknown }])[] = [
  ['openai', 'chat', { model: 'gpt-4o-audio-preview-2025-06-03', usage: { prompt_tokens: 119, completion_tokens: 82, total_tokens: 201, prompt_tokens_details: { cached_tokens: 40, text_tokens: 19, audio_tokens: 60, image_tokens: 0, cache_write_tokens: 8 }, completion_tokens_details: { reasoning_tokens: 5, text_tokens: 17, audio_tokens: 60, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 } } }],
  ['openai', 'responses', { model: 'gpt-5.4', usage: { input_tokens: 328, input_tokens_details: { cached_tokens: 128, cache_write_tokens: 64 }, output_tokens: 52, output_tokens_details: { reasoning_tokens: 32 }, total_tokens: 380 } }],
  ['openai', 'embeddings', { model: 'text-embedding-3-small', usage: { prompt_tokens: 8, total_tokens: 8 } }],
  ['openai', 'images', { model: 'gpt-image-1.5', usage: { input_tokens: 50, input_tokens_details: { text_tokens: 10, image_tokens: 40 }, output_tokens: 1_072, output_tokens_details: { text_tokens: 16, image_tokens: 1_056 }, total_tokens: 1_122 } }],
  ['anthropic', 'default', { model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 12, cache_creation_input_tokens: 900, cache_read_input_tokens: 1_500, cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 600 }, output_tokens: 420, output_tokens_details: { thinking_tokens: 200 }, server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 }, service_tier: 'standard' } }],
  ['aws', 'default', { model: 'amazon.nova-pro-v1:0', usage: { inputTokens: 30, outputTokens: 628, totalTokens: 858, cacheReadInputTokens: 150, cacheWriteInputTokens: 50 } }],
  ['deepseek', 'chat', { model: 'deepseek-chat', usage: { prompt_tokens: 200, completion_tokens: 30, total_tokens: 230, prompt_tokens_details: { cached_tokens: 128 }, completion_tokens_details: { reasoning_tokens: 12 }, prompt_cache_hit_tokens: 128, prompt_cache_miss_tokens: 72 } }],
  ['moonshotai', 'chat', { model: 'kimi-k2', usage: { prompt_tokens: 200, completion_tokens: 30, total_tokens: 230, cached_tokens: 100, prompt_tokens_details: { cached_tokens: 100 } } }],
  ['groq', 'default', { model: 'llama-3.3-70b', usage: { queue_time: 0.03, prompt_tokens: 46, prompt_time: 0.002, completion_tokens: 18, completion_time: 0.04, total_tokens: 64, total_time: 0.042, prompt_tokens_details: { cached_tokens: 20 } } }],
  ['openrouter', 'chat', { model: 'anthropic/claude-sonnet-4.5', usage: { prompt_tokens: 194, completion_tokens: 20, total_tokens: 214, cost: 0.00095, is_byok: false, prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 50, audio_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 7 } } }],
  ['perplexity', 'default', { model: 'sonar-deep-research', usage: { prompt_tokens: 33, completion_tokens: 7_163, total_tokens: 7_196, citation_tokens: 20_016, num_search_queries: 18, reasoning_tokens: 73_997, search_context_size: 'low' } }],
  ['x-ai', 'chat', { model: 'grok-4-0709', usage: { prompt_tokens: 37, completion_tokens: 100, total_tokens: 1_037, prompt_tokens_details: { text_tokens: 37, audio_tokens: 0, image_tokens: 0, cached_tokens: 8 }, completion_tokens_details: { reasoning_tokens: 900, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 }, num_sources_used: 0 } }],
  ['mistral', 'default', { model: 'mistral-large-2512', usage: { prompt_tokens: 16, completion_tokens: 34, total_tokens: 50 } }],
  ['cohere', 'tokens', { id: 'x', finish_reason: 'COMPLETE', message: { role: 'assistant', content: [] }, usage: { billed_units: { input_tokens: 5, output_tokens: 41 }, tokens: { input_tokens: 71, output_tokens: 418 }, cached_tokens: 16 } }],
  ['zai', 'chat', { model: 'glm-4.6', usage: { prompt_tokens: 8, completion_tokens: 262, total_tokens: 270, prompt_tokens_details: { cached_tokens: 2 } } }],
  ['google', 'default', gemini],
];

describe('usage as a provider tells it', () => {
  for (const [provider, flavor, answer] of families) {
    it(`is read of ${provider}, ${flavor}`, () => {
      const found = findProvider({ providerId: provider });
      assert.ok(found);
      const { usage: expected } = extractUsage(found, answer, flavor);
      for (const usage of [readPlain(answer), readStream({ id: 'first', usage: null }, answer)]) {
        for (const [name, value] of Object.entries(expected)) {
          if (!passedOver.has(name)) assert.equal(Math.max(0, counted[name]?.(usage) ?? assert.fail(name)), value, name);
        }
        assert.equal(usage.totalTokens, usage.outputTokens === -1 ? usage.inputTokens : usage.inputTokens + usage.outputTokens, 'in all');
      }
    });
  }

  it('has the cached tokens of a messages stream from its beginning', () => {
    const usage = readStream(
      { type: 'message_start', message: { model: 'claude-opus-4-1', usage: { input_tokens: 5, cache_creation_input_tokens: 70, cache_read_input_tokens: 900, cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 50 }, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 5, cache_creation_input_tokens: 70, cache_read_input_tokens: 900, output_tokens: 44, server_tool_use: null } },
    );
    assert.deepEqual(usage, { ...noUsage, model: 'claude-opus-4-1', finishReason: 'end_turn', inputTokens: 975, outputTokens: 44, totalTokens: 1_019, cachedTokens: 900, cacheWriteTokens: 70, units: { cache_write_1h_input_token: 50 } });
  });

  it('takes parts with the names of Anthropic for a part of prompt_tokens, as translated answers have them', () => {
    const usage = readPlain({ usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: { cached_tokens: 60 }, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 } });
    assert.deepEqual([usage.inputTokens, usage.cachedTokens, usage.cacheWriteTokens, usage.totalTokens], [100, 60, 20, 105]);
  });

  it('has reasoning in the output where that says so, whatever else its name stands beside', () => {
    const usage = readPlain({ usage: { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60, reasoning_tokens: 30 } });
    assert.deepEqual([usage.outputTokens, usage.reasoningTokens, usage.totalTokens], [50, 30, 60]);
  });

  it('is a length of sound, searches of a ranking, tokens of a transcript, or the total alone', () => {
    assert.deepEqual(readPlain({ text: 'hi', usage: { type: 'duration', seconds: 5_400.5 } }).units, { audio_hour: 5_400.5 / 3_600 });
    assert.deepEqual(readPlain({ model: 'voxtral-mini-latest', usage: { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3_264, completion_tokens: 635 } }).units, { audio_hour: 203 / 3_600 });
    for (const none of [null, {}, 'x']) assert.equal(readPlain({ usage: { prompt_audio_seconds: none, prompt_tokens: 4, total_tokens: 6, completion_tokens: 2 } }).units, null);
    assert.deepEqual(readPlain({ results: [], meta: { api_version: { version: '2' }, billed_units: { search_units: 2 } } }).units, { search_unit: 2 });
    const { inputTokens, inputAudioTokens, outputTokens } = readPlain({ text: 'hi', usage: { type: 'tokens', input_tokens: 14, input_token_details: { text_tokens: 4, audio_tokens: 10 }, output_tokens: 45, total_tokens: 59 } });
    assert.deepEqual([inputTokens, inputAudioTokens, outputTokens], [14, 10, 45]);
    assert.deepEqual(readPlain({ model: 'voyage-3', usage: { total_tokens: 9 } }), { ...noUsage, model: 'voyage-3', totalTokens: 9 });
  });

  it('tells of a batch', () => {
    assert.equal(readPlain({ usage: { input_tokens: 1, output_tokens: 2, service_tier: 'batch' } }).isBatch, true);
    assert.equal(readPlain({ usage: { input_tokens: 1, output_tokens: 2, service_tier: 'standard' } }).isBatch, false);
  });

  it('is nothing in what only looks like it', () => {
    for (const odd of [{ usageMetadata: null }, { usageMetadata: {} }, { usageMetadata: { promptTokenCount: '7' } }, { usageMetadata: [] }, { billed_units: 5 }, { meta: { billed_units: {} } }, { usage: { server_tool_use: { web_search_requests: -1 } } }]) assert.deepEqual(readPlain(odd), noUsage, JSON.stringify(odd));
    assert.deepEqual(readUsage('{"text":"\\"usageMetadata\\":{\\"promptTokenCount\\":7}"', false), noUsage);
    assert.deepEqual(readUsage('{"usageMetadata":{"promptTokenCount":7', false), noUsage);
  });
});
