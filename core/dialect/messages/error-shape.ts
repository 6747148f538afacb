// Runs for errors that a client of Anthropic's API gets.

import { isObject, type JsonObject } from '@gateway/plugin-sdk';
import { withHookResults } from '../chat/error-shape.js';
import type { ClientError } from '../dialect.js';

export const messageErrorBody = (error: ClientError): string =>
  JSON.stringify({ type: 'error', error: { type: errorType(error), message: error.message } });

export const messageErrorEvent = (error: ClientError, _sequence: number, hookResults: unknown): string =>
  `event: error\ndata: ${withHookResults(messageErrorBody(error), hookResults)}\n\n`;

export const isMessageErrorBody = ({ type, error }: JsonObject): boolean =>
  type === 'error' && isObject(error) && typeof error.message === 'string' && typeof error.type === 'string';

/** Error types of Anthropic's API, by status; a budget that is used up is a matter of billing there. */
function errorType({ status, type }: ClientError): string {
  if (type === 'usage_limit_exceeded') return 'billing_error';
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
