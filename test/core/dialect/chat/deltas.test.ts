import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesOf, redactor, run, secret, textsOf, type Run } from '../common/test-streams.js';

const top = { id: 'chatcmpl-1', provider: 'P', object: 'chat.completion.chunk', created: 1, model: 'm', system_fingerprint: 'fp' };
const chunk = (delta: object, more: object = {}, above: object = {}): AnswerEvent =>
  ({ event: undefined, data: JSON.stringify({ ...top, choices: [{ index: 0, delta, finish_reason: null, ...more }], ...above }) });
const stop = chunk({}, { finish_reason: 'stop' });
const done: AnswerEvent = { event: undefined, data: '[DONE]' };
const play = (...events: AnswerEvent[]): Run => run('chat', events, redactor());
const texts = (result: Run): Record<string, string> => textsOf('chat', result.events);
const deltas = (result: Run): JsonObject[] => result.events.map(({ data }) => data.choices[0]?.delta);

describe('chunks', () => {
  test('that were held as a whole are not written, and come in the shape of the others', () => {
    const end = chunk({}, { finish_reason: 'stop' }, { usage: { total_tokens: 1 }, obfuscation: 'abc' });
    const result = play(chunk({ content: 'at 123' }, {}, { usage: null }), chunk({ content: '-45' }, { logprobs: null }, { usage: null, obfuscation: 'abc' }), end, done);
    assert.deepEqual(result.events.map(({ data }) => data), [
      { ...top, choices: [{ index: 0, delta: { content: 'at ' }, finish_reason: null }], usage: null },
      { ...top, choices: [{ index: 0, delta: { content: '123-45' }, logprobs: null, finish_reason: null }], usage: null },
      JSON.parse(end.data as string),
    ]);
  });

  test('that carry anything else go on without the text', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const result = play(
      chunk({ role: 'assistant', content: '1' }), chunk({ content: '2' }, {}, { usage }), chunk({ content: '3' }, { content_filter_results: { hate: { filtered: false } } }),
      chunk({ content: '-' }, {}, { citations: ['x'] }), stop, done,
    );
    assert.deepEqual(deltas(result), [{ role: 'assistant', content: '' }, {}, { content: '' }, {}, { content: '123-' }, {}]);
    assert.deepEqual(result.events[1]?.data.usage, usage);
    assert.deepEqual(result.events[3]?.data.citations, ['x']);
    assert.equal(texts(result).text, '123-');
    // Only the chunk that told of it has the usage.
    assert.equal(result.events.filter(({ data }) => data.usage?.total_tokens === 2).length, 1);
  });

  test('with the last text and the finish reason in one are cut in two only when something was held', () => {
    const whole = [chunk({ role: 'assistant', content: 'a' }), chunk({ content: 'b' }, { finish_reason: 'stop' }), done];
    assert.equal(play(...whole).text, bytesOf(whole));
    const result = play(chunk({ role: 'assistant', content: 'a 123-' }), chunk({ content: '45-6789 b 1' }, { finish_reason: 'length' }), done);
    assert.equal(texts(result).text, 'a [SSN] b 1');
    assert.deepEqual(result.events.map(({ data }) => data.choices[0].finish_reason), [null, null, null, 'length']);
    assert.deepEqual(deltas(result), [{ role: 'assistant', content: 'a ' }, { content: '[SSN] b ' }, { content: '1' }, {}]);
  });

  test('of several choices in one lose only the choice that is held', () => {
    const two = (left: string, right: string): AnswerEvent => ({ event: undefined, data: JSON.stringify({ ...top, choices: [{ index: 0, delta: { content: left }, finish_reason: null }, { index: 1, delta: { content: right }, finish_reason: null }] }) });
    const result = play(two('1', 'a'), two('23', '9'), two('x', '98-7'), two('y', '6-5432'), done);
    assert.deepEqual(texts(result), { text: '123xy', '1 text': 'a[SSN]' });
    assert.deepEqual(result.events.map(({ data }) => data.choices.map(({ index }: JsonObject) => index)), [[1], [0], [0, 1]]);
  });

  test('that tell of an error come after what was held', () => {
    const error: AnswerEvent = { event: undefined, data: '{"error":{"message":"overloaded"}}' };
    const result = play(chunk({ content: 'at 123-4' }), error);
    assert.equal(texts(result).text, 'at 123-4');
    assert.equal(bytesOf([error]), result.text.slice(-bytesOf([error]).length));
  });

  test('that are a whole message are read as one delta', () => {
    const message: AnswerEvent = { event: undefined, data: JSON.stringify({ ...top, choices: [{ index: 0, message: { role: 'assistant', content: `I am ${secret} 12` }, finish_reason: 'stop' }] }) };
    const result = play(message, done);
    assert.doesNotMatch(result.text, /6789/);
    assert.equal(result.events.map(({ data }) => data.choices[0].message?.content ?? data.choices[0].delta?.content ?? '').join(''), 'I am [SSN] 12');
    assert.equal(result.events.at(-1)?.data.choices[0].finish_reason, 'stop');
  });
});

describe('texts in other members', () => {
  const everywhere = (wrap: (text: string) => object, read: (delta: any) => string | undefined): void => {
    const text = `I am ${secret}.`;
    for (let cut = 1; cut < text.length; cut += 1) {
      const result = play(chunk({ role: 'assistant' }), chunk(wrap(text.slice(0, cut))), chunk(wrap(text.slice(cut))), stop, done);
      assert.deepEqual(result.errors, []);
      assert.doesNotMatch(result.text, /6789/);
      assert.equal(deltas(result).map((delta) => read(delta) ?? '').join(''), 'I am [SSN].');
    }
  };

  test('refusal', () => everywhere((refusal) => ({ refusal }), (delta) => delta.refusal));
  test('reasoning_content', () => everywhere((text) => ({ reasoning_content: text }), (delta) => delta.reasoning_content));
  test('reasoning', () => everywhere((reasoning) => ({ reasoning }), (delta) => delta.reasoning));
  test('the old function call', () => everywhere((text) => ({ function_call: { arguments: text } }), (delta) => delta.function_call?.arguments));
  test('the old function call, as JSON', () => {
    const args = `{"a":"${secret}"}`;
    for (let cut = 1; cut < args.length; cut += 1) {
      const result = play(...[args.slice(0, cut), args.slice(cut)].map((text) => chunk({ function_call: { arguments: text } })), stop, done);
      assert.equal(deltas(result).map((delta) => (delta as { function_call?: { arguments: string } }).function_call?.arguments ?? '').join(''), '{"a":"[SSN]"}');
    }
  });
  test('the input of a custom tool', () => everywhere((input) => ({ tool_calls: [{ index: 0, custom: { input } }] }), (delta) => delta.tool_calls?.[0]?.custom.input));
  test('the transcript of audio', () => everywhere((transcript) => ({ audio: { transcript } }), (delta) => delta.audio?.transcript));
  test('content parts', () => everywhere((text) => ({ content: [{ type: 'text', text }] }), (delta) => (typeof delta.content === 'string' ? delta.content : delta.content?.map((part: any) => part.text).join(''))));
  test('thinking parts', () => everywhere((text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }), (delta) => delta.reasoning_content ?? delta.content?.[0]?.thinking[0].text));
  test('reasoning details', () => everywhere((text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] }), (delta) => delta.reasoning_details?.map((detail: any) => detail.text).join('')));
  test('text blocks alone', () => everywhere((text) => ({ content_blocks: [{ index: 2, delta: { text } }] }), (delta) => delta.content_blocks?.[0]?.delta.text));
  test('thinking blocks', () => everywhere((thinking) => ({ content_blocks: [{ index: 1, delta: { thinking } }] }), (delta) => delta.content_blocks?.[0]?.delta.thinking));

  test('content and its copy in a content block show the same', () => {
    const text = `I am ${secret}, 12`;
    for (let cut = 1; cut < text.length; cut += 1) {
      const both = (content: string): AnswerEvent => chunk({ content, content_blocks: [{ index: 0, delta: { text: content } }] });
      const result = play(both(text.slice(0, cut)), both(text.slice(cut)), stop, done);
      assert.deepEqual(texts(result), { text: 'I am [SSN], 12', 'block 0': 'I am [SSN], 12' });
      for (const delta of deltas(result)) assert.equal((delta.content_blocks as any)?.[0].delta.text ?? '', delta.content ?? '');
    }
  });

  test('text that is in blocks only stays there', () => {
    const result = play(chunk({ content_blocks: [{ index: 2, delta: { text: 'a 12' } }] }), stop, done);
    assert.deepEqual(texts(result), { 'block 2': 'a 12' });
  });

  test('a chunk whose content is in two blocks stays as it is when nothing is edited', () => {
    const events = [chunk({ content: 'a b', content_blocks: [{ index: 0, delta: { text: 'a ' } }, { index: 1, delta: { text: 'b' } }] }), stop, done];
    assert.equal(play(...events).text, bytesOf(events));
  });

  test('a signature comes behind the thought it signs, and not at all when that was edited', () => {
    const thought = (delta: object): object => ({ content_blocks: [{ index: 0, delta }] });
    const kept = play(chunk(thought({ thinking: 'a 12' })), chunk(thought({ signature: 's' })), stop, done);
    assert.deepEqual(deltas(kept), [thought({ thinking: 'a ' }), { content_blocks: [{ index: 0, delta: { thinking: '12' } }, { index: 0, delta: { signature: 's' } }] }, {}]);
    const changed = play(chunk(thought({ thinking: `a ${secret}` })), chunk(thought({ signature: 's' })), stop, done);
    assert.deepEqual(deltas(changed), [thought({ thinking: 'a [SSN]' }), {}]);
    const together = play(chunk(thought({ thinking: `a ${secret} 1`, signature: 's' })), stop, done);
    assert.deepEqual(deltas(together), [thought({ thinking: 'a [SSN] 1' }), {}]);
    const whole = play(chunk({ content_blocks: [{ index: 0, content_block: { type: 'thinking', thinking: `a ${secret}`, signature: 's' } }] }), stop, done);
    assert.deepEqual(deltas(whole)[0], { content_blocks: [{ index: 0, content_block: { type: 'thinking', thinking: 'a [SSN]', signature: '' } }] });
    const detail = play(chunk({ reasoning_details: [{ type: 'reasoning.text', text: `a ${secret}`, signature: 's', index: 0 }] }), stop, done);
    assert.deepEqual(deltas(detail)[0], { reasoning_details: [{ type: 'reasoning.text', text: 'a [SSN]', signature: null, index: 0 }] });
  });

  test('arguments that are an object, and calls without an index', () => {
    const object = [chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: { a: 'b' } } }] }), stop, done];
    assert.equal(play(...object).text, bytesOf(object));
    const result = play(chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: { a: secret, b: [1] } } }] }), stop, done);
    assert.deepEqual((deltas(result)[0]?.tool_calls as any)[0].function, { name: 'f', arguments: '{"a":"[SSN]","b":[1]}' });
    const nameless = play(
      chunk({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":"123-45' } }] }), chunk({ tool_calls: [{ function: { arguments: '-6789"}' } }] }),
      chunk({ tool_calls: [{ id: 'b', type: 'function', function: { name: 'g', arguments: '{"y":"-6789"}' } }] }), stop, done,
    );
    assert.deepEqual(deltas(nameless).flatMap((delta) => (delta.tool_calls as any[] | undefined)?.map((call) => call.function.arguments) ?? []), ['{"x":"', '[SSN]"}', '{"y":"-6789"}']);
  });

  test('what goes on behind a finish reason is read, too', () => {
    const check = redactor();
    const result = run('chat', [chunk({ content: 'a' }), stop, chunk({ content: `b ${secret} 1` }), done], check);
    assert.equal(texts(result).text, 'ab [SSN] 1');
    assert.deepEqual([...new Set(check.windows.map(({ channel }) => channel))], ['choices.0.content', 'choices.0.content+1']);
  });
});
