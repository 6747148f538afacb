// Hot: runs for each call.
// The loop of a call: target -> prepare -> send -> answer, try again, or next target. Callbacks, no promise: the usual call walks through here
// without waiting for anything but the network. Once a byte went to the client nothing is repeated.

import { ByteCollector, isProviderError, type CacheHit, type UpstreamCall, type UpstreamListener } from '@gateway/plugin-sdk';
import type { Readable } from 'node:stream';
import { atOnce } from '../../errors/at-once.js';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import type { Exchange, Running } from '../../exchange/exchange.js';
import type { Usage } from '../../exchange/usage.js';
import { parameterPath } from '../../plan/parameter-path.js';
import type { CachePlan, TargetPlan, Plan } from '../../plan/plan.js';
import { UsageTap } from '../../stream/usage-tap.js';
import type { SendWatcher, UpstreamRequest } from '../../upstream/client.js';
import { FanOut, type StartPart } from '../../upstream/fan-out.js';
import { backoffMs, retryAfterMs } from '../../upstream/retry-after.js';
import { answerHeaders } from '../response/response-headers.js';
import { isJudged, runBefore, clientStatus } from '../hooks/before.js';
import { questionOf, sharingKey, type Question } from '../cache/cache-key.js';
import { answerFromCache, changeCache, dropHit, lookUp, missStatus } from '../cache/cached-answer.js';
import { prepare, type PreparedRequest } from '../request/prepare.js';
import { Respond } from '../response/respond.js';
import type { PipelineServices } from '../services.js';
import { CoalescedResponse } from '../cache/coalesced-response.js';
import { TargetSelector } from './target-selector.js';

/** Upstream calls of one exchange, all targets together: a strategy that never stops asking is stopped here. */
const attemptsMax = 200;
/** Of an answer nobody wants, this much is read so that its connection can be used again. */
const drainBytesMax = 64 * 1024;
/** A retry-after that asks for more ends the retries; so does one that brings all waiting together above it. */
const retryWaitMsMax = 60_000;
/** What a strategy hears of a target whose breaker let nobody through. */
const breakerOpenStatus = 503;
const noHeaders: readonly string[] = [];

/** How a target failed that another one was tried after: the client is told of it when nobody else can take the call. */
interface Failure {
  readonly attempt: Attempt;
  readonly status: number;
  readonly headers: readonly string[];
  /** Null: there was an answer. */
  readonly error: GatewayError | null;
  readonly retryCount: number;
  readonly unsupported: string[];
}

export interface CallEnd {
  /** The exchange is over; everything about it is in its fields. */
  finish(exchange: Exchange): void;
  /** No answer could be had: the client gets the error. */
  refuse(exchange: Exchange, error: GatewayError, retryCount: number): void;
  /** Nobody is left to read the answer. */
  abandon(exchange: Exchange): void;
  /** Something threw that nobody expected to: whatever has become of the answer by now, it ends. */
  breakOff(exchange: Exchange, thrown: unknown): void;
}

export class RetryLoop implements Running {
  /** The answer that was chosen; set once. */
  respond: Respond | null = null;
  readonly #walk: TargetSelector | null;
  #target: TargetPlan | null = null;
  #passedOver: TargetPlan | null = null;
  #prepared: PreparedRequest | null = null;
  #attempt: Attempt | null = null;
  #timer: NodeJS.Timeout | null = null;
  #retries = 0;
  /** What the connection sent anew by itself, of the present target. */
  #repeats = 0;
  #waitedMs = 0;
  /** The provider asked for a longer wait than there is. */
  #isRetryTooLate = false;
  #failure: Failure | null = null;
  #isOver = false;
  upload: Readable | null = null;
  /** Under what the answer may be kept; null without a cache. */
  question: Question | null = null;
  #hitUsage: UsageTap | null = null;
  /** The answer of another call that this one waits for. */
  #joined: CoalescedResponse | null = null;

  constructor(
    readonly exchange: Exchange,
    readonly plan: Plan,
    readonly services: PipelineServices,
    readonly end: CallEnd,
  ) {
    services.plans.acquire(plan);
    this.#walk = plan.root.kind === 'target' ? null : new TargetSelector(exchange, plan.root, services.breakers);
    if (plan.root.kind === 'target') this.#target = plan.root;
  }

  /** Throws the client errors of the only target. `upload`: the body is streamed and can be sent once. */
  begin(upload: Readable | null): void {
    this.upload = upload;
    const target = this.#walk === null ? this.#target : this.#walk.next();
    if (target === null) throw fail('NO_TARGET', { path: 'config', reason: 'no target fits this request' });
    try {
      this.#tryTarget(target);
    } catch (thrown) {
      if (this.#walk === null) throw thrown;
      this.#skipTarget(target, thrown);
    }
  }

  cancel(): void {
    this.#isOver = true;
    this.#clearTimer();
    this.#attempt?.cancel();
    this.upload?.destroy();
    this.#joined?.leave(this.exchange);
  }

  usage(): Usage | null {
    if (this.#hitUsage !== null) return this.#hitUsage.read();
    if (this.#joined !== null) return this.#joined.usage;
    return this.respond === null ? null : this.respond.usage();
  }

  close(): void {
    this.services.plans.release(this.plan);
  }

  #tryTarget(target: TargetPlan): void {
    const { exchange } = this;
    const { breakers } = this.services;
    const walk = this.#walk;
    if (target.breaker !== null && !breakers.tryPass(target.breakerSlot, target.breaker)
      && walk !== null && walk.isChosenHealthy && this.#passedOver === null && exchange.attempts === 0) {
      // It seemed healthy, but another call became its probe a moment ago. It is tried all the same when the strategies know no other.
      // A target that was known to be out was named for want of a better one: that choice stands.
      this.#passedOver = target;
      walk.report(breakerOpenStatus, fail('UPSTREAM_BUSY', { host: target.provider.id, maximum: 1 }));
      this.#tryTarget(walk.next() ?? target);
      return;
    }
    this.#target = target;
    this.#retries = 0;
    this.#repeats = 0;
    this.#waitedMs = 0;
    this.#isRetryTooLate = false;
    exchange.provider = target.provider.id;
    exchange.targetPath = target.path;
    exchange.target = { provider: target.provider.id, attempt: exchange.attempts + 1 };
    exchange.unsupported = [];
    if (target.before === null && exchange.hooks !== null) exchange.hooks.hasFailedBefore = false;
    const waiting = target.before === null ? undefined : runBefore(exchange, target.before);
    if (waiting === undefined) this.#startTarget(target);
    else waiting.then(() => this.#resumeTarget(target), (thrown: unknown) => this.#loseTarget(target, thrown)).catch((thrown: unknown) => this.onThrown(thrown));
  }

  /** The hooks before the request have nothing against it. */
  #startTarget(target: TargetPlan): void {
    const prepared = prepare(this.exchange, target, this.upload);
    this.#prepared = prepared;
    this.question = null;
    if (prepared.ownAnswer !== null) this.#answer(prepared.ownAnswer);
    else if (target.cache !== null) this.#askCache(target, target.cache, prepared);
    else this.#send();
  }

  #resumeTarget(target: TargetPlan): void {
    if (this.#isOver) return;
    try {
      this.#startTarget(target);
    } catch (thrown) {
      this.#loseTarget(target, thrown);
    }
  }

  /** What begin() does with what is thrown, for a target whose hooks were waited for. */
  #loseTarget(target: TargetPlan, thrown: unknown): void {
    if (this.#isOver) return;
    if (this.#walk === null) this.#giveUp(asGatewayError(thrown));
    else this.#skipTarget(target, thrown);
  }

  #askCache(target: TargetPlan, plan: CachePlan, prepared: PreparedRequest): void {
    const { exchange, services } = this;
    const question = questionOf(exchange, target, prepared);
    this.question = question;
    if (question === null) {
      exchange.cacheStatus = 'DISABLED';
      this.#send();
      return;
    }
    if (exchange.head.cacheForceRefresh === 'true') {
      exchange.cacheStatus = 'REFRESH';
      services.refreshed.add(question.key, exchange.startedAt);
      changeCache(plan, () => plan.cache.remove(question), services);
      this.#send();
      return;
    }
    const found = lookUp(plan, question, services);
    if (found instanceof Promise) found.then((hit) => this.#resumeLookup(target, plan, question, hit)).catch((thrown: unknown) => this.onThrown(thrown));
    else this.#onLookup(target, plan, question, found);
  }

  /** What begin() does with what is thrown, for a target whose cache was waited for. */
  #resumeLookup(target: TargetPlan, plan: CachePlan, question: Question, hit: CacheHit | undefined): void {
    if (this.#isOver) return;
    try {
      this.#onLookup(target, plan, question, hit);
    } catch (thrown) {
      this.#loseTarget(target, thrown);
    }
  }

  #onLookup(target: TargetPlan, plan: CachePlan, question: Question, hit: CacheHit | undefined): void {
    const { exchange } = this;
    if (hit === undefined || !this.#answerHit(plan, question, hit)) {
      exchange.cacheStatus = missStatus(plan, question);
      if (!plan.sharesInFlight || !this.#share(target, question, this.#prepared as PreparedRequest)) this.#send();
      return;
    }
    this.#isOver = true;
    this.end.finish(exchange);
  }

  /** False when what was kept cannot be told; nothing has been sent then. */
  #answerHit(plan: CachePlan, question: Question, hit: CacheHit): boolean {
    const { exchange } = this;
    try {
      answerFromCache(exchange, hit);
    } catch (thrown) {
      if (exchange.responder.isStarted) throw thrown;
      dropHit(plan, question, reasonOf(thrown), this.services);
      return false;
    }
    this.#hitUsage = new UsageTap(false);
    this.#hitUsage.push(hit.body);
    return true;
  }

  /** Joins a call for the same that is on its way; else others may join this one. */
  #share(target: TargetPlan, question: Question, prepared: PreparedRequest): boolean {
    const { exchange, services } = this;
    // Others are waiting for it already, from a target tried before.
    if (exchange.leaveShared !== null) return false;
    // What hooks say may depend on metadata, which a cache namespace leaves out of the key.
    const said = target.before === null && target.after === null ? '' : exchange.head.metadata ?? '';
    const { stream, stream_options: options = null } = exchange.json();
    // How a stream is delivered is not in the key of what is kept, but all that share one get the same.
    const key = `${question.key} ${sharingKey(exchange, target, prepared)} ${stream === true} ${JSON.stringify(options)} ${exchange.hooks?.hasFailedBefore === true} ${said}`;
    const running = services.inFlight.find(target, key);
    if (running === undefined) {
      const shared = new CoalescedResponse(exchange, () => services.inFlight.remove(target, key), () => this.end.abandon(exchange));
      shared.join(exchange, exchange.responder, () => undefined);
      exchange.responder = shared;
      exchange.leaveShared = () => shared.leave(exchange);
      services.inFlight.add(target, key, shared);
      return false;
    }
    this.#isOver = true;
    this.#joined = running;
    exchange.cacheStatus = 'SHARED';
    running.join(exchange, exchange.responder, () => this.#fenced(() => this.end.finish(exchange)));
    return true;
  }

  #send(): void {
    const { exchange, services } = this;
    const target = this.#target as TargetPlan;
    const prepared = this.#prepared as PreparedRequest;
    exchange.attempts += 1;
    // What hooks said of an answer that was passed over says nothing about the next one.
    exchange.hooks?.forgetAnswer();
    const attempt = new Attempt(this, target, prepared);
    this.#attempt = attempt;
    const timeoutMs = requestTimeout(exchange, target);
    if (timeoutMs > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.#fenced(() => {
          attempt.cancel();
          this.onFault(attempt, fail('ATTEMPT_TIMEOUT', { timeoutMs }));
        });
      }, timeoutMs);
    }
    if (prepared.parts !== null) this.#sendParts(attempt, target, prepared, prepared.parts);
    else if (target.provider.plugin.auth.type === 'signed') this.#sign(target, prepared, prepared.request, (request) => attempt.start(request), (error) => this.onFault(attempt, error));
    else attempt.start(prepared.request);
    // The members of the body wait for the provider only where somebody on the target looks at them again.
    if (prepared.call === null && target.before === null && target.after === null && target.cache === null) exchange.forgetMembers();
  }

  /** The gateway answers by itself what the provider has no endpoint for. */
  #answer(body: string): void {
    const { exchange } = this;
    this.#isOver = true;
    exchange.status = 200;
    exchange.firstByteAt = performance.now();
    const headers = answerHeaders(exchange, 0, null);
    headers.push('content-type', 'application/json');
    exchange.responder.send(200, headers, body);
    this.end.finish(exchange);
  }

  #sendParts(attempt: Attempt, target: TargetPlan, prepared: PreparedRequest, parts: readonly Uint8Array[]): void {
    const start: StartPart = (index, listener) => {
      const request = { ...prepared.request, body: parts[index] ?? null };
      if (target.provider.plugin.auth.type !== 'signed') return this.sendTo(target, prepared, request, listener, attempt);
      const waiting = new WaitingCall();
      this.#sign(target, prepared, request, (signed) => waiting.begin(() => this.sendTo(target, prepared, signed, listener, attempt)), (error) => listener.onError(error));
      return waiting;
    };
    attempt.startParts(parts.length, start);
  }

  /** A signature covers the time and the body, so it is made for each attempt anew. */
  #sign(target: TargetPlan, prepared: PreparedRequest, request: UpstreamRequest, then: (signed: UpstreamRequest) => void, onFault: (error: GatewayError) => void): void {
    const url = new URL(prepared.base.originUrl + request.path);
    const headers = request.headers.slice();
    const body = request.body instanceof Uint8Array ? request.body : undefined;
    const host = this.services.hostOf(`provider/${target.provider.id}`);
    const plugin = `provider/${target.provider.id}`;
    const asFault = (thrown: unknown): GatewayError => {
      if (isGatewayError(thrown)) return thrown;
      if (isProviderError(thrown)) return fail(thrown.status < 500 ? 'CREDENTIAL_REFUSED' : 'UPSTREAM_FAILED', { provider: target.provider.id, reason: thrown.message }, thrown);
      const param = parameterPath(thrown);
      if (param !== undefined) return fail('CREDENTIAL_INVALID', { provider: target.provider.id, param, reason: reasonOf(thrown) });
      return fail('PLUGIN_FAILED', { plugin, reason: reasonOf(thrown) }, thrown);
    };
    const send = (): void => then({ ...request, path: url.pathname + url.search, headers });
    let signing: void | Promise<void>;
    try {
      signing = target.provider.plugin.sign?.({ method: request.method, url, headers, body }, prepared.keys, host);
    } catch (thrown) {
      const fault = asFault(thrown);
      // Not on the stack of whoever sends: it may be a strategy's next target.
      queueMicrotask(() => this.#fenced(() => onFault(fault)));
      return;
    }
    if (signing instanceof Promise) signing.then(send, (thrown: unknown) => onFault(asFault(thrown))).catch((thrown: unknown) => this.onThrown(thrown));
    else send();
  }

  // ---- called by the attempt ----

  sendTo(target: TargetPlan, prepared: PreparedRequest, request: UpstreamRequest, listener: UpstreamListener, watcher: SendWatcher): UpstreamCall {
    const { transport, id } = target.provider;
    if (transport === null) return prepared.base.origin.send(request, listener, watcher);
    try {
      const call = atOnce(transport.send({
        method: request.method,
        // Not resolved against the origin: a path that begins with two slashes would become a host.
        url: new URL(prepared.base.originUrl + request.path),
        headers: request.headers,
        body: request.body instanceof Uint8Array ? request.body : undefined,
      }, listener));
      for (const what of ['pause', 'resume', 'cancel'] as const) if (typeof call?.[what] !== 'function') throw new TypeError('its transport gave no call');
      return new FencedCall(call, this);
    } catch (thrown) {
      throw isGatewayError(thrown) ? thrown : fail('PLUGIN_FAILED', { plugin: `provider/${id}`, reason: reasonOf(thrown) }, thrown);
    }
  }

  /** The head of an answer: true when it is the one for the client, false when the attempt shall throw it away. */
  onHead(attempt: Attempt, status: number, headers: readonly string[]): boolean {
    if (this.#isOver || attempt !== this.#attempt) return false;
    this.#clearTimer();
    const target = this.#target as TargetPlan;
    const { services } = this;
    if (target.breaker !== null) services.breakers.record(target.breakerSlot, target.breaker, status);
    // What the hooks after the request make of it is not known yet; they ask again.
    if (target.after !== null && isJudged(this.exchange, status)) return true;
    return !this.#isTriedAgain(target, clientStatus(this.exchange, status), headers);
  }

  /** The hooks after the request gave the answer its status: true when it is thrown away and another try has begun. */
  reconsider(attempt: Attempt, status: number, isToldByProvider = false): boolean {
    if (this.#isOver || attempt !== this.#attempt) return true;
    const target = this.#target as TargetPlan;
    if (isToldByProvider && target.breaker !== null) this.services.breakers.record(target.breakerSlot, target.breaker, status);
    if (!this.#isTriedAgain(target, status, noHeaders)) return false;
    this.respond = null;
    return true;
  }

  /** The answer has proved unusable, or told of an error, before any of it went to the client: true when another try has begun. */
  reconsiderFault(attempt: Attempt, error: GatewayError): boolean {
    if (this.#isOver || attempt !== this.#attempt) return true;
    if (!this.#isFaultTriedAgain(attempt, error, error.code === 'UPSTREAM_BROKE')) return false;
    this.respond = null;
    return true;
  }

  /** Whether it is worth waiting for what an answer will say. */
  get mayTryAgain(): boolean {
    if (this.upload !== null || this.exchange.attempts >= attemptsMax) return false;
    return this.#walk !== null || (this.#target !== null && this.#target.retry.attempts > this.#retries);
  }

  #isTriedAgain(target: TargetPlan, status: number, headers: readonly string[]): boolean {
    const mayRepeat = this.upload === null && this.exchange.attempts < attemptsMax;
    if (mayRepeat && target.retry.attempts > this.#retries && target.retry.onStatusCodes.has(status)) {
      const delayMs = this.#delay(target, headers);
      if (delayMs >= 0) {
        this.#retryAfter(delayMs);
        return true;
      }
      this.#isRetryTooLate = true;
    }
    if (this.#walk === null || !mayRepeat) return false;
    const attempt = this.#attempt;
    const retryCount = this.retryCount(status);
    this.#walk.report(status, undefined);
    if (this.#nextTarget() === null) return false;
    if (attempt !== null && status >= 400) this.#failure = { attempt, status, headers, error: null, retryCount, unsupported: this.exchange.unsupported };
    return true;
  }

  /** No answer came, or not a usable one. */
  onFault(attempt: Attempt, error: GatewayError): void {
    if (this.#isOver || attempt !== this.#attempt) return;
    this.#clearTimer();
    if (!this.#isFaultTriedAgain(attempt, error, false)) this.#giveUp(error);
  }

  #isFaultTriedAgain(attempt: Attempt, error: GatewayError, isRetriable: boolean): boolean {
    const target = this.#target as TargetPlan;
    // What the client did wrong says nothing about the target; the network and its time-outs do.
    const isTargetFault = error.source === 'upstream';
    if (target.breaker !== null && isTargetFault) this.services.breakers.record(target.breakerSlot, target.breaker, error.status);
    const mayRepeat = this.upload === null && this.exchange.attempts < attemptsMax;
    const isRetried = error.code === 'ATTEMPT_TIMEOUT' ? target.retry.onStatusCodes.has(error.status) : error.retryable || isRetriable;
    if (mayRepeat && isRetried && target.retry.attempts > this.#retries) {
      this.#retryAfter(backoffMs(this.#retries, this.services.settings.retryDelayMs, Math.random));
      return true;
    }
    if (this.#walk === null || !mayRepeat) return false;
    const retryCount = this.#lastCount;
    this.#walk.report(error.status, error);
    if (this.#nextTarget() === null) return false;
    this.#failure = { attempt, status: error.status, headers: noHeaders, error, retryCount, unsupported: this.exchange.unsupported };
    return true;
  }

  /** Its answer may have to be told after all. */
  isKept(attempt: Attempt): boolean {
    return this.#failure !== null && this.#failure.attempt === attempt && this.#failure.error === null;
  }

  /** Tells the client of the last failure of a provider, in the place of why the targets after it could not take the call. */
  #tellFailure(failure: Failure): void {
    const { exchange } = this;
    const { attempt } = failure;
    this.#failure = null;
    this.#target = attempt.target;
    this.question = null;
    exchange.provider = attempt.target.provider.id;
    exchange.targetPath = attempt.target.path;
    exchange.unsupported = failure.unsupported;
    if (failure.error !== null) {
      this.#giveUp(failure.error, failure.retryCount);
    } else if (attempt.isRevivable) {
      this.#attempt = attempt;
      attempt.revive(failure.status, failure.headers, failure.retryCount);
    } else {
      this.#giveUp(fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: `it answered ${failure.status}` }), failure.retryCount);
    }
  }

  /** The count header: 0 when the first try stood, n after n retries, -1 when they ran out. */
  retryCount(status: number): number {
    const target = this.#target;
    if (target === null) return 0;
    if (this.#retries === 0 && !this.#isRetryTooLate) return this.#repeats;
    return target.retry.onStatusCodes.has(status) ? -1 : this.#retries + this.#repeats;
  }

  onRepeat(): void {
    this.#repeats += 1;
    this.exchange.attempts += 1;
    this.services.metrics.add('upstream.repeated', 1);
  }

  // ---- the steps between attempts ----

  #delay(target: TargetPlan, headers: readonly string[]): number {
    if (target.retry.usesRetryAfter) {
      const askedMs = retryAfterMs(headers, Date.now());
      if (askedMs >= 0) return askedMs > retryWaitMsMax || this.#waitedMs + askedMs > retryWaitMsMax ? -1 : askedMs;
    }
    return backoffMs(this.#retries, this.services.settings.retryDelayMs, Math.random);
  }

  #retryAfter(delayMs: number): void {
    this.#retries += 1;
    this.#waitedMs += delayMs;
    this.#attempt = null;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.#isOver) this.#fenced(() => this.#send());
    }, delayMs);
  }

  /** Moves to the next target; null when there is none. A target that cannot take the call is an outcome like another. */
  #nextTarget(): TargetPlan | null {
    const walk = this.#walk as TargetSelector;
    try {
      const target = walk.next();
      if (target === null) return null;
      this.#attempt = null;
      // Not on the stack of the answer that is being thrown away: its connection is still busy with it.
      queueMicrotask(() => {
        if (this.#isOver) return;
        this.#fenced(() => {
          try {
            this.#tryTarget(target);
          } catch (thrown) {
            this.#skipTarget(target, thrown);
          }
        });
      });
      return target;
    } catch (thrown) {
      this.#giveUp(asGatewayError(thrown));
      // Over: nobody may answer any more.
      return this.#target;
    }
  }

  /** The target refused the call before anything was sent (no such endpoint, no key): the next one may take it. */
  #skipTarget(target: TargetPlan, thrown: unknown): void {
    const error = asGatewayError(thrown);
    this.#target = target;
    this.#walk?.report(error.status, error);
    if (this.exchange.attempts < attemptsMax && this.#nextTarget() !== null) return;
    if (this.#failure !== null && !this.#isOver && error.code !== 'HOOKS_FAILED') this.#tellFailure(this.#failure);
    else this.#giveUp(error);
  }

  /** The count header of an error that is no answer. */
  get #lastCount(): number {
    return this.#retries > 0 ? -1 : this.#repeats;
  }

  #giveUp(error: GatewayError, retryCount = this.#lastCount): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clearTimer();
    this.upload?.destroy();
    this.end.refuse(this.exchange, error, retryCount);
  }

  /** What runs on nobody's stack: what it throws ends this call, and nothing else. */
  #fenced(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.onThrown(thrown);
    }
  }

  onThrown(thrown: unknown): void {
    this.#isOver = true;
    this.#clearTimer();
    this.end.breakOff(this.exchange, thrown);
  }

  onPluginThrow(thrown: unknown): void {
    this.services.metrics.add('plugins.thrown', 1);
    this.services.logger.error('a plugin threw where nobody waits for it', { request: this.exchange.id, reason: reasonOf(thrown) });
  }

  #clearTimer(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** One upstream call. Late news of a call that is no longer the current one ends here. */
export class Attempt implements UpstreamListener, SendWatcher {
  #call: UpstreamCall | null = null;
  #respond: Respond | null = null;
  #isOver = false;
  #isDraining = false;
  #drained = 0;
  /** What came of an answer that was passed over, as long as it may be wanted; null when it is not. */
  #kept: ByteCollector | null = null;
  /** The answer that was passed over has come whole. */
  #isWhole = false;
  #sentAt = 0;

  constructor(readonly attempts: RetryLoop, readonly target: TargetPlan, readonly prepared: PreparedRequest) {}

  start(request: UpstreamRequest): void {
    if (this.#isOver) return;
    this.#sentAt = performance.now();
    this.#attach(this.attempts.sendTo(this.target, this.prepared, request, this, this));
  }

  startParts(count: number, start: StartPart): void {
    this.#sentAt = performance.now();
    const fanOut = new FanOut(count, this.attempts.services.settings.collectedBytesMax, start, this);
    this.#attach(fanOut);
    fanOut.begin();
  }

  #attach(call: UpstreamCall): void {
    this.#call = call;
    // A listener may be told everything before send() returns.
    if (this.#isOver) call.cancel();
    else this.#respond?.attach(call);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call?.cancel();
  }

  onRepeat(): void {
    if (!this.#isOver) this.attempts.onRepeat();
  }

  // An upstream, or a transport, is told nothing of what its news led to.

  onHead(status: number, headers: readonly string[]): void {
    try {
      this.#takeHead(status, headers);
    } catch (thrown) {
      this.attempts.onThrown(thrown);
    }
  }

  #takeHead(status: number, headers: readonly string[]): void {
    if (this.#isOver) return;
    const { attempts } = this;
    const { exchange } = attempts;
    exchange.upstreamMs += performance.now() - this.#sentAt;
    if (!attempts.onHead(this, status, headers)) {
      this.#isDraining = true;
      if (attempts.isKept(this)) this.#kept = new ByteCollector();
      return;
    }
    this.#begin().onHead(status, headers, attempts.retryCount(status));
  }

  #begin(): Respond {
    const { attempts } = this;
    const respond = new Respond(attempts.exchange, this, attempts.services, attempts.end);
    this.#respond = respond;
    attempts.respond = respond;
    if (this.#call !== null) respond.attach(this.#call);
    return respond;
  }

  get isRevivable(): boolean {
    return this.#kept !== null;
  }

  /** The answer that was passed over is the one for the client after all. */
  revive(status: number, headers: readonly string[], retryCount: number): void {
    const kept = this.#kept;
    if (kept === null) return;
    this.#kept = null;
    this.#isDraining = false;
    const respond = this.#begin();
    respond.onHead(status, headers, retryCount);
    if (kept.length > 0) respond.onChunk(kept.take());
    if (this.#isWhole) respond.onEnd();
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#respond !== null) {
      try {
        this.#respond.onChunk(chunk);
      } catch (thrown) {
        this.attempts.onThrown(thrown);
      }
      return;
    }
    if (this.#isOver || !this.#isDraining) return;
    this.#drained += chunk.length;
    this.#kept?.append(chunk);
    if (this.#drained <= drainBytesMax) return;
    this.#kept = null;
    this.cancel();
  }

  onEnd(): void {
    try {
      if (this.#respond !== null) this.#respond.onEnd();
      else this.#isWhole = true;
    } catch (thrown) {
      this.attempts.onThrown(thrown);
    }
  }

  onError(error: Error): void {
    try {
      this.#takeError(error);
    } catch (thrown) {
      this.attempts.onThrown(thrown);
    }
  }

  #takeError(error: Error): void {
    if (this.#isDraining) {
      this.#kept = null;
      return;
    }
    if (this.#isOver) return;
    const provider = this.target.provider.id;
    if (this.#respond !== null) {
      this.#respond.onError(isGatewayError(error) ? error : fail('UPSTREAM_BROKE', { provider, reason: reasonOf(error) }, error));
      return;
    }
    this.#isOver = true;
    this.attempts.exchange.upstreamMs += performance.now() - this.#sentAt;
    this.attempts.onFault(this, isGatewayError(error) ? error : fail('UPSTREAM_RESET', { provider, reason: reasonOf(error) }, error));
  }
}

/** A call of a plugin's transport, which may throw whenever it is told something. */
class FencedCall implements UpstreamCall {
  constructor(readonly call: UpstreamCall, readonly attempts: RetryLoop) {}

  pause(): void { this.#tell('pause'); }
  resume(): void { this.#tell('resume'); }
  cancel(): void { this.#tell('cancel'); }

  #tell(what: keyof UpstreamCall): void {
    try {
      atOnce(this.call[what]());
    } catch (thrown) {
      this.attempts.onPluginThrow(thrown);
    }
  }
}

/** Stands for a call whose signature is still being made. */
class WaitingCall implements UpstreamCall {
  #call: UpstreamCall | null = null;
  #isCancelled = false;

  begin(start: () => UpstreamCall): void {
    if (!this.#isCancelled) this.#call = start();
  }

  pause(): void { this.#call?.pause(); }
  resume(): void { this.#call?.resume(); }

  cancel(): void {
    this.#isCancelled = true;
    this.#call?.cancel();
  }
}

export function asGatewayError(thrown: unknown): GatewayError {
  return isGatewayError(thrown) ? thrown : fail('INTERNAL', { id: 'unknown' }, thrown);
}

/** The header wins over the config; nonsense in the header was refused before. */
function requestTimeout(exchange: Exchange, target: TargetPlan): number {
  const given = exchange.head.requestTimeout;
  return given === undefined ? target.requestTimeoutMs : Number(given);
}
