/** What was found of the terms in some texts. */
export interface TopicScore {
  readonly words: number;
  /** Weights of all the terms found, for each hundred words. */
  readonly density: number;
  /** How often each term was found, those that were not left out. */
  readonly found: Readonly<Record<string, number>>;
}

/** A few words with one term among them say little: shorter texts count as this long. */
const wordsMin = 20;
const word = /[\p{L}\p{N}]+/gu;

/** Linear in the length of the texts: one pass over the words, whatever the number of terms. Terms are in lower case. */
export function scoreTopic(texts: readonly string[], terms: ReadonlyMap<string, number>): TopicScore {
  const found = new Map<string, number>();
  let words = 0;
  let weight = 0;
  for (const text of texts) {
    for (const [token] of text.toLowerCase().matchAll(word)) {
      words += 1;
      const termWeight = terms.get(token);
      if (termWeight === undefined) continue;
      weight += termWeight;
      found.set(token, (found.get(token) ?? 0) + 1);
    }
  }
  return { words, density: (100 * weight) / Math.max(words, wordsMin), found: Object.fromEntries(found) };
}
