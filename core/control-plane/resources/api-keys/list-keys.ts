import { Type, type Static } from '../../../storage/type.js';
import { fail } from '../../../errors/gateway-error.js';
import { object } from '../../../storage/schema-parts.js';
import { apiKeys, type ApiKeyRow } from '../../../storage/tables/api-keys.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { filteredPage, pageAmong, pageOf, pageQuery } from '../../paging.js';
import { isOwn, listableTypes } from './key-access.js';
import { keyView } from './key-view.js';

const idsMax = 1000;

export const listQuery = object({ ...pageQuery(), ids: Type.Optional(Type.String({ minLength: 1, description: 'only these, separated by commas' })) });

/** The caller's workspace, or the one that it names, or the organisation; of the types that it may list. */
export async function listKeys(context: ControlContext, query: Static<typeof listQuery>): Promise<Reply> {
  const types = listableTypes(context);
  const workspace = await context.workspaceIfNamed();
  const { person } = context.caller;
  const isOnlyOwn = person?.hasOwnKeysAlone === true;
  const view = ({ row }: { readonly row: ApiKeyRow }): Reply => keyView(row, context);
  if (query.ids !== undefined) return listIds(context, query.ids, query, (row) => row.organisationId === context.caller.organisationId && types.includes(row.type) && (workspace === undefined || row.workspaceId === workspace.id) && (!isOnlyOwn || isOwn(context, row)));
  if (isOnlyOwn) return filteredPage(context, apiKeys, { index: 'user', parts: [person.userId] }, query, (row) => workspace === undefined || row.workspaceId === workspace.id, view);
  const [organisationId, [only]] = [context.caller.organisationId, types];
  if (types.length === 1 && only !== undefined) {
    return pageOf(context, apiKeys, workspace === undefined ? { index: 'type', parts: [organisationId, only] } : { index: 'workspace-type', parts: [workspace.id, only] }, query, view);
  }
  const at = workspace === undefined ? { index: 'organisation', parts: [organisationId] } : { index: 'workspace', parts: [workspace.id] };
  const isAll = types.includes('workspace-service') && types.includes('workspace-user') && (workspace !== undefined || types.includes('organisation-service'));
  return isAll ? pageOf(context, apiKeys, at, query, view) : filteredPage(context, apiKeys, at, query, (row) => types.includes(row.type), view);
}

async function listIds(context: ControlContext, ids: string, query: Static<typeof listQuery>, isSeen: (row: ApiKeyRow) => boolean): Promise<Reply> {
  // Ids grow with time: the newest first.
  const wanted = [...new Set(ids.split(',').map((id) => id.trim()).filter((id) => id !== ''))].sort().reverse();
  if (wanted.length > idsMax) throw fail('FIELD_INVALID', { param: 'ids', reason: `must name at most ${idsMax} keys` });
  async function* known(): AsyncGenerator<ApiKeyRow> {
    for (const id of wanted) {
      const stored = await context.byId(apiKeys, id);
      if (stored !== undefined) yield stored.row;
    }
  }
  return pageAmong(known(), query, isSeen, (row) => keyView(row, context));
}
