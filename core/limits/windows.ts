// Hot: runs for each call that is limited.
// Windows of rate limits: periods of UTC, the same for everybody, each with a number. A week begins on Monday.

import type { RateUnit } from '../snapshot/limit-specs.js';

const secondMs = 1000;
const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** Numbers count from the first second of 1970, which was a Thursday. */
const mondayMs = 3 * dayMs;

export const lengthOf: Readonly<Record<RateUnit, number>> = Object.freeze({ rps: secondMs, rpm: 60 * secondMs, rph: 3600 * secondMs, rpd: dayMs, rpw: weekMs });
/** The unit of a limit, in words. */
export const nameOf: Readonly<Record<RateUnit, string>> = Object.freeze({ rps: 'second', rpm: 'minute', rph: 'hour', rpd: 'day', rpw: 'week' });

export const windowAt = (lengthMs: number, nowMs: number): number => Math.floor((lengthMs === weekMs ? nowMs + mondayMs : nowMs) / lengthMs);

/** When the window of `nowMs` is over. */
export const windowEnd = (lengthMs: number, nowMs: number): number => (windowAt(lengthMs, nowMs) + 1) * lengthMs - (lengthMs === weekMs ? mondayMs : 0);

/** As x-ratelimit-reset-* have it, in whole seconds: `1s`, `6m0s`, `24h0m0s`. */
export function durationOf(seconds: number): string {
  if (seconds < 60) return shortDurations[seconds] ?? `${seconds}s`;
  if (seconds !== lastSeconds) {
    lastSeconds = seconds;
    const minutes = Math.floor(seconds / 60);
    const rest = `${minutes % 60}m${seconds % 60}s`;
    lastDuration = minutes < 60 ? rest : `${Math.floor(minutes / 60)}h${rest}`;
  }
  return lastDuration;
}
const shortDurations: readonly string[] = Array.from({ length: 60 }, (_, seconds) => `${seconds}s`);
let [lastSeconds, lastDuration] = [NaN, ''];

/** The end of a window, to the second; calls of one window ask for the same one. */
export function timeOf(endMs: number): string {
  if (endMs !== toldMs) {
    toldMs = endMs;
    told = `${new Date(endMs).toISOString().slice(0, 19)}Z`;
  }
  return told;
}
let [toldMs, told] = [NaN, ''];
