// Hot: runs for each call that is limited.
// The amounts that a call has taken from limits: reserved by estimate before it is dispatched, settled to what it used when it ends. What belongs to a target (its
// provider, its integration, policies about either) goes with the target; the rest is taken once.

import { DecisionLog } from '../exchange/decision-log.js';
import type { Exchange, Hold } from '../exchange/exchange.js';
import type { HeaderList } from '../exchange/responder.js';
import { noUsage, type Usage } from '../exchange/usage.js';
import { microCentsOf, type Counted, type LimitSpec, type RateSpec } from '../snapshot/limit-specs.js';
import type { Principal } from '../snapshot/principal.js';
import { KeptText } from '../telemetry/kept-text.js';
import { CallFacts } from './call-facts.js';
import { noRoom, type Counters } from './counters.js';
import { Delivered } from './delivered.js';
import { estimate, type Estimate } from './estimate.js';
import type { SpendCharge, SpendWriter } from './journal.js';
import { durationOf, lengthOf, timeOf, windowEnd } from './windows.js';

const bytesPerToken = 4;
/** A slot that was lost is looked up again; it can be lost again only to a table that is full. */
export const lookupsMax = 8;

/** One limit that a call has passed. */
export interface Taken {
  readonly spec: LimitSpec;
  /** Window or period. */
  readonly tag: number;
  readonly before: number;
  readonly isOfTarget: boolean;
  /** The amount that it holds now. */
  amount: number;
}

/** Prices what calls use. */
export interface Prices {
  /** Of what an answer said of itself, in US cents; 0 where the model has no price. The exchange has the provider that answered. */
  cost(exchange: Exchange, usage: Usage): CallCost;
  /** Before there is an answer: undefined when the rates of its model have to be asked for. */
  expected(exchange: Exchange, inputTokens: number, outputTokens: number): number | undefined;
  /** Of the call, or of an answer to it; never rejects. Null: they are here, or there are none to be had. */
  load(exchange: Exchange, model: string): Promise<void> | null;
}

export interface CallCost {
  readonly cents: number;
  readonly isPriced: boolean;
}

interface Charge extends SpendCharge {
  reserved: number;
  used: number;
}

export interface HoldOptions {
  readonly counters: Counters;
  /** Null: budgets are counted, and forgotten with the process. */
  readonly journal: SpendWriter | null;
  /** Tokens that a call is taken to answer with when it says nothing. */
  readonly outputTokens: number;
  readonly prices: Prices;
  /** False: nobody reads what limits said of a call. */
  readonly isRecorded: boolean;
}

export class CallHold implements Hold {
  /** In the order in which they were taken. */
  taken: Taken[] = [];
  /** A limit that holds for the call as a whole has refused it: no other target changes that. */
  isCallRefused = false;
  /** The control thread has been asked for the rates of the call's model. */
  isPriceAsked = false;
  /** The limits of the call as a whole have been taken. */
  hasCall = false;
  /** Of the last refusal by a rate; 0: there was none, or the rate lets nothing through. */
  retryAfterSeconds = 0;
  #facts: CallFacts | null = null;
  #estimate: Estimate | null = null;
  /** Of the answer that is on its way; null where neither tokens nor cost are limited. */
  delivered: Delivered | null = null;
  /** A limit of cost is on the call: its answer is priced here. */
  hasCost = false;
  /** Of targets that were left, and of answers of the present one that were thrown away. */
  #leftTokens = 0;
  #leftMicroCents = 0;
  #thrownTokens = 0;
  #thrownMicroCents = 0;
  /** One for each usage counter and period of the call, whatever target it was taken for. */
  #charges: Charge[] | null = null;
  /** The limit that refused the present target; null: none did. */
  #refusal: { readonly spec: LimitSpec; readonly before: number } | null = null;
  #isSettled = false;
  /** Limits of targets that were left, for the log. */
  #leftLimits: Taken[] | null = null;

  constructor(readonly exchange: Exchange, readonly principal: Principal | null, readonly options: HoldOptions) {}

  get facts(): CallFacts {
    return this.#facts ??= new CallFacts(this.exchange);
  }

  get estimate(): Estimate {
    return this.#estimate ??= estimate(this.exchange, this.options.outputTokens);
  }

  /** A target has its turn: whatever refused the one before it says nothing of this one. */
  beginTarget(): void {
    this.#refusal = null;
  }

  add(spec: LimitSpec, amount: number, isOfTarget: boolean): void {
    const { tag, countBefore } = this.options.counters;
    this.taken.push({ spec, tag, before: countBefore, isOfTarget, amount });
    if (spec.counted !== 'requests') this.delivered ??= new Delivered();
    if (spec.counted === 'cost') this.hasCost = true;
  }

  /** The charges for the journal before the call goes out; null: no budget is on it. */
  openCharges(from: number): readonly SpendCharge[] | null {
    let charges: Charge[] | null = null;
    for (let index = from; index < this.taken.length; index += 1) {
      const { spec, tag, amount } = this.taken[index] as Taken;
      if (spec.type !== 'usage') continue;
      (charges ??= []).push({ counter: spec.counter, counted: spec.counted, period: tag, reserved: amount, used: 0 });
      this.#chargeOf(spec, tag).reserved += amount;
    }
    return charges;
  }

  /** Takes back all from `from` on, the last first: the call is not dispatched by it. */
  undo(from: number, nowMs: number): void {
    while (this.taken.length > from) this.#change(this.taken.pop() as Taken, 0, nowMs);
  }

  // ---- on the way of the call ----

  /** The target is left, with what its answer used; null: nothing came of it. */
  leaveTarget(usage: Usage | null): void {
    this.throwAway(usage);
    this.#endTarget(this.#thrownTokens, this.#thrownMicroCents, false);
    this.#leftTokens += this.#thrownTokens;
    this.#leftMicroCents += this.#thrownMicroCents;
    this.#thrownTokens = this.#thrownMicroCents = 0;
    if (this.delivered !== null) this.delivered = new Delivered();
  }

  /** The target was passed over before anything was sent to it. */
  skipTarget(): void {
    this.#endTarget(0, 0, true);
  }

  /** An answer of the target that nobody gets, since it is asked again. */
  throwAway(usage: Usage | null): void {
    if (usage === null || this.delivered === null) return;
    this.#thrownTokens += tokensOf(usage);
    this.#thrownMicroCents += this.#costOf(usage);
  }

  /** The call has ended. */
  settle(usage: Usage | null, isCached: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    let isEstimated = false;
    if (this.delivered !== null && !isCached) isEstimated = this.#addAnswer(usage);
    const nowMs = this.options.counters.now();
    for (let index = 0; index < this.taken.length; index += 1) {
      const taken = this.taken[index] as Taken;
      const { counted } = taken.spec;
      const own = counted === 'requests' ? taken.amount : counted === 'tokens' ? this.#thrownTokens : this.#thrownMicroCents;
      const ofLeft = taken.isOfTarget || counted === 'requests' ? 0 : counted === 'tokens' ? this.#leftTokens : this.#leftMicroCents;
      this.#settleTaken(taken, own + ofLeft, nowMs);
    }
    if (this.#charges !== null && this.options.journal !== null) this.options.journal.settle(this.exchange.id, this.#charges, isEstimated);
    if (this.options.isRecorded) this.#tell();
    this.taken = [];
  }

  #tell(): void {
    const limits = this.#leftLimits === null ? this.taken : this.#leftLimits.concat(this.taken);
    if (limits.length === 0) return;
    for (let index = 0; index < limits.length; index += 1) {
      const { spec } = limits[index] as Taken;
      spec.told ??= toldOf(spec);
    }
    (this.exchange.decisions ??= new DecisionLog()).addLimits(limits);
  }

  /** True: nobody told. */
  #addAnswer(usage: Usage | null): boolean {
    const { exchange } = this;
    const { ending } = exchange;
    // Servers that do not count say 0 of everything. No text has an input of nothing.
    const least = this.estimate.isGenerating && exchange.status < 400 ? 1 : 0;
    const isTold = usage !== null && (usage.totalTokens >= least || usage.inputTokens >= least || usage.outputTokens >= least);
    // Where nothing was sent, or the provider refused it, nothing is paid for but what it says itself.
    const isFailed = exchange.attempts === 0 || (ending !== 'client' && exchange.status >= 400);
    if (isFailed || (isTold && ending === 'complete')) {
      if (isTold) this.#addFinal(usage);
      return false;
    }
    const guess = this.estimate;
    const inputTokens = isTold && usage.inputTokens >= 0 ? usage.inputTokens : guess.input;
    const outputTokens = !isTold && this.#isInBackground ? guess.output : Math.max(isTold ? usage.outputTokens : 0, guess.isGenerating ? this.#delivered : 0);
    this.#addFinal({ ...(usage ?? noUsage), inputTokens, outputTokens, totalTokens: inputTokens + outputTokens });
    return true;
  }

  get #delivered(): number {
    const tokens = this.delivered === null ? 0 : this.delivered.tokens;
    return tokens === 0 ? Math.ceil(this.exchange.responder.bytesSent / bytesPerToken) : tokens;
  }

  /** The answer comes before what it will use is known; who fetches that later may be nobody. */
  get #isInBackground(): boolean {
    const { exchange } = this;
    return this.estimate.isGenerating && exchange.isJson && exchange.ending === 'complete' && exchange.json().background === true;
  }

  /** The record of the call says the same cost as its budgets. */
  #addFinal(usage: Usage): void {
    this.#thrownTokens += tokensOf(usage);
    if (!this.hasCost) return;
    const { cents, isPriced } = this.options.prices.cost(this.exchange, usage);
    this.#thrownMicroCents += microCentsOf(cents);
    this.exchange.cost = cents;
    this.exchange.isPriced = isPriced;
  }

  #costOf(usage: Usage): number {
    if (!this.hasCost) return 0;
    return microCentsOf(this.options.prices.cost(this.exchange, usage).cents);
  }

  /** Resolves when the answer can be priced; null: now, or it need not be. */
  loadPrice(usage: Usage | null): Promise<void> | null {
    return this.hasCost && usage !== null && !this.#isSettled ? this.options.prices.load(this.exchange, usage.model) : null;
  }

  #endTarget(tokens: number, microCents: number, isUnsent: boolean): void {
    const nowMs = this.options.counters.now();
    let kept = 0;
    for (let index = 0; index < this.taken.length; index += 1) {
      const taken = this.taken[index] as Taken;
      if (!taken.isOfTarget) {
        this.taken[kept] = taken;
        kept += 1;
        continue;
      }
      const { counted } = taken.spec;
      if (counted === 'requests') this.#settleTaken(taken, isUnsent ? 0 : taken.amount, nowMs);
      else this.#settleTaken(taken, counted === 'tokens' ? tokens : microCents, nowMs);
      if (this.options.isRecorded) (this.#leftLimits ??= []).push(taken);
    }
    this.taken.length = kept;
  }

  /** `used` in place of what was reserved. */
  #settleTaken(taken: Taken, used: number, nowMs: number): void {
    if (taken.spec.type === 'usage') this.#chargeOf(taken.spec, taken.tag).used += used;
    this.#change(taken, used, nowMs);
  }

  /** A limit that let the call, or one of its targets, not through. */
  refuse(spec: LimitSpec, before: number, needed: number, retryAfterSeconds: number): void {
    const { counter, counted, maximum } = spec;
    this.#refusal = spec.type === 'rate' ? { spec, before } : null;
    this.retryAfterSeconds = retryAfterSeconds;
    if (this.options.isRecorded) (this.exchange.decisions ??= new DecisionLog()).add({ about: 'limit', refusedBy: counter, counted, before, needed, maximum });
  }

  #change(taken: Taken, amount: number, nowMs: number): void {
    const { spec, tag } = taken;
    const change = amount - taken.amount;
    taken.amount = amount;
    if (change === 0) return;
    if (spec.type === 'rate') {
      if (!this.options.counters.settleRate(spec.slot, lengthOf[spec.unit], tag, change, nowMs)) this.#countAnew(spec, change, nowMs);
    } else this.options.counters.settleUsage(spec.slot, tag, change);
  }

  /** Nobody but this call has used the counter for so long that it was given back. */
  #countAnew(spec: RateSpec, amount: number, nowMs: number): void {
    const { counters } = this.options;
    for (let lookup = 0; lookup < lookupsMax; lookup += 1) {
      const slot = slotOf(counters, spec, this.exchange);
      if (slot === noRoom) return;
      spec.slot = slot;
      if (counters.settleRate(slot, lengthOf[spec.unit], 0, amount, nowMs)) return;
    }
  }

  #chargeOf(spec: LimitSpec, period: number): Charge {
    const charges = this.#charges ??= [];
    for (const charge of charges) if (charge.counter === spec.counter && charge.period === period) return charge;
    const charge: Charge = { counter: spec.counter, counted: spec.counted, period, reserved: 0, used: 0 };
    charges.push(charge);
    return charge;
  }

  // ---- what is told ----

  get readsBody(): boolean {
    if (this.principal === null) return false;
    const { limits, workspace } = this.principal;
    if (limits !== null && limits.some(readsBody)) return true;
    if (workspace === null) return false;
    return (workspace.limits !== null && workspace.limits.some(readsBody)) || (workspace.policies !== null && workspace.policies.readsBody);
  }

  get hasRates(): boolean {
    if (this.#refusal !== null) return true;
    for (const { spec } of this.taken) if (spec.type === 'rate') return true;
    return false;
  }

  /** Of the rate limits with the least left, or of the one that refused. */
  addHeaders(headers: HeaderList): void {
    const nowMs = this.options.counters.now();
    this.#addHeader(headers, 'requests', nowMs);
    this.#addHeader(headers, 'tokens', nowMs);
  }

  #addHeader(headers: HeaderList, counted: 'requests' | 'tokens', nowMs: number): void {
    let tightest: LimitSpec | null = null;
    let left = Infinity;
    if (this.#refusal !== null && this.#refusal.spec.counted === counted) {
      tightest = this.#refusal.spec;
      left = tightest.maximum - this.#refusal.before;
    } else {
      for (let index = 0; index < this.taken.length; index += 1) {
        const { spec, before, amount } = this.taken[index] as Taken;
        if (spec.type !== 'rate' || spec.counted !== counted || spec.maximum - before - amount >= left) continue;
        tightest = spec;
        left = spec.maximum - before - amount;
      }
    }
    if (tightest === null || tightest.type !== 'rate') return;
    const { limit, remaining, reset } = names[counted];
    const endMs = windowEnd(lengthOf[tightest.unit], nowMs);
    const [maximumText, leftText] = [String(tightest.maximum), String(Math.max(0, left))];
    headers.push(limit, maximumText, remaining, leftText, reset, durationOf(secondsUntil(endMs, nowMs)));
    const { rateHeaders } = this.exchange.route.dialect;
    if (rateHeaders !== null) headers.push(rateHeaders[counted].limit, maximumText, rateHeaders[counted].remaining, leftText, rateHeaders[counted].reset, timeOf(endMs));
  }
}

/** Of its counter, which the workspace of the call is charged with; `noRoom`: there is none. */
export function slotOf(counters: Counters, spec: LimitSpec, { principal: { workspaceId, organisationId } }: Exchange): number {
  // Values of policies and tokens are as many as clients like.
  return counters.slot(spec.counter, spec.type === 'rate' ? spec.unit : 'usage', workspaceId || organisationId, spec.level === 'policy' || spec.level === 'token');
}

/** With a count before a call, and one after it, it is JSON. */
function toldOf({ counter, counted, maximum }: LimitSpec): KeptText {
  return new KeptText(`{"counter":${JSON.stringify(counter)},"counted":"${counted}","maximum":${maximum === Infinity ? 'null' : maximum},"before":`);
}

function tokensOf({ totalTokens, inputTokens, outputTokens }: Usage): number {
  return totalTokens >= 0 ? totalTokens : Math.max(0, inputTokens) + Math.max(0, outputTokens);
}

const names: Readonly<Record<Exclude<Counted, 'cost'>, { readonly limit: string; readonly remaining: string; readonly reset: string }>> = Object.freeze({
  requests: Object.freeze({ limit: 'x-ratelimit-limit-requests', remaining: 'x-ratelimit-remaining-requests', reset: 'x-ratelimit-reset-requests' }),
  tokens: Object.freeze({ limit: 'x-ratelimit-limit-tokens', remaining: 'x-ratelimit-remaining-tokens', reset: 'x-ratelimit-reset-tokens' }),
});

/** At least one. */
export const secondsUntil = (endsAtMs: number, nowMs: number): number => Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));

const readsBody = ({ counted }: LimitSpec): boolean => counted !== 'requests';
