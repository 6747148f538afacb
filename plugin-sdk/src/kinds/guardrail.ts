import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe, Needs } from '../shared.js';
import type { EventStage } from './provider.js';

/** Looks and answers; whether a failed verdict denies the call is the hook's business. */
export interface Check extends Closable {
  evaluate(input: CheckInput): Maybe<Verdict>;
  /** Judges a streamed answer as it passes (response level `events`). Without it the host collects the answer first. */
  stream?(exchange: Exchange, report: (verdict: Verdict) => void): EventStage;
}

export interface CheckInput {
  readonly stage: 'input' | 'output';
  readonly exchange: Exchange;
  /** All human text of the body, in order; extracted once and shared by all checks. */
  readonly text: () => readonly string[];
  readonly json: () => Json;
}

export type Verdict =
  | { readonly pass: true; readonly why?: string; readonly data?: Json; readonly replace?: Json }
  | { readonly pass: boolean; readonly why?: string; readonly data?: Json; readonly replace?: never };

export interface GuardrailPlugin<S extends ObjectSchema = any> extends Common<'guardrail', S> {
  readonly stages: readonly ('input' | 'output')[];
  /** The most it ever needs; what the catalogue shows. */
  readonly needs: Needs;
  /** Needs with these parameters; at most `needs`. */
  needsFor?(params: FromSchema<S>): Needs;
  create(params: FromSchema<S>, host: Host): Maybe<Check>;
}
