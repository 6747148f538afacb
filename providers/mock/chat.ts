// Chat completions: the last user message back, or tool calls when the message asks for them, in OpenAI's formats.

import { isObject } from '@gateway/plugin-sdk';
import { events, json, refusal, type Answer } from './answer.js';
import { contentText, countIn, idFor, nowSeconds, tokensOf, type Body } from './body.js';
import type { Knobs } from './knobs.js';
import { contentFor, contentTotalMax, piecesOf, usageOf } from './text.js';

interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

interface Said {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Body;
  readonly choices: number;
}

const choicesMax = 128;
/** Characters of a tool call's arguments in one delta. */
const argumentCharacters = 7;

export function chat(body: Body, knobs: Knobs): Answer {
  if (!Array.isArray(body.messages)) return refusal('messages', 'is missing; send an array of messages');
  const choices = countIn(body.n, choicesMax);
  if (choices === -1) return refusal('n', `must be a whole number from 1 to ${choicesMax}`);
  const messages = body.messages.filter(isObject);
  const asked = contentText(messages.findLast((message) => message.role === 'user')?.content);
  const toolCalls = toolCallsIn(body, asked, messages.at(-1)?.role === 'tool');
  const text = toolCalls.length > 0 ? '' : contentFor(asked, knobs);
  if (choices > 1 && text.length * choices > contentTotalMax) return refusal('n', `the choices together would have more than ${contentTotalMax} characters`);
  const inputTokens = messages.reduce((sum, message) => sum + tokensOf(contentText(message.content)), 0);
  const outputTokens = tokensOf(text) + toolCalls.reduce((sum, call) => sum + tokensOf(call.name + call.arguments), 0);
  const said: Said = { text, toolCalls, choices, usage: usageOf(inputTokens, outputTokens * choices) };
  return body.stream === true ? events(completionEvents(body, said, knobs)) : json(200, completion(body, said));
}

/** A tool is called when tool_choice names it, or the message says "call <name>"; several, when it names several. */
function toolCallsIn(body: Body, asked: string, hasResults: boolean): ToolCall[] {
  if (!Array.isArray(body.tools) || hasResults || body.tool_choice === 'none') return [];
  const names = body.tools.flatMap((tool: unknown) => (isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string' ? [tool.function.name] : []));
  const chosen = isObject(body.tool_choice) && isObject(body.tool_choice.function) ? body.tool_choice.function.name : undefined;
  const called = names.filter((name) => name === chosen || isCalled(asked, name));
  const all = called.length === 0 && body.tool_choice === 'required' ? names.slice(0, 1) : called;
  return all.map((name) => ({ name, arguments: JSON.stringify({ input: asked }) }));
}

/** "call <name>", and not as the beginning of a longer name. */
function isCalled(asked: string, name: string): boolean {
  const words = `call ${name}`;
  for (let at = asked.indexOf(words); at !== -1; at = asked.indexOf(words, at + 1)) {
    if (!/^[\w-]/.test(asked.slice(at + words.length, at + words.length + 1))) return true;
  }
  return false;
}

const finishOf = (said: Said): string => (said.toolCalls.length === 0 ? 'stop' : 'tool_calls');
const callId = (choice: number, index: number): string => `call_mock_${choice}_${index}`;

function completion(body: Body, said: Said): Body {
  const messageOf = (choice: number): Body => (said.toolCalls.length === 0
    ? { role: 'assistant', content: said.text, refusal: null }
    : { role: 'assistant', content: null, refusal: null, tool_calls: said.toolCalls.map((call, index) => ({ id: callId(choice, index), type: 'function', function: call })) });
  return {
    id: idFor('chatcmpl'), object: 'chat.completion', created: nowSeconds(), model: body.model ?? 'mock',
    choices: Array.from({ length: said.choices }, (_, index) => ({ index, message: messageOf(index), logprobs: null, finish_reason: finishOf(said) })),
    usage: said.usage, system_fingerprint: 'fp_mock',
  };
}

/** The events of a streamed completion, as JSON texts; choices take turns. */
function* completionEvents(body: Body, said: Said, knobs: Knobs): Generator<string> {
  const head = { id: idFor('chatcmpl'), object: 'chat.completion.chunk', created: nowSeconds(), model: body.model ?? 'mock', system_fingerprint: 'fp_mock' };
  const includesUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const chunk = (index: number, delta: Body, finish: string | null = null): string =>
    JSON.stringify({ ...head, choices: [{ index, delta, logprobs: null, finish_reason: finish }], ...(includesUsage ? { usage: null } : {}) });
  for (let choice = 0; choice < said.choices; choice += 1) yield chunk(choice, { role: 'assistant', content: said.toolCalls.length === 0 ? '' : null, refusal: null });
  for (let choice = 0; choice < said.choices; choice += 1) yield* toolCallEvents(said, choice, chunk);
  // A stream without content has nothing to go on with for ever.
  const isEndless = knobs.endless > 0 && said.text !== '';
  do {
    for (const piece of piecesOf(said.text, knobs.chunks)) {
      for (let choice = 0; choice < said.choices; choice += 1) yield chunk(choice, { content: piece });
    }
  } while (isEndless);
  for (let choice = 0; choice < said.choices; choice += 1) yield chunk(choice, {}, finishOf(said));
  if (includesUsage) yield JSON.stringify({ ...head, choices: [], usage: said.usage });
  yield '[DONE]';
}

function* toolCallEvents(said: Said, choice: number, chunk: (index: number, delta: Body) => string): Generator<string> {
  for (const [index, call] of said.toolCalls.entries()) {
    yield chunk(choice, { tool_calls: [{ index, id: callId(choice, index), type: 'function', function: { name: call.name, arguments: '' } }] });
    for (let at = 0; at < call.arguments.length; at += argumentCharacters) {
      yield chunk(choice, { tool_calls: [{ index, function: { arguments: call.arguments.slice(at, at + argumentCharacters) } }] });
    }
  }
}
