// Who names stored guardrails: the defaults of the organisation and of workspaces, and configs.

import { fail } from '../../../errors/gateway-error.js';
import { checksMax } from '../../../plan/plan-weight.js';
import { configs } from '../../../storage/tables/configs.js';
import { guardrails, type GuardrailRow } from '../../../storage/tables/guardrails.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import type { Registry } from '../../../registry/registry.js';
import { definitionOf } from './check-guardrail.js';

/** Users of a guardrail that a refusal names. */
const usersShown = 5;
const sides = ['input_guardrails', 'output_guardrails'] as const;
type Side = (typeof sides)[number];

/** One of the workspace, else of the organisation; `workspaceId` null: of the organisation alone. */
export async function findGuardrail(context: ControlContext, workspaceId: string | null, idOrSlug: string): Promise<GuardrailRow | undefined> {
  const { organisationId } = context.caller;
  const own = workspaceId === null ? undefined : (await context.byIdOrSlug(guardrails, idOrSlug, [organisationId, workspaceId]))?.row;
  const found = own ?? (await context.byIdOrSlug(guardrails, idOrSlug, [organisationId, '']))?.row;
  return found?.organisationId === organisationId && (found.workspaceId === null || found.workspaceId === workspaceId) ? found : undefined;
}

/** The slugs of what `given` names by ids or slugs, each once, and no more than a call may have. Throws REFERENCE_UNKNOWN, FIELD_INVALID. */
export async function namedGuardrails(context: ControlContext, workspaceId: string | null, given: readonly string[], side: Side, param: string): Promise<readonly string[]> {
  const slugs = new Set<string>();
  let checks = 0;
  for (const [index, name] of given.entries()) {
    const row = await findGuardrail(context, workspaceId, name);
    if (row === undefined) throw fail('REFERENCE_UNKNOWN', { param: `${param}.${index}`, kind: 'guardrail', id: `${name.slice(0, 64)} ${workspaceId === null ? 'of the organisation' : 'in this workspace'}` });
    if (!(await sidesOf(context, row)).has(side)) throw fail('FIELD_INVALID', { param: `${param}.${index}`, reason: `names ${row.slug}, none of whose checks runs on the ${side === 'input_guardrails' ? 'input' : 'output'}` });
    if (!slugs.has(row.slug)) for (const check of definitionOf(context, row)?.checks ?? []) if (check.is_enabled !== false && (await sidesOfChecks([check], context.services.registry)).has(side)) checks += 1;
    // Every call would be refused, and nobody told who made it so.
    if (checks > checksMax) throw fail('FIELD_INVALID', { param: `${param}.${index}`, reason: `would make more than the ${checksMax} checks that a call may have; name fewer guardrails, or give them fewer checks` });
    slugs.add(row.slug);
  }
  return [...slugs];
}

async function sidesOf(context: ControlContext, row: GuardrailRow): Promise<ReadonlySet<Side>> {
  return sidesOfChecks(definitionOf(context, row)?.checks ?? [], context.services.registry);
}

/** Those that some of the checks are for. One that no plugin supplies may be for both. */
export async function sidesOfChecks(checks: readonly { readonly id: string }[], registry: Registry): Promise<ReadonlySet<Side>> {
  const found = new Set<Side>();
  for (const { id } of checks) {
    const plugin = await registry.find('guardrail', id);
    for (const side of sides) if (plugin === undefined || plugin.stages.includes(side === 'input_guardrails' ? 'input' : 'output')) found.add(side);
  }
  return found;
}

/** In words, a few of them. */
export async function usersOf(context: ControlContext, { id, slug, organisationId, workspaceId }: GuardrailRow): Promise<readonly string[]> {
  const { repository } = context;
  const users: string[] = [];
  const isNamed = (names: readonly string[]): boolean => names.includes(slug) || names.includes(id);
  const organisation = (await repository.get(organisations, organisationId))?.row;
  if (organisation !== undefined && workspaceId === null && sides.some((side) => isNamed(organisation.defaults[side]))) users.push('the defaults of the organisation');
  for await (const { row } of repository.each(workspaces, { index: 'organisation', parts: [organisationId] })) {
    if (users.length === usersShown) break;
    const mayName = row.status === 'active' && (workspaceId === null || row.id === workspaceId);
    if (mayName && sides.some((side) => isNamed(row.defaults[side]))) users.push(`the defaults of the workspace ${row.slug}`);
  }
  const at = workspaceId === null ? { index: 'organisation', parts: [organisationId] } : { index: 'workspace', parts: [workspaceId] };
  for await (const { row } of repository.each(configs, at)) {
    if (users.length === usersShown) break;
    if (row.guardrails.includes(id)) users.push(`the config ${row.slug}`);
  }
  return users;
}
