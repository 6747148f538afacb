import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isProviderError, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { checkChatChunks, checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import { chatToResponse } from '../../../../core/dialect/responses/answer.js';
import { seal } from '../../../../core/dialect/responses/reasoning.js';
import fc from '../../../support/fast-check.js';
import { chunkOf, context, play, responseUsage, usage, usageChunk } from './recorder.js';

const role = chunkOf({ role: 'assistant', content: '', refusal: null });
const stop = chunkOf({}, 'stop');

/** The final response of a stream that must be well-formed. */
function finalOf(chunks: readonly (JsonObject | string)[]): JsonObject {
  const { events, error, done } = play(chunks);
  assert.equal(error, null);
  assert.deepEqual(checkResponsesEvents(events), []);
  const response = events.at(-1)?.data.response as JsonObject;
  assert.deepEqual(done, [response]);
  return response;
}

const outputOf = (chunks: readonly (JsonObject | string)[]): Json[] => finalOf(chunks).output as Json[];
const piece = (toolCall: JsonObject, more: JsonObject = {}): JsonObject => chunkOf({ tool_calls: [{ ...toolCall, ...more }] });
const begin = (index: number, id: string, name: string, args = ''): JsonObject => ({ index, id, type: 'function', function: { name, arguments: args } });
const args = (index: number, text: string): JsonObject => ({ index, function: { arguments: text } });
/** Id, name and arguments of each call. */
const callsOf = (chunks: readonly (JsonObject | string)[]): Json[] => outputOf(chunks).flatMap((item) => {
  const { type, call_id: id, name, arguments: text } = item as JsonObject;
  return type === 'function_call' ? [[id ?? '', name ?? '', text ?? '']] : [];
});

describe('a streamed response', () => {
  test('of text tells every step', () => {
    const { events } = play([role, chunkOf({ content: 'Hel' }), chunkOf({ content: 'lo' }), stop, usageChunk(usage)]);
    assert.deepEqual(checkResponsesEvents(events), []);
    const place = { item_id: 'msg_gw_1_0', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] };
    const item = { id: 'msg_gw_1_0', type: 'message', status: 'completed', role: 'assistant', content: [part] };
    assert.deepEqual(events.slice(2, -1).map(({ data }) => data), [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] }, sequence_number: 2 },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' }, sequence_number: 3 },
      { type: 'response.output_text.delta', ...place, delta: 'Hel', logprobs: [], sequence_number: 4 },
      { type: 'response.output_text.delta', ...place, delta: 'lo', logprobs: [], sequence_number: 5 },
      { type: 'response.output_text.done', ...place, text: 'Hello', logprobs: [], sequence_number: 6 },
      { type: 'response.content_part.done', ...place, part, sequence_number: 7 },
      { type: 'response.output_item.done', output_index: 0, item, sequence_number: 8 },
    ]);
    assert.deepEqual(events.map(({ event }) => event).filter((event) => !/output|content/.test(event)), ['response.created', 'response.in_progress', 'response.completed']);
    const plain = { choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }], usage };
    assert.deepEqual(events.at(-1)?.data.response, chatToResponse(plain, context));
    const { usage: _usage, ...begun } = chatToResponse(plain, context);
    assert.deepEqual(events[0]?.data.response, { ...begun, status: 'in_progress', output: [] });
  });

  test('is read from text as well, up to [DONE]', () => {
    const chunks = [role, chunkOf({ content: 'Hello' }), stop, usageChunk(usage)].map((chunk) => JSON.stringify(chunk));
    assert.deepEqual(finalOf([...chunks, '[DONE]']), finalOf(chunks));
    assert.deepEqual(finalOf([...chunks, '[DONE]', 'not read any more']), finalOf(chunks));
  });

  for (const [where, chunks] of [
    ['the last chunk', [role, { ...stop, usage }]], ['a chunk of its own', [role, stop, usageChunk(usage)]], ['every chunk', [{ ...role, usage: { prompt_tokens: 1 } }, { ...chunkOf({ content: 'a' }), usage }, { ...stop, usage }]],
    ['a chunk with empty choices, followed by null', [role, stop, usageChunk(usage), usageChunk(null)]],
  ] as const) test(`finds usage in ${where}`, () => assert.deepEqual(finalOf(chunks).usage, responseUsage));

  const parallel: Json = [['a', 'f', '{"x":1}'], ['b', 'g', '{"y":2}']];
  const toolStreams: readonly (readonly [what: string, chunks: readonly JsonObject[], calls: Json])[] = [
    ['one after the other', [piece(begin(0, 'a', 'f')), piece(args(0, '{"x"')), piece(args(0, ':1}')), piece(begin(1, 'b', 'g')), piece(args(1, '{"y":2}'))], parallel],
    ['interleaved', [piece(begin(0, 'a', 'f')), piece(begin(1, 'b', 'g')), piece(args(0, '{"x"')), piece(args(1, '{"y"')), piece(args(0, ':1}')), piece(args(1, ':2}'))], parallel],
    ['in one chunk', [chunkOf({ tool_calls: [begin(0, 'a', 'f', '{"x":1}'), begin(1, 'b', 'g', '{"y":2}')] })], parallel],
    ['whole, without index', [chunkOf({ tool_calls: [begin(0, 'a', 'f', '{"x":1}'), begin(0, 'b', 'g', '{"y":2}')].map(({ index: _index, ...call }) => call) })], parallel],
    ['whole, all with index 0', [piece(begin(0, 'a', 'f', '{"x":1}')), piece(begin(0, 'b', 'g', '{"y":2}'))], parallel],
    ['id and name in every piece', [piece(begin(0, 'a', 'f', '{"x"')), piece(begin(0, 'a', 'f', ':1}')), piece(begin(1, 'b', 'g', '{"y"')), piece(begin(1, 'b', 'g', ':2}'))], parallel],
    ['another id in every piece', [piece(begin(0, 'a', 'f', '{"x"')), piece({ ...args(0, ':1}'), id: 'other' })], [['a', 'f', '{"x":1}']]],
    ['pieces without index', [piece({ id: 'a', function: { name: 'f', arguments: '{"x"' } }), piece({ function: { arguments: ':1}' } }), piece({ id: 'b', function: { name: 'g' } }), piece({ id: 'b', function: { arguments: '{"y":2}' } })], parallel],
    ['a late id', [piece({ index: 0, function: { name: 'f', arguments: '{"x"' } }), piece({ index: 0, id: 'a', function: { arguments: ':1}' } })], [['a', 'f', '{"x":1}']]],
    ['a late id without index', [piece({ function: { name: 'f', arguments: '{"x"' } }), piece({ id: 'a', function: { arguments: ':1}' } })], [['a', 'f', '{"x":1}']]],
    ['a late name', [piece({ index: 0, id: 'a', function: { arguments: '{"x"' } }), piece({ index: 0, function: { name: 'f', arguments: ':1}' } })], [['a', 'f', '{"x":1}']]],
    ['no ids', [piece({ function: { name: 'f', arguments: '{"x":1}' } }), piece({ function: { name: 'f', arguments: '{"y":2}' } })], [['call_gw_1_0', 'f', '{"x":1}'], ['call_gw_1_1', 'f', '{"y":2}']]],
    ['empty ids in later pieces', [piece(begin(0, 'a', 'f', '{"x"')), piece({ index: 0, id: '', type: 'function', function: { name: '', arguments: ':1}' } })], [['a', 'f', '{"x":1}']]],
    ['arguments as an object', [piece({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })], [['a', 'f', '{"x":1}']]],
    ['no arguments', [piece(begin(0, 'a', 'f'))], [['a', 'f', '']]],
  ];
  for (const [what, chunks, calls] of toolStreams) test(`keeps tool calls apart: ${what}`, () => assert.deepEqual(callsOf([role, ...chunks, chunkOf({}, 'tool_calls')]), calls));

  test('passes arguments on as they come', () => {
    const { events } = play([role, piece(begin(0, 'a', 'f')), piece(args(0, '{"x"')), piece(args(0, ':1}'))]);
    assert.deepEqual(events.slice(-3).map(({ data }) => data.delta ?? data.type), ['response.output_item.added', '{"x"', ':1}']);
  });

  const block = (index: number, delta: JsonObject): JsonObject => chunkOf({ content_blocks: [{ index, delta }] });
  test('tells reasoning with what belongs to it', () => {
    const output = outputOf([role, block(0, { thinking: 'h' }), block(0, { thinking: 'm' }), block(0, { signature: 'sig' }), chunkOf({ content_blocks: [{ index: 1, content_block: { type: 'redacted_thinking', data: 'x' } }] }),
      chunkOf({ content: 'a', content_blocks: [{ index: 2, delta: { text: 'a' } }] }), piece(begin(0, 'a', 'f', '{}'), { thought_signature: 's' }), piece(begin(1, 'b', 'f', '{}')), piece(args(1, ''), { thought_signature: 'late' }), chunkOf({}, 'tool_calls')]);
    assert.deepEqual(output.map((item) => (item as JsonObject).type), ['reasoning', 'reasoning', 'message', 'reasoning', 'function_call', 'function_call', 'reasoning']);
    assert.deepEqual(output[0], { id: 'rs_gw_1_0', type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: seal({ type: 'signature', signature: 'sig' }) });
    assert.deepEqual([1, 3, 6].map((index) => (output[index] as JsonObject).encrypted_content), [
      seal({ type: 'redacted', data: 'x' }), seal({ type: 'thought_signature', call_id: 'a', signature: 's' }), seal({ type: 'thought_signature', call_id: 'b', signature: 'late' }),
    ]);
  });

  test('tells plain reasoning, refusals and citations', () => {
    const citation = { type: 'url_citation', url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://x' } };
    const output = outputOf([role, chunkOf({ reasoning_content: 'h', reasoning: 'h' }), chunkOf({ reasoning: 'm' }), chunkOf({ content: 'a' }), chunkOf({ annotations: [citation] }), chunkOf({ refusal: 'no' }), stop]);
    assert.deepEqual((output[0] as JsonObject).summary, [{ type: 'summary_text', text: 'hm' }]);
    assert.deepEqual((output[1] as JsonObject).content, [
      { type: 'output_text', text: 'a', annotations: [{ type: 'url_citation', start_index: 0, end_index: 1, title: 't', url: 'https://x' }], logprobs: [] }, { type: 'refusal', refusal: 'no' },
    ]);
  });

  test('tells log probabilities', () => {
    const entry = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] };
    const { events } = play([role, chunkOf({ content: 'a' }, null, { logprobs: { content: [entry], refusal: null } }), stop]);
    assert.deepEqual(events.filter(({ data }) => 'logprobs' in data).map(({ data }) => data.logprobs), [[entry], [entry]]);
    assert.deepEqual(checkResponsesEvents(events), []);
  });

  test('that was cut off is incomplete', () => {
    const { events } = play([role, chunkOf({ content: 'a' }), chunkOf({}, 'length')]);
    assert.deepEqual(checkResponsesEvents(events), []);
    assert.equal(events.at(-1)?.event, 'response.incomplete');
    assert.equal((finalOf([role, chunkOf({ content: 'a' }), chunkOf({}, 'content_filter')]).incomplete_details as JsonObject).reason, 'content_filter');
  });

  test('without any content has an empty message', () => assert.equal(((outputOf([role, stop])[0] as JsonObject).content as Json[]).length, 1));
  test('ignores other choices', () => assert.equal(outputOf([role, { ...chunkOf({ content: 'a' }), choices: [{ index: 1, delta: { content: 'b' } }] }, stop]).length, 1));

  for (const chunks of [[], [role, chunkOf({ content: 'a' })], [role, '[DONE]']]) {
    test(`that breaks off fails: ${chunks.length} chunks`, () => {
      const { events, error, done } = play(chunks);
      assert.match(error?.message ?? '', /ended before the answer was complete/);
      assert.ok(events.every(({ event }) => event !== 'response.completed'));
      assert.deepEqual(done, []);
    });
  }

  test('fails with errors of other shapes', () => {
    assert.equal(play([role, { object: 'error', message: 'broken', code: 400 }]).error?.message, 'broken');
    assert.equal(play([role, { error: {} }]).error?.message, 'the provider broke off with an error');
  });

  for (const [error, expected] of [
    [{ message: 'too much', type: 'overloaded_error', code: 'overloaded' }, { message: 'too much', status: 502, type: 'overloaded_error', code: 'overloaded' }],
    [{ message: 'slow', code: 429 }, { message: 'slow', status: 429, type: undefined, code: '429' }],
    ['broken', { message: 'broken', status: 502, type: undefined, code: undefined }],
  ] as const) {
    test(`fails with the provider's error: ${expected.message}`, () => {
      const failure = play([role, JSON.stringify({ error }), stop]).error;
      assert.ok(isProviderError(failure));
      const { message, status, type, code } = failure;
      assert.deepEqual({ message, status, type, code }, expected);
    });
  }
});

/** One thing that a model says. */
type Said =
  | { readonly kind: 'text'; readonly pieces: readonly string[] }
  | { readonly kind: 'thinking'; readonly pieces: readonly string[]; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string };
interface Called { readonly name: string; readonly pieces: readonly string[]; readonly signature: string }

const text = fc.string({ minLength: 1, maxLength: 8 });
const pieces = fc.array(text, { minLength: 1, maxLength: 4 });
const signature = fc.oneof(fc.constant(''), text);
const said: fc.Arbitrary<readonly Said[]> = fc.array(fc.oneof(
  fc.record({ kind: fc.constant('text' as const), pieces }), fc.record({ kind: fc.constant('thinking' as const), pieces, signature }), fc.record({ kind: fc.constant('redacted' as const), data: text }),
), { maxLength: 5 });
const called: fc.Arbitrary<readonly Called[]> = fc.array(fc.record({ name: text, pieces: fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 }), signature }), { maxLength: 4 });

function chunksOf(saying: readonly Said[], calls: readonly Called[], order: readonly number[]): JsonObject[] {
  const chunks = [role];
  saying.forEach((one, index) => {
    if (one.kind === 'text') for (const each of one.pieces) chunks.push(chunkOf({ content: each, content_blocks: [{ index, delta: { text: each } }] }));
    if (one.kind === 'redacted') chunks.push(chunkOf({ content_blocks: [{ index, content_block: { type: 'redacted_thinking', data: one.data } }] }));
    if (one.kind !== 'thinking') return;
    for (const each of one.pieces) chunks.push(chunkOf({ content_blocks: [{ index, delta: { thinking: each } }] }));
    if (one.signature !== '') chunks.push(chunkOf({ content_blocks: [{ index, delta: { signature: one.signature } }] }));
  });
  calls.forEach(({ name, signature: mark }, index) => chunks.push(piece(begin(index, `call_${index}`, name), mark === '' ? {} : { thought_signature: mark })));
  const waiting = calls.map(({ pieces: list }) => [...list]);
  for (let step = 0; waiting.some((list) => list.length > 0); step += 1) {
    const open = waiting.flatMap((list, index) => (list.length > 0 ? [index] : []));
    const index = open[(order[step % Math.max(1, order.length)] ?? 0) % open.length] as number;
    chunks.push(piece(args(index, waiting[index]?.shift() ?? '')));
  }
  return chunks;
}

const messageOf = (saying: readonly Said[], calls: readonly Called[]): JsonObject => ({
  role: 'assistant',
  content: saying.flatMap((one) => (one.kind === 'text' ? one.pieces : [])).join(''),
  content_blocks: saying.map((one): JsonObject => {
    if (one.kind === 'text') return { type: 'text', text: one.pieces.join('') };
    if (one.kind === 'redacted') return { type: 'redacted_thinking', data: one.data };
    return { type: 'thinking', thinking: one.pieces.join(''), ...(one.signature === '' ? {} : { signature: one.signature }) };
  }),
  tool_calls: calls.map(({ name, pieces: list, signature: mark }, index) => ({ id: `call_${index}`, type: 'function', function: { name, arguments: list.join('') }, ...(mark === '' ? {} : { thought_signature: mark }) })),
});

test('any streamed answer is well-formed and ends as the plain one', () => {
  fc.assert(fc.property(said, called, fc.array(fc.nat(7), { maxLength: 9 }), fc.constantFrom('stop', 'tool_calls', 'length', 'content_filter'), fc.boolean(), (saying, calls, order, finish, isText) => {
    const chunks = [...chunksOf(saying, calls, order), chunkOf({}, finish), usageChunk(usage)];
    assert.deepEqual(checkChatChunks(chunks), []);
    const plain = { choices: [{ index: 0, message: messageOf(saying, calls), finish_reason: finish }], usage };
    assert.deepEqual(finalOf(isText ? [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'] : chunks), chatToResponse(plain, context));
  }), { numRuns: 500 });
});

test('whatever a provider sends, the events are well-formed or the stream fails', () => {
  const wildCall = fc.record({ index: fc.option(fc.nat(2), { nil: undefined }), id: fc.option(fc.constantFrom('', 'a', 'b'), { nil: undefined }), function: fc.record({ name: fc.constantFrom('', 'f', 'g'), arguments: fc.constantFrom('', '{', '}', '{}') }), thought_signature: fc.option(fc.constantFrom('', 's'), { nil: undefined }) });
  const wild = fc.record({
    content: fc.option(fc.constantFrom('', 'x')), refusal: fc.option(fc.constantFrom('', 'no')), reasoning: fc.option(fc.constantFrom('', 'hm')), tool_calls: fc.option(fc.array(wildCall, { maxLength: 3 })),
    content_blocks: fc.option(fc.array(fc.record({ index: fc.nat(3), delta: fc.oneof(fc.constant({ text: 'x' }), fc.constant({ thinking: 'hm' }), fc.constant({ signature: 's' })) }), { maxLength: 2 })),
  });
  fc.assert(fc.property(fc.array(wild, { maxLength: 12 }), (deltas) => {
    const chunks = deltas.map((delta) => chunkOf(JSON.parse(JSON.stringify(delta)) as JsonObject));
    const { events, error } = play([role, ...chunks, stop]);
    assert.equal(error, null);
    // A call whose name never came is told without one: nothing else can be said of it.
    assert.deepEqual(checkResponsesEvents(events).filter((fault) => !fault.endsWith('a function call needs a name')), []);
    const sent = deltas.flatMap((delta) => (delta.tool_calls ?? []).map((call) => call.function.arguments)).join('');
    const told = events.flatMap(({ data }) => (data.type === 'response.function_call_arguments.done' ? [data.arguments as string] : [])).join('');
    assert.equal([...told].sort().join(''), [...sent].sort().join(''));
  }), { numRuns: 500 });
});
