// Hot: runs for each call of a unified route.
// Checks for the members of a JSON body, put together once by the endpoint files. The walk goes over the members a body has, not over those
// it might have, so a small body costs little however long the route's table is. Members no table knows pass unseen; null counts as absent,
// as clients that serialise every member send it. Nothing here may change the body or keep it.

import { isObject } from '@gateway/plugin-sdk';
import type { BodyFault, JsonSchema } from '../exchange/endpoint.js';

export type Body = Readonly<Record<string, unknown>>;

type Judge = (value: unknown, name: string, body: Body) => BodyFault | undefined;

/** The JSON Schema of a check, for the docs. It is never stricter than the check. */
interface Described {
  readonly schema: JsonSchema;
}

/** Judges one member that is there; `name` is the member's own. */
export type Check = Judge & Described;

/** Judges one item of a list: a reason, or undefined. */
export type ItemCheck = ((value: unknown) => string | undefined) & Described;

export const described = (schema: JsonSchema, judge: Judge): Check => Object.assign(judge, { schema });
export const describedItem = (schema: JsonSchema, judge: (value: unknown) => string | undefined): ItemCheck => Object.assign(judge, { schema });

export interface RequiredField {
  /** Completes "send ...". */
  readonly expected: string;
  readonly check: Check;
}

export interface FieldRules {
  readonly required?: Readonly<Record<string, RequiredField>>;
  readonly optional?: Readonly<Record<string, Check>>;
}

export const unlimited = Number.POSITIVE_INFINITY;

export const fault = (param: string, reason: string): BodyFault => ({ param, reason });

/** The first fault: a required member that is missing, else the first member at fault as the body has them. */
export function fieldRules({ required = {}, optional = {} }: FieldRules): (body: Body) => BodyFault | undefined {
  const needed = Object.entries(required).map(([name, { expected }]) => ({ name, reason: `is missing; send ${expected}` }));
  const checks = new Map<string, Check>(Object.entries(optional));
  for (const [name, { check }] of Object.entries(required)) checks.set(name, check);
  return (body) => {
    for (let index = 0; index < needed.length; index += 1) {
      const { name, reason } = needed[index] as (typeof needed)[number];
      const value = body[name];
      if (value === undefined || value === null) return fault(name, reason);
    }
    for (const name in body) {
      const check = checks.get(name);
      if (check === undefined) continue;
      const value = body[name];
      if (value === undefined || value === null) continue;
      const found = check(value, name, body);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The body that the rules let through. Members that they do not name pass, and null counts as absent. */
export function schemaOf({ required = {}, optional = {} }: FieldRules): JsonSchema {
  const needed = Object.entries(required).map(([name, { check }]) => [name, check.schema] as const);
  const others = Object.entries(optional).map(([name, { schema }]) => [name, orNull(schema)] as const);
  return { type: 'object', ...(needed.length === 0 ? {} : { required: needed.map(([name]) => name) }), properties: Object.fromEntries([...needed, ...others]) };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: allowed, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  return { ...schema, ...(type === undefined ? {} : { type: [type, 'null'].flat() }), ...(Array.isArray(allowed) ? { enum: [...allowed, null] } : {}) };
}

export const text = described({ type: 'string' }, (value, name) => (typeof value === 'string' ? undefined : fault(name, 'must be a string')));

export const filledText = described({ type: 'string', minLength: 1 }, (value, name) => (typeof value === 'string' && value !== '' ? undefined : fault(name, 'must be a string that is not empty')));

export const flag = described({ type: 'boolean' }, (value, name) => (typeof value === 'boolean' ? undefined : fault(name, 'must be true or false')));

export const object = described({ type: 'object' }, (value, name) => (isObject(value) ? undefined : fault(name, 'must be an object')));

export const textOrObject = described({ type: ['string', 'object'] }, (value, name) => (typeof value === 'string' || isObject(value) ? undefined : fault(name, 'must be a string or an object')));

export const requiredText: RequiredField = { expected: 'a string', check: filledText };

export function oneOf(allowed: readonly string[]): Check {
  const reason = `must be one of ${allowed.join(', ')}`;
  return described({ type: 'string', enum: allowed }, (value, name) => (typeof value === 'string' && allowed.includes(value) ? undefined : fault(name, reason)));
}

/** A number from `minimum` to `maximum`, both included. */
export function numberIn(minimum: number, maximum: number): Check {
  const reason = `must be a number${range(minimum, maximum)}`;
  return described({ type: 'number', ...limits(minimum, maximum) }, (value, name) => (typeof value === 'number' && value >= minimum && value <= maximum ? undefined : fault(name, reason)));
}

export function integerIn(minimum: number, maximum: number): Check {
  const reason = `must be a whole number${range(minimum, maximum)}`;
  return described({ type: 'integer', ...limits(minimum, maximum) }, (value, name) => (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum ? undefined : fault(name, reason)));
}

export const integer = integerIn(Number.NEGATIVE_INFINITY, unlimited);

function limits(minimum: number, maximum: number): JsonSchema {
  return { ...(minimum === Number.NEGATIVE_INFINITY ? {} : { minimum }), ...(maximum === unlimited ? {} : { maximum }) };
}

function range(minimum: number, maximum: number): string {
  if (maximum !== unlimited) return ` from ${minimum} to ${maximum}`;
  return minimum === Number.NEGATIVE_INFINITY ? '' : ` of ${minimum} or more`;
}

/** An array of `minimum` to `maximum` items, each judged by `item`: a reason, or undefined. */
export function list(minimum: number, maximum: number, item?: ItemCheck): Check {
  const schema = { type: 'array', ...(minimum === 0 ? {} : { minItems: minimum }), ...(maximum === unlimited ? {} : { maxItems: maximum }), ...(item === undefined ? {} : { items: item.schema }) };
  return described(schema, (value, name) => {
    if (!Array.isArray(value)) return fault(name, 'must be an array');
    if (value.length < minimum) return fault(name, `must have at least ${minimum} ${minimum === 1 ? 'item' : 'items'}`);
    if (value.length > maximum) return fault(name, `must have at most ${maximum} items; it has ${value.length}`);
    if (item === undefined) return undefined;
    for (let index = 0; index < value.length; index += 1) {
      const reason = item(value[index]);
      if (reason !== undefined) return fault(`${name}[${index}]`, reason);
    }
    return undefined;
  });
}

export const isText = describedItem({ type: 'string' }, (value) => (typeof value === 'string' ? undefined : 'must be a string'));

/** A string, or an array of at most `maximum` strings. */
export function textOrList(maximum: number): Check {
  const asList = list(0, maximum, isText);
  return described({ anyOf: [text.schema, asList.schema] }, (value, name, body) => {
    if (typeof value === 'string') return undefined;
    return Array.isArray(value) ? asList(value, name, body) : fault(name, 'must be a string or an array of strings');
  });
}

/** True when a text has more than `maximum` characters; a pair of surrogates is one. */
export function isLonger(value: string, maximum: number): boolean {
  if (value.length <= maximum) return false;
  // Even if every character were a pair: no need to count.
  if (value.length > maximum * 2) return true;
  let pairs = 0;
  for (let index = 0; index < value.length; index += 1) if ((value.codePointAt(index) ?? 0) > 0xffff) pairs += 1;
  return value.length - pairs > maximum;
}
