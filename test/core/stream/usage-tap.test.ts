import { everySplit, randomSplits } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { noUsage as unknown, type Usage } from '../../../core/exchange/usage.js';
import { keptBytesMin, UsageTap } from '../../../core/stream/usage-tap.js';

function usageOf(pieces: Iterable<Uint8Array>, isEventStream: boolean): Usage {
  const tap = new UsageTap(isEventStream);
  for (const piece of pieces) tap.push(piece);
  return tap.read();
}

/** Whole, cut everywhere where that is quick, and at random: always the same usage. */
function reads(answer: string | Uint8Array, isEventStream: boolean, expected: Partial<Usage>): void {
  const bytes = typeof answer === 'string' ? new TextEncoder().encode(answer) : answer;
  const wanted = { ...unknown, ...expected };
  assert.deepEqual(usageOf([bytes], isEventStream), wanted);
  const whole = new UsageTap(isEventStream);
  whole.pushWhole(bytes);
  assert.deepEqual(whole.read(), wanted);
  if (bytes.length < 4_000) {
    let index = 0;
    for (const pieces of everySplit(bytes)) {
      assert.deepEqual(usageOf(pieces, isEventStream), wanted, `split ${index}`);
      index += 1;
    }
  }
  const seed = 20_251;
  const count = bytes.length < 50_000 ? 60 : 8;
  for (const pieceMax of [3, 40, 1_500, 70_000]) {
    if (pieceMax * 20_000 < bytes.length) continue;
    for (const pieces of randomSplits(bytes, { seed, count, pieceMax })) assert.deepEqual(usageOf(pieces, isEventStream), wanted, `seed ${seed}, pieces up to ${pieceMax}`);
  }
}

const sse = (...events: unknown[]): string => events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
const named = (events: readonly { readonly type: string }[]): string => events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

// ---- OpenAI, chat completions ----

const chunk = (delta: object, finish: string | null = null, index = 0): object =>
  ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-2024-08-06', choices: [{ index, delta, finish_reason: finish }], usage: null });
const chatUsage = {
  prompt_tokens: 19, completion_tokens: 10, total_tokens: 29, prompt_tokens_details: { cached_tokens: 7, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 4, accepted_prediction_tokens: 0 },
};
const usageChunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-2024-08-06', choices: [], usage: chatUsage };
const chatRead: Usage = { ...unknown, model: 'gpt-4o-2024-08-06', finishReason: 'stop', inputTokens: 19, outputTokens: 10, totalTokens: 29, cachedTokens: 7, inputAudioTokens: 0, reasoningTokens: 4 };
const chatStream = sse(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Grüße 😀 日本' }), chunk({}, 'stop'), usageChunk, '[DONE]');
const chatAnswer = {
  id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße 😀' }, logprobs: null, finish_reason: 'stop' }], usage: chatUsage, system_fingerprint: null,
};

test('a chat stream tells model, usage and finish reason, however it is cut', () => {
  reads(chatStream, true, chatRead);
  reads(chatStream.replaceAll('\n', '\r\n'), true, chatRead);
  reads(chatStream.replaceAll('"usage":', '"usage" : \t'), true, chatRead);
});

test('a plain chat answer too, compact or indented', () => {
  reads(JSON.stringify(chatAnswer), false, chatRead);
  reads(JSON.stringify(chatAnswer, null, 2), false, chatRead);
});

test('a long stream keeps its first and last words', () => {
  const middle = Array.from({ length: 2_000 }, (_, index) => chunk({ content: `word ${index} "quoted" ünd` }));
  reads(sse(chunk({ role: 'assistant' }), ...middle, chunk({}, 'length'), usageChunk, '[DONE]'), true, { ...chatRead, finishReason: 'length' });
});

test('a stream without usage still tells model and finish reason', () => {
  reads(sse(chunk({ content: 'a' }), chunk({}, 'tool_calls'), '[DONE]'), true, { model: chatRead.model, finishReason: 'tool_calls' });
});

test('of many choices the last finish reason counts', () => {
  const ends = Array.from({ length: 40 }, (_, index) => chunk({}, index === 39 ? 'content_filter' : 'stop', index));
  reads(sse(...ends, usageChunk, '[DONE]'), true, { ...chatRead, finishReason: 'content_filter' });
  const choices = Array.from({ length: 30 }, (_, index) => ({ index, message: { role: 'assistant', content: 'x'.repeat(900) }, finish_reason: index === 29 ? 'length' : 'stop' }));
  reads(JSON.stringify({ ...chatAnswer, choices }), false, { ...chatRead, finishReason: 'length' });
});

test('usage that grows with each event is read from the last', () => {
  const grown = Array.from({ length: 300 }, (_, index) => ({ ...chunk({ content: 'x'.repeat(80) }), usage: { prompt_tokens: 5, completion_tokens: index, total_tokens: 5 + index } }));
  reads(sse(...grown, '[DONE]'), true, { model: chatRead.model, inputTokens: 5, outputTokens: 299, totalTokens: 304 });
});

test('an empty model and empty finish reasons are passed over', () => {
  const filter = { id: '', object: '', created: 0, model: '', prompt_filter_results: [], choices: [] };
  const blank = { ...chunk({ content: 'a' }), choices: [{ index: 0, delta: { content: 'a' }, finish_reason: '' }] };
  reads(sse(filter, chunk({ content: 'x' }, 'stop'), blank, usageChunk), true, chatRead);
});

test('usage in a wrapper of the provider counts', () => {
  const last = { ...chunk({}, 'stop'), x_groq: { id: 'r', usage: { queue_time: 0.05, prompt_tokens: 8, prompt_time: 0.1, completion_tokens: 2, total_tokens: 10 } } };
  reads(sse(chunk({ content: 'a' }), last, '[DONE]'), true, { model: chatRead.model, finishReason: 'stop', inputTokens: 8, outputTokens: 2, totalTokens: 10 });
});

// ---- content that looks like usage ----

test('content that looks like keys does not count', () => {
  const traps = [
    'usage', '"usage"', '"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}', '\\"usage":{"prompt_tokens":1}', '","usage":{"prompt_tokens":1},"model":"evil","finish_reason":"evil"',
    '\\', '\\\\', '"', 'finish_reason', '"finish_reason":"evil"', '"model":"evil"', '"', '{"usage":', 'data: {"usage":{"prompt_tokens":1}}', `${'\\'.repeat(9)}"usage`, '"usage', '"model', ':{"prompt_tokens":1}',
  ];
  for (const trap of traps) {
    const plain = { ...chatAnswer, choices: [{ index: 0, finish_reason: 'stop', message: { content: trap, refusal: trap, [`x${trap}`]: trap } }] };
    reads(sse(chunk({ content: trap }), chunk({}, 'stop'), usageChunk), true, chatRead);
    reads(JSON.stringify(plain), false, chatRead);
    // After the true ones.
    reads(sse(chunk({}, 'stop'), usageChunk, chunk({ content: trap, tool_calls: [{ function: { name: trap, arguments: trap } }] })), true, chatRead);
    reads(JSON.stringify({ ...plain, note: trap, notes: [trap, trap] }), false, chatRead);
  }
});

test('a name that only ends in an escaped quote and a known word is another name', () => {
  reads(JSON.stringify({ model: 'm', usage: chatUsage, 'my"usage': { prompt_tokens: 1 }, 'my"model': 'x', 'a"finish_reason': 'x' }), false, { ...chatRead, model: 'm', finishReason: '' });
  reads(sse({ model: 'm', usage: chatUsage, 'my\\"usage': { prompt_tokens: 1 } }), true, { ...chatRead, model: 'm', finishReason: '' });
});

test('values under the names that are not usage are passed over', () => {
  for (const usage of [null, 'x', 5, [], {}, { note: 1 }, { prompt_tokens: 'many' }, { prompt_tokens: -1 }, { prompt_tokens: null }, { type: 'duration', seconds: -3 }, { type: 'duration', seconds: 'x' }]) {
    reads(JSON.stringify({ usage: chatUsage, inner: { usage } }), false, { ...chatRead, model: '', finishReason: '' });
    reads(sse({ usage: chatUsage }, { usage }), true, { ...chatRead, model: '', finishReason: '' });
  }
});

test('escapes in a model name are decoded, an absurd one is not taken', () => {
  reads('{"model":"a\\u0062\\/c é","usage":{"prompt_tokens":1.0,"completion_tokens":2e1}}', false, { model: 'ab/c é', inputTokens: 1, outputTokens: 20, totalTokens: 21 });
  reads(JSON.stringify({ model: 'x'.repeat(600) }), false, {});
});

// ---- plain answers ----

test('usage is found between large fields, wherever chunks end', () => {
  const filler = '"\\ ü'.repeat(12_500);
  const usage = { ...chatUsage, note: 'a } in "text" \\' };
  const around = (before: string, after: string): string => JSON.stringify({ model: 'm', before, usage, after, finish_reason: 'stop' });
  reads(around(filler, filler), false, { ...chatRead, model: 'm' });
  reads(around('', filler), false, { ...chatRead, model: 'm' });
  reads(around(filler, ''), false, { ...chatRead, model: 'm' });
  // Every place around the object, in chunks that are let go before the end.
  const bytes = new TextEncoder().encode(around('\\'.repeat(20_000), 'y'.repeat(70_000)));
  const from = Buffer.from(bytes).indexOf('"usage"') - 40;
  for (let cut = from; cut < from + 320; cut += 1) {
    assert.deepEqual(usageOf([bytes.subarray(0, cut), bytes.subarray(cut)], false), { ...chatRead, model: 'm' }, `cut ${cut}`);
    assert.deepEqual(usageOf([bytes.subarray(0, cut), bytes.subarray(cut, cut + 1), bytes.subarray(cut + 1, cut + 3), bytes.subarray(cut + 3, 60_000), bytes.subarray(60_000)], false), { ...chatRead, model: 'm' }, `cut ${cut}`);
  }
});

test('the last usage counts, before and after what was let go', () => {
  const gone = 'z'.repeat(60_000);
  reads(JSON.stringify({ a: { usage: { prompt_tokens: 1, completion_tokens: 1 } }, gone, usage: chatUsage }), false, { ...chatRead, model: '', finishReason: '' });
  reads(JSON.stringify({ a: { usage: { prompt_tokens: 1, completion_tokens: 1 } }, b: { usage: chatUsage }, gone, usage: null }), false, { ...chatRead, model: '', finishReason: '' });
});

test('a usage object beyond any reason is let go, the next one is read', () => {
  const huge = { prompt_tokens: 1, list: 'x'.repeat(9_000) };
  const gone = 'z'.repeat(60_000);
  reads(JSON.stringify({ usage: huge, b: { usage: { prompt_tokens: 3, completion_tokens: 4 } }, gone }), false, { inputTokens: 3, outputTokens: 4, totalTokens: 7 });
});

test('embeddings name the model behind the vectors and have no output', () => {
  const data = Array.from({ length: 20 }, (_, index) => ({ object: 'embedding', index, embedding: Array.from({ length: 400 }, (_, at) => Math.sin(at)) }));
  const answer = { object: 'list', data, model: 'text-embedding-3-small', usage: { prompt_tokens: 8, total_tokens: 8 } };
  reads(JSON.stringify(answer), false, { model: 'text-embedding-3-small', inputTokens: 8, totalTokens: 8 });
  reads(JSON.stringify({ object: 'list', model: 'e', usage: answer.usage, data }), false, { model: 'e', inputTokens: 8, totalTokens: 8 });
});

test('members in alphabetical order and a finish reason before a big content are read', () => {
  const answer = { choices: [{ finish_reason: 'length', index: 0, message: { content: 'x'.repeat(200_000) } }], created: 1, id: 'i', model: 'big', usage: chatUsage };
  reads(JSON.stringify(answer), false, { ...chatRead, model: 'big', finishReason: 'length' });
});

test('answers that say nothing give nothing', () => {
  reads('', false, {});
  reads('{}', false, {});
  reads(JSON.stringify({ error: { message: 'no such model', type: 'invalid_request_error', param: 'model', code: null } }), false, {});
  reads('<html>502 "usage":{</html>', false, {});
  reads('data: [DONE]\n\n', true, {});
  reads('"usage":{', true, {});
  reads('"usage"', false, {});
  assert.deepEqual(usageOf([], true), unknown);
  assert.deepEqual(usageOf([new Uint8Array(0), new Uint8Array(0)], false), unknown);
});

// ---- Anthropic, messages ----

const messageStart = {
  type: 'message_start',
  message: {
    id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: null, stop_sequence: null,
    usage: { input_tokens: 25, cache_creation_input_tokens: 3, cache_read_input_tokens: 100, cache_creation: { ephemeral_5m_input_tokens: 3 }, output_tokens: 1, service_tier: 'standard' },
  },
};
const blockDelta = (text: string): { type: string } => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as { type: string });
const messageDelta = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 15 } };
const messageRead = { model: 'claude-sonnet-4-5', finishReason: 'end_turn', inputTokens: 128, outputTokens: 15, totalTokens: 143, cachedTokens: 100, cacheWriteTokens: 3 };

test('a messages stream has its input at the beginning and its output at the end', () => {
  reads(named([messageStart, blockDelta('Hallo "usage"'), messageDelta, { type: 'message_stop' }]), true, messageRead);
  const long = Array.from({ length: 700 }, (_, index) => blockDelta(`text number ${index} \\"usage\\": {}`));
  reads(named([messageStart, ...long, messageDelta, { type: 'message_stop' }]), true, messageRead);
  const newer = { ...messageDelta, usage: { input_tokens: 30, cache_creation_input_tokens: 0, cache_read_input_tokens: 7, output_tokens: 9 } };
  reads(named([messageStart, ...long, newer, { type: 'message_stop' }]), true, { ...messageRead, inputTokens: 37, outputTokens: 9, totalTokens: 46, cachedTokens: 7, cacheWriteTokens: 0 });
});

test('a messages stream that broke off tells what it had said', () => {
  const begun = { model: messageRead.model, inputTokens: 128, outputTokens: 1, totalTokens: 129, cachedTokens: 100, cacheWriteTokens: 3 };
  reads(named([messageStart, blockDelta('Hal')]).slice(0, -20), true, begun);
  reads(named([messageStart, ...Array.from({ length: 900 }, () => blockDelta('some words here'))]).slice(0, -33), true, begun);
});

test('a plain message is read, tool input that looks like usage is not', () => {
  const answer = {
    model: 'claude-sonnet-4-5', id: 'msg_1', type: 'message', role: 'assistant',
    content: [{ type: 'tool_use', id: 't', name: 'f', input: { model: 'evil', usage: { input_tokens: 9_999, output_tokens: 9_999 }, stop_reason: 'evil' } }],
    stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 6 },
  };
  reads(JSON.stringify(answer), false, { model: answer.model, finishReason: 'tool_use', inputTokens: 12, outputTokens: 6, totalTokens: 18, cachedTokens: 0, cacheWriteTokens: 0 });
});

// ---- OpenAI, responses ----

const response = (status: string, more: object): object => ({
  id: 'resp_1', object: 'response', created_at: 1, status, error: null, incomplete_details: null, instructions: 'Say "model" or model.', max_output_tokens: null, model: 'gpt-5.4-2026-01-01',
  output: [], parallel_tool_calls: true, tools: [{ type: 'function', name: 'f', parameters: { properties: { usage: { type: 'object' }, model: { type: 'string' } } } }],
  top_p: 1.0, truncation: 'disabled', usage: null, user: null, metadata: {}, ...more,
});
const responseUsage = { input_tokens: 37, input_tokens_details: { cached_tokens: 5 }, output_tokens: 11, output_tokens_details: { reasoning_tokens: 6 }, total_tokens: 48 };
const responseRead = { model: 'gpt-5.4-2026-01-01', inputTokens: 37, outputTokens: 11, totalTokens: 48, cachedTokens: 5, reasoningTokens: 6 };
const output = (text: string): object[] => [{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }];
const responseStream = (count: number, last: { type: string; response: object }): string =>
  named([
    { type: 'response.created', response: response('in_progress', {}) } as { type: string },
    ...Array.from({ length: count }, () => ({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi "usage"', logprobs: [] } as { type: string })),
    last,
  ]);

test('a responses stream has its usage in the last event, however big that is', () => {
  for (const [count, text] of [[2, 'Hi'], [300, 'Hi'], [3, 'long "text" '.repeat(20_000)]] as const) {
    const last = { type: 'response.completed', response: response('completed', { output: output(text), usage: responseUsage }) };
    reads(responseStream(count, last), true, responseRead);
  }
});

test('why a response is incomplete is its finish reason; that it is complete is none', () => {
  const incomplete = { output: output('Hi'), incomplete_details: { reason: 'max_output_tokens' }, usage: responseUsage };
  reads(responseStream(4, { type: 'response.incomplete', response: response('incomplete', incomplete) }), true, { ...responseRead, finishReason: 'max_output_tokens' });
  reads(JSON.stringify(response('incomplete', incomplete)), false, { ...responseRead, finishReason: 'max_output_tokens' });
  reads(JSON.stringify(response('completed', { output: output('x'.repeat(80_000)), usage: responseUsage })), false, responseRead);
});

test('a responses stream that broke off names its model', () => {
  reads(responseStream(30, { type: 'response.completed', response: response('completed', { usage: responseUsage }) }).slice(0, -320), true, { model: responseRead.model });
});

// ---- what broke off, and what is kept ----

test('wherever a stream breaks off, nothing wrong is read', () => {
  const bytes = new TextEncoder().encode(chatStream);
  for (let length = 0; length <= bytes.length; length += 1) {
    const found = usageOf([bytes.subarray(0, length)], true);
    assert.ok(found.model === '' || found.model === chatRead.model);
    assert.ok(found.finishReason === '' || found.finishReason === 'stop');
    assert.ok(found.inputTokens === -1 || (found.inputTokens === 19 && found.outputTokens === 10 && found.totalTokens === 29));
  }
});

test('any mix of such texts in any pieces is read without a throw', () => {
  const words = ['"usage"', '"model"', ':', '{', '}', '"', '\\', '"prompt_tokens":1', ',', '"finish_reason":"x"', 'data: ', '\n\n', '"incomplete_details":{"reason":"', '0', '\xff', ' '.repeat(3_000)];
  for (let seed = 1; seed <= 60; seed += 1) {
    let state = seed;
    const text: string[] = [];
    for (let index = 0; index < 400; index += 1) {
      state = (state * 48_271) % 2_147_483_647;
      text.push(words[state % words.length]!);
    }
    const bytes = Buffer.from(text.join(''), 'latin1');
    for (const isEventStream of [true, false]) {
      for (const pieces of [[bytes], ...randomSplits(bytes, { seed, count: 3, pieceMax: 900 })]) {
        const found = usageOf(pieces, isEventStream);
        assert.match(String(found.inputTokens), /^(-1|10*)$/, `seed ${seed}`);
        assert.deepEqual([found.outputTokens, found.totalTokens, found.cachedTokens, found.reasoningTokens], [-1, -1, -1, -1], `seed ${seed}`);
      }
    }
  }
});

test('of an endless stream of small chunks only the last are held', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const tap = new UsageTap(true);
  const held: WeakRef<Uint8Array>[] = [];
  for (let index = 0; index < 20_000; index += 1) {
    const piece = Buffer.alloc(40, 'x');
    if (index % 100 === 0) held.push(new WeakRef(piece));
    tap.push(piece);
  }
  await new Promise((resolve) => { setImmediate(resolve); });
  collectGarbage();
  const alive = held.filter((piece) => piece.deref() !== undefined).length;
  assert.ok(alive * 100 <= (2 * keptBytesMin) / 40 + 200, `${alive} of ${held.length}`);
  tap.push(Buffer.from(sse(usageChunk)));
  assert.equal(tap.read().totalTokens, 29);
});

test('a total that is less than its parts is their sum', () => {
  const answer = (usage: object): string => JSON.stringify({ model: 'm', usage });
  const read = { ...unknown, model: 'm', inputTokens: 1_000, outputTokens: 500 };
  for (const total of [0, 1, 1_499, 1_500]) reads(answer({ prompt_tokens: 1_000, completion_tokens: 500, total_tokens: total }), false, { ...read, totalTokens: 1_500 });
  reads(answer({ prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_600 }), false, { ...read, totalTokens: 1_600 });
  reads(answer({ input_tokens: 1_000, output_tokens: 500, total_tokens: 0 }), false, { ...read, totalTokens: 1_500 });
  reads(answer({ prompt_tokens: 1_000, total_tokens: 0 }), false, { ...read, outputTokens: -1, totalTokens: 1_000 });
  reads(answer({ completion_tokens: 500, total_tokens: 0 }), false, { ...read, inputTokens: -1, totalTokens: 500 });
  reads(sse({ model: 'm', usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 0 } }, '[DONE]'), true, { ...read, totalTokens: 1_500 });
});

test('an answer is told nothing of the one before it', () => {
  const much = JSON.stringify({
    usage: {
      input_tokens: 10, output_tokens: 20, total_tokens: 50, cache_read_input_tokens: 3, cache_creation_input_tokens: 4, service_tier: 'batch', num_search_queries: 2,
      input_tokens_details: { audio_tokens: 1, image_tokens: 2 }, output_tokens_details: { audio_tokens: 1, image_tokens: 2, reasoning_tokens: 5 },
    },
  });
  for (const isEventStream of [false, true]) {
    const full = usageOf([Buffer.from(isEventStream ? `data: ${much}\n\n` : much)], isEventStream);
    assert.equal(full.isBatch, true);
    const kept = structuredClone(full);
    reads(isEventStream ? sse({ usage: { total_tokens: 7 } }) : '{"usage":{"total_tokens":7}}', isEventStream, { totalTokens: 7 });
    assert.deepEqual(full, kept);
  }
});

test('an answer that is given whole is not copied where it is short, and never written to', () => {
  const text = JSON.stringify({ model: 'm', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } });
  for (const bytesMore of [0, keptBytesMin - text.length - 1, keptBytesMin - text.length, keptBytesMin]) {
    const given = Buffer.from(text.padStart(text.length + bytesMore));
    const before = Buffer.from(given);
    const tap = new UsageTap(false);
    tap.pushWhole(given);
    assert.equal(tap.kept().buffer === given.buffer, given.length < keptBytesMin);
    for (let count = 0; count < 5; count += 1) tap.push(Buffer.alloc(keptBytesMin - 1, ' '));
    assert.deepEqual(given, before);
    assert.equal(tap.read().totalTokens, 3);
  }
});
