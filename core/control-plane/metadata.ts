// Metadata of keys and workspaces: short texts by name, and the JSON Schema (draft-07) that an organisation may set for them. Schemas come from
// clients: their size is bounded, and their patterns match in linear time.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { RE2JS } from 're2js';
import { Type } from '../storage/type.js';
import { isObject, patternSize } from '@gateway/plugin-sdk';
import { fail, reasonOf } from '../errors/gateway-error.js';

export type Metadata = Readonly<Record<string, string>>;

const valueCharsMax = 128;
const membersMax = 64;
const schemaCharsMax = 32_768;
const patternSizeMax = 2_000;
/** Of all patterns of a schema. */
const patternsSizeMax = 20_000;
/** Members and items of a schema with its references expanded: the most that one check has to look at. */
const expandedMax = 20_000;
/** Compiled schemas that are kept; an organisation has two. */
const compiledMax = 16;

export const metadataField = () => Type.Unsafe<Metadata>({
  type: 'object', maxProperties: membersMax, propertyNames: { type: 'string', minLength: 1, maxLength: valueCharsMax }, additionalProperties: { type: 'string', maxLength: valueCharsMax },
});

// A CommonJS module: its default export is the function in one view of it and a member in the other.
const addFormats = 'default' in addFormatsModule ? addFormatsModule.default : addFormatsModule;

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

function linearPatterns(): { (pattern: string): Pattern; code: string } {
  let total = 0;
  const linearPattern = (pattern: string): Pattern => {
    const size = patternSize(pattern);
    total += size;
    if (size > patternSizeMax) throw new Error('a pattern repeats too much');
    if (total > patternsSizeMax) throw new Error('its patterns are too many, or repeat too much, together');
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
  };
  return Object.assign(linearPattern, { code: 'linearPattern' });
}

/**
 * How much a schema is with everything behind its references. A few lines that refer to each other can be more than can be looked at in a lifetime, and
 * references that meet themselves have no end. Throws.
 */
function expandedSize(schema: Readonly<Record<string, unknown>>): number {
  const sizes = new Map<object, number>();
  const under = new Set<object>();
  const sizeOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1;
    const known = sizes.get(value);
    if (known !== undefined) return known;
    if (under.has(value)) throw new Error('a $ref leads back to where it is');
    under.add(value);
    const { $ref, $id }: { readonly $ref?: unknown; readonly $id?: unknown } = value;
    if (typeof $id === 'string' && value !== schema) throw new Error('$id may stand at the top alone');
    let size = typeof $ref === 'string' ? 1 + sizeOf(referredTo(schema, $ref)) : 1;
    for (const each of Object.values(value)) size += sizeOf(each);
    if (size > expandedMax) throw new Error(`it has more than ${expandedMax} members with those that its references stand for`);
    under.delete(value);
    sizes.set(value, size);
    return size;
  };
  return sizeOf(schema);
}

function referredTo(schema: unknown, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) throw new Error('a $ref must begin with #/: nothing is fetched');
  let place: unknown = schema;
  for (const step of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    place = typeof place === 'object' && place !== null && Object.hasOwn(place, name) ? Reflect.get(place, name) : undefined;
  }
  return place;
}

const compiled = new Map<string, ValidateFunction>();

function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const text = JSON.stringify(schema);
  let validate = compiled.get(text);
  if (validate !== undefined) return validate;
  // One that is asynchronous gives a promise, which is not false, whatever becomes of it.
  if (schema.$async !== undefined) throw new Error('$async is not known here');
  expandedSize(schema);
  const ajv = new Ajv({ strict: true, strictTypes: false, useDefaults: true, logger: false, code: { regExp: linearPatterns() } });
  addFormats(ajv);
  validate = ajv.compile(schema);
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(text, validate);
  return validate;
}

/** Throws FIELD_INVALID unless metadata can be judged by `schema`. */
export function checkMetadataSchema(schema: Readonly<Record<string, unknown>>, param: string): void {
  const refuse = (reason: string, place = ''): never => { throw fail('FIELD_INVALID', { param: `${param}${place}`, reason }); };
  if (JSON.stringify(schema).length > schemaCharsMax) refuse(`has more than ${schemaCharsMax} characters`);
  if (schema.type !== 'object') refuse('must be "object": metadata is one', '.type');
  // Its verdict would be a promise, and a promise is not a refusal.
  if (schema.$async !== undefined) refuse('is nothing that a JSON Schema has', '.$async');
  const { properties = {} } = schema;
  if (isObject(properties)) {
    for (const [name, each] of Object.entries(properties)) {
      const type = isObject(each) ? each.type : 'string';
      if (type !== undefined && type !== 'string') refuse('must be "string": all metadata are texts', `.properties.${name.slice(0, 64)}.type`);
    }
  }
  try {
    compile(schema);
  } catch (thrown) {
    refuse(`is not a JSON Schema of draft-07: ${reasonOf(thrown).slice(0, 300)}`);
  }
}

/** The metadata with the defaults of the schema filled in. Throws FIELD_INVALID with a place below `param`. */
export function conformingMetadata(given: Metadata, schema: unknown, param: string): Metadata {
  if (!isObject(schema)) return given;
  const value: Record<string, unknown> = { ...given };
  const validate = compile(schema);
  if (validate(value)) {
    const metadata: Record<string, string> = {};
    for (const [name, each] of Object.entries(value)) {
      if (typeof each !== 'string') throw fail('FIELD_INVALID', { param: `${param}.${name}`, reason: 'has a default in the metadata schema that is not a text; change the schema' });
      if (each.length > valueCharsMax) throw fail('FIELD_INVALID', { param: `${param}.${name}`, reason: `has a default in the metadata schema with more than ${valueCharsMax} characters; change the schema` });
      metadata[name] = each;
    }
    if (Object.keys(metadata).length > membersMax) throw fail('FIELD_INVALID', { param, reason: `has more than ${membersMax} members with the defaults of the metadata schema; change the schema` });
    return metadata;
  }
  const [error] = validate.errors ?? [];
  throw fail('FIELD_INVALID', { param: placeOf(error, param), reason: `${error?.keyword === 'required' ? 'is required' : error?.message ?? 'is not valid'}, by the metadata schema of the organisation` });
}

function placeOf(error: ErrorObject | undefined, param: string): string {
  const place = (error?.instancePath ?? '').split('/').filter((step) => step !== '').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty }: { readonly missingProperty?: unknown; readonly additionalProperty?: unknown } = error?.params ?? {};
  const member = missingProperty ?? additionalProperty;
  return [param, ...place, ...(typeof member === 'string' ? [member.slice(0, 64)] : [])].join('.');
}
