import { recognise, type Recogniser } from '../common/spans/recogniser.js';
import { contextChars, type Span, type SpanFinder } from '../common/spans/span.js';
import { judgeStretch, type Judge } from '../common/spans/steps.js';
import { isSpace } from '../common/text/word-counter.js';
import { Chains, isGapSoFar, isWordCode, linkChars } from './chain.js';
import { capital } from './name-patterns.js';

/** Longest chain that is judged as a whole; with a gap and the begin of the next word the look-back is not more than 160. */
const chainCharsMax = 144;
export const lookBackMax = chainCharsMax + 2 + linkChars;

/** An escape of JSON that is not all there yet. */
const openEscape = /\\(?:u[0-9A-Fa-f]{0,3})?$/;

const separator = /[ @.:\u00a0-]/;

/** What a stretch has to have for a recogniser. All of one shape: they are gone through for each stretch, and most have nothing to look for in it. */
class Candidate {
  readonly digitsMin: number;
  readonly capitalsMin: number;
  readonly charsMin: number;
  /** Empty: nothing. */
  readonly has: string;

  constructor(readonly recogniser: Recogniser) {
    this.digitsMin = recogniser.digitsMin ?? 0;
    this.capitalsMin = recogniser.capitalsMin ?? 0;
    this.charsMin = recogniser.charsMin ?? 0;
    this.has = recogniser.has ?? '';
  }
}

/** Finds personal data: looks for digits, `@` and words that announce a name, and judges the chains of words around them. */
export class PersonalDataFinder implements SpanFinder {
  readonly lookBackMax = lookBackMax;
  readonly #candidates: readonly Candidate[];
  readonly #chains: Chains;
  readonly #trigger: RegExp;
  /** Whether a name is announced that begins here; null where no names are looked for. */
  readonly #announced: RegExp | null;
  readonly #judge: Judge;

  constructor(recognisers: readonly Recogniser[], nameIntro: RegExp | undefined, linksCapitals: boolean) {
    this.#candidates = recognisers.map((recogniser) => new Candidate(recogniser));
    this.#chains = new Chains(linksCapitals);
    // Of a name the trigger is its first letter. What stands before it is looked at for capitals alone, which are few.
    this.#trigger = nameIntro === undefined ? /[0-9@]/g : new RegExp(`[0-9@${capital}]`, 'g');
    this.#announced = nameIntro === undefined ? null : new RegExp(nameIntro.source, 'y');
    this.#judge = (text, from, to, spans) => { this.#recognise(text, from, to, spans); };
  }

  find(text: string, from: number, isLast: boolean, spans: Span[]): number {
    const open = isLast ? text.length : this.#openChain(text, from);
    let floor = from;
    for (let at = this.#next(text, from); at >= 0 && at < open; at = this.#next(text, floor)) {
      const wordEnd = this.#chains.wordEnd(text, at, open);
      const wordStart = this.#chains.wordStart(text, Math.min(at + 1, wordEnd), floor);
      const start = this.#chains.start(text, wordStart, wordEnd, floor);
      const end = this.#chains.end(text, wordStart, wordEnd, open);
      floor = Math.max(judgeStretch(text, { from: start, to: end, isOpen: false, isLast }, chainCharsMax, this.#judge, spans), at + 1);
    }
    if (open === text.length) return open;
    return judgeStretch(text, { from: open, to: this.#decidedEnd(text, open), isOpen: true, isLast: false }, chainCharsMax, this.#judge, spans);
  }

  /** The first place from `from` on where something may be found; -1 when there is none. */
  #next(text: string, from: number): number {
    const trigger = this.#trigger;
    const announced = this.#announced;
    trigger.lastIndex = from;
    while (trigger.test(text)) {
      const at = trigger.lastIndex - 1;
      // Digits and `@` come before all letters.
      if (announced === null || text.charCodeAt(at) < 65) return at;
      // Every announcement ends with white space.
      if (!isSpace(text.charCodeAt(at - 1))) continue;
      announced.lastIndex = at;
      if (announced.test(text)) return at;
    }
    return -1;
  }

  /** The begin of the chain at the end of the text that more text may go on; the end of the text when there is none. */
  #openChain(text: string, from: number): number {
    const end = text.length;
    const chains = this.#chains;
    const escape = openEscape.exec(text.slice(Math.max(from, end - 5)));
    if (escape !== null) return end - escape[0].length;
    const wordStart = chains.wordStart(text, end, from);
    if (wordStart < end) {
      // A word is being written. Until it is long enough to tell, it may belong to the one before.
      const start = chains.start(text, wordStart, end, from);
      if (start < wordStart || end - wordStart >= linkChars) return start;
      const gap = end > wordStart ? gapChars(text, wordStart, from) : 0;
      return gap === 0 ? wordStart : this.#startBefore(text, wordStart - gap, from, wordStart);
    }
    let to = end;
    while (to > from && to > end - 2 && !isWordCode(text.charCodeAt(to - 1))) to -= 1;
    return isGapSoFar(text, to) ? this.#startBefore(text, to, from, end) : end;
  }

  #startBefore(text: string, wordEnd: number, from: number, otherwise: number): number {
    const wordStart = this.#chains.wordStart(text, wordEnd, from);
    if (wordStart === wordEnd || !this.#chains.mayGoOn(text, wordStart, wordEnd)) return otherwise;
    return this.#chains.start(text, wordStart, wordEnd, from);
  }

  /** How far the open chain is sure to reach. */
  #decidedEnd(text: string, start: number): number {
    const end = this.#chains.end(text, start, this.#chains.wordEnd(text, start, text.length), text.length);
    if (end < text.length) return end;
    const lastStart = this.#chains.wordStart(text, end, start);
    // A short last word may yet turn out not to be linked.
    if (lastStart === start || end - lastStart >= linkChars) return end;
    let to = lastStart;
    while (to > start && !isWordCode(text.charCodeAt(to - 1))) to -= 1;
    return to;
  }

  #recognise(text: string, from: number, to: number, spans: Span[]): void {
    const viewFrom = Math.max(0, from - contextChars);
    let view = text.slice(viewFrom, to);
    // A full step without any separator is encoded bytes.
    if (to - from === chainCharsMax && !separator.test(text.slice(from, to))) return;
    const start = from - viewFrom;
    // The letter of an escape is not a neighbour.
    if (start > 1 && isWordCode(text.charCodeAt(from - 1))) {
      const slash = text.lastIndexOf('\\', from - 1);
      if (slash >= from - 6 && slash >= viewFrom) view = `${view.slice(0, start - 1)} ${view.slice(start)}`;
    }
    let digits = 0;
    let capitals = 0;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 47 && code < 58) digits += 1;
      else if ((code > 64 && code < 91) || (code > 0xbf && code < 0xdf)) capitals += 1;
    }
    const candidates = this.#candidates;
    for (let index = 0; index < candidates.length; index += 1) {
      const { digitsMin, capitalsMin, charsMin, has, recogniser } = candidates[index] as Candidate;
      if (digits < digitsMin || capitals < capitalsMin || to - from < charsMin || (has !== '' && view.indexOf(has, start) < 0)) continue;
      recognise(recogniser, view, start, viewFrom, spans);
    }
  }
}

const gapChars = (text: string, at: number, floor: number): number => {
  let from = at;
  while (from > floor && from > at - 2 && !isWordCode(text.charCodeAt(from - 1))) from -= 1;
  return isGapSoFar(text.slice(0, at), from) ? at - from : 0;
};
