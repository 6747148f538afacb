// Runs the hooks of one side in the order of the config: the checks of a step together, then the changes they made, then the hook's decision.
// Synchronous as long as its checks are: no promise is made for a check that looks at text.

import { applyEdits, isObject, writeJson, type CheckResult, type HookDecision, type Json, type JsonObject, type Maybe } from '@gateway/plugin-sdk';
import { atOnce } from '../../errors/at-once.js';
import { UnmadeChange } from '../../errors/unmade-change.js';
import { reasonOf } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { HookResult } from '../../exchange/hook-log.js';
import type { CompiledCheck, CompiledHook } from '../../plan/hooks.js';
import { applies, runCheck, Subject } from './check-run.js';
import { hookResult } from './hook-result.js';

const settled = Promise.resolve();
const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });
/** Many checks in a row leave the loop to other calls after so long. Milliseconds. */
const turnMsMax = 20;

export class HookRun {
  /** Results of each hook as the client gets them, in order. */
  readonly results: HookResult[] = [];
  isDenied = false;
  /** The hook that denies does so softly. */
  isDeniedSoftly = false;
  hasFailed = false;
  /** Of each hook, in order. */
  readonly decisions: HookDecision[] = [];
  /** The last reading of the clock: a check begins, and a hook ends, when the check before it has ended. */
  #now = performance.now();
  #turnStartedAt = this.#now;
  /** The last of the checks that were put off to a later turn of the loop. */
  #later: Promise<unknown> = settled;

  /** `write` is given each new body, and throws when it cannot stand in the place of the old one. */
  constructor(public subject: Subject, readonly isBackground = false, readonly write: ((body: JsonObject) => void) | null = null) {}

  run(hooks: readonly CompiledHook[], from = 0): Maybe<void> {
    for (let index = from; index < hooks.length; index += 1) {
      const running = this.#hook(hooks[index] as CompiledHook);
      if (running instanceof Promise) return running.then(() => (this.isDenied ? undefined : this.run(hooks, index + 1)));
      if (this.isDenied) return;
    }
  }

  #hook(hook: CompiledHook): Maybe<void> {
    const startedAt = this.#now;
    const results: CheckResult[] = [];
    const running = this.#steps(hook, 0, results);
    if (!(running instanceof Promise)) return this.#decide(hook, results, startedAt);
    return running.then(() => {
      this.#now = performance.now();
      this.#decide(hook, results, startedAt);
    });
  }

  #steps(hook: CompiledHook, from: number, results: CheckResult[]): Maybe<void> {
    for (let index = from; index < hook.steps.length; index += 1) {
      const step = hook.steps[index] as readonly CompiledCheck[];
      const running = this.#step(step, results);
      if (running instanceof Promise) return running.then(() => this.#steps(hook, index + 1, results));
    }
  }

  #step(step: readonly CompiledCheck[], results: CheckResult[]): Maybe<void> {
    const { subject } = this;
    let waiting: Maybe<CheckResult>[] | null = null;
    for (let index = 0; index < step.length; index += 1) {
      const check = step[index] as CompiledCheck;
      if (!applies(check, subject.exchange)) continue;
      const startedAt = this.#now;
      const result = startedAt - this.#turnStartedAt > turnMsMax ? this.#inLaterTurn(check, subject) : runCheck(check, subject, this.isBackground, startedAt);
      this.#now = result instanceof Promise ? performance.now() : startedAt + result.tookMs;
      if (waiting !== null) waiting.push(result);
      else if (result instanceof Promise) waiting = [result];
      else results.push(this.#changed(check, result));
    }
    if (waiting === null) return;
    return Promise.all(waiting).then((all) => {
      this.#now = performance.now();
      for (const result of all) {
        const check = step.find((one) => one.id === result.id) as CompiledCheck;
        results.push(this.#changed(check, result));
      }
    });
  }

  /** One after the other, each in a turn of its own. */
  #inLaterTurn(check: CompiledCheck, subject: Subject): Promise<CheckResult> {
    const turn = this.#later.then(nextTurn);
    // Not the verdict, which may wait for others.
    this.#later = turn;
    return turn.then(() => {
      const startedAt = this.#turnStartedAt = performance.now();
      return runCheck(check, subject, this.isBackground, startedAt);
    });
  }

  /** Makes the changes of a check that may change; one that cannot be made is an error of the check, and fails closed. */
  #changed(check: CompiledCheck, result: CheckResult): CheckResult {
    const { verdict } = result;
    if (!check.changes || verdict === undefined || (verdict.edits === undefined && verdict.body === undefined)) return result;
    try {
      const { subject } = this;
      const exact = verdict.body ?? applyEdits(subject.exact, subject.pieces(), verdict.edits ?? []);
      if (exact === subject.body || exact === subject.exact) return result;
      if (!isObject(exact)) throw new TypeError('the new body is no object');
      this.write?.(exact);
      const body = subject.exact === subject.body ? exact : JSON.parse(writeJson(exact)) as Json;
      this.subject = new Subject(subject.stage, subject.exchange, body, subject.status, exact);
      return result;
    } catch (thrown) {
      return { id: result.id, tookMs: result.tookMs, failOnError: true, error: new UnmadeChange(reasonOf(thrown)) };
    }
  }

  /** Throws what says that the body cannot be judged: no verdict about it would be one. */
  #decide(hook: CompiledHook, results: readonly CheckResult[], startedAt: number): void {
    const { refusal } = this.subject;
    if (refusal !== null && !this.isBackground) throw refusal;
    const decision = decide(hook, results, this.subject.exchange);
    this.hasFailed ||= !decision.pass;
    if (decision.deny && !this.isBackground && !this.isDenied) {
      this.isDenied = true;
      this.isDeniedSoftly = hook.isSoft;
    }
    this.results.push(hookResult(hook, results, decision, this.#now - startedAt));
    this.decisions.push(decision);
  }
}

const failedClosed: HookDecision = Object.freeze({ pass: false, deny: true });

/**
 * A hook type that cannot decide fails closed: nobody knows what it would have said. So does every hook of which a change could not be made: what
 * was to be taken out is still there, whatever the config says of errors.
 */
export function decide(hook: CompiledHook, results: readonly CheckResult[], exchange: Exchange): HookDecision {
  for (const { error } of results) if (error instanceof UnmadeChange) return failedClosed;
  try {
    const decision = atOnce(hook.hook.decide(results, hook.stage, exchange));
    if (typeof decision.pass !== 'boolean' || typeof decision.deny !== 'boolean') throw new TypeError('gave no decision');
    return decision;
  } catch {
    return { pass: false, deny: hook.mayDeny };
  }
}
