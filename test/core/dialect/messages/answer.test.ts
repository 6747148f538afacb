import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@gateway/plugin-sdk';
import { chatToMessages } from '../../../../core/dialect/messages/answer.js';
import { readSignature } from '../../../../core/dialect/messages/signature.js';

const answer = (message: object, choice: object = {}, top: object = {}): Record<string, any> => chatToMessages({
  id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop', ...choice }], ...top,
} as unknown as JsonObject, { id: '0a-1b', model: 'asked' });

describe('messages answer', () => {
  it('is a whole message', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107, prompt_tokens_details: { cached_tokens: 60 }, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 };
    assert.deepEqual(answer({ content: 'hi' }, {}, { usage }), {
      id: 'msg_0a1b', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn', stop_sequence: null,
      usage: { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60, output_tokens: 7 },
    });
    assert.equal(answer({}, {}, { model: '' }).model, 'asked');
    assert.deepEqual(answer({ content: 'x' }).usage, { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 });
    assert.equal(answer({}, {}, { usage: { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 5 } } }).usage.input_tokens, 0);
  });

  const call = (id: string, args: unknown, more: object = {}): object => ({ id, type: 'function', function: { name: 'f', arguments: args }, ...more });
  const contents: [string, object, object[]][] = [
    ['nothing', { content: '' }, []],
    ['thinking, text, tools', { content: 'a', content_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'text', text: 'a' }], tool_calls: [call('1', '{"x":1}')] },
      [{ type: 'thinking', thinking: 't', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'text', text: 'a' }, { type: 'tool_use', id: '1', name: 'f', input: { x: 1 } }]],
    ['thinking between texts', { content: 'ab', content_blocks: [{ type: 'text', text: 'a' }, { type: 'thinking', thinking: 't' }, { type: 'text', text: 'b' }] },
      [{ type: 'text', text: 'a' }, { type: 'thinking', thinking: 't', signature: '' }, { type: 'text', text: 'b' }]],
    ['a text that was changed on its way', { content: 'masked', content_blocks: [{ type: 'thinking', thinking: 't' }, { type: 'text', text: 'secret' }] }, [{ type: 'thinking', thinking: 't', signature: '' }, { type: 'text', text: 'masked' }]],
    ['thinking blocks without texts', { content: 'a', content_blocks: [{ type: 'thinking', thinking: 't' }] }, [{ type: 'thinking', thinking: 't', signature: '' }, { type: 'text', text: 'a' }]],
    ['blanks', { content: '\n\n', tool_calls: [call('1', '{}')] }, [{ type: 'tool_use', id: '1', name: 'f', input: {} }]],
    ['plain reasoning', { content: 'a', reasoning_content: 'r' }, [{ type: 'thinking', thinking: 'r', signature: '' }, { type: 'text', text: 'a' }]],
    ['content in parts', { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }, [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }]],
    ['arguments of all sorts', { tool_calls: [call('1', ''), call('2', 'null'), call('3', '{"a'), call('4', '[1]'), call('', { y: 2 }), call('1', '{}')] }, [
      { type: 'tool_use', id: '1', name: 'f', input: {} }, { type: 'tool_use', id: '2', name: 'f', input: {} }, { type: 'tool_use', id: '3', name: 'f', input: { INVALID_JSON: '{"a' } },
      { type: 'tool_use', id: '4', name: 'f', input: { INVALID_JSON: '[1]' } }, { type: 'tool_use', id: 'toolu_0a1b_1', name: 'f', input: { y: 2 } }, { type: 'tool_use', id: 'toolu_0a1b_2', name: 'f', input: {} },
    ]],
    ['a deprecated function call', { function_call: { name: 'f', arguments: '{}' } }, [{ type: 'tool_use', id: 'toolu_0a1b_1', name: 'f', input: {} }]],
  ];
  for (const [name, message, content] of contents) it(name, () => assert.deepEqual(answer(message).content, content));

  const toolCalls = { tool_calls: [call('1', '{}')] };
  const endings: [string, object, object, string][] = [
    ['stop', { content: 'a' }, {}, 'end_turn'], ['length', { content: 'a' }, { finish_reason: 'length' }, 'max_tokens'],
    ['length for want of context', { content: 'a' }, { finish_reason: 'length', native_finish_reason: 'model_context_window_exceeded' }, 'model_context_window_exceeded'],
    ['tool calls', toolCalls, { finish_reason: 'tool_calls' }, 'tool_use'], ['stop beside tool calls', toolCalls, { finish_reason: 'stop' }, 'tool_use'],
    ['cut-off tool calls', toolCalls, { finish_reason: 'length' }, 'max_tokens'], ['tool calls without any', { content: 'a' }, { finish_reason: 'tool_calls', native_finish_reason: 'tool_use' }, 'end_turn'],
    ['content filter', {}, { finish_reason: 'content_filter' }, 'refusal'], ['refusal', { refusal: 'no' }, {}, 'refusal'],
    ['pause', { content: 'a' }, { native_finish_reason: 'pause_turn' }, 'pause_turn'], ['a foreign word', { content: 'a' }, { native_finish_reason: 'STOP' }, 'end_turn'],
  ];
  for (const [name, message, choice, reason] of endings) it(`ends with ${reason} for ${name}`, () => assert.equal(answer(message, choice).stop_reason, reason));

  it('tells the stop sequence, and the refusal', () => {
    const stopped = answer({ content: 'a' }, { stop_sequence: 'END' });
    assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', 'END']);
    const refused = answer({ refusal: 'no' });
    assert.deepEqual(refused.content, [{ type: 'text', text: 'no' }]);
    assert.deepEqual(refused.stop_details, { type: 'refusal', category: null, explanation: 'no' });
  });

  it('puts thought signatures before their calls', () => {
    const { content } = answer({ tool_calls: [call('1', '{}', { thought_signature: 's' })] });
    assert.deepEqual(content.map((block: { type: string }) => block.type), ['redacted_thinking', 'tool_use']);
    assert.deepEqual(readSignature(content[0].data), { id: '1', signature: 's' });
  });

  it('throws on what is not a chat completion', () => assert.throws(() => chatToMessages({ ok: true }, { id: 'x', model: 'm' }), /no chat completion/));
});
