// GET /v1/models and /v1/models/{id}: relayed to the provider, which knows its models.

import type { EndpointDefinition } from '../exchange/endpoint.js';
import { plainEndpoint } from './endpoint.js';

/** Who may not call models may still see which there are. */
export const models: EndpointDefinition = Object.freeze({ ...plainEndpoint('models', 'none'), otherScopes: ['virtual_keys.list', 'models.list'] });
