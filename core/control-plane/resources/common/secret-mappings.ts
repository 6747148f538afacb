// Secrets that stand elsewhere and are only referred to. There are no references to refer to yet.

import { fail } from '../../../errors/gateway-error.js';
import { named } from '../../envelope.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { Type, type Static } from '../../../storage/type.js';

const mapping = named('SecretMapping', object({
  target_field: Type.String({ minLength: 1 }), secret_reference_id: Type.String({ minLength: 1 }), secret_key: Type.Optional(orNull(Type.String())), value_format: Type.Optional(orNull(choice(['json', 'string']))),
}));
export const secretMappingsField = Type.Optional(orNull(Type.Array(mapping, { maxItems: 100 })));

/** In replies. */
export const secretMappingsReply = Type.Array(mapping);

/** Throws REFERENCE_UNKNOWN. */
export function refuseSecretMappings(given: Static<typeof secretMappingsField> | undefined): void {
  const [first] = given ?? [];
  if (first !== undefined) throw fail('REFERENCE_UNKNOWN', { param: 'secret_mappings.0.secret_reference_id', kind: 'secret reference', id: first.secret_reference_id.slice(0, 64) });
}
