// Hot: runs for each rerank call.
// POST /v1/rerank: the members of its body.

import { isObject } from '@gateway/plugin-sdk';
import { jsonEndpoint } from './endpoint.js';
import { describedItem, flag, integerIn, list, requiredText, text, unlimited } from './rules.js';

const document = describedItem({ anyOf: [{ type: 'string' }, { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }] }, (value) =>
  (typeof value === 'string' || (isObject(value) && typeof value.text === 'string') ? undefined : 'must be a string or an object with text'));

export const rerank = jsonEndpoint('rerank', {
  required: {
    model: requiredText,
    query: { expected: 'the text to compare with', check: text },
    documents: { expected: 'an array of strings or of objects with text', check: list(1, unlimited, document) },
  },
  optional: {
    top_n: integerIn(1, unlimited),
    return_documents: flag,
    max_chunks_per_doc: integerIn(1, unlimited),
  },
});
