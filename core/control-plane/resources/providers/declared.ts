import { integrations } from '../../../storage/tables/integrations.js';
import { providers, type ProviderRow } from '../../../storage/tables/providers.js';
import { timeOrNull } from '../../envelope.js';
import { declareSlugged } from '../../define-declared.js';
import { providersResource } from './resource.js';

export const providersDeclared = declareSlugged<ProviderRow>({
  section: 'providers', resource: providersResource, table: providers,
  defaults: { note: null, usage_limits: null, rate_limits: null, expires_at: null },
  references: ({ integration_id: name }) => (typeof name === 'string' ? [{ section: 'integrations', name, place: 'integration_id' }] : []),
  // Those of virtual keys stand in the file as such.
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(providers, { index: 'organisation', parts: [caller.organisationId] })) if (!stored.row.isVirtualKey) yield stored;
  },
  view: async ({ repository }, { row }) => ({
    slug: row.slug, name: row.name, integration_id: (await repository.get(integrations, row.integrationId))?.row.slug ?? row.integrationId, note: row.note,
    usage_limits: row.usageLimits, rate_limits: row.rateLimits.length === 0 ? null : row.rateLimits, expires_at: timeOrNull(row.expiresAtMs),
  }),
});
