// Turns schemas with a name (`title`) into one component each and references to it. Two different schemas must not have the same name.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@gateway/plugin-sdk';
import type { JsonSchema } from '../exchange/endpoint.js';

const nameShape = /^[A-Z]\w*$/;
/** Their values are examples of data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['examples', 'default', 'enum', 'const', 'required']);

export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /** The schema with references in the places of those that have a name. */
  refer(schema: JsonSchema): JsonSchema {
    const { title } = schema;
    if (typeof title !== 'string' || !nameShape.test(title)) return this.#inside(schema);
    const { isNullable, plain } = withoutNull(schema);
    const reference = this.add(title, plain);
    return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference;
  }

  /** Adds a component under this name, whatever its title. Throws if the name belongs to another schema. */
  add(name: string, schema: JsonSchema): JsonSchema {
    const { title: _name, ...members } = this.#inside(schema);
    const known = this.schemas[name];
    if (known !== undefined && !isDeepStrictEqual(known, members)) throw new Error(`two schemas are called ${name}`);
    this.schemas[name] = members;
    return { $ref: `#/components/schemas/${name}` };
  }

  #inside(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, dataKeywords.has(keyword) ? value : this.#referAll(value)]));
  }

  #referAll(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each: unknown) => this.#referAll(each));
    return isObject(value) ? this.refer(value) : value;
  }
}

/** `orNull` of a schema with a name is that schema, or null. */
function withoutNull(schema: JsonSchema): { readonly isNullable: boolean; readonly plain: JsonSchema } {
  const { type, enum: allowed } = schema;
  if (!Array.isArray(type) || !type.includes('null')) return { isNullable: false, plain: schema };
  const types: readonly unknown[] = type.filter((each) => each !== 'null');
  return {
    isNullable: true,
    plain: { ...schema, type: types.length === 1 ? types[0] : types, ...(Array.isArray(allowed) ? { enum: allowed.filter((each) => each !== null) } : {}) },
  };
}
