// The `params` of an endpoint, compiled at its first use and remembered with the spec.

import type { EndpointSpec } from '@gateway/plugin-sdk';
import type { BodyEdit } from '../body/splice.js';
import type { EndpointParams } from './plan.js';

const encoder = new TextEncoder();
const compiled = new WeakMap<EndpointSpec, EndpointParams>();

/** Null when the endpoint takes the body as it is. */
export function endpointParams(spec: EndpointSpec): EndpointParams | null {
  if (spec.params === undefined) return null;
  let params = compiled.get(spec);
  if (params === undefined) compiled.set(spec, params = compile(spec.params));
  return params;
}

function compile(given: NonNullable<EndpointSpec['params']>): EndpointParams {
  const edits: BodyEdit[] = [];
  const checks: EndpointParams['checks'][number][] = [];
  for (const [name, rule] of Object.entries(given)) {
    if (rule.refuse !== undefined || rule.min !== undefined || rule.max !== undefined) checks.push({ name, rule });
    if (rule.default !== undefined) edits.push({ kind: 'default', name, value: encoder.encode(JSON.stringify(rule.default)) });
    if (rule.rename !== undefined) edits.push({ kind: 'rename', from: name, to: rule.rename });
  }
  return { edits, checks };
}
