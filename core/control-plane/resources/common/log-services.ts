// The records of calls as handlers reach them: whose a caller may see, and how much of them.

import type { LogReader, LogScope } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { organisations } from '../../../storage/tables/organisations.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { Caller, ControlContext } from '../../context.js';

/** Throws ACTION_UNTIMELY. */
export function logReader({ services: { logs } }: Pick<ControlContext, 'services'>): LogReader {
  if (logs === undefined) throw fail('ACTION_UNTIMELY', { reason: 'no exporter keeps records of calls that can be read; add one that does, such as store, to the setting exporters' });
  return logs;
}

/** Of the caller's workspace or the one that it names, as `workspace_id` or as `slug` in a filter; for an organisation key that names none, of the organisation. */
export async function logScope(context: ControlContext, slug?: string): Promise<LogScope> {
  return scopeOf(context, await logWorkspace(context, slug));
}

export async function logWorkspace(context: ControlContext, slug?: string): Promise<WorkspaceRow | undefined> {
  const named = await context.workspaceIfNamed();
  if (slug === undefined) return named;
  const filtered = await context.workspace(slug);
  if (context.workspaceId !== undefined && named !== undefined && named.id !== filtered.id) throw fail('FIELD_INVALID', { param: 'workspace_slug', reason: 'is not the workspace that workspace_id names' });
  return filtered;
}

export const scopeOf = ({ caller }: ControlContext, workspace: Pick<WorkspaceRow, 'id'> | undefined): LogScope =>
  ({ organisationId: caller.organisationId, workspaceIds: workspace === undefined ? null : [workspace.id] });

/** What the settings of the organisation leave of logs to a person in a role. Services, admins and owners see all. */
export interface LogSight {
  readonly isAllowed: boolean;
  readonly bodies: boolean;
  readonly metadata: boolean;
}

const flags = {
  member: ['membersViewLogs', 'membersViewLogBodies', 'membersViewMetadata'],
  manager: ['managersViewLogs', 'managersViewLogBodies', 'managersViewMetadata'],
} as const;
const allSeen: LogSight = Object.freeze({ isAllowed: true, bodies: true, metadata: true });

export function logSightOf({ person }: Caller, settings: Readonly<Record<string, unknown>>): LogSight {
  const role = person?.role;
  if (role !== 'member' && role !== 'manager') return allSeen;
  const [logs, bodies, metadata] = flags[role].map((name) => settings[name] !== false);
  return { isAllowed: logs === true, bodies: bodies === true, metadata: metadata === true };
}

/** Throws ACTION_FORBIDDEN when the person sees no logs at all. */
export async function logSight(context: ControlContext): Promise<LogSight> {
  const sight = logSightOf(context.caller, await organisationSettings(context));
  if (!sight.isAllowed) throw fail('ACTION_FORBIDDEN', { reason: `the settings of the organisation show logs to no ${String(context.caller.person?.role)}` });
  return sight;
}

export async function organisationSettings({ repository, caller }: ControlContext): Promise<Readonly<Record<string, unknown>>> {
  return (await repository.get(organisations, caller.organisationId))?.row.settings ?? {};
}
