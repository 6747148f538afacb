// GET /v1/models and /v1/models/{id}

import { plainEndpoint } from './endpoint.js';

export const models = plainEndpoint('models', 'none');
