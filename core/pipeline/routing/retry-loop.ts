// Hot: runs for each call.
// The loop of a call: target -> prepare -> send -> response, try again, or next target. Callbacks, no promise: the usual call walks through here
// without waiting for anything but the network. Only this ends a call or repeats one, and once a byte went to the client nothing is repeated.

import type { Readable } from 'node:stream';
import { deniedStatus } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import type { Exchange, Running } from '../../exchange/exchange.js';
import { DecisionLog } from '../../exchange/decision-log.js';
import type { KeptBodies } from '../../exchange/kept-bodies.js';
import type { LeftTarget } from '../../exchange/left-target.js';
import { randomHex, uuid } from '../../exchange/trace.js';
import type { Usage } from '../../exchange/usage.js';
import type { CachePlan, Plan, TargetPlan } from '../../plan/plan.js';
import { backoffMs, retryAfterMs } from '../../upstream/retry-after.js';
import { WheelTimeout, type TimeoutOwner } from '../../upstream/timer-wheel.js';
import type { CacheKey } from '../cache/cache-key.js';
import { CachedCall, type CachedCallOwner, type CacheOutcome } from '../cache/cached-call.js';
import { clientStatus, isJudged, runBefore } from '../hooks/before.js';
import { prepare, type PreparedRequest } from '../request/prepare.js';
import { sendResponse } from '../response/client-response.js';
import { ResponseHead } from '../response/response-head.js';
import { KeptHandler } from '../response/kept-handler.js';
import type { ResponseHandler } from '../response/response-handler.js';
import type { ResponseOwner } from '../response/response-owner.js';
import { selectHandler } from '../response/select-handler.js';
import type { PipelineServices } from '../services.js';
import { Attempt, type AttemptOwner } from './attempt.js';
import { TargetSelector } from './target-selector.js';

/** Upstream calls of one exchange, all targets together: a strategy that never stops asking is stopped here. */
const attemptsMax = 200;
/** A retry-after that asks for more ends the retries; so does one that brings all waiting together above it. */
const retryWaitMsMax = 60_000;
/** The outcome, for strategies, of a target whose breaker let nobody through. */
const breakerOpenStatus = 503;
const noHeaders: readonly string[] = [];

/** How a target failed that another one was tried after: the client is told of it when nobody else can take the call. */
interface Failure {
  readonly attempt: Attempt;
  readonly head: ResponseHead;
  /** Null: there was a response. */
  readonly error: GatewayError | null;
  readonly retryCount: number;
  readonly unsupported: string[];
  readonly targetIndex: number;
  readonly retries: number;
}

export interface CallEnd {
  /** The exchange is over; everything about it is in its fields. */
  finish(exchange: Exchange): void;
  /** No response could be had: the client gets the error. */
  refuse(exchange: Exchange, error: GatewayError, retryCount: number): void;
  /** Nobody is left to read the response. */
  abandon(exchange: Exchange): void;
  /** Something threw that nobody expected to: whatever has become of the response by now, it ends. */
  breakOff(exchange: Exchange, thrown: unknown): void;
}

export class RetryLoop implements Running, ResponseOwner, AttemptOwner, CachedCallOwner, TimeoutOwner {
  readonly #targets: TargetSelector | null;
  #target: TargetPlan | null = null;
  #passedOver: TargetPlan | null = null;
  #prepared: PreparedRequest | null = null;
  #attempt: Attempt | null = null;
  /** Of the wait before a retry. */
  #timer: NodeJS.Timeout | null = null;
  /** Of an attempt; null where none has been limited. */
  #timeout: WheelTimeout | null = null;
  #retries = 0;
  /** Requests that the connection sent again by itself, for the present target. */
  #repeats = 0;
  #waitedMs = 0;
  /** The provider asked for a longer wait than there is. */
  #isRetryTooLate = false;
  #failure: Failure | null = null;
  /** The target that was left last, until another one is called: the client may yet be told of its failure. */
  #left: LeftTarget | null = null;
  /** Where the clocks and counts of the exchange stood when the present target had its turn; only where there are several. */
  #targetBegan = 0;
  #attemptsBefore = 0;
  #upstreamMsBefore = 0;
  #isOver = false;
  /** A body that is streamed, and can be sent once. */
  #upload: Readable | null = null;
  /** Null without a cache. */
  #cached: CachedCall | null = null;

  constructor(
    readonly exchange: Exchange,
    readonly plan: Plan,
    readonly services: PipelineServices,
    readonly end: CallEnd,
  ) {
    services.plans.acquire(plan);
    this.#targets = plan.root.kind === 'target' ? null : new TargetSelector(exchange, plan.root, services.breakers);
    if (plan.root.kind === 'target') this.#target = plan.root;
  }

  /** Throws the client errors of the only target. `upload`: the body is streamed and can be sent once. */
  begin(upload: Readable | null): void {
    this.#upload = upload;
    const target = this.#targets === null ? this.#target : this.#targets.next();
    if (target === null) throw fail('NO_TARGET', { path: 'config', reason: 'no target fits this request' });
    try {
      this.#tryTarget(target);
    } catch (thrown) {
      if (this.#targets === null) throw thrown;
      this.#skipTarget(target, thrown);
    }
  }

  // ---- as the running part of the exchange ----

  cancel(): void {
    this.#isOver = true;
    this.#clearTimers();
    if (this.#left !== null) this.#recordLeft();
    if (this.#attempt !== null) this.#attempt.cancel();
    if (this.#upload !== null) this.#upload.destroy();
    if (this.#cached !== null) this.#cached.leave();
  }

  usage(): Usage | null {
    const handler = this.#attempt === null ? null : this.#attempt.handler;
    if (handler !== null) return handler.usage();
    return this.#cached === null ? null : this.#cached.usage();
  }

  close(): void {
    this.services.plans.release(this.plan);
  }

  onPluginThrow(thrown: unknown): void {
    this.services.metrics.add('plugins.thrown', 1);
    this.services.logger.error('a plugin threw where nobody waits for it', { request: this.exchange.id, reason: reasonOf(thrown) });
  }

  // ---- one target ----

  #tryTarget(target: TargetPlan): void {
    const { exchange } = this;
    const { breakers } = this.services;
    const targets = this.#targets;
    if (target.breaker !== null && !breakers.tryPass(target.breakerSlot, target.breaker)
      && targets !== null && targets.isChosenHealthy && this.#passedOver === null && exchange.attempts === 0) {
      // It seemed healthy, but another call became its probe a moment ago. It is tried all the same when the strategies know no other.
      // A target that was known to be out was named for want of a better one: that choice stands.
      this.#passedOver = target;
      decide(exchange, target, breakerOpenStatus, '', 'another call is trying whether it has recovered');
      targets.report(breakerOpenStatus, fail('UPSTREAM_BUSY', { host: target.provider.id, maximum: 1 }));
      this.#tryTarget(targets.next() ?? target);
      return;
    }
    this.#target = target;
    this.#retries = 0;
    this.#repeats = 0;
    this.#waitedMs = 0;
    this.#isRetryTooLate = false;
    exchange.provider = target.provider.id;
    exchange.providerSlug = target.stored === null ? '' : target.stored.slug;
    exchange.targetPath = target.path;
    exchange.target = { provider: target.provider.id, attempt: exchange.attempts + 1 };
    exchange.unsupported = [];
    exchange.retries = 0;
    if (targets !== null) {
      this.#targetBegan = performance.now();
      this.#attemptsBefore = exchange.attempts;
      this.#upstreamMsBefore = exchange.upstreamMs;
    }
    const limits = target.stored === null ? null : target.stored.limits;
    const taking = exchange.hold === null && limits === null ? null : this.services.gate.take(exchange, limits);
    if (taking === null) this.#judge(target);
    else this.#judgeLater(target, taking);
  }

  // Functions stand apart from what runs for each call: there they would cost it their scope.

  #judgeLater(target: TargetPlan, taking: Promise<void>): void {
    taking.then(() => this.#resume(target, () => this.#judge(target)), (thrown: unknown) => this.#loseTarget(target, thrown)).catch((thrown: unknown) => this.onThrown(thrown));
  }

  #awaitJudgement(target: TargetPlan, judging: Promise<'passed' | 'denied'>): void {
    judging.then((judged) => this.#resume(target, () => this.#onJudged(target, judged)), (thrown: unknown) => this.#loseTarget(target, thrown)).catch((thrown: unknown) => this.onThrown(thrown));
  }

  #judge(target: TargetPlan): void {
    const { exchange } = this;
    if (target.before === null) {
      if (exchange.hooks !== null) exchange.hooks.hasFailedBefore = false;
      this.#startTarget(target);
      return;
    }
    const judging = runBefore(exchange, target.before);
    if (judging instanceof Promise) this.#awaitJudgement(target, judging);
    else this.#onJudged(target, judging);
  }

  /** A request that was denied for one target goes to no other, unless its strategy lists the status. */
  #onJudged(target: TargetPlan, judged: 'passed' | 'denied'): void {
    if (judged === 'passed') this.#startTarget(target);
    else if (this.#targets === null) this.#giveUp(fail('HOOKS_FAILED'));
    else this.#skipTarget(target, fail('HOOKS_FAILED'));
  }

  #startTarget(target: TargetPlan): void {
    const prepared = prepare(this.exchange, target, this.#upload);
    this.#prepared = prepared;
    if (this.#cached !== null) this.#cached.key = null;
    if (prepared.ownAnswer !== null) this.#sendOwn(prepared.ownAnswer);
    else if (target.cache !== null) this.#askCache(target, target.cache, prepared);
    else this.#send();
  }

  /** As begin() does with an error, for a target that was waited for. */
  #resume(target: TargetPlan, goOn: () => void): void {
    if (this.#isOver) return;
    try {
      goOn();
    } catch (thrown) {
      this.#loseTarget(target, thrown);
    }
  }

  #loseTarget(target: TargetPlan, thrown: unknown): void {
    if (this.#isOver) return;
    if (this.#targets === null) this.#giveUp(asGatewayError(thrown));
    else this.#skipTarget(target, thrown);
  }

  /** The gateway answers by itself what the provider has no endpoint for. */
  #sendOwn(body: string): void {
    this.#isOver = true;
    if (this.#left !== null) this.#recordLeft();
    sendResponse(this.exchange, 200, 0, null, 'application/json', body);
    this.end.finish(this.exchange);
  }

  // ---- the cache ----

  #askCache(target: TargetPlan, plan: CachePlan, prepared: PreparedRequest): void {
    const cached = this.#cached ??= new CachedCall(this);
    const asking = cached.ask(target, plan, prepared);
    if (asking instanceof Promise) asking.then((outcome) => this.#resume(target, () => this.#onAsked(outcome)), (thrown: unknown) => this.#loseTarget(target, thrown)).catch((thrown: unknown) => this.onThrown(thrown));
    else this.#onAsked(asking);
  }

  #onAsked(outcome: CacheOutcome): void {
    const { exchange, cacheKey } = this;
    const plan = this.#target === null ? null : this.#target.cache;
    if (plan !== null && cacheKey !== null) (exchange.decisions ??= new DecisionLog()).add({ about: 'cache', mode: plan.mode, outcome, key: cacheKey.key });
    if (outcome === 'miss') {
      this.#send();
      return;
    }
    this.#isOver = true;
    if (this.#left !== null) this.#recordLeft();
    if (outcome === 'hit') this.end.finish(this.exchange);
  }

  get cacheKey(): CacheKey | null {
    return this.#cached === null ? null : this.#cached.key;
  }

  onJoinedEnd(): void {
    this.#fenced(() => this.end.finish(this.exchange));
  }

  onAbandoned(): void {
    this.end.abandon(this.exchange);
  }

  // ---- one attempt ----

  #send(): void {
    const { exchange } = this;
    const target = this.#target as TargetPlan;
    exchange.attempts += 1;
    if (this.#retries > 0) exchange.retries += 1;
    if (this.#left !== null) this.#recordLeft();
    // Verdicts on an answer that was passed over say nothing about the next one.
    if (exchange.hooks !== null) exchange.hooks.forgetAnswer();
    const attempt = this.#attempt = new Attempt(this, target, this.#prepared as PreparedRequest);
    if (exchange.kept !== null) keepSent(exchange.kept, target, attempt.prepared);
    const timeoutMs = requestTimeout(exchange, target);
    if (timeoutMs > 0) (this.#timeout ??= new WheelTimeout(this.services.timers, this)).start(timeoutMs);
    attempt.begin();
    // The members of the body wait for the provider only where somebody on the target looks at them again.
    if (attempt.prepared.call === null && target.before === null && target.after === null && target.cache === null) exchange.forgetMembers();
  }

  /** The attempt has had its time. */
  onTimeout(): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    this.#fenced(() => {
      attempt.cancel();
      this.onFault(attempt, fail('ATTEMPT_TIMEOUT', { timeoutMs: requestTimeout(this.exchange, attempt.target) }));
    });
  }

  onRepeat(): void {
    this.#repeats += 1;
    this.exchange.attempts += 1;
    this.exchange.retries += 1;
    this.services.metrics.add('upstream.repeated', 1);
  }

  onHead(attempt: Attempt, head: ResponseHead): void {
    if (this.#isOver || attempt !== this.#attempt) {
      attempt.passOver(false);
      return;
    }
    this.#clearTimers();
    const { target } = attempt;
    const { status } = head;
    if (target.breaker !== null) this.services.breakers.record(target.breakerSlot, target.breaker, status);
    // The verdict of the hooks after the request is not known yet; they ask again.
    const isOpen = target.after !== null && isJudged(this.exchange, status);
    if (!isOpen && this.#triesAgain(target, clientStatus(this.exchange, status), head)) {
      // Its response may have to be told after all.
      attempt.passOver(this.#failure !== null && this.#failure.attempt === attempt && this.#failure.error === null);
      return;
    }
    if (this.exchange.kept !== null) this.exchange.kept.answered(head.contentType, head.isEncoded);
    const handler = selectHandler(this, target, attempt.prepared, head, this.retryCount(status));
    if (handler !== null) attempt.handler = this.#kept(handler);
  }

  onFault(attempt: Attempt, error: GatewayError): void {
    if (this.#isOver || attempt !== this.#attempt) return;
    this.#clearTimers();
    if (!this.#triesAgainOver(attempt, error, false)) this.#giveUp(error);
  }

  // ---- as the owner of the response ----

  get mayTryAgain(): boolean {
    if (this.#upload !== null || this.exchange.attempts >= attemptsMax) return false;
    return this.#targets !== null || (this.#target !== null && this.#target.retry.attempts > this.#retries);
  }

  triesAgainFor(status: number, isTold: boolean): boolean {
    const attempt = this.#attempt;
    if (this.#isOver || attempt === null) return true;
    if (this.exchange.responder.isStarted) return false;
    const { target } = attempt;
    if (isTold && target.breaker !== null) this.services.breakers.record(target.breakerSlot, target.breaker, status);
    if (!this.#triesAgain(target, status, new ResponseHead(status, noHeaders))) return false;
    attempt.drop();
    return true;
  }

  triesAgainAfter(error: GatewayError): boolean {
    const attempt = this.#attempt;
    if (this.exchange.responder.isStarted || error.source !== 'upstream') return false;
    if (this.#isOver || attempt === null) return true;
    if (!this.#triesAgainOver(attempt, error, error.code === 'UPSTREAM_BROKE')) return false;
    attempt.drop();
    return true;
  }

  retryCount(status: number): number {
    const target = this.#target;
    if (target === null) return 0;
    if (this.#retries === 0 && !this.#isRetryTooLate) return this.#repeats;
    return target.retry.onStatusCodes.has(status) ? -1 : this.#retries + this.#repeats;
  }

  pause(): void {
    if (this.#attempt !== null) this.#attempt.pause();
  }

  resume(): void {
    if (this.#attempt !== null) this.#attempt.resume();
  }

  stop(): void {
    if (this.#attempt !== null) this.#attempt.cancel();
  }

  handOver(handler: ResponseHandler): void {
    if (this.#attempt !== null) this.#attempt.handler = this.#kept(handler);
  }

  finish(): void {
    this.end.finish(this.exchange);
  }

  refuse(error: GatewayError, retryCount: number): void {
    this.end.refuse(this.exchange, error, retryCount);
  }

  // ---- the steps between attempts ----

  #triesAgain(target: TargetPlan, status: number, head: ResponseHead): boolean {
    const mayRepeat = this.#upload === null && this.exchange.attempts < attemptsMax;
    if (mayRepeat && target.retry.attempts > this.#retries && target.retry.onStatusCodes.has(status)) {
      const delayMs = this.#delay(target, head.headers);
      if (delayMs >= 0) {
        this.#throwAway();
        this.#retryAfter(target, status, delayMs);
        return true;
      }
      this.#isRetryTooLate = true;
    }
    if (this.#targets === null || !mayRepeat) return false;
    const attempt = this.#attempt;
    const retryCount = this.retryCount(status);
    this.#targets.report(status, undefined);
    const { targetIndex } = this.exchange;
    if (this.#nextTarget() === null) return false;
    if (attempt === null) return true;
    if (status >= 400) this.#failure = { attempt, head, error: null, retryCount, unsupported: this.exchange.unsupported, targetIndex, retries: this.exchange.retries };
    this.#leave(attempt, status, null);
    return true;
  }

  /** No response came, or not a usable one. */
  #triesAgainOver(attempt: Attempt, error: GatewayError, isRetriable: boolean): boolean {
    const { target } = attempt;
    // A mistake of the client says nothing about the target; the network and its time-outs do.
    if (target.breaker !== null && error.source === 'upstream') this.services.breakers.record(target.breakerSlot, target.breaker, error.status);
    const mayRepeat = this.#upload === null && this.exchange.attempts < attemptsMax;
    const isRetried = error.code === 'ATTEMPT_TIMEOUT' ? target.retry.onStatusCodes.has(error.status) : error.retryable || isRetriable;
    if (mayRepeat && isRetried && target.retry.attempts > this.#retries) {
      this.#throwAway();
      this.#retryAfter(target, error.status, backoffMs(this.#retries, this.services.settings.retryDelayMs, Math.random));
      return true;
    }
    if (this.#targets === null || !mayRepeat) return false;
    const retryCount = this.#lastCount;
    this.#targets.report(error.status, error);
    const { targetIndex } = this.exchange;
    if (this.#nextTarget() === null) return false;
    this.#failure = { attempt, head: new ResponseHead(error.status, noHeaders), error, retryCount, unsupported: this.exchange.unsupported, targetIndex, retries: this.exchange.retries };
    this.#leave(attempt, error.status, error);
    return true;
  }

  /** A target that was tried is left for another one, whose turn has not come yet. */
  #leave(attempt: Attempt, status: number, error: GatewayError | null): void {
    const { exchange } = this;
    // Choosing the next one may have ended the call.
    if (this.#isOver) return;
    const { hold } = exchange;
    if (hold !== null) hold.leaveTarget(this.#usageOf(attempt));
    if (this.services.record !== null) {
      const { target } = attempt;
      this.#left = {
        id: uuid(),
        spanId: randomHex(8),
        provider: target.provider.id,
        providerSlug: target.stored === null ? '' : target.stored.slug,
        targetPath: target.path,
        targetIndex: exchange.targetIndex,
        retries: exchange.retries,
        attempts: exchange.attempts - this.#attemptsBefore,
        status,
        ending: error === null || error.source === 'client' ? 'complete' : error.source === 'upstream' ? 'upstream' : 'gateway',
        errorCode: error === null ? (status === deniedStatus && exchange.hooks !== null ? 'HOOKS_FAILED' : '') : error.code,
        startedAt: this.#targetBegan,
        tookMs: performance.now() - this.#targetBegan,
        upstreamMs: exchange.upstreamMs - this.#upstreamMsBefore,
        hookResults: exchange.hooks === null ? '' : exchange.hooks.logged(),
        usage: this.#usageOf(attempt),
      };
    }
    exchange.targetIndex += 1;
  }

  /** The answer is not told, but may have been paid for. */
  #throwAway(): void {
    const { hold } = this.exchange;
    if (hold !== null && this.#attempt !== null) hold.throwAway(this.#usageOf(this.#attempt));
  }

  #usageOf({ handler }: Attempt): Usage | null {
    try {
      return handler === null ? null : handler.usage();
    } catch (thrown) {
      this.onPluginThrow(thrown);
      return null;
    }
  }

  #recordLeft(): void {
    const left = this.#left as LeftTarget;
    this.#left = null;
    this.services.record?.(this.exchange, left.usage, left);
  }

  #delay(target: TargetPlan, headers: readonly string[]): number {
    if (target.retry.usesRetryAfter) {
      const askedMs = retryAfterMs(headers, Date.now());
      if (askedMs >= 0) return askedMs > retryWaitMsMax || this.#waitedMs + askedMs > retryWaitMsMax ? -1 : askedMs;
    }
    return backoffMs(this.#retries, this.services.settings.retryDelayMs, Math.random);
  }

  #retryAfter(target: TargetPlan, status: number, delayMs: number): void {
    (this.exchange.decisions ??= new DecisionLog()).add({ about: 'retry', path: target.path, status, waitMs: Math.round(delayMs) });
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
    const targets = this.#targets as TargetSelector;
    try {
      const target = targets.next();
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
    const { hold } = this.exchange;
    this.#target = target;
    if (hold !== null) {
      hold.skipTarget();
      if (hold.isCallRefused) {
        this.#giveUp(error);
        return;
      }
    }
    if (this.#targets !== null) {
      decide(this.exchange, target, error.status, error.code, error.message);
      this.#targets.report(error.status, error);
    }
    if (this.exchange.attempts < attemptsMax && this.#nextTarget() !== null) return;
    if (this.#failure !== null && !this.#isOver && error.code !== 'HOOKS_FAILED') this.#tellFailure(this.#failure);
    else this.#giveUp(error);
  }

  /** Tells the client of the last failure of a provider, in the place of why the targets after it could not take the call. */
  #tellFailure(failure: Failure): void {
    const { exchange } = this;
    const { attempt } = failure;
    this.#failure = null;
    // Its record is the final one.
    this.#left = null;
    exchange.targetIndex = failure.targetIndex;
    exchange.retries = failure.retries;
    this.#target = attempt.target;
    if (this.#cached !== null) this.#cached.key = null;
    exchange.provider = attempt.target.provider.id;
    exchange.providerSlug = attempt.target.stored === null ? '' : attempt.target.stored.slug;
    exchange.targetPath = attempt.target.path;
    exchange.unsupported = failure.unsupported;
    if (failure.error !== null) {
      this.#giveUp(failure.error, failure.retryCount);
    } else if (attempt.isRevivable) {
      this.#attempt = attempt;
      const handler = selectHandler(this, attempt.target, attempt.prepared, failure.head, failure.retryCount);
      if (handler !== null) attempt.revive(this.#kept(handler));
    } else {
      this.#giveUp(fail('UPSTREAM_FAILED', { provider: exchange.provider, reason: `it answered ${failure.head.status}` }), failure.retryCount);
    }
  }

  #kept(handler: ResponseHandler): ResponseHandler {
    const { kept } = this.exchange;
    return kept === null ? handler : new KeptHandler(handler, kept);
  }

  /** The count header of an error that is not a response. */
  get #lastCount(): number {
    return this.#retries > 0 ? -1 : this.#repeats;
  }

  #giveUp(error: GatewayError, retryCount = this.#lastCount): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clearTimers();
    if (this.#upload !== null) this.#upload.destroy();
    this.end.refuse(this.exchange, error, retryCount);
  }

  /** For code that runs on nobody's stack: an error there ends this call, and nothing else. */
  #fenced(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.onThrown(thrown);
    }
  }

  onThrown(thrown: unknown): void {
    this.#isOver = true;
    this.#clearTimers();
    this.end.breakOff(this.exchange, thrown);
  }

  #clearTimers(): void {
    if (this.#timeout !== null) this.#timeout.remove();
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }
}

export function asGatewayError(thrown: unknown): GatewayError {
  return isGatewayError(thrown) ? thrown : fail('INTERNAL', { id: 'unknown' }, thrown);
}

/** Keeps the upstream request for the log; of several bodies the first. */
function keepSent(kept: KeptBodies, target: TargetPlan, { base, request, parts, keys }: PreparedRequest): void {
  kept.sent(base.originUrl + request.path, request.headers, parts === null ? request.body : parts[0] ?? null, target.after !== null, keys.apiKey ?? target.apiKey?.reveal(), target.kept ?? target.credentials, target.stored?.headerNames());
}

/** A target that was passed over, and why. */
function decide(exchange: Exchange, target: TargetPlan, status: number, code: string, reason: string): void {
  (exchange.decisions ??= new DecisionLog()).add({
    about: 'target', path: target.path, provider: target.provider.id, ...(target.stored === null ? {} : { slug: target.stored.slug }), status, ...(code === '' ? {} : { code }), reason,
  });
}

/** The header wins over the config; nonsense in the header was refused before. */
function requestTimeout(exchange: Exchange, target: TargetPlan): number {
  const given = exchange.head.requestTimeout;
  return given === undefined ? target.requestTimeoutMs : Number(given);
}
