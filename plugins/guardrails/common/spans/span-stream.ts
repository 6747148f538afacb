import type { TextWindow } from '@gateway/plugin-sdk';
import { contextChars, type Span, type SpanFinder, type Tail } from './span.js';

export interface SettledWindow {
  readonly release: number;
  /** In the window's text, within what is released. */
  readonly spans: readonly StreamedSpan[];
}

export interface StreamedSpan extends Span {
  /** It began in a window before; only its rest is here. */
  readonly isRest: boolean;
}

/** Finds the spans of streamed text, each channel by itself. */
export class SpanStream {
  readonly #finder: SpanFinder;
  readonly #open = new Map<string, Span & { readonly tail: Tail }>();

  constructor(finder: SpanFinder) {
    this.#finder = finder;
  }

  push({ channel, before, text, isLast }: Pick<TextWindow, 'channel' | 'before' | 'text' | 'isLast'>): SettledWindow {
    const spans: StreamedSpan[] = [];
    let from = 0;
    const open = this.#open.get(channel);
    if (open !== undefined) {
      const end = open.tail(text, 0, isLast);
      if (end.to > 0) spans.push({ from: 0, to: end.to, category: open.category, rank: open.rank, isRest: true });
      if (end.isOpen && !isLast) return { release: end.to, spans };
      this.#open.delete(channel);
      from = end.to;
    }
    const context = before.length > contextChars ? before.slice(-contextChars) : before;
    const found: Span[] = [];
    const settled = this.#finder.find(context + text, context.length + from, isLast, found) - context.length;
    for (const span of found) {
      if (span.tail !== undefined && !isLast) this.#open.set(channel, { ...span, tail: span.tail });
      spans.push({ from: span.from - context.length, to: span.to - context.length, category: span.category, rank: span.rank, isRest: false });
    }
    return { release: settled, spans };
  }
}

