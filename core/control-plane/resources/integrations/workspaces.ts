// Which workspaces may use an integration of the organisation, within which limits.

import { fail } from '../../../errors/gateway-error.js';
import { accessId } from '../../../snapshot/limit-specs.js';
import { object } from '../../../storage/schema-parts.js';
import type { IntegrationRow, WorkspaceAccess } from '../../../storage/tables/integrations.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { idText, named } from '../../envelope.js';
import { slugField } from '../../slugs.js';
import { accessLimitFields, globalAccessField, limitLists, ratesOf, usageOf, type GivenRates, type GivenUsage } from '../common/limit-members.js';
import { usageListField, usageOf as usageCounted, type UsageContext } from '../common/usage-view.js';
import { insertDefaultProvider, workspacesWith } from '../providers/make-provider.js';

const workspacesMax = 10_000;
/** Providers that one call makes. */
const providersMax = 1_000;

export const workspacesBody = object({
  workspaces: Type.Optional(Type.Array(object({
    id: Type.String({ minLength: 1, maxLength: 255 }), enabled: Type.Boolean(), ...accessLimitFields, reset_usage: Type.Optional(Type.Boolean()),
    create_default_provider: Type.Optional(Type.Boolean()), default_provider_slug: Type.Optional(slugField()),
  }), { maxItems: workspacesMax })),
  global_workspace_access: Type.Optional(globalAccessField),
  override_existing_workspace_access: Type.Optional(Type.Boolean()),
  create_default_provider: Type.Optional(Type.Boolean({ default: true })),
  default_provider_slug: Type.Optional(slugField()),
});
type Given = Static<typeof workspacesBody>;
type Limits = Pick<WorkspaceAccess, 'usage_limits' | 'rate_limits'>;
const noLimits: Limits = { usage_limits: null, rate_limits: [] };

const limitsOf = (given: { readonly usage_limits?: GivenUsage; readonly rate_limits?: GivenRates }, before: Limits, place: string, nowMs: number): Limits => ({
  usage_limits: usageOf(given.usage_limits, before.usage_limits, `${place}.usage_limits`, nowMs), rate_limits: ratesOf(given.rate_limits, before.rate_limits as IntegrationRow['globalAccess']['rate_limits'], `${place}.rate_limits`),
});

/** The access after `given`, with the providers that come with it. Throws FIELD_INVALID, REFERENCE_UNKNOWN. */
export async function withAccess(context: ControlContext, row: IntegrationRow, given: Given): Promise<Pick<IntegrationRow, 'globalAccess' | 'workspaces'>> {
  const { caller, nowMs } = context;
  if (row.workspaceId !== null) throw fail('FIELD_INVALID', { param: 'workspaces', reason: 'cannot be given: this integration belongs to one workspace' });
  const before: IntegrationRow['workspaces'] = given.override_existing_workspace_access === true ? {} : row.workspaces;
  const access: Record<string, WorkspaceAccess> = { ...before };
  /** Workspaces that get a provider, with the slug that is asked for. */
  const gets = new Map<string, string | undefined>();
  const seen = new Set<string>();
  for (const [index, each] of (given.workspaces ?? []).entries()) {
    const place = `workspaces.${index}`;
    const workspace = await context.namedWorkspace(each.id, `${place}.id`);
    if (seen.has(workspace.id)) throw fail('FIELD_INVALID', { param: `${place}.id`, reason: 'is given more than once' });
    seen.add(workspace.id);
    const own = Object.hasOwn(before, workspace.id) ? before[workspace.id] : undefined;
    access[workspace.id] = { enabled: each.enabled, ...limitsOf(each, own ?? noLimits, place, nowMs), last_reset_at_ms: each.reset_usage === true ? nowMs : own?.last_reset_at_ms ?? null };
    if (each.enabled && (each.create_default_provider ?? given.create_default_provider ?? true)) gets.set(workspace.id, each.default_provider_slug ?? given.default_provider_slug);
  }
  const givenGlobal = given.global_workspace_access;
  const globalAccess = givenGlobal === undefined ? row.globalAccess : { enabled: givenGlobal.enabled, ...limitsOf(givenGlobal, row.globalAccess, 'global_workspace_access', nowMs) } as IntegrationRow['globalAccess'];
  if (givenGlobal?.enabled === true && (given.create_default_provider ?? true)) {
    for await (const { row: { id, status } } of context.repository.each(workspaces, { index: 'organisation', parts: [caller.organisationId] })) {
      if (status === 'active' && !gets.has(id) && (!Object.hasOwn(access, id) || access[id]?.enabled === true)) gets.set(id, given.default_provider_slug);
    }
  }
  if (Object.keys(access).length > workspacesMax) throw fail('FIELD_INVALID', { param: 'workspaces', reason: `would be more than ${workspacesMax}; use global_workspace_access` });
  if (gets.size > 0) for (const id of await workspacesWith(context, row.id)) gets.delete(id);
  if (gets.size > providersMax) throw fail('FIELD_INVALID', { param: 'create_default_provider', reason: `would make more than ${providersMax} providers; give false, and make them where they are needed` });
  for (const [workspaceId, slug] of gets) await insertDefaultProvider(context, row, workspaceId, slug);
  return { globalAccess, workspaces: access };
}

export const globalAccessSchema = named('GlobalWorkspaceAccess', object({ enabled: Type.Boolean(), ...limitLists }));
export const workspacesSchema = object({
  object: Type.Literal('list'), total: Type.Integer({ minimum: 0 }), workspaces: Type.Array(object({ id: idText(), enabled: Type.Boolean(), ...limitLists, usage: usageListField })), global_workspace_access: globalAccessSchema,
});

export function workspacesReply(context: UsageContext, row: IntegrationRow): Reply {
  const list = row.workspaceId !== null ? [{ id: row.workspaceId, enabled: true, usage_limits: null, rate_limits: null, usage: [] }]
    : Object.entries(row.workspaces).map(([id, { enabled, last_reset_at_ms: _, ...limits }]) => ({
      id, enabled, ...limitsReply(limits), usage: usageCounted(context, 'access', accessId(row.id, id), [limits.usage_limits], row.createdAtMs),
    }));
  return { object: 'list', total: list.length, workspaces: list, global_workspace_access: globalReply(row) };
}

export const globalReply = ({ globalAccess: { enabled, ...limits } }: IntegrationRow): Reply => ({ enabled, ...limitsReply(limits) });

const limitsReply = ({ usage_limits: usage, rate_limits: rates }: Limits): Reply => ({ usage_limits: usage === null ? null : [usage], rate_limits: rates.length === 0 ? null : rates });
