import { OpenIntegration, withoutAbsent } from '../../../storage/open-rows.js';
import { object } from '../../../storage/schema-parts.js';
import { integrations, type IntegrationModel, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { providers } from '../../../storage/tables/providers.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { amend, DeclaredSecret, declareSlugged, filled, membersFor, perform, secretsIn, type ImpliedEntry, type Members } from '../../define-declared.js';
import { checkedMappings, mappedReferences, mappingsView, type GivenMappings } from '../common/secret-mappings.js';
import { credentialMembers, providerPlugin } from './credentials.js';
import { modelsBody, withModels } from './models.js';
import { integrationsResource } from './resource.js';
import { withAccess, workspacesBody } from './workspaces.js';

const { create, update } = integrationsResource.operations;
const { models, allow_all_models } = modelsBody.properties;
const { workspaces: access, global_workspace_access } = workspacesBody.properties;
const beside = object({ models: Type.Optional(models), allow_all_models, workspaces: access, global_workspace_access });

const credentialNames: readonly string[] = ['key', 'configurations', 'secret_mappings'];
const modelNames: readonly string[] = ['models', 'allow_all_models'];
const accessNames: readonly string[] = ['workspaces', 'global_workspace_access'];

const isOneOf = (names: readonly string[], members: Members): boolean => names.some((name) => Object.hasOwn(members, name));

/** Lists in a file are complete: items that they do not have are removed. */
async function completed(context: ControlContext, row: IntegrationRow, changed: Members, entry: Members): Promise<IntegrationRow> {
  let after = row;
  if (isOneOf(modelNames, changed)) {
    const given: Static<typeof beside> = entry;
    after = { ...after, ...await withModels(context, { ...after, models: [], sealedModelHeaders: null }, { models: given.models ?? [], allow_all_models: given.allow_all_models ?? true }) };
  }
  if (isOneOf(accessNames, changed) && (row.workspaceId === null || isOneOf(accessNames, entry))) {
    const given: Static<typeof beside> = entry;
    const named = new Set<string>();
    for (const { id } of given.workspaces ?? []) named.add((await context.byIdOrSlug(workspaces, id, [row.organisationId]))?.row.id ?? '');
    const before = { ...after, workspaces: Object.fromEntries(Object.entries(after.workspaces).filter(([id]) => named.has(id))) };
    const none = { usage_limits: null, rate_limits: null };
    after = {
      ...after, ...await withAccess(context, before, {
        workspaces: (given.workspaces ?? []).map((each) => ({ ...none, ...each })), global_workspace_access: { ...none, ...given.global_workspace_access ?? { enabled: false } }, create_default_provider: false,
      }),
    };
  }
  return after;
}

function* implied(entry: Members, isOrganisations: boolean): Generator<ImpliedEntry> {
  const { slug, name, create_default_provider: isWanted, default_provider_slug: ownSlug }: Members = entry;
  const provider = (providerSlug: unknown): ImpliedEntry => ({ section: 'providers', entry: { slug: providerSlug ?? slug, name: name ?? slug, integration_id: slug } });
  if (!isOrganisations) {
    if (isWanted !== false) yield provider(ownSlug);
    return;
  }
  const given: Static<typeof beside> = entry;
  for (const each of given.workspaces ?? []) if (each.enabled && (each.create_default_provider ?? isWanted ?? true) !== false) yield { ...provider(each.default_provider_slug ?? ownSlug), workspace: each.id };
}

function modelView({ slug, name, enabled, is_custom, is_finetune, base_model_slug, custom_host, pricing_config }: IntegrationModel, headers: Members | undefined): Members {
  const configurations = filled({ ...(custom_host === null ? {} : { custom_host }), ...(headers === undefined ? {} : { custom_headers: secretsIn(headers, `${slug}_header`) }) });
  const others = { name, is_custom: is_custom || undefined, is_finetune: is_finetune || undefined, base_model_slug, pricing_config, configurations };
  return { slug, enabled, ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined)) };
}

const limitsView = ({ usage_limits, rate_limits }: { readonly usage_limits: unknown; readonly rate_limits: readonly unknown[] }): Members =>
  ({ ...(usage_limits === null ? {} : { usage_limits }), ...(rate_limits.length === 0 ? {} : { rate_limits }) });

async function view(context: ControlContext, row: IntegrationRow): Promise<Members> {
  const { sealer, repository } = context;
  const open = new OpenIntegration(withoutAbsent(row), sealer);
  const configurations = {
    ...row.configurations, ...Object.fromEntries(Object.entries(open.secretMembers).map(([name, value]) => [name, secretsIn(value, name)])),
    ...(row.customHost === null ? {} : { custom_host: row.customHost }), ...(row.headerNames.length === 0 ? {} : { custom_headers: secretsIn(open.headers, 'header') }),
  };
  const named: Members[] = [];
  for (const [id, { enabled, ...limits }] of Object.entries(row.workspaces)) {
    const workspace = (await repository.get(workspaces, id))?.row;
    if (workspace?.status === 'active') named.push({ id: workspace.slug, enabled, ...limitsView(limits) });
  }
  return {
    slug: row.slug, name: row.name, ai_provider_id: row.aiProviderId, description: row.description, key: open.key === null ? null : DeclaredSecret.of(open.key.reveal(), 'key'),
    configurations: filled(configurations) ?? null, secret_mappings: await mappingsView(context, row.secretMappings), pricing_adjustments: row.pricingAdjustments, allow_all_models: row.allowAllModels, models: row.models.map((model) => modelView(model, open.modelHeaders[model.slug])),
    workspaces: named.sort((left, right) => (String(left.id) < String(right.id) ? -1 : 1)), global_workspace_access: { enabled: row.globalAccess.enabled, ...limitsView(row.globalAccess) },
  };
}

export const integrationsDeclared = declareSlugged<IntegrationRow>({
  section: 'integrations', resource: integrationsResource, table: integrations, level: 'either',
  entry: object({ ...Object(Object(create?.body).properties), ...beside.properties }),
  defaults: {
    description: null, key: null, configurations: null, secret_mappings: [], pricing_adjustments: null, models: [], allow_all_models: true, workspaces: [], global_workspace_access: { enabled: false },
  },
  references: (entry) => {
    const given: Static<typeof beside> = entry;
    return [...(given.workspaces ?? []).map(({ id }, index) => ({ section: 'workspaces', name: id, place: `workspaces.${index}.id` })), ...mappedReferences(entry)];
  },
  implied,
  view: (context, { row }) => view(context, row),
  // Providers are exported as entries of their own; implied ones are taken out afterwards.
  exported: async (context, { row }, only) => {
    const { repository } = context;
    const hasOwn = async (workspaceId: string): Promise<boolean> => (await repository.find(providers, 'slug', [workspaceId, row.slug]))?.row.integrationId === row.id;
    const mine = only === undefined ? row : { ...row, workspaces: Object.fromEntries(Object.entries(row.workspaces).filter(([id]) => id === only.id)) };
    const members = only === undefined || row.workspaceId !== null ? {} : { workspaces: (await view(context, mine)).workspaces };
    const getting = row.workspaceId === null ? Object.entries(mine.workspaces).flatMap(([id, { enabled }]) => (enabled ? [id] : [])) : [row.workspaceId];
    for (const workspaceId of getting) if (!await hasOwn(workspaceId)) return { ...members, create_default_provider: false };
    return members;
  },
  create: async ({ context }, entry) => {
    if (create === undefined) throw new TypeError('integrations are not made');
    const reply = await perform(create, context, { body: { ...membersFor(entry, create.body), create_default_provider: false, default_provider_slug: undefined } });
    await amend(context, integrations, undefined, (row) => completed(context, row, entry, entry));
    return reply;
  },
  update: async ({ context }, stored, changed, entry) => {
    if (update === undefined) throw new TypeError('integrations are not changed');
    const plain = Object.fromEntries(Object.entries(membersFor(changed, update.body)).filter(([name]) => !credentialNames.includes(name)));
    await perform(update, context, { id: stored.row.id, body: plain });
    await amend(context, integrations, stored.row.id, async (row) => completed(context, {
      ...row, ...(isOneOf(credentialNames, changed) ? await credentialsOf(context, row, entry) : {}),
    }, changed, entry));
  },
});

async function credentialsOf(context: ControlContext, row: IntegrationRow, entry: Members): Promise<Partial<IntegrationRow>> {
  const { secret_mappings: given }: GivenMappings = entry;
  const secretMappings = await checkedMappings(context, await providerPlugin(context.services.registry, row.aiProviderId), given ?? [], row, row.secretMappings);
  return { ...await credentialMembers(context, row, { key: textOf(entry.key), configurations: Object(entry.configurations ?? {}) }, null, 'configurations', secretMappings), secretMappings };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
