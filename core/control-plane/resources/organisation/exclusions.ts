// Workspaces that the organisation's guardrails leave out; one list for those on the way in, one for those on the way out.

import { object } from '../../../storage/schema-parts.js';
import type { OrganisationRow } from '../../../storage/tables/organisations.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { operation, type Operation, type Reply } from '../../define-resource.js';
import { idText, listOf, listReply, nothing } from '../../envelope.js';
import { ownOrganisation } from './organisation-access.js';

export type Side = keyof OrganisationRow['exclusions'];

const workspacesMax = 10_000;
const exclusionFields = object({ workspaces: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: workspacesMax, description: 'ids or slugs; in place of those before' }) });

async function listExclusions(context: ControlContext, side: Side): Promise<Reply> {
  const { row } = await ownOrganisation(context);
  const ids = row.exclusions[side];
  return listReply(ids.length, ids, { workspaces: ids });
}

async function setExclusions(context: ControlContext, side: Side, { workspaces: given }: Static<typeof exclusionFields>): Promise<Reply> {
  const stored = await ownOrganisation(context);
  const ids = new Set<string>();
  for (const [index, id] of given.entries()) {
    ids.add((await context.namedWorkspace(id, `workspaces.${index}`)).id);
  }
  context.change.update(stored, { ...stored.row, exclusions: { ...stored.row.exclusions, [side]: [...ids] }, updatedAtMs: context.nowMs });
  return {};
}

const pathOf = (side: Side): string => `/workspace-exclusions/${side.replace('_', '-')}`;

export const exclusionList = (side: Side): Operation =>
  operation({ method: 'GET', path: pathOf(side), scope: 'organisation_exclusions.list', reply: listOf(idText(), { workspaces: Type.Array(idText()) }), handle: (context) => listExclusions(context, side) });

export const exclusionUpdate = (side: Side): Operation => operation({
  method: 'PUT', path: pathOf(side), scope: 'organisation_exclusions.update', action: 'updated', body: exclusionFields, reply: nothing,
  handle: (context, { body }) => setExclusions(context, side, body),
});
