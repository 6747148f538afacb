// Limits of providers and of workspaces on integrations: one object, or a list of one, as older and newer clients send them.

import { object, orNull } from '../../../storage/schema-parts.js';
import type { ProviderRow } from '../../../storage/tables/providers.js';
import { Type, type TSchema } from '../../../storage/type.js';
import { fail } from '../../../errors/gateway-error.js';
import { checkedRateLimits, checkedUsageLimits, rateLimitFields, usageLimitsField, type RateLimit, type UsageLimits } from '../../limit-fields.js';

/** Kinds of limits there are, by unit and type. */
const rateLimitsMax = 8;

const oneOrList = <T>(schema: TSchema<T>, maxItems: number): TSchema<T | readonly T[] | null> => Type.Unsafe<T | readonly T[] | null>({
  type: ['object', 'array', 'null'], if: { type: 'array' }, then: { type: 'array', maxItems, items: schema }, else: orNull(schema),
});

export const limitFields = {
  usage_limits: Type.Optional(oneOrList(usageLimitsField, 1)),
  rate_limits: Type.Optional(oneOrList(rateLimitFields.ofOthers, rateLimitsMax)),
};

/** Of a workspace on an integration: one of a kind. */
export const accessLimitFields = {
  usage_limits: Type.Optional(oneOrList(usageLimitsField, 1)),
  rate_limits: Type.Optional(oneOrList(rateLimitFields.ofOthers, 1)),
};
export const globalAccessField = object({ enabled: Type.Boolean(), ...accessLimitFields });

/** In replies: lists, or null for none. */
export const limitLists = { usage_limits: orNull(Type.Array(usageLimitsField, { maxItems: 1 })), rate_limits: orNull(Type.Array(rateLimitFields.ofOthers)) };

export type GivenUsage = UsageLimits | readonly UsageLimits[] | null | undefined;
export type GivenRates = RateLimit | readonly RateLimit[] | null | undefined;

const listOf = <T>(given: T | readonly T[] | null): readonly T[] => (given === null ? [] : Array.isArray(given) ? given : [given as T]);

/** As they are stored; `before` when nothing is said of them. */
export function usageOf(given: GivenUsage, before: ProviderRow['usageLimits'], param: string, nowMs: number): ProviderRow['usageLimits'] {
  if (given === undefined) return before;
  const [limits] = listOf(given);
  return limits === undefined ? null : checkedUsageLimits(limits, param, nowMs);
}

export const ratesOf = (given: GivenRates, before: ProviderRow['rateLimits'], param: string): ProviderRow['rateLimits'] => (given === undefined ? before : checkedRateLimits(listOf(given), param));

/** `expires_at`: absent as before, null never. */
export function expiryOf(given: string | null | undefined, before: number | null, nowMs: number): number | null {
  if (given === undefined || given === null) return given === null ? null : before;
  const atMs = Date.parse(given);
  if (!(atMs > nowMs)) throw fail('FIELD_INVALID', { param: 'expires_at', reason: 'must be in the future' });
  return atMs;
}
