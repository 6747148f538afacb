import type { Json, Verdict } from '@gateway/plugin-sdk';

/** A verdict that a check gives for many texts: frozen with all that is in it, so that the host makes its JSON once. */
export function constant(verdict: Verdict): Verdict {
  freeze(verdict.data ?? null);
  return Object.freeze(verdict);
}

function freeze(value: Json): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) freeze(inner as Json);
  Object.freeze(value);
}

/** A verdict whose sentence stands in `data.explanation`, and in `why` when it failed. */
export const verdictOf = (pass: boolean, explanation: string, data: Readonly<Record<string, Json>> = {}): Verdict => (pass
  ? { pass, data: { explanation, ...data } }
  : { pass, why: explanation, data: { explanation, ...data } });
