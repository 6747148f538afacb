// POST /v1/completions

import { jsonEndpoint } from './endpoint.js';
import { flag, integerIn, logitBias, numberIn, required, requiredText, streamOptions, text, textOrList, unlimited, type Rule } from './rules.js';

const prompt: Rule = (body) => (typeof body.prompt === 'string' || Array.isArray(body.prompt)
  ? undefined
  : { param: 'prompt', reason: 'must be a string, an array of strings, of tokens, or of token arrays' });

const bestOf: Rule = (body) => {
  const { best_of: best, n } = body;
  if (typeof best !== 'number') return undefined;
  if (body.stream === true && best > 1) return { param: 'best_of', reason: 'cannot be streamed; leave out stream or best_of' };
  if (typeof n === 'number' && n > 1 && best <= n) return { param: 'best_of', reason: `must be greater than n (${n})` };
  return undefined;
};

export const completions = jsonEndpoint('completions', [
  requiredText('model'),
  required('prompt', 'a string or an array'),
  prompt,
  integerIn('best_of', 0, 20),
  bestOf,
  flag('echo'),
  flag('stream'),
  streamOptions,
  numberIn('temperature', 0, 2),
  numberIn('top_p', 0, 1),
  integerIn('n', 1, 128),
  numberIn('frequency_penalty', -2, 2),
  numberIn('presence_penalty', -2, 2),
  logitBias,
  integerIn('logprobs', 0, 5),
  integerIn('max_tokens', 0, unlimited),
  integerIn('seed', Number.NEGATIVE_INFINITY, unlimited),
  textOrList('stop', 4),
  text('suffix'),
  text('user'),
]);
