// A config as clients write it: wire names, recursive. Types only; validate.ts is what makes an unknown value a Config, and plan/ turns
// these names into plan fields once. Section "Config object" of the service specification, plus three accepted extensions that are
// marked as such.

import type { Json } from '@gateway/plugin-sdk';

/** A JSON object whose members the gateway doesn't name. */
export type JsonObject = Readonly<Record<string, Json>>;

/** A whole config, or one of its targets: both follow the same schema. */
export interface Config extends Credentials {
  readonly strategy?: StrategyConfig;
  readonly targets?: readonly Config[];
  readonly name?: string;
  readonly strict_reference_compliance?: boolean;
  /** Extension: what becomes of parameters that the provider cannot take; absent: hints are left out, the rest is refused. */
  readonly unsupported_params?: 'refuse' | 'omit';
  /** A provider name, or `@slug` of the workspace's catalogue. */
  readonly provider?: string;
  readonly api_key?: string;
  readonly virtual_key?: string;
  readonly prompt_id?: string;
  readonly override_params?: JsonObject;
  /** Extension: parameters set only where the request has none. */
  readonly default_params?: JsonObject;
  /** Extension: dotted paths of parameters to remove, with `[n]` and `[*]`. */
  readonly drop_params?: readonly string[];
  /** Milliseconds to the first byte of one attempt. */
  readonly request_timeout?: number;
  readonly cache?: CacheConfig;
  readonly retry?: RetryConfig;
  readonly cb_config?: BreakerConfig;
  readonly weight?: number;
  /** Accepted and without effect: only `strategy.on_status_codes` counts. */
  readonly on_status_codes?: readonly number[];
  readonly custom_host?: string;
  readonly passthrough?: boolean;
  readonly forward_headers?: readonly string[];
  readonly before_request_hooks?: readonly HookConfig[];
  readonly after_request_hooks?: readonly HookConfig[];
  readonly input_guardrails?: readonly (string | GuardrailConfig)[];
  readonly output_guardrails?: readonly (string | GuardrailConfig)[];
  /** Extensions: as the guardrails, of type mutator. */
  readonly input_mutators?: readonly (string | GuardrailConfig)[];
  readonly output_mutators?: readonly (string | GuardrailConfig)[];
}

/** Credentials and addresses of single providers. */
export interface Credentials {
  readonly resource_name?: string;
  readonly deployment_id?: string;
  readonly api_version?: string;
  readonly deployments?: readonly Deployment[];
  readonly vendor_organization?: string;
  readonly vendor_project?: string;
  readonly cloud1_access_key_id?: string;
  readonly cloud1_secret_access_key?: string;
  readonly cloud1_region?: string;
  readonly cloud1_session_token?: string;
  readonly cloud2_project_id?: string;
  readonly cloud2_region?: string;
  readonly cloud2_service_account_json?: JsonObject;
  readonly cloud3_region?: string;
  readonly cloud3_deployment_name?: string;
  readonly cloud3_deployment_type?: 'serverless' | 'managed';
  readonly cloud3_endpoint_name?: string;
  readonly cloud3_api_version?: string;
  readonly cloud3_entra_scope?: string;
  /** Extensions: application credentials for tokens of cloud 3, or a token that the caller got itself. */
  readonly cloud3_entra_tenant_id?: string;
  readonly cloud3_entra_client_id?: string;
  readonly cloud3_entra_client_secret?: string;
  readonly cloud3_ad_token?: string;
}

export interface Deployment {
  readonly deployment_id: string;
  readonly alias: string;
  readonly api_version: string;
  readonly is_default?: boolean;
}

/** Members beyond these belong to strategies of third parties (dotted modes), whose own schemas check them. */
export interface StrategyConfig {
  readonly mode: string;
  readonly conditions?: readonly ConditionConfig[];
  readonly default?: string;
  readonly on_status_codes?: readonly number[];
  /** Extension. */
  readonly sticky?: StickyConfig;
}

export interface ConditionConfig {
  readonly query: JsonObject;
  readonly then: string;
}

export interface StickyConfig {
  readonly enabled?: boolean;
  readonly hash_fields?: readonly string[];
  /** Seconds. */
  readonly ttl?: number;
}

/** Members beyond these are parameters of the cache mode, whose own schema checks them. */
export interface CacheConfig {
  readonly mode: string;
  /** Seconds. */
  readonly max_age?: number;
  /** Extension: identical requests in flight share one upstream call. */
  readonly share_in_flight?: boolean;
  readonly [parameter: string]: unknown;
}

export interface RetryConfig {
  readonly attempts: number;
  readonly use_retry_after_headers?: boolean;
  /** An empty list retries no status. */
  readonly on_status_codes?: readonly number[];
}

export interface BreakerConfig {
  readonly failure_threshold: number;
  /** Milliseconds. */
  readonly cooldown_interval: number;
  readonly failure_status_codes?: readonly number[];
}

export interface Feedback {
  readonly value?: number;
  readonly weight?: number;
  readonly metadata?: JsonObject;
}

export interface FeedbackAction {
  readonly feedback?: Feedback;
}

/** `deny` in an action is another way to write the hook's own. */
export interface DenyingAction extends FeedbackAction {
  readonly deny?: boolean;
}

export interface CheckConfig {
  readonly id: string;
  readonly parameters: JsonObject;
  /** Extensions. */
  readonly name?: string;
  readonly is_enabled?: boolean;
}

/** Members beyond these are parameters of the hook type (`deny`, `sequential` ...), whose own schema checks them. */
export interface HookConfig {
  readonly id: string;
  readonly type?: string;
  readonly async?: boolean;
  readonly on_fail?: DenyingAction;
  readonly on_success?: DenyingAction;
  readonly guardrail_version_id?: string;
  /** Extension: who is denied gets an answer of status 200 that says so. */
  readonly soft_deny_200?: boolean;
  readonly checks?: readonly CheckConfig[];
  readonly [parameter: string]: unknown;
}

/** The short form of a hook: every member that is not the hook's is a check, by its id, and its parameters as an object. */
export interface GuardrailConfig {
  readonly id?: string;
  readonly type?: string;
  readonly deny?: boolean;
  readonly async?: boolean;
  readonly soft_deny_200?: boolean;
  readonly on_fail?: DenyingAction;
  readonly on_success?: DenyingAction;
  readonly [check: string]: unknown;
}
