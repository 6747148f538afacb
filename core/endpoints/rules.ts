// Hot: runs for each call of a unified route.
// Rules for the members of a JSON body, put together once by the endpoint files. A rule looks at one member and answers with the first
// fault. Absent members pass every rule but required(); null passes where the API takes null.

import type { BodyFault } from '../exchange/endpoint.js';

export type Body = Readonly<Record<string, unknown>>;
export type Rule = (body: Body) => BodyFault | undefined;

const fault = (param: string, reason: string): BodyFault => ({ param, reason });

const isMissing = (value: unknown): boolean => value === undefined || value === null;

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** All rules in order; the first fault ends it. */
export function allOf(rules: readonly Rule[]): Rule {
  return (body) => {
    for (let index = 0; index < rules.length; index += 1) {
      const found = (rules[index] as Rule)(body);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

export const requiredText = (name: string): Rule => (body) => {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return undefined;
  return fault(name, value === undefined ? 'is missing; it must be a string' : 'must be a string that is not empty');
};

export const required = (name: string, what: string): Rule => (body) => (isMissing(body[name]) ? fault(name, `is missing; it must be ${what}`) : undefined);

export const text = (name: string): Rule => (body) => {
  const value = body[name];
  return isMissing(value) || typeof value === 'string' ? undefined : fault(name, 'must be a string');
};

export const flag = (name: string): Rule => (body) => {
  const value = body[name];
  return isMissing(value) || typeof value === 'boolean' ? undefined : fault(name, 'must be true or false');
};

export const object = (name: string): Rule => (body) => {
  const value = body[name];
  return isMissing(value) || isObject(value) ? undefined : fault(name, 'must be an object');
};

export const oneOf = (name: string, allowed: readonly string[]): Rule => (body) => {
  const value = body[name];
  return isMissing(value) || allowed.includes(value as string) ? undefined : fault(name, `must be one of ${allowed.join(', ')}`);
};

/** A number from `minimum` to `maximum`, both included. */
export const numberIn = (name: string, minimum: number, maximum: number): Rule => (body) => {
  const value = body[name];
  if (isMissing(value)) return undefined;
  if (typeof value === 'number' && value >= minimum && value <= maximum) return undefined;
  return fault(name, `must be a number ${range(minimum, maximum)}`);
};

export const integerIn = (name: string, minimum: number, maximum: number): Rule => (body) => {
  const value = body[name];
  if (isMissing(value)) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return undefined;
  return fault(name, `must be a whole number ${range(minimum, maximum)}`);
};

function range(minimum: number, maximum: number): string {
  if (maximum === Number.POSITIVE_INFINITY) return minimum === Number.NEGATIVE_INFINITY ? 'of any size' : `of ${minimum} or more`;
  return `from ${minimum} to ${maximum}`;
}

/** An array of `minimum` to `maximum` items, each judged by `item` (a reason, or undefined). */
export const list = (name: string, minimum: number, maximum: number, item?: (value: unknown) => string | undefined): Rule => (body) => {
  const value = body[name];
  if (isMissing(value)) return undefined;
  if (!Array.isArray(value)) return fault(name, 'must be an array');
  if (value.length < minimum) return fault(name, minimum === 1 ? 'must not be empty' : `must have at least ${minimum} items`);
  if (value.length > maximum) return fault(name, `must have at most ${maximum} items; it has ${value.length}`);
  if (item !== undefined) {
    for (let index = 0; index < value.length; index += 1) {
      const reason = item(value[index]);
      if (reason !== undefined) return fault(`${name}[${index}]`, reason);
    }
  }
  return undefined;
};

/** A string, or an array of at most `maximum` strings. */
export const textOrList = (name: string, maximum: number): Rule => (body) => {
  const value = body[name];
  if (isMissing(value) || typeof value === 'string') return undefined;
  if (!Array.isArray(value)) return fault(name, 'must be a string or an array of strings');
  if (value.length > maximum) return fault(name, `must have at most ${maximum} strings; it has ${value.length}`);
  for (let index = 0; index < value.length; index += 1) if (typeof value[index] !== 'string') return fault(`${name}[${index}]`, 'must be a string');
  return undefined;
};

/** Token ids and their biases. */
export const logitBias: Rule = (body) => {
  const value = body.logit_bias;
  if (isMissing(value)) return undefined;
  if (!isObject(value)) return fault('logit_bias', 'must be an object of token ids and numbers from -100 to 100');
  for (const token in value) {
    const bias = value[token];
    if (typeof bias !== 'number' || bias < -100 || bias > 100) return fault(`logit_bias.${token.slice(0, 40)}`, 'must be a number from -100 to 100');
  }
  return undefined;
};

export const streamOptions: Rule = (body) => {
  if (isMissing(body.stream_options)) return undefined;
  if (!isObject(body.stream_options)) return fault('stream_options', 'must be an object');
  return body.stream === true ? undefined : fault('stream_options', 'is only for streams; set stream to true or leave it out');
};

/** Up to 16 pairs, keys of 64 and values of 512 characters. */
export const metadataPairs: Rule = (body) => {
  const value = body.metadata;
  if (isMissing(value)) return undefined;
  if (!isObject(value)) return fault('metadata', 'must be an object');
  const keys = Object.keys(value);
  if (keys.length > 16) return fault('metadata', `must have at most 16 pairs; it has ${keys.length}`);
  for (const key of keys) {
    if (key.length > 64) return fault('metadata', 'keys must have at most 64 characters');
    const entry = value[key];
    if (typeof entry === 'string' && entry.length > 512) return fault(`metadata.${key}`, 'must have at most 512 characters');
  }
  return undefined;
};

export const unlimited = Number.POSITIVE_INFINITY;
