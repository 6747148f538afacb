import { isObject, type Json, type ProviderFault } from '@gateway/plugin-sdk';

/** Reads `{ type: 'error', error: { type, message, details } }`; `details.error_code` names the cause where Anthropic gives one. */
export function anthropicError(body: Json, _status: number): ProviderFault | undefined {
  if (!isObject(body) || !isObject(body.error) || typeof body.error.message !== 'string') return undefined;
  const { message, type, details } = body.error;
  const code = isObject(details) && typeof details.error_code === 'string' ? details.error_code : undefined;
  return { message, ...(typeof type === 'string' ? { type } : {}), ...(code === undefined ? {} : { code }) };
}

const statusByType: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** The HTTP status that goes with an error type, for errors inside a stream. */
export const statusOfError = (type: string | undefined): number => statusByType.get(type ?? '') ?? 502;
