// Hot: runs for each call of the Responses API.
// POST /v1/responses: the members of its body. What is below it (/{id}, /{id}/cancel, /{id}/input_items) is relayed.

import { isObject } from '@gateway/plugin-sdk';
import { dialects } from '../dialect/dialects.js';
import { jsonEndpoint, plainEndpoint } from './endpoint.js';
import { described, describedItem, fault, flag, integerIn, list, numberIn, object, oneOf, text, textOrObject, unlimited } from './rules.js';
import { metadataPairs, streamOptions } from './shared-fields.js';

/** Not required: a stored prompt or a conversation may stand for it. */
const input = described({ type: ['string', 'array'] }, (value, name) => (typeof value === 'string' || Array.isArray(value) ? undefined : fault(name, 'must be a string or an array of items')));

const tool = describedItem({ type: 'object', required: ['type'], properties: { type: { type: 'string' } } }, (value) => (isObject(value) && typeof value.type === 'string' ? undefined : 'must be an object with a type'));

export const createResponse = jsonEndpoint('responses', {
  optional: {
    background: flag,
    include: list(0, unlimited),
    input,
    instructions: text,
    max_output_tokens: integerIn(1, unlimited),
    metadata: metadataPairs,
    model: text,
    parallel_tool_calls: flag,
    previous_response_id: text,
    reasoning: object,
    store: flag,
    stream: flag,
    stream_options: streamOptions,
    temperature: numberIn(0, 2),
    text: object,
    tool_choice: textOrObject,
    tools: list(0, unlimited, tool),
    top_logprobs: integerIn(0, 20),
    top_p: numberIn(0, 1),
    truncation: oneOf(['auto', 'disabled']),
    user: text,
  },
}, dialects.responses);
export const storedResponse = plainEndpoint('responses', 'none', dialects.responses);
export const cancelResponse = plainEndpoint('responses', 'any', dialects.responses);
