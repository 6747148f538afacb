import { ParameterError } from '@gateway/plugin-sdk';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `3600`, `"3600"`, `"90s"`, `"15m"`, `"12h"`, `"1d"`, `"2w"`; 0 is no limit. */
export function readDuration(given: unknown, path: string): number {
  const match = typeof given === 'number' || typeof given === 'string' ? /^(\d{1,10}) ?([smhdw]?)$/.exec(String(given).trim().toLowerCase()) : null;
  if (match === null) throw new ParameterError(path, 'must be a number of seconds, or a text such as 90s, 15m, 12h, 1d or 2w');
  return Number(match[1]) * (seconds[match[2] ?? ''] ?? 1);
}
