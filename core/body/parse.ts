// The only parse of client bodies. Runs once for a call, when something on its route needs the parsed body; most often that is the
// validation of a unified route. Its errors say where the text is at fault and never quote it.

import { hasLongNumber, isExactNumber, nearestNumber, readJson } from '@gateway/plugin-sdk';
import { isAscii, isUtf8 } from 'node:buffer';
import { fail } from '../errors/gateway-error.js';
import { asBuffer, hasMoreValues } from './cursor.js';
import { isTooDeep, levelsMax } from './depth.js';
import { explainFault } from './json-fault.js';
import { knownText } from './known-texts.js';

/** Throws BODY_NOT_UTF8, BODY_NOT_JSON, BODY_TOO_DEEP or BODY_INVALID. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  return objectOf(parseText(bytes), 'body', 'a JSON object');
}

/** The same for a body that is one object or a list of them. */
export function parseJsonObjects(bytes: Uint8Array): Record<string, unknown> | readonly Record<string, unknown>[] {
  const parsed = parseText(bytes);
  return Array.isArray(parsed) ? parsed.map((each: unknown, index) => objectOf(each, String(index), 'a JSON object')) : objectOf(parsed, 'body', 'a JSON object or a list of them');
}

function objectOf(parsed: unknown, param: string, wanted: string): Record<string, unknown> {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw fail('BODY_INVALID', { param, reason: `must be ${wanted}, not ${kindOf(parsed)}` });
  // JSON.parse makes it an own member, but whoever copies members by assignment would set a prototype.
  if (Object.hasOwn(parsed, '__proto__')) throw fail('BODY_INVALID', { param: '__proto__', reason: 'this name cannot be a field; leave it out' });
  if (isTooDeep(parsed)) throw fail('BODY_TOO_DEEP', { maximum: levelsMax, param: 'body' });
  return parsed as Record<string, unknown>;
}

/** Bodies up to this length are not counted: they cannot hold enough to matter. */
const uncountedBytesMax = 256 * 1024;
/** Values in one body, a member counting for five: each becomes something of its own in memory, which takes far more room and time there than its bytes. */
export const valuesMax = 500_000;

/**
 * The same for translations: numbers that JavaScript would change keep their digits as long as `writeJson` writes them. Top-level ones are
 * numbers nevertheless, for they are reckoned with, except a seed. `parsed` when there are none.
 */
export function parseExactObject(bytes: Uint8Array, parsed: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = textOf(bytes);
  if (!hasLongNumber(text)) return parsed;
  const exact = readJson(text);
  if (typeof exact !== 'object' || exact === null) return parsed;
  return Object.fromEntries(Object.entries(exact).map(([name, value]) => [name, name !== 'seed' && isExactNumber(value) ? nearestNumber(value) : value]));
}

/** The text of a body. Most are ASCII, and Latin-1 is the cheaper decoder. */
export function textOf(bytes: Uint8Array): string {
  const buffer = asBuffer(bytes);
  return isAscii(buffer) ? buffer.toString('latin1') : buffer.toString('utf8');
}

function parseText(bytes: Uint8Array): unknown {
  const buffer = asBuffer(bytes);
  if (buffer.length > uncountedBytesMax && hasMoreValues(buffer, valuesMax)) {
    throw fail('BODY_INVALID', { param: 'body', reason: `holds more than ${valuesMax} values, where a member of an object counts for five; send less at once` });
  }
  const isPlain = isAscii(buffer);
  if (!isPlain && !isUtf8(buffer)) throw fail('BODY_NOT_UTF8', { param: 'body' });
  const text = isPlain ? buffer.toString('latin1') : buffer.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // Not the engine's message, which quotes the text and often gives no place.
    throw fail('BODY_NOT_JSON', { param: 'body', reason: explainFault(text) });
  }
}

const backslash = 0x5c;

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`);

/** Values in one answer. Vectors are numbers by the million, which take little; a list or object counts for sixteen of them. */
export const answerValuesMax = 10_000_000;
const answerBracketValues = 16;

/**
 * An answer of a provider that something has to look into. Undefined when it holds more than it may; throws when it is not JSON. `isExact`: for
 * translations, whose result is written by `writeJson`. `text`: of the bytes, where somebody has it.
 */
export function parseAnswer(bytes: Buffer, isExact = false, text?: string): unknown {
  if (bytes.length > uncountedBytesMax && hasMoreValues(bytes, answerValuesMax, answerBracketValues)) return undefined;
  const json = text ?? textOf(bytes);
  return isExact ? readJson(json) : JSON.parse(json);
}

/** Shorter texts are looked at byte by byte: a search of the library costs as much. */
const nearBytes = 64;

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > nearBytes) {
    const found = bytes.indexOf(backslash, start);
    return found !== -1 && found < end;
  }
  for (let index = start; index < end; index += 1) if (bytes[index] === backslash) return true;
  return false;
}

/** The JSON string whose quotes are at `start` and `end - 1`; undefined when it is broken. */
export function decodeString(bytes: Buffer, start: number, end: number): string | undefined {
  if (!hasEscape(bytes, start + 1, end - 1)) return knownText(bytes, start + 1, end - 1);
  try {
    const decoded: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof decoded === 'string' ? decoded : undefined;
  } catch {
    // Broken escapes are one of the things that the caller asked about.
    return undefined;
  }
}
