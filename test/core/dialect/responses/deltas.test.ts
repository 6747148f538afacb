import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import { checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seal } from '../../../../core/dialect/responses/reasoning.js';
import { bytesOf, eventsOf, logprobsOf, redactor, run, secret, type Run } from '../common/test-streams.js';

/** Events with their numbers. */
const numbered = (...list: JsonObject[]): AnswerEvent[] => list.map((data, index) => ({ event: String(data.type), data: JSON.stringify({ ...data, sequence_number: index }) }));
const play = (...list: JsonObject[]): Run => run('responses', numbered(...list), redactor());
const data = (result: Run): any[] => result.events.map((each) => each.data);
const numbersOf = (result: Run): number[] => data(result).map((each) => each.sequence_number);
const completed = (...output: JsonObject[]): JsonObject => ({ type: 'response.completed', response: { id: 'r', object: 'response', status: 'completed', output } });
const place = { item_id: 'i', output_index: 0 };

/** Wherever `text` is cut, nothing of the secret is in the output, numbers have no gap, and deltas and copies show the same. */
function everywhere(type: string, index: JsonObject, copy: string, itemOf: (text: string) => JsonObject, read: (item: any) => string, wrap = (text: string): string => text): void {
  const text = wrap(`I am ${secret}, not 12`);
  const expected = wrap('I am [SSN], not 12');
  for (let cut = 1; cut < text.length; cut += 1) {
    const delta = (piece: string): JsonObject => ({ type: `response.${type}.delta`, ...place, ...index, delta: piece });
    for (const hasDone of [true, false]) {
      const result = play(
        { type: 'response.output_item.added', output_index: 0, item: itemOf('') }, delta(text.slice(0, cut)), delta(text.slice(cut)),
        ...(hasDone ? [{ type: `response.${type}.done`, ...place, ...index, [copy]: text }, { type: 'response.output_item.done', output_index: 0, item: itemOf(text) }] : []),
        completed(itemOf(text)),
      );
      assert.deepEqual([result.errors, result.stage.error], [[], null]);
      assert.doesNotMatch(result.text, /6789/);
      assert.equal(data(result).map((each) => each.delta ?? '').join(''), expected);
      assert.deepEqual(numbersOf(result), data(result).map((_, number) => number));
      assert.equal(read(data(result).at(-1).response.output[0]), expected);
      if (!hasDone) continue;
      assert.equal(data(result).at(-3)[copy], expected);
      assert.equal(read(data(result).at(-2).item), expected);
    }
  }
}

describe('every text of a response', () => {
  const json = (text: string): string => JSON.stringify({ a: text });
  test('output_text', () => everywhere('output_text', { content_index: 0 }, 'text', (text) => ({ id: 'i', type: 'message', role: 'assistant', content: text === '' ? [] : [{ type: 'output_text', text }] }), (item) => item.content[0].text));
  test('refusal', () => everywhere('refusal', { content_index: 0 }, 'refusal', (refusal) => ({ id: 'i', type: 'message', role: 'assistant', content: refusal === '' ? [] : [{ type: 'refusal', refusal }] }), (item) => item.content[0].refusal));
  test('reasoning_summary_text', () => everywhere('reasoning_summary_text', { summary_index: 0 }, 'text', (text) => ({ id: 'i', type: 'reasoning', summary: text === '' ? [] : [{ type: 'summary_text', text }] }), (item) => item.summary[0].text));
  test('reasoning_text', () => everywhere('reasoning_text', { content_index: 0 }, 'text', (text) => ({ id: 'i', type: 'reasoning', summary: [], content: text === '' ? [] : [{ type: 'reasoning_text', text }] }), (item) => item.content[0].text));
  test('function_call_arguments', () => everywhere('function_call_arguments', {}, 'arguments', (text) => ({ id: 'i', type: 'function_call', call_id: 'c', name: 'f', arguments: text }), (item) => item.arguments, json));
  test('mcp_call_arguments', () => everywhere('mcp_call_arguments', {}, 'arguments', (text) => ({ id: 'i', type: 'mcp_call', name: 'f', arguments: text }), (item) => item.arguments, json));
  test('custom_tool_call_input', () => everywhere('custom_tool_call_input', {}, 'input', (input) => ({ id: 'i', type: 'custom_tool_call', call_id: 'c', name: 'f', input }), (item) => item.input));
  test('code_interpreter_call_code', () => everywhere('code_interpreter_call_code', {}, 'code', (code) => ({ id: 'i', type: 'code_interpreter_call', code }), (item) => item.code));
});

test('a text that is told only when it is done, or in the whole response, is judged there, and once', () => {
  const item = (text: string): JsonObject => ({ id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
  const done = play({ type: 'response.output_text.done', ...place, content_index: 0, text: `a ${secret}` }, { type: 'response.output_item.done', output_index: 0, item: item(`a ${secret}`) }, completed(item(`a ${secret}`)));
  assert.deepEqual([data(done)[0].text, data(done)[1].item.content[0].text, data(done)[2].response.output[0].content[0].text], ['a [SSN]', 'a [SSN]', 'a [SSN]']);
  const check = redactor();
  const whole = run('responses', numbered(completed(item(`a ${secret}`))), check);
  assert.equal(data(whole)[0].response.output[0].content[0].text, 'a [SSN]');
  assert.deepEqual(check.windows.map(({ isLast }) => isLast), [false, true]);
});

test('a copy that differs from the pieces is judged by itself', () => {
  const result = play({ type: 'response.output_text.delta', ...place, content_index: 0, delta: 'a' }, { type: 'response.output_text.done', ...place, content_index: 0, text: `a ${secret}` });
  assert.equal(data(result)[1].text, 'a [SSN]');
});

test('an item or part that begins with text is read from there', () => {
  const item = (text: string): JsonObject => ({ id: 'i', type: 'function_call', call_id: 'c', name: 'f', arguments: text });
  const all = JSON.stringify({ a: secret });
  const result = play(
    { type: 'response.output_item.added', output_index: 0, item: item(all.slice(0, 9)) }, { type: 'response.function_call_arguments.delta', ...place, delta: all.slice(9) },
    { type: 'response.function_call_arguments.done', ...place, arguments: all }, { type: 'response.output_item.done', output_index: 0, item: item(all) }, completed(item(all)),
  );
  assert.equal(data(result)[0].item.arguments + data(result)[1].delta, '{"a":"[SSN]"}');
  assert.equal(data(result)[2].arguments, '{"a":"[SSN]"}');
  const part = play({ type: 'response.content_part.added', ...place, content_index: 0, part: { type: 'output_text', text: '123-' } }, { type: 'response.output_text.delta', ...place, content_index: 0, delta: '45-6789' });
  assert.deepEqual([data(part)[0].part.text, data(part)[1].delta], ['', '[SSN]']);
});

test('texts that come whole only are judged once, and every copy of them shows the result', () => {
  const item = { id: 'i', type: 'mcp_call', name: 'f', arguments: '{}', output: `his ${secret}` };
  const check = redactor();
  const result = run('responses', numbered(
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '', output: null } }, { type: 'response.mcp_call_arguments.delta', ...place, delta: '{}' },
    { type: 'response.mcp_call_arguments.done', ...place, arguments: '{}' }, { type: 'response.output_item.done', output_index: 0, item }, completed(item),
  ), check);
  assert.deepEqual([data(result)[3].item.output, data(result)[4].response.output[0].output], ['his [SSN]', 'his [SSN]']);
  assert.equal(check.windows.filter(({ text }) => text.includes(secret)).length, 1);
  assert.doesNotMatch(result.text, /6789/);
});

test('numbers have no gap, whatever is held, added or left out', () => {
  const delta = (output_index: number, piece: string): JsonObject => ({ type: 'response.output_text.delta', item_id: `i${output_index}`, output_index, content_index: 0, delta: piece, logprobs: [], obfuscation: 'x' });
  const result = play(delta(0, 'a 1'), delta(1, '1'), delta(0, '2'), delta(1, '2'), delta(0, '3'), { type: 'response.output_text.done', item_id: 'i0', output_index: 0, content_index: 0, text: 'a 123' }, { type: 'error', message: 'x' });
  assert.deepEqual(numbersOf(result), data(result).map((_, number) => number));
  assert.deepEqual(data(result).map(({ type, delta: piece, output_index }) => [type.split('.').at(-1), piece, output_index]), [['delta', 'a ', 0], ['delta', '123', 0], ['done', undefined, 0], ['delta', '12', 1], ['error', undefined, undefined]]);
  assert.equal(result.stage.nextSequence, 5);
  // The added ones have no padding of others.
  assert.equal(data(result)[1].obfuscation, undefined);
});

test('an event without a number does not disturb the others', () => {
  const delta = (piece: string): JsonObject => ({ type: 'response.output_text.delta', ...place, content_index: 0, delta: piece });
  const events = [...numbered(delta('a 12'), delta('3')), { event: 'error', data: '{"type":"error","message":"x"}' }];
  const result = run('responses', events, redactor());
  assert.deepEqual(data(result).map(({ delta: piece, sequence_number: number }) => [piece, number]), [['a ', 0], ['123', 1], [undefined, undefined]]);
  assert.equal(result.stage.nextSequence, 2);
});

test('a stream that breaks off is numbered to its end', () => {
  const result = play({ type: 'response.output_text.delta', ...place, content_index: 0, delta: 'a' }, { type: 'response.output_text.delta', ...place, content_index: 0, delta: '12' });
  assert.deepEqual(data(result).map(({ delta, sequence_number: number }) => [delta, number]), [['a', 0], ['12', 1]]);
  assert.equal(result.stage.nextSequence, 2);
});

test('what is held goes before the item that it is part of is done, when its own end is not told', () => {
  const result = play({ type: 'response.output_text.delta', ...place, content_index: 0, delta: 'a 12' }, { type: 'response.output_item.done', output_index: 0, item: { id: 'i', type: 'message', content: [] } });
  assert.deepEqual(data(result).map(({ type, delta }) => [type, delta]), [['response.output_text.delta', 'a '], ['response.output_text.delta', '12'], ['response.output_item.done', undefined]]);
  assert.deepEqual(numbersOf(result), [0, 1, 2]);
});

test('logprobs are gone from deltas and copies alike', () => {
  const words = logprobsOf('x').content as JsonObject[];
  const part = { type: 'output_text', text: 'x', annotations: [], logprobs: words };
  const item = { id: 'i', type: 'message', content: [part] };
  const result = play(
    { type: 'response.output_text.delta', ...place, content_index: 0, delta: 'x', logprobs: words }, { type: 'response.output_text.done', ...place, content_index: 0, text: 'x', logprobs: words },
    { type: 'response.content_part.done', ...place, content_index: 0, part }, { type: 'response.output_item.done', output_index: 0, item }, completed(item),
  );
  assert.doesNotMatch(result.text, /"token"/);
  assert.deepEqual(data(result)[3].item.content[0], { ...part, logprobs: [] });
});

test('the joined text of the whole response shows the edits', () => {
  const item = { id: 'i', type: 'message', content: [{ type: 'output_text', text: `a ${secret}` }, { type: 'output_text', text: 'b' }] };
  const { type, response } = completed(item);
  const result = play({ type: type ?? null, response: { ...(response as JsonObject), output_text: `a ${secret}b` } });
  assert.equal(data(result)[0].response.output_text, 'a [SSN]b');
});

test('a signature of an edited thought is left out; what the provider encrypted stays', () => {
  const item = (content: string, text: string): JsonObject => ({ id: 'i', type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: content });
  const signed = seal({ type: 'signature', signature: 's' });
  const kept = (content: string, text: string): unknown => data(play({ type: 'response.output_item.done', output_index: 0, item: item(content, text) }))[0].item.encrypted_content;
  assert.deepEqual([kept(signed, 'a'), kept(signed, `a ${secret}`), kept('gAAA', `a ${secret}`)], [signed, undefined, 'gAAA']);
});

test('objects of the stage before are never written to', () => {
  const events = eventsOf('responses', [{ thinking: secret }, { text: `a ${secret} 1` }, { tool: 0, args: `{"a":"${secret}"}` }]).map(({ event, data: text }) => ({ event, data: JSON.parse(text as string) as JsonObject }));
  const before = JSON.stringify(events);
  const freeze = (value: unknown): void => { if (typeof value === 'object' && value !== null) { Object.freeze(value); Object.values(value).forEach(freeze); } };
  freeze(events);
  const feed = { push: () => {}, end: (out: { write(event: AnswerEvent): void }) => { for (const event of events) out.write(event); } };
  const result = run('responses', [], redactor(), { first: feed });
  assert.deepEqual(checkResponsesEvents(result.events), []);
  assert.doesNotMatch(result.text, /6789/);
  assert.equal(JSON.stringify(events), before);
});

test('events of a response without an edit stay as they are, all kinds of items', () => {
  const events = numbered(
    { type: 'response.output_item.added', output_index: 0, item: { id: 'i', type: 'web_search_call', status: 'in_progress' } }, { type: 'response.web_search_call.searching', ...place },
    { type: 'response.output_item.done', output_index: 0, item: { id: 'i', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } } },
    { type: 'response.image_generation_call.partial_image', ...place, partial_image_b64: 'AAAA' }, completed({ id: 'i', type: 'mcp_call', arguments: '{}', output: 'x' }),
  );
  assert.equal(run('responses', events, redactor()).text, bytesOf(events));
});
