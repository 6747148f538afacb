// Policies in files are told apart by their names, which the control plane leaves to its clients: one without a name is called by its id.

import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import type { Table } from '../../../storage/define-table.js';
import { object } from '../../../storage/schema-parts.js';
import { ratePolicies, usagePolicies, type RatePolicyRow, type UsagePolicyRow } from '../../../storage/tables/policies.js';
import { Type, type TSchema } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { declareResource, type Declared, type DeclaredPlace } from '../../define-declared.js';
import { timeOrNull } from '../../envelope.js';
import { rateLimitsResource } from './rate-limits.js';
import { usageLimitsResource } from './usage-limits.js';

type PolicyRow = UsagePolicyRow | RatePolicyRow;

const nameOf = ({ id, name }: PolicyRow): string => (name === null || name === '' ? id : name);

const entryOf = (body: TSchema | null | undefined): TSchema => object({ ...Object(Object(body).properties), name: Type.String({ minLength: 1, maxLength: 255 }) });

/** The active one. Throws FIELD_INVALID when two have the name. */
const finderOf = <R extends PolicyRow>(table: Table<R>) => async ({ context, workspace }: DeclaredPlace, name: string): Promise<Stored<R> | undefined> => {
  const { organisationId } = context.caller;
  const [first, second] = await context.repository.list(table, { index: 'name', parts: [organisationId, workspace?.id ?? '', name], limit: 2 });
  if (second !== undefined) throw fail('FIELD_INVALID', { param: 'name', reason: 'is the name of more than one policy here; give the others other names first' });
  if (first !== undefined) return first;
  const unnamed = await context.byId(table, name);
  const isHere = unnamed !== undefined && nameOf(unnamed.row) === name && unnamed.row.status === 'active' && unnamed.row.organisationId === organisationId && unnamed.row.workspaceId === (workspace?.id ?? null);
  return isHere ? unnamed : undefined;
};

const activeOf = <R extends PolicyRow>(table: Table<R>) => async function* active({ repository, caller }: ControlContext): AsyncGenerator<Stored<R>> {
  for await (const stored of repository.each(table, { index: 'organisation', parts: [caller.organisationId] })) if (stored.row.status === 'active') yield stored;
};

const common = { level: 'either', identity: 'name', workspaceIdOf: ({ workspaceId }: PolicyRow) => workspaceId, nameOf } as const;
const commonView = (row: PolicyRow) => ({ name: nameOf(row), description: row.description, conditions: row.conditions, group_by: row.groupBy.length === 0 ? undefined : row.groupBy, type: row.type });

export const usageLimitsDeclared: Declared<UsagePolicyRow> = declareResource<UsagePolicyRow>({
  ...common, section: 'usage_limits', resource: usageLimitsResource, table: usagePolicies,
  entry: entryOf(usageLimitsResource.operations.create?.body),
  defaults: { description: null, alert_threshold: null, periodic_reset: null, periodic_reset_days: null },
  find: finderOf(usagePolicies), all: activeOf(usagePolicies),
  view: (_context, { row }) => ({
    ...commonView(row), credit_limit: row.creditLimit, alert_threshold: row.alertThreshold, periodic_reset: row.periodicReset, periodic_reset_days: row.periodicResetDays,
    next_usage_reset_at: timeOrNull(row.firstResetAtMs),
  }),
  // A first reset that is over could not be applied anywhere.
  exported: ({ nowMs }, { row }) => (row.firstResetAtMs !== null && row.firstResetAtMs <= nowMs ? { next_usage_reset_at: undefined } : {}),
});

export const rateLimitsDeclared: Declared<RatePolicyRow> = declareResource<RatePolicyRow>({
  ...common, section: 'rate_limits', resource: rateLimitsResource, table: ratePolicies,
  entry: entryOf(rateLimitsResource.operations.create?.body),
  defaults: { description: null, target: 'llm' },
  find: finderOf(ratePolicies), all: activeOf(ratePolicies),
  view: (_context, { row }) => ({ ...commonView(row), target: row.target, unit: row.unit, value: row.value }),
});
