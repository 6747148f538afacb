// What the audit log keeps of a call. Secrets are masked by where they stand: a member that may hold one is never written, whatever is in it.

import type { ControlContext } from './context.js';
import type { CheckedInput, ControlCall } from './control-call.js';
import type { ControlRoute } from './router.js';

/** Members whose values are never kept, at any depth. */
const secretNames = /key$|secret|token|password|credential|authorization|headers$|configurations|^config$|service_account/i;

export function auditRecord(call: ControlCall, route: ControlRoute, context: ControlContext, input: CheckedInput): Readonly<Record<string, unknown>> {
  const { caller } = context;
  return {
    timestamp: context.nowMs, method: call.method, uri: call.path, request_id: call.id, request_body: JSON.stringify(masked(input.body)), query_params: JSON.stringify(input.query),
    user_id: caller.keyId, user_type: 'api_key', organisation_id: caller.organisationId, workspace_id: caller.workspaceId || (input.workspaceId ?? null),
    response_status_code: 200, resource_type: route.resource.kind, action: route.operation.action, client_ip: call.address, details: context.auditDetails,
  };
}

export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, secretNames.test(name) && each !== null ? '[masked]' : masked(each)]));
}
