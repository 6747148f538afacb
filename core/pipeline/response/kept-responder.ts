// Stands before the client's responder in calls of which bodies are kept, and sees what the client gets.

import type { KeptBodies } from '../../exchange/kept-bodies.js';
import type { HeaderList, Responder } from '../../exchange/responder.js';
import { ForwardingResponder } from './forwarding-responder.js';

export class KeptResponder extends ForwardingResponder {
  constructor(inner: Responder, readonly kept: KeptBodies) {
    super(inner);
  }

  override send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.kept.responded(headers);
    this.kept.responseChunk(typeof body === 'string' ? Buffer.from(body) : body);
    super.send(status, headers, body);
  }

  override start(status: number, headers: HeaderList, bodyBytes: number): void {
    this.kept.responded(headers);
    super.start(status, headers, bodyBytes);
  }

  override write(chunk: Uint8Array): boolean {
    this.kept.responseChunk(chunk);
    return super.write(chunk);
  }
}
