// The content of a stored guardrail: its checks, and the actions when they pass or fail. Written by the control plane, compiled with every plan that names it.

import type { CheckConfig } from '../config/config.js';
import type { Feedback } from './hooks.js';

export interface GuardrailDefinition {
  readonly checks: readonly CheckConfig[];
  readonly actions: GuardrailActions;
}

/** All members are stored, so that a later change of the defaults does not change a stored guardrail. */
export interface GuardrailActions {
  readonly deny: boolean;
  readonly async: boolean;
  readonly sequential: boolean;
  /** A denied call is answered with status 200 and a text that says so, instead of 446. */
  readonly soft_deny_200: boolean;
  readonly on_success: { readonly feedback: Feedback; readonly deny: boolean };
  readonly on_fail: { readonly feedback: Feedback };
}

/** The actions as parameters of a hook, without members that hooks of the type do not know. */
export function hookMembers({ actions: { on_success: { deny: deniesOnSuccess, feedback }, on_fail: onFail, ...flags } }: GuardrailDefinition, known: object): Record<string, unknown> {
  const members: Record<string, unknown> = { async: flags.async, soft_deny_200: flags.soft_deny_200, on_success: { feedback }, on_fail: onFail };
  for (const [name, value] of [['deny', flags.deny], ['sequential', flags.sequential], ['deny_on_success', deniesOnSuccess]] as const) if (name in known) members[name] = value;
  return members;
}
