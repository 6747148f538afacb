// Hot: runs for each chat completion.
// POST /v1/chat/completions: the members of its body. `thinking` also needs strict_reference_compliance false, which the pipeline checks,
// because it is the config that says so.

import { isObject } from '@gateway/plugin-sdk';
import { jsonEndpoint } from './endpoint.js';
import { described, describedItem, fault, flag, integer, integerIn, list, numberIn, object, requiredText, text, textOrList, textOrObject, unlimited } from './rules.js';
import { logitBias, streamOptions } from './shared-fields.js';

const roleNames = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];
const roles: ReadonlySet<unknown> = new Set(roleNames);

const content = { description: 'a text, or a list of parts' };
const message = describedItem({ title: 'ChatMessage', type: 'object', required: ['role'], properties: { role: { type: 'string', enum: roleNames }, content } }, (value) => {
  if (!isObject(value)) return 'must be an object with role and content';
  return roles.has(value.role) ? undefined : 'role must be one of system, developer, user, assistant, tool, function';
});

/** Of a function. */
const named = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } };

/** Kinds beyond function (custom, a provider's own) pass: their provider judges them. */
const tool = describedItem({
  title: 'ChatTool', type: 'object', required: ['type'], properties: { type: { type: 'string', examples: ['function'] } },
  if: { properties: { type: { const: 'function' } } }, then: { required: ['function'], properties: { function: named } },
}, (value) => {
  if (!isObject(value)) return 'must be an object such as {"type": "function", "function": {"name": ...}}';
  if (typeof value.type !== 'string') return 'type is missing; it must be function';
  if (value.type !== 'function') return undefined;
  return isObject(value.function) && typeof value.function.name === 'string' && value.function.name !== '' ? undefined : 'function.name is missing; it must be a string';
});

const legacyFunction = describedItem(named, (value) =>
  (isObject(value) && typeof value.name === 'string' && value.name !== '' ? undefined : 'must be an object with the name of a function'));

const toolChoice = described({ anyOf: [{ type: 'string', enum: ['none', 'auto', 'required'] }, { type: 'object' }] }, (value, name) => (isObject(value) || value === 'none' || value === 'auto' || value === 'required'
  ? undefined
  : fault(name, 'must be none, auto, required, or an object naming a function')));

const topLogprobsRange = integerIn(0, 20);
const topLogprobs = described({ ...topLogprobsRange.schema, description: 'requires logprobs to be true' }, (value, name, body) =>
  topLogprobsRange(value, name, body) ?? (body.logprobs === true ? undefined : fault(name, 'requires logprobs to be true; set logprobs or leave this out')));

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
