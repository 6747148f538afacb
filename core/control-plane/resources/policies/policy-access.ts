// Which policies a call may see and change: a key of a workspace its own, one of the organisation all.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import type { Table } from '../../../storage/define-table.js';
import { ratePolicies, usagePolicies, type RatePolicyRow, type UsagePolicyRow } from '../../../storage/tables/policies.js';
import type { ControlContext } from '../../context.js';
import { idCharsShown } from '../common/find-row.js';

/** Active ones of both kinds, of a workspace or of the organisation as a whole. */
const policiesMax = 1_000;
const policyKind = 'policy';

/** Throws FIELD_INVALID when there is no room for one more. */
export async function requireRoom({ repository }: ControlContext, organisationId: string, workspaceId: string | null, param: string): Promise<void> {
  const parts = [organisationId, workspaceId ?? ''];
  const count = await repository.count(usagePolicies, 'active', parts) + await repository.count(ratePolicies, 'active', parts);
  if (count >= policiesMax) throw fail('FIELD_INVALID', { param, reason: `is one too many: ${workspaceId === null ? 'an organisation' : 'a workspace'} has at most ${policiesMax} active policies; archive some, or group by what they tell apart` });
}

/** Noted as what the call is about. Throws ROW_UNKNOWN, WORKSPACE_FOREIGN. */
export async function policyAt<R extends UsagePolicyRow | RatePolicyRow>(context: ControlContext, table: Table<R>, id: string, status?: R['status']): Promise<Stored<R>> {
  const workspace = await context.workspaceIfNamed();
  const stored = await context.byId(table, id);
  const shown = id.slice(0, idCharsShown);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: policyKind, id: shown });
  const { row } = stored;
  if (row.organisationId !== context.caller.organisationId || (workspace !== undefined && row.workspaceId !== workspace.id)) throw fail('WORKSPACE_FOREIGN', { kind: policyKind, id: shown });
  if (status !== undefined && row.status !== status) throw fail('ROW_UNKNOWN', { kind: `${status} ${policyKind}`, id: shown });
  context.subject = stored;
  return stored;
}

/** The rows that a list is about. */
export async function placeOfList(context: ControlContext): Promise<{ readonly index: string; readonly parts: readonly string[] }> {
  const workspace = await context.workspaceIfNamed();
  const { organisationId } = context.caller;
  return workspace === undefined ? { index: 'organisation', parts: [organisationId] } : { index: 'workspace', parts: [organisationId, workspace.id] };
}
