// POST /v1/moderations: the members of its body, checked for each call. Newer models take arrays of texts and images.

import { jsonEndpoint } from './endpoint.js';
import { described, fault, text } from './rules.js';

const input = described({ type: ['string', 'array'] }, (value, name) => (typeof value === 'string' || Array.isArray(value) ? undefined : fault(name, 'must be a string or an array')));

export const moderations = jsonEndpoint('moderations', {
  required: { input: { expected: 'the text to classify', check: input } },
  optional: { model: text },
});
