// POST /v1/chat/completions

import { jsonEndpoint } from './endpoint.js';
import { flag, integerIn, isObject, list, logitBias, numberIn, object, required, requiredText, streamOptions, text, textOrList, unlimited, type Rule } from './rules.js';

const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

function message(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object with role and content';
  return roles.has(value.role) ? undefined : 'role must be one of system, developer, user, assistant, tool, function';
}

function tool(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object such as {"type": "function", "function": {"name": ...}}';
  if (typeof value.type !== 'string') return 'type is missing; it must be function';
  if (value.type !== 'function') return undefined;
  return isObject(value.function) && typeof value.function.name === 'string' ? undefined : 'function.name is missing; it must be a string';
}

const toolChoice: Rule = (body) => {
  const value = body.tool_choice;
  if (value === undefined || value === null || isObject(value) || value === 'none' || value === 'auto' || value === 'required') return undefined;
  return { param: 'tool_choice', reason: 'must be none, auto, required, or an object naming a function' };
};

const topLogprobs: Rule = (body) => {
  const value = body.top_logprobs;
  if (value === undefined || value === null) return undefined;
  return body.logprobs === true ? undefined : { param: 'top_logprobs', reason: 'requires logprobs to be true' };
};

const functionCall: Rule = (body) => {
  const value = body.function_call;
  return value === undefined || value === null || isObject(value) || typeof value === 'string' ? undefined : { param: 'function_call', reason: 'must be a string or an object naming a function' };
};

export const chatCompletions = jsonEndpoint('chatCompletions', [
  required('messages', 'an array of messages'),
  list('messages', 1, unlimited, message),
  requiredText('model'),
  flag('stream'),
  streamOptions,
  numberIn('temperature', 0, 2),
  numberIn('top_p', 0, 1),
  integerIn('n', 1, 128),
  numberIn('frequency_penalty', -2, 2),
  numberIn('presence_penalty', -2, 2),
  integerIn('max_tokens', 0, unlimited),
  integerIn('max_completion_tokens', 0, unlimited),
  flag('logprobs'),
  integerIn('top_logprobs', 0, 20),
  topLogprobs,
  logitBias,
  textOrList('stop', 4),
  integerIn('seed', Number.NEGATIVE_INFINITY, unlimited),
  object('response_format'),
  list('tools', 0, 128, tool),
  toolChoice,
  flag('parallel_tool_calls'),
  list('functions', 1, 128),
  functionCall,
  object('thinking'),
  text('user'),
]);
