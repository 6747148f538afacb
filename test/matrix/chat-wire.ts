// OpenAI's chat completions as a provider speaks them: read strictly, answered in chunks with interleaved deltas of parallel tool calls.

import { json, need, onlyKnown, optional, pieces, sse, type Answered, type Reply, type Seen, type Turn } from './family.js';

const topLevel = [
  'model', 'messages', 'stream', 'stream_options', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'tools', 'tool_choice', 'parallel_tool_calls',
  'response_format', 'stop', 'n', 'seed', 'user', 'metadata', 'store', 'reasoning_effort', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs',
  'top_logprobs', 'service_tier', 'prediction', 'modalities', 'audio', 'verbosity', 'web_search_options', 'prompt_cache_key', 'safety_identifier',
];
const messageMembers: Record<string, readonly string[]> = {
  system: ['role', 'content', 'name'], developer: ['role', 'content', 'name'], user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'tool_calls', 'refusal', 'audio', 'function_call', 'annotations'], tool: ['role', 'content', 'tool_call_id'],
};

const textOf = (content: any, where: string): string => {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  need(Array.isArray(content), `${where}.content must be text or a list`);
  return content.filter((part: any) => part.type === 'text').map((part: any) => part.text).join('');
};

export function parseChat(body: any): Seen {
  onlyKnown(body, topLevel, 'body');
  need(typeof body.model === 'string' && body.model !== '', 'you must provide a model parameter');
  need(Array.isArray(body.messages) && body.messages.length > 0, 'messages must be a list and not empty');
  const turns: Turn[] = [];
  let system = '';
  const names = new Map<string, string>();
  let open = new Set<string>();
  for (const [index, message] of body.messages.entries()) {
    const where = `messages[${index}]`;
    const known = messageMembers[message.role];
    need(known, `${where}: invalid role ${message.role}`);
    onlyKnown(message, known, where);
    if (message.role !== 'tool') need(open.size === 0, 'an assistant message with tool_calls must be followed by tool messages responding to each tool_call_id');
    const text = textOf(message.content, where);
    if (message.role === 'system' || message.role === 'developer') {
      system += text;
      continue;
    }
    if (message.role === 'tool') {
      need(open.delete(message.tool_call_id), 'messages with role tool must be a response to a preceding message with tool_calls');
      turns.push({ role: 'tool', text, images: 0, toolCallId: message.tool_call_id, ...optional('toolName', names.get(message.tool_call_id)) });
      continue;
    }
    const images = Array.isArray(message.content) ? message.content.filter((part: any) => part.type === 'image_url') : [];
    for (const image of images) need(/^(data:image\/[a-z]+;base64,|https?:)/.test(image.image_url?.url ?? ''), `${where}: invalid image_url`);
    for (const part of Array.isArray(message.content) ? message.content : []) need(['text', 'image_url', 'input_audio', 'file', 'refusal'].includes(part.type), `${where}: invalid part ${part.type}`);
    const calls = (message.tool_calls ?? []).map((call: any) => {
      onlyKnown(call, ['id', 'type', 'function'], `${where}.tool_calls`);
      need(call.type === 'function' && typeof call.function.arguments === 'string', `${where}: arguments must be text`);
      names.set(call.id, call.function.name);
      return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) };
    });
    if (message.tool_calls !== undefined) need(calls.length > 0, `${where}.tool_calls: [] is too short`);
    open = new Set(calls.map((call: any) => call.id));
    turns.push({ role: message.role, text, images: images.length, ...(calls.length === 0 ? {} : { toolCalls: calls }) });
  }
  need(open.size === 0, 'tool_call_ids did not have response messages');
  if (body.stream_options !== undefined) need(body.stream === true, 'stream_options is only allowed when stream is enabled');
  const choice = body.tool_choice;
  if (choice !== undefined && choice !== null) need(body.tools !== undefined, 'tool_choice is only allowed when tools are specified');
  const format = body.response_format;
  if (format?.type === 'json_schema') need(typeof format.json_schema?.name === 'string', 'missing required parameter response_format.json_schema.name');
  return {
    isStream: body.stream === true, system, turns, wire: 'chat', wantsUsage: body.stream_options?.include_usage === true,
    tools: (body.tools ?? []).map((tool: any) => {
      need(tool.type === 'function' && typeof tool.function?.name === 'string', 'tools: a function with a name');
      return tool.function.name;
    }),
    ...optional('toolChoice', typeof choice === 'object' && choice !== null ? choice.function.name : choice ?? undefined),
    ...optional('schema', format?.type === 'json_schema' ? format.json_schema.schema : undefined),
    ...optional('maxTokens', body.max_completion_tokens ?? body.max_tokens ?? undefined),
    ...optional('thinkingBudget', body.reasoning_effort === undefined || body.reasoning_effort === null ? undefined : 0),
    ...optional('temperature', body.temperature ?? undefined),
  };
}

const usageOf = ({ usage }: Reply): unknown => ({
  prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached ?? 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
});
export const openaiError = (message: string, status: number): unknown => ({
  error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', param: null, code: status === 429 ? 'rate_limit_exceeded' : null },
});

export function answerChat(reply: Reply, seen: Seen, reasoningMember?: string): Answered {
  const thought = reasoningMember === undefined || reply.thinking === undefined ? {} : { [reasoningMember]: reply.thinking.text };
  if (reply.error !== undefined) return json(reply.error.status, openaiError(reply.error.message, reply.error.status));
  const calls = (reply.toolCalls ?? []).map(({ id, name, args }, index) => ({ index, id, name, text: JSON.stringify(args) }));
  if (!seen.isStream) {
    return json(200, {
      id: 'chatcmpl-m', object: 'chat.completion', created: 1_700_000_000, model: 'model-2025', system_fingerprint: 'fp_1',
      choices: [{
        index: 0, finish_reason: reply.finish, logprobs: null,
        message: {
          role: 'assistant', content: reply.text ?? null, ...thought, refusal: null, annotations: [],
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } })) }),
        },
      }],
      usage: usageOf(reply),
    });
  }
  const chunk = (delta: unknown, finish: string | null = null): { data: unknown } => ({ data: {
    id: 'chatcmpl-m', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'model-2025', system_fingerprint: 'fp_1',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(seen.wantsUsage === true ? { usage: null } : {}),
  } });
  const events: { data: unknown }[] = [chunk({ role: 'assistant', content: calls.length > 0 && reply.text === undefined ? null : '', refusal: null })];
  if (reasoningMember !== undefined) for (const text of pieces(reply.thinking?.text ?? '')) events.push(chunk({ [reasoningMember]: text }));
  for (const text of pieces(reply.streamError?.afterText ?? reply.text ?? '')) events.push(chunk({ content: text }));
  if (reply.streamError !== undefined) return sse([...events, { data: { error: { message: reply.streamError.message, type: 'server_error', code: null, param: null } } }]);
  for (const { index, id, name } of calls) events.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
  const parts = calls.map(({ text }) => pieces(text));
  for (let at = 0; parts.some((list) => at < list.length); at += 1) {
    for (const { index } of calls) {
      const text = parts[index]?.[at];
      if (text !== undefined) events.push(chunk({ tool_calls: [{ index, function: { arguments: text } }] }));
    }
  }
  events.push(chunk({}, reply.finish));
  if (seen.wantsUsage === true) events.push({ data: { id: 'chatcmpl-m', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'model-2025', choices: [], usage: usageOf(reply) } });
  return sse([...events, { data: '[DONE]' }]);
}
