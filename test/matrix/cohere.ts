import { bodyOf, features, json, need, onlyKnown, optional, pieces, sse, type Family, type Reply, type Turn } from './family.js';

const key = 'co-matrix';
const topLevel = [
  'model', 'messages', 'stream', 'tools', 'strict_tools', 'documents', 'citation_options', 'response_format', 'safety_mode', 'max_tokens', 'stop_sequences', 'temperature', 'seed',
  'frequency_penalty', 'presence_penalty', 'k', 'p', 'logprobs', 'tool_choice', 'thinking', 'priority',
];
const textOf = (content: any): string => (typeof content === 'string' ? content : (content ?? [])
  .map((part: any) => (part.type === 'text' ? part.text : part.type === 'document' ? (typeof part.document.data === 'string' ? part.document.data : Object.values(part.document.data).join('')) : '')).join(''));
const finishes = { stop: 'COMPLETE', length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL', content_filter: 'ERROR_TOXIC' };
const usageOf = ({ usage }: Reply): unknown => ({
  billed_units: { input_tokens: usage.input - 3, output_tokens: usage.output }, tokens: { input_tokens: usage.input, output_tokens: usage.output },
  ...optional('cached_tokens', usage.cached),
});

export const cohere: Family = {
  name: 'cohere', features: new Set(features), model: 'command-a-reasoning-08-2025', usageParts: new Set(['cached']), hasSignature: false, hasBudget: true, hasToolChoice: true,
  target: (origin) => ({ provider: 'cohere', api_key: key, custom_host: origin }),
  parse(call) {
    need(call.headers.authorization === `Bearer ${key}`, 'invalid api token');
    need(call.url === '/v2/chat', `unknown path ${call.url}`);
    const body = bodyOf(call);
    onlyKnown(body, topLevel, 'unknown field: parameter');
    need(typeof body.model === 'string', 'model is required');
    need(Array.isArray(body.messages) && body.messages.length > 0, 'messages is required');
    const turns: Turn[] = [];
    let system = '';
    const names = new Map<string, string>();
    for (const message of body.messages) {
      const { role, content } = message;
      const text = textOf(content);
      if (role === 'system') system += text;
      else if (role === 'tool') {
        need(names.has(message.tool_call_id), `tool call id ${message.tool_call_id} not found in previous tool calls`);
        need(content.length > 0, 'tool content must not be empty');
        turns.push({ role, text, images: 0, toolCallId: message.tool_call_id, ...optional('toolName', names.get(message.tool_call_id)) });
      } else if (role === 'assistant') {
        onlyKnown(message, ['role', 'content', 'tool_calls', 'tool_plan', 'citations'], 'message');
        const thinking = Array.isArray(content) ? content.filter((part: any) => part.type === 'thinking').map((part: any) => part.thinking).join('') : '';
        const toolCalls = (message.tool_calls ?? []).map((item: any) => {
          names.set(item.id, item.function.name);
          return { id: item.id, name: item.function.name, args: JSON.parse(item.function.arguments) };
        });
        need(text !== '' || toolCalls.length > 0, 'an assistant message needs content or tool calls');
        turns.push({ role, text, images: 0, ...(thinking === '' ? {} : { thinking: { text: thinking } }), ...(toolCalls.length === 0 ? {} : { toolCalls }) });
      } else {
        need(role === 'user', `invalid role ${role}`);
        const images = Array.isArray(content) ? content.filter((part: any) => part.type === 'image_url') : [];
        for (const image of images) need(typeof image.image_url?.url === 'string', 'image_url.url is required');
        turns.push({ role, text, images: images.length });
      }
    }
    if (body.tool_choice !== undefined) need(['REQUIRED', 'NONE'].includes(body.tool_choice), 'tool_choice must be REQUIRED or NONE');
    const format = body.response_format;
    return {
      isStream: body.stream === true, system, turns, wire: 'cohere', tools: (body.tools ?? []).map((tool: any) => tool.function.name),
      ...optional('toolChoice', body.tool_choice?.toLowerCase()),
      ...optional('schema', format?.type === 'json_object' ? format.json_schema ?? format.schema : undefined),
      ...optional('maxTokens', body.max_tokens), ...optional('temperature', body.temperature),
      ...optional('thinkingBudget', body.thinking?.type === 'enabled' ? body.thinking.token_budget ?? 0 : undefined),
    };
  },
  answer(reply, seen) {
    if (reply.error !== undefined) return json(reply.error.status, { id: 'e1', message: reply.error.message });
    const calls = (reply.toolCalls ?? []).map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));
    if (!seen.isStream) {
      const content = [
        ...(reply.thinking === undefined ? [] : [{ type: 'thinking', thinking: reply.thinking.text }]), ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
      ];
      return json(200, {
        id: 'co-1', finish_reason: finishes[reply.finish], usage: usageOf(reply),
        message: { role: 'assistant', ...(content.length === 0 ? {} : { content }), ...(calls.length === 0 ? {} : { tool_calls: calls }) },
      });
    }
    const events: { event: string; data: unknown }[] = [];
    const emit = (type: string, members: object): void => { events.push({ event: type, data: { type, ...members } }); };
    emit('message-start', { id: 'co-1', delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } } });
    let index = 0;
    const block = (type: 'text' | 'thinking', text: string): void => {
      emit('content-start', { index, delta: { message: { content: { type, [type]: '' } } } });
      for (const part of pieces(text)) emit('content-delta', { index, delta: { message: { content: { [type]: part } } } });
      emit('content-end', { index });
      index += 1;
    };
    if (reply.thinking !== undefined) block('thinking', reply.thinking.text);
    const text = reply.streamError?.afterText ?? reply.text;
    if (text !== undefined) block('text', text);
    if (reply.streamError !== undefined) {
      emit('message-end', { id: 'co-1', delta: { error: reply.streamError.message, finish_reason: 'ERROR', usage: usageOf(reply) } });
      return sse(events);
    }
    for (const [at, tool] of calls.entries()) {
      emit('tool-call-start', { index: at, delta: { message: { tool_calls: { id: tool.id, type: 'function', function: { name: tool.function.name, arguments: '' } } } } });
      for (const part of pieces(tool.function.arguments)) emit('tool-call-delta', { index: at, delta: { message: { tool_calls: { function: { arguments: part } } } } });
      emit('tool-call-end', { index: at });
    }
    emit('message-end', { id: 'co-1', delta: { finish_reason: finishes[reply.finish], usage: usageOf(reply) } });
    return sse(events);
  },
};
