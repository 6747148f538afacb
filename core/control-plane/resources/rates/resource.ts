// GET /v1/rates/{provider}: what the table of prices has for a model, for threads that serve calls (control-plane/rate-question.ts): they do not load the table themselves.
// Not among the resources that clients are told of; for them there is /v1/model-configs.

import { priceTable, type Rates } from '../../../limits/prices.js';
import { object, orNull } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { defineResource, operation } from '../../define-resource.js';
import { tableNameOf } from '../model-configs/model-facts.js';

export const ratesResource = defineResource({
  name: 'rates',
  kind: 'model',
  operations: {
    read: operation({
      method: 'GET', path: '/rates/{provider}', scope: ['completions.write', 'virtual_keys.list', 'models.list'], query: object({ model: Type.String({ maxLength: 256 }) }),
      reply: object({ rates: orNull(Type.Unsafe<Rates>({ type: 'object' })), is_timely: Type.Boolean() }),
      handle: async ({ services, nowMs }, { params, query }) => {
        const listed = (await priceTable()).find(await tableNameOf(services.registry, params.provider ?? ''), query.model, nowMs);
        return { rates: listed?.rates ?? null, is_timely: listed?.isTimely ?? false };
      },
    }),
  },
});
