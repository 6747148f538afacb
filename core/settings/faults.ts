// Turns the first fault the schema found into one sentence that names the variable or the file key. Runs only on a fault.

import type { ErrorObject } from 'ajv';
import { settingSchema, type SettingKey, type SettingSchema } from './schema.js';

const shownLengthMax = 80;

/** Takes one fault, and the settings whose value is not what was meant. */
export type NoteFault = (reason: string, keys: readonly SettingKey[]) => void;

/** `place` is where the value came from: `GATEWAY_PORT`, or `port in gateway.yaml`. */
export function explainFault(key: SettingKey, place: string, value: unknown, fault: ErrorObject): string {
  const schema = settingSchema(key);
  if (fault.keyword === 'uniqueItems') return `${place} names an entry twice`;
  if (value === null) return `${place} has no value; give ${expectationOf(schema)}, or leave the key out`;
  const wrong = valueAt(value, fault.instancePath.split('/').slice(2));
  const entry = Array.isArray(value) && wrong !== value ? 'entries ' : '';
  const shown = schema.secret === true ? '' : `, ${entry === '' ? 'not' : 'which is not so for'} ${show(wrong)}`;
  return `${place} must be ${expectationOf(schema)}${shown}`;
}

function expectationOf(schema: SettingSchema): string {
  if (schema.expected !== undefined) return schema.expected;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.type === 'integer') return `a whole number from ${schema.minimum ?? 0} to ${schema.maximum ?? Number.MAX_SAFE_INTEGER}`;
  return schema.type === 'array' ? 'a list' : 'text';
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return at;
    at = new Map<string, unknown>(Object.entries(at)).get(step);
  }
  return at;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}
