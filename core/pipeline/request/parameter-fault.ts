// Runs when a provider says that a parameter is at fault while its path is made.

import { pathSegment } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import { parameterPath } from '../../plan/parameter-path.js';
import type { TargetPlan } from '../../plan/plan.js';

/** The client's error, which names the member of the config or the body; undefined when something else was thrown. */
export function parameterFault(thrown: unknown, target: TargetPlan): GatewayError | undefined {
  if (isGatewayError(thrown)) return thrown;
  const param = parameterPath(thrown);
  if (param === undefined) return undefined;
  const { id: provider, credentialNames } = target.provider;
  const reason = reasonOf(thrown);
  return param === 'api_key' || credentialNames.includes(param) ? fail('CREDENTIAL_INVALID', { provider, param, reason }) : fail('BODY_INVALID', { param, reason: `${provider}: ${reason}` });
}

/** `value` as it may stand in a path or a query. Throws the client's error. */
export function checkedSegment(value: string, name: string, target: TargetPlan): string {
  try {
    return pathSegment(value, name);
  } catch (thrown) {
    throw parameterFault(thrown, target) ?? thrown;
  }
}
