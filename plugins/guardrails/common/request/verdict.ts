import type { Json, Verdict } from '@gateway/plugin-sdk';

/** A verdict whose sentence stands in `data.explanation`, and in `why` when it failed. */
export const verdictOf = (pass: boolean, explanation: string, data: Readonly<Record<string, Json>> = {}): Verdict => (pass
  ? { pass, data: { explanation, ...data } }
  : { pass, why: explanation, data: { explanation, ...data } });
