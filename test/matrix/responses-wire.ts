// OpenAI's responses as a provider speaks them.

import { json, need, optional, pieces, sse, type Answered, type Reply, type Seen, type Turn } from './family.js';
import { openaiError } from './chat-wire.js';

export function parseResponses(body: any): Seen {
  need(typeof body.model === 'string', 'missing required parameter: model');
  const turns: Turn[] = [];
  let system: string = body.instructions ?? '';
  const names = new Map<string, string>();
  const items: any[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  need(Array.isArray(items), 'input must be text or a list');
  for (const item of items) {
    if (item.type === 'reasoning') continue;
    need(item.type === undefined || ['message', 'function_call', 'function_call_output'].includes(item.type), `input: invalid value ${item.type}`);
    if (item.type === 'function_call') {
      names.set(item.call_id, item.name);
      const call = { id: item.call_id, name: item.name, args: JSON.parse(item.arguments) };
      const last = turns.at(-1);
      if (last?.role === 'assistant') turns[turns.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
      else turns.push({ role: 'assistant', text: '', images: 0, toolCalls: [call] });
      continue;
    }
    if (item.type === 'function_call_output') {
      need(names.has(item.call_id), `no tool call found for function call output with call_id ${item.call_id}`);
      turns.push({ role: 'tool', text: item.output, images: 0, toolCallId: item.call_id, ...optional('toolName', names.get(item.call_id)) });
      continue;
    }
    const parts: any[] = typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content;
    const text = parts.filter((part) => /text$/.test(part.type)).map((part) => part.text).join('');
    if (item.role === 'system' || item.role === 'developer') system += text;
    else turns.push({ role: item.role, text, images: parts.filter((part) => part.type === 'input_image').length });
  }
  const choice = body.tool_choice;
  return {
    isStream: body.stream === true, system, turns, wire: 'responses', tools: (body.tools ?? []).map((tool: any) => tool.name),
    ...optional('toolChoice', typeof choice === 'object' ? choice.name : choice),
    ...optional('schema', body.text?.format?.type === 'json_schema' ? body.text.format.schema : undefined),
    ...optional('maxTokens', body.max_output_tokens ?? undefined), ...optional('temperature', body.temperature ?? undefined),
    ...optional('thinkingBudget', body.reasoning?.effort === undefined ? undefined : 0),
  };
}

export function answerResponses(reply: Reply, seen: Seen): Answered {
  if (reply.error !== undefined) return json(reply.error.status, openaiError(reply.error.message, reply.error.status));
  const output: any[] = [];
  if (reply.thinking !== undefined) output.push({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: reply.thinking.text }], encrypted_content: reply.thinking.signature });
  if (reply.text !== undefined) output.push({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }] });
  for (const { id, name, args } of reply.toolCalls ?? []) output.push({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(args), status: 'completed' });
  const isCut = reply.finish === 'length' || reply.finish === 'content_filter';
  const response = (status: string, items: readonly unknown[], usage: unknown): any => ({
    id: 'resp_1', object: 'response', created_at: 1_700_000_000, status, error: null, model: 'model-2025', output: items, usage, parallel_tool_calls: true, tool_choice: 'auto', tools: [],
    instructions: null, metadata: {}, temperature: 1, top_p: 1, max_output_tokens: null, previous_response_id: null, text: { format: { type: 'text' } }, truncation: 'disabled',
    incomplete_details: status === 'incomplete' ? { reason: reply.finish === 'length' ? 'max_output_tokens' : 'content_filter' } : null,
  });
  const { usage } = reply;
  const done = response(isCut ? 'incomplete' : 'completed', output, {
    input_tokens: usage.input, input_tokens_details: { cached_tokens: usage.cached ?? 0 }, output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 }, total_tokens: usage.input + usage.output,
  });
  if (!seen.isStream) return json(200, done);
  const events: { event: string; data: unknown }[] = [];
  const emit = (type: string, members: object): void => { events.push({ event: type, data: { type, sequence_number: events.length, ...members } }); };
  emit('response.created', { response: response('in_progress', [], null) });
  emit('response.in_progress', { response: response('in_progress', [], null) });
  if (reply.streamError !== undefined) {
    emit('error', { code: 'server_error', message: reply.streamError.message, param: null });
    return sse(events);
  }
  for (const [index, item] of output.entries()) {
    if (item.type === 'reasoning') {
      const at = { item_id: item.id, output_index: index, summary_index: 0 };
      emit('response.output_item.added', { output_index: index, item: { ...item, summary: [] } });
      emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
      for (const delta of pieces(reply.thinking?.text ?? '')) emit('response.reasoning_summary_text.delta', { ...at, delta });
      emit('response.reasoning_summary_text.done', { ...at, text: reply.thinking?.text });
      emit('response.reasoning_summary_part.done', { ...at, part: item.summary[0] });
    } else if (item.type === 'message') {
      const at = { item_id: item.id, output_index: index, content_index: 0 };
      emit('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress', content: [] } });
      emit('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [], logprobs: [] } });
      for (const delta of pieces(reply.text ?? '')) emit('response.output_text.delta', { ...at, delta, logprobs: [] });
      emit('response.output_text.done', { ...at, text: reply.text, logprobs: [] });
      emit('response.content_part.done', { ...at, part: item.content[0] });
    } else {
      emit('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress', arguments: '' } });
      for (const delta of pieces(item.arguments)) emit('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta });
      emit('response.function_call_arguments.done', { item_id: item.id, output_index: index, name: item.name, arguments: item.arguments });
    }
    emit('response.output_item.done', { output_index: index, item });
  }
  emit(isCut ? 'response.incomplete' : 'response.completed', { response: done });
  return sse(events);
}
