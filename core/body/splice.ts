// Hot: runs for each call.
// Changes to top-level members of a JSON body on its bytes: override, default, removed and renamed parameters. What no edit names keeps
// its bytes: numbers, white space, the order of members. Returns the same bytes when there was nothing to change.

import type { ObjectCursor } from './cursor.js';
import { Patch } from './patch.js';
import { cursorOf, isPlainKey, isWhole, keyOf, notAnObject } from './scan.js';

export { dropPaths, parseDropPath, type DropPath, type DropStep } from './drop-paths.js';

/** `value` is JSON. */
export type BodyEdit =
  | { readonly kind: 'set'; readonly name: string; readonly value: Uint8Array }
  /** Added where the body has no such member; one that is null counts as there. */
  | { readonly kind: 'default'; readonly name: string; readonly value: Uint8Array }
  | { readonly kind: 'remove'; readonly name: string }
  /** A member that already has the new name wins; the other is removed. */
  | { readonly kind: 'rename'; readonly from: string; readonly to: string };

/** One member: of the body, or appended (keyStart -1). */
class Slot {
  isRemoved = false;
  isRenamed = false;
  /** The name as text; null while it can be compared on the bytes. */
  name: string | null = null;
  /** The new value, or null while the bytes hold it. */
  value: Uint8Array | null = null;
  keyStart = -1;
  keyEnd = -1;
  valueStart = -1;
  valueEnd = -1;
}

/** From so many members and edits on, names are looked up instead of compared: each with each would be quadratic. */
const comparedMax = 2_048;

/** Applies the edits in order. Throws BODY_INVALID when the body is not one JSON object. */
export function spliceObject(bytes: Uint8Array, edits: readonly BodyEdit[]): Uint8Array {
  const cursor = cursorOf(bytes);
  const slots = slotsOf(cursor);
  if (slots.length * edits.length > comparedMax) return spliceByName(cursor, slots, edits) ? patchOf(cursor, slots).apply(cursor.bytes) : bytes;
  let isChanged = false;
  for (let index = 0; index < edits.length; index += 1) {
    const edit = edits[index];
    if (edit !== undefined && applyEdit(cursor.bytes, slots, edit)) isChanged = true;
  }
  return isChanged ? patchOf(cursor, slots).apply(cursor.bytes) : bytes;
}

/** The same for many: each edit sees the members of its names alone, in a list that is handed on when they are renamed. Says whether anything changed. */
function spliceByName(cursor: ObjectCursor, slots: Slot[], edits: readonly BodyEdit[]): boolean {
  const { bytes } = cursor;
  const byName = new Map<string, Slot[]>();
  const named = (name: string): Slot[] => {
    let list = byName.get(name);
    if (list === undefined) byName.set(name, list = []);
    return list;
  };
  for (const slot of slots) named(slot.name ?? bytes.toString('latin1', slot.keyStart + 1, slot.keyEnd - 1)).push(slot);
  let isChanged = false;
  for (const edit of edits) {
    const list = named(edit.kind === 'rename' ? edit.from : edit.name);
    if (edit.kind !== 'rename') {
      const before = list.length;
      if (applyEdit(bytes, list, edit)) isChanged = true;
      const added = list[before];
      if (added !== undefined) slots.push(added);
    } else if (edit.from !== edit.to) {
      const target = named(edit.to);
      const both = [...target, ...list];
      if (!applyEdit(bytes, both, edit)) continue;
      isChanged = true;
      for (const slot of list) if (!slot.isRemoved) target.push(slot);
      byName.delete(edit.from);
    }
  }
  return isChanged;
}

function slotsOf(cursor: ObjectCursor): Slot[] {
  const slots: Slot[] = [];
  while (cursor.next()) {
    const slot = new Slot();
    slot.keyStart = cursor.keyStart;
    slot.keyEnd = cursor.keyEnd;
    slot.valueStart = cursor.valueStart;
    slot.valueEnd = cursor.valueEnd;
    if (!cursor.isPlainKey) {
      const name = keyOf(cursor);
      if (name === undefined) throw notAnObject();
      slot.name = name;
    }
    slots.push(slot);
  }
  if (!isWhole(cursor)) throw notAnObject();
  return slots;
}

const isNamed = (bytes: Buffer, slot: Slot, name: string): boolean =>
  !slot.isRemoved && (slot.name === null ? isPlainKey(bytes, slot.keyStart, slot.keyEnd, name) : slot.name === name);

/** Says whether anything changed. */
function applyEdit(bytes: Buffer, slots: Slot[], edit: BodyEdit): boolean {
  switch (edit.kind) {
    case 'set': {
      const slot = mergeDuplicates(bytes, slots, edit.name);
      if (slot === undefined) append(slots, edit.name, edit.value);
      else slot.value = edit.value;
      return true;
    }
    case 'default':
      if (find(bytes, slots, edit.name) !== undefined) return false;
      append(slots, edit.name, edit.value);
      return true;
    case 'remove':
      return removeAll(bytes, slots, edit.name);
    case 'rename': {
      if (edit.from === edit.to || find(bytes, slots, edit.from) === undefined) return false;
      if (find(bytes, slots, edit.to) !== undefined) return removeAll(bytes, slots, edit.from);
      const slot = mergeDuplicates(bytes, slots, edit.from);
      if (slot === undefined) return false;
      slot.name = edit.to;
      slot.isRenamed = true;
      return true;
    }
  }
}

function find(bytes: Buffer, slots: readonly Slot[], name: string): Slot | undefined {
  for (let index = 0; index < slots.length; index += 1) {
    const slot = slots[index];
    if (slot !== undefined && isNamed(bytes, slot, name)) return slot;
  }
  return undefined;
}

/** Leaves the first member of this name, with the value of the last: where and what JSON.parse has it. */
function mergeDuplicates(bytes: Buffer, slots: readonly Slot[], name: string): Slot | undefined {
  const first = find(bytes, slots, name);
  if (first === undefined) return undefined;
  for (let index = slots.indexOf(first) + 1; index < slots.length; index += 1) {
    const slot = slots[index];
    if (slot === undefined || !isNamed(bytes, slot, name)) continue;
    slot.isRemoved = true;
    first.value = slot.value ?? bytes.subarray(slot.valueStart, slot.valueEnd);
  }
  return first;
}

function removeAll(bytes: Buffer, slots: readonly Slot[], name: string): boolean {
  let isChanged = false;
  for (let index = 0; index < slots.length; index += 1) {
    const slot = slots[index];
    if (slot === undefined || !isNamed(bytes, slot, name)) continue;
    slot.isRemoved = true;
    isChanged = true;
  }
  return isChanged;
}

function append(slots: Slot[], name: string, value: Uint8Array): void {
  const slot = new Slot();
  slot.name = name;
  slot.value = value;
  slots.push(slot);
}

/**
 * A removed member takes the comma before it along, or the one behind it when no member before it is left. Appended members follow the
 * last one of the body.
 */
function patchOf(cursor: ObjectCursor, slots: readonly Slot[]): Patch {
  const patch = new Patch();
  let hasKept = false;
  let last = cursor.start + 1;
  for (let index = 0; index < slots.length; index += 1) {
    const slot = slots[index];
    if (slot === undefined) continue;
    if (slot.keyStart === -1) {
      if (slot.isRemoved) continue;
      const key = JSON.stringify(slot.name ?? '');
      patch.replace(last, last, hasKept ? `,${key}:` : `${key}:`, slot.value ?? noValue);
      hasKept = true;
      continue;
    }
    if (slot.isRemoved) {
      const next = slots[index + 1];
      if (hasKept) patch.remove(last, slot.valueEnd);
      else patch.remove(slot.keyStart, next === undefined || next.keyStart === -1 ? slot.valueEnd : next.keyStart);
    } else {
      hasKept = true;
      if (slot.isRenamed) patch.replace(slot.keyStart, slot.keyEnd, JSON.stringify(slot.name ?? ''), noValue);
      if (slot.value !== null) patch.replace(slot.valueStart, slot.valueEnd, '', slot.value);
    }
    last = slot.valueEnd;
  }
  return patch;
}

const noValue = new Uint8Array(0);
