import { isObject, type CheckInput, type Json } from '@gateway/plugin-sdk';

/** What a measure judges as one: the whole request, or one choice of the answer. */
export interface TextGroup {
  /** Of an answer the choice; of a request 0. */
  readonly group: number;
  /** Parts in order; none when the choice has no text. */
  readonly texts: readonly string[];
}

export type Scope = 'all' | 'last';

/** The parameter `scope` of every measure. */
export const scopeParam = {
  type: 'string',
  enum: ['all', 'last'],
  default: 'all',
  description: 'Of a request: judge all its messages together, or the last one only. Of an answer each choice is always judged by itself.',
} as const;

/** Texts that somebody wrote or will read; arguments of tools and thinking are not measured. */
export function measuredGroups(input: CheckInput, scope: Scope): readonly TextGroup[] {
  const pieces = input.pieces();
  if (input.stage === 'input') {
    const last = scope === 'last' ? lastGroup(input.json(), pieces.at(-1)?.group ?? 0) : undefined;
    const texts: string[] = [];
    for (const { kind, group, text } of pieces) if (kind === 'text' && (last === undefined || group === last)) texts.push(text);
    return [{ group: 0, texts }];
  }
  // A choice without any text has no piece, and is judged all the same.
  const groups: { readonly group: number; readonly texts: string[] }[] = [];
  const count = choiceCount(input.json());
  while (groups.length < count) groups.push({ group: groups.length, texts: [] });
  let others: Map<number, string[]> | undefined;
  for (const { kind, group, text } of pieces) {
    if (kind !== 'text') continue;
    let texts = group < count ? groups[group]?.texts : others?.get(group);
    if (texts === undefined) {
      groups.push({ group, texts: texts = [] });
      (others ??= new Map()).set(group, texts);
    }
    texts.push(text);
  }
  return groups;
}

const choiceCount = (answer: Json): number => Math.max(1, listOf(answer, 'choices')?.length ?? 1);

/** Index of the last message or item, though it may hold no text at all. */
function lastGroup(request: Json, byDefault: number): number {
  for (const name of ['messages', 'input', 'prompt']) {
    const list = listOf(request, name);
    if (list !== undefined) return list.length - 1;
  }
  return byDefault;
}

function listOf(value: Json, name: string): readonly Json[] | undefined {
  if (!isObject(value)) return undefined;
  const list = value[name];
  return Array.isArray(list) ? list : undefined;
}
