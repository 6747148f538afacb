import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe } from '../shared.js';
import type { Verdict } from './guardrail.js';

/** When checks run and what their results mean. */
export interface Hook extends Closable {
  run(run: HookRun): Maybe<HookOutcome>;
}

export interface HookRun {
  readonly exchange: Exchange;
  readonly stage: 'before' | 'after';
  runChecks(): Promise<readonly CheckResult[]>;
}

export interface CheckResult {
  readonly id: string;
  readonly tookMs: number;
  readonly verdict?: Verdict;
  readonly error?: Error;
}

export type HookOutcome =
  | { readonly action: 'continue'; readonly body?: Json }
  | { readonly action: 'deny'; readonly status: number; readonly body: Json };

export interface HookPlugin<S extends ObjectSchema = any> extends Common<'hook', S> {
  readonly stages: readonly ('before' | 'after')[];
  create(params: FromSchema<S>, host: Host): Maybe<Hook>;
}
