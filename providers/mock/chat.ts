// What the mock says: the last user message back, or tool calls when the message asks for them, in OpenAI's formats.

import type { Knobs } from './knobs.js';

export type Body = Readonly<Record<string, unknown>>;

export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

export interface Said {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value);

/** About four characters to a token, and at least one for any text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4);

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

export function answerTo(body: Body, knobs: Knobs): Said {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const inputTokens = messages.reduce((sum, message) => sum + tokensOf(textOf(message.content)), 0);
  const asked = textOf(messages.findLast((message) => message.role === 'user')?.content);
  const toolCalls = toolCallsIn(body, asked, messages.at(-1)?.role === 'tool');
  const echo = asked === '' ? 'Hello from the mock provider.' : asked;
  const text = toolCalls.length > 0 ? '' : knobs.bytes > 0 ? 'lorem ipsum '.repeat(Math.ceil(knobs.bytes / 12)).slice(0, knobs.bytes) : echo;
  const outputTokens = tokensOf(text) + toolCalls.reduce((sum, call) => sum + tokensOf(call.name + call.arguments), 0);
  return { text, toolCalls, inputTokens, outputTokens };
}

/** A tool is called when tool_choice names it, or the message says "call <name>"; several, when it names several. */
function toolCallsIn(body: Body, asked: string, hasResults: boolean): ToolCall[] {
  if (!Array.isArray(body.tools) || hasResults || body.tool_choice === 'none') return [];
  const names = body.tools.flatMap((tool) => (isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string' ? [tool.function.name] : []));
  const chosen = isObject(body.tool_choice) && isObject(body.tool_choice.function) ? body.tool_choice.function.name : undefined;
  const called = names.filter((name) => name === chosen || asked.includes(`call ${name}`));
  const all = called.length === 0 && body.tool_choice === 'required' ? names.slice(0, 1) : called;
  return all.map((name) => ({ name, arguments: JSON.stringify({ input: asked }) }));
}

export const usageOf = (said: Said): Body => ({ prompt_tokens: said.inputTokens, completion_tokens: said.outputTokens, total_tokens: said.inputTokens + said.outputTokens });

const id = (kind: string): string => `${kind}-mock-${Math.random().toString(36).slice(2, 12)}`;
const now = (): number => Math.floor(Date.now() / 1000);

export function completion(body: Body, said: Said): Body {
  const message = said.toolCalls.length === 0
    ? { role: 'assistant', content: said.text, refusal: null }
    : { role: 'assistant', content: null, refusal: null, tool_calls: said.toolCalls.map((call, index) => ({ id: `call_mock_${index}`, type: 'function', function: call })) };
  const finish = said.toolCalls.length === 0 ? 'stop' : 'tool_calls';
  return {
    id: id('chatcmpl'), object: 'chat.completion', created: now(), model: body.model,
    choices: Array.from({ length: typeof body.n === 'number' ? body.n : 1 }, (_, index) => ({ index, message, logprobs: null, finish_reason: finish })),
    usage: usageOf(said),
  };
}

/** The events of a streamed completion, as JSON texts. */
export function* completionEvents(body: Body, said: Said, knobs: Knobs): Generator<string> {
  const head = { id: id('chatcmpl'), object: 'chat.completion.chunk', created: now(), model: body.model };
  const includesUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const chunk = (delta: Body, finish: string | null = null): string =>
    JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(includesUsage ? { usage: null } : {}) });
  yield chunk({ role: 'assistant', content: said.toolCalls.length === 0 ? '' : null });
  for (const [index, call] of said.toolCalls.entries()) {
    yield chunk({ tool_calls: [{ index, id: `call_mock_${index}`, type: 'function', function: { name: call.name, arguments: '' } }] });
    for (let at = 0; at < call.arguments.length; at += 7) yield chunk({ tool_calls: [{ index, function: { arguments: call.arguments.slice(at, at + 7) } }] });
  }
  do {
    for (const piece of piecesOf(said.text, knobs.chunks)) yield chunk({ content: piece });
  } while (knobs.endless > 0);
  yield chunk({}, said.toolCalls.length === 0 ? 'stop' : 'tool_calls');
  if (includesUsage) yield JSON.stringify({ ...head, choices: [], usage: usageOf(said) });
  yield '[DONE]';
}

/** The text in `count` pieces of about the same length, or a word each. */
export function piecesOf(text: string, count: number): string[] {
  if (count === 0) return text.match(/\S+\s*|\s+/g) ?? [];
  const characters = [...text];
  return Array.from({ length: count }, (_, index) =>
    characters.slice(Math.floor(index * characters.length / count), Math.floor((index + 1) * characters.length / count)).join(''));
}

export function* textCompletionEvents(body: Body, said: Said, knobs: Knobs): Generator<string> {
  const head = { id: id('cmpl'), object: 'text_completion', created: now(), model: body.model };
  for (const piece of piecesOf(said.text, knobs.chunks)) yield JSON.stringify({ ...head, choices: [{ index: 0, text: piece, logprobs: null, finish_reason: null }] });
  yield JSON.stringify({ ...head, choices: [{ index: 0, text: '', logprobs: null, finish_reason: 'stop' }], usage: usageOf(said) });
  yield '[DONE]';
}

export const textCompletion = (body: Body, said: Said): Body => ({
  id: id('cmpl'), object: 'text_completion', created: now(), model: body.model,
  choices: [{ index: 0, text: said.text, logprobs: null, finish_reason: 'stop' }], usage: usageOf(said),
});
