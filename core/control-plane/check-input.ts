// The client's query and body -> the input of a handler, or an error that names the member and says what would be right. Unknown members are refused by name. Never
// quotes a value: it may be a secret.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import type { TSchema } from '../storage/type.js';
import { fail, type GatewayError } from '../errors/gateway-error.js';
import { didYouMean } from '../settings/nearest-name.js';

// A CommonJS module: its default export is the function in one view of it and a member in the other.
const addFormats = 'default' in addFormatsModule ? addFormatsModule.default : addFormatsModule;

const fullTime = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** A year of four digits in UTC as well: replies write it so. */
const inFourDigits = { fromMs: Date.parse('0000-01-01T00:00:00.000Z'), toMs: Date.parse('9999-12-31T23:59:59.999Z') };

/** Days that a month does not have are those of the next one to Date. */
function isTime(text: string): boolean {
  const day = fullTime.exec(text)?.[1];
  const ms = Date.parse(text);
  return day !== undefined && ms >= inFourDigits.fromMs && ms <= inFourDigits.toMs && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
}

const makeAjv = (coerceTypes: boolean): Ajv => {
  const ajv = new Ajv({ allowUnionTypes: true, useDefaults: true, coerceTypes, verbose: true, strictTuples: false });
  addFormats(ajv);
  // Some that the standard allows are not a time to anybody here: a leap second, an offset without minutes.
  ajv.addFormat('date-time', { type: 'string', validate: isTime });
  return ajv;
};
/** Query parameters are texts. */
const queryAjv = makeAjv(true);
const bodyAjv = makeAjv(false);
const compiled = new WeakMap<TSchema, ValidateFunction>();

/** Names of older clients for members of today. */
const legacyNames: Readonly<Record<string, string>> = {
  isDefault: 'is_default', apiVersion: 'api_version', resourceName: 'resource_name', deploymentName: 'deployment_name', deploymentConfig: 'deployment_config',
  pageSize: 'page_size', currentPage: 'current_page', requestedData: 'requested_data',
};

/** Fills in defaults. `at`: the number of an item in a list. Throws FIELD_INVALID. */
export function checkInput(schema: TSchema | null, given: Readonly<Record<string, unknown>>, kind: 'query' | 'body', at = ''): Readonly<Record<string, unknown>> {
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
  if (!validate(value)) throw faultOf(nearestError(validate.errors ?? []), at);
  return value;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string', integer: 'a whole number', number: 'a number', boolean: 'true or false', object: 'an object', array: 'a list', null: 'null',
};

const alternatives: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);

/**
 * The error that helps most. For a value that may have one of several shapes, the first error is about the first shape; the client more likely
 * meant the shape that matches furthest. If none matches at all, all shapes are named.
 */
function nearestError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last === undefined || !alternatives.has(last.keyword)) return errors[0];
  const inside = errors.filter((error) => error !== last && error.schemaPath.startsWith(`${last.schemaPath}/`));
  // The keyword that tells shapes apart is the first to fail in those that were not meant.
  const deeper = inside.filter((error) => error.instancePath.length > last.instancePath.length || error.keyword === 'required' || error.keyword === 'additionalProperties');
  const meant = deeper.toSorted((left, right) => right.instancePath.length - left.instancePath.length)[0];
  if (meant !== undefined) return meant;
  const shapeOf = ({ schemaPath }: ErrorObject): string => schemaPath.slice(last.schemaPath.length + 1).split('/')[0] ?? '';
  const others = new Set(inside.filter(({ keyword }) => keyword === 'type').map(shapeOf));
  const ofKind = inside.find((error) => !others.has(shapeOf(error)));
  if (ofKind !== undefined) return ofKind;
  const types = inside.flatMap(({ keyword, params }) => (keyword === 'type' ? [params.type].flat().map(String) : []));
  return types.length === 0 ? inside[0] ?? last : { ...last, keyword: 'type', params: { type: [...new Set(types)].join(',') } };
}

/** Names of members come from the client. */
const placeCharsMax = 200;

function faultOf(error: ErrorObject | undefined, at: string): GatewayError {
  const place = `${at}${error?.instancePath ?? ''}`.replace(/^\//, '').split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).filter((step) => step !== '').join('.').slice(0, placeCharsMax);
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
    case 'exclusiveMinimum': return `must be more than ${String(params.limit)}`;
    case 'exclusiveMaximum': return `must be less than ${String(params.limit)}`;
    case 'multipleOf': return `must be a multiple of ${String(params.multipleOf)}`;
    case 'const': return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'minProperties': return `must have at least ${count(params.limit, 'member')}`;
    case 'maxProperties': return `must have at most ${count(params.limit, 'member')}`;
    case 'propertyNames': return 'has a member with a name that may not be there';
    case 'minItems': return `must have at least ${count(params.limit, 'item')}`;
    case 'maxItems': return `must have at most ${count(params.limit, 'item')}`;
    case 'minLength': return params.limit === 1 ? 'must not be empty' : `must have at least ${count(params.limit, 'character')}`;
    case 'maxLength': return `must have at most ${count(params.limit, 'character')}`;
    case 'enum': return `must be one of ${(Array.isArray(params.allowedValues) ? params.allowedValues : []).map(String).join(', ')}`;
    case 'format': return params.format === 'date-time' ? 'must be an ISO 8601 time such as 2030-01-31T00:00:00.000Z' : `must be a valid ${String(params.format)}`;
    case 'pattern': return `must match ${String(params.pattern)}`;
    case 'uniqueItems': return 'must not repeat an item';
    default: return 'has none of the shapes that it may have';
  }
}
