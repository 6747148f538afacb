import type { Check, CheckInput, Json, StreamCheck, TextWindow, Verdict, Weight, WindowResult } from '@gateway/plugin-sdk';

export interface ContainsOptions {
  readonly words: readonly string[];
  readonly operator: 'any' | 'all' | 'none';
  readonly caseSensitive: boolean;
}

/** What a word holds beside its characters, and takes for a character of text. */
const wordBytes = 64;
const wordNanoseconds = 0.5;

/** Whether words stand somewhere in the text. */
export class Contains implements Check {
  readonly weight: Weight;
  readonly #options: ContainsOptions;
  /** The words as they are compared. */
  readonly #folded: readonly string[];
  readonly #longest: number;

  constructor(options: ContainsOptions) {
    this.#options = { ...options, words: [...new Set(options.words)] };
    this.#folded = this.#options.words.map((word) => this.#fold(word));
    this.#longest = this.#folded.reduce((longest, word) => Math.max(longest, word.length), 0);
    const characters = this.#folded.reduce((sum, word) => sum + word.length, 0);
    this.weight = { bytes: (characters + this.#folded.length * wordBytes) * 2, nanosecondsPerCharacter: this.#folded.length * wordNanoseconds };
  }

  evaluate(input: CheckInput): Verdict {
    const found = new Set<number>();
    for (const piece of input.pieces()) {
      this.#look(this.#fold(piece.text), found);
      if (found.size === this.#folded.length) break;
    }
    return this.#verdict(found);
  }

  stream(): StreamCheck {
    const found = new Set<number>();
    const push = this.#options.operator === 'none' ? this.#holding(found) : this.#passing(found);
    return { push, verdict: () => this.#verdict(found) };
  }

  /** Lets everything go, and remembers the end of each text for words that go on. */
  #passing(found: Set<number>): StreamCheck['push'] {
    const tails = new Map<string, string>();
    return ({ channel, text, isLast }: TextWindow): WindowResult => {
      if (found.size < this.#folded.length) {
        const joined = this.#fold((tails.get(channel) ?? '') + text);
        this.#look(joined, found);
        if (isLast) tails.delete(channel);
        else if (this.#longest > 1) tails.set(channel, joined.slice(-(this.#longest - 1)));
      }
      return { release: text.length };
    };
  }

  /** Holds back only what may be the beginning of a word. */
  #holding(found: Set<number>): StreamCheck['push'] {
    return ({ text, isLast }: TextWindow): WindowResult => {
      if (found.size > 0) return { release: text.length };
      const folded = this.#fold(text);
      this.#look(folded, found);
      if (found.size > 0) return { release: text.length, fails: true };
      return { release: isLast ? text.length : text.length - this.#beginningAtEnd(folded) };
    };
  }

  /** Length of the longest end of the text that is the beginning of a word. */
  #beginningAtEnd(text: string): number {
    let longest = 0;
    for (const word of this.#folded) {
      for (let length = Math.min(word.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(word.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  #look(text: string, found: Set<number>): void {
    this.#folded.forEach((word, index) => {
      if (!found.has(index) && text.includes(word)) found.add(index);
    });
  }

  #fold(text: string): string {
    return this.#options.caseSensitive ? text : foldCase(text);
  }

  #verdict(found: ReadonlySet<number>): Verdict {
    const { words, operator } = this.#options;
    const foundWords = words.filter((_, index) => found.has(index));
    const missingWords = words.filter((_, index) => !found.has(index));
    const pass = operator === 'any' ? foundWords.length > 0 : operator === 'all' ? missingWords.length === 0 : foundWords.length === 0;
    const wanted = operator === 'any' ? 'at least one has' : operator === 'all' ? 'all have' : 'none has';
    const explanation = `${foundWords.length} of ${words.length} words ${foundWords.length === 1 ? 'was' : 'were'} found, and ${wanted} to be there`;
    const data: Json = { foundWords, missingWords, operator, explanation };
    return pass ? { pass, data } : { pass, why: explanation, data };
  }
}

/** Lower case, character by character where the whole would change its length, so that places stay what they were. */
function foldCase(text: string): string {
  // Two small letters of Greek are one: which of them is made depends on what follows.
  const lower = text.toLowerCase().replaceAll('\u03c2', '\u03c3');
  if (lower.length === text.length) return lower;
  let folded = '';
  for (const character of text) {
    const one = character.toLowerCase();
    folded += one.length === character.length ? one : character;
  }
  return folded;
}
