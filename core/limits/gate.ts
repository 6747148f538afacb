// Hot: runs for each call that is limited.
// Takes the limits of a call, for each target of it, in the order key, provider, integration, workspace, policies. The first that leaves too little answers, and
// what was taken before it is given back. Nothing here waits, but for the disk where budgets are strict.

import { Buffer } from 'node:buffer';
import { fail, type GatewayError } from '../errors/gateway-error.js';
import type { ErrorCode } from '../errors/codes.js';
import type { Exchange } from '../exchange/exchange.js';
import { countedPerUnit, microCentsAtMost, policyCounterKey, slotUnknown, spanWords, type Counted, type LimitLevel, type LimitSpec } from '../snapshot/limit-specs.js';
import type { PolicyFacts, PolicyGroup, RatePolicy, UsagePolicy } from '../snapshot/policy.js';
import type { Principal } from '../snapshot/principal.js';
import type { WorkspacePolicies } from '../snapshot/workspace-policies.js';
import { lost, noRoom, refused } from './counters.js';
import { CallHold, lookupsMax, secondsUntil, slotOf, type HoldOptions } from './hold.js';
import { lengthOf, nameOf, windowEnd } from './windows.js';

/** Value keys of policies whose counters this thread remembers; all of them are forgotten when there are more. */
const valuesMax = 100_000;

export class Gate {
  readonly #options: HoldOptions;
  /** Limits by the values of their policy, which takes no text to be made, or by its value keys. */
  #values = new WeakMap<RatePolicy | UsagePolicy, ValueSpecs>();
  #valueCount = 0;

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  /** Of a call whose key, workspace or policies limit it. */
  open(exchange: Exchange, principal: Principal): CallHold | null {
    return isFree(exchange) ? null : this.#hold(exchange, principal);
  }

  /** Takes what a target needs; the first time also what the call as a whole does. Throws, or rejects with, what the client is told. Null: go on. */
  take(exchange: Exchange, ofTarget: readonly LimitSpec[] | null): Promise<void> | null {
    const held = exchange.hold;
    if (held === null && isFree(exchange)) return null;
    const hold = held instanceof CallHold ? held : this.#hold(exchange, null);
    exchange.hold = hold;
    try {
      return this.#takeFor(hold, ofTarget);
    } catch (thrown) {
      if (thrown !== priceUnknown) throw thrown;
      // Whatever the answer is, it is not asked for a second time.
      return (this.#options.prices.load(exchange, '') ?? Promise.resolve()).then(() => {
        hold.isPriceAsked = true;
        return exchange.isFinished ? null : this.#takeFor(hold, ofTarget);
      }).then(nothingMore);
    }
  }

  #takeFor(hold: CallHold, ofTarget: readonly LimitSpec[] | null): Promise<void> | null {
    const from = hold.taken.length;
    const nowMs = this.#options.counters.now();
    hold.beginTarget();
    const { principal } = hold;
    const isFirst = !hold.hasCall;
    if (isFirst && principal !== null) this.#takeAll(hold, principal.limits, false, from, nowMs);
    this.#takeAll(hold, ofTarget, true, from, nowMs);
    if (principal !== null && principal.workspace !== null) {
      const { limits, policies } = principal.workspace;
      if (isFirst) this.#takeAll(hold, limits, false, from, nowMs);
      if (policies !== null) this.#takePolicies(hold, policies, isFirst, from, nowMs);
    }
    hold.hasCall = true;
    return this.#openJournal(hold, from, isFirst);
  }

  #hold(exchange: Exchange, principal: Principal | null): CallHold {
    return new CallHold(exchange, principal, this.#options);
  }

  #openJournal(hold: CallHold, from: number, isFirst: boolean): Promise<void> | null {
    const { journal, counters } = this.#options;
    if (journal === null) return null;
    const charges = hold.openCharges(from);
    const opening = charges === null ? null : journal.open(hold.exchange.id, charges);
    return opening === null ? null : opening.catch((thrown: unknown) => {
      hold.undo(from, counters.now());
      if (isFirst) hold.hasCall = false;
      throw thrown;
    });
  }

  #takePolicies(hold: CallHold, { sorted }: WorkspacePolicies, isFirst: boolean, from: number, nowMs: number): void {
    if (isFirst) {
      this.#takeGroup(hold, sorted.rates, false, from, nowMs);
      this.#takeGroup(hold, sorted.usages, false, from, nowMs);
    }
    this.#takeGroup(hold, sorted.ratesOfTarget, true, from, nowMs);
    this.#takeGroup(hold, sorted.usagesOfTarget, true, from, nowMs);
  }

  #takeGroup(hold: CallHold, group: PolicyGroup<RatePolicy> | PolicyGroup<UsagePolicy> | null, isOfTarget: boolean, from: number, nowMs: number): void {
    if (group === null) return;
    const policies: readonly (RatePolicy | UsagePolicy)[] = group.matching(hold.facts);
    for (let index = 0; index < policies.length; index += 1) {
      const policy = policies[index] as RatePolicy | UsagePolicy;
      this.#take(hold, this.#specOf(policy, hold.facts), isOfTarget, from, nowMs);
    }
  }

  #specOf(policy: RatePolicy | UsagePolicy, facts: PolicyFacts): LimitSpec {
    let specs = this.#values.get(policy);
    const sole = policy.soleValue(facts);
    const value = sole ?? policy.valueKey(facts);
    const known = specs === undefined ? undefined : (sole === null ? specs.byKey : specs.bySole).get(value);
    if (known !== undefined) return known;
    if (this.#valueCount >= valuesMax) {
      this.#values = new WeakMap();
      this.#valueCount = 0;
      specs = undefined;
    }
    if (specs === undefined) this.#values.set(policy, specs = new ValueSpecs());
    const spec = specOfPolicy(policy, sole === null ? value : policy.valueKey(facts));
    if (sole === null) specs.byKey.set(value, spec);
    else specs.bySole.set(copyOf(sole), spec);
    this.#valueCount += 1;
    return spec;
  }

  #takeAll(hold: CallHold, specs: readonly LimitSpec[] | null, isOfTarget: boolean, from: number, nowMs: number): void {
    if (specs === null) return;
    for (let index = 0; index < specs.length; index += 1) this.#take(hold, specs[index] as LimitSpec, isOfTarget, from, nowMs);
  }

  #take(hold: CallHold, spec: LimitSpec, isOfTarget: boolean, from: number, nowMs: number): void {
    const { counted } = spec;
    let wanted = 1;
    let needed = 1;
    if (counted !== 'requests') {
      // Whatever usage the answer tells is that of the call that made what is read, or cancelled.
      if (hold.exchange.head.method === 'GET' || isCancelling(hold.exchange)) return;
      const { input, output, isStated } = hold.estimate;
      wanted = Math.max(1, counted === 'tokens' ? input + output : this.#expectedCost(hold, input, output, from, nowMs));
      if (isStated) needed = wanted;
      else needed = Math.max(1, counted === 'tokens' ? input : this.#expectedCost(hold, input, 0, from, nowMs));
      // Who asks for more than there ever is has the whole window, when nobody else has had any of it.
      if (spec.type === 'rate' && spec.maximum > 0) needed = Math.min(needed, spec.maximum);
    }
    const amount = this.#amount(hold, spec, wanted, needed, nowMs);
    if (amount >= 0) {
      hold.add(spec, amount, isOfTarget);
      return;
    }
    const { countBefore } = this.#options.counters;
    hold.undo(from, nowMs);
    if (!isOfTarget) hold.isCallRefused = true;
    if (amount === noRoom) throw fail('LIMITS_FULL', { level: spec.level, name: spec.name.slice(0, namesMax), maximum: this.#options.counters.slotCount });
    const seconds = spec.type === 'rate' && spec.maximum > 0 ? secondsUntil(windowEnd(lengthOf[spec.unit], nowMs), nowMs) : 0;
    hold.refuse(spec, countBefore, needed, seconds);
    throw refusal(spec, Math.max(0, spec.maximum - countBefore), needed, seconds);
  }

  #expectedCost(hold: CallHold, input: number, output: number, from: number, nowMs: number): number {
    const cents = this.#options.prices.expected(hold.exchange, input, output);
    if (cents !== undefined) return microCentsAtMost(cents);
    if (hold.isPriceAsked) return 0;
    hold.undo(from, nowMs);
    throw priceUnknown;
  }

  /** `refused`, `noRoom`, or what was taken. */
  #amount(hold: CallHold, spec: LimitSpec, wanted: number, needed: number, nowMs: number): number {
    const { counters } = this.#options;
    for (let lookup = 0; lookup < lookupsMax; lookup += 1) {
      if (spec.slot === slotUnknown) {
        const slot = slotOf(counters, spec, hold.exchange);
        if (slot === noRoom) return noRoom;
        spec.slot = slot;
      }
      const amount = spec.type === 'rate'
        ? counters.takeRate(spec.slot, lengthOf[spec.unit], wanted, needed, spec.maximum, nowMs)
        : counters.takeUsage(spec.slot, wanted, needed, spec.maximum);
      if (amount !== lost) return amount;
      spec.slot = slotUnknown;
    }
    return refused;
  }
}

class ValueSpecs {
  readonly bySole = new Map<string, LimitSpec>();
  readonly byKey = new Map<string, LimitSpec>();
}

/** The text alone: a part of a text holds the whole of it. As UTF-8, which most texts come back from, it takes a byte a character. */
function copyOf(text: string): string {
  const copy = Buffer.from(text).toString();
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Thrown inside: the rates of the model have to be asked for. */
const priceUnknown = new Error('the price is not known yet');
const nothingMore = (): void => {};

/** Of a name in an error. */
const namesMax = 128;

/** Whoever looks at their batches and files does so for nothing. */
function isFree({ route, head }: Exchange): boolean {
  return head.method === 'GET' && (route.name === 'batches' || route.name === 'files');
}

/** A response that is made in the background, which counts with what was reserved for it. */
const isCancelling = ({ route, suffix }: Exchange): boolean => suffix !== '' && route.name === 'responses' && suffix.endsWith('/cancel');

function specOfPolicy(policy: RatePolicy | UsagePolicy, valueKey: string): LimitSpec {
  const name = `${policy.name === null ? policy.id : `"${policy.name}"`} for ${valueKey}`;
  if ('unit' in policy) {
    return { type: 'rate', level: 'policy', name, counted: policy.type, unit: policy.unit, maximum: policy.value, slot: slotUnknown, told: null, counter: policyCounterKey(policy.id, valueKey, policy.unit) };
  }
  return {
    type: 'usage', level: 'policy', name, counted: policy.type, maximum: Math.round(policy.creditLimit * countedPerUnit(policy.type)), slot: slotUnknown, told: null, counter: policyCounterKey(policy.id, valueKey, null),
    span: spanWords(policy.periodicReset, policy.periodicResetDays),
  };
}

const rateCodes: Readonly<Record<LimitLevel, ErrorCode>> = Object.freeze({
  key: 'KEY_RATE_LIMITED', token: 'KEY_RATE_LIMITED', provider: 'PROVIDER_RATE_LIMITED', access: 'INTEGRATION_RATE_LIMITED', workspace: 'WORKSPACE_RATE_LIMITED', policy: 'POLICY_RATE_LIMITED',
});
const budgetCodes: Readonly<Record<LimitLevel, ErrorCode>> = Object.freeze({
  key: 'KEY_BUDGET_USED', token: 'KEY_BUDGET_USED', provider: 'PROVIDER_BUDGET_USED', access: 'INTEGRATION_BUDGET_USED', workspace: 'WORKSPACE_BUDGET_USED', policy: 'POLICY_BUDGET_USED',
});

function refusal(spec: LimitSpec, left: number, needed: number, seconds: number): GatewayError {
  const { level, counted } = spec;
  const words = spec.name.slice(0, namesMax);
  const name = level === 'policy' ? words : `"${words}"`;
  if (spec.type === 'rate') {
    const { maximum } = spec;
    const again = `${leftWords(left)} left;${counted === 'requests' ? '' : ` this call needs ${needed};`} try again in ${seconds} s`;
    return fail(rateCodes[level], { name, maximum, counted: wordOf(counted, maximum), window: nameOf[spec.unit], advice: maximum === 0 ? 'no call passes until the limit is raised' : again });
  }
  const perUnit = countedPerUnit(counted);
  const shown = (amount: number): string => (counted === 'cost' ? dollars(amount / perUnit) : String(amount));
  return fail(budgetCodes[level], {
    name, maximum: shown(spec.maximum), counted: wordOf(counted, spec.maximum / perUnit), span: spec.span, left: leftWords(left / perUnit, shown(left)), needed: shown(needed),
    advice: spec.span === '' ? 'raise the limit or reset its usage' : 'raise the limit or wait for its reset',
  });
}

const nouns: Readonly<Record<Counted, string>> = { requests: 'request', tokens: 'token', cost: 'US dollar' };
const wordOf = (counted: Counted, amount: number): string => `${nouns[counted]}${amount === 1 ? '' : 's'}`;
const leftWords = (left: number, shown = String(left)): string => `${shown} ${left === 1 ? 'is' : 'are'}`;
/** Without an exponent, however small it is. */
const dollars = (amount: number): string => (amount >= 1e-6 ? String(amount) : amount.toFixed(8).replace(/\.?0+$/, ''));
