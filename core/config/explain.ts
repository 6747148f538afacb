// An error of ajv in the words of the client: the place, and what to do. Runs only when a config is refused. Never quotes a value: it may
// be a key.

import type { ErrorObject } from 'ajv';
import { placeBelow, quoteName, type ConfigFault } from './place.js';

const kinds: Readonly<Record<string, string>> = {
  string: 'a string', integer: 'an integer', number: 'a number', boolean: 'true or false', object: 'an object', array: 'a list',
};

export function explain(error: ErrorObject, root: unknown): ConfigFault {
  const path = placeOf(error.instancePath, root);
  const params: Readonly<Record<string, unknown>> = error.params;
  if (error.keyword === 'required') {
    // What is missing was most likely misspelt: the slip says more than the gap.
    const slip = unknownMember(error);
    return slip === undefined ? { path: placeBelow(path, String(params.missingProperty)), reason: 'is required' } : unknownProperty(path, slip, error.parentSchema);
  }
  if (error.keyword === 'additionalProperties') return unknownProperty(path, String(params.additionalProperty), error.parentSchema);
  return { path, reason: reasonOf(error.keyword, params, error.parentSchema) };
}

function reasonOf(keyword: string, params: Readonly<Record<string, unknown>>, schema: Readonly<Record<string, unknown>> | undefined): string {
  const own = schema?.[keyword === 'type' ? 'typeReason' : 'reason'];
  if (typeof own === 'string') return own;
  switch (keyword) {
    case 'type': {
      const types: unknown[] = Array.isArray(params.type) ? params.type : [params.type];
      return `must be ${types.map((type) => kinds[String(type)] ?? String(type)).join(' or ')}`;
    }
    case 'minimum': return `must be at least ${String(params.limit)}`;
    case 'maximum': return `must be at most ${String(params.limit)}`;
    case 'minItems': return `must have at least ${items(params.limit)}`;
    case 'minLength': return 'must not be empty';
    case 'maxLength': return `must have at most ${String(params.limit)} characters`;
    case 'enum': return `must be one of ${(Array.isArray(params.allowedValues) ? params.allowedValues : []).join(', ')}`;
    default: return 'is not valid';
  }
}

const items = (limit: unknown): string => (limit === 1 ? '1 item' : `${String(limit)} items`);

/** ajv's pointers do not say whether a step is an index, so the value is walked along. */
function placeOf(pointer: string, root: unknown): string {
  let path = 'config';
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path = placeBelow(path, Array.isArray(value) ? Number(step) : step);
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }
  return path;
}

/** The first member that a closed object does not know. */
function unknownMember({ data, parentSchema }: ErrorObject): string | undefined {
  const schema: Readonly<Record<string, unknown>> = parentSchema ?? {};
  const closed = schema.additionalProperties === false ? schema : schema.else;
  if (typeof data !== 'object' || data === null || typeof closed !== 'object' || closed === null || !('additionalProperties' in closed) || closed.additionalProperties !== false) return undefined;
  const known: unknown = 'properties' in closed ? closed.properties : undefined;
  return typeof known === 'object' && known !== null ? Object.keys(data).find((name) => !Object.hasOwn(known, name)) : undefined;
}

function unknownProperty(path: string, name: string, schema: Readonly<Record<string, unknown>> | undefined): ConfigFault {
  const properties = schema?.properties ?? (typeof schema?.else === 'object' && schema.else !== null && 'properties' in schema.else ? schema.else.properties : undefined);
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const meant = nearest(name, known);
  const place = placeBelow(path, name);
  if (meant !== undefined) return { path: place, reason: `unknown property; did you mean ${meant}?` };
  const advice = known.length > 0 && known.length <= knownNamesMax ? `; known here: ${known.join(', ')}` : '';
  return { path: place, reason: `unknown property${place.endsWith(']') ? ` ${quoteName(name)}` : ''}${advice}` };
}

/** Above this many the list of known names would bury the message. */
const knownNamesMax = 8;
const editsMax = 2;
const comparedCharactersMax = 64;

const bare = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedCharactersMax) return undefined;
  const same = known.find((candidate) => bare(candidate) === bare(name));
  if (same !== undefined) return same;
  let best: string | undefined;
  let bestEdits = Math.min(editsMax, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate);
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits];
  }
  return best;
}

/** Levenshtein distance where swapping two neighbours is one edit. */
function editsBetween(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      let edits = Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + (isSame ? 0 : 1));
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        edits = Math.min(edits, (before[column - 2] ?? 0) + 1);
      }
      current.push(edits);
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
