// Hot: runs for each call of a unified route.
// Members that several routes have, each with limits of its own in the specification: logit_bias, stream_options, metadata, text that may be
// given as tokens. Same rules as rules.ts: look, never change.

import { isObject } from '@gateway/plugin-sdk';
import type { JsonSchema } from '../exchange/endpoint.js';
import { described, fault, isLonger } from './rules.js';

const biasMax = 100;
const pairsMax = 16;
const keyCharactersMax = 64;
const valueCharactersMax = 512;

/** Token ids and their biases. */
export const logitBias = described({ type: 'object', additionalProperties: { type: 'number', minimum: -biasMax, maximum: biasMax } }, (value, name) => {
  if (!isObject(value)) return fault(name, `must be an object of token ids and numbers from -${biasMax} to ${biasMax}`);
  for (const token in value) {
    const bias = value[token];
    if (typeof bias !== 'number' || bias < -biasMax || bias > biasMax) return fault(`${name}.${shortened(token)}`, `must be a number from -${biasMax} to ${biasMax}`);
  }
  return undefined;
});

export const streamOptions = described({ type: 'object', description: 'only for streams' }, (value, name, body) => {
  if (!isObject(value)) return fault(name, 'must be an object');
  return body.stream === true ? undefined : fault(name, 'is only for streams; set stream to true or leave it out');
});

export const metadataPairs = described({
  type: 'object', maxProperties: pairsMax, propertyNames: { maxLength: keyCharactersMax }, additionalProperties: { type: 'string', maxLength: valueCharactersMax },
}, (value, name) => {
  if (!isObject(value)) return fault(name, 'must be an object');
  const keys = Object.keys(value);
  if (keys.length > pairsMax) return fault(name, `must have at most ${pairsMax} pairs; it has ${keys.length}`);
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    if (isLonger(key, keyCharactersMax)) return fault(name, `must have keys of at most ${keyCharactersMax} characters; key ${index + 1} is longer`);
    const entry = value[key];
    if (typeof entry !== 'string') return fault(`${name}.${key}`, 'must be a string');
    if (isLonger(entry, valueCharactersMax)) return fault(`${name}.${key}`, `must have at most ${valueCharactersMax} characters`);
  }
  return undefined;
});

const listsOf = (types: readonly string[]): readonly JsonSchema[] => types.map((type) => ({ type: 'array', items: { type } }));

/** A text, texts, tokens or lists of tokens: all items of one kind. Lists of tokens are looked at by their first token alone. */
export const promptText = described({ anyOf: [{ type: 'string' }, ...listsOf(['string', 'integer', 'array'])] }, (value, name) => {
  if (typeof value === 'string') return undefined;
  if (!Array.isArray(value)) return fault(name, 'must be a string, an array of strings, of tokens, or of token arrays');
  const kind = kindOf(value[0]);
  for (let index = 0; index < value.length; index += 1) {
    const own = kindOf(value[index]);
    if (own === '') return fault(`${name}[${index}]`, 'must be a string, a token or an array of tokens');
    if (own !== kind) return fault(`${name}[${index}]`, `must be ${kind} like the items before it`);
  }
  return undefined;
});

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a token' : '';
  return Array.isArray(value) && (value.length === 0 || typeof value[0] === 'number') ? 'an array of tokens' : '';
}

/** A member's name is the client's: too long for an error message as it is. */
const shortened = (name: string): string => (name.length > keyCharactersMax ? `${name.slice(0, keyCharactersMax - 3)}...` : name);
