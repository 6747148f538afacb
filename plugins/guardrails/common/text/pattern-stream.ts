import { contextLength, lookBackLimit, stepsInLookBack } from './look-back.js';
import type { Span, TextPattern } from './pattern.js';

export interface SearchResult {
  /** Within what is released, in order, not overlapping. */
  readonly spans: readonly Span[];
  readonly release: number;
}

/**
 * Looks for a pattern in a text that arrives in parts. What it finds does not depend on where the parts were cut: a pattern with a longest
 * match is decided as soon as that length has been seen; any other is searched at fixed places of the text, one look-back behind its end.
 */
export class PatternSearch {
  readonly #pattern: TextPattern;
  readonly #lookBack: number;
  /** Length that a match needs to be decided, when the pattern has one. */
  readonly #decidedAfter: number | undefined;
  readonly #step: number;
  /** Whether one match is all that is asked for: then a match that could grow still is one already. */
  readonly #isFirstEnough: boolean;
  /** The end of what was released. The host's own copy is longer: to cut it for every window would cost more than the search. */
  #context = '';
  /** Place of the window in the whole text. */
  #at = 0;
  #searchedTo = 0;

  constructor(pattern: TextPattern, lookBack: number, isFirstEnough: boolean) {
    this.#pattern = pattern;
    this.#lookBack = lookBack;
    this.#isFirstEnough = isFirstEnough;
    const needed = Math.max(1, pattern.lengthMax) + (pattern.looksAhead ? contextLength : 0);
    this.#decidedAfter = pattern.lengthMax <= lookBack ? needed : undefined;
    this.#step = Math.max(1, Math.floor(lookBack / stepsInLookBack));
  }

  push(_before: string, text: string, isLast: boolean): SearchResult {
    const spans: Span[] = [];
    const context = this.#context;
    const input = context + text;
    let cursor = 0;
    const search = (end: number, isEnd: boolean): void => { cursor = this.#search(input, context.length, cursor, end, isEnd, spans); };
    if (this.#decidedAfter !== undefined) {
      search(text.length, isLast);
    } else {
      const end = this.#at + text.length;
      for (let to = this.#searchedTo + this.#step; to <= end; to += this.#step) {
        search(to - this.#at, false);
        this.#searchedTo = to;
        if (this.#isFirstEnough && spans.length > 0) break;
      }
      if (isLast) search(text.length, true);
    }
    const release = isLast ? text.length : cursor;
    this.#at += release;
    this.#context = input.slice(Math.max(0, context.length + release - contextLength), context.length + release);
    return { spans, release };
  }

  /** Searches `text` (what follows the context in `input`) from `cursor` up to `end`; says from where on nothing is decided. */
  #search(input: string, context: number, cursor: number, end: number, isEnd: boolean, spans: Span[]): number {
    const decidedAfter = this.#decidedAfter ?? this.#lookBack;
    /** Matches that begin here or later could still change. */
    const undecided = isEnd ? end + 1 : Math.max(cursor, end - decidedAfter + 1);
    let at = cursor;
    if (at >= undecided) return at;
    // Only as much of the text before as the pattern may look at: what lies further back was searched already.
    const from = Math.max(0, context + cursor - contextLength);
    const view = input.slice(from, context + end);
    const shift = from - context;
    if (!this.#pattern.test(view)) return Math.min(undecided, end);
    while (at < undecided && at <= end) {
      const found = this.#pattern.firstSpan(view, at - shift);
      if (found === undefined) break;
      const start = found.from + shift;
      const stop = found.to + shift;
      if (start >= undecided) break;
      if (stop === start && !this.#isFirstEnough) {
        at = start + 1;
        continue;
      }
      if (stop === end && !isEnd && this.#decidedAfter === undefined) {
        // It may still grow, or not be one at all: it is waited for as long as there is room.
        const isSettled = this.#isFirstEnough && !this.#pattern.looksAhead;
        if (!isSettled && end - start < lookBackLimit) return start;
      }
      spans.push({ from: start, to: stop });
      at = Math.max(stop, start + 1);
      if (this.#isFirstEnough) break;
    }
    return Math.min(end, Math.max(at, undecided));
  }
}
