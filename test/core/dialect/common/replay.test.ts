import type { AnswerEvent, Json, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { replay } from '../../../../core/dialect/common/replay.js';
import { dialects, type DialectName } from '../../../../core/dialect/dialects.js';

const told = (dialect: DialectName, answer: JsonObject, includesUsage = false): AnswerEvent[] => [...replay(dialects[dialect], answer, { includesUsage })];
const dataOf = (events: readonly AnswerEvent[]): any[] => events.map(({ data }) => data);
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const chat = (message: JsonObject, more: JsonObject = {}): JsonObject =>
  ({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }], usage, ...more });
const deltas = (answer: JsonObject): Json[] => dataOf(told('chat', answer)).slice(0, -1).map((chunk) => chunk.choices[0].delta);

function again(dialect: DialectName, answer: JsonObject): any {
  const whole = assembler(dialects[dialect]);
  for (const event of replay(dialects[dialect], answer, { includesUsage: true })) whole.push(event);
  return whole.answer();
}

describe('a chat completion as a stream', () => {
  test('is role, text, finish reason, and [DONE]', () => {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', system_fingerprint: 'fp' };
    const choice = (delta: JsonObject, finish: string | null): JsonObject => ({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    assert.deepEqual(told('chat', chat({ role: 'assistant', content: 'Hello', refusal: null }, { system_fingerprint: 'fp' })), [
      choice({ role: 'assistant', content: '', refusal: null }, null), choice({ content: 'Hello' }, null), choice({}, 'stop'), '[DONE]',
    ].map((data) => ({ event: undefined, data })));
  });

  test('has usage in a chunk of its own, for those who asked for it', () => {
    const answer = chat({ role: 'assistant', content: 'a' });
    assert.ok(told('chat', answer).every(({ data }) => typeof data === 'string' || !('usage' in data)));
    const [last, done] = dataOf(told('chat', answer, true)).slice(-2);
    assert.deepEqual([last.choices, last.usage, done], [[], usage, '[DONE]']);
  });

  test('has for each tool call one chunk with id and name, one with all arguments', () => {
    const call = (id: string, text: string): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: text } });
    const long = JSON.stringify({ a: 'x'.repeat(2_000) });
    assert.deepEqual(deltas(chat({ role: 'assistant', content: null, tool_calls: [call('a', long), call('b', '')] })), [
      { role: 'assistant', content: null },
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }, { tool_calls: [{ index: 0, function: { arguments: long } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'f', arguments: '' } }] }, {},
    ]);
  });

  test('has custom tool calls and function calls in pieces too', () => {
    assert.deepEqual(deltas(chat({ role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'f', input: 'text' } }], function_call: { name: 'g', arguments: '{}' } })).slice(1, -1), [
      { function_call: { name: 'g', arguments: '' } }, { function_call: { arguments: '{}' } },
      { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'f', input: '' } }] }, { tool_calls: [{ index: 0, custom: { input: 'text' } }] },
    ]);
  });

  test('has thinking where it was, and text in both places', () => {
    const blocks = [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'a' }, { type: 'redacted_thinking', data: 'x' }, { type: 'text', text: 'b' }];
    assert.deepEqual(deltas(chat({ role: 'assistant', content: 'ab', content_blocks: blocks })).slice(1, -1), [
      { content_blocks: [{ index: 0, delta: { thinking: 'hm' } }] }, { content_blocks: [{ index: 0, delta: { signature: 's' } }] },
      { content: 'a', content_blocks: [{ index: 1, delta: { text: 'a' } }] },
      { content_blocks: [{ index: 2, content_block: { type: 'redacted_thinking', data: 'x' } }] },
      { content: 'b', content_blocks: [{ index: 3, delta: { text: 'b' } }] },
    ]);
  });

  test('tells content that was changed apart from its blocks, so that nothing is told twice', () => {
    const list: any[] = deltas(chat({ role: 'assistant', content: 'masked', content_blocks: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'secret' }] }));
    assert.equal(list.map(({ content }) => content ?? '').join(''), 'masked');
  });

  test('has reasoning before the text, refusal, annotations and the rest behind it', () => {
    const message = { role: 'assistant', content: 'a', annotations: [1], refusal: 'no', citations: [2], reasoning_content: 'hm', audio: { id: 'au', data: 'QUJD', transcript: 't', expires_at: 3 } };
    assert.deepEqual(deltas(chat(message)), [
      { role: 'assistant', content: '', refusal: null }, { reasoning_content: 'hm' }, { content: 'a' }, { refusal: 'no' }, { annotations: [1] }, { citations: [2] },
      { audio: { id: 'au' } }, { audio: { transcript: 't' } }, { audio: { data: 'QUJD' } }, { audio: { expires_at: 3 } }, {},
    ]);
  });

  test('cuts audio where each piece can be read by itself', () => {
    const data = Buffer.alloc(40_000, 7).toString('base64');
    const pieces: string[] = deltas(chat({ role: 'assistant', content: null, audio: { id: 'a', data } })).flatMap((delta: any) => delta.audio?.data ?? []);
    assert.ok(pieces.length > 2);
    assert.deepEqual(Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))), Buffer.alloc(40_000, 7));
  });

  test('has log probabilities beside the text they are of', () => {
    const texts = Array.from({ length: 150 }, (_, index) => `word ${index} `);
    const content = texts.map((token) => ({ token, logprob: -1, bytes: [], top_logprobs: [] }));
    const answer = chat({ role: 'assistant', content: texts.join('') });
    const chunks = dataOf(told('chat', { ...answer, choices: [{ index: 0, message: { role: 'assistant', content: texts.join('') }, logprobs: { content, refusal: null }, finish_reason: 'stop' }] })).slice(0, -1);
    assert.deepEqual(chunks[0].choices[0].logprobs, { content: [], refusal: null });
    const withText = chunks.slice(1, -1).map((chunk) => chunk.choices[0]);
    assert.ok(withText.length > 2);
    for (const { delta, logprobs } of withText) assert.equal(logprobs.content.map(({ token }: any) => token).join(''), delta.content);
    assert.equal(chunks.at(-1).choices[0].logprobs, null);
  });

  test('begins all choices before it goes on with one, so that no half stream looks whole', () => {
    const choice = (index: number): JsonObject => ({ index, message: { role: 'assistant', content: `text ${index}` }, finish_reason: 'stop' });
    const chunks = dataOf(told('chat', chat({}, { choices: [choice(0), choice(1)] }))).slice(0, -1);
    assert.deepEqual(chunks.map((chunk) => chunk.choices[0].index), [0, 1, 0, 0, 1, 1]);
    assert.deepEqual(chunks.map((chunk) => chunk.choices[0].finish_reason), [null, null, null, 'stop', null, 'stop']);
  });

  test('has members of its own on the last chunk with a choice', () => {
    const chunks = dataOf(told('chat', { ...chat({ role: 'assistant', content: 'a' }), hook_results: { before_request_hooks: [] }, provider: 'p' }, true));
    assert.deepEqual(chunks.map((chunk) => chunk.hook_results !== undefined && chunk.provider === 'p'), [false, false, true, false, false]);
  });

  test('comes back with these differences only', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messageOf = (message: JsonObject): JsonObject => again('chat', chat(message)).choices[0].message;
    const message = { role: 'assistant', content: 'ab' };
    assert.deepEqual(messageOf({ ...message, content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }), message, 'content of parts is their text');
    assert.deepEqual(messageOf({ role: 'assistant' }), { role: 'assistant', content: null }, 'no content is null');
    assert.deepEqual(messageOf({ ...message, content: '', tool_calls: [call] }), { role: 'assistant', content: null, tool_calls: [call] }, 'empty content beside tool calls is null');
    assert.deepEqual(messageOf({ ...message, tool_calls: [{ index: 0, ...call, function: { name: 'f', arguments: {} } }] }), { ...message, tool_calls: [call] }, 'arguments are text; a call has no index');
    assert.deepEqual(messageOf({ ...message, content_blocks: [{ type: 'text', text: 'ab' }], tool_calls: null }), message, 'blocks that say no more than the content, and no calls, are left out');
    const { usage: counts, ...rest } = again('chat', chat(message, { usage: null, obfuscation: 'x' }));
    assert.deepEqual([counts, rest.obfuscation], [undefined, undefined], 'usage of null, and obfuscation, are left out');
  });
});

describe('a text completion as a stream', () => {
  test('is text in slices, finish reason, usage if asked for, and [DONE]', () => {
    const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' };
    const text = 'x'.repeat(700);
    assert.deepEqual(dataOf(told('completions', { ...head, choices: [{ index: 0, text, logprobs: null, finish_reason: 'length' }], usage, provider: 'p' }, true)), [
      { ...head, choices: [{ index: 0, text: 'x'.repeat(500), logprobs: null, finish_reason: null }] }, { ...head, choices: [{ index: 0, text: 'x'.repeat(200), logprobs: null, finish_reason: null }] },
      { ...head, choices: [{ index: 0, text: '', logprobs: null, finish_reason: 'length' }], provider: 'p' }, { ...head, choices: [], usage }, '[DONE]',
    ]);
  });
});

describe('a message as a stream', () => {
  test('is the full sequence of events', () => {
    const message = {
      id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use', stop_sequence: null, provider: 'p',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'a', citations: [{ n: 1 }] }, { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} }, { type: 'redacted_thinking', data: 'x' },
      ],
      usage: { input_tokens: 25, output_tokens: 40, server_tool_use: { web_search_requests: 1 }, service_tier: 'standard' },
    };
    const delta = (index: number, type: string, more: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: { type, ...more } });
    const open = (index: number, block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block: block });
    const close = (index: number): JsonObject => ({ type: 'content_block_stop', index });
    const events = told('messages', message);
    assert.ok(events.every(({ event, data }) => typeof data !== 'string' && data.type === event));
    assert.deepEqual(dataOf(events), [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 25, output_tokens: 1, server_tool_use: null, service_tier: 'standard' } } },
      open(0, { type: 'thinking', thinking: '', signature: '' }), delta(0, 'thinking_delta', { thinking: 'hm' }), delta(0, 'signature_delta', { signature: 's' }), close(0),
      open(1, { type: 'text', text: '', citations: [] }), delta(1, 'text_delta', { text: 'a' }), delta(1, 'citations_delta', { citation: { n: 1 } }), close(1),
      open(2, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }), delta(2, 'input_json_delta', { partial_json: '' }), delta(2, 'input_json_delta', { partial_json: '{"a":1}' }), close(2),
      open(3, { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} }), delta(3, 'input_json_delta', { partial_json: '' }), close(3),
      open(4, { type: 'redacted_thinking', data: 'x' }), close(4),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { input_tokens: 25, output_tokens: 40, server_tool_use: { web_search_requests: 1 } } },
      { type: 'message_stop' },
    ]);
  });

  test('has counts even where the answer has none, because clients read them unasked', () => {
    const { usage: counts } = again('messages', { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'end_turn', stop_sequence: null });
    assert.deepEqual(counts, { input_tokens: 0, output_tokens: 0 });
  });
});

describe('a response as a stream', () => {
  const response = (output: readonly JsonObject[], more: JsonObject = {}): JsonObject =>
    ({ id: 'resp_1', object: 'response', status: 'completed', incomplete_details: null, error: null, output, usage: { output_tokens: 1 }, output_text: 'ab', provider: 'p', ...more });
  const typesOf = (answer: JsonObject): (string | undefined)[] => told('responses', answer).map(({ event }) => event?.replace('response.', ''));
  const around = (...types: readonly string[]): string[] => ['created', 'in_progress', 'output_item.added', ...types, 'output_item.done', 'completed'];

  test('begins with a response that knows nothing yet, and ends with the whole', () => {
    const answer = response([]);
    const [created, progress, completed] = dataOf(told('responses', answer));
    const { output_text: text, ...begun } = answer;
    assert.deepEqual(created, { type: 'response.created', response: { ...begun, status: 'in_progress', usage: null }, sequence_number: 0 });
    assert.deepEqual(progress, { ...created, type: 'response.in_progress', sequence_number: 1 });
    assert.deepEqual(completed, { type: 'response.completed', response: answer, sequence_number: 2 });
    assert.equal(text, 'ab');
  });

  test('numbers its events one after another', () => {
    const events = dataOf(told('responses', response([{ id: 'a', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }])));
    assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, index) => index));
  });

  for (const [what, item, types] of [
    ['text', { id: 'a', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'a'.repeat(600), annotations: [{ type: 'x' }], logprobs: [] }] },
      ['content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.annotation.added', 'output_text.done', 'content_part.done']],
    ['a refusal', { id: 'a', type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }, ['content_part.added', 'refusal.delta', 'refusal.done', 'content_part.done']],
    ['a summary', { id: 'a', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      ['reasoning_summary_part.added', 'reasoning_summary_text.delta', 'reasoning_summary_text.done', 'reasoning_summary_part.done']],
    ['reasoning', { id: 'a', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }, ['content_part.added', 'reasoning_text.delta', 'reasoning_text.done', 'content_part.done']],
    ['a function call', { id: 'a', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }, ['function_call_arguments.delta', 'function_call_arguments.done']],
    ['a custom tool call', { id: 'a', type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'x' }, ['custom_tool_call_input.delta', 'custom_tool_call_input.done']],
    ['a search', { id: 'a', type: 'web_search_call', status: 'completed', action: { query: 'q' } }, []],
    ['what is not known', { id: 'a', type: 'of_the_future', more: 1 }, []],
  ] as const) {
    test(`tells ${what} by its own events`, () => {
      assert.deepEqual(typesOf(response([item])), around(...types));
      const added = dataOf(told('responses', response([item])))[2].item;
      assert.equal(added.status, 'status' in item || item.type === 'message' ? 'in_progress' : undefined);
      assert.deepEqual(dataOf(told('responses', response([item]))).at(-2).item, item);
    });
  }

  test('begins items empty, whatever they hold in the end', () => {
    const added = (item: JsonObject): JsonObject => dataOf(told('responses', response([item])))[2].item;
    assert.deepEqual(added({ id: 'a', type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' }), { id: 'a', type: 'reasoning', status: 'in_progress', summary: [] });
    assert.deepEqual(added({ id: 'a', type: 'function_call', status: 'completed', call_id: 'c', name: 'f', arguments: '{}' }), { id: 'a', type: 'function_call', status: 'in_progress', call_id: 'c', name: 'f', arguments: '' });
  });

  test('ends as the response did', () => {
    assert.equal(typesOf(response([], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })).at(-1), 'incomplete');
    assert.equal(typesOf(response([], { status: 'failed', error: { code: 'server_error', message: 'm' } })).at(-1), 'failed');
    assert.equal(dataOf(told('responses', response([], { status: 'failed', error: { code: 'server_error', message: 'm' } })))[0].response.error, null);
  });
});

describe('what is not a finished answer', () => {
  const message = { role: 'assistant', content: 'a' };
  for (const [dialect, what, answer] of [
    ['chat', 'an error', { error: { message: 'm' } }], ['chat', 'an empty object', {}], ['chat', 'no choices', chat(message, { choices: [] })],
    ['chat', 'a choice without an end', chat(message, { choices: [{ index: 0, message, finish_reason: null }] })], ['chat', 'a choice that failed', chat(message, { choices: [{ index: 0, message, finish_reason: 'error' }] })], ['chat', 'a choice of a stream', chat(message, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })],
    ['completions', 'a chat completion', chat(message)], ['messages', 'an error', { type: 'error', error: {} }], ['messages', 'a message that has begun', { type: 'message', content: [], stop_reason: null }],
    ['responses', 'a response in the background', { object: 'response', status: 'queued', output: [] }], ['responses', 'an error', { error: { message: 'm' } }],
  ] as const) {
    test(`is not replayed: ${what} for ${dialect}`, () => {
      assert.ok(!dialects[dialect].isReplayable(answer));
      assert.deepEqual(told(dialect, answer, true), dialect === 'chat' || dialect === 'completions' ? [{ event: undefined, data: '[DONE]' }] : []);
    });
  }
});
