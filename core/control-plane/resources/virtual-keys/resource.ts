// Virtual keys, the older form of a stored provider key: a provider with an integration of its own, so that all that holds for providers holds for them.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { anyObject, object, orNull } from '../../../storage/schema-parts.js';
import { integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { providers, type ProviderRow } from '../../../storage/tables/providers.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, listReply, named, nothing } from '../../envelope.js';
import { PageRows, pageQuery } from '../../paging.js';
import { nameField, slugField } from '../../slugs.js';
import { findRow } from '../common/find-row.js';
import { checkedMappings, refuseChosenAddress, secretMappingsField, secretMappingsReply } from '../common/secret-mappings.js';
import { credentialMembers, masksOf, providerId, providerPlugin } from '../integrations/credentials.js';
import { configurationsReply } from '../integrations/resource.js';
import { archiveProvider, insertProvider, providerSlug, refuseUsed } from '../providers/make-provider.js';
import { membersOf, noMembers, providerFields, providerMembers, providersPage, providerView, updatedRow } from '../providers/resource.js';

const text = () => Type.Optional(orNull(Type.String({ maxLength: 255 })));

const fields = {
  ...providerFields,
  key: Type.Optional(orNull(Type.String())),
  model_config: Type.Optional(orNull(anyObject())),
  api_version: text(),
  resource_name: text(),
  deployment_name: text(),
  deployment_config: Type.Optional(orNull(Type.Array(anyObject(), { maxItems: 1_000 }))),
  secret_mappings: secretMappingsField,
};

export interface GivenCredentials {
  readonly key?: string | null;
  readonly model_config?: Readonly<Record<string, unknown>> | null;
  readonly api_version?: string | null;
  readonly resource_name?: string | null;
  readonly deployment_name?: string | null;
  readonly deployment_config?: readonly Readonly<Record<string, unknown>>[] | null;
}

/** Members of older clients stand beside the configuration of the provider. */
export function configurationsOf({ model_config: config, api_version, resource_name, deployment_name, deployment_config }: GivenCredentials): Readonly<Record<string, unknown>> | undefined {
  const beside = Object.entries({ api_version, resource_name, deployment_name, deployment_config }).filter(([, value]) => value !== undefined);
  return config === undefined && beside.length === 0 ? undefined : { ...config, ...Object.fromEntries(beside) };
}

async function virtualKeyOf(context: ControlContext, idOrSlug: string): Promise<{ readonly provider: Stored<ProviderRow>; readonly integration: Stored<IntegrationRow> }> {
  const provider = await findRow(context, providers, 'virtual key', idOrSlug.replace(/^@/, ''), { isThere: (row) => row.status !== 'archived' && row.isVirtualKey });
  const integration = await context.repository.get(integrations, provider.row.integrationId);
  if (integration === undefined) throw fail('ROW_UNKNOWN', { kind: 'virtual key', id: idOrSlug.slice(0, 64) });
  return { provider, integration };
}

const virtualKeySchema = named('VirtualKey', object({
  ...providerMembers, provider: Type.String(), ai_provider_id: Type.String(), key: orNull(Type.String({ description: 'masked' })), masked_key: orNull(Type.String()), model_config: anyObject(),
  secret_mappings: secretMappingsReply, object: Type.Literal('virtual-key'),
}));

function view(context: ControlContext, provider: Stored<ProviderRow>, { row }: Stored<IntegrationRow>): Reply {
  const { integration_id: _private, ...members } = providerView(context)(provider);
  return { ...members, provider: row.aiProviderId, ai_provider_id: row.aiProviderId, key: masksOf(row).maskedKey, masked_key: masksOf(row).maskedKey, model_config: configurationsReply(context, row), secret_mappings: row.secretMappings, object: 'virtual-key' };
}

export const virtualKeysResource = defineResource({
  name: 'virtual-keys',
  kind: 'virtual key',
  operations: {
    list: operation({
      method: 'GET', path: '/virtual-keys', scope: 'virtual_keys.list', query: object(pageQuery(providersPage)), reply: listOf(virtualKeySchema, { success: Type.Literal(true) }),
      handle: async (context, { query }) => {
        const { repository } = context;
        const workspace = await context.workspaceIfNamed();
        const at = workspace === undefined ? { index: 'organisation-virtual-key', parts: [context.caller.organisationId] } : { index: 'virtual-key', parts: [workspace.id] };
        const size = query.page_size ?? providersPage;
        const shown = new PageRows();
        for await (const provider of repository.page(providers, { ...at, limit: size, offset: (query.current_page ?? 0) * size, reverse: true })) {
          const integration = await repository.get(integrations, provider.row.integrationId);
          if (integration !== undefined) shown.add(view(context, provider, integration));
        }
        return listReply(await repository.count(providers, at.index, at.parts), shown.rows, { success: true });
      },
    }),
    create: operation({
      method: 'POST', path: '/virtual-keys', scope: 'virtual_keys.create', action: 'created',
      body: object({ ...fields, name: Type.Optional(nameField()), provider: Type.String({ minLength: 1, maxLength: 128 }), slug: Type.Optional(slugField()) }),
      reply: object({ success: Type.Literal(true), data: object({ id: idText(), slug: Type.String() }), id: idText(), slug: Type.String(), object: Type.Literal('virtual-key') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const aiProviderId = providerId(context.services.registry, body.provider, 'provider');
        const plugin = await providerPlugin(context.services.registry, aiProviderId);
        const secretMappings = await checkedMappings(context, plugin, body.secret_mappings, { workspaceId: workspace.id }, []);
        const name = body.name ?? aiProviderId;
        const [integrationId, place] = [context.newId(), { organisationId: workspace.organisationId, workspaceId: workspace.id }];
        const credentials = await credentialMembers(context, { id: integrationId, aiProviderId, workspaceId: workspace.id }, { key: body.key, configurations: configurationsOf(body) }, null, 'model_config', secretMappings);
        const slug = await providerSlug(context, 'virtual key', workspace.id, body.slug, name);
        const integration: IntegrationRow = {
          id: integrationId, ...place, slug, name, description: null, aiProviderId, status: 'active', isPrivate: true, ...credentials, allowAllModels: true, models: [], sealedModelHeaders: null,
          globalAccess: { enabled: false, usage_limits: null, rate_limits: [] }, workspaces: {}, secretMappings, pricingAdjustments: null, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        refuseChosenAddress(context, plugin, null, integration);
        context.change.insert(integrations, integration);
        const row = insertProvider(context, { ...place, integrationId, slug }, { name, isVirtualKey: true, ...membersOf(body, noMembers, context.nowMs) });
        return { success: true, data: { id: row.id, slug }, id: row.id, slug, object: 'virtual-key' };
      },
    }),
    read: operation({
      method: 'GET', path: '/virtual-keys/{slug}', scope: 'virtual_keys.read', reply: virtualKeySchema,
      handle: async (context, { params }) => {
        const { provider, integration } = await virtualKeyOf(context, params.slug ?? '');
        return view(context, provider, integration);
      },
    }),
    update: operation({
      method: 'PUT', path: '/virtual-keys/{slug}', scope: 'virtual_keys.update', action: 'updated',
      body: object({ ...fields, name: Type.Optional(nameField()), reset_usage: Type.Optional(Type.Boolean()) }),
      reply: nothing,
      handle: async (context, { params, body }) => {
        const { provider, integration } = await virtualKeyOf(context, params.slug ?? '');
        const plugin = await providerPlugin(context.services.registry, integration.row.aiProviderId);
        const secretMappings = await checkedMappings(context, plugin, body.secret_mappings, integration.row, integration.row.secretMappings);
        const row = updatedRow(provider.row, body, context.nowMs);
        context.change.update(provider, row);
        const configurations = configurationsOf(body);
        const isOther = body.key !== undefined || configurations !== undefined || body.secret_mappings !== undefined;
        const credentials = isOther ? await credentialMembers(context, integration.row, { key: body.key, configurations }, integration.row, 'model_config', secretMappings) : {};
        const next: IntegrationRow = { ...integration.row, ...credentials, secretMappings, name: row.name, updatedAtMs: context.nowMs };
        if (isOther) refuseChosenAddress(context, plugin, integration.row, next);
        if (isOther || row.name !== integration.row.name) context.change.update(integration, next);
        return {};
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/virtual-keys/{slug}', scope: 'virtual_keys.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const { provider } = await virtualKeyOf(context, params.slug ?? '');
        await refuseUsed(context, provider, 'virtual key');
        await archiveProvider(context, provider);
        return {};
      },
    }),
  },
});
