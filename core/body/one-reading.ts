// A body that is judged has to mean the same to every reader of it: to hooks and lists of models, which see it parsed, and to a provider, which gets
// the bytes. Runs once for a call with such, and never for another.

import { readingOf } from '@gateway/plugin-sdk';
import { fail } from '../errors/gateway-error.js';
import { textOf } from './parse.js';

/** Whether the body has numbers that `JSON.parse` may change. Throws BODY_INVALID. `bytes` are JSON, which somebody has parsed already. */
export function refuseTwoReadings(bytes: Uint8Array): boolean {
  const { fault, hasLongNumber } = readingOf(textOf(bytes));
  if (fault !== undefined) throw fail('BODY_INVALID', { param: fault.place, reason: `${fault.reason}; the body is judged here, and others could read another one` });
  return hasLongNumber;
}
