// A responder before another one: passes everything on. What stands between the pipeline and the client extends it and changes what it is there for.

import type { DrainListener, HeaderList, Responder } from '../../exchange/responder.js';

export class ForwardingResponder implements Responder {
  constructor(readonly inner: Responder) {}

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
    this.inner.send(status, headers, body);
  }

  start(status: number, headers: HeaderList, bodyBytes: number): void {
    this.inner.start(status, headers, bodyBytes);
  }

  write(chunk: Uint8Array): boolean {
    return this.inner.write(chunk);
  }

  end(): void {
    this.inner.end();
  }

  abort(): void {
    this.inner.abort();
  }
}
