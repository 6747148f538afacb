// POST /v1/responses, and the calls below it

import { jsonEndpoint, plainEndpoint } from './endpoint.js';
import { flag, integerIn, list, metadataPairs, numberIn, oneOf, text, unlimited, type Rule } from './rules.js';

const input: Rule = (body) => {
  const { input: value } = body;
  return value === undefined || value === null || typeof value === 'string' || Array.isArray(value) ? undefined : { param: 'input', reason: 'must be a string or an array of items' };
};

export const createResponse = jsonEndpoint('responses', [
  text('model'),
  input,
  text('instructions'),
  text('previous_response_id'),
  integerIn('max_output_tokens', 1, unlimited),
  numberIn('temperature', 0, 2),
  numberIn('top_p', 0, 1),
  list('tools', 0, unlimited),
  flag('parallel_tool_calls'),
  flag('stream'),
  flag('store'),
  oneOf('truncation', ['auto', 'disabled']),
  metadataPairs,
], 'responses');
export const storedResponse = plainEndpoint('responses', 'none', 'responses');
export const cancelResponse = plainEndpoint('responses', 'any', 'responses');
