import { concept, disguisedWords, lexicon } from './lexicon.js';

/** Where an idea stands: which word of the text, in which sentence, at which character. */
export interface Hit {
  readonly concepts: number;
  readonly word: number;
  readonly sentence: number;
  readonly at: number;
}

export interface Scan {
  readonly hits: readonly Hit[];
  /** All ideas of the text. */
  readonly concepts: number;
  /** Zero-width characters, tag characters, letters of other alphabets, styled letters: worth a closer look. */
  readonly isStrange: boolean;
  /** Letters stand alone, one after the other: "i g n o r e". */
  readonly isSpaced: boolean;
  /** Digits within words: "1gn0r3". */
  readonly isMixed: boolean;
  /** A run of letters and digits as long as an encoded text. */
  readonly hasLongRun: boolean;
  /** Brackets, hashes or line ends: delimiters are made of them. */
  readonly hasMarkup: boolean;
}

const separator = 0;
/** 1 to 26 are letters. */
const digit = 27;
const stop = 28;
const apostrophe = 29;
const other = 30;
const strange = 31;
/** + / = and _ go on with a run, but no word. */
const joiner = 32;
/** The beginnings of delimiters. */
const markup = 33;

/** Latin letters of the first Unicode blocks, without their marks. */
const tableLength = 0x250;
const table = characterTable();

const symbolCount = 27;
const lexiconTree = buildTree();

const lineEnd = 0x0a;
const isSmall = (code: number): boolean => code >= 0x61 && code <= 0x7a;

const encodedRunMin = 32;
const spacedRunMin = 6;

/** One pass over the text: folds letters, walks the lexicon, and notes what the other passes are needed for. */
export function scan(text: string): Scan {
  const { next, exact, prefix } = lexiconTree;
  const hits: Hit[] = [];
  let concepts = 0;
  let word = 0;
  let sentence = 0;
  let run = 0;
  let singles = 0;
  let isStrange = false;
  let isSpaced = false;
  let isMixed = false;
  let hasLongRun = false;
  let hasMarkup = text.includes('\n');
  const { length } = text;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    let kind = code < tableLength ? table[code] ?? separator : kindOf(code);
    if (kind >= 1 && kind < digit) {
      // A word, letter by letter; once the lexicon has no such word, only its end is looked for.
      const from = at;
      let state = 1;
      let stem = 0;
      do {
        if (state !== 0) {
          state = next[state * symbolCount + kind] ?? 0;
          stem |= prefix[state] ?? 0;
        }
        at += 1;
        if (at === length) {
          kind = separator;
          break;
        }
        const following = text.charCodeAt(at);
        kind = following < tableLength ? table[following] ?? separator : kindOf(following);
      } while (kind >= 1 && kind < digit);
      run += at - from;
      if (kind === digit) isMixed = true;
      const found = (exact[state] ?? 0) | stem;
      if (found !== 0) {
        concepts |= found;
        hits.push({ concepts: found, word, sentence, at: from });
      }
      if (at - from === 1) {
        singles += 1;
        if (singles >= spacedRunMin) isSpaced = true;
      } else singles = 0;
      word += 1;
      if (at === length) break;
    }
    if (kind === digit) {
      if (run === 0 && at + 1 < length) {
        const after = table[text.charCodeAt(at + 1)] ?? 0;
        if (after >= 1 && after < digit) isMixed = true;
      }
      run += 1;
    } else if (kind === joiner) run += 1;
    else {
      if (run >= encodedRunMin) hasLongRun = true;
      run = 0;
      if (kind === stop) {
        // A line that goes on in small letters was only wrapped.
        if (at + 1 >= length || text.charCodeAt(at) !== lineEnd || !isSmall(text.charCodeAt(at + 1))) {
          sentence += 1;
          singles = 0;
        }
      } else if (kind === strange) isStrange = true;
      else if (kind === markup) hasMarkup = true;
    }
    at += 1;
  }
  if (run >= encodedRunMin) hasLongRun = true;
  return { hits, concepts, isStrange, isSpaced, isMixed, hasLongRun, hasMarkup };
}

function kindOf(code: number): number {
  if (code === 0x2019) return apostrophe;
  if (code === 0x3002 || code === 0xff01 || code === 0xff1f) return stop;
  // Zero-width and direction characters, the byte order mark, fullwidth letters, Cyrillic and Greek, surrogates (tags, styled letters).
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x2064) || code === 0xfeff || code === 0xad) return strange;
  if ((code >= 0xff21 && code <= 0xff5a) || (code >= 0x370 && code < 0x530) || code === 0xd835 || code === 0xd83c || code === 0xdb40) return strange;
  if ((code >= 0x2100 && code <= 0x214f) || (code >= 0x2460 && code <= 0x24ff)) return strange;
  // Arabic, Hindi: their phrases are looked for in characters.
  if ((code >= 0x600 && code < 0x700) || (code >= 0x900 && code < 0x980)) return strange;
  if (code >= 0x3040 && code <= 0xd7a3) return strange;
  return code >= 0x2000 && code < 0x2070 ? separator : code >= 0x1e00 && code < 0x1f00 ? letterOf(String.fromCharCode(code)) : other;
}

function letterOf(character: string): number {
  const folded = character.normalize('NFKD').toLowerCase().charCodeAt(0);
  return folded >= 0x61 && folded <= 0x7a ? folded - 0x60 : other;
}

function characterTable(): Uint8Array {
  const kinds = new Uint8Array(tableLength);
  for (let code = 0x41; code < tableLength; code += 1) {
    const character = String.fromCharCode(code);
    if (/\p{L}/u.test(character)) kinds[code] = letterOf(character);
  }
  for (const [character, letter] of [['ß', 's'], ['ø', 'o'], ['Ø', 'o'], ['ł', 'l'], ['Ł', 'l'], ['æ', 'a'], ['đ', 'd'], ['ı', 'i']] as const) {
    kinds[character.charCodeAt(0)] = letter.charCodeAt(0) - 0x60;
  }
  for (const character of '0123456789') kinds[character.charCodeAt(0)] = digit;
  for (const character of '.!?;\n') kinds[character.charCodeAt(0)] = stop;
  for (const character of '<[#') kinds[character.charCodeAt(0)] = markup;
  for (const character of '+/=_') kinds[character.charCodeAt(0)] = joiner;
  kinds[0x27] = apostrophe;
  kinds[0xad] = strange;
  return kinds;
}

/** The lexicon as a tree of letters, in flat arrays. State 0 leads nowhere, state 1 is the root. */
function buildTree(): { readonly next: Int16Array; readonly exact: Int32Array; readonly prefix: Int32Array } {
  const entries: [string, number][] = [];
  for (const [name, words] of Object.entries(lexicon)) {
    for (const word of words.split(/\s+/)) if (word !== '') entries.push([word, concept[name as keyof typeof lexicon]]);
  }
  for (const word of disguisedWords) entries.push([rot13(word), concept.mirrored], [Array.from(word).reverse().join(''), concept.mirrored]);
  const states = entries.reduce((sum, [word]) => sum + word.length, 2);
  const next = new Int16Array(states * symbolCount);
  const exact = new Int32Array(states);
  const prefix = new Int32Array(states);
  let used = 2;
  for (const [word, bits] of entries) {
    let state = 1;
    for (const character of word.replace('*', '')) {
      const slot = state * symbolCount + character.charCodeAt(0) - 0x60;
      let to = next[slot] ?? 0;
      if (to === 0) next[slot] = to = used++;
      state = to;
    }
    const ends = word.endsWith('*') ? prefix : exact;
    ends[state] = (ends[state] ?? 0) | bits;
  }
  return { next, exact, prefix };
}

export function rot13(text: string): string {
  let turned = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const lower = code | 0x20;
    turned += lower >= 0x61 && lower <= 0x7a ? String.fromCharCode(code + (lower < 0x6e ? 13 : -13)) : text.charAt(at);
  }
  return turned;
}
