// Hot: runs for each embedding call.
// POST /v1/embeddings: the members of its body. Items of `input` are left to the provider: some take objects with images.

import { jsonEndpoint } from './endpoint.js';
import { described, fault, integerIn, requiredText, text, unlimited } from './rules.js';

const input = described({ anyOf: [{ type: 'string' }, { type: 'array', minItems: 1 }] }, (value, name) => {
  if (typeof value === 'string') return undefined;
  if (!Array.isArray(value)) return fault(name, 'must be a string, an array of strings, of tokens, or of token arrays');
  return value.length === 0 ? fault(name, 'must have at least 1 item') : undefined;
});

export const embeddings = jsonEndpoint('embeddings', {
  required: {
    model: requiredText,
    input: { expected: 'a string or an array', check: input },
  },
  optional: {
    dimensions: integerIn(1, unlimited),
    encoding_format: text,
    user: text,
  },
});
