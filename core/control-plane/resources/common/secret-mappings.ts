// Members of an integration or a virtual key whose values are those of secret references. The value is in no row; the row says where it belongs.

import type { ProviderPlugin } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import type { IntegrationRow, SecretMapping } from '../../../storage/tables/integrations.js';
import { isOpenTo, secretReferences } from '../../../storage/tables/secret-references.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { DeclaredReference, Members } from '../../define-declared.js';
import { named } from '../../envelope.js';
import { isSecretMember } from '../integrations/credentials.js';
import { parameterName } from '../integrations/parameter-names.js';
import { idCharsShown } from './find-row.js';

const mapping = named('SecretMapping', object({
  target_field: Type.String({ minLength: 1, maxLength: 128, description: 'key, or configurations. and a parameter of the provider' }), secret_reference_id: Type.String({ minLength: 1, maxLength: 255, description: 'id or slug' }),
  secret_key: Type.Optional(orNull(Type.String({ maxLength: 255, description: 'member of what stands there, in place of that of the reference' }))), value_format: Type.Optional(orNull(choice(['json', 'string']))),
}));
export const secretMappingsField = Type.Optional(orNull(Type.Array(mapping, { maxItems: 100 })));

/** In replies. */
export const secretMappingsReply = Type.Array(mapping);

/** As a file of declarations has them: references by their slugs. */
export async function mappingsView({ repository }: ControlContext, mappings: IntegrationRow['secretMappings']): Promise<readonly Members[]> {
  return Promise.all(mappings.map(async ({ secret_reference_id: id, secret_key: key, value_format: format, target_field: field }) => ({
    target_field: field, secret_reference_id: (await repository.get(secretReferences, id))?.row.slug ?? id, ...(key === null ? {} : { secret_key: key }), ...(format === null ? {} : { value_format: format }),
  })));
}

/** The secret references that the mappings of an entry name. */
export function* mappedReferences({ secret_mappings: mappings }: Members): Generator<DeclaredReference> {
  const list: readonly unknown[] = Array.isArray(mappings) ? mappings : [];
  for (const [index, each] of list.entries()) {
    const { secret_reference_id: name }: Members = { ...Object(each) };
    if (typeof name === 'string') yield { section: 'secret_references', name, place: `secret_mappings.${index}.secret_reference_id` };
  }
}

export interface GivenMappings {
  readonly secret_mappings?: Static<typeof secretMappingsField>;
}

type Given = Static<typeof secretMappingsField> | undefined;

/** The mappings for the row; those of before if none are given. Throws FIELD_INVALID, REFERENCE_UNKNOWN, WORKSPACE_FOREIGN, ACTION_FORBIDDEN. */
export async function checkedMappings(
  context: ControlContext, plugin: ProviderPlugin, given: Given, integration: { readonly workspaceId: string | null }, before: IntegrationRow['secretMappings'],
): Promise<IntegrationRow['secretMappings']> {
  if (given === undefined) return before;
  const touched = new Set<string>();
  const mappings: SecretMapping[] = [];
  for (const [index, each] of (given ?? []).entries()) {
    const place = `secret_mappings.${index}`;
    const field = fieldOf(each.target_field, plugin, `${place}.target_field`);
    if (mappings.some((other) => other.target_field === field)) throw fail('FIELD_INVALID', { param: `${place}.target_field`, reason: 'is given twice' });
    const id = each.secret_reference_id.slice(0, idCharsShown);
    const stored = await context.byIdOrSlug(secretReferences, each.secret_reference_id, [context.caller.organisationId]);
    if (stored === undefined || stored.row.organisationId !== context.caller.organisationId) throw fail('REFERENCE_UNKNOWN', { param: `${place}.secret_reference_id`, kind: 'secret reference', id });
    if (integration.workspaceId !== null && !isOpenTo(stored.row, integration.workspaceId)) throw fail('WORKSPACE_FOREIGN', { param: `${place}.secret_reference_id`, kind: 'secret reference', id });
    const isBefore = before.some((other) => other.target_field === field && other.secret_reference_id === stored.row.id);
    // Providers repeat values that they do not treat as secrets: in answers, in errors, on their pages.
    if (!context.isOrganisationKey && !isBefore && !isHidden(field, plugin)) throw fail('ACTION_FORBIDDEN', { reason: `${field} is no secret to the provider, which may repeat it; have a secret reference mapped to it with a key of the organisation`, param: `${place}.target_field` });
    mappings.push({ target_field: field, secret_reference_id: stored.row.id, secret_key: each.secret_key || null, value_format: each.value_format ?? null });
    // Written with the mapping, so that it is not removed at the same time.
    if (!touched.has(stored.row.id) && !before.some((other) => other.secret_reference_id === stored.row.id)) context.change.update(stored, stored.row);
    touched.add(stored.row.id);
  }
  return mappings;
}

function fieldOf(written: string, plugin: ProviderPlugin, param: string): string {
  if (written === 'key' && plugin.auth.type !== 'none') return written;
  const name = /^(?:configurations|model_config)\.(\w+)$/.exec(written)?.[1];
  const known = name === undefined ? undefined : parameterName(name, plugin);
  if (known === undefined) throw fail('FIELD_INVALID', { param, reason: 'must be key, or configurations. and a parameter of the provider' });
  return `configurations.${known}`;
}

const isHidden = (field: string, plugin: ProviderPlugin): boolean => field === 'key' || isSecretMember(plugin, field.slice('configurations.'.length));

type Addressed = Pick<IntegrationRow, 'customHost' | 'configurations' | 'sealedConfigurations' | 'secretMappings' | 'models'>;

const addressOf = ({ customHost, configurations, sealedConfigurations, secretMappings, models }: Addressed): string =>
  JSON.stringify([customHost, configurations, sealedConfigurations, secretMappings, models.filter(({ custom_host: host }) => host !== null).map(({ slug, custom_host: host }) => [slug, host])]);

/** A workspace may use a secret of the organisation, and not have it sent to where it likes. Throws ACTION_FORBIDDEN. */
export function refuseChosenAddress(context: ControlContext, { baseUrl }: ProviderPlugin, before: Addressed | null, after: Addressed): void {
  if (context.isOrganisationKey || after.secretMappings.length === 0 || (before !== null && addressOf(before) === addressOf(after))) return;
  const isChosen = after.customHost !== null || after.models.some(({ custom_host: host }) => host !== null) || typeof baseUrl !== 'string' || baseUrl === '' || baseUrl.includes('{');
  if (isChosen) throw fail('ACTION_FORBIDDEN', { reason: 'the value of a secret reference would be sent to an address of the workspace\'s own choosing; have it done with a key of the organisation', param: 'secret_mappings' });
}
