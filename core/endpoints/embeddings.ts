// POST /v1/embeddings

import { jsonEndpoint } from './endpoint.js';
import { integerIn, oneOf, required, requiredText, text, unlimited, type Rule } from './rules.js';

const input: Rule = (body) => {
  const value = body.input;
  if (typeof value === 'string') return undefined;
  if (!Array.isArray(value)) return { param: 'input', reason: 'must be a string, an array of strings, of tokens, or of token arrays' };
  return value.length === 0 ? { param: 'input', reason: 'must not be empty' } : undefined;
};

export const embeddings = jsonEndpoint('embeddings', [
  requiredText('model'),
  required('input', 'a string or an array'),
  input,
  integerIn('dimensions', 1, unlimited),
  oneOf('encoding_format', ['float', 'base64']),
  text('user'),
]);
