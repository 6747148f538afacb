// The hooks of a plan, compiled: which checks run at which step of a call, and what is known of each before it runs. Built by
// compile-hooks.ts; a call walks it (pipeline/hooks/hook-run.ts) and changes nothing but what a check has cost so far.

import type { Check, GuardrailPlugin, Hook, Verdict, CheckInput, When } from '@gateway/plugin-sdk';

export type HookPhase = 'before' | 'after';

/** Runs a check in the worker pool. */
export interface PooledCheck {
  evaluate(input: CheckInput): Promise<Verdict>;
}

export interface CompiledCheck {
  /** As the config has it. */
  readonly id: string;
  /** Null: nothing of this id is installed; the check always errors. */
  readonly check: Check | null;
  /** Why there is no check. */
  readonly missing: Error | null;
  readonly timeoutMs: number;
  readonly failOnError: boolean;
  /** It may change the body at this stage, so it is a step of its own. */
  readonly changes: boolean;
  /** It judges streams as they pass; otherwise the answer has to be assembled. */
  readonly streams: boolean;
  readonly lookBackMax: number;
  readonly runs: NonNullable<GuardrailPlugin['runs']>;
  /** Null: it runs on the loop only. */
  readonly pooled: (() => PooledCheck) | null;
  readonly when: When | null;
  /** The check's cost on the loop so far; null: it stays there whatever it costs. */
  readonly budget: CheckBudget | null;
}

/** Learns whether the next verdict would keep the loop busy for too long. */
export interface CheckBudget {
  /** Whether texts of so many characters belong into the pool. */
  isBeyond(characters: number): boolean;
  /** A verdict on the loop took so long. */
  note(characters: number, tookMs: number): void;
}

export interface Feedback {
  readonly value?: number;
  readonly weight?: number;
  readonly metadata?: object;
}

export interface CompiledHook {
  readonly id: string;
  readonly type: string;
  readonly stage: HookPhase;
  /** Not waited for, and without a say. */
  readonly isAsync: boolean;
  readonly hook: Hook;
  readonly checks: readonly CompiledCheck[];
  /** The checks that run at the same time, step by step. */
  readonly steps: readonly (readonly CompiledCheck[])[];
  readonly onSuccess: Feedback | null;
  readonly onFail: Feedback | null;
  /** It may answer 446; what it judges has to wait for it. */
  readonly mayDeny: boolean;
  /** Who is denied gets an answer of status 200 that says so. */
  readonly isSoft: boolean;
  /** The stored guardrail that it is; null: the config has its checks. One guardrail runs once for a target, however often it is named. */
  readonly stored: { readonly id: string; readonly versionId: string } | null;
}
