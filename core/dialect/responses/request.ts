// Responses request -> chat request. Runs once for each attempt at a provider that does not speak the responses dialect.
// What chat completions cannot say is refused by name; what is only a hint is reported. May not change the body it is given.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { Conversation } from './conversation.js';
import type { Open } from './parts.js';
import { chatToolChoice, chatTools } from './tools.js';

/** Members of the dialect; every other member is a provider's own and goes on as it is. */
const ownMembers: ReadonlySet<string> = new Set([
  'background', 'context_management', 'conversation', 'include', 'input', 'instructions', 'max_output_tokens', 'max_tool_calls', 'metadata', 'model', 'moderation',
  'parallel_tool_calls', 'previous_response_id', 'prompt', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'reasoning', 'safety_identifier',
  'service_tier', 'store', 'stream', 'stream_options', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user',
]);

/** Members of a chat request that would change the translated one, and what says the same here. */
const chatMembers: ReadonlyMap<string, string> = new Map([
  ['messages', 'input'], ['functions', 'tools'], ['function_call', 'tool_choice'], ['response_format', 'text.format'], ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'], ['reasoning_effort', 'reasoning.effort'], ['verbosity', 'text.verbosity'],
  ['logprobs', 'include with message.output_text.logprobs'], ['n', 'one call for each answer'], ['modalities', 'chat completions'], ['audio', 'chat completions'],
]);

/** Without effect on what the answer means; a default counts as absent. */
const hints: readonly (readonly [member: string, without: readonly Json[]])[] = [
  ['safety_identifier', []], ['prompt_cache_key', []], ['prompt_cache_options', []], ['prompt_cache_retention', ['in_memory']], ['service_tier', ['auto', 'default']],
  ['truncation', ['disabled']], ['max_tool_calls', []], ['context_management', []],
];

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** `history`: input and output items of the responses before this one, oldest first. */
export function responsesToChat(body: JsonObject, history: readonly Json[], context: TranslateContext): JsonObject {
  refuseWhatChatLacks(body, context);
  const chat: Open = {};
  copyForeign(body, chat, context);
  if (isGiven(body.model)) chat.model = body.model;
  chat.messages = messagesOf(body, history, context);
  const tools = chatTools(body, context);
  const choice = chatToolChoice(body, tools.length > 0, context);
  if (tools.length > 0) {
    chat.tools = tools;
    if (choice !== undefined) chat.tool_choice = choice;
    if (isGiven(body.parallel_tool_calls)) chat.parallel_tool_calls = body.parallel_tool_calls;
  }
  if (isGiven(body.max_output_tokens)) chat.max_completion_tokens = body.max_output_tokens;
  for (const member of ['temperature', 'top_p', 'user']) {
    const value = body[member];
    if (isGiven(value)) chat[member] = value;
  }
  copyLogprobs(body, chat, context);
  copyText(body, chat, context);
  copyReasoning(body, chat, context);
  for (const [member, without] of hints) {
    const value = body[member];
    if (isGiven(value) && !without.includes(value)) context.report(member);
  }
  if (body.stream === true) {
    chat.stream = true;
    chat.stream_options = { include_usage: true };
    if (isObject(body.stream_options) && body.stream_options.include_obfuscation === true) context.report('stream_options.include_obfuscation');
  }
  return chat;
}

function refuseWhatChatLacks(body: JsonObject, context: TranslateContext): void {
  if (isGiven(body.background) && body.background !== false) context.omit('background', 'this provider answers in the foreground only; leave it out');
  if (isGiven(body.conversation)) context.refuse('conversation', 'conversations are kept by OpenAI only; use previous_response_id, or send the items');
  if (isGiven(body.prompt)) context.refuse('prompt', 'stored prompts are kept by OpenAI only; send instructions and input');
  if (isGiven(body.moderation)) context.omit('moderation', 'this provider does not moderate');
  for (const [member, instead] of chatMembers) if (isGiven(body[member])) context.refuse(member, `is no parameter of the responses API; use ${instead}`);
}

function copyForeign(body: JsonObject, chat: Open, context: TranslateContext): void {
  for (const [member, value] of Object.entries(body)) {
    if (ownMembers.has(member) || chatMembers.has(member) || member === '__proto__') continue;
    if ((member === 'thinking' || member === 'top_k' || member === 'cache_control') && !context.accepts.has(member)) {
      if (isGiven(value)) context.report(member);
      continue;
    }
    chat[member] = value;
  }
}

function messagesOf(body: JsonObject, history: readonly Json[], context: TranslateContext): Json[] {
  const { input, instructions } = body;
  const conversation = new Conversation(context);
  if (isGiven(instructions)) {
    if (typeof instructions !== 'string') return context.refuse('instructions', 'must be a text');
    if (instructions !== '') conversation.system(instructions);
  }
  conversation.know(history);
  for (const item of history) conversation.add(item, 'previous_response_id');
  if (typeof input === 'string') conversation.add({ type: 'message', role: 'user', content: input }, 'input');
  else if (Array.isArray(input)) input.forEach((item: Json, index) => conversation.add(item, `input[${index}]`));
  else if (isGiven(input)) context.refuse('input', 'must be a text or a list of items');
  const messages = conversation.messages();
  return messages.length === 0 ? context.refuse('input', 'must be a text or a list of items') : messages;
}

function copyLogprobs(body: JsonObject, chat: Open, context: TranslateContext): void {
  const { include, top_logprobs: top } = body;
  if (isGiven(include) && !Array.isArray(include)) context.refuse('include', 'must be a list');
  const isWanted = Array.isArray(include) && include.includes('message.output_text.logprobs');
  const hasTop = isGiven(top) && top !== 0;
  if (isWanted || hasTop) chat.logprobs = true;
  if (hasTop) chat.top_logprobs = top;
}

function copyText(body: JsonObject, chat: Open, context: TranslateContext): void {
  const { text } = body;
  if (!isGiven(text)) return;
  if (!isObject(text)) return context.refuse('text', 'must be an object with a format');
  if (isGiven(text.verbosity)) chat.verbosity = text.verbosity;
  const { format } = text;
  if (!isGiven(format)) return;
  if (!isObject(format)) return context.refuse('text.format', 'must be an object with a type');
  switch (format.type) {
    case 'text': return;
    case 'json_object':
      chat.response_format = { type: 'json_object' };
      return;
    case 'json_schema': {
      const described: Open = { name: typeof format.name === 'string' ? format.name : context.refuse('text.format.name', 'must be a text') };
      if (typeof format.description === 'string') described.description = format.description;
      described.schema = isObject(format.schema) ? format.schema : context.refuse('text.format.schema', 'must be a JSON schema');
      if (typeof format.strict === 'boolean') described.strict = format.strict;
      chat.response_format = { type: 'json_schema', json_schema: described };
      return;
    }
    default: return context.refuse('text.format.type', 'must be text, json_object or json_schema');
  }
}

function copyReasoning(body: JsonObject, chat: Open, context: TranslateContext): void {
  const { reasoning } = body;
  if (!isGiven(reasoning)) return;
  if (!isObject(reasoning)) return context.refuse('reasoning', 'must be an object');
  if (isGiven(reasoning.effort)) chat.reasoning_effort = reasoning.effort;
  // Reasoning that the provider shows is always told as the summary: `auto` gets what it asks for, a wish for its length does not.
  const summary = reasoning.summary ?? reasoning.generate_summary;
  if (isGiven(summary) && summary !== 'auto') context.report('reasoning.summary');
  if (isGiven(reasoning.mode) && reasoning.mode !== 'standard') context.report('reasoning.mode');
  if (isGiven(reasoning.context) && reasoning.context !== 'auto') context.report('reasoning.context');
}
