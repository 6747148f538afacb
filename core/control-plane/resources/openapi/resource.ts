// The OpenAPI description of the API. Served without a key: it contains no stored data.

import { anyObject, object } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { defineResource, operation } from '../../define-resource.js';

export const openapiResource = defineResource({
  name: 'openapi',
  kind: 'api-description',
  operations: {
    read: operation({
      method: 'GET', path: '/openapi.json', scope: null, isPublic: true,
      reply: object({
        openapi: Type.String({ examples: ['3.1.0'] }), info: anyObject(), servers: Type.Array(anyObject()), security: Type.Array(anyObject()), tags: Type.Array(anyObject()), paths: anyObject(), components: anyObject(),
      }),
      handle: async (context) => {
        context.answer.text = await context.services.apiDescription();
        return {};
      },
    }),
  },
});
