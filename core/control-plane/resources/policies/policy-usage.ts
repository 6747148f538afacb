// The counts of a usage policy: one entity for each combination of the values that it groups by. The ledger knows the amounts; here they are told in the
// units of the wire.

import { Buffer } from 'node:buffer';
import { fail } from '../../../errors/gateway-error.js';
import { countedPerUnit, policyCounterKey } from '../../../snapshot/limit-specs.js';
import { isValueKey } from '../../../snapshot/policy.js';
import { choice, object } from '../../../storage/schema-parts.js';
import type { UsagePolicyRow } from '../../../storage/tables/policies.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import type { SpendEntity } from '../../spend-service.js';
import { nextTurn } from '../../next-turn.js';
import { idCharsShown } from '../common/find-row.js';

/** Entities that the map of a policy shows; a list of them has pages. */
const mapMax = 1_000;
/** Looked at before other control calls get their turn. */
const entitiesOfTurn = 250;

/** `used`: US dollars, tokens, or requests, since the last reset. */
export type PolicyEntity = SpendEntity;

const stateField = () => choice(['active', 'exhausted']);
export const entitySchema = object({
  id: Type.String(), value_key: Type.String({ description: 'such as metadata._user:bob; of several keys one after the other, parted by dashes' }), current_usage: Type.Number(), status: stateField(),
});
export const usageMapSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object', description: `at most ${mapMax} of them`,
  additionalProperties: object({ current_usage: Type.Number(), status: stateField(), is_threshold_alerts_sent: Type.Boolean(), is_exhausted_alerts_sent: Type.Boolean() }),
});

/** Fit for a path, whatever is in the values. */
const entityIdOf = (valueKey: string): string => Buffer.from(valueKey).toString('base64url');
/** A value key has a colon, which an id has not. */
const valueKeyOf = (entityId: string): string => (entityId.includes(':') ? entityId : Buffer.from(entityId, 'base64url').toString());

const stateOf = ({ creditLimit }: UsagePolicyRow, { used }: PolicyEntity): 'active' | 'exhausted' => (used >= creditLimit ? 'exhausted' : 'active');

export async function* entitiesOf({ services }: ControlContext, row: UsagePolicyRow): AsyncGenerator<PolicyEntity> {
  if (services.spend === undefined) return;
  let entities = 0;
  for await (const entity of services.spend.entitiesOf(row.id)) {
    entities += 1;
    if (entities % entitiesOfTurn === 0) await nextTurn();
    yield { ...entity, used: entity.used / countedPerUnit(row.type) };
  }
}

export const entityView = (row: UsagePolicyRow, entity: PolicyEntity): Reply => ({ id: entityIdOf(entity.valueKey), value_key: entity.valueKey, current_usage: entity.used, status: stateOf(row, entity) });

export function isWanted(row: UsagePolicyRow, entity: PolicyEntity, { status, search }: { readonly status?: string; readonly search?: string }): boolean {
  return (status === undefined || stateOf(row, entity) === status) && (search === undefined || entity.valueKey.toLowerCase().includes(search.toLowerCase()));
}

export async function usageMap(context: ControlContext, row: UsagePolicyRow): Promise<Reply> {
  const shown: [string, unknown][] = [];
  for await (const entity of entitiesOf(context, row)) {
    const { used, valueKey, isThresholdTold, isExhaustedTold } = entity;
    shown.push([valueKey, { current_usage: used, status: stateOf(row, entity), is_threshold_alerts_sent: isThresholdTold, is_exhausted_alerts_sent: isExhaustedTold }]);
    if (shown.length === mapMax) break;
  }
  return Object.fromEntries(shown);
}

/** Once the call is written, it counts from 0, whether it had counted anything or not. Throws REFERENCE_UNKNOWN for a value key that none of its calls can have. */
export function resetValue({ services, afterCommit }: ControlContext, row: UsagePolicyRow, valueKey: string, param: string): void {
  if (!isValueKey(row.groupBy, valueKey)) throw fail('REFERENCE_UNKNOWN', { param, kind: 'entity', id: valueKey.slice(0, idCharsShown) });
  afterCommit.push(() => services.spend?.reset(policyCounterKey(row.id, valueKey, null)));
}

/** Throws ROW_UNKNOWN. */
export function resetEntity(context: ControlContext, row: UsagePolicyRow, entityId: string): void {
  const valueKey = valueKeyOf(entityId);
  if (!isValueKey(row.groupBy, valueKey)) throw fail('ROW_UNKNOWN', { kind: 'entity', id: entityId.slice(0, idCharsShown) });
  resetValue(context, row, valueKey, 'entityId');
}
