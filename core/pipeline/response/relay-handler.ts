// Hot: runs for each chunk.
// A response that goes to the client as the bytes that came, with the usage tap beside it.

import type { Dialect } from '../../dialect/dialect.js';
import { fail, type GatewayError } from '../../errors/gateway-error.js';
import { UsageFilter } from '../../stream/usage-filter.js';
import type { UsageTap } from '../../stream/usage-tap.js';
import { clientStatus } from '../hooks/before.js';
import { beginResponse } from './client-response.js';
import { ClientStream, endsEvent } from './client-stream.js';
import { tapFor } from './delivery-tap.js';
import type { ResponseHead } from './response-head.js';
import type { StreamHandler } from './response-handler.js';
import type { ResponseOwner } from './response-owner.js';

/** The end is looked for in so many bytes first. */
const endBytes = 512;

export class RelayHandler extends ClientStream implements StreamHandler {
  /** Null: every byte goes to the client. */
  readonly #filter: UsageFilter | null;

  /** `isRead`: usage is told in it. `dialect`: whose streams are looked at for their end; null where there is none. `hidesUsage`: the client gets no event of nothing but usage. */
  constructor(owner: ResponseOwner, head: ResponseHead, retryCount: number, isEventStream: boolean, isRead: boolean, readonly dialect: Dialect | null, hidesUsage = false) {
    super(owner, head, retryCount, isEventStream);
    this.#filter = hidesUsage && isEventStream ? this.#makeFilter() : null;
    if (isRead) this.tap = tapFor(this.exchange, isEventStream, dialect === null);
  }

  /** Apart, because a function inside the constructor costs every answer its scope. */
  #makeFilter(): UsageFilter {
    return new UsageFilter((bytes) => this.write(bytes));
  }

  begin(): boolean {
    this.start();
    return true;
  }

  onChunk(chunk: Uint8Array): void {
    if (this.tap !== null) this.tap.push(chunk);
    if (this.#filter === null) this.write(chunk);
    else this.#filter.push(chunk);
  }

  onEnd(): void {
    if (this.isEventStream && isCutShort(this.exchange.suffix === '' ? this.dialect : null, this.head.status, this.tap)) this.breakOff(withoutLastEvent(this.exchange.provider));
    else {
      if (this.#filter !== null) this.#filter.end();
      this.endWhole();
    }
  }

  onError(error: GatewayError): void {
    this.breakOff(error);
  }

  breakOff(error: GatewayError): void {
    this.endBroken('upstream', error, error, 0);
  }

  protected override start(): void {
    const { exchange, head } = this;
    // Behind an event stream an error may have to be told, which its provider's length does not count.
    beginResponse(exchange, clientStatus(exchange, head.status), this.retryCount, head, '', this.isEventStream ? -1 : head.contentLength);
  }

  protected override isMidEvent(): boolean {
    if (this.#filter !== null) return this.#filter.isMidEvent;
    const last = this.tap === null ? noBytes : this.tap.tail(4);
    return last.length > 0 && !endsEvent(last);
  }
}

const noBytes = new Uint8Array(0);

export const withoutLastEvent = (provider: string): GatewayError => fail('UPSTREAM_BROKE', { provider, reason: 'its stream ended without its last event' });

/** A stream whose connection closed in good order, though the provider had not finished: nothing of what ends one has come. */
export function isCutShort(dialect: Dialect | null, status: number, tap: UsageTap | null): boolean {
  if (dialect === null || dialect.endMark === null || status !== 200 || tap === null) return false;
  const { endMark } = dialect;
  if (endMark.test(tap.tail(endBytes).toString('latin1')) || endMark.test(tap.kept().toString('latin1'))) return false;
  return !dialect.tellsEnd(tap.read());
}
