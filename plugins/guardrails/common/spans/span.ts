/** A place in a text that belongs to a category: the characters from `from` up to, not including, `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly category: string;
  /** Where spans overlap, the higher rank stays. */
  readonly rank: number;
  /** The span was cut by a limit of length and may go on behind `to`. */
  readonly tail?: Tail;
}

/**
 * Says how far an open span goes on from `from`. Not settled before a character that ends it was seen: then `isOpen`, and what lies behind `to`
 * has to be shown again together with what comes.
 */
export type Tail = (text: string, from: number, isLast: boolean) => { readonly to: number; readonly isOpen: boolean };

export interface SpanFinder {
  /**
   * Adds the spans of `text` from `from` on, in order; what lies before `from` is context only. Answers the place up to which all is settled:
   * no longer text would change what was found before it. With `isLast` that is the end.
   */
  find(text: string, from: number, isLast: boolean, spans: Span[]): number;
  /** The most characters that `find` leaves unsettled at the end of a text. */
  readonly lookBackMax: number;
}

/** Characters before a place that may decide about it. */
export const contextChars = 40;

/** Of spans that overlap the one of the highest rank stays, then the longest, then the first. In order of place. */
export function withoutOverlaps(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const best = [...spans].sort((left, right) => right.rank - left.rank || (right.to - right.from) - (left.to - left.from) || left.from - right.from);
  const kept: Span[] = [];
  for (const span of best) if (kept.every((other) => span.to <= other.from || span.from >= other.to)) kept.push(span);
  return kept.sort((left, right) => left.from - right.from);
}
