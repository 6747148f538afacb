// Hot: runs for each response that is not relayed.
// Everything about a response that has to be translated, judged or kept: the call it answers, the hooks that judge it, and what becomes of it
// when they have. For transform-handler.ts and collect-handler.ts.

import { inspect } from 'node:util';
import type { JsonObject } from '@gateway/plugin-sdk';
import { fail, type GatewayError } from '../../errors/gateway-error.js';
import type { ClientError } from '../../dialect/dialect.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { TargetPlan } from '../../plan/plan.js';
import { includesUsage } from '../cache/cache-key.js';
import { keepAnswer } from '../cache/cached-answer.js';
import { clientStatus } from '../hooks/before.js';
import type { ResponseHooks } from '../hooks/response-hooks.js';
import type { PreparedRequest } from '../request/prepare.js';
import type { PipelineServices } from '../services.js';
import { sendError, sendResponse } from './client-response.js';
import type { ResponseHead } from './response-head.js';
import type { ResponseOwner } from './response-owner.js';

export class ResponseContext {
  readonly exchange: Exchange;
  readonly services: PipelineServices;
  /** Keeps a response for a provider that keeps none, once the hooks have let it pass. */
  keep: ((response: JsonObject) => void) | null = null;
  /** Another try has begun: nothing comes of this response. */
  #isRetried = false;

  constructor(
    readonly owner: ResponseOwner,
    readonly target: TargetPlan,
    readonly prepared: PreparedRequest,
    readonly head: ResponseHead,
    readonly retryCount: number,
    /** The hooks after the request; null when none has a say in this response. */
    readonly hooks: ResponseHooks | null,
  ) {
    this.exchange = owner.exchange;
    this.services = owner.services;
  }

  /** The request holds the provider's key: who prints what leads here means something else. */
  [inspect.custom](): string {
    return '[response]';
  }

  toJSON(): string {
    return '[response]';
  }

  /** Nobody waits for this response any more. */
  get isOver(): boolean {
    return this.exchange.isFinished || this.exchange.isRefused || this.#isRetried;
  }

  /** The status for the client, after the hooks that have spoken. */
  get clientStatus(): number {
    return clientStatus(this.exchange, this.head.status);
  }

  /** These three as of the owner. */
  triesAgainForStatus(): boolean {
    return this.#isRetried = this.owner.triesAgainFor(this.clientStatus, false);
  }

  triesAgainAsTold(status: number): boolean {
    return this.#isRetried = this.owner.triesAgainFor(status, true);
  }

  triesAgainAfter(error: GatewayError): boolean {
    return this.#isRetried = this.owner.triesAgainAfter(error);
  }

  /**
   * An answer that passed the hooks goes into the cache, and is kept for later calls about it. `bytes`: of the body, when there are any; `body` is null
   * when nobody has read them yet, which then is done when the client has them.
   */
  remember(body: JsonObject | null, bytes: Uint8Array | null): void {
    const { exchange } = this;
    if (this.keep !== null && body !== null) this.keep(body);
    const { cacheKey } = this.owner;
    const plan = this.target.cache;
    if (cacheKey === null || plan === null || this.head.status !== 200 || (exchange.hooks !== null && exchange.hooks.hasFailed)) return;
    const isWithoutUsage = exchange.isStream && body !== null && body.usage === undefined && !includesUsage(exchange) && answerDialect(exchange.route)?.asksForUsage === true;
    const told = isWithoutUsage ? { ...body, usage: null } : body;
    // Made now: a body that was read may be changed by whoever has it.
    const kept = bytes ?? Buffer.from(JSON.stringify(told));
    keepAnswer(plan, cacheKey, kept, told, this.services);
  }

  /** Nothing has gone to the client: it gets the error, unless another try may have a better response. */
  refuse(error: GatewayError): void {
    if (!this.isOver && !this.triesAgainAfter(error)) this.refuseAtLast(error);
  }

  refuseAtLast(error: GatewayError): void {
    this.owner.refuse(error, this.owner.retryCount(error.status));
  }

  /** The same for a response that a hook denies: its status is what another try is begun for. */
  refuseDenied(): void {
    const error = fail('HOOKS_FAILED');
    if (!this.isOver && !(this.#isRetried = this.owner.triesAgainFor(error.status, false))) this.refuseAtLast(error);
  }

  /** The provider's own error, in the client's dialect. */
  sendProviderError(error: ClientError): void {
    sendError(this.exchange, error, this.retryCount, this.head);
    this.owner.finish();
  }

  /** The whole response. An empty `type` leaves the provider's. */
  send(body: string | Uint8Array, type: string): void {
    sendResponse(this.exchange, this.clientStatus, this.retryCount, this.head, type, body);
    this.owner.finish();
  }
}
