// Where a find may begin and end. A text is cut into words, and words that may belong to one find (groups of a number, parts of a date, of a
// name) are linked to chains. Whether two words are linked depends on the two alone, so chains are the same however a text arrives.

/** Of the word behind a gap only so much decides whether it is linked. */
export const linkChars = 12;

/** Words are made of letters, digits and these; all others separate. */
const wordSigns = '@._+-/:()';
const wordClass = new Uint8Array(0x2020);
for (let code = 0; code < wordClass.length; code += 1) {
  const char = String.fromCharCode(code);
  // Letters beyond ASCII count; so do the dashes that print as hyphens in numbers.
  wordClass[code] = /[A-Za-z0-9]/.test(char) || wordSigns.includes(char) || (code >= 0xc0 && code < 0x2000 && code !== 0x1680) || (code >= 0x2010 && code <= 0x2015) ? 1 : 0;
}
export const isWordCode = (code: number): boolean => wordClass[code] === 1;

const digit = 1;
const shortCapitals = 2;
const capitalised = 4;
const month = 8;
/** Short capitals at the begin or the end of a word that has more: `A-home`, `(JG`. */
const leadingCapitals = 16;
const trailingCapitals = 32;

const monthNames = /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?$/i;
const capitalisedWord = /^\(?\p{Lu}[\p{L}.]*$/u;
const shortCapitalsWord = /^[A-Z]{1,4}$/;
const leadingCapitalsWord = /^\(?[A-Z]{1,4}(?![A-Za-z0-9])/;
const trailingCapitalsWord = /(?:^|[^A-Za-z0-9])[A-Z]{1,4}\)?$/;
const trailingChars = 6;
const digitWithin = /\d/;

/** What the begin of a word says about it, and its end about what may follow. */
function traitsOf(text: string, from: number, to: number): number {
  const word = text.slice(from, Math.min(to, from + linkChars));
  if (digitWithin.test(word)) return digit;
  const first = word.charCodeAt(0);
  const last = text.charCodeAt(to - 1);
  const trailing = (last > 64 && last < 91) || last === 41 ? trailingCapitalsWord.test(text.slice(Math.max(from, to - trailingChars), to)) : false;
  const atEnd = trailing ? trailingCapitals : 0;
  // Plain words in lower case, the most by far, link to nothing; a month may be written so.
  if (first > 96 && first < 123) return (monthNames.test(word) ? month : 0) | atEnd;
  return (shortCapitalsWord.test(word) ? shortCapitals : 0) | (leadingCapitalsWord.test(word) ? leadingCapitals : 0) | (capitalisedWord.test(word) ? capitalised : 0)
    | (monthNames.test(word) ? month : 0) | atEnd;
}

export class Chains {
  readonly #hasNames: boolean;

  /** With names, capitalised words are linked too. */
  constructor(hasNames: boolean) {
    this.#hasNames = hasNames;
  }

  wordEnd(text: string, from: number, end: number): number {
    let at = from;
    while (at < end && isWordCode(text.charCodeAt(at))) at += 1;
    return at;
  }

  /** The begin of the word that holds the character before `to`. An escape in front of a word, as in `\nword`, is not part of it. */
  wordStart(text: string, to: number, floor: number): number {
    let at = to;
    while (at > floor && isWordCode(text.charCodeAt(at - 1))) at -= 1;
    if (at > floor && text.charCodeAt(at - 1) === 92 && at < to) return Math.min(to, at + (text.charCodeAt(at) === 117 ? 5 : 1));
    return at;
  }

  /** The begin of the chain that holds the word from `start` to `end`. */
  start(text: string, start: number, end: number, floor: number): number {
    let from = start;
    let right = traitsOf(text, start, end);
    for (;;) {
      const gap = gapBefore(text, from, floor);
      if (gap === 0) return from;
      const to = from - gap;
      const before = this.wordStart(text, to, floor);
      if (before === to) return from;
      const left = traitsOf(text, before, to);
      if (!this.#isLinked(left, to - before, gap, right)) return from;
      from = before;
      right = left;
    }
  }

  /** The end of the chain that holds the word from `start` to `end`; the text is looked at up to `limit`. */
  end(text: string, start: number, end: number, limit: number): number {
    let from = start;
    let to = end;
    for (;;) {
      const gap = gapAfter(text, to, limit);
      if (gap === 0) return to;
      const next = to + gap;
      if (next >= limit || !isWordCode(text.charCodeAt(next))) return to;
      const nextEnd = this.wordEnd(text, next, limit);
      if (!this.#isLinked(traitsOf(text, from, to), to - from, gap, traitsOf(text, next, nextEnd))) return to;
      from = next;
      to = nextEnd;
    }
  }

  /** Whether a word that is still unknown could be linked to the one from `start` to `end`, of which `gap` characters of a gap are there. */
  mayGoOn(text: string, start: number, end: number): boolean {
    const traits = traitsOf(text, start, end);
    return (traits & (digit | month | trailingCapitals)) !== 0 || (this.#hasNames && (traits & capitalised) !== 0);
  }

  #isLinked(left: number, leftChars: number, gap: number, right: number): boolean {
    if (gap === 2) return (left & (digit | month)) !== 0 && leftChars <= 9 && (right & digit) !== 0;
    if ((left & digit) !== 0) return (right & (digit | leadingCapitals | month)) !== 0 || (this.#hasNames && (right & capitalised) !== 0);
    if ((left & (trailingCapitals | month)) !== 0 && (right & digit) !== 0) return true;
    return this.#hasNames && (left & (capitalised | shortCapitals)) !== 0 && (right & (capitalised | shortCapitals | digit)) !== 0;
  }
}

const isBlank = (code: number): boolean => code === 32 || code === 0xa0;

/** Length of the gap before `at` that may lie within a find: a blank, or a comma and a blank; 0 for none. */
function gapBefore(text: string, at: number, floor: number): number {
  if (at - 1 <= floor || !isBlank(text.charCodeAt(at - 1))) return 0;
  const before = text.charCodeAt(at - 2);
  if (isWordCode(before)) return 1;
  return before === 44 && at - 2 > floor && isWordCode(text.charCodeAt(at - 3)) ? 2 : 0;
}

function gapAfter(text: string, at: number, limit: number): number {
  if (at + 1 >= limit) return 0;
  if (isBlank(text.charCodeAt(at))) return 1;
  return text.charCodeAt(at) === 44 && isBlank(text.charCodeAt(at + 1)) ? 2 : 0;
}

/** Whether the text from `at` to its end is the begin of a gap within a find. */
export const isGapSoFar = (text: string, at: number): boolean => {
  const length = text.length - at;
  if (length === 0) return true;
  if (length === 1) return isBlank(text.charCodeAt(at)) || text.charCodeAt(at) === 44;
  return length === 2 && text.charCodeAt(at) === 44 && isBlank(text.charCodeAt(at + 1));
};
