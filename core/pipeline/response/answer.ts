// Hot: runs for each answer.
// The answer that was chosen: what its head said, the hooks that judge it, and what becomes of it when they have. Shared by the two ways an answer
// goes to the client, as it arrives (respond.ts) or whole (collect-handler.ts).

import type { JsonObject, UpstreamCall } from '@gateway/plugin-sdk';
import { type GatewayError } from '../../errors/gateway-error.js';
import { errorBody, type ClientError } from '../../dialect/common/client-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { UsageTap } from '../../stream/usage-tap.js';
import type { ResponseHooks } from '../hooks/response-hooks.js';
import { answerHeaders, setHeader } from './response-headers.js';
import type { Attempt, CallEnd } from '../routing/retry-loop.js';
import { clientStatus } from '../hooks/before.js';
import { includesUsage } from '../cache/cache-key.js';
import { keepAnswer } from '../cache/cached-answer.js';
import { withHookResults } from '../hooks/hook-result.js';
import type { PipelineServices } from '../services.js';

export class Answer {
  call: UpstreamCall | null = null;
  tap: UsageTap | null = null;
  status = 0;
  headers: readonly string[] = [];
  contentType = '';
  retryCount = 0;
  /** The hooks after the request; null when none has a say in this answer. */
  phase: ResponseHooks | null = null;
  /** Keeps a response for a provider that keeps none, once the hooks have let it pass. */
  keep: ((response: JsonObject) => void) | null = null;
  /** The answer was thrown away, and another attempt has begun. */
  isDropped = false;

  constructor(readonly exchange: Exchange, readonly attempt: Attempt, readonly services: PipelineServices, readonly end: CallEnd) {}

  /** Nobody waits for this answer any more. */
  get isOver(): boolean {
    return this.exchange.isFinished || this.exchange.isRefused || this.isDropped;
  }

  /** Hooks or a cache have to do with it. */
  get isWatched(): boolean {
    const { hooks } = this.exchange;
    return this.phase !== null || this.attempt.attempts.question !== null || (hooks !== null && !hooks.isEmpty);
  }

  /** The hooks gave it this status: true when the strategy, or a retry, would rather have another answer. */
  isReconsidered(status: number): boolean {
    return this.attempt.attempts.reconsider(this.attempt, status) && this.#drop();
  }

  /** The provider told of an error inside an answer with a good status, and nothing has gone to the client: true as above. */
  isReconsideredAsTold(status: number): boolean {
    return !this.exchange.responder.isStarted && this.attempt.attempts.reconsider(this.attempt, status, true) && this.#drop();
  }

  /** The answer cannot be used, and nothing has gone to the client: true as above. */
  isReconsideredAsFaulty(error: GatewayError): boolean {
    return !this.exchange.responder.isStarted && error.source === 'upstream' && this.attempt.attempts.reconsiderFault(this.attempt, error) && this.#drop();
  }

  #drop(): boolean {
    this.isDropped = true;
    this.call?.cancel();
    return true;
  }

  /** The status for the client, after all hooks; true when it is the end of this answer. */
  isReconsideredAsShown(): boolean {
    return this.isReconsidered(clientStatus(this.exchange, this.status));
  }

  /**
   * What passed the hooks goes into the cache, and is kept for later calls about it. `bytes`: of the body, when there are any; `body` is null
   * when nobody has read them yet, which then is done when the client has them.
   */
  remember(body: JsonObject | null, bytes: Uint8Array | null): void {
    const { exchange } = this;
    if (this.keep !== null && body !== null) this.keep(body);
    const { question } = this.attempt.attempts;
    const plan = this.attempt.target.cache;
    if (question === null || plan === null || this.status !== 200 || (exchange.hooks !== null && exchange.hooks.hasFailed)) return;
    const { endpoint } = exchange;
    const isWithoutUsage = exchange.isStream && body !== null && body.usage === undefined && !includesUsage(exchange) && (endpoint === 'chatCompletions' || endpoint === 'completions');
    const told = isWithoutUsage ? { ...body, usage: null } : body;
    // Made now: a body that was read may be changed by whoever has it.
    const kept = bytes ?? Buffer.from(JSON.stringify(told));
    keepAnswer(plan, question, kept, told, this.services);
  }

  /** The client gets the error, unless another try may have a better answer. */
  refuse(error: GatewayError): void {
    if (this.isOver || (error.code === 'HOOKS_FAILED' ? this.isReconsidered(error.status) : this.isReconsideredAsFaulty(error))) return;
    this.end.refuse(this.exchange, error, this.attempt.attempts.retryCount(error.status));
  }

  /** The provider's own error, in the client's dialect. */
  refuseAsProvider(error: ClientError): void {
    const { exchange } = this;
    exchange.status = error.status;
    this.#send(error.status, errorBody(error, exchange.route.dialect), 'application/json');
  }

  /** A whole answer. An empty `type` leaves the provider's. */
  send(body: string | Uint8Array, type: string): void {
    this.#send(this.exchange.status, body, type);
  }

  #send(status: number, body: string | Uint8Array, type: string): void {
    const { exchange } = this;
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, this.retryCount, this.headers);
    if (type !== '') setHeader(headers, 'content-type', type);
    exchange.responder.send(status, headers, withHookResults(exchange, body, type === '' ? this.contentType : type));
    this.end.finish(exchange);
  }
}
