import { object } from '../schema-parts.js';
import { Type, type Static } from '../type.js';

/** As organisations and workspaces store it, in the words of the wire. */
export const logBodySettings = object({
  enabled: Type.Optional(Type.Boolean({ description: 'bodies and headers of calls are kept in the log' })),
  by_call: Type.Optional(Type.Boolean({ description: 'calls may ask for it themselves, with x-gateway-debug: true; by default they may' })),
  bytes_max: Type.Optional(Type.Integer({ minimum: 256, maximum: 1_048_576, description: 'of each body that is kept; longer ones are cut. 65536 by default' })),
  masked_headers: Type.Optional(Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$" }), { maxItems: 100, uniqueItems: true, description: 'headers whose values are masked, beside those that hold credentials' })),
  keep_original: Type.Optional(Type.Boolean({ description: 'also what guardrails changed is kept as it was before' })),
});
export type LogBodySettings = Static<typeof logBodySettings>;
