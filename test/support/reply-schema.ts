// Answers of control operations against the schemas that the definitions give: a member that is missing, unknown or of another type fails.

import assert from 'node:assert/strict';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { Operation } from '../../core/control-plane/define-resource.js';
import { errorSchema } from '../../core/control-plane/envelope.js';
import type { TSchema } from '../../core/storage/type.js';

// A CommonJS module: its default export is the function in one view of it and a member in the other.
const addFormats = 'default' in addFormatsModule ? addFormatsModule.default : addFormatsModule;
const ajv = new Ajv({ allowUnionTypes: true, allErrors: true, verbose: true, strictTuples: false });
addFormats(ajv);
const compiled = new WeakMap<TSchema, ValidateFunction>();

/** What is wrong with a value; empty: nothing. Values are told as well, since they are those of tests. */
export function faultsOf(schema: TSchema, value: unknown): readonly string[] {
  let validate = compiled.get(schema);
  if (validate === undefined) compiled.set(schema, validate = ajv.compile(schema));
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params, data }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}, is ${JSON.stringify(data)?.slice(0, 200) ?? 'undefined'}`);
}

/** `operation` undefined: there is none at this path. */
export function checkReply(operation: Operation | undefined, status: number, body: unknown, name: string): void {
  const schema = status >= 400 ? errorSchema : operation?.reply ?? assert.fail(`${name} is answered with ${status}, and is no operation`);
  if (status < 400) assert.equal(status, operation?.status, `${name} is answered with another status than its definition says`);
  const faults = faultsOf(schema, body);
  assert.deepEqual(faults, [], `${name} (${status}) answers otherwise than its schema says:\n  ${faults.join('\n  ')}`);
}

/** Places in a schema where an object names members and does not say what others may be there. */
export function* openPlaces(schema: unknown, place = ''): Generator<string> {
  if (Array.isArray(schema)) {
    for (const [index, each] of schema.entries()) yield* openPlaces(each, `${place}/${index}`);
  } else if (typeof schema === 'object' && schema !== null) {
    if ('properties' in schema && !('additionalProperties' in schema)) yield place;
    for (const [name, each] of Object.entries(schema)) yield* openPlaces(each, `${place}/${name}`);
  }
}
