// Handlers of one upstream response. The head selects the handler (select-handler.ts); the rest of the response is told to it alone.

import type { GatewayError } from '../../errors/gateway-error.js';
import type { Usage } from '../../exchange/usage.js';

export interface ResponseHandler {
  /** The chunk is lent: its bytes are others' when the running task has ended. */
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  /** The upstream broke off. */
  onError(error: GatewayError): void;
  /** Usage and the rest that the response, or the part of it that came, said about itself. */
  usage(): Usage | null;
}

/** A handler whose response goes to the client as it comes. */
export interface StreamHandler extends ResponseHandler {
  /** Before the first chunk. False: the response is over. */
  begin(): boolean;
  /** Breaks off what has begun; the response is not to be asked for again. */
  breakOff(error: GatewayError): void;
}
