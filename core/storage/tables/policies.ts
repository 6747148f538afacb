// Limits that bind the calls which meet their conditions: of use (money, tokens, requests until a reset) and of rate. Each counts apart for every
// combination of the values that it groups by.

import { Type } from '../type.js';
import { defineTable, type Index, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';

const textOrTexts = () => Type.Unsafe<string | readonly string[]>({ type: ['string', 'array'], items: { type: 'string' } });

/** In the words of the wire. */
const condition = object({ key: filledText(), value: textOrTexts(), excludes: Type.Optional(textOrTexts()) });

const common = {
  id: filledText(),
  organisationId: filledText(),
  /** Null: of the organisation, for calls of all its workspaces. */
  workspaceId: orNull(filledText()),
  name: orNull(Type.String()),
  description: orNull(Type.String()),
  /** All of them have to be met. */
  conditions: Type.Array(condition),
  groupBy: Type.Array(object({ key: filledText() })),
  status: choice(['active', 'archived']),
  createdAtMs: timeMs(),
  updatedAtMs: timeMs(),
};

interface Policy {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly name: string | null;
  readonly status: 'active' | 'archived';
}

/** Empty in place of a workspace: of the organisation. */
const placeOf = ({ organisationId, workspaceId }: Policy): readonly string[] => [organisationId, workspaceId ?? ''];

const indexes: Readonly<Record<string, Index<Policy>>> = {
  workspace: { of: (row) => placeOf(row) },
  active: { of: (row) => (row.status === 'active' ? placeOf(row) : null) },
  /** Of those with a name; others may have the same. */
  name: { of: (row) => (row.status === 'active' && row.name !== null ? [...placeOf(row), row.name] : null) },
  organisation: { of: (row) => [row.organisationId] },
};

export const usagePolicies = defineTable({
  name: 'usage-policy',
  format: 1,
  schema: object({
    ...common,
    type: choice(['cost', 'tokens', 'requests']),
    /** US dollars, tokens, or requests. */
    creditLimit: Type.Number({ minimum: 0 }),
    alertThreshold: orNull(Type.Number({ minimum: 0 })),
    periodicReset: orNull(choice(['monthly', 'weekly'])),
    periodicResetDays: orNull(Type.Integer({ minimum: 1, maximum: 365 })),
    /** The first reset that was asked for, at midnight UTC; later ones follow from it. */
    firstResetAtMs: orNull(timeMs()),
  }),
  indexes,
});
export type UsagePolicyRow = RowOf<typeof usagePolicies>;

export const ratePolicies = defineTable({
  name: 'rate-policy',
  format: 1,
  schema: object({
    ...common,
    /** What it counts: calls of models, or calls of tools over MCP. */
    target: choice(['llm', 'mcp_tools']),
    type: choice(['requests', 'tokens']),
    unit: choice(['rpm', 'rph', 'rpd', 'rpw']),
    value: Type.Integer({ minimum: 1 }),
  }),
  indexes,
});
export type RatePolicyRow = RowOf<typeof ratePolicies>;
