// The families whose objects live at one provider: files, batches, fine-tuning. Their calls take exactly one target.

import { jsonEndpoint, plainEndpoint, uploadEndpoint } from './endpoint.js';
import { integerIn, list, metadataPairs, oneOf, requiredText, unlimited } from './rules.js';

export const uploadFile = uploadEndpoint('files', true);
export const storedFile = plainEndpoint('files', 'none', 'chat', true);

export const createBatch = jsonEndpoint('batches', [
  requiredText('input_file_id'),
  requiredText('completion_window'),
  oneOf('completion_window', ['immediate', '24h']),
  requiredText('endpoint'),
  oneOf('endpoint', ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses', '/v1/moderations', '/v1/images/generations', '/v1/images/edits']),
  metadataPairs,
], 'chat', true);
export const storedBatch = plainEndpoint('batches', 'none', 'chat', true);
export const cancelBatch = plainEndpoint('batches', 'any', 'chat', true);

export const createJob = jsonEndpoint('fineTuning', [
  requiredText('model'),
  requiredText('training_file'),
  list('integrations', 0, 5),
  integerIn('seed', 0, unlimited),
  metadataPairs,
], 'chat', true);
export const storedJob = plainEndpoint('fineTuning', 'none', 'chat', true);
export const cancelJob = plainEndpoint('fineTuning', 'any', 'chat', true);
