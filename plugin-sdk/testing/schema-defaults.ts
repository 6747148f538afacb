import { isObject } from '../src/json.js';
import type { ObjectSchema } from '../src/schema.js';

/** The values with the defaults of the schema filled in, as the host does before `create`. */
export function withDefaults(schema: ObjectSchema, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...values };
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = filled[name];
    if (given === undefined && 'default' in property && property.default !== undefined) filled[name] = property.default;
    if (property.type === 'object' && isObject(given)) filled[name] = withDefaults(property, given);
  }
  return filled;
}
