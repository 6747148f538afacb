// The shapes that every operation answers in: errors in one form that clients of either old one understand, lists, times.

import { isGatewayError, type GatewayError } from '../errors/gateway-error.js';
import type { ErrorCode } from '../errors/codes.js';
import { choice, object, orNull } from '../storage/schema-parts.js';
import { Type, type Properties, type TObject, type TSchema } from '../storage/type.js';

/** The error codes that control-plane clients know, by status; `AB02` is a 404 for something that the body names. */
const codesByStatus: Readonly<Record<number, string>> = { 400: 'AB01', 405: 'AB01', 401: 'AB05', 403: 'AB03', 404: 'AB08', 409: 'AB07', 412: 'AB07', 413: 'AB01', 429: 'AB06' };
const codesByName: { readonly [C in ErrorCode]?: string } = { REFERENCE_UNKNOWN: 'AB02' };

const controlCodes = ['AB01', 'AB02', 'AB03', 'AB04', 'AB05', 'AB06', 'AB07', 'AB08'] as const;

const controlCode = (error: GatewayError): string => codesByName[error.code] ?? codesByStatus[error.status] ?? 'AB04';

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

/** The shape of every refusal. */
export const errorSchema = named('Error', object({
  success: Type.Literal(false), status: Type.Literal('failure'), message: Type.String({ minLength: 1 }),
  data: object({ message: Type.String(), errorCode: choice(controlCodes) }),
  error: object({ message: Type.String(), type: Type.String(), code: choice(controlCodes), param: orNull(Type.String({ description: 'what of the call it is about' })) }),
}));

export const listReply = (total: number, data: readonly unknown[], extra: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> =>
  ({ object: 'list', total, data, ...extra });

/** ISO 8601 in UTC with milliseconds. */
export const time = (ms: number): string => new Date(ms).toISOString();
export const timeOrNull = (ms: number | null): string | null => (ms === null ? null : time(ms));

// Schemas of replies.

/** A schema that the docs show under a name of its own, wherever it stands. */
export function named<S extends TSchema>(name: string, schema: S): S {
  return { ...schema, title: name };
}

/** What an operation answers that has nothing to say. */
export const nothing = named('Empty', object({}));

/** A list of these, as `listReply` makes it. */
export const listOf = <P extends Properties = Record<never, TSchema>>(item: TSchema, extra?: P) =>
  object({ object: Type.Literal('list'), total: Type.Integer({ minimum: 0, description: 'of all pages' }), data: Type.Array(item), ...extra });

/** Members that clients read at the top, or below `data`. */
export const twice = <P extends Properties>(members: TObject<P>) => object({ success: Type.Literal(true), data: members, ...members.properties });

export const idText = (description?: string) => Type.String({ format: 'uuid', ...(description === undefined ? {} : { description }) });
export const timeText = () => Type.String({ format: 'date-time' });
export const timeTextOrNull = () => orNull(timeText());
/** A flag as clients of this API know it. */
export const zeroOrOne = () => Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1] });
/** The same in requests: 0 and 1 came first. */
export const flag = () => Type.Unsafe<boolean | 0 | 1>({ type: ['boolean', 'integer'], enum: [true, false, 0, 1] });
export const isTrue = (value: boolean | 0 | 1 | undefined): boolean => value === true || value === 1;
