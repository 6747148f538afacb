// Every path without a route of its own: relayed as it is.

import { plainEndpoint } from './endpoint.js';

export const proxy = plainEndpoint('proxy', 'any');
