// Makes an example value for a schema: the schema's own example, else the simplest value that fits. Tests check each against its schema.

import { isObject } from '@gateway/plugin-sdk';
import type { JsonSchema } from '../exchange/endpoint.js';

const byFormat: Readonly<Record<string, string>> = {
  uuid: '0198c5d4-7a10-7000-8000-5f1c2d3e4a5b', 'date-time': '2030-01-31T12:00:00.000Z', email: 'ada@example.com', uri: 'https://example.com/', date: '2030-01-31',
};
/** Example values of members that many schemas have; used where they fit. */
const byName: Readonly<Record<string, string>> = {
  name: 'Support', slug: 'support', description: 'For the support team', note: 'For the support team', email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', model: 'gpt-4o-mini',
  key: 'sk-0123', masked_key: 'sk-****0123', ai_provider_id: 'openai', provider: 'openai', integration_id: 'support', collection_id: 'support',
};

/** `isWhole`: includes optional members, as for replies. */
export function exampleOf(schema: JsonSchema, isWhole: boolean, name = ''): unknown {
  const { examples, default: preset, enum: allowed, anyOf, oneOf } = schema;
  if (Array.isArray(examples)) return examples[0];
  if ('const' in schema) return schema.const;
  if (preset !== undefined) return preset;
  if (Array.isArray(allowed)) return allowed[0];
  for (const shapes of [anyOf, oneOf]) {
    const [first]: readonly unknown[] = Array.isArray(shapes) ? shapes : [];
    if (isObject(first)) return exampleOf({ ...first, ...(schema.properties === undefined ? {} : { properties: { ...Object(schema.properties), ...Object(first.properties) } }) }, isWhole, name);
  }
  const [type]: readonly unknown[] = [schema.type].flat();
  switch (type) {
    case 'object': return objectOf(schema, isWhole);
    case 'array': return arrayOf(schema, isWhole, name);
    case 'string': return textOf(schema, name);
    case 'integer': case 'number': return numberOf(schema);
    case 'boolean': return true;
    case 'null': return null;
    default: return 'value';
  }
}

function objectOf({ properties, required }: JsonSchema, isWhole: boolean): unknown {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const members = Object.entries(Object(properties)).filter(([name, schema]) => isWhole || needed.includes(name) || Array.isArray(Object(schema).examples));
  return Object.fromEntries(members.map(([name, schema]) => [name, exampleOf(isObject(schema) ? schema : {}, isWhole, name)]));
}

function arrayOf({ items, maxItems }: JsonSchema, isWhole: boolean, name: string): unknown {
  return isObject(items) && maxItems !== 0 ? [exampleOf(items, isWhole, name)] : [];
}

function textOf({ format, minLength, maxLength, pattern }: JsonSchema, name: string): string {
  const text = byFormat[String(format)] ?? byName[name] ?? 'text';
  const isRight = (each: string): boolean => each.length >= Number(minLength ?? 0) && each.length <= Number(maxLength ?? Infinity) && (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(each));
  return isRight(text) ? text : 'text'.padEnd(Number(minLength ?? 0), '-');
}

function numberOf({ minimum, exclusiveMinimum }: JsonSchema): number {
  if (typeof minimum === 'number') return Math.max(minimum, Math.min(1, minimum + 1));
  return typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1;
}
