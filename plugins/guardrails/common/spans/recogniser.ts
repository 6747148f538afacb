import { contextChars, type Span, type Tail } from './span.js';

/** One shape of a find. The pattern is global, linear, and looks no further ahead than the stretch it is given. */
export interface Recogniser {
  readonly category: string;
  /** Of finds that overlap the higher rank stays: 3 is certain (checksum or own prefix), 2 is a strict shape, 1 is a loose one. */
  readonly rank: number;
  /** The stretch has at least so many digits. */
  readonly digitsMin?: number;
  /** The stretch has at least so many capitals of Latin-1. */
  readonly capitalsMin?: number;
  /** No find is shorter. */
  readonly charsMin?: number;
  /** The stretch has this character. */
  readonly has?: string;
  readonly pattern: RegExp;
  /** The 40 characters before the find, or those of the stretch, have to match. */
  readonly context?: RegExp;
  /** Characters of the match that count, from its begin; 0 for none. Without it all do. */
  readonly accept?: (found: string, before: string) => number;
  readonly tail?: Tail;
}

/** Adds the finds of one recogniser between `from` and `to` of `view`, where `view` begins at `offset` of the text. */
export function recognise(recogniser: Recogniser, view: string, from: number, offset: number, spans: Span[]): void {
  const { pattern, context, accept, category, rank, tail } = recogniser;
  pattern.lastIndex = from;
  for (let match = pattern.exec(view); match !== null; match = pattern.exec(view)) {
    const [found] = match;
    const { index } = match;
    if (found === '') break;
    const before = context === undefined && accept === undefined ? '' : view.slice(Math.max(0, index - contextChars), index);
    if (context !== undefined && !context.test(before)) continue;
    const length = accept === undefined ? found.length : accept(found, before);
    if (length > 0) {
      const span = { from: offset + index, to: offset + index + length, category, rank };
      spans.push(tail === undefined ? span : { ...span, tail });
      pattern.lastIndex = index + length;
    } else pattern.lastIndex = index + 1;
  }
}
