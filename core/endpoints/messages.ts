// POST /v1/messages and /v1/messages/count_tokens: Anthropic's API, with its error shape.

import { jsonEndpoint } from './endpoint.js';
import { flag, integerIn, isObject, list, numberIn, required, requiredText, textOrList, unlimited, type Rule } from './rules.js';

const message = (value: unknown): string | undefined => {
  if (!isObject(value)) return 'must be an object with role and content';
  if (value.role !== 'user' && value.role !== 'assistant' && value.role !== 'system') return 'role must be user or assistant';
  return typeof value.content === 'string' || Array.isArray(value.content) ? undefined : 'content must be a string or an array of blocks';
};

const shared: readonly Rule[] = [requiredText('model'), required('messages', 'an array of messages'), list('messages', 1, unlimited, message), list('tools', 0, unlimited)];

export const messages = jsonEndpoint('messages', [
  ...shared,
  required('max_tokens', 'a whole number'),
  integerIn('max_tokens', 0, unlimited),
  numberIn('temperature', 0, 1),
  numberIn('top_p', 0, 1),
  integerIn('top_k', 0, unlimited),
  textOrList('stop_sequences', unlimited),
  flag('stream'),
], 'messages');
export const countTokens = jsonEndpoint('countTokens', shared, 'messages');
