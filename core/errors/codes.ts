// The table of every error the gateway itself can answer with. Codes are never reused.
// `message` is a template: {name} is filled from the details given to fail(). Lower case, no full stop, says what to do.

export type ErrorSource = 'client' | 'gateway' | 'upstream' | 'plugin';

export interface ErrorEntry {
  readonly status: number;
  readonly source: ErrorSource;
  /** May the same call succeed when sent again, to this or another target? */
  readonly retryable: boolean;
  /** The `type` member of the answer. */
  readonly type: string;
  readonly message: string;
}

const client = (status: number, type: string, message: string): ErrorEntry => ({ status, source: 'client', retryable: false, type, message });

export const errorCodes = {
  // Request head
  HEADER_INVALID: client(400, 'invalid_request_error', 'header {name}: {reason}'),
  LENGTH_REPEATED: client(400, 'invalid_request_error', 'content-length is given more than once; send it once'),
  TRANSFER_ENCODING_UNKNOWN: client(400, 'invalid_request_error', 'transfer-encoding must be chunked'),
  PATH_INVALID: client(400, 'invalid_request_error', 'path: {reason}'),
  ROUTE_UNKNOWN: client(404, 'not_found_error', 'no route for {method} {path}; inference paths begin with /v1/'),
  METHOD_NOT_ALLOWED: client(405, 'invalid_request_error', 'method {method} is not handled here; use {allowed}'),
  HEADERS_TOO_LARGE: client(431, 'invalid_request_error', 'request headers are larger than {maximum} bytes'),
  METRICS_OFF: client(404, 'not_found_error', 'no exporter has metrics; add prometheus to the setting exporters'),
  METRICS_UNAVAILABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the metrics could not be brought together: {reason}' },
  // Request body
  BODY_TOO_LARGE: client(413, 'invalid_request_error', 'request body is larger than {maximum} bytes'),
  BODY_TIMEOUT: client(408, 'timeout_error', 'the request body did not arrive within {timeoutMs} ms of the last byte'),
  BODY_TOO_SLOW: client(408, 'timeout_error', 'the request body took longer than {deadlineMs} ms with less than {bytesPerSecond} bytes a second; send it faster, or in parts'),
  BODY_TOO_DEEP: client(400, 'invalid_request_error', 'request body nests objects and lists deeper than {maximum} levels'),
  BODY_NOT_JSON: client(400, 'invalid_request_error', 'request body is not valid JSON: {reason}'),
  BODY_NOT_UTF8: client(400, 'invalid_request_error', 'request body is not valid UTF-8'),
  BODY_INVALID: client(400, 'invalid_request_error', '{param}: {reason}'),
  CONTENT_TYPE_INVALID: client(400, 'invalid_request_error', 'content-type must be {expected} on this route'),
  // Identity
  KEY_MISSING: client(401, 'authentication_error', 'no gateway API key; send it as x-gateway-api-key'),
  KEY_INVALID: client(401, 'authentication_error', 'the gateway API key is not valid; check x-gateway-api-key'),
  TOKEN_INVALID: client(401, 'authentication_error', 'the token is not valid: {reason}'),
  TOKEN_WORKSPACE_UNKNOWN: client(403, 'permission_error', 'the token is for the workspace {id}, which is not there in its organisation, or was made after the token'),
  TOKENS_UNVERIFIABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'tokens cannot be verified now: {reason}; try again' },
  SCOPE_MISSING: client(403, 'permission_error', 'this API key lacks the scope {scope}'),
  ROLE_MISSING: client(403, 'permission_error', 'the person behind this call is {role} here, and that role does not include the scope {scope}'),
  SESSION_INVALID: client(401, 'authentication_error', 'you are not signed in any more; sign in again at /auth/login'),
  CALL_CROSS_SITE: client(403, 'permission_error', 'a call with the cookie of a session that changes something must come from the own pages of the gateway; send the header x-gateway-csrf from them'),
  SIGN_IN_OFF: client(404, 'not_found_error', 'nobody can sign in here: {reason}'),
  SIGN_IN_FAILED: client(401, 'authentication_error', 'the sign-in failed: {reason}; begin again at /auth/login'),
  SIGN_IN_REFUSED: client(403, 'permission_error', 'you may not sign in: {reason}'),
  ISSUER_UNAVAILABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the identity provider could not be asked: {reason}; try again' },
  KEY_WITHOUT_WORKSPACE: client(403, 'permission_error', 'an organisation key administers and makes no calls to models; use a key of a workspace'),
  WORKSPACE_INACTIVE: client(403, 'permission_error', 'the workspace of this API key is archived or removed'),
  // Control plane
  FIELD_INVALID: client(400, 'invalid_request_error', '{param} {reason}'),
  WORKSPACE_MISSING: client(400, 'invalid_request_error', 'workspace_id: is required with an organisation key; give the id or slug of a workspace'),
  WORKSPACE_FOREIGN: client(403, 'permission_error', '{kind} {id} belongs to another workspace or organisation'),
  LINK_INVALID: client(403, 'permission_error', 'this link is not valid, or not any more; ask for a new one where this one came from'),
  ACTION_FORBIDDEN: client(403, 'permission_error', 'not allowed: {reason}'),
  REFERENCE_UNKNOWN: client(404, 'not_found_error', '{param}: there is no {kind} {id}'),
  ROW_UNKNOWN: client(404, 'not_found_error', 'there is no {kind} {id}'),
  ROW_EXISTS: client(409, 'conflict_error', '{param}: there is a {kind} {id} already; choose another'),
  ROW_IN_USE: client(409, 'conflict_error', '{kind} {id} is in use by {users}; {advice}'),
  ACTION_UNTIMELY: client(409, 'conflict_error', 'not now: {reason}'),
  DECLARATION_INVALID: client(400, 'invalid_request_error', '{reason}'),
  SECRET_REFERENCE_USED: client(400, 'invalid_request_error', 'the secret reference {slug} is mapped by {users}; take it out there first'),
  IDEMPOTENCY_KEY_USED: client(409, 'conflict_error', 'idempotency-key was sent before with another query or body; choose a new one'),
  VERSION_STALE: client(412, 'conflict_error', '{kind} {id} was changed since it was read; read it again'),
  CONTROL_BUSY: client(429, 'rate_limit_error', 'too many control calls ({maximum} {unit}); try again in {seconds} s'),
  CONTROL_UNAVAILABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the control plane gave no answer: {reason}' },
  LOGS_UNAVAILABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the log cannot be read or written now: {reason}' },
  STORAGE_REFUSED: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'nothing was changed: the storage took no write ({reason})' },
  // Limits
  KEY_RATE_LIMITED: client(429, 'rate_limit_exceeded', 'the API key {name} allows {maximum} {counted} a {window}, and {advice}'),
  PROVIDER_RATE_LIMITED: client(429, 'rate_limit_exceeded', 'the stored provider {name} allows {maximum} {counted} a {window}, and {advice}'),
  INTEGRATION_RATE_LIMITED: client(429, 'rate_limit_exceeded', 'the integration {name} allows this workspace {maximum} {counted} a {window}, and {advice}'),
  WORKSPACE_RATE_LIMITED: client(429, 'rate_limit_exceeded', 'the workspace {name} allows {maximum} {counted} a {window}, and {advice}'),
  POLICY_RATE_LIMITED: client(429, 'rate_limit_exceeded', 'the policy {name} allows {maximum} {counted} a {window}, and {advice}'),
  KEY_BUDGET_USED: client(412, 'usage_limit_exceeded', 'the API key {name} may use {maximum} {counted}{span}, and {left} left; this call needs {needed}; {advice}'),
  PROVIDER_BUDGET_USED: client(412, 'usage_limit_exceeded', 'the stored provider {name} may use {maximum} {counted}{span}, and {left} left; this call needs {needed}; {advice}'),
  INTEGRATION_BUDGET_USED: client(412, 'usage_limit_exceeded', 'this workspace may use {maximum} {counted} of the integration {name}{span}, and {left} left; this call needs {needed}; {advice}'),
  WORKSPACE_BUDGET_USED: client(412, 'usage_limit_exceeded', 'the workspace {name} may use {maximum} {counted}{span}, and {left} left; this call needs {needed}; {advice}'),
  POLICY_BUDGET_USED: client(412, 'usage_limit_exceeded', 'the policy {name} allows {maximum} {counted}{span}, and {left} left; this call needs {needed}; {advice}'),
  LIMITS_FULL: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'there is no room to count the {level} limit {name}: the workspace has as many of the {maximum} counters as it may, or all are in use; raise GATEWAY_LIMIT_COUNTERS' },
  // Config and routing
  CONFIG_NOT_JSON: client(400, 'invalid_request_error', 'x-gateway-config is not valid JSON: {reason}'),
  CONFIG_INVALID: client(400, 'invalid_request_error', '{path}: {reason}'),
  CONFIG_UNKNOWN: client(404, 'not_found_error', 'there is no stored config {slug} in this workspace; list them with GET /v1/configs, or send the config itself, as JSON'),
  GUARDRAIL_UNKNOWN: client(404, 'not_found_error', '{param}: there is no stored guardrail {slug} in this workspace or its organisation; list them with GET /v1/guardrails'),
  CONFIG_OVERRIDE_NOT_ALLOWED: client(400, 'invalid_request_error', 'this API key has its config, and calls with it may bring no other; leave x-gateway-config out'),
  INLINE_CONFIG_BLOCKED: client(400, 'invalid_request_error', 'this organisation takes stored configs only; give the slug of one as x-gateway-config'),
  INLINE_PROVIDER_BLOCKED: client(400, 'invalid_request_error', 'this organisation takes stored providers only; give one as @slug'),
  INLINE_PROVIDER_URL_BLOCKED: client(400, 'invalid_request_error', 'this organisation takes no addresses as providers; give a stored provider as @slug'),
  INLINE_CUSTOM_HOST_BLOCKED: client(400, 'invalid_request_error', 'this organisation takes custom hosts of stored providers only; leave it out'),
  INLINE_FORWARD_HEADERS_BLOCKED: client(400, 'invalid_request_error', 'this organisation takes forward_headers of stored configs only; leave them out'),
  ROUTING_MISSING: client(400, 'invalid_request_error', 'no provider to route to; send x-gateway-config, x-gateway-provider, or a model such as @slug/model'),
  PROVIDER_UNKNOWN: client(400, 'invalid_request_error', 'unknown provider {provider}; {advice}'),
  PROMPT_UNKNOWN: client(404, 'not_found_error', 'there is no prompt {id} in this workspace; list them with GET /v1/prompts'),
  PROMPT_VERSION_UNKNOWN: client(404, 'not_found_error', 'prompt {id} has no version or label {version}; list them with GET /v1/prompts/{id}/versions'),
  PROMPT_NOT_RENDERED: client(400, 'invalid_request_error', 'prompt {id} cannot be rendered: {reason}'),
  PROVIDER_SLUG_UNKNOWN: client(404, 'not_found_error', 'there is no stored provider {slug} in this workspace; list them with GET /v1/providers'),
  PROVIDER_INACTIVE: client(403, 'permission_error', 'the stored provider {slug} is {state}'),
  PROVIDER_EXHAUSTED: client(412, 'usage_limit_exceeded', 'the stored provider {slug} has used up its budget'),
  MODEL_NOT_ALLOWED: client(403, 'model_not_allowed', 'the stored provider {slug} may not be used for the model {model}'),
  MODEL_UNKNOWN: client(404, 'not_found_error', 'there is no model {model} that this API key may use; list them with GET /v1/models'),
  PROVIDER_KEY_MISSING: client(401, 'authentication_error', 'provider {provider} needs an API key; send it as Authorization: Bearer, or as api_key in the config'),
  CREDENTIAL_INVALID: client(400, 'invalid_request_error', 'provider {provider}: {param}: {reason}'),
  CREDENTIAL_REFUSED: client(401, 'authentication_error', 'provider {provider} gave no token: {reason}'),
  CREDENTIAL_MISSING: client(400, 'invalid_request_error', 'provider {provider} needs {name}; give it in the config target'),
  CUSTOM_HOST_MISSING: client(400, 'invalid_request_error', 'provider {provider} has no address of its own; give x-gateway-custom-host or custom_host'),
  CUSTOM_HOST_INVALID: client(400, 'invalid_request_error', 'custom host: {reason}'),
  ENDPOINT_UNSUPPORTED: client(400, 'invalid_request_error', 'provider {provider} does not offer {endpoint}; use /v1/proxy{path} to reach its own API'),
  RESPONSE_UNKNOWN: client(404, 'not_found_error', 'no stored response {id}; it was deleted, is too old, or was made in another workspace'),
  RESPONSE_FINISHED: client(400, 'invalid_request_error', 'response {id} is not running in the background, so it cannot be cancelled'),
  NO_TARGET: client(400, 'invalid_request_error', 'the strategy of {path} chose no target: {reason}'),
  TARGETS_TOO_MANY: client(400, 'invalid_request_error', 'calls to {endpoint} take a config with exactly one target'),
  SECRET_UNAVAILABLE: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the secret reference {slug} of the stored provider gave no value: {reason}' },
  // Hooks
  HOOKS_FAILED: client(446, 'hooks_failed', 'the guardrail checks defined in the config failed; hook_results has the details'),
  // Upstream
  EGRESS_REFUSED: client(403, 'egress_refused', 'refused to connect to {host}: {reason}'),
  ATTEMPT_TIMEOUT: { status: 408, source: 'upstream', retryable: true, type: 'timeout_error', message: 'the request exceeded the timeout of {timeoutMs} ms' },
  UPSTREAM_UNREACHABLE: { status: 502, source: 'upstream', retryable: true, type: 'upstream_error', message: 'could not reach {host}: {reason}' },
  UPSTREAM_RESET: { status: 502, source: 'upstream', retryable: true, type: 'upstream_error', message: 'the connection to {provider} broke before the answer began: {reason}' },
  UPSTREAM_BROKE: { status: 502, source: 'upstream', retryable: false, type: 'upstream_error', message: 'the answer of {provider} broke off before its end: {reason}' },
  UPSTREAM_IDLE: { status: 504, source: 'upstream', retryable: false, type: 'timeout_error', message: '{provider} sent nothing for {timeoutMs} ms' },
  UPSTREAM_INVALID: { status: 502, source: 'upstream', retryable: true, type: 'upstream_error', message: '{provider} answered with something that is not HTTP or not the documented shape: {reason}' },
  UPSTREAM_FAILED: { status: 502, source: 'upstream', retryable: false, type: 'upstream_error', message: '{provider} failed: {reason}' },
  UPSTREAM_TOO_LARGE: { status: 502, source: 'upstream', retryable: false, type: 'upstream_error', message: 'the answer of {provider} is larger than {maximum} bytes and this route has to hold it whole' },
  UPSTREAM_BUSY: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'too many open connections to {host} ({maximum}); try again' },
  LOOKUPS_BUSY: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'could not look up {host}: {maximum} other host names are still being looked up for this caller; try again' },
  // Gateway
  PLUGIN_FAILED: { status: 500, source: 'plugin', retryable: true, type: 'plugin_error', message: 'plugin {plugin} failed: {reason}' },
  PLUGIN_INVALID: { status: 500, source: 'plugin', retryable: false, type: 'plugin_error', message: 'plugin {plugin}: {reason}' },
  LEDGER_UNWRITTEN: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'what the call may spend could not be written down: {reason}; try again' },
  SHUTTING_DOWN: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'the gateway is shutting down; send the request again' },
  BODY_NO_ROOM: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'no room for a request body of {bytes} bytes: other calls hold too much of {maximum} bytes; try again' },
  OVERLOADED: { status: 503, source: 'gateway', retryable: true, type: 'overloaded_error', message: 'too many open requests ({maximum}); try again' },
  INTERNAL: { status: 500, source: 'gateway', retryable: false, type: 'internal_error', message: 'internal error; the gateway log has it under request {id}' },
  // Start-up: never answered over HTTP
  SETTINGS_INVALID: { status: 500, source: 'gateway', retryable: false, type: 'startup_error', message: '{reason}' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCodes;
