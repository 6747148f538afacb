// The only JSON.parse of client bodies. Runs once for a call, when something on its route needs the parsed body; most often that is the
// validation of a unified route. Its errors say where the text is at fault and never quote it.

import { isAscii, isUtf8 } from 'node:buffer';
import { fail } from '../errors/gateway-error.js';
import { asBuffer } from './cursor.js';
import { explainFault } from './json-fault.js';

/** Throws BODY_NOT_UTF8, BODY_NOT_JSON or BODY_INVALID. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  const parsed = parseText(bytes);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw fail('BODY_INVALID', { param: 'body', reason: `must be a JSON object, not ${kindOf(parsed)}` });
  }
  // JSON.parse makes it an own member, but whoever copies members by assignment would set a prototype.
  if (Object.hasOwn(parsed, '__proto__')) throw fail('BODY_INVALID', { param: '__proto__', reason: 'this name cannot be a field; leave it out' });
  return parsed as Record<string, unknown>;
}

function parseText(bytes: Uint8Array): unknown {
  const buffer = asBuffer(bytes);
  // Most bodies are ASCII, and Latin-1 is the cheaper decoder.
  const isPlain = isAscii(buffer);
  if (!isPlain && !isUtf8(buffer)) throw fail('BODY_NOT_UTF8', { param: 'body' });
  try {
    return JSON.parse(isPlain ? buffer.toString('latin1') : buffer.toString('utf8'));
  } catch {
    // Not the engine's message, which quotes the text and often gives no place.
    throw fail('BODY_NOT_JSON', { param: 'body', reason: explainFault(buffer) });
  }
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`);

/** The JSON string whose quotes are at `start` and `end - 1`; undefined when it is broken. */
export function decodeString(bytes: Buffer, start: number, end: number): string | undefined {
  const escape = bytes.indexOf(0x5c, start);
  if (escape === -1 || escape >= end) return bytes.toString('utf8', start + 1, end - 1);
  try {
    const decoded: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof decoded === 'string' ? decoded : undefined;
  } catch {
    // Broken escapes are one of the things that the caller asked about.
    return undefined;
  }
}
