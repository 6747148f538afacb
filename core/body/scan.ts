// Hot: runs for each call.
// The top-level members of a JSON object, found on its bytes: names are decoded, values are not touched. For bodies that were validated
// before or may be anything: junk gives null, never a throw.

import { fail, type GatewayError } from '../errors/gateway-error.js';
import { asBuffer, ObjectCursor, skipBlank } from './cursor.js';
import { decodeString } from './parse.js';

export interface FieldSpan {
  readonly name: string;
  /** Index of the name's opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** Index behind the value's last byte. */
  readonly valueEnd: number;
}

/** The members in order, duplicates included; null when the bytes are not one object. */
export function scanObject(bytes: Uint8Array): readonly FieldSpan[] | null {
  const cursor = cursorOf(bytes);
  const spans: FieldSpan[] = [];
  while (cursor.next()) {
    const name = keyOf(cursor);
    if (name === undefined) return null;
    spans.push({ name, keyStart: cursor.keyStart, valueStart: cursor.valueStart, valueEnd: cursor.valueEnd });
  }
  return isWhole(cursor) ? spans : null;
}

/** One top-level scalar; the last of several with that name, as JSON.parse has it. Undefined for null, nested values and junk. */
export function field(bytes: Uint8Array, name: string): string | number | boolean | undefined {
  const cursor = cursorOf(bytes);
  let start = -1;
  let end = -1;
  while (cursor.next()) {
    if (!isKey(cursor, name)) continue;
    start = cursor.valueStart;
    end = cursor.valueEnd;
  }
  return start === -1 || !isWhole(cursor) ? undefined : scalarAt(cursor.bytes, start, end);
}

/** A cursor on the object that the bytes are. */
export function cursorOf(bytes: Uint8Array): ObjectCursor {
  const buffer = asBuffer(bytes);
  return new ObjectCursor(buffer, skipBlank(buffer, 0));
}

/** The walk is over, met no fault, and nothing follows the object. */
export const isWhole = (cursor: ObjectCursor): boolean =>
  !cursor.isFault && cursor.end !== -1 && skipBlank(cursor.bytes, cursor.end) === cursor.bytes.length;

/** Is this the name of the cursor's member? */
export function isKey(cursor: ObjectCursor, name: string): boolean {
  if (!cursor.isPlainKey) return keyOf(cursor) === name;
  return isPlainKey(cursor.bytes, cursor.keyStart, cursor.keyEnd, name);
}

/** The same for a name of plain ASCII, by its place. */
export function isPlainKey(bytes: Buffer, keyStart: number, keyEnd: number, name: string): boolean {
  const { length } = name;
  if (keyEnd - keyStart - 2 !== length) return false;
  for (let index = 0; index < length; index += 1) if (bytes[keyStart + 1 + index] !== name.charCodeAt(index)) return false;
  return true;
}

/** The decoded name; undefined when its escapes are broken. */
export const keyOf = (cursor: ObjectCursor): string | undefined =>
  cursor.isPlainKey ? cursor.bytes.toString('latin1', cursor.keyStart + 1, cursor.keyEnd - 1) : decodeString(cursor.bytes, cursor.keyStart, cursor.keyEnd);

/** The string, number or boolean at this place. */
export function scalarAt(bytes: Buffer, start: number, end: number): string | number | boolean | undefined {
  switch (bytes[start]) {
    case 0x22: return decodeString(bytes, start, end);
    case 0x74: return true;
    case 0x66: return false;
    case 0x6e: case 0x7b: case 0x5b: return undefined;
    default: {
      const number = Number(bytes.toString('latin1', start, end));
      return Number.isNaN(number) ? undefined : number;
    }
  }
}

/** For those who need an object and found another thing. */
export const notAnObject = (): GatewayError => fail('BODY_INVALID', { param: 'body', reason: 'must be one JSON object' });
