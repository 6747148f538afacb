import type { Verdict } from '../src/kinds/guardrail.js';
import type { Json } from '../src/shared.js';

/** A shorter text is told by chance. */
const quoteCharactersMin = 3;

/** Texts and names of members in what a verdict tells, one by one. */
export function toldBy({ why, data }: Verdict): string[] {
  const told: string[] = why === undefined ? [] : [why];
  const open: Json[] = data === undefined ? [] : [data];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') told.push(next);
    else if (Array.isArray(next)) open.push(...next as readonly Json[]);
    else if (typeof next === 'object' && next !== null) {
      for (const [name, value] of Object.entries(next)) {
        told.push(name);
        open.push(value as Json);
      }
    }
  }
  return told;
}

/** The first of what is told that stands in a judged text, or has one in it. `own`: what the check says whatever it judges. */
export function quoteIn(told: readonly string[], judged: readonly string[], own: readonly string[]): string | undefined {
  return told.find((said) => !own.some((word) => word.toLowerCase().includes(said.toLowerCase())) && judged.some((text) =>
    (said.length >= quoteCharactersMin && text.includes(said)) || (text.trim().length >= 2 * quoteCharactersMin && said.includes(text.trim()))));
}
