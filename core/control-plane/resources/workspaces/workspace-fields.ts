// The wire members of a workspace: the members of the bodies, and the rules that span several or need other rows.

import { fail } from '../../../errors/gateway-error.js';
import { object, orNull } from '../../../storage/schema-parts.js';
import { configs } from '../../../storage/tables/configs.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { logBodySettings } from '../../../storage/tables/log-body-settings.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { checkedRateLimits, checkedUsageLimits, rateLimitFields, usageLimitsField } from '../../limit-fields.js';
import { conformingMetadata, metadataField } from '../../metadata.js';
import { slugField } from '../../slugs.js';
import { namedGuardrails } from '../guardrails/guardrail-users.js';

const guardrailsMax = 100;
const guardrails = () => Type.Optional(orNull(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: guardrailsMax, uniqueItems: true })));

const shared = {
  description: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
  icon: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
  defaults: Type.Optional(orNull(object({
    metadata: Type.Optional(orNull(metadataField())), input_guardrails: guardrails(), output_guardrails: guardrails(),
    user_api_key_config: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 255, description: 'slug or id of a config of the workspace, for keys that are made by themselves' }))),
  }))),
  usage_limits: Type.Optional(orNull(Type.Array(usageLimitsField, { maxItems: 1 }))),
  rate_limits: Type.Optional(orNull(Type.Array(rateLimitFields.ofOthers, { maxItems: 1 }))),
  log_bodies: Type.Optional(orNull(logBodySettings)),
};
const name = () => Type.String({ minLength: 1, maxLength: 255 });

export const createFields = object({ name: name(), slug: Type.Optional(slugField()), ...shared, users: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 500, uniqueItems: true, description: 'ids of users who are its first members' })) });
export const updateFields = object({ name: Type.Optional(name()), ...shared, reset_usage: Type.Optional(Type.Boolean()) });

type SharedMembers = Pick<WorkspaceRow, 'description' | 'icon' | 'defaults' | 'usageLimits' | 'rateLimits' | 'logBodies'>;

export const noDefaults: WorkspaceRow['defaults'] = { metadata: {}, input_guardrails: [], output_guardrails: [], user_api_key_config: null };

/** The members of both bodies as the row has them after them; `workspaceId` is null for one that is made just now. Throws FIELD_INVALID, REFERENCE_UNKNOWN. */
export async function sharedMembers(context: ControlContext, given: Omit<Static<typeof updateFields>, 'name' | 'reset_usage'>, before: SharedMembers, workspaceId: string | null): Promise<SharedMembers> {
  const { description, icon, usage_limits, rate_limits, log_bodies } = given;
  return {
    description: description === undefined ? before.description : description,
    icon: icon === undefined ? before.icon : icon,
    logBodies: log_bodies === undefined ? before.logBodies ?? null : log_bodies,
    usageLimits: usage_limits === undefined ? before.usageLimits : (usage_limits ?? []).map((limits, index) => checkedUsageLimits(limits, `usage_limits.${index}`, context.nowMs)),
    rateLimits: rate_limits === undefined ? before.rateLimits : checkedRateLimits(rate_limits ?? [], 'rate_limits'),
    defaults: given.defaults === undefined && workspaceId !== null ? before.defaults : await defaultsOf(context, given.defaults ?? {}, given.defaults === null ? noDefaults : before.defaults, workspaceId),
  };
}

async function defaultsOf(context: ControlContext, given: NonNullable<Static<typeof updateFields>['defaults']>, before: WorkspaceRow['defaults'], workspaceId: string | null): Promise<WorkspaceRow['defaults']> {
  const { metadata, input_guardrails, output_guardrails, user_api_key_config } = given;
  if (user_api_key_config !== undefined && user_api_key_config !== null) await checkConfig(context, user_api_key_config, workspaceId);
  const settings = (await context.repository.get(organisations, context.caller.organisationId))?.row.settings ?? {};
  return {
    metadata: conformingMetadata(metadata === undefined ? before.metadata : metadata ?? {}, settings.workspace_metadata_schema, 'defaults.metadata'),
    input_guardrails: input_guardrails === undefined ? before.input_guardrails : await namedGuardrails(context, workspaceId, input_guardrails ?? [], 'input_guardrails', 'defaults.input_guardrails'),
    output_guardrails: output_guardrails === undefined ? before.output_guardrails : await namedGuardrails(context, workspaceId, output_guardrails ?? [], 'output_guardrails', 'defaults.output_guardrails'),
    user_api_key_config: user_api_key_config === undefined ? before.user_api_key_config : user_api_key_config,
  };
}

async function checkConfig(context: ControlContext, given: string, workspaceId: string | null): Promise<void> {
  const row = workspaceId === null ? undefined : (await context.byIdOrSlug(configs, given, [workspaceId]))?.row;
  if (row === undefined || row.workspaceId !== workspaceId || row.status === 'archived') throw fail('REFERENCE_UNKNOWN', { param: 'defaults.user_api_key_config', kind: 'config', id: given.slice(0, 64) });
}
