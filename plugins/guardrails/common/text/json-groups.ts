import type { CheckInput, Json } from '@gateway/plugin-sdk';
import { measuredGroups } from './groups.js';
import { jsonCandidates } from './json-candidates.js';

export interface JsonGroup {
  /** The choice. */
  readonly group: number;
  readonly candidates: readonly Json[];
}

/** The JSON in the texts of each choice. */
export function jsonGroups(input: CheckInput): readonly JsonGroup[] {
  return measuredGroups(input, 'all').map(({ group, texts }) => {
    const [only] = texts;
    if (only !== undefined && texts.length === 1) return { group, candidates: jsonCandidates(only) };
    // JSON may lie across parts; and a part may begin with a fence, which counts at the head of a line only.
    return { group, candidates: [...(texts.length > 1 ? jsonCandidates(texts.join('')) : []), ...texts.flatMap(jsonCandidates)] };
  });
}
