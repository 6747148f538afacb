// The client's request body before anyone asked for it. The server implements it; one of the three methods is called, once.

import type { Readable } from 'node:stream';
import type { GatewayError } from '../errors/gateway-error.js';

export interface ClientBody {
  /** Calls `onWhole` when the last byte is here, at once if it already is; `onFault` when the client was too slow or sent too much. */
  collect(onWhole: (bytes: Uint8Array) => void, onFault: (fault: GatewayError) => void): void;
  /** The body as it arrives, with back-pressure to the client. Destroyed with a GatewayError when the client breaks a limit. */
  stream(): Readable;
  /** Nobody wants it: what still comes is thrown away. Nobody waits for it either: an answer goes at once. */
  discard(): void;
  /** The call has done with the bytes that were collected: they count no longer among those held. May be called more than once. */
  letGo(): void;
}
