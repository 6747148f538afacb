import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { usagePolicies, type UsagePolicyRow } from '../../../storage/tables/policies.js';
import { Type } from '../../../storage/type.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { listOf, named, nothing, timeOrNull, timeTextOrNull } from '../../envelope.js';
import { filteredPage, pageAmong, pageQuery, searchField } from '../../paging.js';
import { placeOfList, policyAt } from './policy-access.js';
import { changedMembers, createMembers, insertPolicy, newMembers, removal, updateMembers, updatePolicy } from './policy-changes.js';
import { commonReply, commonView, groupByField, idReply, refuseChanged, statusField } from './policy-fields.js';
import { checkedBudget, resetsOf } from './policy-budget.js';
import { entitiesOf, entitySchema, entityView, isWanted, resetEntity, resetValue, usageMap, usageMapSchema } from './policy-usage.js';

const entitiesPage = 100;

const typeField = () => choice(['cost', 'tokens', 'requests']);
const amountField = () => Type.Number({ minimum: 0, maximum: 1_000_000_000_000 });
const budgetFields = {
  alert_threshold: Type.Optional(orNull(amountField())),
  periodic_reset: Type.Optional(orNull(choice(['monthly', 'weekly'], { description: 'on the first of the month, or on Monday, at midnight UTC' }))),
  periodic_reset_days: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 365, description: 'every so many days' }))),
  next_usage_reset_at: Type.Optional(orNull(Type.String({ format: 'date-time', description: 'the first reset; the midnight UTC before it counts' }))),
};

const members = {
  ...commonReply, type: typeField(), credit_limit: Type.Number({ description: 'US dollars, tokens, or requests' }), alert_threshold: orNull(Type.Number()),
  periodic_reset: orNull(choice(['monthly', 'weekly'])), periodic_reset_days: orNull(Type.Integer()), next_usage_reset_at: timeTextOrNull(), last_reset_at: timeTextOrNull(),
  object: Type.Literal('policy_usage_limits'),
};
const replySchema = named('UsageLimitsPolicy', object(members));

const view = (row: UsagePolicyRow, nowMs: number): Reply => {
  const { nextMs, lastMs } = resetsOf(row, nowMs);
  return {
    ...commonView(row), type: row.type, credit_limit: row.creditLimit, alert_threshold: row.alertThreshold, periodic_reset: row.periodicReset, periodic_reset_days: row.periodicResetDays,
    next_usage_reset_at: timeOrNull(nextMs), last_reset_at: timeOrNull(lastMs), object: 'policy_usage_limits',
  };
};

export const usageLimitsResource = defineResource({
  name: 'usage-limits-policies',
  kind: 'usage-limits-policy',
  operations: {
    create: operation({
      method: 'POST', path: '/policies/usage-limits', scope: 'policies.create', action: 'created', isAlone: countsRows, reply: idReply,
      body: object({
        ...createMembers, group_by: groupByField(),
        type: typeField(), credit_limit: amountField(), ...budgetFields,
      }),
      handle: async (context, { body }) => {
        const workspaceId = (await context.workspaceIfNamed())?.id ?? null;
        const place = { context, kind: 'usage', target: 'llm', workspaceId } as const;
        const row: UsagePolicyRow = { ...await newMembers(place, body, body.group_by), type: body.type, ...checkedBudget(body.type, body, null, context.nowMs) };
        return insertPolicy(context, usagePolicies, row, body);
      },
    }),
    list: operation({
      method: 'GET', path: '/policies/usage-limits', scope: 'policies.list', reply: listOf(replySchema),
      query: object({ ...pageQuery(), status: Type.Optional({ ...statusField(), default: 'active' }), type: Type.Optional(typeField()) }),
      handle: async (context, { query: { status = 'active', type, ...page } }) => filteredPage(
        context, usagePolicies, await placeOfList(context), page, (row) => row.status === status && (type === undefined || row.type === type), ({ row }) => view(row, context.nowMs),
      ),
    }),
    read: operation({
      method: 'GET', path: '/policies/usage-limits/{policyUsageLimitsId}', scope: 'policies.read',
      reply: object({ ...members, value_key_usage_map: Type.Optional(usageMapSchema) }),
      query: object({ status: Type.Optional({ ...statusField(), default: 'active' }), include_usage: Type.Optional(Type.Boolean({ default: false, description: 'with value_key_usage_map' })) }),
      handle: async (context, { params, query }) => {
        const { row } = await policyAt(context, usagePolicies, params.policyUsageLimitsId ?? '', query.status ?? 'active');
        return { ...view(row, context.nowMs), ...(query.include_usage === true ? { value_key_usage_map: await usageMap(context, row) } : {}) };
      },
    }),
    update: operation({
      method: 'PUT', path: '/policies/usage-limits/{policyUsageLimitsId}', scope: 'policies.update', action: 'updated', isAlone: ({ body }) => body.status === 'active', reply: nothing,
      body: object({
        ...updateMembers, credit_limit: Type.Optional(amountField()), ...budgetFields, type: Type.Optional(typeField()), group_by: Type.Optional(groupByField()),
        reset_usage_for_value: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'a value key' })),
      }),
      handle: async (context, { params, body }) => {
        const stored = await policyAt(context, usagePolicies, params.policyUsageLimitsId ?? '');
        const { row } = stored;
        for (const [name, given, before] of [['type', body.type, row.type], ['group_by', body.group_by, row.groupBy]] as const) refuseChanged(name, given, before);
        const after: UsagePolicyRow = {
          ...row, ...await changedMembers({ context, kind: 'usage', target: 'llm', workspaceId: row.workspaceId }, row, body), ...checkedBudget(row.type, body, row, context.nowMs),
        };
        await updatePolicy(context, stored, after, body);
        if (body.reset_usage_for_value !== undefined) resetValue(context, row, body.reset_usage_for_value, 'reset_usage_for_value');
        return {};
      },
    }),
    delete: removal(usagePolicies, '/policies/usage-limits', 'policyUsageLimitsId'),
    entities: operation({
      method: 'GET', path: '/policies/usage-limits/{policyUsageLimitsId}/entities', scope: 'policies.read', reply: listOf(entitySchema),
      query: object({ ...pageQuery(entitiesPage, entitiesPage), status: Type.Optional(choice(['active', 'exhausted'])), search: searchField() }),
      handle: async (context, { params, query: { status, search, ...page } }) => {
        const { row } = await policyAt(context, usagePolicies, params.policyUsageLimitsId ?? '');
        return pageAmong(entitiesOf(context, row), page, (entity) => isWanted(row, entity, { ...(status === undefined ? {} : { status }), ...(search === undefined ? {} : { search }) }), (entity) => entityView(row, entity));
      },
    }),
    resetEntity: operation({
      method: 'PUT', path: '/policies/usage-limits/{policyUsageLimitsId}/entities/{entityId}/reset', scope: 'policies.update', action: 'reset', reply: nothing,
      handle: async (context, { params }) => {
        const { row } = await policyAt(context, usagePolicies, params.policyUsageLimitsId ?? '');
        resetEntity(context, row, params.entityId ?? '');
        return {};
      },
    }),
  },
});
