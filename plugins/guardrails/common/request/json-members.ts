import type { Json } from '@gateway/plugin-sdk';

export type Members = Readonly<Record<string, Json>>;

export const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as one text: numbers and truth values as JSON writes them. Nothing for null, lists and objects. */
export const scalarText = (value: Json | undefined): string | undefined =>
  (typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);

/** The same value, whatever the order of members. */
export function isSame(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && left.length === right.length && left.every((item: Json, index) => isSame(item, right[index]));
  if (!isMembers(left) || !isMembers(right)) return false;
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]));
}
