// Hot: runs for each call of Anthropic's API.
// POST /v1/messages and /v1/messages/count_tokens: the members of their bodies, and Anthropic's error shape.

import { isObject } from '@gateway/plugin-sdk';
import { dialects } from '../dialect/dialects.js';
import { jsonEndpoint } from './endpoint.js';
import { described, describedItem, fault, flag, integerIn, isText, list, numberIn, object, requiredText, unlimited, type Check, type RequiredField } from './rules.js';

/** A system message may stand between turns in newer models. */
const roleNames = ['user', 'assistant', 'system'];
const roles: ReadonlySet<unknown> = new Set(roleNames);

const textOrArray = { type: ['string', 'array'] };
const message = describedItem({ title: 'Message', type: 'object', required: ['role', 'content'], properties: { role: { type: 'string', enum: roleNames }, content: textOrArray } }, (value) => {
  if (!isObject(value)) return 'must be an object with role and content';
  if (!roles.has(value.role)) return 'role must be user or assistant';
  return typeof value.content === 'string' || Array.isArray(value.content) ? undefined : 'content must be a string or an array of blocks';
});

const system = described(textOrArray, (value, name) => (typeof value === 'string' || Array.isArray(value) ? undefined : fault(name, 'must be a string or an array of text blocks')));

const tool = describedItem({ type: 'object' }, (value) => (isObject(value) ? undefined : 'must be an object with name and input_schema'));

const required: Readonly<Record<string, RequiredField>> = {
  model: requiredText,
  messages: { expected: 'an array of messages', check: list(1, unlimited, message) },
};
const optional: Readonly<Record<string, Check>> = {
  system,
  thinking: object,
  tool_choice: object,
  tools: list(0, unlimited, tool),
};

export const messages = jsonEndpoint('messages', {
  // 0 only fills the prompt cache.
  required: { ...required, max_tokens: { expected: 'the largest number of tokens to generate', check: integerIn(0, unlimited) } },
  optional: {
    ...optional,
    metadata: object,
    stop_sequences: list(0, unlimited, isText),
    stream: flag,
    temperature: numberIn(0, 1),
    top_k: integerIn(0, unlimited),
    top_p: numberIn(0, 1),
  },
}, dialects.messages);
export const countTokens = jsonEndpoint('countTokens', { required, optional }, dialects.messages);
