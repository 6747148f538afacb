// Runs one check on a body: on this thread, or in the worker pool when the body is too long for it. The only place that calls a check's code,
// with the deadline around it. A check that throws, is late, or says nonsense gives an errored result, never a broken call.

import { answerPieces, requestPieces, tokensPlace, TooManyValues, type CheckInput, type CheckResult, type EndpointName, type Json, type Maybe, type TextPiece, type Verdict } from '@gateway/plugin-sdk';
import { fail, type GatewayError } from '../../errors/gateway-error.js';
import { guardSignal } from '../../errors/guard-signal.js';
import { UnmadeChange } from '../../errors/unmade-change.js';
import type { Exchange, Running } from '../../exchange/exchange.js';
import type { CompiledCheck, HookPhase } from '../../plan/hooks.js';
import { timerMs } from '../../settings/timer-limit.js';

/** A body at one step of its way; what is read out of it is shared by the checks of that step. */
export class Subject {
  #pieces: readonly TextPiece[] | null = null;
  #texts: readonly string[] | null = null;
  #length = -1;
  /** Why nobody can judge the texts of this body; set when somebody asked for them. */
  refusal: GatewayError | null = null;
  /** Functions that checks may call. */
  readonly readPieces = (): readonly TextPiece[] => this.pieces();
  readonly readTexts = (): readonly string[] => this.texts();
  readonly readBody = (): Json => this.body;

  /** `exact`: the same body with all digits of its numbers, as `readJson` gives it. Texts are read out of it, and edits are made in it. */
  constructor(readonly stage: HookPhase, readonly exchange: Exchange, readonly body: Json, readonly status: number, readonly exact = body) {}

  pieces(): readonly TextPiece[] {
    return this.#pieces ??= this.stage === 'before' ? this.#requestPieces() : answerPieces(this.exchange.endpoint, this.exact);
  }

  #requestPieces(): readonly TextPiece[] {
    const { endpoint } = this.exchange;
    const param = tokensPlace(endpoint, this.body);
    if (param === undefined) return this.#countedPieces(endpoint);
    this.refusal = fail('BODY_INVALID', { param, reason: 'is a list of token ids, which the hooks of this route cannot judge; send the text instead' });
    throw this.refusal;
  }

  #countedPieces(endpoint: EndpointName): readonly TextPiece[] {
    try {
      return requestPieces(endpoint, this.exact);
    } catch (thrown) {
      if (!(thrown instanceof TooManyValues)) throw thrown;
      this.refusal = fail('BODY_INVALID', { param: thrown.place, reason: 'holds more values, with the arguments before it, than the hooks of this route can judge; send less at once' });
      throw this.refusal;
    }
  }

  texts(): readonly string[] {
    return this.#texts ??= this.pieces().map((piece) => piece.text);
  }

  length(): number {
    if (this.#length === -1) {
      const pieces = this.pieces();
      let length = 0;
      for (let index = 0; index < pieces.length; index += 1) length += (pieces[index] as TextPiece).text.length;
      this.#length = length;
    }
    return this.#length;
  }
}

class Input implements CheckInput {
  readonly stage: 'input' | 'output';
  readonly exchange: Exchange;
  readonly status: number;
  readonly pieces: () => readonly TextPiece[];
  readonly text: () => readonly string[];
  readonly json: () => Json;
  readonly running: Running | null;
  #controller: AbortController | null = null;

  constructor(subject: Subject, readonly isBackground: boolean) {
    this.stage = subject.stage === 'before' ? 'input' : 'output';
    this.exchange = subject.exchange;
    // A hook in the background may ask for its signal when the call is over.
    this.running = subject.exchange.running;
    this.status = subject.status;
    this.pieces = subject.readPieces;
    this.text = subject.readTexts;
    this.json = subject.readBody;
  }

  get signal(): AbortSignal {
    const { running } = this;
    const onThrow = (thrown: unknown): void => running?.onPluginThrow(thrown);
    if (this.#controller === null) {
      this.#controller = new AbortController();
      guardSignal(this.#controller.signal, onThrow);
    }
    // A hook in the background outlives the call.
    return this.isBackground ? this.#controller.signal : guardSignal(AbortSignal.any([this.#controller.signal, this.exchange.signal]), onThrow);
  }

  abort(): void {
    this.#controller?.abort();
  }
}

/** Whether the check has anything to do with this call at all. */
export function applies(check: CompiledCheck, exchange: Exchange): boolean {
  const { when } = check;
  if (when === null) return true;
  return (when.endpoints === undefined || when.endpoints.includes(exchange.endpoint))
    && (when.providers === undefined || when.providers.includes(exchange.provider))
    && (when.stream === undefined || when.stream === (exchange.json().stream === true));
}

/** `startedAt`: now, where the caller knows it: of checks in a row each begins when the one before it ends. */
export function runCheck(check: CompiledCheck, subject: Subject, isBackground: boolean, startedAt = performance.now()): Maybe<CheckResult> {
  if (check.check === null) return errored(check, startedAt, check.missing ?? new Error('the check has no plugin'));
  const input = new Input(subject, isBackground);
  try {
    const { budget, pooled } = check;
    if (pooled !== null && (budget === null || budget.isBeyond(subject.length()))) return settled(check, input, pooled().evaluate(input), startedAt);
    const verdict = check.check.evaluate(input);
    const tookMs = performance.now() - startedAt;
    if (budget !== null) budget.note(subject.length(), tookMs);
    return verdict instanceof Promise ? settled(check, input, verdict, startedAt) : result(check, startedAt, verdict, tookMs);
  } catch (thrown) {
    return errored(check, startedAt, asError(thrown));
  }
}

function settled(check: CompiledCheck, input: Input, verdict: Promise<Verdict>, startedAt: number): Promise<CheckResult> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(errored(check, startedAt, new Error(`gave no verdict within ${check.timeoutMs} ms`)));
      input.abort();
    }, timerMs(check.timeoutMs));
    verdict.then(
      (value) => { clearTimeout(timer); resolve(result(check, startedAt, value)); },
      (thrown: unknown) => { clearTimeout(timer); resolve(errored(check, startedAt, asError(thrown))); },
    );
  });
}

function result(check: CompiledCheck, startedAt: number, verdict: Verdict, tookMs = performance.now() - startedAt): CheckResult {
  try {
    asVerdict(verdict);
  } catch (thrown) {
    return errored(check, startedAt, asError(thrown));
  }
  // The text that it meant to take out would stay, and its result would say that it is gone.
  if (!check.changes && (verdict.body !== undefined || (verdict.edits !== undefined && verdict.edits.length > 0))) {
    return { id: check.id, tookMs, error: new UnmadeChange('its plugin does not declare that it changes this side'), failOnError: true };
  }
  return { id: check.id, tookMs, verdict, failOnError: check.failOnError };
}

/** Plugins of others are not all written in TypeScript. Throws what says so. */
export function asVerdict(verdict: Verdict): Verdict {
  if (typeof verdict !== 'object' || verdict === null || typeof verdict.pass !== 'boolean') throw new Error('gave no verdict: pass must be true or false');
  return verdict;
}

const errored = (check: CompiledCheck, startedAt: number, error: Error): CheckResult =>
  ({ id: check.id, tookMs: performance.now() - startedAt, error, failOnError: check.failOnError });

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
