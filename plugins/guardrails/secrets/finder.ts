import { recognise, type Recogniser } from '../common/spans/recogniser.js';
import { contextChars, type Span, type SpanFinder } from '../common/spans/span.js';
import { judgeStretch, type Judge } from '../common/spans/steps.js';
import { privateKeyHead, privateKeyTail } from './private-key.js';

/** Longest word that is judged as a whole; of a longer token the begin tells what it is. */
const wordCharsMax = 152;
export const lookBackMax = 160;
/** No secret is shorter; the words of plain text are. */
const wordCharsMin = 16;

// A word ends at white space, quotes, brackets, commas and all that is not ASCII.
const wordClass = new Uint8Array(128);
for (let code = 33; code < 127; code += 1) wordClass[code] = '"\'`<>(){}[],;|\\'.includes(String.fromCharCode(code)) ? 0 : 1;
const isWordCode = (code: number): boolean => code < 128 && wordClass[code] === 1;

export class SecretFinder implements SpanFinder {
  readonly lookBackMax = lookBackMax;
  readonly #recognisers: readonly Recogniser[];
  readonly #hasPrivateKeys: boolean;
  readonly #judge: Judge;

  constructor(recognisers: readonly Recogniser[], hasPrivateKeys: boolean) {
    this.#recognisers = recognisers;
    this.#hasPrivateKeys = hasPrivateKeys;
    this.#judge = (text, from, to, spans) => { this.#recognise(text, from, to, spans); };
  }

  find(text: string, from: number, isLast: boolean, spans: Span[]): number {
    const { length } = text;
    let at = from;
    while (at < length) {
      let start = at;
      while (at < length && isWordCode(text.charCodeAt(at))) at += 1;
      const isOpen = at === length && !isLast;
      const keyAt = at - 10;
      if (this.#hasPrivateKeys && keyAt >= start && text.charCodeAt(at - 1) === 78 && text.startsWith('-----BEGIN', keyAt)) {
        // A word that a key is glued to ends where the key begins, whether or not it is one: however the text is cut, it is judged alike.
        if (keyAt - start >= wordCharsMin) judgeStretch(text, { from: start, to: keyAt, isOpen: false, isLast }, wordCharsMax, this.#judge, spans);
        start = keyAt;
        const end = privateKeyHead(text, keyAt, isLast);
        if (end === undefined) return keyAt;
        if (end > 0) {
          const tail = privateKeyTail(text, end, isLast);
          const span = { from: keyAt, to: tail.to, category: 'PRIVATE_KEY', rank: 3 };
          spans.push(tail.isOpen ? { ...span, tail: privateKeyTail } : span);
          if (tail.isOpen) return tail.to;
          at = tail.to;
          continue;
        }
      }
      if (isOpen || at - start >= wordCharsMin) {
        const settled = judgeStretch(text, { from: start, to: at, isOpen, isLast }, wordCharsMax, this.#judge, spans);
        if (isOpen) return settled;
        at = settled;
      }
      at += 1;
    }
    return length;
  }

  #recognise(text: string, from: number, to: number, spans: Span[]): void {
    const viewFrom = Math.max(0, from - contextChars);
    const view = text.slice(viewFrom, to);
    const start = from - viewFrom;
    for (const recogniser of this.#recognisers) {
      if (recogniser.has !== undefined && view.indexOf(recogniser.has, start) < 0) continue;
      recognise(recogniser, view, start, viewFrom, spans);
    }
  }
}
