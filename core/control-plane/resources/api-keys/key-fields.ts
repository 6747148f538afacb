// The wire members of an API key: the members of the bodies, and the rules that span several or need other rows.

import { Type, type Static } from '../../../storage/type.js';
import { fail } from '../../../errors/gateway-error.js';
import { didYouMean } from '../../../settings/nearest-name.js';
import { object, orNull } from '../../../storage/schema-parts.js';
import type { ApiKeyRow, KeyType } from '../../../storage/tables/api-keys.js';
import { configs } from '../../../storage/tables/configs.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { providers } from '../../../storage/tables/providers.js';
import type { ControlContext } from '../../context.js';
import { checkedRateLimits, checkedUsageLimits, rateLimitFields, usageLimitsField } from '../../limit-fields.js';
import { conformingMetadata, metadataField } from '../../metadata.js';
import { rotationPolicyField, type EnforcedPeriod } from './rotation-policy.js';

const alertEmailsMax = 50;
const scopesMax = 500;

const defaultsField = object({
  metadata: Type.Optional(orNull(metadataField())),
  config_id: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 255, description: 'slug or id of a config of the workspace' }))),
  provider: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 255, description: '@slug of a provider of the workspace, or the id of a provider' }))),
  allow_config_override: Type.Optional(Type.Boolean()),
});

/** Of create and update alike; absent: as it is, or the default; null: none. */
const shared = {
  description: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
  rate_limits: Type.Optional(orNull(Type.Array(rateLimitFields.ofKeys))),
  usage_limits: Type.Optional(orNull(usageLimitsField)),
  defaults: Type.Optional(orNull(defaultsField)),
  alert_emails: Type.Optional(orNull(Type.Array(Type.String({ format: 'email', maxLength: 320 }), { maxItems: alertEmailsMax, uniqueItems: true }))),
  expires_at: Type.Optional(orNull(Type.String({ format: 'date-time' }))),
  rotation_policy: Type.Optional(orNull(rotationPolicyField)),
};
const name = () => Type.String({ minLength: 1, maxLength: 255 });
const scopes = () => Type.Array(Type.String(), { maxItems: scopesMax, uniqueItems: true });

export const createFields = object({
  name: name(), ...shared, scopes: scopes(),
  user_id: Type.Optional(orNull(Type.String({ format: 'uuid', description: 'whom a key of type workspace-user acts for' }))),
});
export const updateFields = object({ name: Type.Optional(name()), ...shared, scopes: Type.Optional(scopes()), reset_usage: Type.Optional(Type.Boolean()) });

type SharedMembers = Pick<ApiKeyRow, 'description' | 'rateLimits' | 'usageLimits' | 'defaults' | 'alertEmails' | 'expiresAtMs'>;

/** The members of both bodies as the row has them after them. Throws FIELD_INVALID, REFERENCE_UNKNOWN. */
export async function sharedMembers(
  context: ControlContext, given: Omit<Static<typeof updateFields>, 'name' | 'scopes' | 'reset_usage'>, before: SharedMembers, key: { readonly type: KeyType; readonly workspaceId: string | null }, isNew: boolean,
): Promise<SharedMembers> {
  const { description, rate_limits, usage_limits, alert_emails, expires_at } = given;
  return {
    description: description === undefined ? before.description : description,
    rateLimits: rate_limits === undefined ? before.rateLimits : checkedRateLimits(rate_limits ?? [], 'rate_limits'),
    usageLimits: usage_limits === undefined ? before.usageLimits : usage_limits === null ? null : checkedUsageLimits(usage_limits, 'usage_limits', context.nowMs),
    alertEmails: alert_emails === undefined ? before.alertEmails : alert_emails ?? [],
    expiresAtMs: expires_at === undefined ? before.expiresAtMs : expires_at === null ? null : future(expires_at, context.nowMs),
    defaults: given.defaults === undefined && !isNew ? before.defaults : await defaultsOf(context, given.defaults ?? {}, given.defaults === null ? noDefaults : before.defaults, key),
  };
}

export const noDefaults: ApiKeyRow['defaults'] = { metadata: {}, config_id: null, provider: null, allow_config_override: true };

function future(text: string, nowMs: number): number {
  const ms = Date.parse(text);
  if (!(ms > nowMs)) throw fail('FIELD_INVALID', { param: 'expires_at', reason: 'must be in the future; null for a key that never expires' });
  return ms;
}

async function defaultsOf(context: ControlContext, given: Static<typeof defaultsField>, before: ApiKeyRow['defaults'], key: { readonly type: KeyType; readonly workspaceId: string | null }): Promise<ApiKeyRow['defaults']> {
  const { metadata, config_id, provider, allow_config_override } = given;
  const schema = (await organisationSettings(context)).api_key_metadata_schema;
  for (const [name, value] of Object.entries({ config_id, provider })) {
    if (value === undefined || value === null) continue;
    if (key.workspaceId === null) throw fail('FIELD_INVALID', { param: `defaults.${name}`, reason: 'is nothing for a key of the organisation, which makes no calls to models; leave it out' });
    await (name === 'config_id' ? checkConfig : checkProvider)(context, value, key.workspaceId);
  }
  return {
    metadata: conformingMetadata(metadata === undefined ? before.metadata : metadata ?? {}, schema, 'defaults.metadata'),
    config_id: config_id === undefined ? before.config_id : config_id,
    provider: provider === undefined ? before.provider : provider,
    allow_config_override: allow_config_override ?? before.allow_config_override,
  };
}

/** Settings of the caller's organisation, in the words of the wire. */
export async function organisationSettings({ repository, caller }: ControlContext): Promise<Readonly<Record<string, unknown>>> {
  return (await repository.get(organisations, caller.organisationId))?.row.settings ?? {};
}

/** The period enforced for keys of this type; null: nothing. */
export async function enforcedPeriod(context: ControlContext, type: KeyType): Promise<EnforcedPeriod> {
  if (type !== 'workspace-user') return null;
  return periodOf(await organisationSettings(context));
}

export function periodOf({ user_api_key_rotation_period: period }: Readonly<Record<string, unknown>>): EnforcedPeriod {
  return period === 'weekly' || period === 'monthly' || typeof period === 'number' ? period : null;
}

async function checkConfig(context: ControlContext, given: string, workspaceId: string): Promise<void> {
  const row = (await context.byIdOrSlug(configs, given, [workspaceId]))?.row;
  if (row === undefined || row.workspaceId !== workspaceId || row.status === 'archived') throw fail('REFERENCE_UNKNOWN', { param: 'defaults.config_id', kind: 'config', id: given.slice(0, 64) });
}

async function checkProvider({ services, repository }: ControlContext, given: string, workspaceId: string): Promise<void> {
  const param = 'defaults.provider';
  if (given.startsWith('@')) {
    if (await repository.find(providers, 'slug', [workspaceId, given.slice(1)]) === undefined) throw fail('REFERENCE_UNKNOWN', { param, kind: 'provider', id: given.slice(0, 64) });
    return;
  }
  const known = services.registry.list('provider');
  if (!known.includes(given)) throw fail('FIELD_INVALID', { param, reason: `is not a provider${didYouMean(given, known) || '; give @ and the slug of one of the workspace, or an id of the catalogue'}` });
}
