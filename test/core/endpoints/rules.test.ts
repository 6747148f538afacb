import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { speech } from '../../../core/endpoints/audio.js';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { completions } from '../../../core/endpoints/completions.js';
import { embeddings } from '../../../core/endpoints/embeddings.js';
import { createBatch, createJob } from '../../../core/endpoints/files.js';
import { imageGenerations } from '../../../core/endpoints/images.js';
import { countTokens, messages } from '../../../core/endpoints/messages.js';
import { moderations } from '../../../core/endpoints/moderations.js';
import { rerank } from '../../../core/endpoints/rerank.js';
import { createResponse } from '../../../core/endpoints/responses.js';
import type { EndpointDefinition } from '../../../core/exchange/endpoint.js';

/** A body that fits, and changes to it with the field at fault; null: it still fits. */
function table(endpoint: EndpointDefinition, good: Readonly<Record<string, unknown>>, rows: readonly [change: Record<string, unknown>, param: string | null][]): void {
  describe(endpoint.name, () => {
    it('takes a plain body', () => assert.equal(endpoint.validate?.(good), undefined));
    for (const [change, param] of rows) {
      it(`${param === null ? 'takes' : `refuses (${param})`} ${JSON.stringify(change).slice(0, 90)}`, () => {
        const fault = endpoint.validate?.({ ...good, ...change });
        assert.equal(fault?.param ?? null, param);
        if (fault !== undefined) assert.match(fault.reason, /^[a-z]/);
      });
    }
  });
}

const user = { role: 'user', content: 'x' };
const tool = { type: 'function', function: { name: 'f' } };

table(chatCompletions, { model: 'm', messages: [user] }, [
  [{ model: undefined }, 'model'], [{ model: '' }, 'model'], [{ model: 5 }, 'model'],
  [{ messages: undefined }, 'messages'], [{ messages: [] }, 'messages'], [{ messages: 'x' }, 'messages'],
  [{ messages: [user, { role: 'robot' }] }, 'messages[1]'], [{ messages: [null] }, 'messages[0]'],
  [{ messages: ['system', 'developer', 'user', 'assistant', 'tool', 'function'].map((role) => ({ role, content: null })) }, null],
  [{ temperature: 0 }, null], [{ temperature: 2 }, null], [{ temperature: 2.01 }, 'temperature'], [{ temperature: -1 }, 'temperature'], [{ temperature: null }, null], [{ temperature: '1' }, 'temperature'],
  [{ top_p: 1 }, null], [{ top_p: 1.5 }, 'top_p'],
  [{ n: 1 }, null], [{ n: 128 }, null], [{ n: 129 }, 'n'], [{ n: 0 }, 'n'], [{ n: 1.5 }, 'n'], [{ n: null }, null],
  [{ frequency_penalty: -2 }, null], [{ frequency_penalty: -2.1 }, 'frequency_penalty'], [{ presence_penalty: 3 }, 'presence_penalty'],
  [{ logit_bias: { 5: 100 } }, null], [{ logit_bias: { 5: 101 } }, 'logit_bias.5'], [{ logit_bias: [1] }, 'logit_bias'], [{ logit_bias: null }, null],
  [{ logprobs: true, top_logprobs: 20 }, null], [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'], [{ top_logprobs: 3 }, 'top_logprobs'],
  [{ stop: 'a' }, null], [{ stop: ['a', 'b', 'c', 'd'] }, null], [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'], [{ stop: [1] }, 'stop[0]'], [{ stop: null }, null],
  [{ stream: true, stream_options: { include_usage: true } }, null], [{ stream_options: { include_usage: true } }, 'stream_options'], [{ stream: 'yes' }, 'stream'],
  [{ tools: [tool] }, null], [{ tools: [{ type: 'custom', custom: { name: 'c' } }] }, null], [{ tools: [{}] }, 'tools[0]'], [{ tools: [tool, { type: 'function' }] }, 'tools[1]'],
  [{ tools: Array.from({ length: 128 }, () => tool) }, null], [{ tools: Array.from({ length: 129 }, () => tool) }, 'tools'],
  [{ tool_choice: 'auto' }, null], [{ tool_choice: { type: 'function', function: { name: 'f' } } }, null], [{ tool_choice: 'maybe' }, 'tool_choice'],
  [{ functions: [] }, 'functions'], [{ functions: [{ name: 'f' }] }, null], [{ function_call: 3 }, 'function_call'],
  [{ max_tokens: -1 }, 'max_tokens'], [{ max_tokens: 1.5 }, 'max_tokens'], [{ max_completion_tokens: 10 }, null], [{ seed: -5 }, null], [{ seed: 1.5 }, 'seed'],
  [{ response_format: 'json' }, 'response_format'], [{ parallel_tool_calls: 1 }, 'parallel_tool_calls'], [{ user: 7 }, 'user'],
  [{ something_new: { deep: [1] } }, null],
]);

table(completions, { model: 'm', prompt: 'x' }, [
  [{ prompt: undefined }, 'prompt'], [{ prompt: [1, 2] }, null], [{ prompt: 5 }, 'prompt'],
  [{ best_of: 21 }, 'best_of'], [{ best_of: 3, n: 2 }, null], [{ best_of: 2, n: 2 }, 'best_of'], [{ best_of: 1, n: 1 }, null], [{ best_of: 2, stream: true }, 'best_of'],
  [{ logprobs: 5 }, null], [{ logprobs: 6 }, 'logprobs'], [{ max_tokens: 0 }, null], [{ max_tokens: -1 }, 'max_tokens'], [{ echo: 'x' }, 'echo'], [{ suffix: null }, null],
]);

table(embeddings, { model: 'm', input: 'x' }, [
  [{ input: undefined }, 'input'], [{ input: [] }, 'input'], [{ input: ['a'] }, null], [{ input: [[1, 2]] }, null], [{ input: {} }, 'input'],
  [{ dimensions: 0 }, 'dimensions'], [{ encoding_format: 'base64' }, null], [{ encoding_format: 7 }, 'encoding_format'],
]);

table(imageGenerations, { prompt: 'x' }, [
  [{ prompt: '' }, 'prompt'], [{ n: 10 }, null], [{ n: 11 }, 'n'],
  [{ model: 'dall-e-2', prompt: 'x'.repeat(1001) }, 'prompt'], [{ model: 'dall-e-3', prompt: 'x'.repeat(4000) }, null], [{ model: 'dall-e-3', prompt: 'x'.repeat(4001) }, 'prompt'],
  [{ model: 'dall-e-3', n: 2 }, 'n'], [{ model: 'dall-e-2', size: '1792x1024' }, 'size'], [{ model: 'dall-e-3', size: '1792x1024' }, null],
  [{ model: 'dall-e-3', quality: 'hd', style: 'vivid' }, null], [{ model: 'dall-e-3', quality: 'ultra' }, 'quality'], [{ model: 'dall-e-2', style: 'vivid' }, 'style'],
  [{ model: 'gpt-image-1', size: '1536x1024', quality: 'high', prompt: 'x'.repeat(9000) }, null], [{ response_format: 'gif' }, 'response_format'], [{ model: '__proto__' }, null],
]);

table(rerank, { model: 'm', query: 'q', documents: ['a', { text: 'b', more: 1 }] }, [
  [{ documents: [] }, 'documents'], [{ documents: ['a', {}] }, 'documents[1]'], [{ query: undefined }, 'query'], [{ top_n: 0 }, 'top_n'], [{ top_n: 1 }, null], [{ max_chunks_per_doc: 0 }, 'max_chunks_per_doc'],
]);

table(moderations, { input: 'x' }, [[{ input: undefined }, 'input'], [{ input: 5 }, 'input'], [{ input: ['a'] }, null]]);
table(speech, { model: 'm', input: 'x', voice: 'v' }, [[{ input: '' }, 'input'], [{ voice: undefined }, 'voice'], [{ speed: 5 }, 'speed']]);
table(messages, { model: 'm', max_tokens: 5, messages: [user] }, [
  [{ max_tokens: undefined }, 'max_tokens'], [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0]'], [{ messages: [{ role: 'user' }] }, 'messages[0]'], [{ temperature: 1.5 }, 'temperature'],
]);
table(countTokens, { model: 'm', messages: [user] }, [[{ messages: [] }, 'messages']]);
table(createResponse, { model: 'm', input: 'x' }, [
  [{ input: undefined }, null], [{ input: 5 }, 'input'], [{ temperature: 3 }, 'temperature'], [{ truncation: 'some' }, 'truncation'], [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }, 'metadata'], [{ metadata: { k: 'v'.repeat(513) } }, 'metadata.k'], [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata'],
]);
table(createBatch, { input_file_id: 'f', completion_window: '24h', endpoint: '/v1/chat/completions' }, [
  [{ input_file_id: undefined }, 'input_file_id'], [{ completion_window: '48h' }, 'completion_window'], [{ completion_window: 'immediate' }, null], [{ endpoint: '/v1/nothing' }, 'endpoint'],
]);
table(createJob, { model: 'm', training_file: 'f' }, [[{ training_file: 5 }, 'training_file'], [{ integrations: [1, 2, 3, 4, 5, 6] }, 'integrations']]);
