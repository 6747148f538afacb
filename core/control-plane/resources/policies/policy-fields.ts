// The wire members that both kinds of policy have: what they are about, and what they count apart.

import { requestTypes } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { didYouMean } from '../../../settings/nearest-name.js';
import { anyValue, groupKeysMax, metadataPrefix } from '../../../snapshot/policy.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import type { RatePolicyRow, UsagePolicyRow } from '../../../storage/tables/policies.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { idText, named, time, timeText } from '../../envelope.js';
import { providerId } from '../integrations/credentials.js';

const conditionsMax = 20;
const valuesMax = 100;
const valueCharsMax = 255;
const keyCharsMax = 140;

const valueText = () => Type.String({ minLength: 1, maxLength: valueCharsMax });
const valuesField = (description: string) => Type.Unsafe<string | readonly string[]>({
  type: ['string', 'array'], minLength: 1, maxLength: valueCharsMax, minItems: 1, maxItems: valuesMax, uniqueItems: true, items: valueText(), description,
});
const keyField = () => Type.String({ minLength: 1, maxLength: keyCharsMax, description: 'such as api_key, model, provider, or metadata.team' });
const conditionSchema = named('PolicyCondition', object({
  key: keyField(), value: valuesField('one of these; * is every value, as long as there is one'), excludes: Type.Optional(valuesField('none of these')),
}));
const groupSchema = named('PolicyGroupBy', object({ key: keyField() }));

export const conditionsField = () => Type.Array(conditionSchema, { minItems: 1, maxItems: conditionsMax, description: 'calls that meet all of them are bound' });
export const groupByField = () => Type.Array(groupSchema, { minItems: 1, maxItems: groupKeysMax, uniqueItems: true, description: 'calls with other values of these are counted apart' });
export const nameField = () => Type.String({ maxLength: 255 });
export const descriptionField = () => Type.String({ maxLength: 500 });
export const statusField = () => choice(['active', 'archived']);

export type Conditions = UsagePolicyRow['conditions'];
export type GroupBy = UsagePolicyRow['groupBy'];
type AnyRow = UsagePolicyRow | RatePolicyRow;
export type Target = RatePolicyRow['target'];
/** What a policy is: which keys it may have depends on it. */
export type PolicyKind = 'usage' | 'rate';

const modelKeys = ['api_key', 'workspace_id', 'organisation_id', 'virtual_key', 'provider', 'config', 'prompt', 'model'];
const keysOf = (kind: PolicyKind, target: Target): readonly string[] =>
  (target === 'mcp_tools' ? ['api_key', 'workspace_id', 'mcp_server', 'mcp_tool'] : kind === 'rate' ? [...modelKeys, 'endpoint_type'] : modelKeys);

/** Throws FIELD_INVALID. */
function checkKey(key: string, kind: PolicyKind, target: Target, param: string): void {
  if (key.startsWith(metadataPrefix)) {
    if (key.length === metadataPrefix.length || key !== key.trim()) throw fail('FIELD_INVALID', { param, reason: `must name metadata, such as ${metadataPrefix}team` });
    return;
  }
  const known = keysOf(kind, target);
  if (known.includes(key)) return;
  const ofOthers = [...keysOf('rate', 'llm'), ...keysOf('rate', 'mcp_tools')].includes(key);
  const advice = ofOthers ? '' : didYouMean(key, known);
  throw fail('FIELD_INVALID', { param, reason: `is not a key of ${kind === 'usage' ? 'usage limits' : `rate limits${target === 'llm' ? '' : ` of ${target}`}`}${advice || `; they have ${known.join(', ')} and ${metadataPrefix}<name>`}` });
}

const idShape = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const slugShape = /^[\w.@-]+$/;

export interface Place {
  readonly context: ControlContext;
  readonly kind: PolicyKind;
  readonly target: Target;
  /** Null: the policy is of the organisation. */
  readonly workspaceId: string | null;
}

/** As it is stored. One that can match nothing is a limit that binds nobody, and nobody would notice. Throws FIELD_INVALID, REFERENCE_UNKNOWN. */
async function checkedValue({ context, workspaceId }: Place, key: string, text: string, param: string): Promise<string> {
  const refuse = (reason: string): never => { throw fail('FIELD_INVALID', { param, reason }); };
  if (text === anyValue) return text;
  switch (key) {
    case 'api_key': return idShape.test(text) ? text.toLowerCase() : refuse('must be the id of an API key, or *');
    case 'organisation_id': return text === context.caller.organisationId ? text : refuse('must be the id of the organisation, or *');
    case 'workspace_id': {
      // Whether others exist is nothing that a key of a workspace learns.
      const { id, slug } = context.isOrganisationKey ? await context.namedWorkspace(text, param) : (await context.ownWorkspace()).row;
      return workspaceId === null || (id === workspaceId && (text === id || text === slug)) ? text : refuse('names another workspace than the one that the policy is of; a policy of the organisation may name any: make one with a key of the organisation, without workspace_id');
    }
    case 'provider': return providerId(context.services.registry, text, param);
    case 'endpoint_type': return (requestTypes as readonly string[]).includes(text) ? text : refuse(`is not a type of request${didYouMean(text, requestTypes) || `; they are ${requestTypes.join(', ')}`}`);
    case 'model': {
      if (text.startsWith('@') && !text.includes('/')) refuse('must be @provider/model, @provider/*, or the name of a model');
      return text.slice(0, -1).includes(anyValue) || (text.endsWith(anyValue) && !/^@[^/]+\/\*$/.test(text)) ? refuse('may have a * alone, or as @provider/*') : text;
    }
    case 'virtual_key': case 'config': case 'prompt': case 'mcp_server': return slugShape.test(text) ? text : refuse('must be a slug or an id, or *');
    default: return text;
  }
}

async function checkedValues(place: Place, key: string, given: string | readonly string[], param: string): Promise<string | readonly string[]> {
  if (typeof given === 'string') return checkedValue(place, key, given, param);
  const values: string[] = [];
  for (const [index, text] of given.entries()) values.push(await checkedValue(place, key, text, `${param}.${index}`));
  return values;
}

/** As they are stored. Throws as `checkedValue`. */
export async function checkedConditions(place: Place, given: Conditions): Promise<Conditions> {
  const checked: Conditions[number][] = [];
  for (const [index, { key, value, excludes }] of given.entries()) {
    const param = `conditions.${index}`;
    checkKey(key, place.kind, place.target, `${param}.key`);
    checked.push({
      key, value: await checkedValues(place, key, value, `${param}.value`), ...(excludes === undefined ? {} : { excludes: await checkedValues(place, key, excludes, `${param}.excludes`) }),
    });
  }
  return checked;
}

/** Throws FIELD_INVALID. */
export function checkedGroupBy({ kind, target }: Pick<Place, 'kind' | 'target'>, given: GroupBy): GroupBy {
  for (const [index, { key }] of given.entries()) checkKey(key, kind, target, `group_by.${index}.key`);
  return given;
}

/** A member that a change may repeat, so that what was read can be sent back. Throws FIELD_INVALID. */
export function refuseChanged(name: string, given: unknown, stored: unknown): void {
  if (given !== undefined && JSON.stringify(given) !== JSON.stringify(stored)) throw fail('FIELD_INVALID', { param: name, reason: 'cannot be changed, since what was counted would mean something else; make another policy, and archive this one' });
}

/** The audit log leaves out what is called a key. */
export function auditBodyOf<B extends { readonly conditions?: Conditions; readonly group_by?: GroupBy }>({ conditions, group_by: groupBy, ...others }: B): Readonly<Record<string, unknown>> {
  const texts = (value: string | readonly string[]): string => (typeof value === 'string' ? value : value.join(', '));
  return {
    ...others,
    ...(conditions === undefined ? {} : { conditions: conditions.map(({ key, value, excludes }) => `${key}: ${texts(value)}${excludes === undefined ? '' : `; not ${texts(excludes)}`}`) }),
    ...(groupBy === undefined ? {} : { group_by: groupBy.map(({ key }) => key) }),
  };
}

export const idReply = object({ id: idText(), object: Type.Literal('policy_usage_limits') });

export const commonReply = {
  id: idText(), name: orNull(Type.String()), description: orNull(Type.String()), conditions: Type.Array(conditionSchema), group_by: Type.Array(groupSchema), status: statusField(),
  workspace_id: orNull(idText('null: of the organisation, for calls of all its workspaces')), organisation_id: idText(), created_at: timeText(), last_updated_at: timeText(),
};

export const commonView = (row: AnyRow): Reply => ({
  id: row.id, name: row.name, description: row.description, conditions: row.conditions, group_by: row.groupBy, status: row.status, workspace_id: row.workspaceId, organisation_id: row.organisationId,
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs),
});
