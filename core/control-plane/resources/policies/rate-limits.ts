import { choice, object } from '../../../storage/schema-parts.js';
import { fail } from '../../../errors/gateway-error.js';
import { ratePolicies, type RatePolicyRow } from '../../../storage/tables/policies.js';
import { Type } from '../../../storage/type.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, named, nothing } from '../../envelope.js';
import { filteredPage, pageQuery } from '../../paging.js';
import { placeOfList, policyAt } from './policy-access.js';
import { changedMembers, createMembers, insertPolicy, newMembers, removal, updateMembers, updatePolicy } from './policy-changes.js';
import { commonReply, commonView, groupByField, idReply, refuseChanged, statusField } from './policy-fields.js';

const typeField = () => choice(['requests', 'tokens']);
const unitField = () => choice(['rpm', 'rph', 'rpd', 'rpw'], { description: 'by minute, hour, day or week' });
const targetField = () => choice(['llm', 'mcp_tools'], { description: 'calls of models, or of tools over MCP' });
/** What counters hold. */
const valueMax = 1_000_000_000_000;
const valueField = () => Type.Integer({ minimum: 1, maximum: valueMax });

const replySchema = named('RateLimitsPolicy', object({
  ...commonReply, target: targetField(), type: typeField(), unit: unitField(), value: Type.Integer(), object: Type.Literal('policy_rate_limits'),
}));
const view = (row: RatePolicyRow): Reply => ({ ...commonView(row), target: row.target, type: row.type, unit: row.unit, value: row.value, object: 'policy_rate_limits' });

export const rateLimitsResource = defineResource({
  name: 'rate-limits-policies',
  kind: 'rate-limits-policy',
  operations: {
    create: operation({
      method: 'POST', path: '/policies/rate-limits', scope: 'policies.create', action: 'created', isAlone: countsRows, reply: idReply,
      body: object({
        ...createMembers, group_by: Type.Optional(groupByField()),
        target: Type.Optional({ ...targetField(), default: 'llm' }), type: typeField(), unit: unitField(), value: valueField(),
      }),
      handle: async (context, { body }) => {
        const workspaceId = (await context.workspaceIfNamed())?.id ?? null;
        const target = body.target ?? 'llm';
        if (target === 'llm' && body.group_by === undefined) throw fail('FIELD_INVALID', { param: 'group_by', reason: 'is required' });
        if (target === 'mcp_tools' && body.type === 'tokens') throw fail('FIELD_INVALID', { param: 'type', reason: 'must be requests: calls of tools have no tokens' });
        const place = { context, kind: 'rate', target, workspaceId } as const;
        const row: RatePolicyRow = { ...await newMembers(place, body, body.group_by ?? []), target, type: body.type, unit: body.unit, value: body.value };
        return insertPolicy(context, ratePolicies, row, body);
      },
    }),
    list: operation({
      method: 'GET', path: '/policies/rate-limits', scope: 'policies.list', reply: listOf(replySchema),
      query: object({ ...pageQuery(), status: Type.Optional({ ...statusField(), default: 'active' }), type: Type.Optional(typeField()), unit: Type.Optional(unitField()) }),
      handle: async (context, { query: { status = 'active', type, unit, ...page } }) => filteredPage(
        context, ratePolicies, await placeOfList(context), page,
        (row) => row.status === status && (type === undefined || row.type === type) && (unit === undefined || row.unit === unit), ({ row }) => view(row),
      ),
    }),
    read: operation({
      method: 'GET', path: '/policies/rate-limits/{rateLimitsPolicyId}', scope: 'policies.read', reply: replySchema,
      query: object({ status: Type.Optional({ ...statusField(), default: 'active' }) }),
      handle: async (context, { params, query }) => view((await policyAt(context, ratePolicies, params.rateLimitsPolicyId ?? '', query.status ?? 'active')).row),
    }),
    update: operation({
      method: 'PUT', path: '/policies/rate-limits/{rateLimitsPolicyId}', scope: 'policies.update', action: 'updated', isAlone: ({ body }) => body.status === 'active', reply: nothing,
      body: object({
        ...updateMembers, unit: Type.Optional(unitField()), value: Type.Optional(valueField()),
        type: Type.Optional(typeField()), group_by: Type.Optional(groupByField()), target: Type.Optional(targetField()),
      }),
      handle: async (context, { params, body }) => {
        const stored = await policyAt(context, ratePolicies, params.rateLimitsPolicyId ?? '');
        const { row } = stored;
        for (const [name, given, before] of [['type', body.type, row.type], ['group_by', body.group_by, row.groupBy], ['target', body.target, row.target]] as const) refuseChanged(name, given, before);
        const after = { ...row, ...await changedMembers({ context, kind: 'rate', target: row.target, workspaceId: row.workspaceId }, row, body), unit: body.unit ?? row.unit, value: body.value ?? row.value };
        await updatePolicy(context, stored, after, body);
        return {};
      },
    }),
    delete: removal(ratePolicies, '/policies/rate-limits', 'rateLimitsPolicyId'),
  },
});
