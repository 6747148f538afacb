// Values that a JSON Schema takes, for fast-check. Made as far as keywords go that schemas here have; whoever needs to be sure holds them against the schema.

import fc, { type Arbitrary } from './fast-check.js';

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const schemas = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);
const numberOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback);

const itemsMax = 3;
/** Long enough to meet what is cut and what is escaped, short enough to be quick. */
const charsMax = 24;

/** Any JSON, small. */
export const anyJson: Arbitrary<unknown> = fc.jsonValue({ maxDepth: 2 });

/** Texts that code stumbles over. */
export const oddTexts = fc.constantFrom(
  '', ' ', '.', '..', '../..', '%', '%00', '%2f', '\u0000', '\n', '"', "'", '\\', '{{x}}', '{}', '[]', 'null', 'true', '0', '-1', '1e999', 'NaN', '__proto__', 'constructor', 'toString', 'hasOwnProperty',
  '\ud800', '\u202e', '\ufeff', 'é'.normalize('NFD'), '😀', '@', '@x', 'a/b', 'a,b', ',', 'x'.repeat(300), '01890000-0000-7000-8000-000000000000', '9999-12-31T23:59:60Z', '2030-02-30T00:00:00Z', 'env:HOME',
);

const formats: Readonly<Record<string, Arbitrary<string>>> = {
  uuid: fc.uuid(),
  'date-time': fc.date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
  email: fc.constantFrom('ada@example.com', 'a.b+c@example.org', 'x@sub.example.net'),
  uri: fc.constantFrom('https://example.com/', 'http://127.0.0.2:1/x'),
};

const lookahead = /\(\?[!=](?:[^()]|\([^()]*\))*\)/g;

function textsOf(schema: Schema): Arbitrary<string> {
  const { format, pattern } = schema;
  const own = typeof format === 'string' ? formats[format] : undefined;
  if (own !== undefined) return own;
  const [minLength, maxLength] = [numberOr(schema.minLength, 0), numberOr(schema.maxLength, charsMax)];
  const fits = (text: string): boolean => [...text].length >= minLength && [...text].length <= maxLength;
  // What must not follow is left to the filter.
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern.replace(lookahead, ''))).map((text) => text.slice(0, charsMax)).filter((text) => fits(text) && new RegExp(pattern, 'u').test(text));
  const plain = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, charsMax)), unit: 'binary' });
  return fc.oneof(plain, oddTexts.filter(fits));
}

function objectsOf(schema: Schema): Arbitrary<unknown> {
  const { properties, additionalProperties, required, propertyNames } = schema;
  const needed = Array.isArray(required) ? required.map(String) : [];
  const named = Object.entries(isSchema(properties) ? properties : {}).map(([name, each]) => [name, valuesOf(isSchema(each) ? each : {})] as const);
  const own = fc.record(Object.fromEntries(named), { requiredKeys: needed.filter((name) => named.some(([each]) => each === name)), noNullPrototype: true });
  if (named.length > 0 && additionalProperties !== undefined) return own;
  const others = additionalProperties === false ? undefined : isSchema(additionalProperties) ? valuesOf(additionalProperties) : anyJson;
  if (others === undefined) return own;
  const names = isSchema(propertyNames) ? textsOf(propertyNames) : fc.string({ maxLength: 8 });
  return fc.tuple(fc.dictionary(names, others, { maxKeys: itemsMax, noNullPrototype: true }), own).map(([more, members]) => ({ ...more, ...members }));
}

function valuesOfType(type: unknown, schema: Schema): Arbitrary<unknown> {
  switch (type) {
    case 'null': return fc.constant(null);
    case 'boolean': return fc.boolean();
    case 'integer': return fc.integer({ min: Math.ceil(numberOr(schema.minimum, -5)), max: Math.floor(numberOr(schema.maximum, numberOr(schema.minimum, 0) + 1000)) });
    case 'number': return fc.oneof(fc.double({ min: numberOr(schema.minimum, -1e9), max: numberOr(schema.maximum, 1e9), noNaN: true }), fc.constant(Math.max(numberOr(schema.minimum, 0), 0)));
    case 'string': return textsOf(schema);
    case 'array': {
      const [minLength, maxLength] = [numberOr(schema.minItems, 0), Math.min(numberOr(schema.maxItems, itemsMax), itemsMax)];
      const items = isSchema(schema.items) ? valuesOf(schema.items) : anyJson;
      return schema.uniqueItems === true ? fc.uniqueArray(items, { minLength, maxLength, comparator: 'SameValueZero' }) : fc.array(items, { minLength, maxLength: Math.max(minLength, maxLength) });
    }
    case 'object': return objectsOf(schema);
    default: return anyJson;
  }
}

export function valuesOf(schema: Schema): Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...schema.enum);
  const shapes = [...schemas(schema.anyOf), ...schemas(schema.oneOf)];
  if (shapes.length > 0) return fc.oneof(...shapes.map((shape) => valuesOf(shape)));
  const types = [schema.type].flat();
  // One object, or a list of them.
  const branches = isSchema(schema.then) && isSchema(schema.else) ? [schema.then, schema.else] : [];
  if (branches.length > 0) return fc.oneof(...branches.map((branch) => valuesOf(branch)));
  return fc.oneof(...types.map((type) => valuesOfType(type, schema)));
}
