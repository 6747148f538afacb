import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnswerEvent, EventSink, JsonObject } from '@gateway/plugin-sdk';
import { isProviderError } from '@gateway/plugin-sdk';
import { checkMessagesEvents } from '@gateway/plugin-sdk/testing';
import { readSignature } from '../../../../core/dialect/messages/signature.js';
import { MessagesStage } from '../../../../core/dialect/messages/stream.js';
import fc from '../../../support/fast-check.js';

class Collector implements EventSink {
  readonly events: AnswerEvent[] = [];
  error: Error | undefined;
  write(event: AnswerEvent): void {
    assert.equal(this.error, undefined, 'nothing is written after a failure');
    this.events.push(event);
  }
  end(): void {
    assert.fail('the host ends the stream');
  }
  fail(error: Error): void {
    assert.equal(this.error, undefined, 'failed twice');
    this.error = error;
  }
}

const context = { id: '0a-1b', model: 'asked-model' };

function run(inputs: readonly (JsonObject | string)[], ends = true): Collector {
  const stage = new MessagesStage(context);
  const out = new Collector();
  for (const data of inputs) stage.push({ event: undefined, data }, out);
  if (ends) stage.end(out);
  return out;
}

const chunk = (delta: object, more: object = {}, top: object = {}): JsonObject => ({
  id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }], ...top,
}) as unknown as JsonObject;
const finish = (reason: string, more: object = {}): JsonObject => chunk({}, { finish_reason: reason, ...more });
const tools = (...list: object[]): JsonObject => chunk({ tool_calls: list });

/** The blocks of an answer, as a client puts them together. */
function blocksOf(out: Collector): JsonObject[] {
  const blocks: Record<string, unknown>[] = [];
  for (const { data } of out.events) {
    const event = data as Record<string, any>;
    if (event.type === 'content_block_start') blocks.push({ ...event.content_block, ...(event.content_block.type === 'tool_use' ? { json: '' } : {}) });
    if (event.type !== 'content_block_delta') continue;
    const block = blocks[event.index] as Record<string, any>;
    const { delta } = event;
    if (delta.type === 'text_delta') block.text += delta.text;
    if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
    if (delta.type === 'signature_delta') block.signature += delta.signature;
    if (delta.type === 'input_json_delta') block.json += delta.partial_json;
  }
  return blocks as JsonObject[];
}

const sound = (out: Collector): JsonObject[] => {
  assert.equal(out.error, undefined);
  assert.deepEqual(checkMessagesEvents(out.events), []);
  return blocksOf(out);
};
const eventOf = (out: Collector, type: string): any => out.events.find((event) => event.event === type)?.data;
const use = (id: string, name: string, json: string): object => ({ type: 'tool_use', id, name, input: {}, json });

describe('messages stream', () => {
  it('writes the events of a plain text exactly', () => {
    const out = run([
      chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), chunk({ content: 'lo' }), finish('stop'),
      { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 14, prompt_tokens_details: { cached_tokens: 5 } } },
    ]);
    assert.deepEqual(out.events, [
      { event: 'message_start', data: { type: 'message_start', message: {
        id: 'msg_0a1b', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null,
        usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      } } },
      { event: 'content_block_start', data: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } },
      { event: 'content_block_delta', data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } } },
      { event: 'content_block_delta', data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } } },
      { event: 'content_block_stop', data: { type: 'content_block_stop', index: 0 } },
      { event: 'message_delta', data: { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 2 } } },
      { event: 'message_stop', data: { type: 'message_stop' } },
    ]);
    sound(out);
  });

  it('reads JSON texts up to [DONE]', () => {
    const out = run([JSON.stringify(chunk({ content: 'a' })), JSON.stringify(finish('length')), '[DONE]', JSON.stringify(chunk({ content: 'late' }))], false);
    assert.deepEqual(sound(out), [{ type: 'text', text: 'a' }]);
    assert.equal(eventOf(out, 'message_delta').delta.stop_reason, 'max_tokens');
  });

  it('passes each piece of text and arguments on at once', () => {
    const stage = new MessagesStage(context);
    const out = new Collector();
    const step = (data: JsonObject): number => {
      stage.push({ event: undefined, data }, out);
      return out.events.length;
    };
    assert.equal(step(chunk({ role: 'assistant' })), 1);
    assert.equal(step(chunk({ content: 'a' })), 3);
    assert.equal(step(chunk({ content: 'b' })), 4);
    assert.equal(step(tools({ index: 0, id: 'c1', function: { name: 'f', arguments: '' } })), 6);
    assert.equal(step(tools({ index: 0, function: { arguments: '{"a"' } })), 7);
    assert.equal(step(tools({ index: 0, function: { arguments: ':1}' } })), 8);
    assert.equal(step(tools({ index: 1, id: 'c2', function: { name: 'g', arguments: '' } })), 10);
  });

  const cases: { name: string; chunks: (JsonObject | string)[]; blocks: object[]; stop?: string; sequence?: string }[] = [
    { name: 'an empty answer', chunks: [chunk({ role: 'assistant', content: '' }), finish('stop')], blocks: [], stop: 'end_turn' },
    {
      name: 'interleaved arguments of parallel calls',
      chunks: [
        tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }), tools({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } }),
        tools({ index: 0, function: { arguments: ':1}' } }), tools({ index: 1, function: { arguments: ':2}' } }), finish('tool_calls'),
      ],
      blocks: [use('a', 'f', '{"x":1}'), use('b', 'g', '{"y":2}')], stop: 'tool_use',
    },
    {
      name: 'text behind an unfinished call waits',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }), chunk({ content: 'so ' }), tools({ index: 0, function: { arguments: ':1}' } }), chunk({ content: 'it is' }), finish('stop')],
      blocks: [use('a', 'f', '{"x":1}'), { type: 'text', text: 'so it is' }], stop: 'tool_use',
    },
    {
      name: 'id and name repeated in every delta',
      chunks: ['{"a"', ':1', '}'].map((piece) => tools({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: piece } })).concat(finish('tool_calls')),
      blocks: [use('a', 'f', '{"a":1}')], stop: 'tool_use',
    },
    {
      name: 'id and name repeated without an index',
      chunks: ['{"a"', ':1', '}'].map((piece) => tools({ id: 'a', function: { name: 'f', arguments: piece } })).concat(finish('tool_calls')),
      blocks: [use('a', 'f', '{"a":1}')], stop: 'tool_use',
    },
    {
      name: 'whole calls in one chunk, all with index 0',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }, { index: 0, id: 'b', function: { name: 'f', arguments: '{"n":2}' } }), finish('stop')],
      blocks: [use('a', 'f', '{}'), use('b', 'f', '{"n":2}')], stop: 'tool_use',
    },
    {
      name: 'whole calls without ids and indexes',
      chunks: [tools({ function: { name: 'f', arguments: { n: 1 } } }), tools({ function: { name: 'f', arguments: '{"n":2}' } }), finish('tool_calls')],
      blocks: [use('toolu_0a1b_1', 'f', '{"n":1}'), use('toolu_0a1b_2', 'f', '{"n":2}')], stop: 'tool_use',
    },
    {
      name: 'an id that comes late',
      chunks: [tools({ index: 0, function: { name: 'f', arguments: '{"a"' } }), tools({ index: 0, id: 'a', function: { arguments: ':1}' } }), finish('tool_calls')],
      blocks: [use('a', 'f', '{"a":1}')], stop: 'tool_use',
    },
    {
      name: 'continuations with an empty id and name',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), tools({ index: 0, id: '', function: { name: '', arguments: '{}' } }), finish('tool_calls')],
      blocks: [use('a', 'f', '{}')], stop: 'tool_use',
    },
    {
      name: 'calls without arguments',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), tools({ index: 1, id: 'b', function: { name: 'g' } }), finish('tool_calls')],
      blocks: [use('a', 'f', ''), use('b', 'g', '')], stop: 'tool_use',
    },
    {
      name: 'the same id twice',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }, { index: 1, id: 'a', function: { name: 'f', arguments: '{}' } }), finish('tool_calls')],
      blocks: [use('a', 'f', '{}'), use('toolu_0a1b_1', 'f', '{}')], stop: 'tool_use',
    },
    {
      name: 'a phantom call',
      chunks: [chunk({ content: 'x', tool_calls: [{ index: 0, function: { arguments: '' } }] }), finish('stop')],
      blocks: [{ type: 'text', text: 'x' }], stop: 'end_turn',
    },
    {
      name: 'brackets inside texts of arguments',
      chunks: [tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":"}\\"]' } }), tools({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }), tools({ index: 0, function: { arguments: '"}' } }), finish('tool_calls')],
      blocks: [use('a', 'f', '{"a":"}\\"]"}'), use('b', 'g', '{}')], stop: 'tool_use',
    },
    {
      name: 'reasoning under both names once',
      chunks: [chunk({ reasoning_content: 'hm', reasoning: 'hm' }), chunk({ reasoning: ' yes' }), chunk({ content: 'ok' }), finish('stop')],
      blocks: [{ type: 'thinking', thinking: 'hm yes', signature: '' }, { type: 'text', text: 'ok' }], stop: 'end_turn',
    },
    {
      name: 'content blocks with signatures',
      chunks: [
        chunk({ content_blocks: [{ index: 0, delta: { thinking: 'a' } }] }), chunk({ content_blocks: [{ index: 0, delta: { thinking: 'b' } }] }),
        chunk({ content_blocks: [{ index: 0, delta: { signature: 's1' } }] }), chunk({ content_blocks: [{ index: 1, delta: { thinking: 'c' } }] }),
        chunk({ content_blocks: [{ index: 1, delta: { signature: 's2' } }] }), chunk({ content_blocks: [{ index: 2, content_block: { type: 'redacted_thinking', data: 'zz' } }] }),
        chunk({ content: 'ok', content_blocks: [{ index: 3, delta: { text: 'ok' } }] }), finish('stop', { native_finish_reason: 'end_turn' }),
      ],
      blocks: [
        { type: 'thinking', thinking: 'ab', signature: 's1' }, { type: 'thinking', thinking: 'c', signature: 's2' }, { type: 'redacted_thinking', data: 'zz' }, { type: 'text', text: 'ok' },
      ], stop: 'end_turn',
    },
    {
      name: 'blanks before calls, and before text',
      chunks: [chunk({ content: '\n\n' }), chunk({ reasoning_content: 'r' }), chunk({ content: '\n' }), chunk({ content: ' ' }), chunk({ content: 'a' }), chunk({ content: ' ' }), tools({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }), chunk({ content: '\n' }), finish('stop')],
      blocks: [{ type: 'thinking', thinking: 'r', signature: '' }, { type: 'text', text: '\n a ' }, use('a', 'f', '{}')], stop: 'tool_use',
    },
    {
      name: 'two text blocks of the provider',
      chunks: [chunk({ content: 'a', content_blocks: [{ index: 0, delta: { text: 'a' } }] }), chunk({ content: 'b', content_blocks: [{ index: 0, delta: { text: 'b' } }] }), chunk({ content: 'c', content_blocks: [{ index: 1, delta: { text: 'c' } }] }), finish('stop')],
      blocks: [{ type: 'text', text: 'ab' }, { type: 'text', text: 'c' }],
    },
    { name: 'a stop sequence without its text', chunks: [chunk({ content: 'x' }), finish('stop', { native_finish_reason: 'stop_sequence' })], blocks: [{ type: 'text', text: 'x' }], stop: 'stop_sequence' },
    { name: 'a stop sequence', chunks: [chunk({ content: 'x' }), finish('stop', { stop_sequence: 'END' })], blocks: [{ type: 'text', text: 'x' }], stop: 'stop_sequence', sequence: 'END' },
    { name: 'a refusal', chunks: [chunk({ refusal: 'No' }), chunk({ refusal: '.' }), finish('stop')], blocks: [{ type: 'text', text: 'No.' }], stop: 'refusal' },
    { name: 'a content filter', chunks: [chunk({ content: 'x' }), finish('content_filter')], blocks: [{ type: 'text', text: 'x' }], stop: 'refusal' },
    { name: 'tool_calls without a call', chunks: [chunk({ content: 'x' }), finish('tool_calls')], blocks: [{ type: 'text', text: 'x' }], stop: 'end_turn' },
    { name: 'other choices', chunks: [chunk({ content: 'x' }), chunk({ content: 'y' }, { index: 1 }), finish('stop')], blocks: [{ type: 'text', text: 'x' }] },
    { name: 'a deprecated function call', chunks: [chunk({ function_call: { name: 'f', arguments: '{' } }), chunk({ function_call: { arguments: '}' } }), finish('function_call')], blocks: [use('toolu_0a1b_1', 'f', '{}')], stop: 'tool_use' },
  ];
  for (const { name, chunks, blocks, stop, sequence } of cases) {
    it(name, () => {
      const out = run(chunks);
      assert.deepEqual(sound(out), blocks);
      const { delta } = eventOf(out, 'message_delta');
      if (stop !== undefined) assert.equal(delta.stop_reason, stop);
      assert.equal(delta.stop_sequence, sequence ?? null);
    });
  }

  it('keeps thought signatures in blocks before their calls, or behind when they come late', () => {
    const out = run([
      tools({ index: 0, id: 'a', thought_signature: 'sig', function: { name: 'f', arguments: '{}' } }, { index: 1, id: 'b', function: { name: 'g', arguments: '{' } }),
      tools({ index: 1, thought_signature: 'late', function: { arguments: '}' } }), finish('tool_calls'),
    ]);
    const blocks = sound(out);
    assert.deepEqual(blocks.map((block) => block.type), ['redacted_thinking', 'tool_use', 'tool_use', 'redacted_thinking']);
    assert.deepEqual(readSignature(String(blocks[0]?.data)), { id: 'a', signature: 'sig' });
    assert.deepEqual(readSignature(String(blocks[3]?.data)), { id: 'b', signature: 'late' });
  });

  it('takes the last usage, wherever it stands', () => {
    const usage = (input: number, output: number): object => ({ usage: { prompt_tokens: input, completion_tokens: output, cache_read_input_tokens: 2, cache_creation_input_tokens: 3, completion_tokens_details: { reasoning_tokens: 1 } } });
    const out = run([chunk({ content: 'a' }, {}, usage(10, 1)), chunk({ content: 'b' }, {}, usage(10, 2)), chunk({}, { finish_reason: 'stop' }, usage(10, 3))]);
    sound(out);
    assert.equal(eventOf(out, 'message_start').message.usage.input_tokens, 5);
    assert.deepEqual(eventOf(out, 'message_delta').usage, { input_tokens: 5, cache_creation_input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 3, output_tokens_details: { thinking_tokens: 1 } });
  });

  it('fails a stream that broke off', () => {
    for (const inputs of [[], [chunk({ content: 'a' })], [chunk({ content: 'a' }), '[DONE]']]) {
      const out = run(inputs);
      assert.match(out.error?.message ?? '', /ended before the answer was complete/);
      assert.ok(!out.events.some((event) => event.event === 'message_delta' || event.event === 'message_stop'));
    }
  });

  it("fails with the provider's words", () => {
    const out = run([chunk({ content: 'a' }), JSON.stringify({ error: { message: 'too busy', type: 'server_error', code: 503 } }), finish('stop')]);
    assert.ok(isProviderError(out.error));
    assert.equal(out.error.message, 'too busy');
    assert.equal(out.error.status, 503);
    assert.equal(out.error.type, 'server_error');
    assert.ok(isProviderError(run([chunk({ content: 'a' }), finish('error')]).error));
  });

  it('throws on malformed JSON, and on arguments that go on behind their end', () => {
    assert.throws(() => run(['{"choices"']), SyntaxError);
    const call = (index: number, id: string): JsonObject => tools({ index, id, function: { name: 'f', arguments: '{}' } });
    assert.throws(() => run([call(0, 'a'), call(1, 'b'), tools({ index: 0, function: { arguments: '{"x":1}' } })]), /went on with the arguments/);
    assert.doesNotThrow(() => run([call(0, 'a'), call(1, 'b'), tools({ index: 0, function: { arguments: '\n' } }), finish('stop')]));
  });

  it('reassembles any interleaving of thinking, text and calls', () => {
    const jsonObject = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).map((value) => JSON.stringify(value));
    const pieces = (text: string, cuts: readonly number[]): string[] => {
      const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
      return [0, ...places].map((from, index) => text.slice(from, [...places, text.length][index]));
    };
    const cuts = fc.array(fc.nat(200), { maxLength: 6 });
    const calls = fc.array(fc.record({ args: fc.oneof(jsonObject, fc.constant('')), cuts }), { maxLength: 4 });
    fc.assert(fc.property(calls, fc.array(fc.string().map((text) => `.${text}`), { maxLength: 4 }), fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }), fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), fc.boolean(), fc.boolean(), (given, texts, thoughts, picks, repeats, asText) => {
      // Queues whose own order holds; which one goes next is at random. A call begins before the calls behind it.
      const queues: JsonObject[][] = [
        thoughts.map((thinking) => chunk({ reasoning_content: thinking })),
        texts.map((content) => chunk({ content })),
        ...given.map(({ args, cuts: at }, index) => pieces(args, at).map((piece, place) => tools(place === 0 || repeats
          ? { index, id: `call_${index}`, type: 'function', function: { name: `tool_${index}`, arguments: piece } }
          : { index, function: { arguments: piece } }))),
      ];
      const chunks: JsonObject[] = [chunk({ role: 'assistant' })];
      const begun = new Set<number>();
      for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
        const open = queues.map((queue, index) => ({ queue, index })).filter(({ queue, index }) => queue.length > 0 && (index < 3 || begun.has(index - 1)));
        const next = open[(picks[turn % picks.length] ?? 0) % open.length]!;
        begun.add(next.index);
        chunks.push(next.queue.shift()!);
      }
      chunks.push(finish(given.length > 0 ? 'tool_calls' : 'stop'));
      const blocks = sound(run(asText ? chunks.map((each) => JSON.stringify(each)) : chunks));
      const joined = (type: string, member: string): string => blocks.filter((block) => block.type === type).map((block) => block[member]).join('');
      assert.equal(joined('text', 'text'), texts.join(''));
      assert.equal(joined('thinking', 'thinking'), thoughts.join(''));
      assert.deepEqual(blocks.filter((block) => block.type === 'tool_use'), given.map(({ args }, index) => use(`call_${index}`, `tool_${index}`, args)));
    }), { numRuns: 1000 });
  });
});
