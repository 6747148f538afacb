// Limits as clients write them, on keys, workspaces and providers: the schemas of the members, and the rules that span several.

import { Type } from '../storage/type.js';
import { fail } from '../errors/gateway-error.js';
import { choice, object, orNull } from '../storage/schema-parts.js';
import { named } from './envelope.js';

const units = ['rpm', 'rph', 'rpd', 'rpw'] as const;
const unitsOfKeys = ['rps', ...units] as const;

export interface RateLimit {
  readonly type: 'requests' | 'tokens';
  readonly unit: (typeof unitsOfKeys)[number];
  readonly value: number;
}

export interface UsageLimits {
  readonly credit_limit?: number | null;
  readonly type?: 'cost' | 'tokens';
  readonly alert_threshold?: number | null;
  readonly periodic_reset?: 'monthly' | 'weekly' | null;
  readonly periodic_reset_days?: number | null;
  readonly next_usage_reset_at?: string | null;
}

const rateLimitField = (name: string, allowed: readonly string[]) => named(name, object({
  type: choice(['requests', 'tokens']),
  unit: Type.Unsafe<RateLimit['unit']>({ type: 'string', enum: [...allowed] }),
  value: Type.Integer({ minimum: 0, description: '0 refuses every call' }),
}));
/** `rps` is for keys alone. */
export const rateLimitFields = Object.freeze({ ofKeys: rateLimitField('KeyRateLimit', unitsOfKeys), ofOthers: rateLimitField('RateLimit', units) });

export const usageLimitsField = named('UsageLimits', object({
  credit_limit: Type.Optional(orNull(Type.Integer({ minimum: 1, description: 'US dollars, or tokens' }))),
  type: Type.Optional(choice(['cost', 'tokens'])),
  alert_threshold: Type.Optional(orNull(Type.Integer({ minimum: 1 }))),
  periodic_reset: Type.Optional(orNull(choice(['monthly', 'weekly']))),
  periodic_reset_days: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 365 }))),
  next_usage_reset_at: Type.Optional(orNull(Type.String({ format: 'date-time' }))),
}));

/** As they are stored. Throws FIELD_INVALID with a place below `param`. */
export function checkedUsageLimits(given: UsageLimits, param: string, nowMs: number): UsageLimits {
  const { credit_limit = null, alert_threshold = null, periodic_reset = null, periodic_reset_days = null, next_usage_reset_at = null } = given;
  const refuse = (name: string, reason: string): never => { throw fail('FIELD_INVALID', { param: `${param}.${name}`, reason }); };
  if (credit_limit === null && alert_threshold === null) refuse('credit_limit', 'is required; give null for the limits as a whole to have none');
  if (credit_limit !== null && alert_threshold !== null && alert_threshold > credit_limit) refuse('alert_threshold', 'is more than credit_limit, so it would never be reached');
  if (periodic_reset !== null && periodic_reset_days !== null) refuse('periodic_reset_days', 'cannot stand beside periodic_reset; give one of the two');
  let nextMs: number | null = null;
  if (next_usage_reset_at !== null) {
    nextMs = Date.parse(next_usage_reset_at);
    if (periodic_reset === null && periodic_reset_days === null) refuse('next_usage_reset_at', 'needs periodic_reset or periodic_reset_days');
    if (!(nextMs > nowMs)) refuse('next_usage_reset_at', 'must be in the future');
  }
  return {
    credit_limit, type: given.type ?? 'cost', alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at: nextMs === null ? null : new Date(nextMs).toISOString(),
  };
}

/** As they are stored. Throws FIELD_INVALID. */
export function checkedRateLimits(given: readonly RateLimit[], param: string): readonly RateLimit[] {
  const seen = new Set<string>();
  for (const [index, { type, unit }] of given.entries()) {
    if (seen.has(`${type} ${unit}`)) throw fail('FIELD_INVALID', { param: `${param}.${index}`, reason: `is a second limit of ${type} by ${unit}; give one` });
    seen.add(`${type} ${unit}`);
  }
  return given;
}
