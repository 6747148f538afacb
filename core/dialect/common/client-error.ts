// An error -> what the client reads. The one place where an error becomes bytes; shapes by dialect.

import { isGatewayError, type GatewayError } from '../../errors/gateway-error.js';

export type Dialect = 'chat' | 'messages' | 'responses';

/** An error as a client is told of it: the gateway's own, or a provider's in the words of the provider. */
export interface ClientError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

const told = (error: GatewayError | ClientError): ClientError => (isGatewayError(error)
  ? { status: error.status, message: error.message, type: error.type, param: error.param, code: error.code.toLowerCase() }
  : error);

/** The body of an error answer. Chat and responses share OpenAI's shape, messages has Anthropic's. */
export function errorBody(given: GatewayError | ClientError, dialect: Dialect): string {
  const error = told(given);
  if (dialect === 'messages') {
    return JSON.stringify({ type: 'error', error: { type: anthropicType(error.status), message: error.message } });
  }
  return JSON.stringify({ error: { message: error.message, type: error.type, param: error.param, code: error.code } });
}

/**
 * An error event for a stream that has begun: what the dialect's own clients understand as a failure. `isMidEvent`: the bytes sent so far
 * end inside an event, which is closed first. `sequence` numbers the event where events are numbered, as far as that is known. `hookResults`
 * stand beside the error when there are any.
 */
export function errorEvent(given: GatewayError | ClientError, dialect: Dialect, isMidEvent: boolean, sequence = 0, hookResults?: unknown): string {
  const error = told(given);
  const close = isMidEvent ? '\n\n' : '';
  const results = hookResults === undefined ? '' : `,"hook_results":${JSON.stringify(hookResults)}`;
  const body = errorBody(error, dialect);
  const withResults = `${body.slice(0, -1)}${results}}`;
  switch (dialect) {
    case 'chat': return `${close}data: ${withResults}\n\n`;
    case 'messages': return `${close}event: error\ndata: ${withResults}\n\n`;
    case 'responses': {
      const data = { type: 'error', code: error.code, message: error.message, param: error.param, sequence_number: sequence, ...(hookResults === undefined ? {} : { hook_results: hookResults }) };
      return `${close}event: error\ndata: ${JSON.stringify(data)}\n\n`;
    }
  }
}

/** Error types of Anthropic's API, by status. */
function anthropicType(status: number): string {
  switch (status) {
    case 400: return 'invalid_request_error';
    case 401: return 'authentication_error';
    case 402: return 'billing_error';
    case 403: return 'permission_error';
    case 404: return 'not_found_error';
    case 413: return 'request_too_large';
    case 429: return 'rate_limit_error';
    case 504: return 'timeout_error';
    case 503: case 529: return 'overloaded_error';
    default: return status < 500 ? 'invalid_request_error' : 'api_error';
  }
}
