import type { Json, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { dialects } from '../../../../core/dialect/dialects.js';

const envelope = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({ ...envelope, choices: [{ index: 0, delta, finish_reason: finish, ...more }] });
const stop = chunk({}, 'stop');

function assembled(...chunks: readonly (JsonObject | string)[]): any {
  const whole = assembler(dialects.chat);
  for (const data of chunks) whole.push({ event: undefined, data });
  return whole.answer();
}
const messageOf = (...deltas: readonly JsonObject[]): any => assembled(...deltas.map((delta) => chunk(delta)), stop)?.choices[0].message;

describe('a chat completion out of chunks', () => {
  test('is what OpenAI answers without a stream', () => {
    assert.deepEqual(
      assembled(
        chunk({ role: 'assistant', content: '', refusal: null }, null, { logprobs: null }), chunk({ content: 'Hel' }), JSON.stringify(chunk({ content: 'lo' })), stop,
        { ...envelope, service_tier: 'default', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }, '[DONE]',
      ),
      {
        id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', service_tier: 'default',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, logprobs: null, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      },
    );
  });

  test('has the choices in their order, whichever came first', () => {
    const of = (index: number, delta: JsonObject, finish: string | null): JsonObject => ({ ...envelope, choices: [{ index, delta, finish_reason: finish }] });
    const answer = assembled(of(1, { content: 'b' }, null), of(0, { content: 'a' }, null), of(1, {}, 'length'), of(0, { content: 'c' }, 'stop'));
    assert.deepEqual(answer.choices.map(({ message, finish_reason: finish }: any) => [message.content, finish]), [['ac', 'stop'], ['b', 'length']]);
  });

  test('has no answer before each choice has its finish reason', () => {
    assert.equal(assembled(), null);
    assert.equal(assembled('[DONE]'), null);
    assert.equal(assembled(chunk({ content: 'a' }), '[DONE]'), null);
    assert.equal(assembled(stop, { ...envelope, choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }] }), null);
    assert.equal(assembled({ ...envelope, choices: [] }), null);
  });

  for (const [what, broken] of [
    ['an error', { error: { message: 'overloaded' } }], ['an error as a text', { error: 'overloaded' }], ['an error beside choices', { ...stop, error: { message: 'm' } }],
    ['a finish reason that says so', chunk({}, 'error')], ['the object that says so', { object: 'error', message: 'm' }], ['what Groq says', { ...envelope, x_groq: { error: 'm' } }],
    ['data that is not JSON', '{"choices":'], ['data that is not an object', '3'],
  ] as const) {
    test(`has no answer after ${what}, and none later`, () => {
      assert.equal(assembled(chunk({ content: 'a' }), broken), null);
      assert.equal(assembled(chunk({ content: 'a' }), stop, broken), null);
      assert.equal(assembled(chunk({ content: 'a' }), broken, stop), null);
    });
  }

  test('has no answer after an event named error', () => {
    const whole = assembler(dialects.chat);
    whole.push({ event: undefined, data: stop });
    assert.notEqual(whole.answer(), null);
    whole.push({ event: 'error', data: 'of any form' });
    assert.equal(whole.answer(), null);
  });

  test('takes no harm from blanks, and from blanks around the last event', () => {
    assert.equal(assembled('', ' ', chunk({ content: 'a' }), '\n', stop, ' [DONE] ').choices[0].message.content, 'a');
    assert.equal(assembled(chunk({ content: 'a' }), stop, ' [NOT DONE] '), null);
  });

  test('takes an error of null for none', () => assert.equal(assembled({ ...stop, error: null }).choices[0].finish_reason, 'stop'));

  test('keeps empty text and no text apart, but not beside tool calls', () => {
    assert.equal(messageOf({ role: 'assistant', content: '' }).content, '');
    assert.equal(messageOf({ role: 'assistant', content: null }).content, null);
    assert.equal(messageOf({ role: 'assistant' }).content, null);
    assert.equal(messageOf({ content: '', tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }).content, null);
    assert.equal(messageOf({ content: '' }, { refusal: 'no' }).content, null);
    assert.equal(messageOf({ content: '' }, { audio: { id: 'a' } }).content, null);
    assert.equal(messageOf({ content: '' }, { function_call: { name: 'f' } }).content, null);
  });

  test('takes the text of content that is a list', () => assert.equal(messageOf({ content: [{ type: 'text', text: 'a' }, { type: 'image' }] }, { content: 'b' }).content, 'ab'));

  test('puts tool calls together, in turns as well', () => {
    const calls = (...list: readonly JsonObject[]): JsonObject => ({ tool_calls: list });
    assert.deepEqual(
      messageOf(
        calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }), calls({ index: 1, id: 'b', type: 'custom', custom: { name: 'g', input: 'x' } }),
        calls({ index: 0, function: { arguments: '{"q":' } }, { index: 1, custom: { input: 'y' } }), calls({ index: 0, function: { arguments: '1}' }, thought_signature: 's' }),
      ).tool_calls,
      [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"q":1}' }, thought_signature: 's' }, { id: 'b', type: 'custom', custom: { name: 'g', input: 'xy' } }],
    );
  });

  for (const [what, deltas] of [
    ['the same index for all', [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }, { index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }]],
    ['no index', [{ id: 'a', function: { name: 'f', arguments: '{' } }, { id: 'a', function: { arguments: '}' } }, { id: 'b', function: { name: 'g', arguments: '{}' } }]],
    ['the name again in every delta', [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }, { index: 0, id: 'a', function: { name: 'f', arguments: '}' } }, { index: 1, id: 'b', function: { name: 'g', arguments: {} } }]],
  ] as const) {
    test(`knows tool calls apart that have ${what}`, () => {
      const given: readonly Json[] = deltas;
      assert.deepEqual(messageOf(...given.map((call) => ({ tool_calls: [call] }))).tool_calls, [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }, { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ]);
    });
  }

  test('knows tool calls apart that have neither index nor id, by where the arguments end', () => {
    const call = (name: string, text: string): JsonObject => ({ tool_calls: [{ function: { name, arguments: text } }] });
    assert.deepEqual(messageOf(call('f', '{"a":'), call('f', '1}'), call('f', '{}')).tool_calls, [
      { type: 'function', function: { name: 'f', arguments: '{"a":1}' } }, { type: 'function', function: { name: 'f', arguments: '{}' } },
    ]);
  });

  test('puts thinking together, and leaves blocks out that say no more than the content', () => {
    assert.deepEqual(messageOf({ content: 'a', content_blocks: [{ index: 0, delta: { text: 'a' } }] }, { content: 'b', content_blocks: [{ index: 1, delta: { text: 'b' } }] }).content_blocks, undefined);
    assert.deepEqual(
      messageOf(
        { content_blocks: [{ index: 0, delta: { thinking: 'h' } }] }, { content_blocks: [{ index: 0, delta: { thinking: 'm' } }] }, { content_blocks: [{ index: 0, delta: { signature: 's' } }] },
        { content_blocks: [{ index: 1, content_block: { type: 'redacted_thinking', data: 'x' } }] }, { content: 'a', content_blocks: [{ index: 2, delta: { text: 'a' } }] },
      ).content_blocks,
      [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'redacted_thinking', data: 'x' }, { type: 'text', text: 'a' }],
    );
  });

  test('puts reasoning, annotations, audio, a function call and log probabilities together', () => {
    const answer = assembled(
      chunk({ role: 'assistant', reasoning_content: 'h', annotations: [1], audio: { id: 'a', transcript: 'x' }, function_call: { name: 'f', arguments: '' } }, null, { logprobs: { content: [1], refusal: null } }),
      chunk({ reasoning_content: 'm', annotations: [2], audio: { id: 'a', data: 'AA' }, function_call: { arguments: '{' } }, null, { logprobs: { content: [2, 3], refusal: null } }),
      chunk({ audio: { transcript: 'y', data: 'BB', expires_at: 3 }, function_call: { arguments: '}' } }), stop,
    );
    assert.deepEqual(answer.choices[0], {
      index: 0, finish_reason: 'stop', logprobs: { content: [1, 2, 3], refusal: null },
      message: {
        role: 'assistant', content: null, reasoning_content: 'hm', annotations: [1, 2], audio: { id: 'a', transcript: 'xy', data: 'AABB', expires_at: 3 }, function_call: { name: 'f', arguments: '{}' },
      },
    });
  });

  test('puts the entries of reasoning_details together by type and index', () => {
    const text = (index: number, piece: string): JsonObject => ({ type: 'reasoning.text', text: piece, index, format: 'f' });
    assert.deepEqual(messageOf(
      { reasoning: 'h', reasoning_details: [text(0, 'h')] }, { reasoning: 'm', reasoning_details: [text(0, 'm')] }, { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0 }] }, { reasoning_details: [text(1, 'a'), text(1, 'b'), { type: 'of no index' }] },
    ), {
      role: 'assistant', content: null, reasoning: 'hm',
      reasoning_details: [{ ...text(0, 'hm'), signature: 's' }, { type: 'reasoning.encrypted', data: 'x', index: 0 }, text(1, 'a'), text(1, 'b'), { type: 'of no index' }],
    });
    assert.equal(messageOf({ reasoning_details: null }).reasoning_details, null);
  });

  test('keeps what it does not know: texts of deltas grow, the last of everything else wins, objects are put together', () => {
    const answer = assembled(
      { ...chunk({ notes: 'a', mood: 1, refs: [1], meta: { a: 1 } }, null, { native_finish_reason: null, filter: { a: 1 } }), citations: [1], hook_results: { before_request_hooks: [] } },
      { ...chunk({ notes: 'b', mood: 2, refs: [2], meta: { b: 2 } }, 'stop', { native_finish_reason: 'end_turn', filter: {} }), citations: [1, 2], obfuscation: 'xyz', provider: 'p' },
      { hook_results: { after_request_hooks: [] } },
    );
    const { choices: [{ message: { role, content, ...message }, native_finish_reason: native, filter }], citations, hook_results: hooks, provider, obfuscation } = answer;
    assert.deepEqual({ message, native, filter, citations, hooks, provider, obfuscation }, {
      message: { notes: 'ab', mood: 2, refs: [1, 2], meta: { a: 1, b: 2 } }, native: 'end_turn', filter: { a: 1 }, citations: [1, 2],
      hooks: { before_request_hooks: [], after_request_hooks: [] }, provider: 'p', obfuscation: undefined,
    });
  });

  test('is not misled by a first chunk without a choice, as Azure has it', () => {
    const answer = assembled({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [1] }, chunk({ role: 'assistant', content: 'a' }), stop);
    assert.deepEqual([answer.id, answer.object, answer.created, answer.model, answer.prompt_filter_results], ['chatcmpl-1', 'chat.completion', 1, 'm', [1]]);
  });

  test('takes the usage that Groq tells beside, and that of every chunk for the newest', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    assert.deepEqual(assembled(chunk({ content: 'a' }), { ...stop, x_groq: { id: 'r', usage } }).usage, usage);
    assert.deepEqual(assembled({ ...chunk({ content: 'a' }), usage: { ...usage, total_tokens: 1 } }, { ...stop, usage }, { ...envelope, choices: [], usage: null }).usage, usage);
  });

  test('takes a whole message for the last delta', () => {
    assert.equal(assembled({ ...envelope, choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }] }).choices[0].message.content, 'whole');
  });

  test('takes __proto__ for a name like any other', () => {
    const answer = assembled(JSON.stringify(chunk({ content: 'a' })).replace('"content":"a"', '"content":"a","__proto__":{"polluted":true}'), stop);
    const { message } = answer.choices[0];
    assert.equal(message.polluted, undefined);
    assert.deepEqual(Object.keys(message), ['role', 'content', '__proto__']);
  });

  test('changes nothing of what it is given', () => {
    const given = [chunk({ content: 'a', meta: { a: 1 }, annotations: [1] }, null, { logprobs: { content: [1] } }), chunk({ meta: { b: 1 }, annotations: [2] }, 'stop', { logprobs: { content: [2] } })];
    const before = structuredClone(given);
    assembled(...given);
    assert.deepEqual(given, before);
  });
});

describe('the bound of what is put together', () => {
  const isKept = (bytesMax: number, ...chunks: readonly JsonObject[]): boolean => {
    const whole = assembler(dialects.chat, bytesMax);
    for (const data of chunks) whole.push({ event: undefined, data });
    return whole.answer() !== null;
  };
  const text = (length: number): JsonObject => chunk({ content: 'ä'.repeat(length / 2) });

  test('is about the length of the answer in bytes', () => {
    assert.ok(isKept(10_000, text(9_000), stop));
    assert.ok(!isKept(10_000, text(10_002), stop));
    assert.ok(!isKept(10_000, text(6_000), text(6_000), stop));
  });

  test('counts whatever grows', () => {
    const long = 'x'.repeat(2_000);
    for (const delta of [
      { refusal: long }, { annotations: [{ url: long }] }, { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: long } }] }, { content_blocks: [{ index: 0, delta: { thinking: long } }] },
      { reasoning_details: [{ type: 'reasoning.text', index: 0, text: long }] }, { audio: { data: long } }, { function_call: { arguments: long } }, { unknown: long }, { more: { of: [long] } },
    ] satisfies JsonObject[]) {
      assert.ok(isKept(10_000, chunk(delta), stop), JSON.stringify(delta).slice(0, 40));
      const again = Array.from({ length: 6 }, (_, index) => chunk(JSON.parse(JSON.stringify(delta).replace('"more"', `"more${index}"`))));
      assert.ok(!isKept(10_000, ...again, stop), JSON.stringify(delta).slice(0, 40));
    }
    assert.ok(!isKept(10_000, chunk({}, null, { logprobs: { content: Array.from({ length: 1_000 }, () => ({ token: 'x' })) } }), stop));
    assert.ok(!isKept(10_000, ...Array.from({ length: 1_000 }, (_, index) => ({ ...envelope, choices: [{ index, delta: {}, finish_reason: 'stop' }] }))));
    assert.ok(!isKept(10_000, ...Array.from({ length: 1_000 }, (_, index) => chunk({ tool_calls: [{ index }] })), stop));
  });

  test('does not count what is told again and again', () => {
    const citations = ['https://example.com/'.repeat(40)];
    assert.ok(isKept(10_000, ...Array.from({ length: 100 }, () => ({ ...chunk({ content: 'a' }), citations: [...citations], usage: { prompt_tokens: 1 } })), stop));
  });

  test('refuses what is nested too deep to be written again', () => {
    const deep: JsonObject = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    assert.ok(!isKept(1_000_000, chunk({ deep }), stop));
    assert.ok(!isKept(1_000_000, { ...chunk({ deep }), error: 'at once' }, stop));
  });
});
