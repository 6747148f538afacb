import { OpenIntegration, withoutAbsent } from '../../../storage/open-rows.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { providers, type ProviderRow } from '../../../storage/tables/providers.js';
import { timeOrNull } from '../../envelope.js';
import { DeclaredSecret, declareSlugged, filled, fixedMember, perform, secretsIn, type Members } from '../../define-declared.js';
import { checkedMappings, mappedReferences, mappingsView, type GivenMappings } from '../common/secret-mappings.js';
import { credentialMembers, providerPlugin } from '../integrations/credentials.js';
import { configurationsOf, virtualKeysResource, type GivenCredentials } from './resource.js';

const { update } = virtualKeysResource.operations;
const credentialNames: readonly string[] = ['key', 'model_config', 'api_version', 'resource_name', 'deployment_name', 'deployment_config', 'secret_mappings'];

export const virtualKeysDeclared = declareSlugged<ProviderRow>({
  section: 'virtual_keys', resource: virtualKeysResource, table: providers,
  defaults: { note: null, usage_limits: null, rate_limits: null, expires_at: null, key: null, model_config: null, secret_mappings: [] },
  references: mappedReferences,
  find: async ({ context, workspace }, slug) => {
    const stored = await context.repository.find(providers, 'slug', [workspace?.id ?? '', slug]);
    return stored?.row.isVirtualKey === true ? stored : undefined;
  },
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(providers, { index: 'organisation-virtual-key', parts: [caller.organisationId] })) yield stored;
  },
  view: async (context, { row }) => {
    const { repository, sealer } = context;
    const integration = (await repository.get(integrations, row.integrationId))?.row;
    const open = integration === undefined ? undefined : new OpenIntegration(withoutAbsent(integration), sealer);
    const configurations = integration === undefined || open === undefined ? {} : {
      ...integration.configurations, ...Object.fromEntries(Object.entries(open.secretMembers).map(([name, value]) => [name, secretsIn(value, name)])),
      ...(integration.customHost === null ? {} : { custom_host: integration.customHost }), ...(integration.headerNames.length === 0 ? {} : { custom_headers: secretsIn(open.headers, 'header') }),
    };
    const key = open?.key?.reveal();
    return {
      slug: row.slug, name: row.name, provider: integration?.aiProviderId ?? null, key: key === undefined ? null : DeclaredSecret.of(key, 'key'), model_config: filled(configurations) ?? null, secret_mappings: await mappingsView(context, integration?.secretMappings ?? []), note: row.note,
      usage_limits: row.usageLimits, rate_limits: row.rateLimits.length === 0 ? null : row.rateLimits, expires_at: timeOrNull(row.expiresAtMs),
    };
  },
  update: async ({ context }, stored, changed, entry) => {
    if (update === undefined) throw new TypeError('virtual keys are not changed');
    if (Object.hasOwn(changed, 'provider')) throw fixedMember('provider');
    const { repository, change } = context;
    const plain: Members = Object.fromEntries(Object.entries(changed).filter(([name]) => !credentialNames.includes(name)));
    await perform(update, context, { id: stored.row.id, body: plain });
    if (Object.keys(plain).length === Object.keys(changed).length) return;
    const integration = await repository.get(integrations, stored.row.integrationId);
    if (integration === undefined) return;
    const given: GivenCredentials & GivenMappings = entry;
    const secretMappings = await checkedMappings(context, await providerPlugin(context.services.registry, integration.row.aiProviderId), given.secret_mappings ?? [], integration.row, integration.row.secretMappings);
    const credentials = await credentialMembers(context, integration.row, { key: given.key ?? null, configurations: configurationsOf(given) }, null, 'model_config', secretMappings);
    const place = change.rows.findIndex(({ table, id }) => table.name === integrations.name && id === integration.row.id);
    if (place !== -1) change.rows.splice(place, 1);
    const name = typeof changed.name === 'string' ? changed.name : integration.row.name;
    change.update(integration, { ...integration.row, ...credentials, secretMappings, name, updatedAtMs: context.nowMs });
  },
});
