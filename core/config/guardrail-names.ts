// Where a config names stored guardrails: a text in a list, or an entry with an id and no checks of its own.

import type { Config, GuardrailConfig, HookConfig } from './config.js';
import { placeBelow } from './place.js';

/** Members of a guardrail entry that belong to the hook; every other one is a check. */
export const hookMembers: ReadonlySet<string> = new Set(['id', 'type', 'deny', 'async', 'sequential', 'on_fail', 'on_success', 'guardrail_version_id', 'soft_deny_200']);
/** Types of hooks that are nothing without their checks. */
const checkingTypes: ReadonlySet<string> = new Set(['guardrail', 'mutator']);

/** The stored guardrail that an entry of `input_guardrails` and the like names; undefined: it has its checks itself. */
export function nameOfEntry(entry: string | GuardrailConfig): string | undefined {
  if (typeof entry === 'string') return entry;
  const { id } = entry;
  return id === undefined || id === '' || Object.keys(entry).some((name) => !hookMembers.has(name)) ? undefined : id;
}

/** The same for `before_request_hooks` and `after_request_hooks`. */
export const nameOfHook = ({ id, type, checks }: HookConfig): string | undefined => (checks === undefined && checkingTypes.has(type ?? 'guardrail') ? id : undefined);

/** All that a valid config names, its targets included, with their places. */
export function* guardrailNames(config: Config, place: string): Generator<readonly [place: string, name: string]> {
  for (const list of ['before_request_hooks', 'after_request_hooks'] as const) {
    for (const [index, entry] of (config[list] ?? []).entries()) {
      const name = nameOfHook(entry);
      if (name !== undefined) yield [placeBelow(placeBelow(place, list), index), name];
    }
  }
  for (const list of ['input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators'] as const) {
    for (const [index, entry] of (config[list] ?? []).entries()) {
      const name = nameOfEntry(entry);
      if (name !== undefined) yield [placeBelow(placeBelow(place, list), index), name];
    }
  }
  for (const [index, target] of (config.targets ?? []).entries()) yield* guardrailNames(target, placeBelow(placeBelow(place, 'targets'), index));
}
