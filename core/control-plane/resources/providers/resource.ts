import { providers, providerStatus, type ProviderRow } from '../../../storage/tables/providers.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import type { Stored } from '../../../storage/change.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeOrNull, timeText, timeTextOrNull } from '../../envelope.js';
import { rateLimitFields, usageLimitsField } from '../../limit-fields.js';
import { inReach, pageOf, pageQuery } from '../../paging.js';
import { nameField, slugField } from '../../slugs.js';
import { findRow } from '../common/find-row.js';
import { expiryOf, limitFields, ratesOf, usageOf, type GivenRates, type GivenUsage } from '../common/limit-members.js';
import { isExhausted, usageListField, usageOf as usageCounted, type UsageContext } from '../common/usage-view.js';
import { integrationForUse } from '../integrations/find-integration.js';
import { archiveProvider, insertProvider, providerSlug, refuseUsed } from './make-provider.js';

export const providersPage = 50;

/** Of providers and virtual keys alike. */
export const providerFields = {
  ...limitFields,
  note: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
  expires_at: Type.Optional(orNull(Type.String({ format: 'date-time' }))),
};

interface Given {
  readonly name?: string | undefined;
  readonly note?: string | null | undefined;
  readonly usage_limits?: GivenUsage;
  readonly rate_limits?: GivenRates;
  readonly expires_at?: string | null | undefined;
  readonly reset_usage?: boolean | undefined;
}

type Members = Pick<ProviderRow, 'note' | 'usageLimits' | 'rateLimits' | 'expiresAtMs'>;
export const noMembers: Members = { note: null, usageLimits: null, rateLimits: [], expiresAtMs: null };

/** The members after `given`. Throws FIELD_INVALID. */
export const membersOf = (given: Given, before: Members, nowMs: number): Members => ({
  note: given.note === undefined ? before.note : given.note,
  usageLimits: usageOf(given.usage_limits, before.usageLimits, 'usage_limits', nowMs),
  rateLimits: ratesOf(given.rate_limits, before.rateLimits, 'rate_limits'),
  expiresAtMs: expiryOf(given.expires_at, before.expiresAtMs, nowMs),
});

/** The row after an update: usage that is reset, or has other limits, is looked at anew. */
export function updatedRow(row: ProviderRow, given: Given, nowMs: number): ProviderRow {
  const isReset = given.reset_usage === true;
  return {
    ...row, ...membersOf(given, row, nowMs), name: given.name ?? row.name, status: isReset || given.usage_limits !== undefined ? 'active' : row.status,
    lastResetAtMs: isReset ? nowMs : row.lastResetAtMs, updatedAtMs: nowMs,
  };
}

/** Of providers and virtual keys alike. */
export const providerMembers = {
  id: idText(), name: Type.String(), slug: Type.String(), workspace_id: idText(), organisation_id: idText(), note: orNull(Type.String()), status: choice(['active', 'exhausted', 'expired']),
  usage_limits: orNull(usageLimitsField), usage: usageListField, rate_limits: orNull(Type.Array(rateLimitFields.ofOthers)), reset_usage: Type.Null(), last_reset_at: timeTextOrNull(), expires_at: timeTextOrNull(),
  created_at: timeText(), last_updated_at: timeText(),
};
const providerSchema = named('Provider', object({ ...providerMembers, integration_id: idText(), object: Type.Literal('provider') }));

const view = (context: UsageContext) => ({ row }: Stored<ProviderRow>): Reply => {
  const usage = usageCounted(context, 'provider', row.id, [row.usageLimits], row.createdAtMs);
  const status = providerStatus(row, context.nowMs);
  return {
    id: row.id, name: row.name, slug: row.slug, integration_id: row.integrationId, workspace_id: row.workspaceId, organisation_id: row.organisationId, note: row.note, status: status === 'active' && isExhausted(usage) ? 'exhausted' : status,
    usage_limits: row.usageLimits, usage, rate_limits: row.rateLimits.length === 0 ? null : row.rateLimits, reset_usage: null, last_reset_at: timeOrNull(row.lastResetAtMs), expires_at: timeOrNull(row.expiresAtMs),
    created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'provider',
  };
};
export const providerView = view;

const providerOf = (context: ControlContext, idOrSlug: string): Promise<Stored<ProviderRow>> =>
  findRow(context, providers, 'provider', idOrSlug.replace(/^@/, ''), { isThere: (row) => row.status !== 'archived' });

const scopesOf = (verb: string): readonly string[] => [`providers.${verb}`, `virtual_keys.${verb}`];

export const providersResource = defineResource({
  name: 'providers',
  kind: 'provider',
  operations: {
    list: operation({
      method: 'GET', path: '/providers', scope: scopesOf('list'), query: object(pageQuery(providersPage)), reply: listOf(providerSchema),
      handle: async (context, { query }) => {
        return pageOf(context, providers, inReach(context, await context.workspaceIfNamed()), query, view(context));
      },
    }),
    create: operation({
      method: 'POST', path: '/providers', scope: scopesOf('create'), action: 'created',
      body: object({ ...providerFields, name: nameField(), integration_id: Type.String({ minLength: 1, maxLength: 255 }), slug: Type.Optional(slugField()) }),
      reply: object({ id: idText(), slug: Type.String(), object: Type.Literal('provider') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const integration = await integrationForUse(context, body.integration_id, workspace);
        const slug = await providerSlug(context, 'provider', workspace.id, body.slug, body.name);
        const place = { organisationId: workspace.organisationId, workspaceId: workspace.id, integrationId: integration.row.id, slug };
        const row = insertProvider(context, place, { name: body.name, ...membersOf(body, noMembers, context.nowMs) });
        return { id: row.id, slug: row.slug, object: 'provider' };
      },
    }),
    read: operation({
      method: 'GET', path: '/providers/{slug}', scope: scopesOf('read'),
      reply: named('ProviderWithIntegration', object({ ...providerSchema.properties, ai_provider_id: orNull(Type.String()) })),
      handle: async (context, { params }) => {
        const stored = await providerOf(context, params.slug ?? '');
        const integration = await context.repository.get(integrations, stored.row.integrationId);
        return { ...view(context)(stored), ai_provider_id: integration?.row.aiProviderId ?? null };
      },
    }),
    update: operation({
      method: 'PUT', path: '/providers/{slug}', scope: scopesOf('update'), action: 'updated',
      body: object({ ...providerFields, name: Type.Optional(nameField()), reset_usage: Type.Optional(Type.Boolean()) }),
      reply: object({ id: idText(), slug: Type.String() }),
      handle: async (context, { params, body }) => {
        const stored = await providerOf(context, params.slug ?? '');
        context.change.update(stored, updatedRow(stored.row, body, context.nowMs));
        return { id: stored.row.id, slug: stored.row.slug };
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/providers/{slug}', scope: scopesOf('delete'), action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await providerOf(context, params.slug ?? '');
        await refuseUsed(context, stored, 'provider');
        await archiveProvider(context, stored);
        return {};
      },
    }),
  },
});
