import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatExtension, JsonObject } from '@gateway/plugin-sdk';
import { messagesToChat } from '../../../../core/dialect/messages/request.js';
import { signatureBlock } from '../../../../core/dialect/messages/signature.js';

const all: readonly ChatExtension[] = ['thinking', 'cache_control', 'top_k', 'thought_signature', 'is_error'];
const user = [{ role: 'user', content: 'hi' }];
const mark = { type: 'ephemeral' };

class Refusal extends Error {
  constructor(readonly param: string, reason: string) {
    super(reason);
  }
}

function translate(body: object, accepts: readonly ChatExtension[] = []): { chat: Record<string, any>; reported: string[] } {
  const reported: string[] = [];
  const copy = structuredClone(body);
  const chat = messagesToChat(body as JsonObject, {
    accepts: new Set(accepts),
    refuse: (param, reason) => { throw new Refusal(param, reason); },
    omit: (param, reason) => { throw new Refusal(param, reason); },
    report: (param) => { reported.push(param); },
  });
  assert.deepEqual(body, copy, 'the client\'s body is as it was');
  return { chat, reported };
}

const refusalOf = (body: object, accepts: readonly ChatExtension[] = []): Refusal => {
  try {
    translate(body, accepts);
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
  return assert.fail('was not refused');
};

describe('messages request', () => {
  const members: { name: string; body: object; accepts?: readonly ChatExtension[]; chat: object; reported?: string[] }[] = [
    { name: 'max_tokens', body: { max_tokens: 5 }, chat: { max_completion_tokens: 5 } },
    { name: 'sampling', body: { temperature: 0.5, top_p: 0.9, top_k: 4 }, chat: { temperature: 0.5, top_p: 0.9 }, reported: ['top_k'] },
    { name: 'top_k where it is taken', body: { top_k: 4 }, accepts: ['top_k'], chat: { top_k: 4 } },
    { name: 'stop_sequences', body: { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, chat: { stop: ['a', 'b', 'c', 'd', 'e'] } },
    { name: 'no stop_sequences', body: { stop_sequences: [] }, chat: {} },
    { name: 'stream', body: { stream: true }, chat: { stream: true, stream_options: { include_usage: true } } },
    { name: 'stream false', body: { stream: false }, chat: {} },
    { name: 'thinking', body: { thinking: { type: 'enabled', budget_tokens: 2000 } }, accepts: all, chat: { thinking: { type: 'enabled', budget_tokens: 2000 } } },
    { name: 'thinking elsewhere', body: { thinking: { type: 'adaptive' } }, chat: {}, reported: ['thinking'] },
    { name: 'no thinking elsewhere', body: { thinking: { type: 'disabled' } }, chat: {} },
    { name: 'effort', body: { output_config: { effort: 'high', task_budget: {} } }, chat: { reasoning_effort: 'high' }, reported: ['output_config.task_budget'] },
    { name: 'metadata', body: { metadata: { user_id: 'u', team: 't' } }, chat: { user: 'u' }, reported: ['metadata.team'] },
    { name: 'defaults', body: { service_tier: 'auto', speed: 'standard', container: null, mcp_servers: [], cache_control: null, inference_geo: null }, chat: {} },
    { name: 'hints', body: { service_tier: 'standard_only', speed: 'fast', context_management: {}, unheard: 1 }, chat: {}, reported: ['service_tier', 'speed', 'context_management', 'unheard'] },
    {
      name: 'a closed format is strict', body: { output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false } } } },
      chat: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, strict: true } } },
    },
    {
      name: 'a format with optional members is not', body: { output_format: { type: 'json_schema', schema: { type: 'object', title: 'Answer_1', properties: { a: { type: 'string' } }, additionalProperties: false } } },
      chat: { response_format: { type: 'json_schema', json_schema: { name: 'Answer_1', schema: { type: 'object', title: 'Answer_1', properties: { a: { type: 'string' } }, additionalProperties: false } } } },
    },
    { name: 'a choice without tools', body: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, chat: {} },
  ];
  for (const { name, body, accepts, chat, reported } of members) {
    it(name, () => {
      const made = translate({ model: 'm', messages: user, ...body }, accepts);
      assert.deepEqual(made.chat, { model: 'm', messages: user, ...chat });
      assert.deepEqual(made.reported, reported ?? []);
    });
  }

  it('translates tools and the choice among them', () => {
    const schema = { type: 'object', properties: {} };
    const tools = [{ name: 'f', description: 'd', input_schema: schema, strict: true, cache_control: mark, defer_loading: true }, { type: 'custom', name: 'g', input_schema: schema, allowed_callers: ['direct'] }];
    const made = translate({ messages: user, tools, tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } }, all);
    assert.deepEqual(made.chat.tools, [
      { type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true }, cache_control: mark }, { type: 'function', function: { name: 'g', parameters: schema } },
    ]);
    assert.deepEqual(made.chat.tool_choice, { type: 'function', function: { name: 'f' } });
    assert.equal(made.chat.parallel_tool_calls, false);
    assert.deepEqual(made.reported, ['tools.defer_loading']);
    for (const [type, word] of [['auto', 'auto'], ['any', 'required'], ['none', 'none']]) assert.equal(translate({ messages: user, tools, tool_choice: { type } }).chat.tool_choice, word);
  });

  const conversations: { name: string; body: object; accepts?: readonly ChatExtension[]; messages: object[]; reported?: string[] }[] = [
    { name: 'system text', body: { system: 's', messages: user }, messages: [{ role: 'system', content: 's' }, ...user] },
    { name: 'system blocks', body: { system: [{ type: 'text', text: 'a', cache_control: mark }, { type: 'text', text: 'b' }], messages: user }, messages: [{ role: 'system', content: 'a\nb' }, ...user], reported: ['cache_control'] },
    { name: 'system blocks with marks', body: { system: [{ type: 'text', text: 'a', cache_control: mark }], messages: user }, accepts: all, messages: [{ role: 'system', content: [{ type: 'text', text: 'a', cache_control: mark }] }, ...user] },
    { name: 'system between turns', body: { messages: [...user, { role: 'system', content: 's' }] }, messages: [...user, { role: 'system', content: 's' }] },
    { name: 'a mark on the whole request', body: { cache_control: mark, messages: user }, accepts: all, messages: [{ ...user[0], cache_control: mark }] },
    {
      name: 'images and documents',
      body: { messages: [{ role: 'user', content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }, { type: 'image', source: { type: 'url', url: 'https://x/i' } }, { type: 'image', source: { type: 'file', file_id: 'f1' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BB==' }, title: 'T', context: 'C' }, { type: 'document', source: { type: 'url', url: 'https://x/d' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'body' }, title: 'T' }, { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'in' }] } },
        { type: 'document', source: { type: 'file', file_id: 'f2' }, citations: { enabled: true } }, { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'found' }] },
      ] }] },
      messages: [{ role: 'user', content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }, { type: 'image_url', image_url: { url: 'https://x/i' } }, { type: 'file', file: { file_id: 'f1' } },
        { type: 'text', text: 'Document: T\nContext: C' }, { type: 'file', file: { filename: 'T.pdf', file_data: 'data:application/pdf;base64,BB==' } }, { type: 'file', file: { filename: 'document.pdf', file_url: 'https://x/d' } },
        { type: 'text', text: 'Document: T\n\nbody' }, { type: 'text', text: 'in' }, { type: 'file', file: { file_id: 'f2' } }, { type: 'text', text: 'Search result: T\nSource: S\n\nfound' },
      ] }],
      reported: ['citations'],
    },
    {
      name: 'tool results first, then what they hold beside text, then what was said',
      body: { messages: [{ role: 'user', content: [
        { type: 'text', text: 'look' },
        { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x' }, { type: 'image', source: { type: 'url', url: 'https://x/i' } }, { type: 'text', text: 'y' }] },
        { type: 'tool_result', tool_use_id: 'b', content: 'bad', is_error: true }, { type: 'tool_result', tool_use_id: 'c' },
      ] }] },
      messages: [
        { role: 'tool', tool_call_id: 'a', content: 'x\ny' }, { role: 'tool', tool_call_id: 'b', content: 'Error: bad' }, { role: 'tool', tool_call_id: 'c', content: '' },
        { role: 'user', content: [{ type: 'text', text: 'Attached to the result of tool call a:' }, { type: 'image_url', image_url: { url: 'https://x/i' } }, { type: 'text', text: 'look' }] },
      ],
    },
    {
      name: 'a failed tool where it is taken', accepts: all,
      body: { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'bad', is_error: true, cache_control: mark }] }] },
      messages: [{ role: 'tool', tool_call_id: 'b', content: 'bad', is_error: true, cache_control: mark }],
    },
    {
      name: 'all texts and calls of the assistant',
      body: { messages: [{ role: 'assistant', content: [
        { type: 'thinking', thinking: 't', signature: 's' }, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }, { type: 'tool_use', id: '1', name: 'f', input: { x: 1 } }, { type: 'text', text: 'c' }, { type: 'tool_use', id: '2', name: 'g', input: {} },
      ] }] },
      messages: [{ role: 'assistant', content: 'ab\n\nc', tool_calls: [
        { id: '1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }, { id: '2', type: 'function', function: { name: 'g', arguments: '{}' } },
      ] }],
      reported: ['thinking'],
    },
    {
      name: 'thinking where it is taken', accepts: all,
      body: { messages: [{ role: 'assistant', content: [
        { type: 'thinking', thinking: 't', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'text', text: 'a' }, { type: 'thinking', thinking: 'u', signature: '' }, { type: 'tool_use', id: '1', name: 'f', input: {}, cache_control: mark },
      ] }] },
      messages: [{
        role: 'assistant', content: 'a',
        content_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'text', text: 'a' }, { type: 'thinking', thinking: 'u' }],
        tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }], cache_control: mark,
      }],
    },
    {
      name: 'thought signatures back on their calls', accepts: ['thought_signature'],
      body: { messages: [{ role: 'assistant', content: [signatureBlock('1', 'sïg'), { type: 'tool_use', id: '1', name: 'f', input: {} }, { type: 'redacted_thinking', data: 'gateway.signature.%%%' }, { type: 'tool_use', id: '2', name: 'f', input: {} }] }] },
      messages: [{ role: 'assistant', content: null, tool_calls: [
        { id: '1', type: 'function', function: { name: 'f', arguments: '{}' }, thought_signature: 'sïg' }, { id: '2', type: 'function', function: { name: 'f', arguments: '{}' } },
      ] }],
    },
    {
      name: 'thought signatures at other providers',
      body: { messages: [{ role: 'assistant', content: [signatureBlock('1', 's'), { type: 'tool_use', id: '1', name: 'f', input: {} }] }] },
      messages: [{ role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }] }],
    },
  ];
  for (const { name, body, accepts, messages, reported } of conversations) {
    it(name, () => {
      const made = translate(body, accepts);
      assert.deepEqual(made.chat.messages, messages);
      assert.deepEqual(made.reported, reported ?? []);
    });
  }

  const refused: [string, object, string, RegExp][] = [
    ['a server tool', { messages: user, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]', /web_search_20250305/],
    ['a client tool of Anthropic', { messages: user, tools: [{ name: 'f', input_schema: {} }, { type: 'bash_20250124', name: 'bash' }] }, 'tools[1]', /bash_20250124/],
    ['MCP servers', { messages: user, mcp_servers: [{ type: 'url', url: 'https://x', name: 'docs' }] }, 'mcp_servers', /docs/],
    ['a place to run', { messages: user, inference_geo: 'us' }, 'inference_geo', /where to run/],
    ['a container', { messages: user, container: 'c' }, 'container', /containers/],
    ['what a server tool left', { messages: [{ role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] }] }, 'messages[0].content[0]', /server_tool_use \(web_search\)/],
    ['an upload for a container', { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] }, 'messages[0].content[0]', /container_upload/],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role', /user, assistant or system/],
    ['no messages', {}, 'messages', /list/],
    ['a broken image', { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64' } }] }] }, 'messages[0].content[0].source.media_type', /text/],
    ['a result without a call', { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }, 'messages[0].content[0].tool_use_id', /tool use/],
    ['another format', { messages: user, output_config: { format: { type: 'grammar' } } }, 'output_config.format.type', /json_schema/],
    ['an unknown choice', { messages: user, tool_choice: { type: 'x' } }, 'tool_choice.type', /auto/],
    ['a system prompt with an image', { messages: user, system: [{ type: 'image', source: { type: 'url', url: 'u' } }] }, 'system[0].type', /text/],
  ];
  for (const [name, body, param, reason] of refused) {
    it(`refuses ${name}`, () => {
      const refusal = refusalOf(body, all);
      assert.equal(refusal.param, param);
      assert.match(refusal.message, reason);
    });
  }
});
