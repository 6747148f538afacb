import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe, Needs, Weighed } from '../shared.js';

/** Status of a call that a hook denied, on its way in or on its way out. */
export const deniedStatus = 446;

/** Which target next? Synchronous, no I/O: the host runs the attempts, the strategy only answers. */
export interface Strategy extends Closable, Weighed {
  /**
   * Index of the next target, or -1: stop, and answer with the last outcome. Called first with no outcomes and again after each failed
   * or answered target, until it says -1. After `deniedStatus` it says -1 too, unless its parameters name that status: what a guardrail denied
   * for one target is not for another to be sent. `targets[i].healthy` is false while the target's circuit breaker is open.
   */
  next(exchange: Exchange, targets: readonly Target[], outcomes: readonly Outcome[]): number;
  /** On what ground the last `next` named its target, for the log of the call: a small value. Asked at once after it, if at all. */
  ground?(): Json;
}

export interface Target {
  /** The target's `name` in the config, or an empty string. */
  readonly name: string;
  /** The target's `weight` in the config; 1 when absent. */
  readonly weight: number;
  readonly healthy: boolean;
}

export interface Outcome {
  /** Index into the targets. */
  readonly target: number;
  /** Status of the answer; for a failure without an answer the status the client would get. */
  readonly status: number;
  /** Set when no answer came (refused, reset, timed out). */
  readonly error?: Error | undefined;
  /** Who was asked; of a target that is a group the last one tried in it. */
  readonly provider: string;
  /** The model that it was asked for; empty when the call names none. Found when it is read. */
  readonly model: string;
  /** Milliseconds from its turn to the head of its answer, or to its failure; its retries and their waits are in it. */
  readonly tookMs: number;
}

export interface StrategyPlugin<S extends ObjectSchema = any> extends Common<'strategy', S> {
  readonly needs?: Needs;
  /** Needs with these parameters; at most `needs`. */
  needsFor?(params: FromSchema<S>): Needs;
  /**
   * Once for each distinct config. `params` are the members of the config's `strategy` beside `mode`; `targets` are the config's targets.
   * Throw a `ParameterError` for combinations that can never work: the config is refused with the place named.
   */
  create(params: FromSchema<S>, host: Host, targets: readonly Omit<Target, 'healthy'>[]): Maybe<Strategy>;
}
