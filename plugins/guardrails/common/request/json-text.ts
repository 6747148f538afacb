import { isObject, type Json } from '@gateway/plugin-sdk';

/** The value as one text: numbers and truth values as JSON writes them. Nothing for null, lists and objects. */
export const scalarText = (value: Json | undefined): string | undefined =>
  (typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined);

/** One text for the same value, whatever the order of members. */
export function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalText(item)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`).join(',')}}`;
}
