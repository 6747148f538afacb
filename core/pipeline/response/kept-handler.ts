// Stands before the handler of a response in calls of which bodies are kept, and sees what the provider answers.

import type { GatewayError } from '../../errors/gateway-error.js';
import type { KeptBodies } from '../../exchange/kept-bodies.js';
import type { Usage } from '../../exchange/usage.js';
import type { ResponseHandler } from './response-handler.js';

export class KeptHandler implements ResponseHandler {
  constructor(readonly inner: ResponseHandler, readonly kept: KeptBodies) {}

  onChunk(chunk: Uint8Array): void {
    this.kept.answerChunk(chunk);
    this.inner.onChunk(chunk);
  }

  onEnd(): void {
    this.inner.onEnd();
  }

  onError(error: GatewayError): void {
    this.inner.onError(error);
  }

  usage(): Usage | null {
    return this.inner.usage();
  }
}
