// The one error class. Made by fail() from the table in codes.ts; turned into an answer by to-response.ts.

import { errorCodes, type ErrorCode, type ErrorSource } from './codes.js';

const marker = Symbol.for('gateway.error');

export class GatewayError extends Error {
  readonly [marker] = true;
  readonly code: ErrorCode;
  readonly status: number;
  readonly source: ErrorSource;
  readonly retryable: boolean;
  readonly type: string;
  /** The request field or config place at fault, for `error.param`. */
  readonly param: string | null;

  constructor(code: ErrorCode, message: string, param: string | null, cause: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'GatewayError';
    const entry = errorCodes[code];
    this.code = code;
    this.status = entry.status;
    this.source = entry.source;
    this.retryable = entry.retryable;
    this.type = entry.type;
    this.param = param;
  }
}

/** Known by its marker, not its class: two copies of the module agree. */
export function isGatewayError(value: unknown): value is GatewayError {
  try {
    return typeof value === 'object' && value !== null && marker in value;
  } catch {
    return false;
  }
}

export type Details = Readonly<Record<string, string | number>> & { readonly param?: string };

/** Makes (does not throw) the error `code`. Details fill the message; `param` also becomes `error.param`. Never pass a secret or a body. */
export function fail(code: ErrorCode, details: Details = {}, cause?: unknown): GatewayError {
  const message = errorCodes[code].message.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? `{${name}}`));
  return new GatewayError(code, message, details.param ?? null, cause);
}

/** The message of anything thrown. Never throws itself: plugins throw whatever they like, and whoever asks is cleaning up. */
export function reasonOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'what was thrown cannot be read';
  }
}
