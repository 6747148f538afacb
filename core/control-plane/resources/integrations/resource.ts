import { fail } from '../../../errors/gateway-error.js';
import { OpenIntegration } from '../../../storage/open-rows.js';
import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { accessOf, integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { providers } from '../../../storage/tables/providers.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeText } from '../../envelope.js';
import { filteredPage, pageQuery } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { freeSlug } from '../common/find-row.js';
import { checkedMappings, refuseChosenAddress, secretMappingsField, secretMappingsReply } from '../common/secret-mappings.js';
import { archiveIntegration, archiveProvider, insertDefaultProvider, usersOf } from '../providers/make-provider.js';
import { credentialMembers, masksOf, providerId, providerPlugin } from './credentials.js';
import { integrationOf, requireLevel, scopesOf } from './find-integration.js';
import { maskedHeaders } from './headers.js';
import { modelsBody, modelsReply, modelsSchema, withModels, withoutModels } from './models.js';
import { pricingAdjustmentsField } from './pricing.js';
import { globalAccessSchema, globalReply, withAccess, workspacesBody, workspacesReply, workspacesSchema } from './workspaces.js';

const shared = {
  key: Type.Optional(orNull(Type.String())),
  description: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
  configurations: Type.Optional(orNull(anyObject())),
  secret_mappings: secretMappingsField,
  pricing_adjustments: Type.Optional(pricingAdjustmentsField),
};

const headMembers = {
  id: idText(), organisation_id: idText(), workspace_id: orNull(idText()), type: choice(['organisation', 'workspace']), ai_provider_id: Type.String({ description: 'id of the provider plugin' }),
  name: Type.String(), slug: Type.String(), description: orNull(Type.String()), status: choice(['active', 'archived']), tags: Type.Array(Type.String()), created_at: timeText(), last_updated_at: timeText(),
  object: Type.Literal('integration'),
};
const integrationSchema = named('Integration', object({
  ...headMembers, masked_key: orNull(Type.String()), configurations: anyObject(), global_workspace_access_settings: globalAccessSchema, allow_all_models: Type.Boolean(),
  workspace_count: Type.Integer(), secret_mappings: secretMappingsReply, pricing_adjustments: pricingAdjustmentsField,
}));

const head = (row: IntegrationRow): Reply => ({
  id: row.id, organisation_id: row.organisationId, workspace_id: row.workspaceId, type: row.workspaceId === null ? 'organisation' : 'workspace', ai_provider_id: row.aiProviderId,
  name: row.name, slug: row.slug, description: row.description, status: row.status, tags: [], created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'integration',
});

/** The part of the configurations that may be shown: secrets as `masked_<name>`. */
export function configurationsReply(context: ControlContext, row: IntegrationRow): Reply {
  const { headers } = new OpenIntegration(row, context.sealer);
  return {
    ...row.configurations, ...Object.fromEntries(Object.entries(masksOf(row).maskedConfigurations).map(([name, mask]) => [`masked_${name}`, mask])),
    ...(row.customHost === null ? {} : { custom_host: row.customHost }), ...(Object.keys(headers).length === 0 ? {} : { custom_headers: maskedHeaders(headers) }),
  };
}

async function workspaceCount(context: ControlContext, row: IntegrationRow): Promise<number> {
  if (row.workspaceId !== null) return 1;
  if (!row.globalAccess.enabled) return Object.values(row.workspaces).filter(({ enabled }) => enabled).length;
  const all = await context.repository.count(workspaces, 'name', [row.organisationId]);
  return all - Object.values(row.workspaces).filter(({ enabled }) => !enabled).length;
}

export const integrationsResource = defineResource({
  name: 'integrations',
  kind: 'integration',
  operations: {
    list: operation({
      method: 'GET', path: '/integrations', scope: scopesOf('list'), query: object({ ...pageQuery(), type: Type.Optional(choice(['workspace', 'organisation', 'all'], { default: 'all' })) }),
      reply: listOf(named('IntegrationSummary', object(headMembers))),
      handle: async (context, { query }) => {
        const workspace = await context.workspaceIfNamed();
        const sees = { organisation: context.has('organisation_integrations.list'), workspace: context.has('workspace_integrations.list') };
        const isWanted = (row: IntegrationRow): boolean => {
          const level = row.workspaceId === null ? 'organisation' : 'workspace';
          if (!sees[level] || (query.type !== undefined && query.type !== 'all' && query.type !== level)) return false;
          // A workspace sees what it may use.
          return workspace === undefined || accessOf(row, workspace.id) !== undefined;
        };
        return filteredPage(context, integrations, { index: 'organisation', parts: [context.caller.organisationId] }, query, isWanted, ({ row }) => head(row));
      },
    }),
    create: operation({
      method: 'POST', path: '/integrations', scope: scopesOf('create'), action: 'created',
      body: object({
        ...shared, name: nameField(), slug: Type.Optional(slugField()), ai_provider_id: Type.String({ minLength: 1, maxLength: 128 }),
        create_default_provider: Type.Optional(Type.Boolean({ default: true })), default_provider_slug: Type.Optional(slugField()),
      }),
      reply: object({ id: idText(), slug: Type.String(), object: Type.Literal('integration') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspaceIfNamed();
        const [organisationId, workspaceId] = [context.caller.organisationId, workspace?.id ?? null];
        requireLevel(context, workspaceId, 'create');
        const aiProviderId = providerId(context.services.registry, body.ai_provider_id, 'ai_provider_id');
        const plugin = await providerPlugin(context.services.registry, aiProviderId);
        const secretMappings = await checkedMappings(context, plugin, body.secret_mappings, { workspaceId }, []);
        const id = context.newId();
        const credentials = await credentialMembers(context, { id, aiProviderId, workspaceId }, body, null, 'configurations', secretMappings);
        const slug = await freeSlug(context, integrations, 'integration', [organisationId, workspaceId ?? ''], body.slug, () => slugFrom(body.name));
        const row: IntegrationRow = {
          id, organisationId, workspaceId, slug, name: body.name, description: body.description ?? null, aiProviderId, status: 'active', isPrivate: false, ...credentials,
          allowAllModels: true, models: [], sealedModelHeaders: null, globalAccess: { enabled: false, usage_limits: null, rate_limits: [] }, workspaces: {},
          secretMappings, pricingAdjustments: body.pricing_adjustments ?? null, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        refuseChosenAddress(context, plugin, null, row);
        context.change.insert(integrations, row);
        // Workspaces that get an integration of the organisation get their providers with it.
        if (workspaceId !== null && body.create_default_provider !== false) await insertDefaultProvider(context, row, workspaceId, body.default_provider_slug);
        return { id, slug, object: 'integration' };
      },
    }),
    read: operation({
      method: 'GET', path: '/integrations/{slug}', scope: scopesOf('read'), reply: integrationSchema,
      handle: async (context, { params }) => {
        const { row } = await integrationOf(context, params.slug ?? '', 'read');
        return {
          ...head(row), masked_key: masksOf(row).maskedKey, configurations: configurationsReply(context, row), global_workspace_access_settings: globalReply(row), allow_all_models: row.allowAllModels,
          workspace_count: await workspaceCount(context, row), secret_mappings: row.secretMappings, pricing_adjustments: row.pricingAdjustments,
        };
      },
    }),
    update: operation({
      method: 'PUT', path: '/integrations/{slug}', scope: scopesOf('update'), action: 'updated',
      body: object({ ...shared, name: Type.Optional(nameField()), ai_provider_id: Type.Optional(Type.String()), slug: Type.Optional(Type.String()) }),
      reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await integrationOf(context, params.slug ?? '', 'update');
        const { row } = stored;
        if (body.ai_provider_id !== undefined && providerId(context.services.registry, body.ai_provider_id, 'ai_provider_id') !== row.aiProviderId) throw fail('FIELD_INVALID', { param: 'ai_provider_id', reason: 'cannot be changed; make another integration' });
        if (body.slug !== undefined && body.slug !== row.slug && body.slug !== params.slug) throw fail('FIELD_INVALID', { param: 'slug', reason: 'cannot be changed; make another integration' });
        const plugin = await providerPlugin(context.services.registry, row.aiProviderId);
        const secretMappings = await checkedMappings(context, plugin, body.secret_mappings, row, row.secretMappings);
        const isSame = body.key === undefined && body.configurations === undefined && body.secret_mappings === undefined;
        const credentials = isSame ? {} : await credentialMembers(context, row, body, row, 'configurations', secretMappings);
        const next: IntegrationRow = {
          ...row, ...credentials, secretMappings, name: body.name ?? row.name, description: body.description === undefined ? row.description : body.description,
          pricingAdjustments: body.pricing_adjustments === undefined ? row.pricingAdjustments : body.pricing_adjustments, updatedAtMs: context.nowMs,
        };
        refuseChosenAddress(context, plugin, row, next);
        context.change.update(stored, next);
        return {};
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/integrations/{slug}', scope: scopesOf('delete'), action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await integrationOf(context, params.slug ?? '', 'delete');
        let archived = 0;
        for await (const provider of context.repository.each(providers, { index: 'integration', parts: [stored.row.id] })) {
          const isGone = (await context.repository.get(workspaces, provider.row.workspaceId))?.row.status === 'archived';
          const users = isGone ? [] : await usersOf(context, provider);
          if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'integration', id: stored.row.slug, users: `its provider @${provider.row.slug}, which is named by ${users.join(', ')}`, advice: 'change them first' });
          await archiveProvider(context, provider);
          archived += 1;
        }
        context.auditDetails.archived_providers = archived;
        archiveIntegration(context, stored);
        return {};
      },
    }),
    models: operation({
      method: 'GET', path: '/integrations/{slug}/models', aliases: ['/integrations/{slug}/integration-models'], scope: scopesOf('read'), reply: modelsSchema,
      handle: async (context, { params }) => modelsReply(context, (await integrationOf(context, params.slug ?? '', 'read')).row),
    }),
    updateModels: operation({
      method: 'PUT', path: '/integrations/{slug}/models', aliases: ['/integrations/{slug}/integration-models'], scope: scopesOf('update'), action: 'updated', body: modelsBody,
      reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await integrationOf(context, params.slug ?? '', 'update');
        const next: IntegrationRow = { ...stored.row, ...await withModels(context, stored.row, body), updatedAtMs: context.nowMs };
        if (next.secretMappings.length > 0) refuseChosenAddress(context, await providerPlugin(context.services.registry, next.aiProviderId), stored.row, next);
        context.change.update(stored, next);
        return {};
      },
    }),
    deleteModels: operation({
      method: 'DELETE', path: '/integrations/{slug}/models', aliases: ['/integrations/{slug}/integration-models'], scope: scopesOf('update'), action: 'deleted',
      query: object({ slugs: Type.String({ maxLength: 65_536, description: 'of custom models, separated by commas' }) }), reply: nothing,
      handle: async (context, { params, query }) => {
        const stored = await integrationOf(context, params.slug ?? '', 'update');
        context.change.update(stored, { ...stored.row, ...withoutModels(context, stored.row, query.slugs), updatedAtMs: context.nowMs });
        return {};
      },
    }),
    workspaces: operation({
      method: 'GET', path: '/integrations/{slug}/workspaces', scope: scopesOf('read'), reply: workspacesSchema,
      handle: async (context, { params }) => workspacesReply(context, (await integrationOf(context, params.slug ?? '', 'read')).row),
    }),
    updateWorkspaces: operation({
      method: 'PUT', path: '/integrations/{slug}/workspaces', scope: scopesOf('update'), action: 'updated', body: workspacesBody,
      reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await integrationOf(context, params.slug ?? '', 'update');
        context.change.update(stored, { ...stored.row, ...await withAccess(context, stored.row, body), updatedAtMs: context.nowMs });
        return {};
      },
    }),
  },
});
