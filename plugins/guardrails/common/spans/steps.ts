import { withoutOverlaps, type Span } from './span.js';

/** Adds what it sees in `text` between `from` and `to`; it may look at what is before, and not at what is behind. */
export type Judge = (text: string, from: number, to: number, spans: Span[]) => void;

export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** More of it may come. */
  readonly isOpen: boolean;
  /** No text comes after this one. */
  readonly isLast: boolean;
}

/**
 * Judges a stretch of text that no span leaves, but by a tail. A long one is judged in overlapping steps of `charsMax`, each from where the one
 * before ended, so that it comes out the same whether the stretch is there as a whole or grows while it is judged. Answers the place up to which
 * the text is settled: the end of the stretch, of a tail, or, in an open stretch, the place from which it has to be judged again.
 */
export function judgeStretch(text: string, stretch: Stretch, charsMax: number, judge: Judge, spans: Span[]): number {
  const { to, isOpen, isLast } = stretch;
  let at = stretch.from;
  while (to - at > charsMax) {
    const seen: Span[] = [];
    judge(text, at, at + charsMax, seen);
    let next = stepEnd(text, at, charsMax);
    for (const span of withoutOverlaps(seen)) {
      if (span.from >= next) break;
      if (span.tail === undefined || span.to < at + charsMax) {
        spans.push(closed(span, span.to));
        next = Math.max(next, span.to);
        continue;
      }
      const end = span.tail(text, span.to, isLast);
      spans.push(end.isOpen ? { ...span, to: end.to } : closed(span, end.to));
      if (end.isOpen || end.to >= to) return end.to;
      next = end.to;
    }
    at = next;
  }
  if (isOpen) return at;
  const seen: Span[] = [];
  judge(text, at, to, seen);
  for (const span of withoutOverlaps(seen)) spans.push(span.tail === undefined ? span : closed(span, span.to));
  return to;
}

const closed = ({ from, category, rank }: Span, to: number): Span => ({ from, to, category, rank });

/** The last blank of the second quarter of a step, or else its middle: no span up to half a step long is cut. */
function stepEnd(text: string, at: number, charsMax: number): number {
  const half = at + (charsMax >> 1);
  const quarter = at + (charsMax >> 2);
  // Cut first: a search backwards would go on to the begin of a long text.
  const blank = text.slice(quarter, half).lastIndexOf(' ');
  return blank >= 0 ? quarter + blank + 1 : half;
}
