// How much a usage policy lets through, and when that begins anew.

import { fail } from '../../../errors/gateway-error.js';
import { periodAt } from '../../../limits/periods.js';
import type { UsagePolicyRow } from '../../../storage/tables/policies.js';

const dayMs = 86_400_000;
/** Smallest `credit_limit`. */
const minimums: Readonly<Record<UsagePolicyRow['type'], number>> = { cost: 1, tokens: 100, requests: 1 };

interface Given {
  readonly credit_limit?: number;
  readonly alert_threshold?: number | null;
  readonly periodic_reset?: 'monthly' | 'weekly' | null;
  readonly periodic_reset_days?: number | null;
  readonly next_usage_reset_at?: string | null;
}

type Budget = Pick<UsagePolicyRow, 'creditLimit' | 'alertThreshold' | 'periodicReset' | 'periodicResetDays' | 'firstResetAtMs'>;

/** As it is stored, for what is not given as it was; `before` null: of a new one. Throws FIELD_INVALID. */
export function checkedBudget(type: UsagePolicyRow['type'], given: Given, before: Budget | null, nowMs: number): Budget {
  const refuse = (param: string, reason: string): never => { throw fail('FIELD_INVALID', { param, reason }); };
  const creditLimit = given.credit_limit ?? before?.creditLimit ?? 0;
  const alertThreshold = given.alert_threshold === undefined ? before?.alertThreshold ?? null : given.alert_threshold;
  if (creditLimit < minimums[type]) refuse('credit_limit', `must be at least ${minimums[type]} for ${type}`);
  if (type !== 'cost' && !Number.isInteger(creditLimit)) refuse('credit_limit', `must be a whole number of ${type}`);
  if (type !== 'cost' && alertThreshold !== null && !Number.isInteger(alertThreshold)) refuse('alert_threshold', `must be a whole number of ${type}`);
  if (alertThreshold !== null && alertThreshold >= creditLimit) refuse('alert_threshold', 'must be less than credit_limit');
  return { creditLimit, alertThreshold, ...checkedResets(given, before, nowMs, refuse) };
}

function checkedResets(given: Given, before: Budget | null, nowMs: number, refuse: (param: string, reason: string) => never): Omit<Budget, 'creditLimit' | 'alertThreshold'> {
  const { periodic_reset: reset, periodic_reset_days: days, next_usage_reset_at: next } = given;
  if (typeof reset === 'string' && typeof days === 'number') refuse('periodic_reset_days', 'cannot stand beside periodic_reset; give one of the two');
  // One takes the place of the other.
  const periodicReset = reset !== undefined ? reset : typeof days === 'number' ? null : before?.periodicReset ?? null;
  const periodicResetDays = days !== undefined ? days : typeof reset === 'string' ? null : before?.periodicResetDays ?? null;
  const isSame = periodicReset === (before?.periodicReset ?? null) && periodicResetDays === (before?.periodicResetDays ?? null);
  const firstResetAtMs = next === undefined ? (isSame ? before?.firstResetAtMs ?? null : null) : next === null ? null : Math.floor(Date.parse(next) / dayMs) * dayMs;
  if (typeof next === 'string') {
    if (periodicReset === null && periodicResetDays === null) refuse('next_usage_reset_at', 'needs periodic_reset or periodic_reset_days');
    const isRepeated = firstResetAtMs === before?.firstResetAtMs;
    if (firstResetAtMs !== null && periodicResetDays !== null && firstResetAtMs > nowMs + periodicResetDays * dayMs) refuse('next_usage_reset_at', `must be within ${periodicResetDays} days, after which usage is reset anyhow`);
    if (firstResetAtMs !== null && firstResetAtMs <= nowMs && !isRepeated) refuse('next_usage_reset_at', 'must be on a later day: the midnight UTC before it counts');
  }
  return { periodicReset, periodicResetDays, firstResetAtMs };
}

/** When its usage begins anew next, and when it last did; null: never. */
export function resetsOf(row: UsagePolicyRow, nowMs: number): { readonly nextMs: number | null; readonly lastMs: number | null } {
  const rule = { periodic_reset: row.periodicReset, periodic_reset_days: row.periodicResetDays, next_usage_reset_at: row.firstResetAtMs === null ? null : new Date(row.firstResetAtMs).toISOString() };
  const { startMs, endMs } = periodAt(rule, 'policy', nowMs, row.createdAtMs);
  return { nextMs: endMs === Infinity ? null : endMs, lastMs: startMs > row.createdAtMs ? startMs : null };
}
