import { ParameterError, type Json } from '@gateway/plugin-sdk';
import type { PatternBudget } from '../text/pattern-size.js';
import { scalarText } from './json-text.js';
import { compilePattern, type TextPattern } from './text-pattern.js';

export const matchTypes = ['exact', 'contains', 'containsAll', 'regex'] as const;
export type MatchType = (typeof matchTypes)[number];

/** Whether a value, of metadata or of a claim, is the one that is wanted. */
export type WantedValue = (value: Json | undefined) => boolean;

/**
 * A text, number or truth value, or a list of them. Everything is compared as text. A list that is wanted means one of its items, except for
 * `containsAll`. A value that is a list has its items for `contains`, `containsAll` and `regex`; `exact` wants the same items in the same order.
 */
export async function compileWanted(given: unknown, matchType: MatchType, path: string, budget: PatternBudget): Promise<WantedValue> {
  const wanted = readWanted(given, path);
  switch (matchType) {
    case 'exact': return (value) => isExactly(value, wanted);
    case 'contains': return (value) => wanted.some((text) => contains(value, text));
    case 'containsAll': return (value) => wanted.every((text) => contains(value, text));
    case 'regex': {
      const patterns: TextPattern[] = [];
      // In turn: what is one too many must not have been compiled before that is known.
      for (const [index, text] of wanted.entries()) patterns.push(await compilePattern(text, Array.isArray(given) ? `${path}[${index}]` : path, budget));
      return (value) => textsOf(value).some((text) => patterns.some((pattern) => pattern.finds(text)));
    }
  }
}

function readWanted(given: unknown, path: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0) throw new ParameterError(path, 'must have at least one value');
  return list.map((item, index) => {
    const text = typeof item === 'string' ? item : typeof item === 'number' || typeof item === 'boolean' ? String(item) : undefined;
    if (text === undefined) throw new ParameterError(Array.isArray(given) ? `${path}[${index}]` : path, 'must be a text, a number, true or false, or a list of these');
    return text;
  });
}

function isExactly(value: Json | undefined, wanted: readonly string[]): boolean {
  if (Array.isArray(value)) return value.length === wanted.length && value.every((item: Json, index) => scalarText(item) === wanted[index]);
  const text = scalarText(value);
  return text !== undefined && wanted.includes(text);
}

/** An item of a list, or a part of a text. */
function contains(value: Json | undefined, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => scalarText(item) === wanted);
  return scalarText(value)?.includes(wanted) === true;
}

function textsOf(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => scalarText(item) ?? []);
  const text = scalarText(value);
  return text === undefined ? [] : [text];
}
