// Precision and recall over labelled texts, for the tests of detectors.

interface Marked {
  readonly from: number;
  readonly to: number;
  readonly category: string;
}

export interface Quality {
  readonly precision: number;
  readonly recall: number;
  /** One line for each category, and one for all. */
  readonly table: readonly string[];
  /** The finds that were missed, and those that were wrong. */
  readonly mistakes: readonly string[];
}

/** The text of an example, and the places that are marked in it as {{CATEGORY:value}}. */
export function textOf(example: string): { readonly text: string; readonly spans: readonly Marked[] } {
  const spans: Marked[] = [];
  let text = '';
  let at = 0;
  for (const match of example.matchAll(/\{\{([A-Z0-9_]+):([\s\S]*?)\}\}/g)) {
    const [all, category = '', value = ''] = match;
    text += example.slice(at, match.index);
    spans.push({ from: text.length, to: text.length + value.length, category });
    text += value;
    at = match.index + all.length;
  }
  return { text: text + example.slice(at), spans };
}

/** A find counts when its category and its place are exactly those that are marked. */
export async function measureQuality(positives: readonly string[], negatives: readonly string[], find: (text: string) => Promise<readonly Marked[]>): Promise<Quality> {
  const counts = new Map<string, { hits: number; wrong: number; missed: number }>();
  const countOf = (category: string): { hits: number; wrong: number; missed: number } => {
    const known = counts.get(category) ?? { hits: 0, wrong: 0, missed: 0 };
    counts.set(category, known);
    return known;
  };
  const mistakes: string[] = [];
  for (const example of [...positives, ...negatives]) {
    const { text, spans } = textOf(example);
    const found = await find(text);
    const isSame = (left: Marked) => (right: Marked): boolean => left.from === right.from && left.to === right.to && left.category === right.category;
    for (const span of spans) {
      const isHit = found.some(isSame(span));
      countOf(span.category)[isHit ? 'hits' : 'missed'] += 1;
      if (!isHit) mistakes.push(`missed ${span.category} in: ${text}`);
    }
    for (const span of found) {
      if (spans.some(isSame(span))) continue;
      countOf(span.category).wrong += 1;
      mistakes.push(`wrong ${span.category} at ${span.from}-${span.to} in: ${text}`);
    }
  }
  const all = { hits: 0, wrong: 0, missed: 0 };
  const table: string[] = [];
  for (const [category, count] of [...counts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    all.hits += count.hits;
    all.wrong += count.wrong;
    all.missed += count.missed;
    table.push(line(category, count));
  }
  table.push(line('all', all));
  return { precision: ratio(all.hits, all.wrong), recall: ratio(all.hits, all.missed), table, mistakes };
}

const ratio = (hits: number, others: number): number => (hits + others === 0 ? 1 : hits / (hits + others));

const line = (name: string, { hits, wrong, missed }: { readonly hits: number; readonly wrong: number; readonly missed: number }): string =>
  `| ${name} | ${hits + missed} | ${ratio(hits, wrong).toFixed(2)} | ${ratio(hits, missed).toFixed(2)} |`;
