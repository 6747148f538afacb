import { fail } from '../../../errors/gateway-error.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { filteredPage, pageQuery } from '../../paging.js';
import { workspaceView } from './workspace-view.js';

const statuses = ['active', 'archived'] as const;

export const listQuery = object({
  ...pageQuery(),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'a part of the name, in upper or lower case' })),
  exact_name: Type.Optional(Type.String({ maxLength: 255 })),
  /** Names here have one form. */
  name_format: Type.Optional(choice(['plain', 'display'])),
  status: Type.Optional(Type.String({ description: 'active, archived, or both with a comma between; archived is for organisation keys' })),
});

export async function listWorkspaces(context: ControlContext, query: Static<typeof listQuery>): Promise<Reply> {
  const wanted = statusesOf(query.status ?? 'active');
  if (wanted.has('archived') && !context.isOrganisationKey) throw fail('ACTION_FORBIDDEN', { reason: 'archived workspaces are listed for keys of the organisation alone', param: 'status' });
  const { caller } = context;
  // A key of a workspace names its own even when it names none.
  const only = (await context.workspaceIfNamed())?.id;
  const part = query.name?.toLowerCase();
  const isWanted = (row: WorkspaceRow): boolean =>
    wanted.has(row.status) && (only === undefined || row.id === only)
    && (part === undefined || row.name.toLowerCase().includes(part)) && (query.exact_name === undefined || row.name === query.exact_name);
  return filteredPage(context, workspaces, { index: 'organisation', parts: [caller.organisationId] }, query, isWanted, (stored) => workspaceView(context, stored));
}

function statusesOf(text: string): ReadonlySet<string> {
  const wanted = new Set(text.split(',').map((each) => each.trim()));
  for (const each of wanted) if (!statuses.some((status) => status === each)) throw fail('FIELD_INVALID', { param: 'status', reason: `must be ${statuses.join(', ')}, or both with a comma between` });
  return wanted;
}
