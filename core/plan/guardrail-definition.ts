// What a stored guardrail says: its checks, and what becomes of a call that they judge. Written by the control plane, compiled with every plan that names it.

import type { CheckConfig } from '../config/config.js';
import type { Feedback } from './hooks.js';

export interface GuardrailDefinition {
  readonly checks: readonly CheckConfig[];
  readonly actions: GuardrailActions;
}

/** Whole: nothing is left to defaults that could change. */
export interface GuardrailActions {
  readonly deny: boolean;
  readonly async: boolean;
  readonly sequential: boolean;
  /** A denied call gets an answer of status 200 that says so, in place of 446. */
  readonly soft_deny_200: boolean;
  readonly on_success: { readonly feedback: Feedback; readonly deny: boolean };
  readonly on_fail: { readonly feedback: Feedback };
}

/** As a hook reads them: members that hooks of the type do not know are left out. */
export function hookMembers({ actions: { on_success: { deny: deniesOnSuccess, feedback }, on_fail: onFail, ...flags } }: GuardrailDefinition, known: object): Record<string, unknown> {
  const members: Record<string, unknown> = { async: flags.async, soft_deny_200: flags.soft_deny_200, on_success: { feedback }, on_fail: onFail };
  for (const [name, value] of [['deny', flags.deny], ['sequential', flags.sequential], ['deny_on_success', deniesOnSuccess]] as const) if (name in known) members[name] = value;
  return members;
}
