// Requests that a handler may make of whoever runs the call. The loop in routing/retry-loop.ts answers: nobody else ends a call, or repeats it.

import type { GatewayError } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { CacheKey } from '../cache/cache-key.js';
import type { PipelineServices } from '../services.js';
import type { ResponseHandler } from './response-handler.js';

export interface ResponseOwner {
  readonly exchange: Exchange;
  readonly services: PipelineServices;
  /** Another try is possible: what the response will say is worth waiting for. */
  readonly mayTryAgain: boolean;
  /** Under what the response may be kept; null: no cache has to do with it. */
  readonly cacheKey: CacheKey | null;
  /** For the count header: 0 when the first try stood, n after n retries, -1 when they ran out. */
  retryCount(status: number): number;

  /**
   * The response proved to have this status, by the word of hooks or (`isTold`) of the provider. True: another try has begun, or the call is
   * over; nothing comes of this response any more. Never once a byte has gone to the client.
   */
  triesAgainFor(status: number, isTold: boolean): boolean;
  /** The same of a response that cannot be used. */
  triesAgainAfter(error: GatewayError): boolean;

  /** The provider's response is not read on for now. */
  pause(): void;
  resume(): void;
  /** Nothing more is wanted of it, and nothing more is told of it. */
  stop(): void;
  /** From here on `handler` is told of the response. */
  handOver(handler: ResponseHandler): void;

  /** Everything that the client will get is on its way. */
  finish(): void;
  /** Nothing has gone to the client: it gets this error. */
  refuse(error: GatewayError, retryCount: number): void;
  /** A plugin threw where nobody waits for it. */
  onPluginThrow(thrown: unknown): void;
}
