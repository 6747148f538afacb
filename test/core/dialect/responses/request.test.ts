import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChatExtension, Json, JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../../../../core/dialect/context.js';
import { seal } from '../../../../core/dialect/responses/reasoning.js';
import { responsesToChat } from '../../../../core/dialect/responses/request.js';

class Refused extends Error {
  constructor(readonly param: string, readonly reason: string) {
    super(`${param}: ${reason}`);
  }
}

interface Recorded extends TranslateContext {
  readonly reported: string[];
}

function contextOf(accepts: readonly ChatExtension[] = []): Recorded {
  const reported: string[] = [];
  return {
    reported,
    accepts: new Set(accepts),
    refuse: (param, reason) => { throw new Refused(param, reason); },
    omit: (param, reason) => { throw new Refused(param, reason); },
    report: (param) => { reported.push(param); },
  };
}

const messagesOf = (input: Json, options: { accepts?: readonly ChatExtension[]; history?: readonly Json[] } = {}): Json =>
  responsesToChat({ model: 'm', input }, options.history ?? [], contextOf(options.accepts)).messages as Json;

const chatOf = (members: JsonObject): { chat: JsonObject; reported: string[] } => {
  const context = contextOf();
  const { messages: _messages, model: _model, ...chat } = responsesToChat({ model: 'm', input: 'hi', ...members }, [], context);
  return { chat, reported: context.reported };
};

const user = { role: 'user', content: 'hi' };
const call = (id: string, name = 'f', args = '{}'): JsonObject => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args, status: 'completed' });
const output = (id: string, text: Json = 'ok'): JsonObject => ({ type: 'function_call_output', call_id: id, output: text });
const chatCall = (id: string, name = 'f', args = '{}'): JsonObject => ({ id, type: 'function', function: { name, arguments: args } });

describe('the input of a responses request', () => {
  const cases: readonly (readonly [what: string, input: Json, messages: Json])[] = [
    ['a text', 'hi', [user]],
    ['an easy message', [{ role: 'user', content: 'hi' }], [user]],
    ['a message with one text part', [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }], [user]],
    ['developer and system messages', [{ role: 'developer', content: 'a' }, { role: 'system', content: 'b' }, user], [{ role: 'system', content: 'a' }, { role: 'system', content: 'b' }, user]],
    ['every kind of part', [{ role: 'user', content: [
      { type: 'input_text', text: 'look' }, { type: 'input_image', image_url: 'https://x/y.png', detail: 'low' }, { type: 'input_image', file_id: 'file_1' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' }, { type: 'input_file', file_url: 'https://x/a.pdf' }, { type: 'input_file', file_id: 'file_2' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
    ] }], [{ role: 'user', content: [
      { type: 'text', text: 'look' }, { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } }, { type: 'file', file: { file_id: 'file_1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } }, { type: 'file', file: { file_url: 'https://x/a.pdf' } }, { type: 'file', file: { file_id: 'file_2' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
    ] }]],
    ['an output message', [user, { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'a', annotations: [] }, { type: 'output_text', text: 'b', annotations: [] }] }, user],
      [user, { role: 'assistant', content: 'ab' }, user]],
    ['a refusal', [user, { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }, user], [user, { role: 'assistant', content: null, refusal: 'no' }, user]],
    ['parallel calls in one message', [user, call('a'), call('b', 'g', '{"x":1}'), output('a'), output('b', 'no')], [user,
      { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b', 'g', '{"x":1}')] },
      { role: 'tool', tool_call_id: 'a', content: 'ok' }, { role: 'tool', tool_call_id: 'b', content: 'no' }]],
    ['text before and behind calls in the same message', [user, { role: 'assistant', content: 'I look.' }, call('a'), { role: 'assistant', content: 'Wait.' }, output('a')], [user,
      { role: 'assistant', content: 'I look.\n\nWait.', tool_calls: [chatCall('a')] }, { role: 'tool', tool_call_id: 'a', content: 'ok' }]],
    ['calls one after another', [user, call('a'), output('a'), call('b'), output('b')], [user,
      { role: 'assistant', content: null, tool_calls: [chatCall('a')] }, { role: 'tool', tool_call_id: 'a', content: 'ok' },
      { role: 'assistant', content: null, tool_calls: [chatCall('b')] }, { role: 'tool', tool_call_id: 'b', content: 'ok' }]],
    ['images of tools behind all of their messages', [user, call('a'), call('b'), output('a', [{ type: 'input_text', text: 'here' }, { type: 'input_image', image_url: 'https://x/a.png' }]), output('b'), call('c'), output('c')], [user,
      { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b')] }, { role: 'tool', tool_call_id: 'a', content: 'here' }, { role: 'tool', tool_call_id: 'b', content: 'ok' },
      { role: 'user', content: [{ type: 'text', text: 'Output of the tool call a:' }, { type: 'image_url', image_url: { url: 'https://x/a.png' } }] },
      { role: 'assistant', content: null, tool_calls: [chatCall('c')] }, { role: 'tool', tool_call_id: 'c', content: 'ok' }]],
    ['an output of nothing but an image', [user, call('a'), output('a', [{ type: 'input_image', image_url: 'https://x/a.png' }])], [user,
      { role: 'assistant', content: null, tool_calls: [chatCall('a')] }, { role: 'tool', tool_call_id: 'a', content: 'The output follows in the next message.' },
      { role: 'user', content: [{ type: 'text', text: 'Output of the tool call a:' }, { type: 'image_url', image_url: { url: 'https://x/a.png' } }] }]],
    ['outputs that come late', [user, call('a'), call('b'), output('a'), user, output('b')], [user,
      { role: 'assistant', content: null, tool_calls: [chatCall('a'), chatCall('b')] }, { role: 'tool', tool_call_id: 'a', content: 'ok' }, { role: 'tool', tool_call_id: 'b', content: 'ok' }, user]],
    ['reasoning of others', [user, { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAAA' }, { role: 'assistant', content: 'a' }, user], [user, { role: 'assistant', content: 'a' }, user]],
    ['an empty message of the assistant', [user, { role: 'assistant', content: '' }, user], [user, user]],
  ];
  for (const [what, input, messages] of cases) test(`becomes messages: ${what}`, () => assert.deepEqual(messagesOf(input), messages));

  test('is put behind instructions and history', () => {
    const history = [{ type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'one' }] }, { type: 'message', id: 'msg_2', role: 'assistant', content: [{ type: 'output_text', text: 'two', annotations: [] }] }];
    const chat = responsesToChat({ model: 'm', instructions: 'Be brief.', input: 'hi', previous_response_id: 'resp_1' }, history, contextOf());
    assert.deepEqual(chat, { model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, user] });
    assert.deepEqual(messagesOf([{ type: 'item_reference', id: 'msg_2' }, { id: 'msg_1' }, user], { history }), [{ role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }, user]);
    assert.deepEqual(messagesOf([output('a')], { history: [user, call('a')] }), [user, { role: 'assistant', content: null, tool_calls: [chatCall('a')] }, { role: 'tool', tool_call_id: 'a', content: 'ok' }]);
  });

  test('gives reasoning back to providers that take it', () => {
    const input = [user,
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: seal({ type: 'signature', signature: 'sig' }) },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: seal({ type: 'redacted', data: 'xyz' }) },
      { role: 'assistant', content: 'I look.' },
      { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: seal({ type: 'thought_signature', call_id: 'a', signature: 'before' }) }, call('a'), call('b'),
      { type: 'reasoning', id: 'rs_4', summary: [], encrypted_content: seal({ type: 'thought_signature', call_id: 'b', signature: 'behind' }) },
      output('a'), output('b')];
    const tools = [{ role: 'tool', tool_call_id: 'a', content: 'ok' }, { role: 'tool', tool_call_id: 'b', content: 'ok' }];
    const blocks = [{ type: 'thinking', thinking: 'hm', signature: 'sig' }, { type: 'redacted_thinking', data: 'xyz' }, { type: 'text', text: 'I look.' }];
    assert.deepEqual(messagesOf(input, { accepts: ['thinking'] }), [user, { role: 'assistant', content: 'I look.', content_blocks: blocks, tool_calls: [chatCall('a'), chatCall('b')] }, ...tools]);
    assert.deepEqual(messagesOf(input, { accepts: ['thought_signature'] }), [user,
      { role: 'assistant', content: 'I look.', tool_calls: [{ ...chatCall('a'), thought_signature: 'before' }, { ...chatCall('b'), thought_signature: 'behind' }] }, ...tools]);
    assert.deepEqual(messagesOf(input), [user, { role: 'assistant', content: 'I look.', tool_calls: [chatCall('a'), chatCall('b')] }, ...tools]);
  });

  test('keeps cache marks where they are understood', () => {
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'hi', cache_control: { type: 'ephemeral' } }] }];
    assert.deepEqual(messagesOf(input, { accepts: ['cache_control'] }), [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }]);
    const context = contextOf();
    assert.deepEqual(responsesToChat({ input }, [], context).messages, [user]);
    assert.deepEqual(context.reported, ['cache_control']);
  });
});

describe('the parameters of a responses request', () => {
  const tool = { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true };
  const chatTool = { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } };
  const cases: readonly (readonly [what: string, members: JsonObject, chat: JsonObject, reported?: readonly string[]])[] = [
    ['plain ones', { max_output_tokens: 9, temperature: 0, top_p: 0.5, user: 'u', store: true, metadata: { a: 'b' } }, { max_completion_tokens: 9, temperature: 0, top_p: 0.5, user: 'u' }],
    ['null', { max_output_tokens: null, temperature: null, tools: null, text: null, reasoning: null, include: null, prompt: null, conversation: null, background: null, instructions: null }, {}],
    ['defaults', { background: false, truncation: 'disabled', service_tier: 'auto', tool_choice: 'auto', tools: [], parallel_tool_calls: true, text: { format: { type: 'text' } }, top_logprobs: 0 }, {}],
    ['hints', { safety_identifier: 's', prompt_cache_key: 'k', service_tier: 'flex', truncation: 'auto', max_tool_calls: 3 }, {}, ['safety_identifier', 'prompt_cache_key', 'service_tier', 'truncation', 'max_tool_calls']],
    ['streaming', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    ['tools', { tools: [tool, { type: 'function', name: 'g', parameters: null, strict: null }], parallel_tool_calls: false, tool_choice: 'required' },
      { tools: [chatTool, { type: 'function', function: { name: 'g' } }], parallel_tool_calls: false, tool_choice: 'required' }],
    ['a chosen tool', { tools: [tool], tool_choice: { type: 'function', name: 'f' } }, { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'f' } } }],
    ['allowed tools', { tools: [tool], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] } },
      { tools: [chatTool], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] } } }],
    ['a JSON schema', { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true, description: 'd' }, verbosity: 'low' } },
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true, description: 'd' } }, verbosity: 'low' }],
    ['a JSON object', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
    ['log probabilities', { include: ['message.output_text.logprobs', 'reasoning.encrypted_content'], top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    ['reasoning', { reasoning: { effort: 'high', summary: 'auto' } }, { reasoning_effort: 'high' }],
    ['a detailed summary', { reasoning: { summary: 'detailed' } }, {}, ['reasoning.summary']],
    ['what is not of the dialect', { seed: 1, safe_prompt: true, top_k: 3, thinking: { type: 'enabled' } }, { seed: 1, safe_prompt: true }, ['top_k', 'thinking']],
  ];
  for (const [what, members, expected, expectedReports] of cases) {
    test(`become those of a chat: ${what}`, () => {
      const { chat, reported } = chatOf(members);
      assert.deepEqual(chat, expected);
      assert.deepEqual(reported, expectedReports ?? []);
    });
  }

  test('may be extensions that the provider takes', () => {
    const chat = responsesToChat({ input: 'hi', top_k: 3, thinking: { type: 'enabled', budget_tokens: 1024 } }, [], contextOf(['top_k', 'thinking']));
    assert.deepEqual(chat, { messages: [user], top_k: 3, thinking: { type: 'enabled', budget_tokens: 1024 } });
  });
});

describe('what a chat cannot say', () => {
  const items = ['custom_tool_call', 'local_shell_call', 'computer_call', 'mcp_call', 'mcp_list_tools', 'mcp_approval_request', 'web_search_call', 'file_search_call', 'image_generation_call', 'code_interpreter_call', 'compaction', 'shell_call'];
  const tools = ['web_search', 'web_search_preview', 'file_search', 'computer_use_preview', 'code_interpreter', 'mcp', 'image_generation', 'local_shell', 'shell', 'apply_patch', 'custom', 'tool_search', 'namespace'];
  const cases: readonly (readonly [members: JsonObject, param: string])[] = [
    ...items.map((type): readonly [JsonObject, string] => [{ input: [user, { type, id: 'x' }] }, 'input[1].type']),
    ...tools.map((type): readonly [JsonObject, string] => [{ tools: [{ type: 'function', name: 'f' }, { type, name: 'x' }] }, 'tools[1]']),
    [{ background: true }, 'background'], [{ conversation: 'conv_1' }, 'conversation'], [{ prompt: { id: 'p' } }, 'prompt'], [{ moderation: { model: 'm' } }, 'moderation'],
    [{ messages: [] }, 'messages'], [{ n: 2 }, 'n'], [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ input: [] }, 'input'], [{ input: 3 }, 'input'], [{ input: null }, 'input'], [{ input: [7] }, 'input[0]'], [{ input: [{}] }, 'input[0].type'],
    [{ input: [{ type: 'item_reference', id: 'msg_9' }] }, 'input[0].id'],
    [{ input: [{ role: 'critic', content: 'a' }] }, 'input[0].role'], [{ input: [{ role: 'user' }] }, 'input[0].content'],
    [{ input: [{ role: 'user', content: [{ type: 'input_video' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0]'],
    [{ input: [{ role: 'system', content: [{ type: 'input_text', text: 'a' }, { type: 'input_image', image_url: 'https://x/y.png' }] }] }, 'input[0].content[1].type'],
    [{ input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'https://x/y.png' }] }] }, 'input[0].content[0].type'],
    [{ input: [user, call('a')] }, 'input[1]'], [{ input: [user, output('a')] }, 'input[1].call_id'],
    [{ tool_choice: 'required' }, 'tool_choice'], [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'web_search_preview' } }, 'tool_choice'],
    [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 'x' }] } }, 'tool_choice.tools[0].type'],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type'], [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  ];
  for (const [members, param] of cases) {
    test(`is refused: ${JSON.stringify(members)}`, () => assert.throws(() => chatOf(members), (error) => {
      assert.ok(error instanceof Refused);
      assert.equal(error.param, param);
      assert.notEqual(error.reason, '');
      return true;
    }));
  }
  test('is named', () => assert.throws(() => chatOf({ tools: [{ type: 'web_search' }] }), /web_search/));
});
