// Hot: runs for each chat completion.
// POST /v1/chat/completions: the members of its body. `thinking` also needs strict_reference_compliance false, which the pipeline checks,
// because it is the config that says so.

import { isObject } from '@gateway/plugin-sdk';
import { jsonEndpoint } from './endpoint.js';
import { fault, flag, integer, integerIn, list, numberIn, object, requiredText, text, textOrList, textOrObject, unlimited, type Check } from './rules.js';
import { logitBias, streamOptions } from './shared-fields.js';

const roles: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

function message(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object with role and content';
  return roles.has(value.role) ? undefined : 'role must be one of system, developer, user, assistant, tool, function';
}

/** Kinds beyond function (custom, a provider's own) pass: their provider judges them. */
function tool(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object such as {"type": "function", "function": {"name": ...}}';
  if (typeof value.type !== 'string') return 'type is missing; it must be function';
  if (value.type !== 'function') return undefined;
  return isObject(value.function) && typeof value.function.name === 'string' && value.function.name !== '' ? undefined : 'function.name is missing; it must be a string';
}

function legacyFunction(value: unknown): string | undefined {
  return isObject(value) && typeof value.name === 'string' && value.name !== '' ? undefined : 'must be an object with the name of a function';
}

const toolChoice: Check = (value, name) => (isObject(value) || value === 'none' || value === 'auto' || value === 'required'
  ? undefined
  : fault(name, 'must be none, auto, required, or an object naming a function'));

const topLogprobsRange = integerIn(0, 20);
const topLogprobs: Check = (value, name, body) =>
  topLogprobsRange(value, name, body) ?? (body.logprobs === true ? undefined : fault(name, 'requires logprobs to be true; set logprobs or leave this out'));

export const chatCompletions = jsonEndpoint('chatCompletions', {
  required: {
    messages: { expected: 'an array of messages', check: list(1, unlimited, message) },
    model: requiredText,
  },
  optional: {
    frequency_penalty: numberIn(-2, 2),
    logit_bias: logitBias,
    logprobs: flag,
    top_logprobs: topLogprobs,
    max_tokens: integerIn(0, unlimited),
    max_completion_tokens: integerIn(0, unlimited),
    n: integerIn(1, 128),
    presence_penalty: numberIn(-2, 2),
    response_format: object,
    seed: integer,
    stop: textOrList(4),
    stream: flag,
    stream_options: streamOptions,
    thinking: object,
    temperature: numberIn(0, 2),
    top_p: numberIn(0, 1),
    tools: list(0, 128, tool),
    tool_choice: toolChoice,
    parallel_tool_calls: flag,
    user: text,
    function_call: textOrObject,
    functions: list(1, 128, legacyFunction),
  },
});
