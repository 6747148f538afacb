// The families whose objects live at one provider: files, batches, fine-tuning. Their calls take exactly one target. Bodies of the two create
// calls are checked when they come in; all others are relayed.

import { dialects } from '../dialect/dialects.js';
import { jsonEndpoint, plainEndpoint, uploadEndpoint } from './endpoint.js';
import { integer, list, object, oneOf, requiredText, text } from './rules.js';
import { metadataPairs } from './shared-fields.js';

export const uploadFile = uploadEndpoint('files', true);
export const storedFile = plainEndpoint('files', 'none', dialects.chat, true);

/** The first three are the specification's; OpenAI takes the others as well. */
const batchEndpoints = [
  '/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses', '/v1/moderations', '/v1/images/generations', '/v1/images/edits', '/v1/videos',
];

export const createBatch = jsonEndpoint('batches', {
  required: {
    input_file_id: requiredText,
    completion_window: { expected: 'immediate or 24h', check: oneOf(['immediate', '24h']) },
    endpoint: { expected: 'the path that every line of the file calls', check: oneOf(batchEndpoints) },
  },
  optional: { metadata: metadataPairs },
}, dialects.chat, true);
export const storedBatch = plainEndpoint('batches', 'none', dialects.chat, true);
export const cancelBatch = plainEndpoint('batches', 'any', dialects.chat, true);

export const createJob = jsonEndpoint('fineTuning', {
  required: { model: requiredText, training_file: requiredText },
  optional: {
    hyperparameters: object,
    integrations: list(0, 5),
    metadata: metadataPairs,
    method: object,
    seed: integer,
    suffix: text,
    validation_file: text,
  },
}, dialects.chat, true);
export const storedJob = plainEndpoint('fineTuning', 'none', dialects.chat, true);
export const cancelJob = plainEndpoint('fineTuning', 'any', dialects.chat, true);
