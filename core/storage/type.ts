// JSON Schema and TypeScript type from one expression: `Type.Object({ id: Type.String(), note: Type.Optional(Type.String()) })` is a plain schema, and
// `Static` of it the type of what it accepts. A library for this takes a third of a second to load, in every thread; what is needed of it stands here.

const optional = Symbol('optional');
/** Only in types: nothing has it at run time. */
declare const accepted: unique symbol;

/** A schema whose values are of type T. */
export interface TSchema<T = unknown> {
  readonly [accepted]?: T;
  readonly [keyword: string]: unknown;
}

interface OptionalSchema<T> extends TSchema<T> {
  readonly [optional]: true;
}

export type Properties = Readonly<Record<string, TSchema>>;

export interface TObject<P extends Properties = Properties> extends TSchema<ObjectOf<P>> {
  readonly type: 'object';
  readonly properties: P;
}

/** The type of what a schema accepts. */
export type Static<S> = S extends { readonly [accepted]?: infer T } ? T : never;

type OptionalNames<P> = { [K in keyof P]: P[K] extends { readonly [optional]: true } ? K : never }[keyof P];
type ObjectOf<P> = { readonly [K in Exclude<keyof P, OptionalNames<P>>]: Static<P[K]> } & { readonly [K in OptionalNames<P>]?: Static<P[K]> };

/** Keywords beside those that the function sets: `minLength`, `pattern`, `default`, `description`, ... */
type Keywords = Readonly<Record<string, unknown>>;

const isOptional = (schema: TSchema): boolean => optional in schema;

export const Type = {
  String: (keywords: Keywords = {}): TSchema<string> => ({ type: 'string', ...keywords }),
  Number: (keywords: Keywords = {}): TSchema<number> => ({ type: 'number', ...keywords }),
  Integer: (keywords: Keywords = {}): TSchema<number> => ({ type: 'integer', ...keywords }),
  Boolean: (keywords: Keywords = {}): TSchema<boolean> => ({ type: 'boolean', ...keywords }),
  Array: <T>(items: TSchema<T>, keywords: Keywords = {}): TSchema<readonly T[]> => ({ type: 'array', items, ...keywords }),
  Object: <P extends Properties>(properties: P, keywords: Keywords = {}): TObject<P> => {
    const required = Object.keys(properties).filter((name) => !isOptional(properties[name] ?? {}));
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...keywords };
  },
  /** A member that may be absent. */
  Optional: <T>(schema: TSchema<T>): OptionalSchema<T> => ({ ...schema, [optional]: true }),
  Record: <T>(values: TSchema<T>, keywords: Keywords = {}): TSchema<Readonly<Record<string, T>>> => ({ type: 'object', additionalProperties: values, ...keywords }),
  Literal: <const T extends string | number | boolean>(value: T): TSchema<T> => ({ const: value }),
  Union: <const S extends readonly TSchema[]>(schemas: S, keywords: Keywords = {}): TSchema<Static<S[number]>> => ({ anyOf: schemas, ...keywords }),
  /** Any schema, with the type that it is known to accept. */
  Unsafe: <T>(schema: Keywords): TSchema<T> => ({ ...schema }),
  Unknown: (keywords: Keywords = {}): TSchema<unknown> => ({ ...keywords }),
  Null: (): TSchema<null> => ({ type: 'null' }),
} as const;
