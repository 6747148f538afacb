// The JSON Schema of a config. Compiled once by validate.ts at its first use, never for a call. `reason` and `typeReason` are our own
// annotations: what explain.ts tells the client where the keyword's own wording would not help (typeReason: for `type`). Rules across members (property sets, exclusions, caps on targets)
// are in rules.ts, because a schema's anyOf can only answer with noise.

import { timerMsMax } from '../settings/timer-limit.js';

const statusCodes = { type: 'array', items: { type: 'integer', minimum: 100, maximum: 599 } } as const;
const filled = { type: 'string', minLength: 1 } as const;

/** These become parts of URLs, signatures and log lines. */
const plainText = {
  type: 'string',
  minLength: 1,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  reason: 'must be text without line breaks or other control characters, and not empty',
} as const;

/** These become values of outgoing headers. */
const headerText = {
  type: 'string',
  minLength: 1,
  pattern: '^[\\u0020-\\u007e\\u0080-\\u00ff]*$',
  reason: 'must be text that fits in a header (no line breaks, no other control characters, nothing beyond Latin-1), and not empty',
} as const;

const segment = '[^.\\[\\]]+(?:\\[(?:\\d{1,6}|\\*)\\])*';
const parameterPath = {
  type: 'string',
  pattern: `^${segment}(?:\\.${segment})*$`,
  reason: 'must be a dotted path of a request parameter, such as user, messages[0].name or tools[*].function.strict',
} as const;

const headerName = {
  type: 'string',
  pattern: "^ *[!#$%&'*+.^_`|~0-9A-Za-z-]+ *$",
  reason: 'must be the name of a header',
} as const;

const feedback = {
  type: 'object',
  additionalProperties: false,
  properties: { value: { type: 'number' }, weight: { type: 'number' }, metadata: { type: 'object' } },
} as const;
const action = { type: 'object', additionalProperties: false, properties: { feedback, deny: { type: 'boolean' } } } as const;

const checks = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'parameters'],
    properties: { id: filled, parameters: { type: 'object' }, name: { type: 'string' }, is_enabled: { type: 'boolean' } },
  },
} as const;

/** Further members are parameters of the hook's type, which its own schema checks when the config is compiled. */
export const hookMembers = {
  id: filled, type: filled, async: { type: 'boolean' }, on_fail: action, on_success: action, checks, guardrail_version_id: { type: 'string' },
  soft_deny_200: { type: 'boolean' },
} as const;
const hook = { type: 'object', required: ['id'], properties: hookMembers } as const;

const guardrailEntry = {
  type: ['string', 'object'],
  minLength: 1,
  properties: {
    id: { type: 'string' }, type: filled, deny: { type: 'boolean' }, async: { type: 'boolean' }, sequential: { type: 'boolean' },
    on_fail: action, on_success: action, guardrail_version_id: { type: 'string' }, soft_deny_200: { type: 'boolean' },
  },
  // A check: its id, and its parameters.
  additionalProperties: { type: 'object', typeReason: 'is taken for a check, whose value must be an object with its parameters' },
} as const;

export const strategyMembers = {
  mode: { ...filled, maxLength: 130 },
  conditions: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['query', 'then'],
      properties: { query: { type: 'object' }, then: { type: 'string' } },
    },
  },
  default: { type: 'string' },
  on_status_codes: statusCodes,
  sticky: {
    type: 'object',
    additionalProperties: false,
    properties: {
      enabled: { type: 'boolean' },
      hash_fields: { type: 'array', items: { type: 'string' } },
      ttl: { type: 'integer', minimum: 1 },
    },
  },
} as const;

const strategy = {
  type: 'object',
  required: ['mode'],
  // Strategies of third parties have dotted modes and members of their own, which their own schemas check when the config is compiled.
  if: { required: ['mode'], properties: { mode: { type: 'string', pattern: '\\.' } } },
  then: { properties: strategyMembers },
  else: { properties: strategyMembers, additionalProperties: false },
} as const;

const deployment = {
  type: 'object',
  additionalProperties: false,
  required: ['deployment_id', 'alias', 'api_version'],
  properties: { deployment_id: plainText, alias: plainText, api_version: plainText, is_default: { type: 'boolean' } },
} as const;

/** Members that are one provider's or another's: credentials, and what says where. */
export const providerMembers = {
  resource_name: plainText,
  deployment_id: plainText,
  api_version: plainText,
  deployments: { type: 'array', items: deployment },
  vendor_organization: headerText,
  vendor_project: headerText,
  cloud1_access_key_id: headerText,
  cloud1_secret_access_key: plainText,
  cloud1_region: plainText,
  cloud1_session_token: headerText,
  cloud2_project_id: plainText,
  cloud2_region: plainText,
  cloud2_service_account_json: { type: 'object' },
  cloud3_region: plainText,
  cloud3_deployment_name: plainText,
  cloud3_deployment_type: { enum: ['serverless', 'managed'] },
  cloud3_endpoint_name: plainText,
  cloud3_api_version: plainText,
  cloud3_entra_scope: plainText,
  cloud3_entra_tenant_id: plainText,
  cloud3_entra_client_id: plainText,
  cloud3_entra_client_secret: plainText,
  cloud3_ad_token: headerText,
} as const;

/** Further members are parameters of the mode, which its own schema checks when the config is compiled. */
export const cacheMembers = { mode: filled, max_age: { type: 'integer', minimum: 0 }, share_in_flight: { type: 'boolean' } } as const;

const configMembers = {
  strategy,
  targets: { type: 'array', minItems: 1, items: { $ref: '#/$defs/config' } },
  name: { type: 'string' },
  strict_reference_compliance: { type: 'boolean' },
  unsupported_params: { enum: ['refuse', 'omit'] },
  provider: plainText,
  api_key: headerText,
  virtual_key: plainText,
  prompt_id: plainText,
  override_params: { type: 'object' },
  default_params: { type: 'object' },
  drop_params: { type: 'array', items: parameterPath },
  request_timeout: { type: 'integer', minimum: 1, maximum: timerMsMax },
  cache: { type: 'object', required: ['mode'], properties: cacheMembers },
  retry: {
    type: 'object',
    additionalProperties: false,
    required: ['attempts'],
    properties: {
      attempts: { type: 'integer', minimum: 0, maximum: 20 },
      use_retry_after_headers: { type: 'boolean' },
      on_status_codes: statusCodes,
    },
  },
  cb_config: {
    type: 'object',
    additionalProperties: false,
    required: ['failure_threshold', 'cooldown_interval'],
    properties: {
      failure_threshold: { type: 'number', minimum: 1 },
      cooldown_interval: { type: 'number', minimum: 30_000 },
      failure_status_codes: statusCodes,
    },
  },
  weight: { type: 'number', minimum: 0 },
  on_status_codes: statusCodes,
  custom_host: { type: 'string' },
  passthrough: { type: 'boolean' },
  forward_headers: { type: 'array', items: headerName },
  before_request_hooks: { type: 'array', items: hook },
  after_request_hooks: { type: 'array', items: hook },
  input_guardrails: { type: 'array', items: guardrailEntry },
  output_guardrails: { type: 'array', items: guardrailEntry },
  input_mutators: { type: 'array', items: guardrailEntry },
  output_mutators: { type: 'array', items: guardrailEntry },
  ...providerMembers,
} as const;

/** One that the gateway reads by itself, and no provider does. */
export const isGatewayMember = (name: string): boolean => isConfigMember(name) && !Object.hasOwn(providerMembers, name);
/** A member of a config by the format; others are parameters of a third party's provider. */
export const isConfigMember = (name: string): boolean => Object.hasOwn(configMembers, name);

export const configSchema = {
  $ref: '#/$defs/config',
  $defs: {
    config: {
      type: 'object',
      // Providers of third parties have dotted ids and parameters of their own, which their own schemas check when the config is compiled.
      if: { required: ['provider'], properties: { provider: { type: 'string', pattern: '^[^@.]+\\.' }, targets: false } },
      then: { properties: configMembers },
      else: { properties: configMembers, additionalProperties: false },
    },
  },
} as const;
