// Which period an amount belongs to: a function of the time and of what the limits say, the same on every thread, in the control plane and in the ledger.
// Nothing runs when a period ends; the next amount simply belongs to another one.

import type { LimitLevel } from '../snapshot/limit-specs.js';

const dayMs = 86_400_000;

/** How limits say when their usage begins anew; the words of the wire. Absent and null alike: never. */
export interface ResetRule {
  readonly periodic_reset?: 'monthly' | 'weekly' | null;
  readonly periodic_reset_days?: number | null;
  /** With `periodic_reset_days`: one of the days that they are counted from. Else: nothing is reset before it. */
  readonly next_usage_reset_at?: string | null;
}

/** Days of the week on which weekly periods begin, at 00:00 UTC; Sunday is 0. Whose limits they are tells. */
export const weekStarts: Readonly<Record<LimitLevel, number>> = Object.freeze({ policy: 1, key: 0, workspace: 0, provider: 0, access: 0, token: 0 });

/** Half open. */
export interface Period {
  /** 0: it has no beginning. */
  readonly startMs: number;
  /** Infinity: it has no end. */
  readonly endMs: number;
}

const noPeriod: Period = Object.freeze({ startMs: 0, endMs: Infinity });

/**
 * The period at a time. `madeAtMs`: when what has the limits was made; days are counted from the midnight before it when nothing else is said.
 * A reset by hand is not looked at: it begins a period of its own, at its time (the later of the two beginnings counts).
 */
export function periodAt(rule: ResetRule, level: LimitLevel, nowMs: number, madeAtMs = 0): Period {
  const { periodic_reset: reset, periodic_reset_days: days, next_usage_reset_at: next } = rule;
  const anchorMs = next === undefined || next === null ? NaN : Date.parse(next);
  if (typeof days === 'number' && days > 0) {
    const lengthMs = days * dayMs;
    const fromMs = Number.isNaN(anchorMs) ? midnightBefore(madeAtMs) : anchorMs;
    const startMs = fromMs + Math.floor((nowMs - fromMs) / lengthMs) * lengthMs;
    return { startMs, endMs: startMs + lengthMs };
  }
  if (reset !== 'weekly' && reset !== 'monthly') return noPeriod;
  const calendar = reset === 'weekly' ? weekAt(nowMs, weekStarts[level]) : monthAt(nowMs);
  if (Number.isNaN(anchorMs)) return calendar;
  // The first reset is the one that was asked for; the calendar's that come before it are left out.
  if (nowMs < anchorMs) return { startMs: (reset === 'weekly' ? weekAt(madeAtMs, weekStarts[level]) : monthAt(madeAtMs)).startMs, endMs: anchorMs };
  return calendar.startMs <= anchorMs ? { startMs: anchorMs, endMs: calendar.endMs } : calendar;
}

const midnightBefore = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

function weekAt(nowMs: number, firstDay: number): Period {
  const midnightMs = midnightBefore(nowMs);
  const startMs = midnightMs - ((new Date(midnightMs).getUTCDay() - firstDay + 7) % 7) * dayMs;
  return { startMs, endMs: startMs + 7 * dayMs };
}

function monthAt(nowMs: number): Period {
  const now = new Date(nowMs);
  return { startMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1), endMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) };
}
