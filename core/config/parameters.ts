// What a target takes over from the configs around it. Pure; runs when a config is compiled. `provider`, keys and credentials, `weight`
// and `name` are never inherited: a parent's secret must not reach a provider that the parent did not name.

import type { BreakerConfig, CacheConfig, Config, GuardrailConfig, HookConfig, JsonObject, RetryConfig } from './config.js';

/** Everything a config hands on to its targets; undefined where nobody on the way down said anything. */
export interface Inherited {
  readonly override_params: JsonObject | undefined;
  readonly default_params: JsonObject | undefined;
  readonly drop_params: readonly string[];
  readonly retry: RetryConfig | undefined;
  readonly cache: CacheConfig | undefined;
  readonly cb_config: BreakerConfig | undefined;
  readonly request_timeout: number | undefined;
  readonly custom_host: string | undefined;
  readonly forward_headers: readonly string[] | undefined;
  readonly strict_reference_compliance: boolean | undefined;
  readonly unsupported_params: 'refuse' | 'omit' | undefined;
  readonly before_request_hooks: readonly HookConfig[] | undefined;
  readonly input_guardrails: readonly (string | GuardrailConfig)[] | undefined;
  readonly input_mutators: readonly (string | GuardrailConfig)[] | undefined;
  readonly after_request_hooks: readonly HookConfig[] | undefined;
  readonly output_guardrails: readonly (string | GuardrailConfig)[] | undefined;
  readonly output_mutators: readonly (string | GuardrailConfig)[] | undefined;
}

/** The values that the root of a config inherits. */
export const noInheritance: Inherited = Object.freeze({
  override_params: undefined,
  default_params: undefined,
  drop_params: Object.freeze([]),
  retry: undefined,
  cache: undefined,
  cb_config: undefined,
  request_timeout: undefined,
  custom_host: undefined,
  forward_headers: undefined,
  strict_reference_compliance: undefined,
  unsupported_params: undefined,
  before_request_hooks: undefined,
  input_guardrails: undefined,
  input_mutators: undefined,
  after_request_hooks: undefined,
  output_guardrails: undefined,
  output_mutators: undefined,
});

/** Shallow: a member of `own` replaces the parent's of that name whole. */
export function mergeParameters(parent: JsonObject | undefined, own: JsonObject | undefined): JsonObject | undefined {
  if (parent === undefined) return own;
  return own === undefined ? parent : Object.freeze({ ...parent, ...own });
}

/** The values for `config` itself and, unless they say otherwise, for its targets. */
export function inherit(parent: Inherited, config: Config): Inherited {
  // Hooks and guardrails of one side are one list to the client, so any of a target's own replaces all of the parent's on that side.
  const before = [config.before_request_hooks, config.input_guardrails, config.input_mutators].some(hasItems) ? config : parent;
  const after = [config.after_request_hooks, config.output_guardrails, config.output_mutators].some(hasItems) ? config : parent;
  return Object.freeze({
    override_params: mergeParameters(parent.override_params, config.override_params),
    default_params: mergeParameters(parent.default_params, config.default_params),
    drop_params: config.drop_params === undefined ? parent.drop_params : Object.freeze([...new Set([...parent.drop_params, ...config.drop_params])]),
    retry: config.retry ?? parent.retry,
    cache: config.cache ?? parent.cache,
    cb_config: config.cb_config ?? parent.cb_config,
    // 0 and the empty string say nothing.
    request_timeout: config.request_timeout || parent.request_timeout,
    custom_host: config.custom_host || parent.custom_host,
    // An empty list is an answer: forward none.
    forward_headers: config.forward_headers ?? parent.forward_headers,
    strict_reference_compliance: config.strict_reference_compliance ?? parent.strict_reference_compliance,
    unsupported_params: config.unsupported_params ?? parent.unsupported_params,
    before_request_hooks: before.before_request_hooks,
    input_guardrails: before.input_guardrails,
    input_mutators: before.input_mutators,
    after_request_hooks: after.after_request_hooks,
    output_guardrails: after.output_guardrails,
    output_mutators: after.output_mutators,
  });
}

const hasItems = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0;
