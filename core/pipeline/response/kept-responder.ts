// Stands before the client's responder in calls of which bodies are kept, and sees what the client gets.

import type { DrainListener, HeaderList, Responder } from '../../exchange/responder.js';
import type { KeptBodies } from '../../exchange/kept-bodies.js';

export class KeptResponder implements Responder {
  constructor(readonly inner: Responder, readonly kept: KeptBodies) {}

  get isOpen(): boolean {
    return this.inner.isOpen;
  }

  get isStarted(): boolean {
    return this.inner.isStarted;
  }

  get bytesSent(): number {
    return this.inner.bytesSent;
  }

  get drainListener(): DrainListener | null {
    return this.inner.drainListener;
  }

  set drainListener(listener: DrainListener | null) {
    this.inner.drainListener = listener;
  }

  clientAddress(): string {
    return this.inner.clientAddress?.() ?? '';
  }

  send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.kept.responded(headers);
    this.kept.responseChunk(typeof body === 'string' ? Buffer.from(body) : body);
    this.inner.send(status, headers, body);
  }

  start(status: number, headers: HeaderList, bodyBytes: number): void {
    this.kept.responded(headers);
    this.inner.start(status, headers, bodyBytes);
  }

  write(chunk: Uint8Array): boolean {
    this.kept.responseChunk(chunk);
    return this.inner.write(chunk);
  }

  end(): void {
    this.inner.end();
  }

  abort(): void {
    this.inner.abort();
  }
}
