// When keys get a new secret: by the week (Mondays), by the month (the 1st), every some days, or at a date of the client's choice; always at midnight
// UTC. What the organisation enforces for keys of users stands above what a client asks for.

import { Type, type Static } from '../../../storage/type.js';
import { fail } from '../../../errors/gateway-error.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import type { ApiKeyRow } from '../../../storage/tables/api-keys.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;
export const transitionMsMin = 30 * minuteMs;
const transitionMsMax = 365 * dayMs;
/** The shortest month. */
const daysOfMonth = 28;

export const transitionField = () => Type.Optional(Type.Integer({ minimum: transitionMsMin, maximum: transitionMsMax, description: 'how long the secret before stays valid' }));

export const rotationPolicyField = object({
  rotation_period: Type.Optional(orNull(choice(['weekly', 'monthly']))),
  rotation_period_days: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 365 }))),
  next_rotation_at: Type.Optional(orNull(Type.String({ format: 'date-time' }))),
  key_transition_period_ms: transitionField(),
});
export type GivenPolicy = Static<typeof rotationPolicyField>;
export type RotationPolicy = NonNullable<ApiKeyRow['rotationPolicy']>;

/** `user_api_key_rotation_period` of the organisation. */
export type EnforcedPeriod = number | 'weekly' | 'monthly' | null;

const midnight = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** The first time after `fromMs` at which the period ends; null: the policy has no period. */
function periodEndMs({ rotation_period = null, rotation_period_days = null }: GivenPolicy | RotationPolicy, fromMs: number): number | null {
  const today = new Date(midnight(fromMs));
  if (rotation_period_days !== null) return today.getTime() + rotation_period_days * dayMs;
  if (rotation_period === 'monthly') return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1);
  // Day 0 is Sunday.
  if (rotation_period === 'weekly') return today.getTime() + (((8 - today.getUTCDay()) % 7) || 7) * dayMs;
  return null;
}

const periodDays = ({ rotation_period = null, rotation_period_days = null }: GivenPolicy | RotationPolicy): number | null =>
  rotation_period_days ?? (rotation_period === 'weekly' ? 7 : rotation_period === 'monthly' ? daysOfMonth : null);

/** Of the wire: 7 and 30 days are what the organisation means by the names. */
const enforcedDays = (period: EnforcedPeriod): number | null => (period === 'weekly' ? 7 : period === 'monthly' ? 30 : period);
const namedDays = ({ rotation_period = null, rotation_period_days = null }: GivenPolicy | RotationPolicy): number | null => rotation_period_days ?? enforcedDays(rotation_period);

/** After a rotation. */
export const rotatedPolicy = (policy: RotationPolicy | null, nowMs: number): RotationPolicy | null =>
  (policy === null ? null : { ...policy, next_rotation_at: isoOrNull(periodEndMs(policy, nowMs)) });

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The policy that a key without one gets where a period is enforced. */
export function enforcedPolicy(period: Exclude<EnforcedPeriod, null>, nowMs: number): RotationPolicy {
  const policy = typeof period === 'number' ? { rotation_period: null, rotation_period_days: period } : { rotation_period: period, rotation_period_days: null };
  return { ...policy, next_rotation_at: isoOrNull(periodEndMs(policy, nowMs)), key_transition_period_ms: transitionMsMin };
}

/** Whether a policy keeps to the enforced period. */
export const keepsTo = (policy: RotationPolicy | null, period: Exclude<EnforcedPeriod, null>): boolean =>
  policy !== null && namedDays(policy) === enforcedDays(period) && (policy.next_rotation_at ?? null) !== null;

/**
 * The policy that a key has after `given` was asked for; members that are not given stay as they are in `before`. `enforced` is null for keys that
 * no user owns. Throws FIELD_INVALID.
 */
export function checkedPolicy(given: GivenPolicy | null | undefined, before: RotationPolicy | null, enforced: EnforcedPeriod, nowMs: number): RotationPolicy | null {
  if (enforced !== null) return checkedEnforced(given, before, enforced, nowMs);
  if (given === undefined) return before;
  if (given === null) return null;
  return merged(given, before, nowMs);
}

function checkedEnforced(given: GivenPolicy | null | undefined, before: RotationPolicy | null, enforced: Exclude<EnforcedPeriod, null>, nowMs: number): RotationPolicy {
  const base = before !== null && keepsTo(before, enforced) ? before : { ...enforcedPolicy(enforced, nowMs), ...transitionOf(before) };
  if (given === undefined) return base;
  const rule = `the organisation rotates keys of users by the period ${enforced}`;
  if (given === null) throw invalid('rotation_policy', `cannot be taken away: ${rule}`);
  const days = namedDays(given);
  if (days !== null && days !== enforcedDays(enforced)) throw invalid((given.rotation_period ?? null) === null ? 'rotation_policy.rotation_period_days' : 'rotation_policy.rotation_period', `is another than what is enforced: ${rule}`);
  const next = given.next_rotation_at ?? null;
  // Clients send back what they read.
  if (next !== null && midnight(Date.parse(next)) !== Date.parse(base.next_rotation_at ?? '')) throw invalid('rotation_policy.next_rotation_at', `cannot be chosen: ${rule}`);
  const transition = given.key_transition_period_ms ?? base.key_transition_period_ms ?? transitionMsMin;
  checkTransition(transition, base, 'rotation_policy.key_transition_period_ms');
  return { ...base, key_transition_period_ms: transition };
}

const transitionOf = (policy: RotationPolicy | null): { readonly key_transition_period_ms?: number } =>
  (policy?.key_transition_period_ms === undefined ? {} : { key_transition_period_ms: policy.key_transition_period_ms });

function merged(given: GivenPolicy, before: RotationPolicy | null, nowMs: number): RotationPolicy {
  const { rotation_period, rotation_period_days, next_rotation_at } = given;
  if ((rotation_period ?? null) !== null && (rotation_period_days ?? null) !== null) throw invalid('rotation_policy.rotation_period_days', 'cannot stand beside rotation_period; give one of the two');
  const hasPeriod = (rotation_period ?? null) !== null || (rotation_period_days ?? null) !== null;
  const period = {
    rotation_period: hasPeriod ? rotation_period ?? null : rotation_period === undefined ? before?.rotation_period ?? null : null,
    rotation_period_days: hasPeriod ? rotation_period_days ?? null : rotation_period_days === undefined ? before?.rotation_period_days ?? null : null,
  };
  const isSamePeriod = before !== null && period.rotation_period === (before.rotation_period ?? null) && period.rotation_period_days === (before.rotation_period_days ?? null);
  const kept = isSamePeriod ? before.next_rotation_at ?? null : null;
  let next: string | null;
  if (next_rotation_at === undefined) next = kept ?? isoOrNull(periodEndMs(period, nowMs));
  else if (next_rotation_at === null) next = isoOrNull(periodEndMs(period, nowMs));
  else next = chosenTime(next_rotation_at, kept, nowMs);
  if (next === null) throw invalid('rotation_policy', 'needs rotation_period, rotation_period_days or next_rotation_at; give null to have none');
  const transition = given.key_transition_period_ms ?? before?.key_transition_period_ms ?? transitionMsMin;
  checkTransition(transition, period, 'rotation_policy.key_transition_period_ms');
  return { ...period, next_rotation_at: next, key_transition_period_ms: transition };
}

function chosenTime(given: string, kept: string | null, nowMs: number): string {
  const ms = midnight(Date.parse(given));
  // A time that the format knows and no clock has: a leap second.
  if (Number.isNaN(ms)) throw invalid('rotation_policy.next_rotation_at', 'must be a time that there is');
  const iso = new Date(ms).toISOString();
  if (ms <= nowMs && iso !== kept) throw invalid('rotation_policy.next_rotation_at', 'must be in the future once it is brought to midnight UTC');
  return iso;
}

/** Throws FIELD_INVALID: before the next rotation, the transition of the last one must be over. */
export function checkTransition(transitionMs: number, policy: GivenPolicy | RotationPolicy | null, param: string): void {
  const days = policy === null ? null : periodDays(policy);
  if (days !== null && transitionMs >= days * dayMs) throw invalid(param, `must be shorter than the rotation period, which has ${days * dayMs} ms`);
}

const invalid = (param: string, reason: string): Error => fail('FIELD_INVALID', { param, reason });
