// Parts of schemas that tables and control operations are written with: JSON Schema that says in one sentence what is wrong.

import { Type, type Properties, type TSchema } from './type.js';

/** One of these texts. */
export const choice = <const T extends readonly string[]>(values: T, options: { readonly default?: T[number]; readonly description?: string } = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

/** The same, or null. For schemas with one `type`. */
export const orNull = <T>(schema: TSchema<T>): TSchema<T | null> =>
  Type.Unsafe<T | null>({ ...schema, type: [String(schema.type), 'null'], ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}) });

/** An object that takes these members and no others. */
export const object = <P extends Properties>(properties: P) => Type.Object(properties, { additionalProperties: false });

/** An object whose members the gateway does not name. */
export const anyObject = () => Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });

/** Texts by name. */
export const textMap = () => Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', additionalProperties: { type: 'string' } });

/** Milliseconds since the Unix epoch, as all times in rows. */
export const timeMs = () => Type.Number({ minimum: 0 });
export const filledText = () => Type.String({ minLength: 1 });
