// Runs for streams of targets that could still be tried again, or that others could stand in for.
// Keeps the beginning of an event stream back until its first event is there: some providers answer 200 and tell of their overload inside.
// Nothing has gone to the client then. After that the selected handler is told of the response itself.

import { fail, type GatewayError } from '../../errors/gateway-error.js';
import type { Usage } from '../../exchange/usage.js';
import { FirstEvent } from './first-event.js';
import type { ResponseHandler, StreamHandler } from './response-handler.js';
import type { ResponseOwner } from './response-owner.js';

/**
 * Comments may come for minutes while a model thinks. After so long they go to the client, and what comes then is told inside the stream. Looked at
 * with each chunk: where nothing comes, the idle time-out counts.
 */
export const waitMsMax = 5_000;

export class FirstEventHandler implements ResponseHandler {
  readonly #first = new FirstEvent();
  readonly #since = performance.now();

  constructor(readonly owner: ResponseOwner, readonly selected: StreamHandler) {}

  usage(): Usage | null {
    return null;
  }

  onChunk(chunk: Uint8Array): void {
    const first = this.#first;
    first.push(chunk);
    if (first.status === -1) {
      if (performance.now() - this.#since > waitMsMax) this.#handOver();
      return;
    }
    if (first.status === 0 || !this.owner.triesAgainFor(first.status, true)) this.#handOver();
  }

  onEnd(): void {
    const error = fail('UPSTREAM_BROKE', { provider: this.owner.exchange.provider, reason: 'its stream ended before its first event' });
    if (!this.owner.triesAgainAfter(error) && this.#handOver()) this.selected.onEnd();
  }

  onError(error: GatewayError): void {
    if (!this.owner.triesAgainAfter(error) && this.#handOver()) this.selected.breakOff(error);
  }

  /** False: the response is over. */
  #handOver(): boolean {
    const { owner, selected } = this;
    owner.handOver(selected);
    if (!selected.begin()) return false;
    const bytes = this.#first.take();
    if (bytes.length > 0) selected.onChunk(bytes);
    return !owner.exchange.isFinished && !owner.exchange.isRefused;
  }
}
