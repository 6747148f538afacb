// The guardrails that an organisation and a workspace demand of every call of the workspace. Looked up when a plan is made, and again when rows have
// changed, never per call.

import type { OrganisationRow } from '../storage/tables/organisations.js';
import type { WorkspaceRow } from '../storage/tables/workspaces.js';
import type { StoredGuardrail } from './stored-provider.js';

export interface DefaultGuardrail {
  /** Where it is named: `organisation.defaults.input_guardrails[0]`. */
  readonly place: string;
  readonly name: string;
  /** Undefined: it is gone, or its row cannot be used. Calls are then refused, since the guardrail might have denied them. */
  readonly found: StoredGuardrail | undefined;
}

/** Those of the organisation first. */
export interface WorkspaceGuardrails {
  readonly input: readonly DefaultGuardrail[];
  readonly output: readonly DefaultGuardrail[];
}

type Find = (name: string) => StoredGuardrail | undefined;
type Side = keyof OrganisationRow['exclusions'];

/** Null: none. What the organisation demands is its own: one of the workspace with the same slug does not stand for it. */
export function defaultGuardrails(workspace: WorkspaceRow, organisation: OrganisationRow | undefined, find: { readonly ofOrganisation: Find; readonly ofWorkspace: Find }): WorkspaceGuardrails | null {
  const listOf = (side: Side): readonly DefaultGuardrail[] => {
    const isExcluded = organisation === undefined || organisation.exclusions[side].includes(workspace.id);
    const named = (from: string, names: readonly string[], found: Find): DefaultGuardrail[] => names.map((name, index) => ({ place: `${from}.defaults.${side}[${index}]`, name, found: found(name) }));
    return [...named('organisation', isExcluded ? [] : organisation.defaults[side], find.ofOrganisation), ...named('workspace', workspace.defaults[side], find.ofWorkspace)];
  };
  const [input, output] = [listOf('input_guardrails'), listOf('output_guardrails')];
  return input.length + output.length === 0 ? null : Object.freeze({ input, output });
}

/** The same rows, in the same order. */
export function areSameGuardrails(left: WorkspaceGuardrails | null, right: WorkspaceGuardrails | null): boolean {
  if (left === null || right === null) return left === right;
  return (['input', 'output'] as const).every((side) => left[side].length === right[side].length
    && left[side].every(({ place, found, name }, index) => right[side][index]?.found === found && right[side][index]?.name === name && right[side][index]?.place === place));
}
