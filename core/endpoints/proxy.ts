// Every path without a route of its own, and /v1/proxy/*: method, path, query and body are relayed as they are.

import { plainEndpoint } from './endpoint.js';

export const proxy = plainEndpoint('proxy', 'any');
