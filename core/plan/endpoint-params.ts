// The `params` of an endpoint, compiled at its first use and remembered with the spec.

import type { EndpointSpec } from '@gateway/plugin-sdk';
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

const compile = (given: NonNullable<EndpointSpec['params']>): EndpointParams => ({
  rules: Object.entries(given).map(([name, rule]) => ({
    name,
    rule,
    insert: rule.default === undefined ? null : { kind: 'default', name, value: encoder.encode(JSON.stringify(rule.default)) },
    rename: rule.rename === undefined ? null : { kind: 'rename', from: name, to: rule.rename },
    remove: { kind: 'remove', name },
    without: (rule.without ?? []).map((value) => JSON.stringify(value)),
  })),
});
