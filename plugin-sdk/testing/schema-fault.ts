import { isObject } from '../src/json.js';
import type { ObjectSchema, Schema } from '../src/schema.js';

export interface SchemaFault {
  /** `rules[1].name`; empty for the parameters as a whole. */
  readonly path: string;
  readonly reason: string;
}

/** Keywords of all schemas that parameters may be written in. */
interface Keywords {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The first fault for which the host refuses these parameters before `create` sees them; undefined when they fit. */
export function schemaFault(schema: Schema, value: unknown, path = ''): SchemaFault | undefined {
  const keywords: Keywords = schema;
  const types: readonly unknown[] = keywords.type === undefined ? [] : Array.isArray(keywords.type) ? keywords.type : [keywords.type];
  const refuse = (reason: string): SchemaFault => ({ path, reason });
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return refuse(`must be ${types.join(' or ')}`);
  if (keywords.enum !== undefined && !keywords.enum.includes(value)) return refuse(`must be one of ${keywords.enum.join(', ')}`);
  if (typeof value === 'string') return textReason(keywords, value, refuse);
  if (typeof value === 'number') return numberReason(keywords, value, refuse);
  if (Array.isArray(value)) {
    if (value.length < (keywords.minItems ?? 0) || value.length > (keywords.maxItems ?? Infinity)) return refuse('has too few or too many items');
    const { items } = keywords;
    return items === undefined ? undefined : first(value, (item, index) => schemaFault(items, item, `${path}[${index}]`));
  }
  return typeof value === 'object' && value !== null && 'properties' in schema ? objectFault(schema, value, path) : undefined;
}

function objectFault(schema: ObjectSchema, value: object, path: string): SchemaFault | undefined {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const unknown = members.find(([name]) => !Object.hasOwn(schema.properties, name));
  const { additionalProperties: open = false } = schema;
  if (unknown !== undefined && open === false) return { path, reason: `has no parameter ${unknown[0]}` };
  const missing = (schema.required ?? []).find((name) => !members.some(([given]) => given === name));
  if (missing !== undefined) return { path, reason: `needs ${missing}` };
  return first(members, ([name, member]) => {
    const own = Object.hasOwn(schema.properties, name) ? schema.properties[name] : typeof open === 'object' ? open : undefined;
    return own === undefined ? undefined : schemaFault(own, member, path === '' ? name : `${path}.${name}`);
  });
}

function textReason({ minLength = 0, maxLength = Infinity, pattern }: Keywords, value: string, refuse: (reason: string) => SchemaFault): SchemaFault | undefined {
  const length = [...value].length;
  if (length < minLength || length > maxLength) return refuse(`must have ${minLength} to ${maxLength} characters`);
  return pattern !== undefined && !new RegExp(pattern, 'u').test(value) ? refuse(`must match ${pattern}`) : undefined;
}

function numberReason({ minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: Keywords, value: number, refuse: (reason: string) => SchemaFault): SchemaFault | undefined {
  if (value < minimum || value > maximum) return refuse(`must be from ${minimum} to ${maximum}`);
  return exclusiveMinimum !== -Infinity && value <= exclusiveMinimum ? refuse(`must be above ${exclusiveMinimum}`) : undefined;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object': return isObject(value);
    case 'array': return Array.isArray(value);
    case 'null': return value === null;
    case 'integer': return Number.isInteger(value);
    case 'number': return typeof value === 'number' && Number.isFinite(value);
    default: return typeof value === type;
  }
}

function first<T>(values: readonly T[], faultOf: (value: T, index: number) => SchemaFault | undefined): SchemaFault | undefined {
  for (const [index, value] of values.entries()) {
    const fault = faultOf(value, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
