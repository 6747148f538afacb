// The settings of an organisation: every one that there is, and what it may be. What is stored has exactly these names.

import { roleGroups } from '../../../auth/roles.js';
import { fail } from '../../../errors/gateway-error.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { logBodySettings } from '../../../storage/tables/log-body-settings.js';
import { Type, type Static } from '../../../storage/type.js';
import { checkMetadataSchema } from '../../metadata.js';

const flag = (description: string) => Type.Optional(orNull(Type.Boolean({ description })));
const jsonSchema = (description: string) => Type.Optional(orNull(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description })));
const groups = (description: string) => Type.Optional(orNull(Type.Array(choice(roleGroups), { uniqueItems: true, description })));
const yearSeconds = 31_536_000;

export const settingsFields = object({
  user_api_key_auto_create: flag('members that join the organisation get a key'),
  default_workspace_user_api_key_auto_create: flag('members that are added to a workspace get a key of it'),
  user_api_key_ttl: Type.Optional(Type.Unsafe<number | string | null>({
    type: ['integer', 'string', 'null'], minimum: 1, maximum: 10 * yearSeconds, pattern: '^[1-9]\\d{0,8}(s|m|h|d|w)$', description: 'how long such keys are valid: seconds, or a duration such as 12h or 90d',
  })),
  user_api_key_rotation_period: Type.Optional(Type.Unsafe<number | 'weekly' | 'monthly' | null>({ description: 'keys of users are rotated by this period: days (1 to 365), weekly or monthly' })),
  session_settings: Type.Optional(orNull(object({ max_session_ttl: Type.Optional(orNull(Type.Integer({ minimum: 900, maximum: 10 * yearSeconds, description: 'seconds' }))) }))),
  role_settings: Type.Optional(orNull(object({
    members_manage: groups('groups of scopes that members of workspaces manage as managers do'), managers_view: groups('groups of scopes in which managers of workspaces view and use, and change nothing'),
  }))),
  allow_subdomains: flag('people of subdomains may join'),
  api_key_metadata_schema: jsonSchema('JSON Schema (draft-07) of the metadata of API keys'),
  workspace_metadata_schema: jsonSchema('JSON Schema (draft-07) of the metadata of workspaces'),
  enforce_saved_configs: flag('calls name stored configs, and bring none along'),
  enforce_saved_providers: flag('calls name stored providers, and bring no credentials along'),
  enforce_saved_custom_hosts: flag('calls bring no custom host along'),
  enforce_saved_provider_urls: flag('calls name no provider by its address'),
  enforce_saved_forward_headers: flag('calls bring no list of headers to forward along'),
  export_settings: Type.Optional(orNull(object({ deniedFields: Type.Optional(orNull(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100, uniqueItems: true }))) }))),
  cache_max_ttl: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: yearSeconds, description: 'seconds that an answer may be kept at most' }))),
  log_bodies: Type.Optional(orNull(logBodySettings)),
  membersViewLogs: flag('members see logs'),
  membersViewLogBodies: flag('members see what was asked and answered'),
  membersViewMetadata: flag('members see metadata of calls'),
  managersViewLogs: flag('managers see logs'),
  managersViewLogBodies: flag('managers see what was asked and answered'),
  managersViewMetadata: flag('managers see metadata of calls'),
});
type Settings = Readonly<Record<string, unknown>>;

const periodDaysMax = 365;
const periods = ['weekly', 'monthly'] as const;

/** The settings after `given`; a member that is absent stays, one that is null is taken away. Throws FIELD_INVALID. */
export function changedSettings(given: Static<typeof settingsFields>, before: Settings): Settings {
  const period: unknown = given.user_api_key_rotation_period;
  const isPeriod = period === undefined || period === null || periods.some((each) => each === period) || (typeof period === 'number' && Number.isInteger(period) && period >= 1 && period <= periodDaysMax);
  if (!isPeriod) throw fail('FIELD_INVALID', { param: 'settings.user_api_key_rotation_period', reason: `must be a whole number of days from 1 to ${periodDaysMax}, ${periods.join(' or ')}` });
  for (const name of ['api_key_metadata_schema', 'workspace_metadata_schema'] as const) {
    const schema = given[name];
    if (schema !== undefined && schema !== null) checkMetadataSchema(schema, `settings.${name}`);
  }
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (value === null) delete after[name];
    else after[name] = value;
  }
  return after;
}
