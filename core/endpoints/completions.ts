// Hot: runs for each text completion.
// POST /v1/completions: the members of its body.

import { dialects } from '../dialect/dialects.js';
import { jsonEndpoint } from './endpoint.js';
import { described, fault, flag, integer, integerIn, numberIn, requiredText, text, textOrList, unlimited } from './rules.js';
import { logitBias, promptText, streamOptions } from './shared-fields.js';

const bestOfRange = integerIn(0, 20);

/** Must exceed n and cannot be streamed; the defaults of both, spelled out, are not faults. */
const bestOf = described({ ...bestOfRange.schema, description: 'greater than n; not for streams' }, (value, name, body) => {
  const found = bestOfRange(value, name, body);
  if (found !== undefined || typeof value !== 'number') return found;
  if (body.stream === true && value > 1) return fault(name, 'cannot be streamed; leave out stream or best_of');
  if (typeof body.n === 'number' && body.n > 1 && value <= body.n) return fault(name, `must be greater than n (${body.n})`);
  return undefined;
});

export const completions = jsonEndpoint('completions', {
  required: {
    model: requiredText,
    prompt: { expected: 'a string or an array', check: promptText },
  },
  optional: {
    best_of: bestOf,
    echo: flag,
    frequency_penalty: numberIn(-2, 2),
    logit_bias: logitBias,
    logprobs: integerIn(0, 5),
    max_tokens: integerIn(0, unlimited),
    n: integerIn(1, 128),
    presence_penalty: numberIn(-2, 2),
    seed: integer,
    stop: textOrList(4),
    stream: flag,
    stream_options: streamOptions,
    suffix: text,
    temperature: numberIn(0, 2),
    top_p: numberIn(0, 1),
    user: text,
  },
}, dialects.completions);
