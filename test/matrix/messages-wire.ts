// Anthropic's messages as Claude's hosts speak them: directly, on Vertex AI and through InvokeModel.

import { need, onlyKnown, optional, pieces, type Reply, type Seen, type Thinking, type Turn } from './family.js';

const topLevel = [
  'model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice', 'thinking', 'metadata',
  'service_tier', 'output_config', 'cache_control', 'container', 'inference_geo', 'anthropic_version', 'anthropic_beta',
];
const text = (content: any): string => (typeof content === 'string' ? content : (content ?? []).filter((part: any) => part.type === 'text').map((part: any) => part.text).join(''));

export function parseMessages(body: any, isStream: boolean): Seen {
  onlyKnown(body, topLevel, 'body');
  need(Number.isInteger(body.max_tokens) && body.max_tokens > 0, 'max_tokens: field required');
  need(Array.isArray(body.messages) && body.messages.length > 0, 'messages: at least one message is required');
  need(body.messages[0].role === 'user', 'messages: first message must use the user role');
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  let open = new Set<string>();
  for (const [index, message] of body.messages.entries()) {
    onlyKnown(message, ['role', 'content'], `messages.${index}`);
    need(message.role === 'user' || message.role === 'assistant', `messages.${index}.role: unexpected role ${message.role}`);
    const blocks: any[] = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    need(Array.isArray(blocks) && blocks.length > 0, `messages.${index}: content must not be empty`);
    for (const block of blocks) if (block.type === 'text') need(block.text !== '', `messages.${index}: text content blocks must be non-empty`);
    if (message.role === 'assistant') {
      need(open.size === 0, 'tool_use ids were found without tool_result blocks immediately after');
      let thinking: Thinking | undefined;
      const toolCalls: { id: string; name: string; args: unknown }[] = [];
      for (const [at, block] of blocks.entries()) {
        need(['text', 'thinking', 'redacted_thinking', 'tool_use'].includes(block.type), `messages.${index}: unexpected block ${block.type}`);
        if (block.type === 'thinking') {
          onlyKnown(block, ['type', 'thinking', 'signature'], `messages.${index}.content.${at}`);
          need(typeof block.signature === 'string' && block.signature !== '', `messages.${index}.content.${at}.thinking.signature: field required`);
          need(at === 0 || blocks[at - 1].type === 'thinking', 'thinking must come first in the turn');
          thinking = { text: block.thinking, signature: block.signature };
        }
        if (block.type === 'tool_use') {
          onlyKnown(block, ['type', 'id', 'name', 'input', 'cache_control', 'caller'], `messages.${index}.content.${at}`);
          need(/^[a-zA-Z0-9_-]+$/.test(block.id), `messages.${index}: tool_use.id should match the pattern`);
          need(typeof block.input === 'object' && block.input !== null, 'tool_use.input: input should be an object');
          toolCalls.push({ id: block.id, name: block.name, args: block.input });
          names.set(block.id, block.name);
        }
      }
      if (body.thinking?.type === 'enabled' && toolCalls.length > 0) need(thinking !== undefined, 'expected thinking, but found tool_use, when thinking is enabled');
      open = new Set(toolCalls.map(({ id }) => id));
      turns.push({ role: 'assistant', text: text(blocks), images: 0, ...optional('thinking', thinking), ...(toolCalls.length === 0 ? {} : { toolCalls }) });
      continue;
    }
    const results = blocks.filter((block) => block.type === 'tool_result');
    for (const [at, block] of results.entries()) {
      need(open.delete(block.tool_use_id), `unexpected tool_use_id found in tool_result blocks: ${block.tool_use_id}`);
      need(blocks[at] === block, 'tool_result blocks must come first in the message');
      turns.push({ role: 'tool', text: text(block.content), images: 0, toolCallId: block.tool_use_id, ...optional('toolName', names.get(block.tool_use_id)) });
    }
    need(open.size === 0, 'tool_use ids were found without tool_result blocks immediately after');
    const images = blocks.filter((block) => block.type === 'image');
    for (const { source } of images) need(source.type === 'url' || (source.type === 'base64' && /^image\//.test(source.media_type) && !source.data.startsWith('data:')), 'image: invalid source');
    const rest = blocks.filter((block) => block.type !== 'tool_result');
    for (const block of rest) need(['text', 'image', 'document'].includes(block.type), `messages.${index}: unexpected block ${block.type}`);
    if (rest.length > 0) turns.push({ role: 'user', text: text(rest), images: images.length });
  }
  need(open.size === 0, 'tool_use ids were found without tool_result blocks immediately after');
  const thinking = body.thinking?.type;
  if (thinking === 'enabled') {
    need(body.thinking.budget_tokens >= 1024, 'thinking.budget_tokens must be at least 1024');
    need(body.thinking.budget_tokens < body.max_tokens, 'max_tokens must be greater than thinking.budget_tokens');
    need(body.temperature === undefined || body.temperature === 1, 'temperature may only be set to 1 when thinking is enabled');
    need(body.tool_choice === undefined || ['auto', 'none'].includes(body.tool_choice.type), 'thinking may not be enabled when tool_choice forces tool use');
  }
  const choice = body.tool_choice;
  if (choice !== undefined) need(body.tools !== undefined, 'tool_choice may only be specified while providing tools');
  return {
    isStream, system: text(body.system), turns, wire: 'messages',
    tools: (body.tools ?? []).map((tool: any) => {
      if (tool.type === 'web_search_20250305') {
        need(tool.name === 'web_search' && (tool.user_location === undefined || tool.user_location.type === 'approximate'), 'tools.0.web_search_20250305: invalid');
        return tool.name;
      }
      need(tool.type === undefined || tool.type === 'custom', `tools: unknown type ${tool.type}`);
      need(tool.input_schema?.type === 'object', 'tools.0.input_schema.type: field required');
      return tool.name;
    }),
    ...optional('toolChoice', choice === undefined ? undefined : choice.type === 'tool' ? choice.name : choice.type === 'any' ? 'required' : choice.type),
    ...optional('schema', body.output_config?.format?.schema),
    maxTokens: body.max_tokens,
    ...optional('thinkingBudget', thinking === 'enabled' ? body.thinking.budget_tokens : thinking === 'adaptive' ? 0 : undefined),
    ...optional('temperature', body.temperature),
  };
}

const stops = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' };
const head = (reply: Reply, content: readonly unknown[], stop: string | null, output: number): Record<string, unknown> => ({
  id: 'msg_m', type: 'message', role: 'assistant', model: 'claude-2025', content, stop_reason: stop, stop_sequence: null,
  usage: {
    input_tokens: reply.usage.input - (reply.usage.cached ?? 0), cache_creation_input_tokens: 0, cache_read_input_tokens: reply.usage.cached ?? 0, output_tokens: output,
    service_tier: 'standard',
  },
});

export const messageError = (message: string, status: number): unknown => ({
  type: 'error', error: { type: status === 429 ? 'rate_limit_error' : status >= 500 ? 'api_error' : 'invalid_request_error', message }, request_id: 'req_1',
});

export function messageBody(reply: Reply): unknown {
  return head(reply, [
    ...(reply.thinking === undefined ? [] : [{ type: 'thinking', thinking: reply.thinking.text, signature: reply.thinking.signature }]),
    ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
    ...(reply.toolCalls ?? []).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ], stops[reply.finish], reply.usage.output);
}

export function messageEvents(reply: Reply): { event: string; data: any }[] {
  const events: { event: string; data: any }[] = [];
  const emit = (type: string, members: object = {}): void => { events.push({ event: type, data: { type, ...members } }); };
  emit('message_start', { message: head(reply, [], null, 1) });
  emit('ping');
  let index = 0;
  const block = (start: object, deltas: readonly object[]): void => {
    emit('content_block_start', { index, content_block: start });
    for (const delta of deltas) emit('content_block_delta', { index, delta });
    emit('content_block_stop', { index });
    index += 1;
  };
  if (reply.thinking !== undefined) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(reply.thinking.text).map((thinking) => ({ type: 'thinking_delta', thinking })), { type: 'signature_delta', signature: reply.thinking.signature },
    ]);
  }
  if (reply.streamError !== undefined) {
    emit('content_block_start', { index, content_block: { type: 'text', text: '' } });
    emit('content_block_delta', { index, delta: { type: 'text_delta', text: reply.streamError.afterText } });
    emit('error', { error: { type: 'overloaded_error', message: reply.streamError.message } });
    return events;
  }
  if (reply.text !== undefined) block({ type: 'text', text: '' }, pieces(reply.text).map((part) => ({ type: 'text_delta', text: part })));
  emit('ping');
  for (const { id, name, args } of reply.toolCalls ?? []) {
    block({ type: 'tool_use', id, name, input: {} }, ['', ...pieces(JSON.stringify(args))].map((part) => ({ type: 'input_json_delta', partial_json: part })));
  }
  emit('message_delta', { delta: { stop_reason: stops[reply.finish], stop_sequence: null }, usage: { output_tokens: reply.usage.output } });
  emit('message_stop');
  return events;
}
