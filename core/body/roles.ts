// Hot: runs for each call whose provider knows fewer roles than the client used.
// The roles of a chat body's messages, replaced on its bytes. Everything else keeps its bytes.

import { ArrayCursor, ObjectCursor, skipBlank, skipValue } from './cursor.js';
import { Patch } from './patch.js';
import { cursorOf, isKey, notAnObject, scalarAt } from './scan.js';

/** A role and what takes its place. */
export type Roles = Readonly<Record<string, string>>;

/** The role that it becomes; undefined when it stays. */
export const replacedRole = (roles: Roles, role: unknown): string | undefined => (typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined);

/** Returns the same bytes when no message has such a role. Throws BODY_INVALID when the body is not one JSON object. */
export function replaceRoles(bytes: Uint8Array, roles: Roles): Uint8Array {
  const cursor = cursorOf(bytes);
  const patch = new Patch();
  while (cursor.nextKey()) {
    const { bytes: body, valueStart } = cursor;
    const isList = body[valueStart] === 0x5b && isKey(cursor, 'messages');
    cursor.close(isList ? replaceInMessages(new ArrayCursor(body, valueStart), roles, patch) : skipValue(body, valueStart));
  }
  if (cursor.isFault || skipBlank(cursor.bytes, cursor.end) !== cursor.bytes.length) throw notAnObject();
  return patch.isEmpty ? bytes : patch.apply(cursor.bytes);
}

/** Returns the index behind the list, or -1. */
function replaceInMessages(list: ArrayCursor, roles: Roles, patch: Patch): number {
  while (list.nextElement()) {
    const { bytes, valueStart } = list;
    list.close(bytes[valueStart] === 0x7b ? replaceInMessage(new ObjectCursor(bytes, valueStart), roles, patch) : skipValue(bytes, valueStart));
  }
  return list.isFault ? -1 : list.end;
}

function replaceInMessage(message: ObjectCursor, roles: Roles, patch: Patch): number {
  while (message.next()) {
    if (!isKey(message, 'role')) continue;
    const role = replacedRole(roles, scalarAt(message.bytes, message.valueStart, message.valueEnd));
    if (role !== undefined) patch.replace(message.valueStart, message.valueEnd, JSON.stringify(role), nothing);
  }
  return message.isFault ? -1 : message.end;
}

const nothing = new Uint8Array(0);
