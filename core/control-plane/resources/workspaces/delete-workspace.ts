// A workspace that is deleted is archived: its row stays, for what the logs say of it; its name and slug are free again; its keys are removed, and so
// nothing of it is reached by calls. Everything else of it is removed in the background (emptying-job.ts).

import { fail } from '../../../errors/gateway-error.js';
import { object } from '../../../storage/schema-parts.js';
import { apiKeys } from '../../../storage/tables/api-keys.js';
import { configs } from '../../../storage/tables/configs.js';
import { guardrails } from '../../../storage/tables/guardrails.js';
import { integrations } from '../../../storage/tables/integrations.js';
import { ratePolicies, usagePolicies } from '../../../storage/tables/policies.js';
import { promptPartials, prompts } from '../../../storage/tables/prompts.js';
import { providers } from '../../../storage/tables/providers.js';
import { scimMappings } from '../../../storage/tables/scim-mappings.js';
import { workspaceMembers } from '../../../storage/tables/workspace-members.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { activeWorkspaceAt } from './workspace-access.js';

export const deleteFields = object({
  name: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the workspace, so that no other is meant' }),
  force_delete: Type.Optional(Type.Boolean({ description: 'also when it is in use' })),
});

/** Keys that are removed in one change. */
const keysMax = 10_000;
/** The same of members, and of groups whose people are. */
const membersMax = 10_000;

export async function deleteWorkspace(context: ControlContext, idOrSlug: string, { name, force_delete = false }: Static<typeof deleteFields>): Promise<Reply> {
  const stored = await activeWorkspaceAt(context, idOrSlug);
  const { row } = stored;
  if (row.isDefault) throw fail('FIELD_INVALID', { param: 'workspaceId', reason: 'is the first workspace, which cannot be deleted' });
  if (name !== row.name) throw fail('FIELD_INVALID', { param: 'name', reason: 'is not the name of this workspace' });
  const { repository } = context;
  const keyCount = await repository.count(apiKeys, 'workspace', [row.id]);
  const memberCount = await repository.count(workspaceMembers, 'workspace', [row.id]);
  const users = [
    counted(keyCount, 'API key', 'API keys'), counted(await repository.count(configs, 'workspace', [row.id]), 'config', 'configs'), counted(await repository.count(providers, 'workspace', [row.id]), 'provider', 'providers'),
    counted(await repository.count(guardrails, 'workspace', [row.organisationId, row.id]), 'guardrail', 'guardrails'), counted(memberCount, 'member', 'members'),
    counted(await repository.count(integrations, 'slug', [row.organisationId, row.id]), 'integration of its own', 'integrations of its own'),
    counted(await repository.count(prompts, 'workspace', [row.id]), 'prompt', 'prompts'), counted(await repository.count(promptPartials, 'workspace', [row.id]), 'partial', 'partials'),
    counted(await repository.count(usagePolicies, 'active', [row.organisationId, row.id]) + await repository.count(ratePolicies, 'active', [row.organisationId, row.id]), 'policy', 'policies'),
  ].filter((each) => each !== '');
  const named = { kind: 'workspace', id: row.slug, users: users.join(', ') };
  if (users.length > 0 && !force_delete) throw fail('ROW_IN_USE', { ...named, advice: 'remove them first, or give force_delete: true' });
  if (keyCount > keysMax) throw fail('ROW_IN_USE', { ...named, advice: `remove keys first, until at most ${keysMax} are left` });
  if (memberCount > membersMax) throw fail('ROW_IN_USE', { ...named, advice: `remove members first, until at most ${membersMax} are left` });
  for (const member of await repository.list(workspaceMembers, { index: 'workspace', parts: [row.id], limit: membersMax })) context.change.remove(member);
  for (const mapping of await repository.list(scimMappings, { index: 'workspace', parts: [row.id], limit: membersMax })) context.change.remove(mapping);
  for (const key of await context.repository.list(apiKeys, { index: 'workspace', parts: [row.id], limit: keysMax })) context.change.remove(key);
  context.change.update(stored, { ...row, status: 'archived', updatedAtMs: context.nowMs });
  context.auditDetails.in_use_by = users;
  return {};
}

const counted = (count: number, one: string, more: string): string => (count === 0 ? '' : `${count} ${count === 1 ? one : more}`);
