// Who maps a secret reference. Mapping one writes the row of the reference, too, so that it cannot be removed meanwhile.

import { integrations } from '../../../storage/tables/integrations.js';
import type { ControlContext } from '../../context.js';

const usersShown = 5;

/** The first few, as messages name them. Looks at every integration: references are removed rarely. */
export async function referenceUsers(context: ControlContext, referenceId: string): Promise<readonly string[]> {
  const users: string[] = [];
  for await (const { row } of context.repository.each(integrations, {})) {
    if (users.length === usersShown) break;
    if (row.status === 'archived' || !row.secretMappings.some((mapping) => mapping.secret_reference_id === referenceId)) continue;
    users.push(`the ${row.isPrivate ? 'virtual key' : 'integration'} ${row.slug}`);
  }
  return users;
}
