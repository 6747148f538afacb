// Whether a parameter holds secrets, by the plugin's own word. Runs when plans are compiled and credentials are stored.

import type { Schema } from '@gateway/plugin-sdk';

/** An object whose members nobody names may hold anything. */
export function holdsSecret(schema: Schema | undefined): boolean {
  switch (schema?.type) {
    case 'string': return schema.secret === true;
    case 'array': return holdsSecret(schema.items);
    case 'object': {
      const { additionalProperties: further, properties = {} } = schema;
      return further === true || Object.values(properties).some(holdsSecret) || (typeof further === 'object' && holdsSecret(further));
    }
    default: return false;
  }
}
