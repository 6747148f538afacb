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
import { testSeed } from '../../support/seed.js';

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
  [{ something_new: { deep: [1] } }, null], [{ constructor: 1, toString: 2, hasOwnProperty: 3 }, null],
  [{ model: null }, 'model'], [{ messages: null }, 'messages'], [{ messages: {} }, 'messages'],
  [{ messages: [user, user, { role: 'user', content: [{ type: 'text', text: 'x' }] }, 'x'] }, 'messages[3]'], [{ messages: [[]] }, 'messages[0]'],
  [{ frequency_penalty: null, presence_penalty: null, logit_bias: null, logprobs: null, top_logprobs: null, max_tokens: null, max_completion_tokens: null, n: null }, null],
  [{ seed: null, stop: null, stream: null, stream_options: null, temperature: null, top_p: null, tools: null, user: null, parallel_tool_calls: null }, null],
  [{ logit_bias: { 5: -100, 50256: -100.5 } }, 'logit_bias.50256'], [{ logit_bias: { 50256: '1' } }, 'logit_bias.50256'], [{ logit_bias: { 50256: null } }, 'logit_bias.50256'], [{ logit_bias: {} }, null],
  [{ logprobs: false, top_logprobs: 3 }, 'top_logprobs'], [{ logprobs: true, top_logprobs: 1.5 }, 'top_logprobs'], [{ top_logprobs: 0, logprobs: true }, null], [{ logprobs: 1 }, 'logprobs'],
  [{ stop: [] }, null], [{ stop: 5 }, 'stop'], [{ stop: ['a', null] }, 'stop[1]'], [{ stop: '' }, null],
  [{ stream: false, stream_options: {} }, 'stream_options'], [{ stream: true, stream_options: [] }, 'stream_options'],
  [{ tools: [] }, null], [{ tools: {} }, 'tools'], [{ tools: [tool, tool, tool, { type: 'function', function: {} }] }, 'tools[3]'], [{ tools: [{ type: 'function', function: { name: '' } }] }, 'tools[0]'], [{ tools: ['f'] }, 'tools[0]'],
  [{ tool_choice: 'none' }, null], [{ tool_choice: 'required' }, null], [{ tool_choice: [] }, 'tool_choice'], [{ tool_choice: 1 }, 'tool_choice'],
  [{ functions: Array.from({ length: 128 }, () => ({ name: 'f' })) }, null], [{ functions: Array.from({ length: 129 }, () => ({ name: 'f' })) }, 'functions'], [{ functions: [{ name: 'f' }, {}] }, 'functions[1]'],
  [{ function_call: 'auto' }, null], [{ function_call: { name: 'f' } }, null], [{ function_call: [] }, 'function_call'],
  [{ response_format: { type: 'json_schema', json_schema: {} } }, null], [{ response_format: [] }, 'response_format'], [{ thinking: { type: 'enabled', budget_tokens: 5 } }, null], [{ thinking: true }, 'thinking'],
  [{ temperature: -0.01 }, 'temperature'], [{ temperature: 1e400 }, 'temperature'], [{ top_p: -0.1 }, 'top_p'], [{ frequency_penalty: 2 }, null], [{ presence_penalty: 2.1 }, 'presence_penalty'], [{ n: '1' }, 'n'], [{ stream: 1 }, 'stream'],
]);

table(completions, { model: 'm', prompt: 'x' }, [
  [{ prompt: undefined }, 'prompt'], [{ prompt: [1, 2] }, null], [{ prompt: 5 }, 'prompt'],
  [{ best_of: 21 }, 'best_of'], [{ best_of: 3, n: 2 }, null], [{ best_of: 2, n: 2 }, 'best_of'], [{ best_of: 1, n: 1 }, null], [{ best_of: 2, stream: true }, 'best_of'],
  [{ best_of: 0 }, null], [{ best_of: 20, n: 19 }, null], [{ best_of: 1, n: 2 }, 'best_of'], [{ best_of: 1, stream: true }, null], [{ best_of: null, n: 5 }, null], [{ best_of: 2.5 }, 'best_of'], [{ best_of: 'x' }, 'best_of'],
  [{ prompt: ['a', 'b'] }, null], [{ prompt: [[1, 2], [3]] }, null], [{ prompt: ['a', 1] }, 'prompt[1]'], [{ prompt: [1, [2]] }, 'prompt[1]'], [{ prompt: [{}] }, 'prompt[0]'], [{ prompt: [1, 2, 0.5] }, 'prompt[2]'], [{ prompt: [['a']] }, 'prompt[0]'], [{ prompt: '' }, null], [{ prompt: null }, 'prompt'], [{ prompt: {} }, 'prompt'],
  [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'], [{ stream_options: {} }, 'stream_options'], [{ logit_bias: { 1: 200 } }, 'logit_bias.1'], [{ n: 129 }, 'n'], [{ temperature: 3 }, 'temperature'], [{ suffix: 5 }, 'suffix'], [{ logprobs: true }, 'logprobs'],
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
  [{ model: 'gpt-image-1', size: '1536x1024', quality: 'high', prompt: 'x'.repeat(9000) }, null], [{ response_format: 'gif' }, 'response_format'], [{ model: '__proto__' }, null], [{ model: 5 }, 'model'],
  [{ prompt: undefined }, 'prompt'], [{ prompt: 5 }, 'prompt'], [{ n: 0 }, 'n'], [{ n: null, size: null, quality: null, style: null, model: null }, null], [{ response_format: 'b64_json' }, null],
  [{ model: 'dall-e-2', prompt: '👋'.repeat(1000) }, null], [{ model: 'dall-e-2', prompt: '👋'.repeat(1001) }, 'prompt'], [{ model: 'dall-e-2', n: 10 }, null], [{ model: 'dall-e-3', n: 1 }, null],
  [{ model: 'dall-e-2', size: '256x256', quality: 'standard' }, null], [{ model: 'dall-e-2', quality: 'hd' }, 'quality'], [{ model: 'dall-e-3', size: '256x256' }, 'size'], [{ model: 'dall-e-3', style: 'loud' }, 'style'],
  [{ size: 5 }, 'size'], [{ style: 5 }, 'style'], [{ quality: [] }, 'quality'], [{ prompt: 'x'.repeat(9000) }, null],
]);

table(rerank, { model: 'm', query: 'q', documents: ['a', { text: 'b', more: 1 }] }, [
  [{ documents: [] }, 'documents'], [{ documents: ['a', {}] }, 'documents[1]'], [{ query: undefined }, 'query'], [{ query: 5 }, 'query'], [{ query: '' }, null], [{ documents: undefined }, 'documents'], [{ documents: 'a' }, 'documents'], [{ documents: [{ text: 5 }] }, 'documents[0]'], [{ return_documents: 'x' }, 'return_documents'], [{ top_n: 1.5 }, 'top_n'], [{ priority: 3, truncate: 'END' }, null], [{ top_n: 0 }, 'top_n'], [{ top_n: 1 }, null], [{ max_chunks_per_doc: 0 }, 'max_chunks_per_doc'],
]);

table(moderations, { input: 'x' }, [[{ input: undefined }, 'input'], [{ input: 5 }, 'input'], [{ input: ['a'] }, null], [{ input: [{ type: 'text', text: 'x' }], model: 'omni' }, null], [{ model: 1 }, 'model']]);
table(speech, { model: 'm', input: 'x', voice: 'v' }, [[{ input: '' }, 'input'], [{ voice: undefined }, 'voice'], [{ voice: { id: 'v' } }, null], [{ voice: 5 }, 'voice'], [{ speed: 0.25 }, null], [{ speed: 0.2 }, 'speed'], [{ speed: 5 }, 'speed']]);
table(messages, { model: 'm', max_tokens: 5, messages: [user] }, [
  [{ max_tokens: undefined }, 'max_tokens'], [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0]'], [{ messages: [{ role: 'user' }] }, 'messages[0]'], [{ temperature: 1.5 }, 'temperature'],
  [{ max_tokens: 0 }, null], [{ max_tokens: -1 }, 'max_tokens'], [{ messages: [user, { role: 'assistant', content: [{ type: 'text', text: 'x' }] }] }, null], [{ messages: [user, 5] }, 'messages[1]'],
  [{ system: 's' }, null], [{ system: [{ type: 'text', text: 's' }] }, null], [{ system: 5 }, 'system'], [{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, null], [{ stop_sequences: 'a' }, 'stop_sequences'], [{ stop_sequences: [1] }, 'stop_sequences[0]'],
  [{ tools: [{ name: 'f', input_schema: {} }] }, null], [{ tools: [5] }, 'tools[0]'], [{ tool_choice: { type: 'auto' } }, null], [{ tool_choice: 'auto' }, 'tool_choice'], [{ thinking: { type: 'adaptive' } }, null], [{ top_k: -1 }, 'top_k'], [{ top_p: 2 }, 'top_p'], [{ metadata: 'x' }, 'metadata'],
  [{ metadata: { user_id: 'x'.repeat(600) } }, null], [{ container: 'c', betas: [] }, null],
]);
table(countTokens, { model: 'm', messages: [user] }, [[{ messages: [] }, 'messages']]);
table(createResponse, { model: 'm', input: 'x' }, [
  [{ input: undefined }, null], [{ input: 5 }, 'input'], [{ temperature: 3 }, 'temperature'], [{ truncation: 'some' }, 'truncation'], [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }, 'metadata'], [{ metadata: { k: 'v'.repeat(512) } }, null], [{ metadata: { k: '👋'.repeat(512) } }, null], [{ metadata: { k: 5 } }, 'metadata.k'], [{ metadata: { k: null } }, 'metadata.k'], [{ metadata: [] }, 'metadata'], [{ metadata: { ['k'.repeat(64)]: 'v' } }, null],
  [{ metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, 'v'])) }, null], [{ model: undefined }, null], [{ input: [{ role: 'user', content: 'x' }] }, null], [{ tools: [{ type: 'web_search' }] }, null], [{ tools: [{}] }, 'tools[0]'], [{ tool_choice: { type: 'file_search' } }, null], [{ text: 'x' }, 'text'], [{ reasoning: { effort: 'low' } }, null], [{ reasoning: 'low' }, 'reasoning'], [{ stream_options: {} }, 'stream_options'], [{ top_logprobs: 21 }, 'top_logprobs'], [{ top_logprobs: 3 }, null],
  [{ metadata: { k: 'v'.repeat(513) } }, 'metadata.k'], [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata'],
]);
table(createBatch, { input_file_id: 'f', completion_window: '24h', endpoint: '/v1/chat/completions' }, [
  [{ input_file_id: undefined }, 'input_file_id'], [{ completion_window: '48h' }, 'completion_window'], [{ completion_window: 'immediate' }, null], [{ completion_window: undefined }, 'completion_window'], [{ completion_window: 24 }, 'completion_window'], [{ endpoint: undefined }, 'endpoint'], [{ endpoint: '/v1/embeddings' }, null], [{ endpoint: '/v1/completions' }, null], [{ endpoint: '/v1/nothing' }, 'endpoint'], [{ metadata: { a: 'b' } }, null], [{ metadata: { a: ['b'] } }, 'metadata.a'], [{ input_file_id: '' }, 'input_file_id'],
]);
table(createJob, { model: 'm', training_file: 'f' }, [[{ training_file: 5 }, 'training_file'], [{ training_file: undefined }, 'training_file'], [{ model: undefined }, 'model'], [{ integrations: null, validation_file: null, suffix: null }, null], [{ hyperparameters: { n_epochs: 'auto' } }, null], [{ hyperparameters: 5 }, 'hyperparameters'], [{ integrations: [1, 2, 3, 4, 5] }, null], [{ integrations: [1, 2, 3, 4, 5, 6] }, 'integrations']]);

describe('a check', () => {
  const check = (body: Record<string, unknown>): { param: string; reason: string } | undefined => chatCompletions.validate?.(body);

  it('tells of a missing member before one at fault, and then goes by the order of the body', () => {
    assert.equal(check({ temperature: 9, model: 'm' })?.param, 'messages');
    assert.equal(check({ n: 0, temperature: 9, model: 'm', messages: [user] })?.param, 'n');
    assert.equal(check({ temperature: 9, n: 0, model: 'm', messages: [user] })?.param, 'temperature');
  });

  it('says what would be right', () => {
    const reasonOf = (change: Record<string, unknown>): string => check({ model: 'm', messages: [user], ...change })?.reason ?? '';
    assert.match(reasonOf({ messages: undefined }), /is missing; send an array/);
    assert.match(reasonOf({ temperature: 9 }), /number from 0 to 2/);
    assert.match(reasonOf({ n: 9.5 }), /whole number from 1 to 128/);
    assert.match(reasonOf({ seed: 'x' }), /must be a whole number$/);
    assert.match(reasonOf({ stop: ['', '', '', '', ''] }), /at most 4 items; it has 5/);
    assert.match(reasonOf({ stream_options: {} }), /set stream to true or leave it out/);
    assert.match(reasonOf({ top_logprobs: 2 }), /requires logprobs/);
  });

  it('never quotes more of a name than an error can hold', () => {
    assert.ok((check({ model: 'm', messages: [user], logit_bias: { ['9'.repeat(5000)]: 500 } })?.param.length ?? 0) < 90);
  });

  it('leaves the body as it was', () => {
    const freeze = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      Object.freeze(value);
      Object.values(value).forEach(freeze);
    };
    const body = { model: 'm', messages: [user, { role: 'assistant', content: null }], tools: [tool], stop: ['a'], logit_bias: { 1: 2 }, stream: true, stream_options: {}, unknown: { a: [1] } };
    const before = JSON.stringify(body);
    freeze(body);
    assert.equal(check(body), undefined);
    assert.equal(JSON.stringify(body), before);
  });

  it('takes time in proportion to the body, for messages, members and biases', () => {
    const best = (body: Record<string, unknown>): number => {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 15; round += 1) {
        const started = performance.now();
        check(body);
        least = Math.min(least, performance.now() - started);
      }
      return least;
    };
    const messagesOf = (count: number): Record<string, unknown> => ({ model: 'm', messages: Array.from({ length: count }, () => ({ ...user })) });
    best(messagesOf(2000));
    const small = best(messagesOf(2000));
    const large = best(messagesOf(40_000));
    assert.ok(large < small * 20 * 6 + 2, `${small} ms, then ${large} ms for twenty times as many`);
    const wide = JSON.parse(`{"model":"m","messages":[{"role":"user"}],${Array.from({ length: 50_000 }, (_, index) => `"field${index}":1`).join()}}`);
    assert.ok(best(wide) < 200);
  });

  it('never throws, whatever JSON it is given', () => {
    const seed = testSeed;
    console.log(`seed ${seed}`);
    let state = seed;
    const random = (below: number): number => { state = (state * 1103515245 + 12345) % 2147483648; return Math.floor(state / 2147483648 * below); };
    const value = (depth: number): unknown => {
      switch (random(depth > 2 ? 6 : 8)) {
        case 0: return null;
        case 1: return random(2) === 0;
        case 2: return random(300) - 150;
        case 3: return random(1000) / 7;
        case 4: return ['', 'auto', 'user', 'function', 'x'.repeat(70), '/v1/embeddings', 'dall-e-2', 'dall-e-3'][random(8)];
        case 5: return undefined;
        case 6: return Array.from({ length: random(6) }, () => value(depth + 1));
        default: return Object.fromEntries(Array.from({ length: random(4) }, () => [['role', 'type', 'function', 'name', '7', 'k'.repeat(65)][random(6)], value(depth + 1)]));
      }
    };
    const names = ['model', 'messages', 'prompt', 'input', 'tools', 'functions', 'stop', 'n', 'best_of', 'stream', 'stream_options', 'logit_bias', 'metadata', 'documents', 'query', 'voice', 'max_tokens', 'size', 'quality', 'style', 'system', 'tool_choice', 'endpoint', 'completion_window', 'input_file_id', 'training_file', 'logprobs', 'top_logprobs'];
    const endpoints = [chatCompletions, completions, embeddings, imageGenerations, rerank, moderations, speech, messages, countTokens, createResponse, createBatch, createJob];
    for (let round = 0; round < 3000; round += 1) {
      const body = Object.fromEntries(names.filter(() => random(3) > 0).map((name) => [name, value(0)]));
      for (const endpoint of endpoints) {
        const fault = endpoint.validate?.(body);
        if (fault !== undefined) assert.ok(fault.param !== '' && fault.reason !== '', `${endpoint.name} ${JSON.stringify(body)}`);
      }
    }
  });
});
