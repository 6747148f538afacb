// How long to wait before a retry: what the provider asked for, or a back-off of our own. Runs once for each retry; reads headers, waits
// for nothing itself. The caller decides how long is too long.

/** No longer than a timer can wait. */
const askedMsMax = 2_147_483_647;
const backoffMsMax = 8000;
/** Beyond this many doublings every base has long met the cap. */
const doublingsMax = 30;
/** The share of the delay that is always waited; the rest is drawn, so that clients that failed together do not come back together. */
const steadyShare = 0.75;

/** `headers` is flat (name, value, ...) with names in lower case. -1: no header asks for a wait in a form that can be read. */
export function retryAfterMs(headers: readonly string[], nowMs: number): number {
  const exact = milliseconds(valueOf(headers, 'retry-after-ms'), 1);
  if (exact >= 0) return exact;
  const vendor = milliseconds(valueOf(headers, 'x-ms-retry-after-ms'), 1);
  if (vendor >= 0) return vendor;
  const value = valueOf(headers, 'retry-after');
  const seconds = milliseconds(value, 1000);
  if (seconds >= 0) return seconds;
  const dateMs = httpDateMs(value, nowMs);
  return Number.isNaN(dateMs) ? -1 : Math.min(askedMsMax, Math.max(0, Math.ceil(dateMs - nowMs)));
}

/** The wait before retry number `retry` (from 0): doubles each time, between 75 % and 100 % of it. `random` gives 0 up to 1. */
export function backoffMs(retry: number, baseMs: number, random: () => number): number {
  const fullMs = Math.min(backoffMsMax, baseMs * 2 ** Math.min(retry, doublingsMax));
  return Math.round(fullMs * (steadyShare + (1 - steadyShare) * random()));
}

function valueOf(headers: readonly string[], name: string): string {
  for (let index = 0; index + 1 < headers.length; index += 2) if (headers[index] === name) return (headers[index + 1] ?? '').trim();
  return '';
}

function milliseconds(value: string, unitMs: number): number {
  if (!/^\d+(\.\d+)?$/.test(value)) return -1;
  return Math.min(askedMsMax, Math.round(Number(value) * unitMs));
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three date forms of RFC 9110, section 5.6.7, and nothing else: Date.parse would read local times and guesses. */
const dateForms = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) (?<year>\d{4})$/,
];

function httpDateMs(value: string, nowMs: number): number {
  for (const form of dateForms) {
    const fields = form.exec(value)?.groups;
    if (fields === undefined) continue;
    const month = months.indexOf(fields['month'] ?? '');
    const day = Number(fields['day']);
    const [hour, minute, second] = [Number(fields['hour']), Number(fields['minute']), Number(fields['second'])];
    let year = Number(fields['year']);
    if (fields['year']?.length === 2) {
      // A two-digit year that seems more than 50 years ahead is the one of the past century.
      const thisYear = new Date(nowMs).getUTCFullYear();
      year += thisYear - (thisYear % 100);
      if (year > thisYear + 50) year -= 100;
    }
    if (month < 0 || hour > 23 || minute > 59 || second > 60) return Number.NaN;
    const dateMs = Date.UTC(year, month, day, hour, minute, second);
    // Date.UTC would turn 31 February into March.
    return day >= 1 && day <= new Date(Date.UTC(year, month + 1, 0)).getUTCDate() ? dateMs : Number.NaN;
  }
  return Number.NaN;
}
