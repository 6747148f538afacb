import type { Json } from './shared.js';

/** The JSON Schema subset that parameters are written in. Unknown parameters are refused unless `additionalProperties` says otherwise. */
export type Schema =
  | ObjectSchema
  | { readonly type: 'string'; readonly enum?: readonly string[]; readonly default?: string; readonly minLength?: number; readonly maxLength?: number; readonly pattern?: string; readonly description?: string; readonly secret?: true }
  | { readonly type: 'number' | 'integer'; readonly minimum?: number; readonly maximum?: number; readonly exclusiveMinimum?: number; readonly default?: number; readonly description?: string }
  | { readonly type: 'boolean'; readonly default?: boolean; readonly description?: string }
  | { readonly type: 'array'; readonly items: Schema; readonly minItems?: number; readonly maxItems?: number; readonly default?: readonly Json[]; readonly description?: string };

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

type Present<S, P> =
  | (S extends { required: readonly (infer R)[] } ? R : never)
  | { [K in keyof P]: P[K] extends { default: unknown } ? K : never }[keyof P];

/** The TypeScript type of the values that a schema accepts, after defaults were filled in. */
export type FromSchema<S> =
  S extends { enum: readonly (infer E)[] } ? E :
  S extends { type: 'string' } ? string :
  S extends { type: 'number' | 'integer' } ? number :
  S extends { type: 'boolean' } ? boolean :
  S extends { type: 'array'; items: infer I } ? readonly FromSchema<I>[] :
  S extends { type: 'object'; properties: infer P }
    ? { readonly [K in keyof P as K extends Present<S, P> ? K : never]: FromSchema<P[K]> }
      & { readonly [K in keyof P as K extends Present<S, P> ? never : K]?: FromSchema<P[K]> }
      & (S extends { additionalProperties: infer A extends Schema } ? { readonly [name: string]: FromSchema<A> } : unknown)
    : unknown;
