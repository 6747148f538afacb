// An error -> what the client reads, in its dialect. The one place where an error becomes bytes.

import { isGatewayError, type GatewayError } from '../../errors/gateway-error.js';
import type { ClientError, Dialect } from '../dialect.js';

const told = (error: GatewayError | ClientError): ClientError => (isGatewayError(error)
  ? { status: error.status, message: error.message, type: error.type, param: error.param, code: error.code.toLowerCase() }
  : error);

/** The body of an error answer. */
export const errorBody = (error: GatewayError | ClientError, dialect: Dialect): string => (isGatewayError(error) ? refusalBody(told(error), dialect) : dialect.errorBody(error));

/** Of what the gateway itself has to say. Its own clients read `status` and `message` at the top, as in control calls; those of a dialect read what is below `error` alone. */
export const refusalBody = (error: ClientError, dialect: Dialect): string => `${dialect.errorBody(error).slice(0, -1)},"status":"failure","message":${JSON.stringify(error.message)}}`;

/**
 * An error event for a stream that has begun: what the dialect's own clients understand as a failure. `isMidEvent`: the bytes sent so far
 * end inside an event, which is closed first. `sequence` numbers the event where events are numbered, as far as that is known. `hookResults`
 * stand beside the error when there are any.
 */
export const errorEvent = (error: GatewayError | ClientError, dialect: Dialect, isMidEvent: boolean, sequence = 0, hookResults?: unknown): string =>
  `${isMidEvent ? '\n\n' : ''}${dialect.errorEvent(told(error), sequence, hookResults)}`;
