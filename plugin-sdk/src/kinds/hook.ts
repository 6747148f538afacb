import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe } from '../shared.js';
import type { Verdict } from './guardrail.js';

/** How the checks of a hook run, and what their results mean. */
export interface Hook extends Closable {
  /** `together`: at the same time, except that a check that changes the body is a step of its own. `inTurn`: one after the other. */
  readonly order: 'together' | 'inTurn';
  /**
   * What the results mean. Called when all checks are done; for a stream also as soon as one has failed, with the results there are. A hook
   * that denies ends the call (status 446); one that fails without denying marks it (status 246).
   */
  decide(results: readonly CheckResult[], stage: 'before' | 'after', exchange: Exchange): HookDecision;
}

export interface CheckResult {
  readonly id: string;
  /** Milliseconds. */
  readonly tookMs: number;
  /** Absent when the check errored. */
  readonly verdict?: Verdict;
  /** It threw, ran out of time, or has no service. */
  readonly error?: Error;
  /** The config says that an error of this check counts as a failure. */
  readonly failOnError: boolean;
}

export interface HookDecision {
  readonly pass: boolean;
  readonly deny: boolean;
}

/** `params` are the members of the hook in the config, without `id`, `type`, `checks`, `async`, `on_fail` and `on_success`. */
export interface HookPlugin<S extends ObjectSchema = any> extends Common<'hook', S> {
  readonly stages: readonly ('before' | 'after')[];
  create(params: FromSchema<S>, host: Host): Maybe<Hook>;
}
