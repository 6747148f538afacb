// Hot: runs for each chunk.
// A response on its way to the client while it comes: back-pressure, and its end, good or bad. A write that says false pauses the upstream until
// the client has read.

import type { GatewayError } from '../../errors/gateway-error.js';
import { errorEvent } from '../../dialect/common/client-error.js';
import type { ClientError } from '../../dialect/dialect.js';
import type { Ending, Exchange } from '../../exchange/exchange.js';
import type { DrainListener } from '../../exchange/responder.js';
import type { Usage } from '../../exchange/usage.js';
import type { UsageTap } from '../../stream/usage-tap.js';
import { abortResponse, endResponse, writeResponse } from './client-response.js';
import type { ResponseHead } from './response-head.js';
import type { ResponseOwner } from './response-owner.js';

export abstract class ClientStream implements DrainListener {
  readonly exchange: Exchange;
  /** Null: the response says nothing that could be read. */
  tap: UsageTap | null = null;
  #isPaused = false;

  constructor(readonly owner: ResponseOwner, readonly head: ResponseHead, readonly retryCount: number, readonly isEventStream: boolean) {
    this.exchange = owner.exchange;
    this.exchange.responder.drainListener = this;
  }

  usage(): Usage | null {
    return this.tap === null ? null : this.tap.read();
  }

  onDrain(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.owner.resume();
  }

  /** Sends the head. */
  protected abstract start(): void;
  /** The client has got part of an event. */
  protected abstract isMidEvent(): boolean;

  protected write(chunk: Uint8Array): void {
    if (writeResponse(this.exchange, chunk) || this.#isPaused) return;
    this.#isPaused = true;
    this.owner.pause();
  }

  protected endWhole(): void {
    endResponse(this.exchange);
    this.owner.finish();
  }

  /** Bytes may be on their way, so the status stands: the client is told inside an event stream, and elsewhere sees the connection cut. */
  protected endBroken(ending: Ending, error: GatewayError, told: GatewayError | ClientError, sequence: number): void {
    const { exchange } = this;
    const { hooks } = exchange;
    exchange.ending = ending;
    exchange.errorCode = error.code;
    this.owner.stop();
    if (!exchange.responder.isStarted) this.start();
    if (this.isEventStream) {
      const results = hooks === null || hooks.isEmpty ? undefined : hooks.wire();
      writeResponse(exchange, Buffer.from(errorEvent(told, exchange.route.dialect, this.isMidEvent(), sequence, results)));
      endResponse(exchange);
    } else {
      abortResponse(exchange);
    }
    this.owner.finish();
  }
}

/** The bytes end with a blank line. */
export function endsEvent(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (bytes[length - 1] === lineFeed) return bytes[length - 2] === lineFeed || (bytes[length - 2] === carriageReturn && bytes[length - 3] === lineFeed && bytes[length - 4] === carriageReturn);
  return bytes[length - 1] === carriageReturn && bytes[length - 2] === carriageReturn;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
