import { scan } from './concept-scan.js';
import { disguisesOf } from './disguises.js';
import { concept } from './lexicon.js';
import { markersOf } from './markers.js';
import { signalsOf, type Signal } from './rules.js';

export interface Judgement {
  /** 0: nothing found; 1: certain. */
  readonly score: number;
  readonly signals: readonly { readonly name: string; readonly weight: number }[];
}

const nothing: Judgement = { score: 0, signals: [] };

/** What is hidden in what is hidden is looked at once more, and no deeper. */
const depthMax = 2;

/** Weighs the evidence in one text. Each kind of evidence counts once, so that long texts do not add up to an attack. */
export function judge(text: string, source: 'user' | 'tool' | 'other', depth = 0): Judgement {
  const found = scan(text);
  const signals = [...signalsOf(found, text), ...markersOf(text, found)];
  const weights = new Map<string, number>();
  const add = (name: string, weight: number): void => {
    if (weight > (weights.get(name) ?? 0)) weights.set(name, Math.min(0.95, weight));
  };
  if (signals.length > 0) {
    const isAbout = (found.concepts & concept.about) !== 0;
    const quotes = quotedSpans(text);
    const comments = text.includes('<!--') ? spansOf(text, /<!--[^]{0,4000}?-->/g) : [];
    for (const signal of signals) add(signal.name, weightOf(signal, isAbout, quotes, comments, source));
  }
  if (depth < depthMax) {
    for (const disguise of disguisesOf(text, found)) {
      const inner = judge(disguise.text, source, depth + 1);
      if (disguise.weight > 0) add(disguise.name, disguise.weight);
      // What is worth hiding weighs more; what was visible anyway does not count again.
      if (inner.score > scoreOf(weights) && inner.score >= 0.3) {
        for (const { name, weight } of inner.signals) add(name, weight);
        add(disguise.name, Math.max(disguise.weight, 0.3));
      }
    }
  }
  if (weights.size === 0) return nothing;
  return { score: scoreOf(weights), signals: [...weights].map(([name, weight]) => ({ name, weight: rounded(weight) })) };
}

function scoreOf(weights: ReadonlyMap<string, number>): number {
  let innocent = 1;
  for (const weight of weights.values()) innocent *= 1 - weight;
  return rounded(1 - innocent);
}

function weightOf(signal: Signal, isAbout: boolean, quotes: readonly Span[], comments: readonly Span[], source: 'user' | 'tool' | 'other'): number {
  let { weight } = signal;
  const isQuoted = quotes.some(({ from, to }) => signal.at >= from && signal.at < to);
  // Who writes about attacks quotes them; a quotation alone may still be an order.
  if (isAbout) weight *= isQuoted ? 0.35 : 0.75;
  else if (isQuoted) weight *= 0.7;
  if (comments.some(({ from, to }) => signal.at >= from && signal.at < to)) weight += 0.2;
  // A tool's result is data: it has no business to give orders.
  if (source === 'tool' && weight >= 0.3) weight += 0.1;
  return Math.min(0.95, weight);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf(text: string, pattern: RegExp): Span[] {
  const spans: Span[] = [];
  for (const { index, 0: { length } } of text.matchAll(pattern)) spans.push({ from: index, to: index + length });
  return spans;
}

const quotedSpans = (text: string): Span[] => spansOf(text, /["“„«`][^"“”„«»`\n]{3,200}["”“»`]/g);

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
