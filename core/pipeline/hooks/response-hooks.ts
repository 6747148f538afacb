// The hooks after the request: what they need of the answer, and their verdict on it. A plain answer is judged whole. A stream is judged as it
// passes where every check that has a say can do so, else it is held until its end; checks without a say never hold anything.

import type { AnswerEvent, CheckResult, EventStage, Json, JsonObject, Maybe, StreamCheck, TextEdit, TextWindow, Verdict, WindowResult } from '@gateway/plugin-sdk';
import type { Dialect } from '../../dialect/dialect.js';
import { atOnce } from '../../errors/at-once.js';
import type { Exchange } from '../../exchange/exchange.js';
import { HookLog } from '../../exchange/hook-log.js';
import type { CompiledCheck, CompiledHook } from '../../plan/hooks.js';
import type { ResponseHookPlan } from '../../plan/plan.js';
import { CheckStage } from '../../stream/check-stage.js';
import { applies, asVerdict, runCheck, Subject } from './check-run.js';
import { hookResult } from './hook-result.js';
import { decide, HookRun } from './hook-run.js';

interface StreamedCheck {
  readonly stage: CheckStage;
  readonly check: CompiledCheck;
  readonly hook: CompiledHook;
  readonly stream: WatchedCheck;
}

export class ResponseHooks {
  /** Those that are waited for. */
  readonly #hooks: readonly CompiledHook[];
  readonly #background: readonly CompiledHook[];
  #streamed: StreamedCheck[] = [];
  readonly #startedAt = performance.now();

  constructor(readonly exchange: Exchange, hooks: ResponseHookPlan) {
    this.#hooks = hooks.judging;
    this.#background = hooks.background;
    (exchange.hooks ??= new HookLog()).forgetAnswer();
  }

  /** Some hook is waited for: the status is not settled before it has spoken. */
  get decides(): boolean {
    return this.#hooks.length > 0;
  }

  /** Of a stream: a check that may deny or change it has to see it whole. */
  get holdsStream(): boolean {
    return this.#hooks.some((hook) => hook.checks.some((check) => !check.streams && hasSay(check, hook) && applies(check, this.exchange)));
  }

  get assemblesStream(): boolean {
    return this.#background.length > 0 || this.#hooks.some((hook) => hook.checks.some((check) => !check.streams || !hasSay(check, hook)));
  }

  /** The checks that look at the stream as it passes, in the order of the config. `deny`: one has failed, and its hook denies. */
  stages(dialect: Dialect, deny: () => void): EventStage<AnswerEvent>[] {
    for (const hook of this.#hooks) {
      for (const check of hook.checks) {
        if (!check.streams || check.check === null || !hasSay(check, hook) || !applies(check, this.exchange)) continue;
        const streamed = new WatchedCheck(streamCheck(check, this.exchange), check.failOnError && hook.mayDeny);
        const onFail = (unmade?: Error): boolean => this.#onFail(hook, check, streamed, deny, unmade);
        const stage = new CheckStage({ dialect, check: streamed, lookBackMax: check.lookBackMax, changes: check.changes, onFail });
        this.#streamed.push({ stage, check, hook, stream: streamed });
      }
    }
    return this.#streamed.map(({ stage }) => stage);
  }

  /** Number of the next event of a stream of responses, after what the checks added and left out; undefined without checks in the stream. */
  get nextSequence(): number | undefined {
    return this.#streamed.at(-1)?.stage.nextSequence;
  }

  /** A whole answer: the body to go on with, changed or not; `exact`, or made of it, has all digits of its numbers. */
  judge(body: JsonObject, status: number, exact: Json = body): Maybe<JsonObject | 'denied'> {
    const run = new HookRun(new Subject('after', this.exchange, body, status, exact));
    const running = run.run(this.#hooks);
    return running instanceof Promise ? running.then(() => this.#judged(run)) : this.#judged(run);
  }

  /** A stream that was judged as it passed has ended; `answer` is what the client has got. */
  judgeStream(answer: JsonObject | null, status: number): Maybe<'passed' | 'denied'> {
    return this.#judgeFrom(0, new Subject('after', this.exchange, answer ?? {}, status), answer !== null);
  }

  #judgeFrom(from: number, subject: Subject, isWhole: boolean): Maybe<'passed' | 'denied'> {
    for (let index = from; index < this.#hooks.length; index += 1) {
      const judging = this.#judgeHook(this.#hooks[index] as CompiledHook, subject, isWhole);
      if (judging instanceof Promise) return judging.then((judged) => (judged === 'denied' ? judged : this.#judgeFrom(index + 1, subject, isWhole)));
      if (judging === 'denied') return judging;
    }
    this.#runBackground(subject);
    return 'passed';
  }

  /** An answer that no hook is to wait for has ended. */
  runBackground(answer: JsonObject, status: number): void {
    this.#runBackground(new Subject('after', this.exchange, answer, status));
  }

  #judged(run: HookRun): JsonObject | 'denied' {
    const log = this.#log();
    log.after = run.results;
    log.hasFailedAfter = run.hasFailed;
    if (run.isDenied) {
      log.isDeniedSoftly = run.isDeniedSoftly;
      return 'denied';
    }
    this.#runBackground(run.subject);
    return run.subject.exact as JsonObject;
  }

  #judgeHook(hook: CompiledHook, subject: Subject, isWhole: boolean): Maybe<'passed' | 'denied'> {
    const results: Maybe<CheckResult>[] = [];
    for (const check of hook.checks) {
      if (!applies(check, this.exchange)) continue;
      const streamed = this.#streamed.find((entry) => entry.check === check);
      if (streamed !== undefined) results.push(this.#resultOf(streamed));
      else if (isWhole || check.check === null) results.push(runCheck(check, subject, false));
      else results.push({ id: check.id, tookMs: 0, failOnError: check.failOnError, error: new Error('the streamed answer could not be put together') });
    }
    const settle = (all: readonly CheckResult[]): 'passed' | 'denied' => {
      const decision = decide(hook, all, this.exchange);
      const log = this.#log();
      log.after.push(hookResult(hook, all, decision, performance.now() - this.#startedAt));
      if (!decision.pass) log.hasFailedAfter = true;
      if (!decision.deny) return 'passed';
      log.isDeniedSoftly = hook.isSoft;
      return 'denied';
    };
    if (results.some((entry) => entry instanceof Promise)) return Promise.all(results).then(settle);
    return settle(results as CheckResult[]);
  }

  #resultOf({ stage, check, stream }: StreamedCheck): CheckResult {
    const base = { id: check.id, tookMs: stream.tookMs, failOnError: check.failOnError };
    const error = stream.error ?? stage.error;
    if (error !== null) return { ...base, error };
    try {
      const verdict = stage.verdict();
      return { ...base, verdict: stream.hasChanged ? { ...verdict, edits: madeEdits } : verdict };
    } catch (thrown) {
      return { ...base, error: asError(thrown) };
    }
  }

  /** A check failed while the stream passes: true when that ends the stream. */
  #onFail(hook: CompiledHook, check: CompiledCheck, streamed: WatchedCheck, deny: () => void, unmade: Error | undefined): boolean {
    const base = { id: check.id, tookMs: streamed.tookMs, failOnError: check.failOnError || unmade !== undefined };
    const error = unmade ?? streamed.error;
    let result: CheckResult;
    try {
      result = error === null ? { ...base, verdict: streamed.verdict() } : { ...base, error };
    } catch (thrown) {
      result = { ...base, error: asError(thrown) };
    }
    const decision = decide(hook, [result], this.exchange);
    if (!decision.deny) return false;
    const log = this.#log();
    log.after.push(hookResult(hook, [result], decision, result.tookMs));
    log.hasFailedAfter = true;
    log.isDeniedSoftly = hook.isSoft;
    deny();
    return true;
  }

  #runBackground(subject: Subject): void {
    runInBackground(this.exchange, this.#background, subject);
  }

  #log(): HookLog {
    return this.exchange.hooks ??= new HookLog();
  }
}

/** A check that can neither change an answer nor have it denied holds nothing back: it looks at the end. */
const hasSay = (check: CompiledCheck, hook: CompiledHook): boolean => check.changes || hook.mayDeny;

/** The edits of a stream were made as it passed; that there were some is all that is told of them. */
const madeEdits: readonly TextEdit[] = [{ piece: 0, from: 0, to: 0, text: '' }];

/** Notes what a check costs and whether it changes anything. */
class WatchedCheck implements StreamCheck {
  tookMs = 0;
  hasChanged = false;
  /** The error that it threw, where that ends the stream. */
  error: Error | null = null;

  /** `failsClosed`: the config wants no answer that this check could not judge, so what it throws is a failure, and at once. */
  constructor(readonly check: StreamCheck, readonly failsClosed: boolean) {}

  push(window: TextWindow): WindowResult {
    const startedAt = performance.now();
    let result: WindowResult;
    try {
      result = atOnce(this.check.push(window));
    } catch (thrown) {
      if (!this.failsClosed) throw thrown;
      this.error = asError(thrown);
      return { release: 0, fails: true };
    }
    this.tookMs += performance.now() - startedAt;
    if (result.edits !== undefined && result.edits.length > 0) this.hasChanged = true;
    return result;
  }

  verdict(): Verdict {
    return asVerdict(atOnce(this.check.verdict()));
  }
}

/** Calls of one thread whose hooks may be at work after their answers. Beyond it they are left out, and the log says so. */
export const backgroundMax = 5_000;
let inBackground = 0;

/** Hooks that nobody waits for; their results are for the log. */
export function runInBackground(exchange: Exchange, hooks: readonly CompiledHook[], subject: Subject): void {
  if (hooks.length === 0) return;
  const log = exchange.hooks ??= new HookLog();
  if (inBackground >= backgroundMax) {
    const error = new Error(`left out: the hooks of ${backgroundMax} calls are in the background`);
    for (const hook of hooks) {
      const results = hook.checks.map(({ id, failOnError }): CheckResult => ({ id, tookMs: 0, failOnError, error }));
      log.background.push(hookResult(hook, results, decide(hook, results, exchange), 0));
    }
    return;
  }
  inBackground += 1;
  const run = new HookRun(subject, true);
  const { running } = exchange;
  // Not on the stack of the answer.
  log.pending.push(Promise.resolve().then(() => run.run(hooks)).then(() => {
    for (const result of run.results) log.background.push(result);
  }).catch((thrown: unknown) => running?.onPluginThrow(thrown)).finally(() => { inBackground -= 1; }));
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

function streamCheck(check: CompiledCheck, exchange: Exchange): StreamCheck {
  const failed = (thrown: unknown): StreamCheck => ({
    push: () => { throw thrown; },
    verdict: () => { throw thrown; },
  });
  try {
    return atOnce(check.check?.stream?.(exchange)) ?? failed(new Error('the check has no stream'));
  } catch (thrown) {
    return failed(thrown);
  }
}

