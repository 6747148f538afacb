// Limits as rows keep them: in the words of the wire, since nothing reads single members before they are resolved.

import { Type } from '../type.js';
import { choice, object, orNull } from '../schema-parts.js';

export const usageLimits = object({
  credit_limit: Type.Optional(orNull(Type.Number({ minimum: 0 }))),
  type: Type.Optional(choice(['cost', 'tokens'])),
  alert_threshold: Type.Optional(orNull(Type.Number({ minimum: 0 }))),
  periodic_reset: Type.Optional(orNull(choice(['monthly', 'weekly']))),
  periodic_reset_days: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 365 }))),
  next_usage_reset_at: Type.Optional(orNull(Type.String())),
});

export const rateLimit = object({
  type: choice(['requests', 'tokens']),
  unit: choice(['rps', 'rpm', 'rph', 'rpd', 'rpw']),
  value: Type.Integer({ minimum: 0 }),
});
