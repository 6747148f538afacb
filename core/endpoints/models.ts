// GET /v1/models and /v1/models/{id}: relayed to the provider, which knows its models.

import { plainEndpoint } from './endpoint.js';

export const models = plainEndpoint('models', 'none');
