// POST /v1/rerank

import { jsonEndpoint } from './endpoint.js';
import { flag, integerIn, isObject, list, required, requiredText, unlimited } from './rules.js';

const document = (value: unknown): string | undefined =>
  (typeof value === 'string' || (isObject(value) && typeof value.text === 'string') ? undefined : 'must be a string or an object with text');

export const rerank = jsonEndpoint('rerank', [
  requiredText('model'),
  requiredText('query'),
  required('documents', 'an array'),
  list('documents', 1, unlimited, document),
  integerIn('top_n', 1, unlimited),
  flag('return_documents'),
  integerIn('max_chunks_per_doc', 1, unlimited),
]);
