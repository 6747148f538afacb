// What a client sent -> what a handler gets, or an error that names the member and says what would be right. Unknown members are refused by name. Never
// quotes a value: it may be a secret.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from '../storage/type.js';
import { fail, type GatewayError } from '../errors/gateway-error.js';
import { didYouMean } from '../settings/nearest-name.js';

// A CommonJS module: its default export is the function in one view of it and a member in the other.
const addFormats = 'default' in addFormatsModule ? addFormatsModule.default : addFormatsModule;

const makeAjv = (coerceTypes: boolean): Ajv => {
  const ajv = new Ajv({ allowUnionTypes: true, useDefaults: true, coerceTypes, verbose: true, strictTuples: false });
  addFormats(ajv);
  return ajv;
};
/** Query parameters are texts. */
const queryAjv = makeAjv(true);
const bodyAjv = makeAjv(false);
const compiled = new WeakMap<TSchema, ValidateFunction>();

/** Names of older clients for members of today. */
const legacyNames: Readonly<Record<string, string>> = {
  isDefault: 'is_default', apiVersion: 'api_version', resourceName: 'resource_name', deploymentName: 'deployment_name', deploymentConfig: 'deployment_config',
  pageSize: 'page_size', currentPage: 'current_page',
};

/** Fills in defaults. Throws FIELD_INVALID. */
export function checkInput(schema: TSchema | null, given: Readonly<Record<string, unknown>>, kind: 'query' | 'body'): Readonly<Record<string, unknown>> {
  const known: Readonly<Record<string, unknown>> = schema !== null && 'properties' in schema && typeof schema.properties === 'object' && schema.properties !== null ? { ...schema.properties } : {};
  const value: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(given)) {
    const today = legacyNames[name];
    if (today === undefined || Object.hasOwn(known, name) || !Object.hasOwn(known, today)) value[name] = each;
    else if (given[today] === undefined) value[today] = each;
    else throw fail('FIELD_INVALID', { param: name, reason: `is the older name of ${today}; give one of them` });
  }
  if (schema === null) {
    const [name] = Object.keys(value);
    if (name !== undefined) throw fail('FIELD_INVALID', { param: name, reason: `is not known here; this operation takes no ${kind === 'query' ? 'query parameters' : 'body'}` });
    return value;
  }
  let validate = compiled.get(schema);
  if (validate === undefined) compiled.set(schema, validate = (kind === 'query' ? queryAjv : bodyAjv).compile(schema));
  if (!validate(value)) throw faultOf(validate.errors?.[0]);
  return value;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string', integer: 'a whole number', number: 'a number', boolean: 'true or false', object: 'an object', array: 'a list', null: 'null',
};

function faultOf(error: ErrorObject | undefined): GatewayError {
  const place = (error?.instancePath ?? '').slice(1).split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).filter((step) => step !== '').join('.');
  const below = (name: string): string => (place === '' ? name : `${place}.${name}`);
  const params: Readonly<Record<string, unknown>> = error?.params ?? {};
  if (error?.keyword === 'required') return fail('FIELD_INVALID', { param: below(String(params.missingProperty)), reason: 'is required' });
  if (error?.keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    const schema: { readonly properties?: unknown } = Object(error.parentSchema);
    const names = Object.keys(Object(schema.properties));
    return fail('FIELD_INVALID', { param: below(name.slice(0, 64)), reason: `is not known here${didYouMean(name, names) || (names.length === 0 ? '' : `; known are ${names.join(', ')}`)}` });
  }
  return fail('FIELD_INVALID', { param: place === '' ? 'body' : place, reason: reasonOf(error, params) });
}

function reasonOf(error: ErrorObject | undefined, params: Readonly<Record<string, unknown>>): string {
  const count = (limit: unknown, one: string): string => (limit === 1 ? `1 ${one}` : `${String(limit)} ${one}s`);
  switch (error?.keyword) {
    case 'type': return `must be ${String(params.type).split(',').map((type) => kinds[type] ?? type).join(' or ')}`;
    case 'minimum': return `must be at least ${String(params.limit)}`;
    case 'maximum': return `must be at most ${String(params.limit)}`;
    case 'minItems': return `must have at least ${count(params.limit, 'item')}`;
    case 'maxItems': return `must have at most ${count(params.limit, 'item')}`;
    case 'minLength': return params.limit === 1 ? 'must not be empty' : `must have at least ${count(params.limit, 'character')}`;
    case 'maxLength': return `must have at most ${count(params.limit, 'character')}`;
    case 'enum': return `must be one of ${(Array.isArray(params.allowedValues) ? params.allowedValues : []).map(String).join(', ')}`;
    case 'format': return params.format === 'date-time' ? 'must be an ISO 8601 time such as 2030-01-31T00:00:00.000Z' : `must be a valid ${String(params.format)}`;
    case 'pattern': return `must match ${String(params.pattern)}`;
    case 'uniqueItems': return 'must not repeat an item';
    default: return 'is not valid';
  }
}
