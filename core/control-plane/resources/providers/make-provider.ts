// A workspace's provider: how it is made, by itself or with the integration that it uses, and how it goes.

import { fail } from '../../../errors/gateway-error.js';
import { slugOfModel } from '../../../plan/compile.js';
import type { Stored } from '../../../storage/change.js';
import { apiKeys } from '../../../storage/tables/api-keys.js';
import { configs } from '../../../storage/tables/configs.js';
import { integrations, type IntegrationRow } from '../../../storage/tables/integrations.js';
import { prompts, promptVersions } from '../../../storage/tables/prompts.js';
import { providers, type ProviderRow } from '../../../storage/tables/providers.js';
import type { ControlContext } from '../../context.js';
import { slugFrom } from '../../slugs.js';
import { freeSlug } from '../common/find-row.js';
import { noCredentials } from '../integrations/credentials.js';

const slugNameChars = 6;
const usersShown = 5;

type Given = Pick<ProviderRow, 'name' | 'note' | 'usageLimits' | 'rateLimits' | 'expiresAtMs' | 'isVirtualKey'>;
const plain: Omit<Given, 'name'> = { note: null, usageLimits: null, rateLimits: [], expiresAtMs: null, isVirtualKey: false };

interface Place {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly integrationId: string;
  readonly slug: string;
}

export function insertProvider(context: ControlContext, place: Place, given: Partial<Given> & Pick<Given, 'name'>): ProviderRow {
  const row: ProviderRow = { ...plain, ...given, ...place, id: context.newId(), status: 'active', lastResetAtMs: null, createdAtMs: context.nowMs, updatedAtMs: context.nowMs };
  context.change.insert(providers, row);
  return row;
}

export const providerSlug = (context: ControlContext, kind: string, workspaceId: string, given: string | undefined, name: string, param?: string): Promise<string> =>
  freeSlug(context, providers, kind, [workspaceId], given, () => slugFrom(name, { nameCharsMax: slugNameChars }), param);

/** Those that have a provider of an integration. */
export async function workspacesWith(context: ControlContext, integrationId: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { row } of context.repository.each(providers, { index: 'integration', parts: [integrationId] })) ids.add(row.workspaceId);
  return ids;
}

/** The provider that a workspace gets together with an integration. `given`: the slug that a client asked for. */
export async function insertDefaultProvider(context: ControlContext, integration: IntegrationRow, workspaceId: string, given: string | undefined): Promise<void> {
  const wanted = given ?? (await context.repository.find(providers, 'slug', [workspaceId, integration.slug]) === undefined ? integration.slug : undefined);
  const slug = await providerSlug(context, 'provider', workspaceId, wanted, integration.name, 'default_provider_slug');
  insertProvider(context, { organisationId: integration.organisationId, workspaceId, integrationId: integration.id, slug }, { name: integration.name });
}

/** Throws ROW_IN_USE. */
export async function refuseUsed(context: ControlContext, stored: Stored<ProviderRow>, kind: string): Promise<void> {
  const users = await usersOf(context, stored);
  if (users.length > 0) throw fail('ROW_IN_USE', { kind, id: stored.row.slug, users: users.join(', '), advice: 'change them first' });
}

/** What names a provider, in words: the first of it. */
export async function usersOf({ repository }: ControlContext, { row }: Stored<ProviderRow>): Promise<readonly string[]> {
  const users: string[] = [];
  for await (const { row: key } of repository.each(apiKeys, { index: 'provider', parts: [row.workspaceId, row.slug] })) {
    if (users.length === usersShown) break;
    // Without @ it names a provider of the gateway's own.
    if (key.defaults.provider === `@${row.slug}`) users.push(`the API key ${key.name} (${key.id})`);
  }
  for await (const { row: config } of repository.each(configs, { index: 'workspace', parts: [row.workspaceId] })) {
    if (users.length === usersShown) break;
    if (config.providers.includes(row.id)) users.push(`the config ${config.slug}`);
  }
  for await (const { row: prompt } of repository.each(prompts, { index: 'workspace', parts: [row.workspaceId] })) {
    if (users.length === usersShown) break;
    const version = (await repository.get(promptVersions, prompt.publishedId))?.row;
    if ((version?.provider ?? slugOfModel(version?.model)) === row.slug) users.push(`the prompt ${prompt.slug}`);
  }
  return users;
}

/** Archives a provider: no list shows it and no call finds it. An integration that belongs to it alone is archived as well. */
export async function archiveProvider(context: ControlContext, stored: Stored<ProviderRow>): Promise<void> {
  const { change, nowMs, repository } = context;
  change.update(stored, { ...stored.row, status: 'archived', updatedAtMs: nowMs });
  if (!stored.row.isVirtualKey) return;
  const integration = await repository.get(integrations, stored.row.integrationId);
  if (integration !== undefined) archiveIntegration(context, integration);
}

/** Its credentials are gone. */
export function archiveIntegration({ change, nowMs }: ControlContext, stored: Stored<IntegrationRow>): void {
  const models = stored.row.models.map((model) => ({ ...model, header_names: [] }));
  change.update(stored, { ...stored.row, ...noCredentials, models, status: 'archived', updatedAtMs: nowMs });
}
