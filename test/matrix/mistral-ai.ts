import { bodyOf, features, json, need, onlyKnown, optional, pieces, sse, type Family, type Reply } from './family.js';
import { parseChat } from './chat-wire.js';

const key = 'mistral-matrix';
const topLevel = [
  'model', 'messages', 'stream', 'temperature', 'top_p', 'max_tokens', 'stop', 'random_seed', 'metadata', 'response_format', 'tools', 'tool_choice', 'presence_penalty',
  'frequency_penalty', 'n', 'prediction', 'parallel_tool_calls', 'prompt_mode', 'safe_prompt', 'reasoning_effort', 'guardrails', 'prompt_cache_key',
];
const finishes = { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'error' };
const usageOf = ({ usage }: Reply): unknown => ({ prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output });
const thinkingPart = (text: string): unknown => ({ type: 'thinking', thinking: [{ type: 'text', text }], closed: true });

export const mistral: Family = {
  name: 'mistral-ai', features: new Set(features), model: 'magistral-medium-latest', usageParts: new Set(), hasSignature: false, hasBudget: false, hasToolChoice: true,
  target: (origin) => ({ provider: 'mistral-ai', api_key: key, custom_host: `${origin}/v1` }),
  parse(call) {
    need(call.headers.authorization === `Bearer ${key}`, 'unauthorized');
    need(call.url === '/v1/chat/completions', `unknown path ${call.url}`);
    const body = bodyOf(call);
    onlyKnown(body, topLevel, 'extra inputs are not permitted');
    const thoughts: (string | undefined)[] = [];
    const messages = body.messages.map((message: any) => {
      if (message.role !== 'assistant') {
        if (message.role === 'tool') onlyKnown(message, ['role', 'content', 'tool_call_id', 'name'], 'tool');
        const { name, ...rest } = message;
        // An image may also be given as plain text; for the common reader it is an object.
        if (Array.isArray(rest.content)) rest.content = rest.content.map((part: any) => (typeof part.image_url === 'string' ? { ...part, image_url: { url: part.image_url } } : part));
        return rest;
      }
      onlyKnown(message, ['role', 'content', 'tool_calls', 'prefix'], 'assistant');
      for (const tool of message.tool_calls ?? []) need(/^[a-zA-Z0-9]{9}$/.test(tool.id), 'tool call id has to be defined and have a length of 9 and be only letters and digits');
      const list: any[] = Array.isArray(message.content) ? message.content : [];
      const thinking = list.filter((part) => part.type === 'thinking');
      for (const part of thinking) onlyKnown(part, ['type', 'thinking', 'signature', 'closed'], 'thinking');
      thoughts.push(thinking.length === 0 ? undefined : thinking.flatMap((part) => part.thinking.map((inner: any) => inner.text)).join(''));
      const calls = message.tool_calls?.map(({ index, ...tool }: any) => ({ type: 'function', ...tool, function: { ...tool.function, arguments: typeof tool.function.arguments === 'string' ? tool.function.arguments : JSON.stringify(tool.function.arguments) } }));
      const { prefix, ...rest } = message;
      return { ...rest, ...(list.length === 0 ? {} : { content: list.filter((part) => part.type !== 'thinking') }), ...(calls === undefined ? {} : { tool_calls: calls }) };
    });
    const { random_seed, prompt_mode, safe_prompt, guardrails, tool_choice, ...rest } = body;
    const seen = parseChat({ ...rest, messages, ...(tool_choice === undefined ? {} : { tool_choice: tool_choice === 'any' ? 'required' : tool_choice }) });
    let at = 0;
    return {
      ...seen, wire: 'mistral',
      turns: seen.turns.map((turn) => {
        if (turn.role !== 'assistant') return turn;
        const thought = thoughts[at++];
        return { ...turn, ...optional('thinking', thought === undefined ? undefined : { text: thought }) };
      }),
    };
  },
  answer(reply, seen) {
    if (reply.error !== undefined) return json(reply.error.status, { object: 'error', message: reply.error.message, type: 'invalid_request_error', param: null, code: '3000' });
    const calls = (reply.toolCalls ?? []).map(({ id, name, args }, index) => ({ id, function: { name, arguments: JSON.stringify(args) }, index }));
    const whole = (choice: object, usage?: unknown, object = 'chat.completion.chunk'): unknown => ({ id: 'cmpl-m', object, created: 1_700_000_000, model: 'magistral', choices: [{ index: 0, ...choice }], ...optional('usage', usage) });
    if (!seen.isStream) {
      const content = reply.thinking === undefined ? reply.text ?? '' : [thinkingPart(reply.thinking.text), ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }])];
      return json(200, whole({ finish_reason: finishes[reply.finish], message: { role: 'assistant', content, tool_calls: calls.length === 0 ? null : calls } }, usageOf(reply), 'chat.completion'));
    }
    const chunk = (delta: unknown, finish: string | null = null, usage?: unknown): { data: unknown } => ({ data: whole({ delta, finish_reason: finish }, usage) });
    const events: { data: unknown }[] = [chunk({ role: 'assistant', content: '' })];
    for (const text of pieces(reply.thinking?.text ?? '')) events.push(chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }));
    for (const text of pieces(reply.streamError?.afterText ?? reply.text ?? '')) events.push(chunk({ content: reply.thinking === undefined ? text : [{ type: 'text', text }] }));
    if (reply.streamError !== undefined) return sse([...events, { data: { object: 'error', message: reply.streamError.message, type: 'internal_server_error', code: '1000' } }]);
    // Whole calls in one chunk, which is also the last.
    events.push(chunk(calls.length === 0 ? { content: '' } : { content: '', tool_calls: calls }, finishes[reply.finish], usageOf(reply)));
    return sse([...events, { data: '[DONE]' }]);
  },
};
