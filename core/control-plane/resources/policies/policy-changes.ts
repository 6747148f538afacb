// How policies of both kinds come, change and go. What only one kind has is said by its resource.

import type { Stored } from '../../../storage/change.js';
import type { Table } from '../../../storage/define-table.js';
import { object, orNull } from '../../../storage/schema-parts.js';
import type { RatePolicyRow, UsagePolicyRow } from '../../../storage/tables/policies.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { operation, type Operation, type Reply } from '../../define-resource.js';
import { nothing } from '../../envelope.js';
import { policyAt, requireRoom } from './policy-access.js';
import { auditBodyOf, checkedConditions, checkedGroupBy, conditionsField, descriptionField, nameField, statusField, type Conditions, type GroupBy, type Place } from './policy-fields.js';

type AnyRow = UsagePolicyRow | RatePolicyRow;
type CommonMember = 'id' | 'organisationId' | 'workspaceId' | 'name' | 'description' | 'conditions' | 'groupBy' | 'status' | 'createdAtMs' | 'updatedAtMs';
type ChangedMember = 'name' | 'description' | 'conditions' | 'status' | 'updatedAtMs';
/** Of any call that makes or changes a policy, for the audit log. */
interface Body {
  readonly conditions?: Conditions;
  readonly group_by?: GroupBy;
}

const newOnes = object({ name: Type.Optional(nameField()), description: Type.Optional(orNull(descriptionField())), conditions: conditionsField() });
const changedOnes = object({ ...newOnes.properties, conditions: Type.Optional(conditionsField()), status: Type.Optional(statusField()) });
export const createMembers = newOnes.properties;
export const updateMembers = changedOnes.properties;

/** The members of a new row that both kinds have. Throws as `checkedConditions` and `checkedGroupBy`. */
export async function newMembers(place: Place, { name, description, conditions }: Static<typeof newOnes>, groupBy: GroupBy): Promise<Pick<AnyRow, CommonMember>> {
  const { context, workspaceId } = place;
  return {
    id: context.newId(), organisationId: context.caller.organisationId, workspaceId, name: name ?? null, description: description ?? null,
    conditions: await checkedConditions(place, conditions), groupBy: checkedGroupBy(place, groupBy), status: 'active', createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
  };
}

/** Clients know policies of both kinds by this name. Throws FIELD_INVALID when there is no room for one more. */
export async function insertPolicy<R extends AnyRow>(context: ControlContext, table: Table<R>, row: R, body: Body): Promise<Reply> {
  await requireRoom(context, row.organisationId, row.workspaceId, 'conditions');
  context.auditBody = auditBodyOf(body);
  context.change.insert(table, row);
  return { id: row.id, object: 'policy_usage_limits' };
}

/** The members of a change that both kinds have, as they are stored after it. Throws as `checkedConditions`. */
export async function changedMembers(place: Place, row: AnyRow, { name, description, conditions, status }: Static<typeof changedOnes>): Promise<Pick<AnyRow, ChangedMember>> {
  return {
    name: name ?? row.name, description: description === undefined ? row.description : description, status: status ?? row.status, updatedAtMs: place.context.nowMs,
    conditions: conditions === undefined ? row.conditions : await checkedConditions(place, conditions),
  };
}

/** Throws FIELD_INVALID when it becomes active and there is no room for one more. */
export async function updatePolicy<R extends AnyRow>(context: ControlContext, stored: Stored<R>, after: R, body: Body): Promise<void> {
  const { row } = stored;
  if (after.status === 'active' && row.status !== 'active') await requireRoom(context, row.organisationId, row.workspaceId, 'status');
  context.auditBody = auditBodyOf(body);
  context.change.update(stored, after);
}

/** It is archived: what it counted can still be read. `param`: the id in the path. */
export const removal = <R extends AnyRow>(table: Table<R>, path: string, param: string): Operation => operation({
  method: 'DELETE', path: `${path}/{${param}}`, scope: 'policies.delete', action: 'deleted', reply: nothing,
  handle: async (context, { params }) => {
    const stored = await policyAt(context, table, params[param] ?? '', 'active');
    context.change.update(stored, { ...stored.row, status: 'archived', updatedAtMs: context.nowMs });
    return {};
  },
});
