// The shapes that every operation answers in: errors in one form that clients of either old one understand, lists, times.

import { isGatewayError, type GatewayError } from '../errors/gateway-error.js';
import type { ErrorCode } from '../errors/codes.js';

/** The error codes that control-plane clients know, by status; `AB02` is a 404 for something that the body names. */
const codesByStatus: Readonly<Record<number, string>> = { 400: 'AB01', 405: 'AB01', 401: 'AB05', 403: 'AB03', 404: 'AB08', 409: 'AB07', 412: 'AB07', 413: 'AB01', 429: 'AB06' };
const codesByName: { readonly [C in ErrorCode]?: string } = { REFERENCE_UNKNOWN: 'AB02' };

export const controlCode = (error: GatewayError): string => codesByName[error.code] ?? codesByStatus[error.status] ?? 'AB04';

export function errorReply(thrown: unknown): { readonly status: number; readonly body: string } {
  const error = isGatewayError(thrown) ? thrown : undefined;
  const status = error?.status ?? 500;
  const message = error?.message ?? 'internal error; the gateway log has it';
  const code = error === undefined ? 'AB04' : controlCode(error);
  return {
    status,
    body: JSON.stringify({
      success: false, status: 'failure', message, data: { message, errorCode: code },
      error: { message, type: error?.type ?? 'internal_error', code, param: error?.param ?? null },
    }),
  };
}

export const listReply = (total: number, data: readonly unknown[], extra: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> =>
  ({ object: 'list', total, data, ...extra });

/** ISO 8601 in UTC with milliseconds. */
export const time = (ms: number): string => new Date(ms).toISOString();
export const timeOrNull = (ms: number | null): string | null => (ms === null ? null : time(ms));
