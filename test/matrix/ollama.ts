import { answerChat, parseChat } from './chat-wire.js';
import { bodyOf, cut, features, json, need, optional, pieces, sse, type Family, type Turn } from './family.js';
import { messageBody, messageError, messageEvents, parseMessages } from './messages-wire.js';

export const ollama: Family = {
  name: 'ollama', features: new Set(features), model: 'qwen3:8b', usageParts: new Set(), hasSignature: false, hasBudget: false, hasToolChoice: false,
  target: (origin) => ({ provider: 'ollama', custom_host: origin }),
  parse(call) {
    const body = bodyOf(call);
    // Its compatible endpoints, which show no thinking.
    if (call.url === '/v1/chat/completions') return parseChat(body);
    if (call.url.startsWith('/v1/messages')) return parseMessages(body, body.stream === true);
    need(call.url === '/api/chat', `404 page not found: ${call.url}`);
    need(typeof body.model === 'string' && body.model !== '', 'model is required');
    const turns: Turn[] = [];
    let system = '';
    let open: { id?: string; name: string }[] = [];
    for (const message of body.messages) {
      need(typeof message.content === 'string' || message.content === undefined, 'json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string');
      const text = message.content ?? '';
      const images = (message.images ?? []).length;
      for (const image of message.images ?? []) need(!image.startsWith('data:') && /^[A-Za-z0-9+/]+=*$/.test(image), 'illegal base64 data');
      if (message.role === 'system') system += text;
      else if (message.role === 'tool') {
        const at = open.findIndex(({ id, name }) => message.tool_name === name || (message.tool_call_id !== undefined && message.tool_call_id === id));
        need(at !== -1, `a tool result (${message.tool_name}) without a call`);
        turns.push({ role: 'tool', text, images, ...optional('toolName', open.splice(at, 1)[0]?.name) });
      } else {
        need(message.role === 'user' || message.role === 'assistant', `invalid role ${message.role}`);
        const toolCalls = (message.tool_calls ?? []).map((item: any) => {
          need(typeof item.function.arguments === 'object', 'json: cannot unmarshal string into Go struct field of type api.ToolCallFunctionArguments');
          return { id: item.id, name: item.function.name, args: item.function.arguments };
        });
        if (message.role === 'assistant') open = [...toolCalls];
        turns.push({ role: message.role, text, images, ...(message.thinking ? { thinking: { text: message.thinking } } : {}), ...(toolCalls.length === 0 ? {} : { toolCalls }) });
      }
    }
    return {
      isStream: body.stream !== false, system, turns, wire: 'ollama', tools: (body.tools ?? []).map((tool: any) => tool.function.name),
      ...optional('schema', typeof body.format === 'object' ? body.format : undefined),
      ...optional('maxTokens', body.options?.num_predict), ...optional('temperature', body.options?.temperature),
      ...optional('thinkingBudget', body.think === undefined || body.think === false ? undefined : 0),
    };
  },
  answer(reply, seen) {
    if (seen.wire === 'chat') return answerChat(reply, seen);
    if (seen.wire === 'messages') {
      if (reply.error !== undefined) return json(reply.error.status, messageError(reply.error.message, reply.error.status));
      return seen.isStream ? sse(messageEvents(reply)) : json(200, messageBody(reply));
    }
    if (reply.error !== undefined) return json(reply.error.status, { error: reply.error.message });
    const calls = (reply.toolCalls ?? []).map(({ name, args }, index) => ({ function: { index, name, arguments: args } }));
    const line = (message: object, isDone = false): object => ({
      model: 'qwen3:8b', created_at: '2025-11-21T09:00:00.000000Z', message: { role: 'assistant', content: '', ...message }, done: isDone,
      ...(isDone ? {
        done_reason: reply.finish === 'length' ? 'length' : 'stop', total_duration: 5_000_000, load_duration: 1_000_000, prompt_eval_count: reply.usage.input, prompt_eval_duration: 1,
        eval_count: reply.usage.output, eval_duration: 1,
      } : {}),
    });
    if (!seen.isStream) {
      return json(200, line({ content: reply.text ?? '', ...optional('thinking', reply.thinking?.text), ...(calls.length === 0 ? {} : { tool_calls: calls }) }, true));
    }
    const lines: object[] = pieces(reply.thinking?.text ?? '').map((thinking) => line({ thinking }));
    for (const content of pieces(reply.streamError?.afterText ?? reply.text ?? '')) lines.push(line({ content }));
    if (reply.streamError !== undefined) lines.push({ error: reply.streamError.message });
    else {
      for (const item of calls) lines.push(line({ tool_calls: [item] }));
      lines.push(line({}, true));
    }
    return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, chunks: cut(Buffer.from(lines.map((value) => `${JSON.stringify(value)}\n`).join(''))) };
  },
};
