import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, type EventSink, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { fakeCall } from '@gateway/plugin-sdk/testing';
import { messagesToChat } from './answer.js';
import { anthropicError, statusOfError } from './error.js';
import { messagesStage } from './stream.js';

function run(events: readonly JsonObject[], isStrict = true) {
  const call = fakeCall({ model: 'claude-sonnet-4-5', stream: true }, { isStrict });
  const stage = messagesStage(call);
  const chunks: JsonObject[] = [];
  const faults: Error[] = [];
  const out: EventSink = {
    write: ({ data }) => { if (typeof data !== 'string') chunks.push(data); },
    end: () => {},
    fail: (error) => { faults.push(error); },
  };
  for (const event of events) stage.push({ event: undefined, data: JSON.stringify(event) }, out);
  stage.end(out);
  return { chunks, faults, choices: chunks.map(choiceOf) };
}

function choiceOf(chunk: JsonObject): JsonObject {
  const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as readonly Json[]) : [];
  return isObject(choice) ? choice : {};
}

const start = (usage: JsonObject = { input_tokens: 10, output_tokens: 1 }): JsonObject => ({ type: 'message_start', message: { id: 'msg_1', model: 'claude-x', usage } });
const finish = (stopReason: string, usage: JsonObject = { output_tokens: 5 }): JsonObject[] =>
  [{ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage }, { type: 'message_stop' }];

test('usage counts cached input, totals of message_delta win, null says nothing', () => {
  const { chunks } = run([start({ input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 1 }), ...finish('end_turn', { input_tokens: null, cache_read_input_tokens: 90, output_tokens: 5 })]);
  assert.deepEqual(chunks.at(-1)?.usage, {
    prompt_tokens: 107, completion_tokens: 5, total_tokens: 112, prompt_tokens_details: { cached_tokens: 90 }, cache_read_input_tokens: 90, cache_creation_input_tokens: 7,
  });
});

test('tool calls interleaved by index keep their own arguments', () => {
  const tool = (index: number, name: string): JsonObject => ({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} } });
  const piece = (index: number, text: string): JsonObject => ({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } });
  const { choices } = run([start(), tool(3, 'a'), tool(5, 'b'), piece(5, '{"x"'), piece(3, '{}'), piece(5, ':1}'), { type: 'content_block_stop', index: 3 }, { type: 'content_block_stop', index: 5 }, ...finish('end_turn')]);
  const pieces = choices.flatMap(({ delta }) => (isObject(delta) && Array.isArray(delta.tool_calls) ? (delta.tool_calls as readonly JsonObject[]) : []));
  const argumentsAt = (index: number): string => pieces.filter((call) => call.index === index).map((call) => (isObject(call.function) ? call.function.arguments : '')).join('');
  assert.equal(argumentsAt(0), '{}');
  assert.equal(argumentsAt(1), '{"x":1}');
  assert.equal(choices.at(-1)?.finish_reason, 'tool_calls');
});

test('a tool whose whole input stands in its beginning', () => {
  const { choices } = run([start(), { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } } }, { type: 'content_block_stop', index: 0 }, ...finish('tool_use')]);
  assert.deepEqual(choices[2]?.delta, { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] });
});

test('a cut or refused answer says so even with tool calls', () => {
  const tool: JsonObject = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } };
  const finishOf = (stopReason: string): Json | undefined => run([start(), tool, { type: 'content_block_stop', index: 0 }, ...finish(stopReason)]).choices.at(-1)?.finish_reason;
  assert.equal(finishOf('max_tokens'), 'length');
  assert.equal(finishOf('model_context_window_exceeded'), 'length');
  assert.equal(finishOf('refusal'), 'content_filter');
  assert.equal(finishOf('pause_turn'), 'tool_calls');
});

test('two text blocks are two content blocks', () => {
  const text = (index: number, value: string): JsonObject[] => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: value } },
    { type: 'content_block_stop', index },
  ];
  const { choices } = run([start(), ...text(0, 'A'), ...text(1, 'B'), ...finish('end_turn')], false);
  assert.deepEqual(choices.slice(1, 3).map((choice) => choice.delta), [
    { content: 'A', content_blocks: [{ index: 0, delta: { text: 'A' } }] },
    { content: 'B', content_blocks: [{ index: 1, delta: { text: 'B' } }] },
  ]);
});

test('errors inside the stream end it with their status, and nothing follows', () => {
  const { faults, chunks } = run([start(), { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down', details: { error_code: 'too_many' } } }, ...finish('end_turn')]);
  assert.equal(chunks.length, 1);
  assert.equal(faults.length, 1);
  assert.deepEqual({ ...faults[0] }, { ...faults[0], status: 429, type: 'rate_limit_error', code: 'too_many' });
  assert.equal(faults[0]?.message, 'Slow down');
});

test('a stream without message_stop, or without a stop reason, fails', () => {
  assert.match(run([start()]).faults[0]?.message ?? '', /message_stop/);
  assert.match(run([start(), { type: 'message_stop' }]).faults[0]?.message ?? '', /complete/);
  assert.match(run([]).faults[0]?.message ?? '', /message_stop/);
});

test('pings, unknown events and unknown deltas are passed over', () => {
  const { choices, faults } = run([start(), { type: 'ping' }, { type: 'thread_update' }, { type: 'content_block_delta', index: 9, delta: { type: 'input_json_delta', partial_json: '{' } }, { type: 'content_block_delta', index: 9, delta: { type: 'new_delta' } }, ...finish('end_turn')]);
  assert.equal(faults.length, 0);
  assert.equal(choices.length, 2);
});

test('error bodies and the statuses of their types', () => {
  assert.deepEqual(anthropicError({ type: 'error', error: { type: 'not_found_error', message: 'model: x' } }, 404), { message: 'model: x', type: 'not_found_error' });
  assert.equal(anthropicError({ detail: 'x' }, 404), undefined);
  assert.equal(statusOfError('overloaded_error'), 529);
  assert.equal(statusOfError('something_new'), 502);
});

test('an answer that is not a message is a fault of the provider', () => {
  assert.throws(() => messagesToChat({ completion: 'x' }, fakeCall({})), /not a message/);
});
